//! Requests about tasks, and what the client makes of their answers.

use pup_extension_cli::{
    Answer, AnswerErrorKind, CallOptions, Client, InputResponses, Outcome, TaskOptions, TaskState,
    TaskStatus,
};
use serde_json::{Value, json};

use crate::server::{SECRET, Script, Server, task};

fn client(server: &Server) -> Client {
    Client::new(&server.url, SECRET.parse().unwrap()).unwrap()
}

async fn get(result: Value) -> Answer {
    let server = Server::with_result(result);
    let asked = client(&server).get_task("t1", TaskOptions::new()).await;
    asked.unwrap()
}

fn shape_problem(answer: &Answer) -> String {
    let error = answer.task().unwrap_err();
    assert_eq!(error.kind(), AnswerErrorKind::Shape, "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_request_about_a_task_names_the_task_the_call_and_the_client() {
    let server = Server::with_result(json!({"resultType": "complete"}));
    let client = Client::builder(&server.url, SECRET.parse().unwrap())
        .installation("guild_1")
        .asker("member_7")
        .channel("channel_3")
        .setting("greeting", "Hello")
        .build()
        .unwrap();
    let options = || TaskOptions::new().call_id("call_1").webhook_id("msg_1");
    let responses = InputResponses::new()
        .accept("taste", json!({"taste": "sweet"}))
        .decline("drink");
    client.get_task("t1", options()).await.unwrap();
    client
        .update_task("t1", responses, options())
        .await
        .unwrap();
    client.cancel_task("t1", options()).await.unwrap();

    let requests = server.requests();
    let methods = ["tasks/get", "tasks/update", "tasks/cancel"];
    assert_eq!(requests.len(), methods.len());
    for (request, method) in requests.iter().zip(methods) {
        assert_eq!(request.line, "POST /mcp HTTP/1.1");
        request.assert_signed();
        assert_eq!(request.header("webhook-id"), Some("msg_1"));
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("mcp-method"), Some(method));
        assert_eq!(request.header("mcp-name"), Some("t1"));
        let body = request.json();
        assert_eq!(body["method"], method);
        assert_eq!(body["params"]["taskId"], "t1");
        assert_eq!(
            request.meta()["io.modelcontextprotocol/clientCapabilities"]["extensions"],
            json!({"io.modelcontextprotocol/tasks": {}})
        );
        let context = json!({
            "installationId": "guild_1",
            "askerId": "member_7",
            "channelId": "channel_3",
            "settings": {"greeting": "Hello"},
            "callId": "call_1",
        });
        assert_eq!(request.context(), context);
    }
    let answers = json!({
        "taste": {"action": "accept", "content": {"taste": "sweet"}},
        "drink": {"action": "decline"},
    });
    assert_eq!(requests[1].json()["params"]["inputResponses"], answers);
    assert_eq!(requests[0].json()["params"].get("inputResponses"), None);
}

#[tokio::test]
async fn a_tasks_id_that_no_header_can_hold_is_encoded_as_names_are() {
    let server = Server::with_result(json!({}));
    let client = client(&server);
    client.get_task("menü", TaskOptions::new()).await.unwrap();
    let request = server.request();
    assert_eq!(request.header("mcp-name"), Some("=?base64?bWVuw7w=?="));
    assert_eq!(request.json()["params"]["taskId"], "menü");
    request.assert_signed();
}

#[tokio::test]
async fn every_request_is_fresh_and_carries_no_call_unless_one_is_named() {
    let server = Server::with_result(json!({}));
    let client = client(&server);
    for _ in 0..2 {
        client.get_task("t1", TaskOptions::new()).await.unwrap();
    }
    let [one, two] = &server.requests()[..] else {
        panic!("two requests")
    };
    assert_ne!(one.header("webhook-id"), two.header("webhook-id"));
    assert_eq!(one.context().get("callId"), None);
}

