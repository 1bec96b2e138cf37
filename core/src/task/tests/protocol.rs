//! What pup is answered where the protocol leaves it open.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::fixture::{World, accept};
use crate::{
    runtime::Runtime as _,
    store::{MemoryStore, testing::CountingStore},
    testing::Sent,
};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The three requests about a task.
fn requests(world: &World, id: &str) -> [Sent; 3] {
    [
        world.pup.task("tasks/get", id),
        world
            .pup
            .answer(id, json!({ "ask-0": { "action": "decline" } })),
        world.pup.task("tasks/cancel", id),
    ]
}

#[test]
fn a_client_without_the_extension_is_refused_before_anything_is_claimed() {
    let store = Arc::new(CountingStore::new(MemoryStore::default()));
    let world = World::over(Arc::clone(&store));
    let id = world.create("choose", json!({}), "c1");
    let call = world.pup.call("choose", json!({})).call_id("c2");
    store.take();
    for sent in requests(&world, &id).into_iter().chain([call]) {
        let undeclared = sent.clone().without_tasks();
        // Not even a replay of it: its id was not seen.
        for _ in 0..2 {
            let answer = world.send(&undeclared);
            assert_eq!(
                (answer.status().as_u16(), answer.error_code()),
                (400, Some(-32021))
            );
        }
    }
    assert_eq!(store.take().operations(), 0);
    assert_eq!(world.get(&id)["status"], "input_required");
    // Other tools need no extension.
    let look = world.pup.call("look", json!({})).without_tasks();
    assert_eq!(world.send(&look).status(), 200);
}

#[test]
fn a_task_that_is_not_the_members_is_refused_as_one_that_there_is_not() {
    let store = Arc::new(CountingStore::new(MemoryStore::default()));
    let world = World::over(Arc::clone(&store));
    let id = world.create("choose", json!({}), "c1");
    let mut refusals = Vec::new();
    for (own, none) in requests(&world, &id)
        .into_iter()
        .zip(requests(&world, "none"))
    {
        for sent in [
            none,
            own.clone().asker("another"),
            own.clone().installation("another"),
        ] {
            store.take();
            let answer = world.send(&sent);
            let message = answer.json()["error"]["message"].clone();
            refusals.push((answer.error_code(), message, store.take().operations()));
        }
    }
    assert_eq!(refusals[0].0, Some(-32602));
    assert!(
        refusals.iter().all(|other| *other == refusals[0]),
        "{refusals:?}"
    );
    assert_eq!(world.get(&id)["status"], "input_required");
}

#[test]
fn a_task_is_gone_a_day_after_its_creation() {
    let world = World::new();
    let asking = world.create("choose", json!({}), "c1");
    let task = world.get(&asking);
    assert_eq!(
        (&task["ttlMs"], &task["pollIntervalMs"]),
        (&json!(86_400_000), &json!(1_000))
    );
    let baked = world.create("bake", json!({ "batches": 2 }), "c2");
    world.pup.run_tasks();
    world.completed(&baked);
    // Nothing that is done with it prolongs it.
    world.runtime.advance(DAY - Duration::from_secs(60));
    assert_eq!(world.get(&asking)["status"], "input_required");
    world.completed(&baked);
    world.runtime.advance(Duration::from_secs(60));
    for id in [asking, baked] {
        for sent in requests(&world, &id) {
            assert_eq!(world.send(&sent).error_code(), Some(-32602));
        }
    }
}

#[test]
fn a_repeated_call_gets_its_task_as_it_was_created() {
    let world = World::new();
    let call = world
        .pup
        .call("bake", json!({ "batches": 2 }))
        .call_id("c1");
    let created = world.send(&call).result();
    assert_eq!(created["resultType"], "task");
    assert_eq!(created["status"], "working");
    world.runtime.advance(Duration::from_secs(1));
    assert_eq!(world.send(&call.retry()).result(), created);
    world.pup.run_tasks();
    world.completed(created["taskId"].as_str().unwrap());
    assert_eq!(world.send(&call.retry().retry()).result(), created);
    assert_eq!(world.look()["stock"], 2);
    let other = call.retry().asker("another");
    assert_eq!(world.send(&other.webhook_id("w")).status(), 422);
}

#[test]
fn requests_about_a_task_bear_its_calls_id_and_are_not_recorded_under_it() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let get = || world.pup.task("tasks/get", &id).call_id("c1");
    let first = get();
    assert_eq!(world.send(&first).result()["status"], "input_required");
    assert_eq!(world.send(&first).status(), 409, "a replay");
    let answer = json!({ "ask-0": accept(&json!({ "taste": "sweet" })) });
    let update = world.pup.answer(&id, answer).call_id("c1");
    assert_eq!(world.send(&update).status(), 200);
    world.pup.run_tasks();
    assert_eq!(world.send(&get()).result()["status"], "completed");
}

#[test]
fn an_answer_to_no_open_question_is_acknowledged_and_changes_nothing() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let asking = world.get(&id);
    for key in ["ask-1", "ask-00", "ask-+0", "taste", ""] {
        let responses = json!({ key: accept(&json!({ "taste": "sour" })) });
        assert_eq!(world.answer(&id, responses).status(), 200);
    }
    assert_eq!(world.get(&id), asking);
    let answer = |taste: &str| {
        let responses = json!({ "ask-0": accept(&json!({ "taste": taste })) });
        assert_eq!(world.answer(&id, responses).status(), 200);
    };
    answer("sweet");
    // The first answer counts.
    answer("salty");
    world.pup.run_tasks();
    answer("salty");
    assert_eq!(world.completed(&id), json!({ "snack": "fruit" }));
}

#[test]
fn a_cancellation_is_committed_at_once() {
    let world = World::new();
    let id = world.create("bake", json!({ "batches": 3 }), "c1");
    assert!(!world.pup.background().jobs().is_empty());
    let cancel = world.pup.task("tasks/cancel", &id);
    assert_eq!(world.send(&cancel).status(), 200);
    assert_eq!(world.get(&id)["status"], "cancelled");
    world.pup.run_tasks();
    assert_eq!(world.get(&id)["status"], "cancelled");
    assert_eq!(world.look()["stock"], 0);
}

#[test]
fn the_last_progress_is_the_status_message_and_the_same_again_is_no_update() {
    let world = World::new();
    let id = world.create("everything", json!({}), "c1");
    world.pup.run_tasks();
    let said = world.get(&id);
    assert_eq!(said["statusMessage"], "asking");
    world.runtime.advance(Duration::from_secs(5));
    // Replayed, it is not said again.
    world.answer(
        &id,
        json!({ "ask-3": accept(&json!({ "taste": "sweet" })) }),
    );
    let answered = world.runtime.now();
    world.runtime.advance(Duration::from_secs(5));
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["statusMessage"], "asking");
    assert_eq!(task["lastUpdatedAt"], answered.to_rfc3339());
    assert_ne!(task["lastUpdatedAt"], said["lastUpdatedAt"]);
    assert_eq!(task.get("error"), None::<&Value>);
}
