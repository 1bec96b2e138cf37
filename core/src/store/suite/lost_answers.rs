//! Commits that are sent again, and commits whose answer was lost.

use std::sync::Arc;

use futures_util::future::join_all;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, Space, applied, name, text},
};
use crate::store::{
    AnchoredCommit, Change, Expect, Outcome, Store, Value, commit_resolved,
    testing::{Fault, FaultStore, Still},
};

/// A commit of a claim, and of a counter that shows how often it was applied.
fn claim<S: Store>(space: &Space<'_, S>) -> Result<AnchoredCommit, Failure> {
    let mut commit = AnchoredCommit::creating(
        space.id(),
        space.partition().clone(),
        name("claim")?,
        text("mine"),
        None,
    )?;
    commit.push(Change::add(name("count")?, 1))?;
    Ok(commit)
}

/// What must stand after the claim was committed, however often it was sent.
async fn claimed_once<S: Store>(
    space: &Space<'_, S>,
    commit: &AnchoredCommit,
) -> Result<(), Failure> {
    let claim = space.item(&name("claim")?).await?;
    ensure_eq!(claim.revision, commit.id(), "the claim");
    let count = space.item(&name("count")?).await?;
    ensure_eq!(count.value, Value::Number(1), "how often it was applied");
    ensure_eq!(count.revision, commit.id(), "the count");
    Ok(())
}

/// Commits over a store that fails as told, and finds out the outcome.
async fn with_faults<S: Store>(
    space: &Space<'_, S>,
    faults: &[(usize, Fault)],
    commit: &AnchoredCommit,
) -> Result<Outcome, Failure> {
    let store = FaultStore::new(Arc::clone(space.store()));
    for (operation, fault) in faults {
        store.fail_at(*operation, *fault);
    }
    Ok(commit_resolved(&store, &Still::default(), commit, NOW).await?)
}

pub(super) async fn a_commit_sent_again_meets_itself<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let commit = claim(&space)?;
    let first = space.send(commit.as_commit(), NOW).await?;
    ensure_eq!(first, Outcome::Applied, "the first time");
    for copy in 0..3 {
        let again = space
            .through_either(copy)
            .send(commit.as_commit(), NOW)
            .await?;
        let Outcome::Conflict(items) = again else {
            return Err(Failure::new("the same commit was applied again"));
        };
        let own = items.iter().any(|in_the_way| {
            in_the_way.name == commit.anchor().name
                && in_the_way
                    .item
                    .as_ref()
                    .is_some_and(|item| item.revision == commit.id())
        });
        ensure!(own, "it does not meet its own id: {items:?}");
        let outcome = with_faults(&space, &[], &commit).await?;
        ensure_eq!(outcome, Outcome::Applied, "it is recognised");
    }
    claimed_once(&space, &commit).await
}

pub(super) async fn a_commit_sent_twice_at_once_is_applied_once<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    for _ in 0..16 {
        let space = harness.space();
        let commit = claim(&space)?;
        let copies = (0..4).map(|copy| {
            let space = space.through_either(copy);
            let commit = commit.as_commit().clone();
            async move { space.store().commit(&commit, NOW).await }
        });
        let mut won = 0;
        for outcome in join_all(copies).await {
            won += usize::from(applied(&outcome)?);
        }
        ensure_eq!(won, 1, "how many copies were told that they were applied");
        claimed_once(&space, &commit).await?;
    }
    Ok(())
}

pub(super) async fn an_applied_commit_whose_answer_was_lost_is_applied<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let commit = claim(&space)?;
    // The first read back fails, too.
    let faults = [(0, Fault::LoseAnswer), (1, Fault::FailBefore)];
    let outcome = with_faults(&space, &faults, &commit).await?;
    ensure_eq!(outcome, Outcome::Applied, "the outcome");
    claimed_once(&space, &commit).await
}

pub(super) async fn a_commit_that_was_lost_is_sent_again<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let commit = claim(&space)?;
    let outcome = with_faults(&space, &[(0, Fault::LoseRequest)], &commit).await?;
    ensure_eq!(outcome, Outcome::Applied, "the outcome");
    claimed_once(&space, &commit).await
}

pub(super) async fn a_late_copy_and_its_second_are_applied_once<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let commit = claim(&space)?;
    // The read back sees nothing; then the first copy arrives, and then the second one does.
    let outcome = with_faults(&space, &[(0, Fault::ArriveLate)], &commit).await?;
    ensure_eq!(outcome, Outcome::Applied, "the outcome");
    claimed_once(&space, &commit).await
}

pub(super) async fn a_lost_commit_whose_anchor_was_taken_is_in_conflict<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let record = name("record")?;
    let old = space.put(&record, text("mine")).await?;
    let mut commit = AnchoredCommit::replacing(
        space.id(),
        space.partition().clone(),
        record.clone(),
        old,
        text("done"),
        None,
    )?;
    commit.push(Change::put(name("state")?, Expect::Absent, text("1"), None))?;
    commit.push(Change::add(name("count")?, 1))?;
    // A taker was quicker, and wrote what this commit did not expect.
    space.put(&record, text("theirs")).await?;
    space.put(&name("state")?, text("theirs")).await?;
    let before = space.list_at("", 10, NOW).await?;
    let outcome = with_faults(&space, &[(0, Fault::LoseRequest)], &commit).await?;
    let Outcome::Conflict(items) = outcome else {
        return Err(Failure::new("the commit of a loser was applied"));
    };
    let named: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
    ensure_eq!(named, [record, name("state")?], "named in the way");
    for in_the_way in items {
        let there = space.get(&in_the_way.name).await?;
        ensure_eq!(in_the_way.item, there, "{:?}", in_the_way.name);
    }
    ensure_eq!(space.list_at("", 10, NOW).await?, before, "what is there");
    Ok(())
}
