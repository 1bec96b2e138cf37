//! Duplicates, replays and takeovers of calls.

use std::time::Duration;

use futures_util::future::{join, join_all, select};
use serde_json::json;

use super::fixture::World;
use crate::{
    mcp::code,
    runtime::Runtime as _,
    store::{
        MemoryStore,
        testing::{Fault, FaultStore},
    },
    testing::Sent,
};

#[test]
fn a_retry_gets_the_recorded_answer_and_runs_nothing() {
    let world = World::new();
    let first = world.call("next", "c1");
    let answer = world.send(&first);
    let retry = world.send(&first.retry());
    assert_eq!(retry.result(), answer.result());
    assert_ne!(
        retry.json()["id"],
        answer.json()["id"],
        "the envelope is the request's own"
    );
    assert_eq!(world.look()["next"], 1);
}

#[test]
fn a_replay_is_refused_whatever_the_ledger_holds() {
    let world = World::new();
    let first = world.call("next", "c1");
    let duplicate = first.retry();
    let other = world.call("next", "c2");
    let failing = world.call("fail", "c3");
    for sent in [&first, &duplicate, &other, &failing] {
        let _ = world.send(sent);
    }
    for sent in [&first, &duplicate, &other, &failing] {
        let answer = world.send(sent);
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (409, Some(code::REPLAYED))
        );
        assert_eq!(answer.json()["id"], sent.id());
    }
    assert_eq!(world.look()["next"], 2);
}

#[test]
fn a_replay_is_refused_up_to_the_last_moment_of_its_signature() {
    let world = World::new();
    let sent = world.pup.challenge("x");
    assert_eq!(world.send(&sent).status(), 200);
    world.runtime.advance(Duration::from_millis(300_999));
    assert_eq!(world.send(&sent).status(), 409);
    world.runtime.advance(Duration::from_millis(1));
    assert_eq!(world.send(&sent).status(), 401);
    // Nor does it come back when another clock is an hour behind.
    world
        .runtime
        .set_time(crate::time::Timestamp::from_secs(1_785_196_800 - 200));
    assert_eq!(world.send(&sent).status(), 409);
}

#[test]
fn a_signature_from_the_future_is_claimed_until_it_ends() {
    let world = World::new();
    let ahead = world.runtime.now() + Duration::from_secs(300);
    let sent = world.pup.challenge("x").signed_at(ahead);
    assert_eq!(world.send(&sent).status(), 200);
    world.runtime.advance(Duration::from_secs(600));
    assert_eq!(world.send(&sent).status(), 409);
    world.runtime.advance(Duration::from_secs(1));
    assert_eq!(world.send(&sent).status(), 401);
}

#[test]
fn claims_of_different_kinds_of_request_are_apart_by_installation() {
    let world = World::new();
    let discover = world
        .pup
        .mcp("server/discover", json!({}))
        .webhook_id("same");
    assert_eq!(world.send(&discover).status(), 200);
    assert_eq!(
        world
            .send(&discover.clone().installation("installation-2"))
            .status(),
        200
    );
    assert_eq!(world.send(&discover).status(), 409);
    assert_eq!(
        world
            .send(&discover.installation("installation-2"))
            .status(),
        409
    );
}

#[test]
fn a_call_id_with_other_content_is_refused_and_reveals_nothing() {
    let world = World::new();
    let sent = world
        .pup
        .call("keep", json!({ "text": "mine" }))
        .call_id("c1");
    let _ = world.send(&sent);
    let refused = |sent: Sent| {
        let answer = world.send(&sent);
        assert_eq!(answer.error_code(), Some(code::CALL_ID_REUSED));
        assert!(!answer.json().to_string().contains("mine"));
        // Its own claim was committed all the same.
        assert_eq!(world.send(&sent).status(), 409);
        answer.json()["error"].clone()
    };
    let arguments = refused(
        world
            .pup
            .call("keep", json!({ "text": "other" }))
            .call_id("c1"),
    );
    let tool = refused(world.pup.call("next", json!({})).call_id("c1"));
    let asker = refused(sent.retry().asker("asker-2"));
    assert_eq!((&arguments, &tool), (&tool, &asker));
    assert_eq!(world.look()["next"], 0);
    // Another installation's call of the same id is another call.
    assert_eq!(
        world
            .send(&world.call("next", "c1").installation("installation-2"))
            .structured()["number"],
        1
    );
}

