//! Time and size.

use std::time::Duration;

use serde_json::json;

use super::fixture::World;
use crate::{mcp::code, runtime::Runtime as _, service::MAX_BODY_BYTES};

#[test]
fn a_handler_that_outlives_its_budget_is_dropped_and_a_task_suggested() {
    let world = World::new();
    let began = world.runtime.now();
    let sent = world
        .pup
        .call("slow", json!({ "seconds": 60 }))
        .call_id("c1");
    let answer = world.send(&sent);
    assert_eq!(answer.error_code(), Some(code::OUT_OF_TIME));
    assert!(
        answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("task")
    );
    assert_eq!(world.runtime.now().since(began), Duration::from_secs(4));
    assert_eq!(world.look()["sum"], 0);
    // It was released: a retry need not wait for the lease.
    let began = world.runtime.now();
    let quick = world.send(&sent.retry());
    assert_eq!(quick.error_code(), Some(code::OUT_OF_TIME));
    assert_eq!(world.runtime.now().since(began), Duration::from_secs(4));
}

#[test]
fn a_handler_within_its_budget_is_answered() {
    let world = World::new();
    let sent = world
        .pup
        .call("slow", json!({ "seconds": 3 }))
        .call_id("c1");
    assert_eq!(world.send(&sent).structured(), json!({ "number": 1 }));
    let read = world.pup.call("slow_read", json!({ "seconds": 5 }));
    assert_eq!(world.send(&read).error_code(), Some(code::OUT_OF_TIME));
}

#[test]
fn an_answer_over_the_limit_becomes_an_error_that_says_so() {
    let world = World::new();
    let sized = |tool: &str, size: usize| {
        let sent = world.pup.call(tool, json!({ "size": size })).call_id("c1");
        world.send(&sent)
    };
    // The data stands in the answer twice: as structured content, and as text.
    let answer = sized("bytes", 500_000);
    assert!(answer.http().body().len() <= 1024 * 1024 && answer.result()["isError"] == false);
    let answer = sized("bytes", 600_000);
    assert_eq!(answer.error_code(), Some(code::ANSWER_TOO_LARGE));
    // A recorded answer has to fit into one item.
    assert_eq!(sized("bytes_write", 120_000).result()["isError"], false);
    let other = world
        .pup
        .call("bytes_write", json!({ "size": 140_000 }))
        .call_id("c2");
    assert_eq!(
        world.send(&other).error_code(),
        Some(code::ANSWER_TOO_LARGE)
    );
}

#[test]
fn a_body_over_a_mebibyte_is_refused_before_it_is_verified() {
    let world = World::new();
    let service = world.pup.service();
    let request = |size: usize| {
        http::Request::post("/mcp")
            .body(vec![b' '; size].into())
            .unwrap()
    };
    let status = |size| {
        world
            .runtime
            .run(service.handle(request(size), world.runtime.now()))
            .status()
    };
    assert_eq!(status(MAX_BODY_BYTES + 1), 413);
    assert_eq!(status(MAX_BODY_BYTES), 401);

    let mut declared = http::HeaderMap::new();
    declared.insert("content-length", (MAX_BODY_BYTES + 1).into());
    let early = service
        .refuse_early(&http::Method::POST, "/mcp", &declared)
        .unwrap();
    assert_eq!(early.status(), 413);
    assert!(
        service
            .refuse_early(&http::Method::POST, "/mcp", &http::HeaderMap::new())
            .is_none()
    );
}
