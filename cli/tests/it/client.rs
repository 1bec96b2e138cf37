//! What the client sends, and what it makes of answers.

use pup_extension_cli::{
    CallOptions, Client, ClientBuilder, Endpoint, EventOptions, Outcome, Timestamp, UserRequest,
};
use serde_json::{Value, json};

use crate::server::{Received, SECRET, Script, Server};

fn builder(server: &Server) -> ClientBuilder {
    Client::builder(&server.url, SECRET.parse().unwrap())
}

fn client(server: &Server) -> Client {
    builder(server).build().unwrap()
}

fn ok() -> Server {
    Server::with_result(json!({"resultType": "complete", "tools": []}))
}

#[tokio::test]
async fn the_manifest_is_asked_for_without_a_signature() {
    let server = Server::start(|_| Script::json(200, &json!({"id": "snack_club"})));
    let answer = client(&server).manifest().await.unwrap();
    assert_eq!(answer.object().unwrap()["id"], "snack_club");
    let request = server.request();
    assert_eq!(request.line, "GET /manifest.json HTTP/1.1");
    assert_eq!(request.header("webhook-signature"), None);
    assert_eq!(request.header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn a_challenge_is_signed_json() {
    let server = Server::start(|request| Script::json(200, &request.json()));
    let answer = client(&server).challenge("schön \" \u{0}").await.unwrap();
    assert_eq!(answer.challenge().unwrap(), "schön \" \u{0}");
    let request = server.request();
    assert_eq!(request.line, "POST /challenge HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    request.assert_signed();
    assert_eq!(request.json(), json!({"challenge": "schön \" \u{0}"}));
}

#[tokio::test]
async fn discovery_carries_mcps_headers_and_metadata_but_no_channel_and_no_call() {
    for (method, listing) in [("server/discover", false), ("tools/list", true)] {
        let server = ok();
        let client = builder(&server)
            .installation("guild_1")
            .asker("member_7")
            .channel("channel_3")
            .setting("greeting", "Hello")
            .build()
            .unwrap();
        let answer = if listing {
            client.list_tools().await
        } else {
            client.discover().await
        };
        assert!(answer.unwrap().result().is_ok());

        let request = server.request();
        assert_eq!(request.line, "POST /mcp HTTP/1.1");
        request.assert_signed();
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(
            request.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("mcp-method"), Some(method));
        assert_eq!(request.header("mcp-name"), None);

        let body = request.json();
        assert_eq!(
            (&body["jsonrpc"], &body["method"]),
            (&json!("2.0"), &json!(method))
        );
        let meta = request.meta();
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"],
            "pup-ext"
        );
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(
            capabilities["extensions"],
            json!({"io.modelcontextprotocol/tasks": {}})
        );
        assert_eq!(capabilities["elicitation"], json!({"form": {}}));
        let context = json!({"installationId": "guild_1", "askerId": "member_7", "settings": {"greeting": "Hello"}});
        assert_eq!(request.context(), context);
    }
}

#[tokio::test]
async fn a_call_carries_its_tool_arguments_and_context() {
    let server = ok();
    let message = UserRequest {
        message_id: "m1".to_owned(),
        channel_id: "c2".to_owned(),
        content: "a snack, please".to_owned(),
    };
    let options = CallOptions::new()
        .call_id("call_1")
        .webhook_id("msg_1")
        .user_request(message);
    let answer = client(&server)
        .call("menü", json!({"a": [1]}), options)
        .await
        .unwrap();
    assert_eq!(answer.request().call_id(), Some("call_1"));

    let request = server.request();
    request.assert_signed();
    assert_eq!(request.header("webhook-id"), Some("msg_1"));
    assert_eq!(request.header("mcp-method"), Some("tools/call"));
    assert_eq!(request.header("mcp-name"), Some("=?base64?bWVuw7w=?="));
    assert_eq!(request.json()["params"]["name"], "menü");
    assert_eq!(request.json()["params"]["arguments"], json!({"a": [1]}));
    let context = json!({
        "installationId": "local-installation",
        "askerId": "local-asker",
        "channelId": "local-channel",
        "settings": {},
        "callId": "call_1",
        "userRequest": {"messageId": "m1", "channelId": "c2", "content": "a snack, please"},
    });
    assert_eq!(request.context(), context);
}

#[tokio::test]
async fn every_call_has_fresh_ids_unless_they_are_named_or_left_out() {
    let server = ok();
    let client = client(&server);
    for options in [
        CallOptions::new(),
        CallOptions::new(),
        CallOptions::new().without_call_id(),
    ] {
        client.call("t", json!({}), options).await.unwrap();
    }
    let [one, two, none] = &server.requests()[..] else {
        panic!("three requests")
    };
    assert!(
        one.context()["callId"]
            .as_str()
            .unwrap()
            .starts_with("call_")
    );
    assert_ne!(one.context()["callId"], two.context()["callId"]);
    assert_eq!(none.context()["callId"], Value::Null);
    assert_ne!(one.header("webhook-id"), two.header("webhook-id"));
    assert_ne!(one.json()["id"], two.json()["id"]);
}

#[tokio::test]
async fn the_clock_the_id_the_capabilities_and_the_secret_can_be_set() {
    let server = ok();
    let client = builder(&server)
        .timestamp(Timestamp::from_secs(1_000))
        .webhook_id("msg_9")
        .capabilities(serde_json::Map::new())
        .build()
        .unwrap();
    client.discover().await.unwrap();
    let request = server.request();
    request.assert_signed_at(1_000);
    assert_eq!(request.header("webhook-timestamp"), Some("1000"));
    assert_eq!(request.header("webhook-id"), Some("msg_9"));
    assert_eq!(
        request.meta()["io.modelcontextprotocol/clientCapabilities"],
        json!({})
    );

    let other = client
        .to_builder()
        .secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".parse().unwrap());
    other.build().unwrap().discover().await.unwrap();
    let [ours, theirs] = &server.requests()[..] else {
        panic!("two requests")
    };
    assert_eq!(ours.header("webhook-id"), theirs.header("webhook-id"));
    assert_ne!(
        ours.header("webhook-signature"),
        theirs.header("webhook-signature")
    );
}

#[tokio::test]
async fn a_request_can_be_sent_again_byte_for_byte() {
    let server = ok();
    let client = client(&server);
    let request = client
        .call_request("t", json!({}), CallOptions::new())
        .unwrap();
    let answer = client.send(&request).await.unwrap();
    client.send(answer.request()).await.unwrap();
    let [first, second] = &server.requests()[..] else {
        panic!("two requests")
    };
    assert_eq!(
        (&first.line, &first.headers, &first.body),
        (&second.line, &second.headers, &second.body)
    );
}

#[tokio::test]
async fn a_request_can_be_tampered_with_and_keeps_its_signature() {
    let server = ok();
    let client = client(&server);
    let mut request = client.sign(Endpoint::Mcp, "{}", Some("msg_1")).unwrap();
    let signature = request.headers()["webhook-signature"].clone();
    request.set_body("[]");
    request.set_path("/challenge");
    request
        .headers_mut()
        .insert("x-extra", "1".parse().unwrap());
    client.send(&request).await.unwrap();
    let received: Received = server.request();
    assert_eq!(received.line, "POST /challenge HTTP/1.1");
    assert_eq!(received.body, b"[]");
    assert_eq!(received.header("x-extra"), Some("1"));
    assert_eq!(
        received.header("webhook-signature"),
        signature.to_str().ok()
    );
}

#[tokio::test]
async fn an_event_is_delivered_under_its_id() {
    let server = Server::start(|_| Script::json(200, &json!({"presentation": {"text": "hi"}})));
    let client = builder(&server)
        .installation("guild_1")
        .setting("n", 1)
        .build()
        .unwrap();
    let options = EventOptions::new()
        .delivery_id("d1")
        .occurred_at(Timestamp::EPOCH);
    let answer = client.event("member.joined", "m1", options).await.unwrap();
    assert_eq!(answer.presentation().unwrap(), Some(json!({"text": "hi"})));
    let request = server.request();
    assert_eq!(request.line, "POST /events HTTP/1.1");
    request.assert_signed();
    assert_eq!(request.header("webhook-id"), Some("d1"));
    let envelope = json!({
        "version": 1,
        "id": "d1",
        "eventId": "evt_d1",
        "occurredAt": "1970-01-01T00:00:00.000Z",
        "event": {"type": "member.joined", "memberId": "m1"},
        "context": {"installationId": "guild_1", "settings": {"n": 1}},
    });
    assert_eq!(request.json(), envelope);
}

#[tokio::test]
async fn ids_that_no_signature_covers_are_refused_before_anything_is_sent() {
    let server = ok();
    for id in ["", "a b", "ü", "a\r\nb"] {
        let options = CallOptions::new().webhook_id(id);
        let error = client(&server)
            .call("t", json!({}), options)
            .await
            .unwrap_err();
        assert_eq!(
            error.kind(),
            pup_extension_cli::ClientErrorKind::Request,
            "{id:?}"
        );
    }
    assert!(server.requests().is_empty());
}

fn tool(name: &str, property: &Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"region": property}}})
}

