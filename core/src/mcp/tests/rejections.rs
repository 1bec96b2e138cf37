//! Every way in which a request is not admitted: the code, the status, the id, and what the message names.

use serde_json::{Value, json};

use super::{CAPABILITIES_POINTER, CONTEXT_POINTER, Post, VERSION_POINTER};
use crate::mcp::{AllowedOrigins, Error, MAX_ID_BYTES};

fn refused(post: &Post, code: i64, status: u16, names: &str) {
    let error = post.error();
    let what = format!("{error} for {:?} {}", post.headers, post.body);
    assert_eq!(
        (error.code(), error.status().as_u16()),
        (code, status),
        "{what}"
    );
    assert_eq!(error.id().map(|id| id.as_json()), Some("7"), "{what}");
    assert!(error.message().contains(names), "{names:?} in {what}");
    assert!(
        error.message().starts_with(char::is_lowercase) || error.message().starts_with("Mcp"),
        "{what}"
    );
}

#[test]
fn a_missing_duplicate_malformed_or_disagreeing_header_is_a_mismatch() {
    let get = || Post::new("tasks/get", json!({ "taskId": "t-1" }));
    let update = || {
        Post::new(
            "tasks/update",
            json!({ "taskId": "t-1", "inputResponses": {} }),
        )
    };
    let cancel = || Post::new("tasks/cancel", json!({ "taskId": "t-1" }));
    for (post, names) in [
        (
            Post::list().without("mcp-protocol-version"),
            "MCP-Protocol-Version header is missing",
        ),
        (
            Post::list().also("mcp-protocol-version", "2026-07-28"),
            "MCP-Protocol-Version header is there twice",
        ),
        (
            Post::list().header("mcp-protocol-version", "2026-07-28é"),
            "MCP-Protocol-Version header holds an invalid",
        ),
        (
            Post::list().header("mcp-protocol-version", "2025-11-25"),
            "MCP-Protocol-Version header does not match",
        ),
        (
            Post::list().header("mcp-protocol-version", ""),
            "MCP-Protocol-Version header does not match",
        ),
        (
            Post::list().with(VERSION_POINTER, json!("v999.0.0")),
            "MCP-Protocol-Version header does not match",
        ),
        (
            Post::list().without("mcp-method"),
            "Mcp-Method header is missing",
        ),
        (
            Post::list().also("mcp-method", "tools/list"),
            "Mcp-Method header is there twice",
        ),
        (
            Post::list().header("mcp-method", "tools/list, tools/list"),
            "Mcp-Method header does not match",
        ),
        (
            Post::list().header("mcp-method", "TOOLS/LIST"),
            "Mcp-Method header does not match",
        ),
        (
            Post::list().header("mcp-method", "prompts/list"),
            "Mcp-Method header does not match",
        ),
        (
            Post::list().header("mcp-method", "=?base64?dG9vbHMvbGlzdA==?="),
            "Mcp-Method header does not match",
        ),
        (
            Post::list().header("mcp-method", "tools/list\u{a0}"),
            "Mcp-Method header holds an invalid",
        ),
        (
            Post::new("unknown/method", json!({})).header("mcp-method", "tools/list"),
            "Mcp-Method header does not match",
        ),
        (
            Post::call().without("mcp-name"),
            "Mcp-Name header is missing: send it with params.name",
        ),
        (
            Post::call().also("mcp-name", "save_snack"),
            "Mcp-Name header is there twice",
        ),
        (
            Post::call().header("mcp-name", "SAVE_SNACK"),
            "Mcp-Name header does not match params.name",
        ),
        (
            Post::call().header("mcp-name", "=?base64?c2F2ZV9zbmFjaw?="),
            "Mcp-Name header can't be decoded",
        ),
        (
            Post::call().header("mcp-name", "=?base64?!!?="),
            "Mcp-Name header can't be decoded",
        ),
        (
            Post::call().header("mcp-name", "save_snäck"),
            "Mcp-Name header holds an invalid",
        ),
        (
            get().without("mcp-name"),
            "Mcp-Name header is missing: send it with params.taskId",
        ),
        (
            get().header("mcp-name", "t-2"),
            "Mcp-Name header does not match params.taskId",
        ),
        (
            update().without("mcp-name"),
            "Mcp-Name header is missing: send it with params.taskId",
        ),
        (
            update().header("mcp-name", "t-2"),
            "Mcp-Name header does not match params.taskId",
        ),
        (
            cancel().without("mcp-name"),
            "Mcp-Name header is missing: send it with params.taskId",
        ),
        (
            cancel().header("mcp-name", "t-2"),
            "Mcp-Name header does not match params.taskId",
        ),
    ] {
        refused(&post, -32020, 400, names);
    }
}

