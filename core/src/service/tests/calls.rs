//! Calls: what runs, what is answered, what is kept.

use serde_json::json;

use super::fixture::World;
use crate::{
    mcp::code,
    prelude::*,
    testing::{Pup, SimRuntime},
};

#[test]
fn a_call_answers_structured_content_and_its_json_as_text() {
    let world = World::new();
    let result = world.send(&world.call("next", "c1")).result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"], json!({ "number": 1 }));
    assert_eq!(
        result["content"],
        json!([{ "type": "text", "text": "{\"number\":1}" }])
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "fixture"
    );
}

#[test]
fn the_request_id_is_echoed_as_it_came() {
    let world = World::new();
    let sent = world.call("next", "c1").webhook_id("id-with-\"quotes\"");
    assert_eq!(world.send(&sent).json()["id"], "id-with-\"quotes\"");
}

#[test]
fn wrong_arguments_name_the_argument_and_run_nothing() {
    let world = World::new();
    for arguments in [
        json!({}),
        json!({ "text": 7 }),
        json!({ "text": "x".repeat(101) }),
        json!({ "text": "a", "more": 1 }),
    ] {
        let sent = world.pup.call("keep", arguments).call_id("c1");
        let answer = world.send(&sent);
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (400, Some(code::INVALID_PARAMS))
        );
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(message.contains("arguments"), "{message}");
        assert!(!message.contains("xxx"), "{message}");
    }
    // Nothing was recorded under the callId: right arguments still run.
    let right = world.pup.call("keep", json!({ "text": "a" })).call_id("c1");
    assert_eq!(world.send(&right).structured(), json!({ "text": "a" }));
}

#[test]
fn an_unknown_tool_is_refused_by_name_of_the_parameter() {
    let world = World::new();
    let answer = world.send(&world.call("nothing", "c1"));
    assert_eq!(
        (answer.status().as_u16(), answer.error_code()),
        (400, Some(code::INVALID_PARAMS))
    );
}

#[test]
fn a_read_only_tool_cannot_write() {
    let world = World::new();
    let answer = world.send(&world.call("meddle", "c1"));
    assert_eq!(answer.error_code(), Some(code::INTERNAL));
    assert_eq!(world.look()["sum"], 0);
}

#[test]
fn a_rejection_is_an_answer_and_its_writes_are_dropped() {
    let world = World::new();
    let first = world.call("reject", "c1");
    for sent in [first.clone(), first.retry()] {
        let result = world.send(&sent).result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "not today");
    }
    assert_eq!(world.look()["sum"], 0);
}

#[test]
fn a_failure_tells_the_caller_nothing_and_a_retry_runs_again() {
    let world = World::new();
    let first = world.call("fail", "c1");
    for (sent, runs) in [(first.clone(), 1), (first.retry(), 2)] {
        let answer = world.send(&sent);
        assert_eq!(answer.error_code(), Some(code::INTERNAL));
        assert!(!answer.json().to_string().contains("secret"));
        assert_eq!(world.outside.runs(), runs);
    }
    assert_eq!(world.look()["sum"], 0);
}

#[test]
fn a_retry_after_a_failure_takes_effect_once() {
    let world = World::new();
    let first = world.call("fail_first", "c1");
    assert_eq!(world.send(&first).error_code(), Some(code::INTERNAL));
    assert_eq!(world.send(&first.retry()).result()["isError"], false);
    assert_eq!(
        world.send(&first.retry().retry()).result()["isError"],
        false
    );
    assert_eq!(
        (world.outside.runs(), world.look()["sum"].clone()),
        (2, json!(1))
    );
}

// Where there is no unwinding, a panic ends the instance: tested in that runtime.
#[cfg(panic = "unwind")]
#[test]
fn a_panic_is_answered_as_a_failure_and_released() {
    let world = World::new();
    let first = world.call("panic", "c1");
    for (sent, runs) in [(first.clone(), 1), (first.retry(), 2)] {
        assert_eq!(world.send(&sent).error_code(), Some(code::INTERNAL));
        assert_eq!(world.outside.runs(), runs);
    }
    assert_eq!(world.look()["sum"], 0);
}

#[test]
fn only_a_tool_that_declares_it_is_given_the_users_message() {
    let world = World::new();
    let quote = world
        .pup
        .call("quote", json!({}))
        .user_request("m1", "What I said");
    assert_eq!(
        world.send(&quote).structured(),
        json!({ "content": "What I said" })
    );
    let stripped = world
        .pup
        .call("quote_nothing", json!({}))
        .user_request("m1", "What I said");
    assert_eq!(
        world.send(&stripped).structured(),
        json!({ "content": null })
    );
}

