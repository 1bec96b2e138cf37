//! What members see.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::time::Duration;

use pup_extension::{
    runtime::Runtime as _,
    testing::{Pup, SimRuntime},
};
use serde_json::{Value, json};

fn club() -> Pup {
    Pup::new(snack_club::extension(), &SimRuntime::new())
}

fn save(pup: &Pup, snack: &str, call_id: &str) -> Value {
    pup.send(
        &pup.call("save_snack", json!({ "snack": snack }))
            .call_id(call_id),
    )
    .structured()
}

fn menu(pup: &Pup) -> Value {
    pup.send(&pup.call("snack_menu", json!({}))).structured()
}

#[test]
fn the_menu_starts_at_zero() {
    let menu = menu(&club());
    assert_eq!(menu["choices"], json!(["popcorn", "fruit", "pretzels"]));
    assert_eq!(
        menu["counts"],
        json!({ "popcorn": 0, "fruit": 0, "pretzels": 0 })
    );
    assert_eq!((&menu["welcomed"], &menu["stock"]), (&json!(0), &json!(0)));
    assert_eq!(menu["preference"], Value::Null);
    assert_eq!(menu.get("greeting"), None);
}

#[test]
fn the_menu_has_the_fields_and_buttons_of_the_protocols_example() {
    let pup = club();
    let result = pup.send(&pup.call("snack_menu", json!({}))).result();
    let expected = json!({
        "fields": [{ "label": "Choices", "value": "popcorn, fruit, pretzels" }],
        "actions": [{
            "id": "save_fruit", "label": "Save fruit", "tool": "save_snack", "arguments": { "snack": "fruit" },
        }],
    });
    assert_eq!(result["structuredContent"]["pup"], expected);
}

#[test]
fn a_greeting_and_a_note_are_in_the_menu() {
    let pup = club();
    let call = pup
        .call("snack_menu", json!({}))
        .setting("greeting", "Hello!")
        .setting("menu_note", "Fresh today");
    let menu = pup.send(&call).structured();
    assert_eq!(
        (&menu["greeting"], &menu["menu_note"]),
        (&json!("Hello!"), &json!("Fresh today"))
    );
}