#[test]
fn the_order_of_arguments_does_not_make_another_call() {
    let world = World::new();
    let first = world.pup.call("keep", json!({ "text": "a" })).call_id("c1");
    let _ = world.send(&first);
    let spaced = world.pup.call(
        "keep",
        serde_json::from_str("{ \"text\" : \"\\u0061\" }").unwrap(),
    );
    assert_eq!(
        world.send(&spaced.call_id("c1")).structured(),
        json!({ "text": "a" })
    );
}

#[test]
fn sixty_four_duplicates_at_once_have_one_effect_and_one_answer() {
    let world = World::new();
    let sent: Vec<Sent> = (0..64).map(|_| world.call("next", "c1")).collect();
    let answers = world
        .runtime
        .run(join_all(sent.iter().map(|sent| world.pup.deliver(sent))));
    for answer in answers {
        assert_eq!(answer.structured(), json!({ "number": 1 }));
    }
    assert_eq!(world.look()["next"], 1);
}

#[test]
fn a_duplicate_waits_for_the_first_and_gets_its_answer() {
    let world = World::new();
    let slow = || {
        world
            .pup
            .call("slow", json!({ "seconds": 2 }))
            .call_id("c1")
    };
    let (first, second) = (slow(), slow());
    let (first, second) = world
        .runtime
        .run(join(world.pup.deliver(&first), world.pup.deliver(&second)));
    assert_eq!(first.result(), second.result());
    assert_eq!(world.look()["sum"], 1);
}

#[test]
fn a_duplicate_that_cannot_wait_long_enough_is_told_so() {
    let world = World::new();
    let slow = || {
        world
            .pup
            .call("slow", json!({ "seconds": 3 }))
            .call_id("c1")
    };
    let first = slow();
    // The second comes early enough to see the first run, and its budget ends at the same time; so let the first
    // be one that never ends.
    let stuck = world
        .pup
        .call("slow", json!({ "seconds": 3_600 }))
        .call_id("c2");
    let waiter = world
        .pup
        .call("slow", json!({ "seconds": 3_600 }))
        .call_id("c2");
    let (_, answer) = world.runtime.run(join(world.pup.deliver(&stuck), async {
        world.runtime.sleep(Duration::from_millis(100)).await;
        world
            .pup
            .deliver(&waiter.clone().signed_at(world.runtime.now()))
            .await
    }));
    // The stuck one is dropped at its budget's end and released; the waiter then runs, and is out of time itself.
    assert!(
        matches!(
            answer.error_code(),
            Some(code::STILL_RUNNING | code::OUT_OF_TIME)
        ),
        "{}",
        answer.json()
    );
    assert_eq!(world.send(&first).status(), 200);
}

#[test]
fn a_dead_run_is_waited_for_until_its_lease_ends_and_then_taken_over() {
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let first = world.call("next", "c1");
    faults.fail_at(2, Fault::HangBefore);
    let request = Box::pin(world.pup.deliver(&first));
    world.runtime.run(select(
        request,
        Box::pin(world.runtime.sleep(Duration::from_millis(1))),
    ));

    // Five seconds and one: until then nobody else runs it.
    let early = world.send(&first.retry());
    assert_eq!(
        (early.status().as_u16(), early.error_code()),
        (200, Some(code::STILL_RUNNING))
    );
    assert_eq!(world.outside.runs(), 0);
    let late = first.retry().retry().signed_at(world.runtime.now());
    world.runtime.advance(Duration::from_secs(2));
    assert_eq!(world.send(&late).structured(), json!({ "number": 1 }));
}

