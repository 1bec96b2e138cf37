//! Every answer is valid against the schemas that MCP and its tasks extension publish.

use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::{
    mcp::{
        Annotations, CacheHint, CacheScope, CallToolResult, CompleteResult, Content,
        DiscoverResult, EmptyResult, Error, Id, ListToolsResult, Priority, ResourceLink,
        ResultObject, Role, ServerInfo, ToolAnnotations, ToolDefinition, respond,
    },
    time::Timestamp,
};

const MCP: &str = include_str!("../../../../tests/fixtures/mcp-2026-07-28.schema.json");
const TASKS: &str = include_str!("../../../../tests/fixtures/mcp-tasks-extension.schema.json");

/// Checks against one definition of a schema.
fn validator(schema: &str, definition: &str) -> Validator {
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    assert!(schema["$defs"].get(definition).is_some(), "no {definition}");
    schema["$ref"] = json!(format!("#/$defs/{definition}"));
    schema.as_object_mut().unwrap().remove("$id");
    jsonschema::draft202012::new(&schema).unwrap()
}

fn valid(schema: &str, definition: &str, answer: &Value) {
    if let Err(error) = validator(schema, definition).validate(answer) {
        panic!("{error} at {} of {answer}", error.instance_path());
    }
}

fn server() -> ServerInfo {
    ServerInfo {
        name: "snack_club".into(),
        title: Some("Snack Club".into()),
        version: "1.0.0".into(),
    }
}

fn answer<T: CompleteResult>(result: &T) -> Value {
    let result = ResultObject::complete(result, &server()).unwrap();
    serde_json::from_slice(&respond(&Id::from(7), &result)).unwrap()
}

fn every_content() -> Vec<Content> {
    let mut link = ResourceLink::new("https://snacks.example.com/menu", "menu");
    link.title = Some("The menu".into());
    link.description = Some("All snacks".into());
    link.mime_type = Some("text/html".into());
    link.size = Some(1_024);
    let annotations = Annotations {
        audience: vec![Role::User, Role::Assistant],
        priority: Priority::new(0.25),
        last_modified: Some(Timestamp::from_secs(1_785_196_800)),
    };
    let meta = Map::from_iter([("com.example/key".to_owned(), json!(1))]);
    [
        Content::text("text"),
        Content::image([0, 1, 255], "image/png"),
        Content::audio([0, 1, 255], "audio/wav"),
        Content::resource_link(ResourceLink::new("https://snacks.example.com", "snacks")),
        Content::resource_link(link),
        Content::text_resource("snack:menu", Some("text/plain"), "fruit"),
        Content::text_resource("snack:menu", None, "fruit"),
        Content::blob_resource("snack:photo", Some("image/png"), [0, 1, 255]),
    ]
    .into_iter()
    .flat_map(|content| {
        [
            content
                .clone()
                .with_annotations(annotations.clone())
                .with_meta(meta.clone()),
            content,
        ]
    })
    .collect()
}

#[test]
fn every_kind_of_content_is_valid_under_its_own_definition() {
    let definitions = [
        "TextContent",
        "ImageContent",
        "AudioContent",
        "ResourceLink",
        "ResourceLink",
        "EmbeddedResource",
    ];
    let definitions = definitions
        .into_iter()
        .chain(["EmbeddedResource"; 2])
        .flat_map(|definition| [definition; 2]);
    for (content, definition) in every_content().iter().zip(definitions) {
        let content = serde_json::to_value(content).unwrap();
        valid(MCP, definition, &content);
        valid(MCP, "ContentBlock", &content);
    }
}

#[test]
fn content_stands_in_json_as_the_specification_shows_it() {
    let content: Vec<Value> = every_content()
        .iter()
        .skip(1)
        .step_by(2)
        .map(|c| serde_json::to_value(c).unwrap())
        .collect();
    assert_eq!(
        content[1],
        json!({ "type": "image", "data": "AAH/", "mimeType": "image/png" })
    );
    assert_eq!(
        content[5],
        json!({
            "type": "resource",
            "resource": { "uri": "snack:menu", "mimeType": "text/plain", "text": "fruit" },
        })
    );
    assert_eq!(
        serde_json::to_value(&every_content()[0]).unwrap()["annotations"],
        json!({ "audience": ["user", "assistant"], "priority": 0.25, "lastModified": "2026-07-28T00:00:00.000Z" })
    );
}

#[test]
fn a_priority_is_from_zero_to_one() {
    for priority in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(Priority::new(priority), None);
    }
    assert_eq!(Priority::new(1.0), Some(Priority::REQUIRED));
}

#[test]
fn tool_results_are_valid_and_say_who_answered() {
    for result in [
        CallToolResult::default(),
        CallToolResult::content(every_content()),
        CallToolResult::structured(json!({ "saved": "fruit" })),
        CallToolResult::structured(json!([1, 2])),
        CallToolResult::structured(Value::Null),
        CallToolResult::rejected("sold out"),
    ] {
        let answer = answer(&result);
        valid(MCP, "CallToolResultResponse", &answer);
        valid(MCP, "CallToolResult", &answer["result"]);
        valid(MCP, "JSONRPCResultResponse", &answer);
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(
            answer["result"]["_meta"],
            json!({ "io.modelcontextprotocol/serverInfo": { "name": "snack_club", "title": "Snack Club", "version": "1.0.0" } })
        );
    }
    let null = answer(&CallToolResult::structured(Value::Null));
    assert_eq!(null["result"].get("structuredContent"), Some(&Value::Null));
}