#[test]
fn a_preference_is_the_members_and_a_count_the_installations() {
    let pup = club();
    assert_eq!(save(&pup, "fruit", "call-1"), json!({ "saved": "fruit" }));
    let other = pup.call("snack_menu", json!({})).asker("asker-2");
    let other = pup.send(&other).structured();
    assert_eq!(
        (&other["counts"]["fruit"], &other["preference"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(menu(&pup)["preference"], "fruit");
    let elsewhere = pup
        .call("snack_menu", json!({}))
        .installation("installation-2");
    let elsewhere = pup.send(&elsewhere).structured();
    assert_eq!(
        (&elsewhere["counts"]["fruit"], &elsewhere["preference"]),
        (&json!(0), &Value::Null)
    );
}

#[test]
fn a_call_that_is_retried_counts_once_and_another_counts_again() {
    let pup = club();
    let call = pup
        .call("save_snack", json!({ "snack": "popcorn" }))
        .call_id("call-1");
    let first = pup.send(&call).structured();
    assert_eq!(pup.send(&call.retry()).structured(), first);
    assert_eq!(menu(&pup)["counts"]["popcorn"], 1);
    save(&pup, "popcorn", "call-2");
    assert_eq!(menu(&pup)["counts"]["popcorn"], 2);
}

#[test]
fn what_is_no_snack_is_refused_and_nothing_is_saved() {
    let pup = club();
    for arguments in [
        json!({ "snack": "gravel" }),
        json!({}),
        json!({ "snack": "fruit", "much": true }),
    ] {
        let answer = pup.send(&pup.call("save_snack", arguments.clone()).call_id("call-1"));
        assert_eq!(answer.error_code(), Some(-32602), "{arguments}");
    }
    assert_eq!(
        menu(&pup)["counts"],
        json!({ "popcorn": 0, "fruit": 0, "pretzels": 0 })
    );
}

#[test]
fn a_forgotten_preference_is_gone_and_stays_counted() {
    let pup = club();
    save(&pup, "fruit", "call-1");
    let forget = |id: &str| {
        pup.send(&pup.call("forget_snack", json!({})).call_id(id))
            .structured()
    };
    assert_eq!(forget("call-2"), json!({ "forgotten": true }));
    assert_eq!(forget("call-3"), json!({ "forgotten": false }));
    let menu = menu(&pup);
    assert_eq!(
        (&menu["counts"]["fruit"], &menu["preference"]),
        (&json!(1), &Value::Null)
    );
}

#[test]
fn a_request_is_quoted_with_the_message_it_came_in() {
    let pup = club();
    let call = pup
        .call("quote_request", json!({}))
        .user_request("message-1", "Quote \u{1f36a} me");
    let quote = pup.send(&call).structured();
    assert_eq!(
        quote,
        json!({ "content": "Quote \u{1f36a} me", "messageId": "message-1" })
    );
}

#[test]
fn without_a_message_a_quote_is_declined() {
    let pup = club();
    let result = pup.send(&pup.call("quote_request", json!({}))).result();
    assert_eq!(result["isError"], true);
    assert!(
        result["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("no message")
    );
}

#[test]
fn members_are_welcomed_with_the_greeting_and_counted() {
    let pup = club();
    let first = pup.send(
        &pup.event("member.joined", "m1")
            .setting("greeting", "Hello!"),
    );
    assert_eq!(first.json()["presentation"]["fields"][0]["value"], "Hello!");
    let second = pup.send(&pup.event("member.joined", "m2"));
    let value = second.json()["presentation"]["fields"][0]["value"].clone();
    assert!(
        value
            .as_str()
            .is_some_and(|greeting| greeting.starts_with("Welcome")),
        "{value}"
    );
    assert_eq!(menu(&pup)["welcomed"], 2);
    // Nobody asked to hear of these.
    assert_eq!(pup.send(&pup.event("member.left", "m1")).json(), json!({}));
    assert_eq!(menu(&pup)["welcomed"], 2);
}

/// Calls a task tool; the task's id.
fn begin(pup: &Pup, tool: &str, arguments: Value, call_id: &str) -> String {
    let answer = pup.send(&pup.call(tool, arguments).call_id(call_id));
    let task = answer.result();
    assert_eq!(task["resultType"], "task");
    task["taskId"].as_str().unwrap().to_owned()
}

/// How a task stands, once there is nothing left to do for it.
fn settled(pup: &Pup, id: &str) -> Value {
    for ran in pup.run_tasks() {
        ran.unwrap();
    }
    pup.send(&pup.task("tasks/get", id)).result()
}

#[test]
fn a_snack_is_chosen_by_taste() {
    for (taste, snack) in [("sweet", "fruit"), ("salty", "popcorn")] {
        let pup = club();
        let id = begin(&pup, "choose_snack", json!({}), "call-1");
        let task = settled(&pup, &id);
        assert_eq!(task["status"], "input_required");
        let form = &task["inputRequests"]["ask-0"]["params"];
        assert_eq!(form["message"], "Sweet or salty?");
        assert_eq!(
            form["requestedSchema"],
            json!({
                "type": "object",
                "properties": { "taste": { "type": "string", "enum": ["sweet", "salty"] } },
                "required": ["taste"],
            })
        );
        let answer = json!({ "ask-0": { "action": "accept", "content": { "taste": taste } } });
        assert_eq!(pup.send(&pup.answer(&id, answer)).status(), 200);
        let task = settled(&pup, &id);
        assert_eq!(task["status"], "completed");
        assert_eq!(
            task["result"]["structuredContent"],
            json!({ "snack": snack })
        );
    }
}

#[test]
fn who_does_not_say_what_they_like_gets_no_snack() {
    for (action, told) in [("decline", "declined"), ("cancel", "dismissed")] {
        let pup = club();
        let id = begin(&pup, "choose_snack", json!({}), "call-1");
        let answer = json!({ "ask-0": { "action": action } });
        assert_eq!(pup.send(&pup.answer(&id, answer)).status(), 200);
        let task = settled(&pup, &id);
        assert_eq!(task["status"], "completed");
        let result = &task["result"];
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn a_wrong_taste_is_refused_and_asked_for_again() {
    let pup = club();
    let id = begin(&pup, "choose_snack", json!({}), "call-1");
    for content in [
        json!({ "taste": "sour" }),
        json!({}),
        json!({ "taste": ["sweet"] }),
        json!({ "taste": "sweet", "much": true }),
    ] {
        let response = json!({ "ask-0": { "action": "accept", "content": content } });
        let answer = pup.send(&pup.answer(&id, response));
        assert_eq!(answer.error_code(), Some(-32602), "{content}");
        assert_eq!(settled(&pup, &id)["status"], "input_required");
    }
}

#[test]
fn a_choice_is_the_askers_alone() {
    let pup = club();
    let id = begin(&pup, "choose_snack", json!({}), "call-1");
    let other = pup.send(&pup.task("tasks/get", &id).asker("asker-2"));
    assert_eq!(other.error_code(), Some(-32602));
    let undeclared = pup.send(&pup.call("choose_snack", json!({})).without_tasks());
    assert_eq!(undeclared.error_code(), Some(-32021));
}

#[test]
fn each_batch_is_in_stock_once_and_told() {
    let runtime = SimRuntime::new();
    let pup = Pup::new(snack_club::extension(), &runtime);
    let call = pup
        .call("bake_snacks", json!({ "batches": 3 }))
        .call_id("call-1");
    let created = pup.send(&call).result();
    // The same call again is the same task.
    assert_eq!(pup.send(&call.retry()).result(), created);
    let id = created["taskId"].as_str().unwrap();
    let began = runtime.now();
    let mut told = Vec::new();
    while let Some((at, job)) = pup.background().take_next() {
        runtime
            .run(async {
                runtime.sleep(at.since(runtime.now())).await;
                pup.service().run_task(&job, None).await
            })
            .unwrap();
        let task = pup.send(&pup.task("tasks/get", id)).result();
        told.push((task["statusMessage"].clone(), menu(&pup)["stock"].clone()));
    }
    let expected: Vec<_> = (1..=3)
        .map(|batch| (json!(format!("batch {batch} of 3")), json!(batch)))
        .collect();
    assert_eq!(told, expected);
    assert_eq!(runtime.now().since(began), Duration::from_millis(500));
    let task = settled(&pup, id);
    assert_eq!(task["result"]["structuredContent"], json!({ "batches": 3 }));
    assert_eq!(menu(&pup)["stock"], 3);
}

#[test]
fn ten_batches_can_be_baked_at_once() {
    let pup = club();
    let id = begin(&pup, "bake_snacks", json!({ "batches": 10 }), "call-1");
    let task = settled(&pup, &id);
    assert_eq!(
        task["result"]["structuredContent"],
        json!({ "batches": 10 })
    );
    assert_eq!(menu(&pup)["stock"], 10);
}

#[test]
fn no_batch_and_more_than_ten_are_refused() {
    let pup = club();
    for batches in [json!(0), json!(11), json!(1.5), json!("3"), Value::Null] {
        let arguments = json!({ "batches": batches });
        let answer = pup.send(&pup.call("bake_snacks", arguments).call_id("call-1"));
        assert_eq!(answer.error_code(), Some(-32602), "{batches}");
    }
    assert!(pup.background().jobs().is_empty());
    assert_eq!(menu(&pup)["stock"], 0);
}

#[test]
fn the_manifest_is_complete() {
    let extension = snack_club::extension();
    let manifest = extension.manifest();
    assert_eq!(manifest.id().as_str(), "snack_club");
    let tools: Vec<String> = manifest
        .tools()
        .iter()
        .map(|tool| tool.name().to_string())
        .collect();
    assert_eq!(
        tools,
        [
            "snack_menu",
            "save_snack",
            "forget_snack",
            "quote_request",
            "choose_snack",
            "bake_snacks"
        ]
    );
}