#[test]
fn state_is_of_one_installation_and_an_askers_own_is_theirs() {
    let world = World::new();
    let keep = |text: &str| world.pup.call("keep", json!({ "text": text }));
    let _ = world.send(&keep("mine"));
    let _ = world.send(&keep("theirs").asker("asker-2"));
    let _ = world.send(&world.pup.call("next", json!({})));
    let look = |sent: crate::testing::Sent| world.send(&sent).structured();
    let mine = look(world.pup.call("look", json!({})));
    assert_eq!((&mine["mine"], &mine["next"]), (&json!("mine"), &json!(1)));
    let theirs = look(world.pup.call("look", json!({})).asker("asker-2"));
    assert_eq!(
        (&theirs["mine"], &theirs["next"]),
        (&json!("theirs"), &json!(1))
    );
    let elsewhere = look(
        world
            .pup
            .call("look", json!({}))
            .installation("installation-2"),
    );
    assert_eq!(
        (&elsewhere["mine"], &elsewhere["next"]),
        (&json!(null), &json!(0))
    );
}

#[test]
fn a_call_without_an_id_commits_its_state_and_is_not_deduplicated() {
    let world = World::new();
    let first = world.pup.call("next", json!({}));
    assert_eq!(world.send(&first).structured()["number"], 1);
    assert_eq!(world.send(&first.retry()).structured()["number"], 2);
    assert_eq!(world.send(&first).status(), 409);
    assert_eq!(world.look()["next"], 2);
}

/// An extension of one tool.
fn only(tool: Tool) -> Extension {
    Extension::builder("only", "Only")
        .author("Example author")
        .description("Has one tool.")
        .summary("Has one tool.")
        .instructions("For tests.")
        .tool(tool)
        .build()
        .unwrap()
}

#[test]
fn a_tool_is_given_who_asked_where_and_with_which_settings() {
    async fn tell(ctx: ToolContext) -> Result<serde_json::Value, ToolError> {
        Ok(json!({
            "installation": ctx.installation_id(),
            "asker": ctx.asker_id(),
            "channel": ctx.channel_id(),
            "call": ctx.call_id(),
            "settings": ctx.settings().as_json(),
        }))
    }
    let runtime = SimRuntime::new();
    let pup = Pup::new(only(Tool::new("tell", tell)), &runtime);
    let whole = pup
        .call("tell", json!({}))
        .call_id("c1")
        .setting("greeting", "Hi");
    assert_eq!(
        pup.send(&whole).structured(),
        json!({
            "installation": "installation-1",
            "asker": "asker-1",
            "channel": "channel-1",
            "call": "c1",
            "settings": { "greeting": "Hi" },
        })
    );
    let bare = pup
        .call("tell", json!({}))
        .context("channelId", json!(null));
    let told = pup.send(&bare).structured();
    assert_eq!(
        (&told["channel"], &told["call"]),
        (&json!(null), &json!(null))
    );
}

#[test]
fn a_reply_has_its_block_under_pup_beside_its_data() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Choices {
        choices: Vec<&'static str>,
    }
    async fn menu() -> Result<Reply<Choices>, ToolError> {
        let save = Action::new("save", "Save", "menu").arguments(&json!({ "snack": "fruit" }));
        Ok(Reply::new(Choices {
            choices: vec!["fruit"],
        })
        .pup(Presentation::new().field("Choices", "fruit").action(save)))
    }
    let runtime = SimRuntime::new();
    let pup = Pup::new(only(Tool::new("menu", menu).read_only()), &runtime);
    let structured = pup.send(&pup.call("menu", json!({}))).structured();
    assert_eq!(
        structured,
        json!({
            "choices": ["fruit"],
            "pup": {
                "fields": [{ "label": "Choices", "value": "fruit" }],
                "actions": [
                    { "id": "save", "label": "Save", "tool": "menu", "arguments": { "snack": "fruit" } },
                ],
            },
        })
    );
    // The schema that is advertised knows of it, so that a strict client does not refuse the answer.
    let tools = pup.send(&pup.mcp("tools/list", json!({}))).result();
    let schema = &tools["tools"][0]["outputSchema"];
    assert_eq!(schema["properties"]["pup"], json!({ "type": "object" }));
}

#[test]
fn a_block_needs_an_object_without_a_member_of_its_name() {
    async fn list() -> Result<Reply<Vec<u8>>, ToolError> {
        Ok(Reply::new(vec![1]).pup(Presentation::new()))
    }
    async fn taken() -> Result<Reply<serde_json::Value>, ToolError> {
        Ok(Reply::new(json!({ "pup": 1 })).pup(Presentation::new()))
    }
    for tool in [Tool::new("t", list), Tool::new("t", taken)] {
        let runtime = SimRuntime::new();
        let pup = Pup::new(only(tool), &runtime);
        let answer = pup.send(&pup.call("t", json!({})));
        assert_eq!(answer.error_code(), Some(code::INTERNAL));
    }
}

#[test]
fn a_whole_number_may_come_as_a_fraction_and_is_the_same_call() {
    let world = World::new();
    let call = |seconds: serde_json::Value| {
        let arguments = json!({ "seconds": seconds });
        world.pup.call("next_after", arguments).call_id("c1")
    };
    assert_eq!(
        world.send(&call(json!(1.0))).structured(),
        json!({ "number": 1 })
    );
    assert_eq!(
        world.send(&call(json!(1))).structured(),
        json!({ "number": 1 })
    );
    assert_eq!(world.send(&call(json!(2))).error_code(), Some(-31003));
}
