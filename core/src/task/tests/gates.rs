//! Who may ask what of a task, and how often.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{World, accept};
use crate::{
    store::{
        Change, Commit, Expect, MemoryStore, Name, Partition, Revision, Store as _,
        Value as Stored,
        testing::{Fault, FaultStore, Operation},
    },
    testing::{Answer, Sent},
};

fn message(answer: &Answer) -> String {
    answer.json()["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_client_without_the_extension_is_told_what_it_lacks_and_nothing_is_written() {
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let id = world.create("choose", json!({}), "c1");
    let before = faults.operations().len();
    for sent in [
        world.pup.call("choose", json!({})).call_id("c2"),
        world.pup.task("tasks/get", &id),
        world.pup.answer(&id, json!({})),
        world.pup.task("tasks/cancel", &id),
    ] {
        let answer = world.send(&sent.without_tasks());
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (400, Some(-32021))
        );
        assert_eq!(
            answer.json()["error"]["data"]["requiredCapabilities"],
            json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
        );
    }
    assert_eq!(faults.operations().len(), before);
    // Other tools don't need it.
    let look = world.pup.call("look", json!({})).without_tasks();
    assert_eq!(world.send(&look).status(), 200);
}

#[test]
fn one_call_makes_one_task_for_reads_and_writes_alike() {
    for (tool, arguments) in [("choose", json!({})), ("bake", json!({ "batches": 2 }))] {
        let world = World::new();
        let sent = world.pup.call(tool, arguments).call_id("c1");
        let first = world.send(&sent).result();
        world.pup.run_tasks();
        // Whatever became of the task, the call's answer is the one it had.
        assert_eq!(world.send(&sent.retry()).result(), first);
        assert_eq!(world.pup.background().jobs(), []);
        let other = world.pup.call(tool, json!({ "batches": 3 })).call_id("c1");
        if tool == "bake" {
            assert_eq!(world.send(&other).error_code(), Some(-31003));
        }
        let other = sent.clone().webhook_id("other").asker("asker-2");
        assert_eq!(world.send(&other).error_code(), Some(-31003));
        // Without a `callId` each call makes a task of its own.
        let sent = world.pup.call("choose", json!({}));
        let (one, two) = (
            world.send(&sent).result(),
            world.send(&sent.retry()).result(),
        );
        assert_ne!(one["taskId"], two["taskId"]);
    }
}

#[test]
fn ids_have_128_bits() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    assert_eq!(id.len(), 32);
    assert!(id.bytes().all(|digit| digit.is_ascii_hexdigit()));
}

