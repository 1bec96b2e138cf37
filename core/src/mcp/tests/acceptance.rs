//! What is admitted, and what comes out of it.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{CAPABILITIES_POINTER, CONTEXT_POINTER, Post};
use crate::mcp::{Admitted, ClientCapabilities, Context, Method};

fn accepted(post: &Post, then: impl FnOnce(Admitted<'_>)) {
    post.admitted(|outcome| {
        then(outcome.unwrap_or_else(|error| panic!("{error} for {}", post.body)));
    });
}

fn context(post: &Post) -> Option<Context> {
    post.admitted(|outcome| outcome.unwrap().meta.context)
}

#[test]
fn each_method_comes_out_with_its_parameters() {
    accepted(&Post::new("server/discover", json!({})), |admitted| {
        assert_eq!(admitted.id.as_json(), "7");
        assert_eq!(admitted.method, Method::Discover);
    });
    accepted(
        &Post::new("tools/list", json!({ "cursor": "" })),
        |admitted| {
            assert_eq!(
                admitted.method,
                Method::ListTools {
                    cursor: Some(String::new())
                }
            );
        },
    );
    accepted(&Post::call(), |admitted| {
        let arguments = json!({ "snack": "fruit" });
        assert_eq!(
            admitted.method,
            Method::CallTool {
                name: Cow::Borrowed("save_snack"),
                arguments
            }
        );
    });
    accepted(
        &Post::new("tasks/get", json!({ "taskId": "t-1" })),
        |admitted| {
            assert_eq!(
                admitted.method,
                Method::GetTask {
                    task_id: Cow::Borrowed("t-1")
                }
            );
        },
    );
    let responses = json!({ "ask-1": { "action": "accept", "content": { "taste": "sweet" } } });
    accepted(
        &Post::new(
            "tasks/update",
            json!({ "taskId": "t-1", "inputResponses": responses }),
        ),
        |admitted| {
            let Value::Object(input_responses) = responses else {
                panic!("an object")
            };
            assert_eq!(
                admitted.method,
                Method::UpdateTask {
                    task_id: Cow::Borrowed("t-1"),
                    input_responses
                }
            );
        },
    );
    accepted(
        &Post::new("tasks/cancel", json!({ "taskId": "t-1" })),
        |admitted| {
            assert_eq!(
                admitted.method,
                Method::CancelTask {
                    task_id: Cow::Borrowed("t-1")
                }
            );
        },
    );
}

#[test]
fn arguments_that_are_absent_or_null_are_an_empty_object() {
    for post in [
        Post::call().removing("/params/arguments"),
        Post::call().with("/params/arguments", Value::Null),
    ] {
        accepted(&post, |admitted| {
            assert!(
                matches!(admitted.method, Method::CallTool { arguments, .. } if arguments == json!({}))
            );
        });
    }
}

#[test]
fn headers_are_read_as_http_has_them() {
    accepted(&Post::call().header("mcp-name", "  save_snack\t"), |_| {});
    accepted(&Post::list().header("mcp-method", " tools/list "), |_| {});
    accepted(
        &Post::list().header("mcp-protocol-version", "\t2026-07-28"),
        |_| {},
    );
    accepted(
        &Post::call().header("mcp-name", "=?base64?c2F2ZV9zbmFjaw==?="),
        |_| {},
    );
}

#[test]
fn a_name_that_no_header_holds_travels_in_the_sentinel() {
    for name in [
        "spëcial",
        " padded ",
        "line\nbreak",
        "=?base64?literal?=",
        "",
    ] {
        accepted(
            &Post::new("tools/call", json!({ "name": name })),
            |admitted| {
                assert!(
                    matches!(admitted.method, Method::CallTool { name: found, .. } if found == name)
                );
            },
        );
    }
}

#[test]
fn what_the_specification_leaves_open_refuses_nothing() {
    for post in [
        Post::list().header("accept", "text/html"),
        Post::list().header("content-type", "text/plain"),
        Post::list()
            .header("mcp-session-id", "s-1")
            .header("last-event-id", "e-1"),
        Post::list()
            .header("mcp-name", "anything")
            .also("mcp-name", "at all"),
        Post::call()
            .header("mcp-param-unknown", "x")
            .also("mcp-param-unknown", "y"),
    ] {
        accepted(&post, |_| {});
    }
    let mut params = json!({
        "name": "save_snack",
        "task": { "ttl": 60_000 },
        "inputResponses": 7,
        "requestState": "s",
        "unknown": [],
    });
    accepted(&Post::new("tools/call", params.take()), |_| {});
    let mut post = Post::list();
    post.body["params"]["_meta"]["progressToken"] = json!(7);
    post.body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = Value::Null;
    post.body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
    accepted(&post, |_| {});
}

#[test]
fn capabilities_are_those_of_this_request() {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    for (declared, tasks, elicitation) in [
        (json!({}), false, false),
        (json!({ "extensions": {} }), false, false),
        (
            json!({ "extensions": { "io.modelcontextprotocol/ui": 7 } }),
            false,
            false,
        ),
        (tasks, true, false),
        (json!({ "elicitation": {} }), false, true),
        (json!({ "elicitation": { "form": {} } }), false, true),
        (json!({ "elicitation": { "url": {} } }), false, false),
        (
            json!({ "elicitation": { "url": {}, "form": {} } }),
            false,
            true,
        ),
        (
            json!({ "tasks": {}, "sampling": 7, "roots": { "listChanged": true } }),
            false,
            false,
        ),
    ] {
        accepted(
            &Post::list().with(CAPABILITIES_POINTER, declared),
            |admitted| {
                assert_eq!(
                    admitted.meta.capabilities,
                    ClientCapabilities { tasks, elicitation }
                );
            },
        );
    }
}

#[test]
fn discovery_needs_no_context() {
    for method in ["server/discover", "tools/list"] {
        assert_eq!(
            context(&Post::new(method, json!({})).removing(CONTEXT_POINTER)),
            None
        );
        let discovery = Post::new(method, json!({}))
            .context("channelId", Value::Null)
            .context("callId", Value::Null);
        let context = context(&discovery).unwrap();
        assert_eq!(
            (
                context.installation_id.as_str(),
                context.channel_id,
                context.call_id
            ),
            ("i-1", None, None)
        );
    }
}

#[test]
fn a_context_comes_out_whole_and_shows_no_content() {
    let post = Post::call()
        .context("settings", json!({ "greeting": "s3cret greeting", "count": 3 }))
        .context(
            "userRequest",
            json!({ "messageId": "m-1", "channelId": "c-2", "content": "s3cret message", "later": 1 }),
        )
        .context("later", json!({}));
    let context = context(&post).unwrap();
    assert_eq!(context.installation_id.as_str(), "i-1");
    assert_eq!(context.asker_id.as_str(), "a-1");
    assert_eq!(context.channel_id.as_ref().unwrap().as_str(), "c-1");
    assert_eq!(context.call_id.as_ref().unwrap().as_str(), "call-1");
    assert_eq!(context.settings["count"], 3);
    let request = context.user_request.as_ref().unwrap();
    assert_eq!(
        (request.message_id.as_str(), request.channel_id.as_str()),
        ("m-1", "c-2")
    );
    assert_eq!(request.content, "s3cret message");

    let shown =
        format!("{context:?}") + &post.admitted(|outcome| format!("{:?}", outcome.unwrap()));
    assert!(
        shown.contains("2 redacted") && shown.contains("m-1"),
        "{shown}"
    );
    assert!(
        !shown.contains("s3cret") && !shown.contains("fruit"),
        "{shown}"
    );
}

#[test]
fn an_id_may_have_256_bytes_of_anything() {
    let id = "é".repeat(127) + "\n\0";
    assert_eq!(
        context(&Post::call().context("callId", json!(id)))
            .unwrap()
            .call_id
            .unwrap()
            .as_str(),
        id
    );
}
