//! What the store makes of an AWS that conflicts, throttles, hangs, and loses answers.

mod common;
#[path = "common/scripted.rs"]
mod scripted;

use std::error::Error as _;

use pup_extension::{
    store::{
        Change, Commit, Expect, Key, Name, Outcome, Partition, Revision, Store as _, StoreError,
        StoreErrorKind, Value,
    },
    time::Timestamp,
};
use pup_extension_lambda::DynamoStore;
use pup_extension_tests::dynamodb::{DynamoDb, TABLE};

use crate::{
    common::client,
    scripted::{Reply, Scripted, cancelled, error},
};

const NOW: Timestamp = Timestamp::from_secs(4_000_000_000);

/// A store behind an endpoint that goes by a script.
struct World {
    store: DynamoStore,
    endpoint: Scripted,
    _database: DynamoDb,
}

impl World {
    #[expect(clippy::unwrap_used, reason = "a test helper")]
    async fn new() -> Self {
        let database = DynamoDb::start(None).await.unwrap();
        let endpoint = Scripted::before(database.url()).await;
        Self {
            store: DynamoStore::new(client(&endpoint.url), TABLE),
            endpoint,
            _database: database,
        }
    }

    #[expect(clippy::unwrap_used, reason = "a test helper")]
    async fn get(&self, name: &str) -> Option<Value> {
        let key = Key::new(Partition::unscoped(), named(name));
        let item = self.store.get(&key, NOW).await.unwrap();
        item.map(|item| item.value)
    }