#[test]
fn a_request_that_is_seen_again_is_a_replay_and_changes_nothing() {
    let world = World::new();
    let call = world.pup.call("choose", json!({})).call_id("c1");
    let id = world.send(&call).result()["taskId"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = world.pup.answer(
        &id,
        json!({ "ask-0": accept(&json!({ "taste": "sweet" })) }),
    );
    let wrong = world
        .pup
        .answer(&id, json!({ "ask-0": accept(&json!({ "taste": "sour" })) }));
    let unknown = world.pup.task("tasks/get", "nothing");
    let sent = [
        call,
        world.pup.task("tasks/get", &id),
        wrong,
        unknown,
        answer,
    ];
    for sent in &sent[1..] {
        let _ = world.send(sent);
    }
    for sent in &sent {
        let again = world.send(sent);
        assert_eq!(
            (again.status().as_u16(), again.error_code()),
            (409, Some(-31001))
        );
    }
}

#[test]
fn others_are_told_the_same_as_of_a_task_that_never_was_after_the_same_operations() {
    let requests: [fn(&World, &str) -> Sent; 4] = [
        |world, id| world.pup.task("tasks/get", id),
        |world, id| {
            let answer = json!({ "ask-0": accept(&json!({ "taste": "sweet" })) });
            world.pup.answer(id, answer)
        },
        // Not even a wrong answer tells.
        |world, id| {
            world
                .pup
                .answer(id, json!({ "ask-0": { "action": "maybe" } }))
        },
        |world, id| world.pup.task("tasks/cancel", id),
    ];
    let change: [fn(Sent) -> Sent; 3] = [
        |sent| sent.asker("asker-2"),
        |sent| sent.installation("installation-2"),
        |sent| sent,
    ];
    for request in requests {
        let mut heard = Vec::new();
        for (index, change) in change.into_iter().enumerate() {
            let faults = FaultStore::new(MemoryStore::default());
            let world = World::over(faults.clone());
            let id = world.create("choose", json!({}), "c1");
            // The last is the member's own, of an id that was never given.
            let asked = if index == 2 {
                "0".repeat(32)
            } else {
                id.clone()
            };
            let before = faults.operations().len();
            let answer = world.send(&change(request(&world, &asked)).call_id("c1"));
            let operations: Vec<String> = faults.operations()[before..]
                .iter()
                .map(|recorded| match &recorded.operation {
                    Operation::Get(_) => String::from("get"),
                    Operation::Commit(commit) => format!("commit of {}", commit.changes().len()),
                    Operation::List(_) => String::from("list"),
                })
                .collect();
            assert_eq!(operations, ["get", "commit of 1"]);
            heard.push((answer.status(), answer.error_code(), message(&answer)));
            let task = world.get(&id);
            assert_eq!(task["status"], "input_required", "{task}");
        }
        assert_eq!((heard[0].0.as_u16(), heard[0].1), (400, Some(-32602)));
        assert_eq!(heard[0], heard[1]);
        assert_eq!(heard[0], heard[2]);
    }
}

#[test]
fn the_tasks_id_stands_in_the_header_too() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let missing = world.pup.mcp(method, params.clone());
        assert_eq!(world.send(&missing).error_code(), Some(-32020), "{method}");
        let other = world.pup.mcp(method, params).header("mcp-name", "other");
        assert_eq!(world.send(&other).error_code(), Some(-32020), "{method}");
    }
}

#[test]
fn a_poll_hands_over_what_is_due_and_does_so_once_in_a_while() {
    let world = World::new();
    let id = world.create("bake", json!({ "batches": 1 }), "c1");
    assert_eq!(world.pup.background().jobs().len(), 1);
    // It was told of it just now, so there is no need to tell it again.
    for _ in 0..20 {
        world.get(&id);
    }
    assert_eq!(world.pup.background().jobs().len(), 1);
    world.pup.background().forget();
    world.runtime.advance(Duration::from_secs(10));
    for _ in 0..20 {
        world.get(&id);
    }
    assert_eq!(world.pup.background().jobs().len(), 1);
    world.pup.run_tasks();
    assert_eq!(world.completed(&id)["stock"], 1);
    world.get(&id);
    assert_eq!(world.pup.background().jobs(), []);
}

