//! MCP bodies: whatever arrives, nothing panics, and what is admitted means what the body says.
//!
//! A second reader, `serde_json`'s, says what a body means. The headers are made to agree with it, so that bodies
//! get past them.

#![no_main]

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use pup_extension::mcp::{Admitted, Error, Message, Method, Request, admit, header::encode_value};
use serde_json::{Map, Value, json};

fuzz_target!(|body: &[u8]| {
    let request = match Message::parse(body) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification(notification)) => {
            let value = meaning(body);
            assert!(value.is_none_or(|value| {
                value.get("id").is_none() && value["method"] == *notification.method
            }));
            return;
        }
        Err(error) => return refused(&error),
    };
    let value = meaning(body);
    if let Some(value) = &value {
        same_request(&request, value);
    }

    let name = value.as_ref().and_then(|value| {
        ["name", "taskId"]
            .into_iter()
            .find_map(|member| value["params"][member].as_str())
    });
    let mut headers = HeaderMap::new();
    headers.insert(
        "mcp-protocol-version",
        HeaderValue::from_static("2026-07-28"),
    );
    if let Ok(method) = HeaderValue::from_str(&request.method) {
        headers.insert("mcp-method", method);
    }
    if let Some(name) = name {
        headers.insert(
            "mcp-name",
            HeaderValue::from_str(&encode_value(name)).unwrap(),
        );
    }
    match admit(&headers, &request) {
        Ok(admitted) => {
            if let Some(value) = &value {
                same_meaning(&admitted, value);
            }
            // Each header is needed, and with its value.
            for header in ["mcp-protocol-version", "mcp-method"] {
                let mut fewer = headers.clone();
                fewer.remove(header);
                assert_eq!(admit(&fewer, &request).unwrap_err().code(), -32020);
                fewer.insert(header, HeaderValue::from_static("other"));
                assert_eq!(admit(&fewer, &request).unwrap_err().code(), -32020);
            }
            if !matches!(admitted.method, Method::Discover | Method::ListTools { .. }) {
                headers.remove("mcp-name");
                assert_eq!(admit(&headers, &request).unwrap_err().code(), -32020);
            }
        }
        Err(error) => {
            assert_eq!(error.id(), Some(&request.id));
            refused(&error);
        }
    }
});

/// What the body means, where the second reader can read it: it takes no number beyond its range, and no half of a
/// surrogate pair, also where they stand in what nobody reads.
fn meaning(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok()
}

/// The request is wrong, not the server; and what is answered is JSON with the id that was sent.
fn refused(error: &Error) {
    assert!(error.status().is_client_error());
    let answer: Value = serde_json::from_slice(&error.to_body(None)).unwrap();
    assert_eq!(answer["error"]["code"], error.code());
    let id = error
        .id()
        .map(|id| serde_json::from_str(id.as_json()).unwrap());
    assert_eq!(answer.get("id"), id.as_ref());
}

/// Written out again, it is the same request.
fn same_request(request: &Request<'_>, value: &Value) {
    let params = request
        .params
        .map_or_else(String::new, |params| format!(",\"params\":{params}"));
    let method = json!(request.method);
    let again = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{method}{params}}}",
        request.id
    );
    let mut expected = value.clone();
    let known = ["jsonrpc", "id", "method", "params"];
    expected
        .as_object_mut()
        .unwrap()
        .retain(|name, _| known.contains(&name.as_str()));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), expected);

    let Ok(Message::Request(twin)) = Message::parse(again.as_bytes()) else {
        panic!("refused: {again}")
    };
    assert_eq!((&twin.id, &twin.method), (&request.id, &request.method));
    assert_eq!(
        twin.params.map(|params| params.get()),
        request.params.map(|params| params.get())
    );
}

fn same_meaning(admitted: &Admitted<'_>, value: &Value) {
    let params = &value["params"];
    assert_eq!(admitted.method.name(), value["method"]);
    match &admitted.method {
        Method::CallTool { name, arguments } => {
            assert_eq!(**name, params["name"]);
            let sent = params
                .get("arguments")
                .filter(|arguments| !arguments.is_null());
            assert_eq!(arguments, sent.unwrap_or(&Value::Object(Map::new())));
        }
        Method::ListTools { cursor } => assert_eq!(cursor.as_deref(), params["cursor"].as_str()),
        Method::GetTask { task_id } | Method::CancelTask { task_id } => {
            assert_eq!(**task_id, params["taskId"])
        }
        Method::UpdateTask {
            task_id,
            input_responses,
        } => {
            assert_eq!(**task_id, params["taskId"]);
            assert_eq!(Some(input_responses), params["inputResponses"].as_object());
        }
        _ => {}
    }

    let meta = &params["_meta"];
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    let tasks = capabilities["extensions"]["io.modelcontextprotocol/tasks"].is_object();
    assert_eq!(admitted.meta.capabilities.tasks, tasks);

    let sent = &meta["io.puphq/context"];
    let Some(context) = &admitted.meta.context else {
        return assert!(sent.is_null());
    };
    assert_eq!(context.installation_id.as_str(), sent["installationId"]);
    assert_eq!(context.asker_id.as_str(), sent["askerId"]);
    assert_eq!(
        context.channel_id.as_ref().map(|id| id.as_str()),
        sent["channelId"].as_str()
    );
    assert_eq!(
        context.call_id.as_ref().map(|id| id.as_str()),
        sent["callId"].as_str()
    );
    assert_eq!(Some(&context.settings), sent["settings"].as_object());
    let message = context
        .user_request
        .as_ref()
        .map(|request| request.content.as_str());
    assert_eq!(message, sent["userRequest"]["content"].as_str());
}