    /// Both the outcome and what was asked for it.
    async fn commit(&self, commit: &Commit) -> (Result<Outcome, StoreError>, Vec<String>) {
        self.endpoint.asked();
        let outcome = self.store.commit(commit, NOW).await;
        (outcome, self.endpoint.asked())
    }
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn named(name: &str) -> Name {
    Name::of([name]).unwrap()
}

fn put(name: &str) -> Change {
    Change::put(named(name), Expect::Absent, Value::Number(1), None)
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn commit(id: u128, changes: impl IntoIterator<Item = Change>) -> Commit {
    let mut commit = Commit::new(Revision::new(id), Partition::unscoped());
    for change in changes {
        commit.push(change).unwrap();
    }
    commit
}

/// Everything that an error says.
fn said(error: &StoreError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[expect(clippy::panic, reason = "a test helper")]
fn kind(outcome: Result<Outcome, StoreError>) -> StoreErrorKind {
    match outcome {
        Ok(outcome) => panic!("an outcome: {outcome:?}"),
        Err(error) => error.kind(),
    }
}

#[tokio::test]
async fn a_write_that_meets_a_transaction_or_is_throttled_is_sent_again() {
    let world = World::new().await;
    for (number, code) in [
        "TransactionConflictException",
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
    ]
    .into_iter()
    .enumerate()
    {
        world.endpoint.next([error(400, code), error(400, code)]);
        let name = format!("a{number}");
        let (outcome, asked) = world
            .commit(&commit(number as u128 + 1, [put(&name)]))
            .await;
        assert_eq!(outcome.unwrap(), Outcome::Applied, "{code}");
        assert_eq!(asked, ["PutItem"; 3], "{code}");
        assert_eq!(world.get(&name).await, Some(Value::Number(1)));
    }
}

#[tokio::test]
async fn a_transaction_that_was_cancelled_for_others_is_sent_again() {
    let world = World::new().await;
    for (number, codes) in [
        ["TransactionConflict", "None"],
        ["None", "TransactionConflict"],
        ["ThrottlingError", "None"],
        ["ProvisionedThroughputExceeded", "TransactionConflict"],
        // What is in the way of the other write is not known yet.
        ["ConditionalCheckFailed", "TransactionConflict"],
    ]
    .into_iter()
    .enumerate()
    {
        world.endpoint.next([cancelled(&codes)]);
        let (a, b) = (format!("a{number}"), format!("b{number}"));
        let both = commit(number as u128 + 1, [put(&a), put(&b)]);
        let (outcome, asked) = world.commit(&both).await;
        assert_eq!(outcome.unwrap(), Outcome::Applied, "{codes:?}");
        assert_eq!(asked, ["TransactWriteItems"; 2], "{codes:?}");
    }
}

#[tokio::test]
async fn a_table_that_stays_throttled_applied_nothing() {
    let world = World::new().await;
    let throttled = error(400, "ThrottlingException");
    world.endpoint.next(vec![throttled; 1_000]);
    let (outcome, asked) = world.commit(&commit(1, [put("a")])).await;
    assert_eq!(kind(outcome), StoreErrorKind::NotApplied);
    assert!(asked.len() > 2, "{asked:?}");
}

#[tokio::test]
async fn a_lost_answer_of_a_commit_is_unknown_and_never_sent_again() {
    let world = World::new().await;
    for (number, reply) in [
        Reply::Cut,
        Reply::DoneThenCut,
        Reply::Silence,
        error(500, "InternalServerError"),
        Reply::Answer(503, serde_json::json!({})),
        Reply::Answer(200, serde_json::json!("no answer of DynamoDB's")),
        Reply::Answer(418, serde_json::json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        let is_done = matches!(reply, Reply::DoneThenCut);
        for changes in [vec![put("a")], vec![put("a"), put("b")]] {
            let ids = (number * 2 + changes.len()) as u128 + 1;
            let (first, count) = (changes[0].name.clone(), changes.len());
            world.endpoint.next([reply.clone()]);
            let changes = changes.into_iter().map(|mut change| {
                change.name = named(&format!("{:?}{ids}", change.name));
                change
            });
            let (outcome, asked) = world.commit(&commit(ids, changes)).await;
            assert_eq!(kind(outcome), StoreErrorKind::Unknown, "{reply:?}");
            assert_eq!(asked.len(), 1, "{reply:?} of {count}");
            let there = world.get(&format!("{first:?}{ids}")).await;
            assert_eq!(there.is_some(), is_done, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn a_read_is_tried_again_whatever_became_of_it() {
    let world = World::new().await;
    world.commit(&commit(1, [put("a")])).await.0.unwrap();
    for reply in [
        Reply::Cut,
        Reply::Silence,
        error(500, "InternalServerError"),
        error(400, "ThrottlingException"),
        Reply::Answer(503, serde_json::json!({})),
    ] {
        world.endpoint.next([reply.clone()]);
        assert_eq!(world.get("a").await, Some(Value::Number(1)), "{reply:?}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_reached_nothing_was_applied() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let store = DynamoStore::new(client(&url), TABLE);
    let outcome = store.commit(&commit(1, [put("a")]), NOW).await;
    assert_eq!(kind(outcome), StoreErrorKind::NotApplied);
    let key = Key::new(Partition::unscoped(), named("a"));
    let read = store.get(&key, NOW).await.unwrap_err();
    assert_eq!(read.kind(), StoreErrorKind::NotApplied);
}

#[tokio::test]
async fn what_aws_refuses_is_not_tried_again_and_quotes_nothing_that_was_sent() {
    let world = World::new().await;
    for (code, is_told) in [
        ("ValidationException", false),
        ("ItemCollectionSizeLimitExceededException", false),
        ("AccessDeniedException", true),
        ("ResourceNotFoundException", true),
    ] {
        world.endpoint.next([error(400, code)]);
        let (outcome, asked) = world.commit(&commit(1, [put("a")])).await;
        let refused = outcome.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::NotApplied, "{code}");
        assert_eq!(asked.len(), 1, "{code}");
        assert!(said(&refused).contains(code), "{}", said(&refused));
        assert_eq!(said(&refused).contains("private"), is_told, "{code}");
    }
    world
        .endpoint
        .next([cancelled(&["ValidationError", "None"])]);
    let (outcome, asked) = world.commit(&commit(1, [put("a"), put("b")])).await;
    assert_eq!(kind(outcome), StoreErrorKind::NotApplied);
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_transaction_in_progress_is_met_again_only_by_one_that_can_tell_itself() {
    let world = World::new().await;
    let in_progress = || error(400, "TransactionInProgressException");
    world.endpoint.next([in_progress()]);
    let (outcome, asked) = world.commit(&commit(1, [put("a"), put("b")])).await;
    assert_eq!(outcome.unwrap(), Outcome::Applied);
    assert_eq!(asked.len(), 2);

    world.endpoint.next([in_progress()]);
    let adds = [Change::add(named("c"), 1), Change::add(named("d"), 1)];
    let (outcome, asked) = world.commit(&commit(2, adds)).await;
    assert_eq!(kind(outcome), StoreErrorKind::Unknown);
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_commit_costs_one_request_and_so_does_one_in_conflict() {
    let world = World::new().await;
    for (changes, operation) in [
        (vec![put("a")], "PutItem"),
        (vec![Change::delete(named("a"), Expect::Any)], "DeleteItem"),
        (vec![Change::add(named("n"), 1)], "UpdateItem"),
        (vec![Change::check(named("a"), Expect::Absent)], "GetItem"),
        (
            vec![put("a"), Change::add(named("n"), 1)],
            "TransactWriteItems",
        ),
    ] {
        let (outcome, asked) = world.commit(&commit(7, changes)).await;
        assert_eq!(outcome.unwrap(), Outcome::Applied, "{operation}");
        assert_eq!(asked, [operation]);
    }
    let (outcome, asked) = world
        .commit(&commit(8, [put("a"), put("n"), put("z")]))
        .await;
    let Outcome::Conflict(in_the_way) = outcome.unwrap() else {
        panic!("it was applied");
    };
    let names: Vec<_> = in_the_way.into_iter().map(|item| item.name).collect();
    assert_eq!(names, [named("a"), named("n")]);
    assert_eq!(asked, ["TransactWriteItems"]);
}