#[test]
fn a_poll_of_what_nobody_has_to_do_anything_about_writes_its_claim_alone() {
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let id = world.create("choose", json!({}), "c1");
    let before = faults.operations().len();
    world.get(&id);
    let changes: Vec<usize> = faults.operations()[before..]
        .iter()
        .filter_map(|recorded| match &recorded.operation {
            Operation::Commit(commit) => Some(commit.changes().len()),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [1]);
}

#[test]
fn an_extension_says_that_it_has_tasks_where_it_has() {
    let world = World::new();
    let sent = world.pup.mcp("server/discover", json!({}));
    let result = world.pup.send(&sent).result();
    assert_eq!(
        result["capabilities"],
        json!({ "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
    );
}

#[test]
fn arguments_that_are_too_large_for_a_task_are_refused_and_nothing_is_written() {
    let world = World::new();
    let sent = world.pup.call("choose", json!({})).call_id("c1");
    let large: Value = json!("x".repeat(300 * 1024));
    let answer = world.send(&sent.clone().setting("greeting", large));
    assert_eq!(
        (answer.status().as_u16(), answer.error_code()),
        (400, Some(-32602))
    );
    assert_eq!(world.send(&sent.retry()).result()["status"], "working");
}

#[test]
fn an_answer_or_a_cancellation_that_may_stand_is_not_said_to_have_done_nothing() {
    let requests: [fn(&World, &str) -> Sent; 2] = [
        |world, id| {
            let answer = json!({ "ask-0": accept(&json!({ "taste": "sweet" })) });
            world.pup.answer(id, answer)
        },
        |world, id| world.pup.task("tasks/cancel", id),
    ];
    for request in requests {
        let faults = FaultStore::new(MemoryStore::default());
        let world = World::over(faults.clone());
        let id = world.create("choose", json!({}), "c1");
        // The commit is carried out, its answer is lost, and nothing can be found out about it.
        let commit = faults.operations().len() + 1;
        faults.fail_at(commit, Fault::LoseAnswer);
        for look in 1..20 {
            faults.fail_at(commit + look, Fault::FailBefore);
        }
        let answer = world.send(&request(&world, &id));
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (503, Some(-31004))
        );
        assert!(!message(&answer).contains("nothing ran"));
        while faults.operations().len() <= commit + 20 {
            let _ = world.send(&world.pup.task("tasks/get", "nothing"));
        }
        assert_ne!(world.get(&id)["status"], "input_required");
    }
}

#[test]
fn a_head_that_this_version_can_not_read_tells_nobody_else_that_it_is_there() {
    let store = MemoryStore::default();
    let world = World::over(store.clone());
    let id = world.create("choose", json!({}), "c1");
    let name = Name::of(["task", &id]).unwrap();
    let later = json!({ "v": 2, "asker": "asker-1", "more": [] }).to_string();
    let commit = Commit::new(Revision::new(7), Partition::installation("installation-1"))
        .with(Change::put(
            name,
            Expect::Any,
            Stored::Bytes(later.into()),
            None,
        ))
        .unwrap();
    let now = crate::runtime::Runtime::now(&world.runtime);
    world.runtime.run(store.commit(&commit, now)).unwrap();
    let own = world.send(&world.pup.task("tasks/get", &id));
    assert_eq!(own.status(), 503);
    let unknown = world.send(&world.pup.task("tasks/get", "nothing").asker("asker-2"));
    let others = world.send(&world.pup.task("tasks/get", &id).asker("asker-2"));
    assert_eq!(
        (others.status(), message(&others)),
        (unknown.status(), message(&unknown))
    );
}

#[test]
fn an_answer_that_is_given_twice_in_one_request_is_refused() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let sweet = r#"{"action":"accept","content":{"taste":"sweet"}}"#;
    for responses in [
        format!(r#"{{"ask-0":{{"action":"decline"}},"ask-0":{sweet}}}"#),
        String::from(
            r#"{"ask-0":{"action":"decline","action":"accept","content":{"taste":"sweet"}}}"#,
        ),
        String::from(
            r#"{"ask-0":{"action":"accept","content":{"taste":"salty","taste":"sweet"}}}"#,
        ),
    ] {
        let sent = world.pup.answer(&id, json!("RESPONSES"));
        let answer = world.send(&sent.with_raw("\"RESPONSES\"", &responses));
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (400, Some(-32602))
        );
        assert!(message(&answer).contains("twice"), "{}", message(&answer));
    }
    assert_eq!(world.get(&id)["status"], "input_required");
}

#[test]
fn a_task_that_may_not_be_handed_over_fails_with_what_is_missing() {
    const MISSING: &str = "the role lacks the permission to run tasks";
    let world = World::new();
    world.pup.background().forbid(MISSING);
    let id = world.create("bake", json!({ "batches": 2 }), "c1");
    let task = world.send(&world.pup.task("tasks/get", &id)).result();
    assert_eq!(task["status"], "failed");
    assert_eq!(task["error"]["message"], MISSING);
    assert_eq!(world.outside.works(), 0);

    // One that waits for an answer goes on waiting, and fails when it is to be handed over.
    let id = world.create("choose", json!({}), "c2");
    let get = || world.send(&world.pup.task("tasks/get", &id)).result();
    assert_eq!(get()["status"], "input_required");
    let answer = json!({ "ask-0": accept(&json!({ "taste": "sweet" })) });
    let answer = world.pup.answer(&id, answer);
    assert_eq!(world.send(&answer).status(), 200);
    assert_eq!(get()["status"], "failed");
    assert_eq!(get()["error"]["message"], MISSING);
}