#[test]
fn a_slow_run_that_was_taken_over_loses_and_answers_what_the_winner_did() {
    // Two instances over one store; the second's clock is ten seconds ahead, so the first's lease is over for it.
    let store = std::sync::Arc::new(MemoryStore::default());
    let (one, two) = (World::instance(store.clone(), 1), World::instance(store, 2));
    two.runtime.advance(Duration::from_secs(10));
    let first = one.pup.call("slow", json!({ "seconds": 2 })).call_id("c1");
    let running = Box::pin(one.pup.deliver(&first));
    let paused = one.runtime.run(select(
        running,
        Box::pin(one.runtime.sleep(Duration::from_secs(1))),
    ));
    let futures_util::future::Either::Right(((), running)) = paused else {
        panic!("the first run goes on")
    };
    let taker = two
        .pup
        .call("slow", json!({ "seconds": 2 }))
        .call_id("c1")
        .webhook_id("taker");
    assert_eq!(two.send(&taker).structured(), json!({ "number": 1 }));
    assert_eq!(
        one.runtime.run(running).structured(),
        json!({ "number": 1 })
    );
    assert_eq!(two.look()["sum"], 1);
}

#[test]
fn a_payment_that_left_no_answer_is_never_made_again() {
    let world = World::new();
    let first = world.call("pay_and_fail", "c1");
    assert_eq!(world.send(&first).error_code(), Some(code::INTERNAL));
    for _ in 0..3 {
        world.runtime.advance(Duration::from_secs(60));
        let retry = world.call("pay_and_fail", "c1");
        assert_eq!(world.send(&retry).error_code(), Some(code::OUTCOME_UNKNOWN));
    }
    assert_eq!(world.outside.payments(), 1);
}

#[test]
fn a_payment_is_recorded_like_any_other_answer() {
    let world = World::new();
    for _ in 0..3 {
        assert_eq!(
            world.send(&world.call("pay", "c1")).result()["isError"],
            false
        );
    }
    assert_eq!(
        (world.outside.payments(), world.look()["sum"].clone()),
        (1, json!(1))
    );
}

#[test]
fn a_step_is_done_once_over_the_runs_of_one_call_and_its_key_stays() {
    let world = World::new();
    let sent: Vec<Sent> = (0..8)
        .map(|number| world.call("step", &format!("c{number}")))
        .collect();
    let answers = world
        .runtime
        .run(join_all(sent.iter().map(|sent| world.pup.deliver(sent))));
    let mut keys: Vec<_> = answers
        .iter()
        .map(|answer| answer.structured()["key"].to_string())
        .collect();
    let again = world.send(&sent[0].retry()).structured();
    assert_eq!(again, answers[0].structured());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 8, "each call has a key of its own");
    // Conflicts over `next` made handlers run again; the payments did not follow.
    assert_eq!(
        (world.outside.payments(), world.look()["next"].clone()),
        (8, json!(8))
    );
}

#[test]
fn a_record_is_kept_as_long_as_the_retention_says() {
    let world = World::new();
    let first = world.call("next", "c1");
    assert_eq!(world.send(&first).structured()["number"], 1);
    let later = |days: u64| {
        world.runtime.advance(Duration::from_secs(days * 86_400));
        world.send(&world.call("next", "c1")).structured()["number"].clone()
    };
    assert_eq!(later(29), 1);
    assert_eq!(later(2), 2);
}

/// Outside services have it in their books: another key for the same call would be another payment.
#[test]
fn the_idempotency_key_stays_the_same_over_versions() {
    let world = World::new();
    let answer = world.send(&world.call("step", "c1"));
    assert_eq!(
        answer.structured()["key"],
        "710d7637c3287e296212aef6d738ec93"
    );
}