#[tokio::test]
async fn a_request_about_a_task_can_be_built_and_sent_again_byte_for_byte() {
    let server = Server::with_result(json!({}));
    let client = client(&server);
    let options = || TaskOptions::new().call_id("call_1");
    for request in [
        client.get_task_request("t1", options()).unwrap(),
        client
            .update_task_request("t1", InputResponses::new().cancel("k"), options())
            .unwrap(),
        client.cancel_task_request("t1", options()).unwrap(),
    ] {
        assert_eq!(request.call_id(), Some("call_1"));
        let before = server.requests().len();
        client.send(&request).await.unwrap();
        client.send(&request).await.unwrap();
        let [one, two] = &server.requests()[before..] else {
            panic!("two requests")
        };
        assert_eq!(
            (&one.headers, &one.body),
            (&two.headers, &two.body),
            "nothing is signed anew"
        );
        one.assert_signed();
    }
}

#[tokio::test]
async fn a_call_that_goes_on_as_a_task_says_which() {
    let mut created = task("working", &json!({"statusMessage": "at it"}));
    created["resultType"] = json!("task");
    let server = Server::with_result(created);
    let answer = client(&server)
        .call("bake", json!({}), CallOptions::new())
        .await
        .unwrap();
    let Outcome::Task(task) = answer.outcome().unwrap() else {
        panic!("it goes on as a task")
    };
    assert_eq!((task.id.as_str(), task.status), ("t1", TaskStatus::Working));
    assert_eq!(task.status_message.as_deref(), Some("at it"));
    assert_eq!(task.poll_interval_ms, Some(1));
}

#[tokio::test]
async fn a_task_is_read_with_what_its_status_brings_along() {
    let answer = get(task(
        "completed",
        &json!({"result": {"structuredContent": 7}}),
    ))
    .await;
    let TaskState::Completed(result) = answer.task().unwrap().state else {
        panic!("it is completed")
    };
    assert_eq!(result.structured(), Some(&json!(7)));
}

#[tokio::test]
async fn a_task_of_another_form_is_an_error_that_says_what_is_wrong() {
    let unknown = get(task("paused", &json!({}))).await;
    assert!(shape_problem(&unknown).contains("`status` is none that is known"));
    let other = get(task("working", &json!({"taskId": "t2"}))).await;
    assert!(shape_problem(&other).contains("another task"));
    let created = get(task("working", &json!({"resultType": "task"}))).await;
    assert!(shape_problem(&created).contains("`resultType`"));
    assert!(shape_problem(&get(json!({})).await).contains("`taskId`"));
}

#[tokio::test]
async fn an_acknowledgement_is_a_complete_result_and_nothing_else() {
    for (result, taken) in [
        (json!({"resultType": "complete"}), true),
        (json!({}), true),
        (json!({"resultType": "task"}), false),
        (json!({"resultType": 1}), false),
    ] {
        let server = Server::with_result(result.clone());
        let client = client(&server);
        let options = TaskOptions::new;
        let responses = InputResponses::new().decline("k");
        let updated = client.update_task("t1", responses, options()).await;
        let cancelled = client.cancel_task("t1", options()).await;
        for answer in [updated, cancelled] {
            assert_eq!(answer.unwrap().acknowledged().is_ok(), taken, "{result}");
        }
    }
}

#[tokio::test]
async fn a_task_that_is_not_there_is_a_refusal() {
    let server = Server::start(|request| {
        let error = json!({"code": -32602, "message": "there is no such task"});
        Script::error(request, 400, &error)
    });
    let client = client(&server);
    let answer = client.get_task("t9", TaskOptions::new()).await.unwrap();
    let error = answer.task().unwrap_err();
    assert_eq!(error.refused().map(|refusal| refusal.code), Some(-32602));
    let answer = client.cancel_task("t9", TaskOptions::new()).await.unwrap();
    let error = answer.acknowledged().unwrap_err();
    assert_eq!(error.kind(), AnswerErrorKind::Refused);
}