#[test]
fn tool_lists_are_valid() {
    let mut tool = ToolDefinition::new("save_snack");
    tool.title = Some("Save".into());
    tool.description = Some("Saves.".into());
    tool.output_schema = Some(Map::from_iter([("type".to_owned(), json!("object"))]));
    tool.annotations = ToolAnnotations {
        title: Some("Save".into()),
        read_only_hint: Some(false),
        destructive_hint: Some(true),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
    };
    tool.meta = Map::from_iter([("com.example/key".to_owned(), json!(1))]);
    let cache = CacheHint {
        ttl: Duration::from_secs(300),
        scope: CacheScope::Public,
    };
    let list = ListToolsResult {
        tools: vec![ToolDefinition::new("snack_menu"), tool],
        next_cursor: Some(String::from("2")),
        cache,
    };
    let last = ListToolsResult {
        tools: Vec::new(),
        next_cursor: None,
        cache: CacheHint {
            ttl: Duration::ZERO,
            ..cache
        },
    };
    for list in [list, last] {
        let answer = answer(&list);
        valid(MCP, "ListToolsResultResponse", &answer);
        for tool in answer["result"]["tools"].as_array().unwrap() {
            valid(MCP, "Tool", tool);
        }
        assert_eq!(answer["result"]["cacheScope"], "public");
    }
}

#[test]
fn discovery_is_valid_and_declares_tasks_as_an_extension_only() {
    let cache = CacheHint {
        ttl: Duration::from_millis(1_500),
        scope: CacheScope::Private,
    };
    for (tasks, instructions) in [(false, None), (true, Some(String::from("Use it.")))] {
        let answer = answer(&DiscoverResult::new(tasks, instructions, cache));
        valid(MCP, "DiscoverResultResponse", &answer);
        let result = &answer["result"];
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(1_500), &json!("private"))
        );
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        let capabilities = if tasks {
            json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
        } else {
            json!({ "tools": {} })
        };
        assert_eq!(result["capabilities"], capabilities);
    }
}

#[test]
fn acknowledgements_are_valid_and_empty() {
    let answer = answer(&EmptyResult::default());
    valid(MCP, "JSONRPCResultResponse", &answer);
    valid(TASKS, "UpdateTaskResult", &answer["result"]);
    valid(TASKS, "CancelTaskResult", &answer["result"]);
    let members: Vec<&String> = answer["result"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["_meta", "resultType"]);
}

#[test]
fn every_error_is_valid_with_an_id_and_without() {
    let every = [
        (Error::parse("m"), "JSONRPCErrorResponse"),
        (Error::invalid_request("m"), "JSONRPCErrorResponse"),
        (Error::foreign_origin(), "JSONRPCErrorResponse"),
        (Error::method_not_found(), "JSONRPCErrorResponse"),
        (Error::invalid_params("m"), "JSONRPCErrorResponse"),
        (Error::header_mismatch("m"), "HeaderMismatchError"),
        (
            Error::missing_tasks_extension(),
            "MissingRequiredClientCapabilityError",
        ),
        (
            Error::missing_capability(&Map::from_iter([("elicitation".to_owned(), json!({}))])),
            "MissingRequiredClientCapabilityError",
        ),
        (
            Error::unsupported_version("1"),
            "UnsupportedProtocolVersionError",
        ),
        (Error::internal(), "JSONRPCErrorResponse"),
        (Error::replayed(), "JSONRPCErrorResponse"),
        (Error::still_running(), "JSONRPCErrorResponse"),
        (Error::call_id_reused(), "JSONRPCErrorResponse"),
        (Error::outcome_unknown(), "JSONRPCErrorResponse"),
        (Error::out_of_time(), "JSONRPCErrorResponse"),
        (Error::answer_too_large(), "JSONRPCErrorResponse"),
        (Error::unavailable(), "JSONRPCErrorResponse"),
    ];
    for (error, definition) in every {
        for (body, id) in [
            (error.to_body(None), None),
            (error.to_body(Some(&Id::from(7))), Some(json!(7))),
            (
                error.clone().with_id(Id::from(8)).to_body(None),
                Some(json!(8)),
            ),
            (
                error
                    .clone()
                    .with_id(Id::from(8))
                    .to_body(Some(&Id::from(7))),
                Some(json!(7)),
            ),
        ] {
            let body: Value = serde_json::from_slice(&body).unwrap();
            valid(MCP, definition, &body);
            assert_eq!(body.get("id"), id.as_ref());
            assert_eq!(body["error"]["message"], error.message());
            assert_eq!(body["error"].get("data"), error.data());
        }
    }
}

#[test]
fn the_checks_of_these_tests_can_fail() {
    for (definition, wrong) in [
        ("CallToolResult", json!({ "content": [] })),
        (
            "CallToolResult",
            json!({ "resultType": "complete", "content": [{ "type": "text" }] }),
        ),
        (
            "ListToolsResult",
            json!({ "resultType": "complete", "tools": [], "ttlMs": -1, "cacheScope": "public" }),
        ),
        ("DiscoverResult", json!({ "resultType": "complete" })),
        (
            "HeaderMismatchError",
            json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "m" } }),
        ),
    ] {
        assert!(!validator(MCP, definition).is_valid(&wrong), "{definition}");
    }
}