#[test]
fn another_version_is_refused_with_the_ones_there_are() {
    for requested in ["v999.0.0", "2025-11-25", "DRAFT-2026-v1"] {
        let post = Post::list()
            .header("mcp-protocol-version", requested)
            .with(VERSION_POINTER, json!(requested));
        refused(&post, -32022, 400, "2026-07-28");
        let expected = json!({ "supported": ["2026-07-28"], "requested": requested });
        assert_eq!(post.error().data(), Some(&expected));
    }
    // An old client has neither the other headers nor `_meta`.
    let old = Post::list()
        .without("mcp-method")
        .removing("/params")
        .header("mcp-protocol-version", "2025-11-25");
    refused(&old, -32022, 400, "2026-07-28");
    // What it asks for is echoed, but not without end.
    let long = "9".repeat(5_000);
    let post = Post::list()
        .header("mcp-protocol-version", &long)
        .with(VERSION_POINTER, json!(long));
    assert_eq!(post.error().data().unwrap()["requested"], "9".repeat(64));
}

#[test]
fn a_method_that_is_removed_or_unknown_is_not_found_whatever_its_parameters() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "prompts/list",
        "resources/list",
        "tasks/result",
        "tasks/list",
        "unknown/method",
        "Tools/list",
        "notifications/cancelled",
    ] {
        for post in [
            Post::new(method, json!({})),
            Post::new(method, json!({})).removing(CAPABILITIES_POINTER),
            Post::new(method, json!({})).removing("/params/_meta"),
            Post::new(method, json!({})).with(CONTEXT_POINTER, json!(7)),
            Post::new(method, json!({})).removing("/params"),
        ] {
            refused(&post, -32601, 404, "2026-07-28");
            assert_eq!(
                post.error().data(),
                Some(&json!({ "supported": ["2026-07-28"] })),
                "{method}"
            );
        }
    }
}

#[test]
fn a_legacy_initialize_is_told_the_version_there_is_whatever_is_wrong_with_it() {
    let legacy = Post {
        headers: http::HeaderMap::new(),
        body: json!({
            "jsonrpc": "2.0",
            "id": 7,
            "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } },
        }),
    };
    refused(&legacy, -32020, 400, "2026-07-28");
    refused(
        &legacy.clone().header("mcp-protocol-version", "2025-11-25"),
        -32022,
        400,
        "2026-07-28",
    );
    refused(
        &legacy.clone().header("mcp-protocol-version", "2026-07-28"),
        -32020,
        400,
        "2026-07-28",
    );
    for post in [
        legacy.clone(),
        legacy.clone().header("mcp-protocol-version", "2025-11-25"),
        legacy
            .clone()
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "ping"),
        legacy
            .clone()
            .also("mcp-protocol-version", "1")
            .also("mcp-protocol-version", "2"),
        legacy
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "initialize"),
    ] {
        assert_eq!(
            post.error().data().unwrap()["supported"],
            json!(["2026-07-28"]),
            "{}",
            post.error()
        );
    }
}

#[test]
fn request_metadata_that_is_missing_or_ill_typed_is_named() {
    let capabilities = |value: Value| Post::list().with(CAPABILITIES_POINTER, value);
    for (post, names) in [
        (Post::list().removing("/params"), "params._meta is missing"),
        (
            Post::list().removing("/params/_meta"),
            "params._meta is missing",
        ),
        (
            Post::list().with("/params/_meta", Value::Null),
            "params._meta must be an object",
        ),
        (
            Post::list().with("/params/_meta", json!([])),
            "params._meta must be an object",
        ),
        (
            Post::list().removing(VERSION_POINTER),
            "io.modelcontextprotocol/protocolVersion\"] is missing",
        ),
        (
            Post::list().with(VERSION_POINTER, json!(20_260_728)),
            "protocolVersion\"] must be a string",
        ),
        (
            Post::list().with(VERSION_POINTER, Value::Null),
            "protocolVersion\"] must be a string",
        ),
        (
            Post::list().removing(CAPABILITIES_POINTER),
            "io.modelcontextprotocol/clientCapabilities\"] is missing",
        ),
        (
            capabilities(Value::Null),
            "clientCapabilities\"] is missing",
        ),
        (
            capabilities(json!([])),
            "clientCapabilities\"] must be an object",
        ),
        (
            capabilities(json!("tasks")),
            "clientCapabilities\"] must be an object",
        ),
        (
            capabilities(json!({ "extensions": [] })),
            "extensions must be an object",
        ),
        (
            capabilities(json!({ "extensions": { "io.modelcontextprotocol/tasks": true } })),
            "extensions[\"io.modelcontextprotocol/tasks\"] must be an object",
        ),
        (
            capabilities(json!({ "elicitation": true })),
            "elicitation must be an object",
        ),
    ] {
        refused(&post, -32602, 400, names);
    }
}

