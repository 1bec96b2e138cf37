//! Every answer of every test here is valid against the schemas that MCP and its tasks extension publish:
//! `World::send` checks it.

use std::{collections::BTreeMap, sync::OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::fixture::{World, accept};
use crate::testing::{Answer, Sent};

const MCP: &str = include_str!("../../../../tests/fixtures/mcp-2026-07-28.schema.json");
const TASKS: &str = include_str!("../../../../tests/fixtures/mcp-tasks-extension.schema.json");

/// The definitions that answers are held against, compiled once.
fn validators() -> &'static BTreeMap<&'static str, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<&'static str, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        let compile = |text: &str, definition: &'static str| {
            let mut schema: Value = serde_json::from_str(text).unwrap();
            assert!(schema["$defs"].get(definition).is_some(), "no {definition}");
            schema["$ref"] = json!(format!("#/$defs/{definition}"));
            (definition, jsonschema::draft202012::new(&schema).unwrap())
        };
        let of_tasks = [
            "CreateTaskResult",
            "GetTaskResult",
            "UpdateTaskResult",
            "CancelTaskResult",
            "WorkingTask",
            "InputRequiredTask",
            "CompletedTask",
            "FailedTask",
            "CancelledTask",
            "ElicitRequestFormParams",
        ];
        let of_mcp = [
            "CallToolResult",
            "JSONRPCErrorResponse",
            "MissingRequiredClientCapabilityError",
            "HeaderMismatchError",
        ];
        let of_tasks = of_tasks.map(|definition| compile(TASKS, definition));
        let of_mcp = of_mcp.map(|definition| compile(MCP, definition));
        of_tasks.into_iter().chain(of_mcp).collect()
    })
}

fn hold(value: &Value, definition: &str) {
    if let Err(error) = validators()[definition].validate(value) {
        let at = error.instance_path();
        panic!("{error} at {at} of {value}, as a {definition}");
    }
}

/// Panics where an answer is not what the schemas want of it.
pub(super) fn check(sent: &Sent, answer: &Answer) {
    let json = answer.json();
    if let Some(code) = json["error"]["code"].as_i64() {
        hold(&json, "JSONRPCErrorResponse");
        match code {
            -32021 => hold(&json, "MissingRequiredClientCapabilityError"),
            -32020 => hold(&json, "HeaderMismatchError"),
            _ => {}
        }
        return;
    }
    let result = &json["result"];
    match sent.method() {
        Some("tools/call") if result["resultType"] == "task" => hold(result, "CreateTaskResult"),
        Some("tools/call") => hold(result, "CallToolResult"),
        Some("tasks/update") => {
            hold(result, "UpdateTaskResult");
            empty(result);
        }
        Some("tasks/cancel") => {
            hold(result, "CancelTaskResult");
            empty(result);
        }
        Some("tasks/get") => {
            assert_eq!(result["resultType"], "complete");
            hold(result, "GetTaskResult");
            detailed(result);
        }
        other => panic!("{other:?} is not held against a schema"),
    }
}

/// No more than that it was heard.
fn empty(result: &Value) {
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(members, ["_meta", "resultType"]);
    assert_eq!(result["resultType"], "complete");
}

/// What a status brings along is there, and nothing that another does.
fn detailed(task: &Value) {
    let (definition, brings) = match task["status"].as_str().unwrap() {
        "working" => ("WorkingTask", None),
        "input_required" => ("InputRequiredTask", Some("inputRequests")),
        "completed" => ("CompletedTask", Some("result")),
        "failed" => ("FailedTask", Some("error")),
        "cancelled" => ("CancelledTask", None),
        other => panic!("{other} is no status"),
    };
    hold(task, definition);
    for member in ["inputRequests", "result", "error"] {
        assert_eq!(task.get(member).is_some(), brings == Some(member), "{task}");
    }
    if let Some(result) = task.get("result") {
        assert_eq!(result["resultType"], "complete");
        hold(result, "CallToolResult");
    }
    for request in task["inputRequests"].as_object().into_iter().flatten() {
        assert_eq!(request.1["method"], "elicitation/create");
        hold(&request.1["params"], "ElicitRequestFormParams");
    }
    if task["status"] == "failed" {
        assert!(task["error"]["code"].is_i64() && task["error"]["message"].is_string());
        assert!(task["statusMessage"].is_string(), "{task}");
    }
}

#[test]
fn the_answer_of_every_status_is_valid_against_the_schema() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let mut seen = vec![world.get(&id)];
    world.answer(
        &id,
        json!({ "ask-0": accept(&json!({ "taste": "sweet" })) }),
    );
    seen.push(world.get(&id));
    world.pup.run_tasks();
    seen.push(world.get(&id));
    let id = world.create("choose", json!({}), "c2");
    world.send(&world.pup.task("tasks/cancel", &id));
    seen.push(world.get(&id));
    let id = world.create("fail", json!({}), "c3");
    world.pup.run_tasks();
    seen.push(world.get(&id));
    let statuses: Vec<&Value> = seen.iter().map(|task| &task["status"]).collect();
    assert_eq!(
        statuses,
        [
            "input_required",
            "working",
            "completed",
            "cancelled",
            "failed"
        ]
    );
}