/// Lists one tool with an annotated argument, and refuses its calls without the header.
fn picky(request: &Received) -> Script {
    if request.json()["method"] == "tools/list" {
        let tool = tool("sql", &json!({"type": "string", "x-mcp-header": "Region"}));
        return Script::result(request, &json!({"tools": [tool]}));
    }
    match request.header("mcp-param-region") {
        Some("us-west1") => Script::result(request, &json!({"content": []})),
        _ => Script::error(
            request,
            400,
            &json!({"code": -32020, "message": "no region"}),
        ),
    }
}

#[tokio::test]
async fn a_call_refused_for_lack_of_headers_is_sent_again_with_them() {
    let server = Server::start(picky);
    let client = builder(&server).webhook_id("msg_1").build().unwrap();
    let arguments = json!({"region": "us-west1"});
    let answer = client
        .call("sql", arguments.clone(), CallOptions::new())
        .await
        .unwrap();
    assert!(matches!(answer.outcome(), Ok(Outcome::Complete(_))));
    let [first, list, second] = &server.requests()[..] else {
        panic!("three requests")
    };
    assert_eq!(list.json()["method"], "tools/list");
    assert_ne!(
        list.header("webhook-id"),
        Some("msg_1"),
        "the list must not use the call's id up"
    );
    assert_eq!(first.context()["callId"], second.context()["callId"]);
    second.assert_signed();

    // Now it is known.
    client
        .call("sql", arguments, CallOptions::new())
        .await
        .unwrap();
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_call_that_more_headers_would_not_help_is_sent_once() {
    let server = Server::start(picky);
    let answer = client(&server)
        .call("sql", json!({"other": 1}), CallOptions::new())
        .await
        .unwrap();
    assert_eq!(
        answer.outcome().unwrap_err().refused().unwrap().code,
        -32020
    );
    let calls = server
        .requests()
        .iter()
        .filter(|request| request.json()["method"] == "tools/call")
        .count();
    assert_eq!(calls, 1);
}

#[tokio::test]
async fn a_list_teaches_the_headers_before_the_first_call() {
    let server = Server::start(picky);
    let client = client(&server);
    let list = client.list_tools().await.unwrap().tool_list().unwrap();
    assert_eq!(list.tools[0].name(), "sql");
    client
        .clone()
        .call("sql", json!({"region": "us-west1"}), CallOptions::new())
        .await
        .unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn tools_with_invalid_annotations_are_left_out_of_the_list() {
    let server = Server::start(|request| {
        let good = tool("good", &json!({"type": "string"}));
        let bad = tool("bad", &json!({"type": "number", "x-mcp-header": "Region"}));
        let tools = json!([bad, good, 5, {"name": "bare"}, {"inputSchema": {}}]);
        Script::result(request, &json!({"tools": tools}))
    });
    let list = client(&server)
        .list_tools()
        .await
        .unwrap()
        .tool_list()
        .unwrap();
    assert_eq!(
        list.tools
            .iter()
            .map(|tool| tool.name())
            .collect::<Vec<_>>(),
        ["good"]
    );
    let names: Vec<_> = list
        .excluded
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["bad", "", "bare", ""]);
    assert!(
        list.excluded[0].reason.contains("region"),
        "{}",
        list.excluded[0].reason
    );
}

#[tokio::test]
async fn pages_are_followed_to_the_last_and_not_for_ever() {
    let server = Server::start(|request| {
        let page = request.json()["params"]["cursor"]
            .as_str()
            .map_or(1, |cursor| cursor.parse().unwrap());
        let next = if page < 3 {
            json!((page + 1).to_string())
        } else {
            Value::Null
        };
        Script::result(
            request,
            &json!({"tools": [tool(&format!("t{page}"), &json!({}))], "nextCursor": next}),
        )
    });
    let answers = client(&server).list_all_tools().await.unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[2].tool_list().unwrap().tools[0].name(), "t3");

    let endless = Server::with_result(json!({"tools": [], "nextCursor": "more"}));
    assert_eq!(client(&endless).list_all_tools().await.unwrap().len(), 100);
}
