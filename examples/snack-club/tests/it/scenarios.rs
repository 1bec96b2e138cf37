//! What members see.

use pup_extension::testing::{Pup, SimRuntime};
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
        ["snack_menu", "save_snack", "forget_snack", "quote_request"]
    );
}