#[test]
fn parameters_of_a_method_that_are_missing_or_ill_typed_are_named() {
    let update = || {
        Post::new(
            "tasks/update",
            json!({ "taskId": "t-1", "inputResponses": {} }),
        )
    };
    for (post, names) in [
        (
            Post::new("tools/list", json!({ "cursor": 7 })),
            "params.cursor must be a string",
        ),
        (
            Post::call().removing("/params/name"),
            "params.name is missing",
        ),
        (
            Post::call().with("/params/name", json!(["save_snack"])),
            "params.name must be a string",
        ),
        (
            Post::call().with("/params/name", Value::Null),
            "params.name must be a string",
        ),
        (
            Post::call().with("/params/arguments", json!([])),
            "params.arguments must be an object",
        ),
        (
            Post::call().with("/params/arguments", json!("{}")),
            "params.arguments must be an object",
        ),
        (
            Post::new("tasks/get", json!({})),
            "params.taskId is missing",
        ),
        (
            Post::new("tasks/cancel", json!({ "taskId": 7 })),
            "params.taskId must be a string",
        ),
        (
            update().removing("/params/inputResponses"),
            "params.inputResponses is missing",
        ),
        (
            update().with("/params/inputResponses", json!([])),
            "params.inputResponses must be an object",
        ),
        (
            update().with("/params/inputResponses", Value::Null),
            "params.inputResponses must be an object",
        ),
    ] {
        refused(&post, -32602, 400, names);
    }
}

#[test]
fn a_call_and_a_task_request_need_a_whole_context() {
    for post in [
        Post::call(),
        Post::new("tasks/get", json!({ "taskId": "t-1" })),
        Post::new(
            "tasks/update",
            json!({ "taskId": "t-1", "inputResponses": {} }),
        ),
        Post::new("tasks/cancel", json!({ "taskId": "t-1" })),
    ] {
        refused(
            &post.clone().removing(CONTEXT_POINTER),
            -32602,
            400,
            "io.puphq/context\"] is missing",
        );
        refused(
            &post.with(CONTEXT_POINTER, Value::Null),
            -32602,
            400,
            "io.puphq/context\"] is missing",
        );
    }
}

#[test]
fn a_context_that_is_there_must_be_right_also_where_it_need_not_be_there() {
    let long = "i".repeat(MAX_ID_BYTES + 1);
    let source = json!({ "messageId": "m-1", "channelId": "c-2", "content": "hi" });
    let source = |name: &str, value: Value| {
        let mut source = source.clone();
        source[name] = value;
        source
    };
    let cases: Vec<(&str, Value, &str)> = vec![
        (
            "installationId",
            json!(7),
            "installationId must be a string",
        ),
        (
            "installationId",
            Value::Null,
            "installationId must be a string",
        ),
        (
            "installationId",
            json!(""),
            "installationId must have 1 to 256 bytes",
        ),
        (
            "installationId",
            json!(long),
            "installationId must have 1 to 256 bytes",
        ),
        ("askerId", json!(["a-1"]), "askerId must be a string"),
        ("askerId", json!(""), "askerId must have 1 to 256 bytes"),
        ("channelId", json!(7), "channelId must be a string"),
        ("channelId", json!(""), "channelId must have 1 to 256 bytes"),
        ("settings", Value::Null, "settings must be an object"),
        ("settings", json!([]), "settings must be an object"),
        ("callId", json!(7), "callId must be a string"),
        ("callId", json!(""), "callId must have 1 to 256 bytes"),
        ("callId", json!(long), "callId must have 1 to 256 bytes"),
        ("userRequest", json!("hi"), "userRequest must be an object"),
        ("userRequest", json!({}), "userRequest.messageId is missing"),
        (
            "userRequest",
            source("messageId", json!("")),
            "userRequest.messageId must have 1 to 256 bytes",
        ),
        (
            "userRequest",
            source("channelId", json!(1)),
            "userRequest.channelId must be a string",
        ),
        (
            "userRequest",
            source("content", Value::Null),
            "userRequest.content must be a string",
        ),
    ];
    for post in [
        Post::call(),
        Post::list(),
        Post::new("server/discover", json!({})),
    ] {
        for (member, value, names) in &cases {
            let names = format!("params._meta[\"io.puphq/context\"].{names}");
            refused(
                &post.clone().context(member, value.clone()),
                -32602,
                400,
                &names,
            );
        }
        for member in ["installationId", "askerId", "settings"] {
            let post = post
                .clone()
                .removing(&format!("{CONTEXT_POINTER}/{member}"));
            refused(&post, -32602, 400, &format!(".{member} is missing"));
        }
        refused(
            &post.with(CONTEXT_POINTER, json!("i-1")),
            -32602,
            400,
            "io.puphq/context\"] must be an object",
        );
    }
}

