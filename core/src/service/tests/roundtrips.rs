//! How often the store is asked: counted, since each time is a wait.

use serde_json::json;

use super::fixture::World;
use crate::{
    store::{
        MemoryStore,
        testing::{CountingStore, Counts},
    },
    testing::Sent,
};

fn counted(prepare: &[&dyn Fn(&World) -> Sent], request: &dyn Fn(&World) -> Sent) -> Counts {
    let store = std::sync::Arc::new(CountingStore::new(MemoryStore::default()));
    let world = World::over(std::sync::Arc::clone(&store));
    for prepare in prepare {
        let _ = world.send(&prepare(&world));
    }
    store.take();
    let answer = world.send(&request(&world));
    assert!(answer.status().is_success(), "{}", answer.status());
    store.take()
}

#[test]
fn requests_take_the_round_trips_that_they_need_and_no_more() {
    let write: &dyn Fn(&World) -> Sent = &|world| world.call("add", "c1");
    let retry: &dyn Fn(&World) -> Sent = &|world| world.call("add", "c1").webhook_id("another");
    let event: &dyn Fn(&World) -> Sent =
        &|world| world.pup.event("member.joined", "m1").webhook_id("d1");
    for (what, prepare, request, operations) in [
        (
            "a read",
            vec![],
            &|world: &World| world.pup.call("quote", json!({})),
            1,
        ),
        (
            "discovery",
            vec![],
            &|world: &World| world.pup.mcp("server/discover", json!({})),
            1,
        ),
        (
            "a list",
            vec![],
            &|world: &World| world.pup.mcp("tools/list", json!({})),
            1,
        ),
        (
            "a challenge",
            vec![],
            &|world: &World| world.pup.challenge("x"),
            1,
        ),
        ("a write", vec![], write, 2),
        ("a duplicate of a write", vec![write], retry, 2),
        ("a retried event", vec![event], event, 1),
    ]
        as [(
            &str,
            Vec<&dyn Fn(&World) -> Sent>,
            &dyn Fn(&World) -> Sent,
            u64,
        ); 7]
    {
        assert_eq!(
            counted(&prepare, request).operations(),
            operations,
            "{what}"
        );
    }
    // This one reads what it writes.
    assert_eq!(counted(&[], event).operations(), 3);
    assert_eq!(counted(&[], event).commits, 2);
}

#[test]
fn nothing_that_is_not_signed_reaches_the_store() {
    let store = std::sync::Arc::new(CountingStore::new(MemoryStore::default()));
    let world = World::over(std::sync::Arc::clone(&store));
    for sent in [
        world.call("add", "c1"),
        world.pup.challenge("x"),
        world.pup.event("member.joined", "m1"),
    ] {
        let mut request = sent.to_http();
        request.headers_mut().remove("webhook-signature");
        let answer = world.runtime.run(
            world
                .pup
                .service()
                .handle(request, crate::time::Timestamp::from_secs(1_785_196_800)),
        );
        assert_eq!(answer.status(), 401);
    }
    assert_eq!(store.take().operations(), 0);
}