#[test]
fn a_member_that_is_there_twice_is_refused_on_every_level_that_decides() {
    let body = serde_json::to_string(&Post::call().body).unwrap();
    for (once, twice, names) in [
        (
            r#""name":"save_snack""#,
            r#""name":"save_snack","name":"forget_snack""#,
            "params names a member twice",
        ),
        (
            r#""askerId":"a-1""#,
            r#""askerId":"a-1","\u0061skerId":"a-2""#,
            "context\"] names a member twice",
        ),
        (
            r#""io.puphq/context":{"#,
            r#""io.puphq/context":{},"io.puphq/context":{"#,
            "params._meta names a member twice",
        ),
        (
            r#""elicitation":{}"#,
            r#""elicitation":{},"elicitation":{}"#,
            "clientCapabilities\"] names a member twice",
        ),
    ] {
        let spoiled = body.replacen(once, twice, 1);
        assert_ne!(spoiled, body);
        let Ok(crate::mcp::Message::Request(request)) =
            crate::mcp::Message::parse(spoiled.as_bytes())
        else {
            panic!("a request")
        };
        let error = crate::mcp::admit(&Post::call().headers, &request).unwrap_err();
        assert_eq!(
            (error.code(), error.status().as_u16()),
            (-32602, 400),
            "{error}"
        );
        assert!(error.message().contains(names), "{error}");
    }
}

#[test]
fn a_client_without_the_tasks_extension_is_told_so() {
    let post = Post::call().with(CAPABILITIES_POINTER, json!({}));
    let error = post
        .admitted(|admitted| admitted.unwrap().meta.capabilities.require_tasks())
        .unwrap_err();
    assert_eq!((error.code(), error.status().as_u16()), (-32021, 400));
    assert_eq!(
        error.data(),
        Some(
            &json!({ "requiredCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } } })
        )
    );
}

#[test]
fn a_foreign_origin_is_refused_without_an_id() {
    let post = Post::list().header("origin", "https://evil.example");
    let error = AllowedOrigins::none().check(&post.headers).unwrap_err();
    assert_eq!((error.code(), error.status().as_u16()), (-32600, 403));
    let body: Value = serde_json::from_slice(&error.to_body(None)).unwrap();
    assert_eq!(body.get("id"), None);
}

#[test]
fn the_errors_of_our_own_have_codes_outside_of_the_reserved_range() {
    let cases: &[(Error, i64, u16, bool)] = &[
        (Error::internal(), -32603, 500, true),
        (Error::replayed(), -31001, 409, false),
        (Error::still_running(), -31002, 200, true),
        (Error::call_id_reused(), -31003, 422, false),
        (Error::outcome_unknown(), -31004, 503, true),
        (Error::out_of_time(), -31005, 200, true),
        (Error::answer_too_large(), -31006, 200, false),
        (Error::unavailable(), -31007, 503, true),
    ];
    for (error, code, status, retryable) in cases {
        assert_eq!(
            (error.code(), error.status().as_u16(), error.is_retryable()),
            (*code, *status, *retryable)
        );
        assert!(error.message().starts_with(char::is_lowercase));
        assert!(*code == -32603 || !(-32768..=-32000).contains(code));
    }
}

#[test]
fn no_error_repeats_what_people_sent() {
    let secret = "s3cret";
    for post in [
        Post::call().header("mcp-name", secret),
        Post::call().header("mcp-method", secret),
        Post::call().with("/params/name", json!({ secret: secret })),
        Post::call().with("/params/arguments", json!(secret)),
        Post::call().context("settings", json!(secret)),
        Post::call().context(
            "userRequest",
            json!({ "messageId": "m", "channelId": "c", "content": [secret] }),
        ),
        Post::new(secret, json!({})),
    ] {
        let error = post.error();
        let shown = format!(
            "{error:?} {error} {}",
            String::from_utf8(error.to_body(None)).unwrap()
        );
        assert!(!shown.contains(secret), "{shown}");
    }
}
