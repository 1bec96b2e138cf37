//! Finding out what became of a commit whose answer was lost.

use std::time::Duration;

use futures_util::future::try_join_all;

use super::{
    DynStore,
    anchored::AnchoredCommit,
    commit::{InTheWay, Outcome},
    error::{StoreError, StoreErrorKind},
    item::{Item, Revision},
    key::Key,
};
use crate::{runtime::DynRuntime, time::Timestamp};

/// How often a lost answer is looked for, and how long before each look. Half a second in all, so that a
/// request can still be answered within its deadline.
const PAUSES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(400),
];

/// Commits, and finds out the outcome where the answer was lost: by reading back, never by running again.
///
/// - An item that carries the commit's own id proves that the commit was applied: all or nothing. This is
///   also how a copy that a client library sent again by itself meets the first one, as a conflict.
/// - If what stands at the anchor still meets its expectation, the same commit is sent again under the same
///   id. Should the first copy land in between, the second meets it there, and the other way round.
/// - Otherwise the commit is in conflict. All its items are read, so that the conflict names every one in the
///   way; unlike a conflict that the store itself reports, they are read one by one.
///
/// A first copy may still be on its way when a conflict is reported. It can't do harm: it applies as a whole
/// and only where the anchor still stands as expected, so whatever the flow does next at its anchor excludes
/// it, or meets it there.
///
/// # Errors
///
/// [`StoreErrorKind::NotApplied`] as the store reports it for the first copy, without another try: the
/// backend has done its own, and knows what is worth one. After a first unknown outcome a failure never
/// counts as *not applied*, be it of a read or of a second copy: [`StoreErrorKind::Unknown`] after a bounded
/// number of looks.
pub(crate) async fn commit_resolved(
    store: &dyn DynStore,
    runtime: &dyn DynRuntime,
    commit: &AnchoredCommit,
    now: Timestamp,
) -> Result<Outcome, StoreError> {
    let mut doubt = match store.dyn_commit(commit, now).await {
        Ok(outcome) => return Ok(recognise(commit, outcome)),
        Err(error) => match error.kind() {
            StoreErrorKind::NotApplied => return Err(error),
            StoreErrorKind::Unknown => error,
        },
    };
    for pause in PAUSES {
        if !pause.is_zero() {
            runtime.dyn_sleep(pause).await;
        }
        match find_out(store, commit, now).await {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            Err(error) => doubt = error,
        }
    }
    Err(StoreError::unknown(doubt))
}

/// One look; `None` where the items moved between the reads, so that they show nothing.
async fn find_out(
    store: &dyn DynStore,
    commit: &AnchoredCommit,
    now: Timestamp,
) -> Result<Option<Outcome>, StoreError> {
    let anchor = store.dyn_get(commit.anchor(), now).await?;
    if is_own(commit.id(), anchor.as_ref()) {
        return Ok(Some(Outcome::Applied));
    }
    if commit.anchor_expects().holds(anchor.as_ref()) {
        let again = store.dyn_commit(commit, now).await?;
        if recognise(commit, again) == Outcome::Applied {
            return Ok(Some(Outcome::Applied));
        }
    }
    survey(store, commit, now).await
}

/// Reads every item of the commit, for a trace of its id or for what is in its way.
async fn survey(
    store: &dyn DynStore,
    commit: &AnchoredCommit,
    now: Timestamp,
) -> Result<Option<Outcome>, StoreError> {
    let changes = commit.as_commit().changes();
    let partition = commit.as_commit().partition();
    let items = try_join_all(changes.iter().map(|change| async {
        let key = Key::new(partition.clone(), change.name.clone());
        store.dyn_get(&key, now).await
    }))
    .await?;
    if items.iter().any(|item| is_own(commit.id(), item.as_ref())) {
        return Ok(Some(Outcome::Applied));
    }
    let in_the_way: Vec<InTheWay> = changes
        .iter()
        .zip(items)
        .filter(|(change, item)| {
            !(change.expect.holds(item.as_ref()) && change.operation.fits(item.as_ref()))
        })
        .map(|(change, item)| InTheWay {
            name: change.name.clone(),
            item,
        })
        .collect();
    Ok((!in_the_way.is_empty()).then_some(Outcome::Conflict(in_the_way)))
}

/// A conflict with the commit's own id is none.
fn recognise(commit: &AnchoredCommit, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Conflict(items)
            if items
                .iter()
                .any(|in_the_way| is_own(commit.id(), in_the_way.item.as_ref())) =>
        {
            Outcome::Applied
        }
        outcome => outcome,
    }
}

fn is_own(id: Revision, item: Option<&Item>) -> bool {
    item.is_some_and(|item| item.revision == id)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::store::{
        Change, Commit, Expect, MemoryStore, Name, Page, Partition, Query, Store, Value,
        suite::block_on,
        testing::{Fault, FaultStore, Operation, Still},
    };

    const NOW: Timestamp = Timestamp::from_secs(1_785_196_800);
    const OWN: Revision = Revision::new(7);

    fn name(part: &str) -> Name {
        Name::of([part]).unwrap()
    }

    fn bytes(text: &'static str) -> Value {
        Value::Bytes(Bytes::from_static(text.as_bytes()))
    }

    fn claim() -> AnchoredCommit {
        let partition = Partition::unscoped();
        let mut commit =
            AnchoredCommit::creating(OWN, partition, name("claim"), bytes("mine"), None).unwrap();
        commit.push(Change::add(name("count"), 1)).unwrap();
        commit
    }

    fn write(store: &MemoryStore, id: u128, change: Change) {
        let commit = Commit::new(Revision::new(id), Partition::unscoped())
            .with(change)
            .unwrap();
        let outcome = block_on(store.commit(&commit, NOW)).unwrap();
        assert_eq!(outcome, Outcome::Applied);
    }

    fn read(store: &MemoryStore, part: &str) -> Option<Item> {
        let key = Key::new(Partition::unscoped(), name(part));
        block_on(store.get(&key, NOW)).unwrap()
    }

    fn resolve(
        store: &FaultStore<MemoryStore>,
        commit: &AnchoredCommit,
    ) -> Result<Outcome, StoreErrorKind> {
        block_on(commit_resolved(store, &Still::default(), commit, NOW))
            .map_err(|error| error.kind())
    }

    fn failing(faults: &[(usize, Fault)]) -> FaultStore<MemoryStore> {
        let store = FaultStore::new(MemoryStore::default());
        for (operation, fault) in faults {
            store.fail_at(*operation, *fault);
        }
        store
    }

    /// Whatever goes wrong at two of the first operations, what is reported is true.
    #[test]
    fn every_pair_of_faults_leaves_an_outcome_that_is_true() {
        let completing = || Fault::ALL.into_iter().filter(|fault| fault.completes());
        let mut tried = 0;
        for first in completing() {
            for at in 1..6 {
                for second in completing() {
                    let store = failing(&[(0, first), (at, second)]);
                    let outcome = resolve(&store, &claim());
                    let count = read(store.inner(), "count").map(|item| item.value);
                    let claimed = read(store.inner(), "claim").map(|item| item.revision);
                    let case = format!("{first:?}, then {second:?} at {at}");
                    match outcome {
                        Ok(Outcome::Applied) => {
                            assert_eq!(count, Some(Value::Number(1)), "{case}");
                            assert_eq!(claimed, Some(OWN), "{case}");
                        }
                        Err(StoreErrorKind::NotApplied) => {
                            assert_eq!(first, Fault::FailBefore, "{case}");
                            assert_eq!((count, claimed), (None, None), "{case}");
                        }
                        other => panic!("{case}: {other:?}"),
                    }
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, 4 * 5 * 4);
    }

    #[test]
    fn a_commit_that_is_known_not_to_be_applied_is_not_tried_again() {
        let store = failing(&[(0, Fault::FailBefore)]);
        assert_eq!(resolve(&store, &claim()), Err(StoreErrorKind::NotApplied));
        assert_eq!(store.operations().len(), 1);
    }

    #[test]
    fn after_an_unknown_outcome_a_failure_never_counts_as_not_applied() {
        // The answer is lost, and then no read comes through.
        let mut faults: Vec<_> = (1..100).map(|read| (read, Fault::FailBefore)).collect();
        faults.push((0, Fault::LoseAnswer));
        let store = failing(&faults);
        assert_eq!(resolve(&store, &claim()), Err(StoreErrorKind::Unknown));
        assert_eq!(store.operations().len(), 1 + PAUSES.len());
        assert!(read(store.inner(), "claim").is_some());

        // The second copy is refused, while the first may still arrive.
        let faults: Vec<_> = (1..50).map(|look| (2 * look, Fault::FailBefore)).collect();
        let store = failing(&faults);
        store.fail_at(0, Fault::LoseRequest);
        assert_eq!(resolve(&store, &claim()), Err(StoreErrorKind::Unknown));
    }

    #[test]
    fn looks_are_few_and_farther_and_farther_apart() {
        let faults: Vec<_> = (0..100)
            .map(|number| (number, Fault::LoseRequest))
            .collect();
        let sleeps = Still::default();
        let error =
            block_on(commit_resolved(&failing(&faults), &sleeps, &claim(), NOW)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unknown);
        assert_eq!(sleeps.slept(), PAUSES[1..]);
    }

    #[test]
    fn every_copy_has_the_same_id() {
        let store = failing(&[(0, Fault::LoseRequest), (2, Fault::LoseRequest)]);
        assert_eq!(resolve(&store, &claim()), Ok(Outcome::Applied));
        let ids: Vec<_> = store
            .operations()
            .into_iter()
            .filter_map(|seen| match seen.operation {
                Operation::Commit(commit) => Some(commit.id()),
                Operation::Get(_) | Operation::List(_) => None,
            })
            .collect();
        assert_eq!(ids, [OWN; 3]);
    }

    #[test]
    fn a_conflict_with_its_own_id_was_a_retry_below_us() {
        let store = failing(&[]);
        let commit = claim();
        assert_eq!(resolve(&store, &commit), Ok(Outcome::Applied));
        assert_eq!(resolve(&store, &commit), Ok(Outcome::Applied));
        assert_eq!(store.operations().len(), 2);
        let count = read(store.inner(), "count").map(|item| item.value);
        assert_eq!(count, Some(Value::Number(1)));
    }

    #[test]
    fn a_lost_commit_that_lost_the_race_names_all_that_is_in_its_way() {
        let store = failing(&[(0, Fault::LoseRequest)]);
        let mut commit = claim();
        commit
            .push(Change::check(name("gone"), Expect::At(Revision::new(1))))
            .unwrap();
        commit
            .push(Change::put(
                name("free"),
                Expect::Absent,
                bytes("new"),
                None,
            ))
            .unwrap();
        let put = |part, value| Change::put(name(part), Expect::Any, value, None);
        write(store.inner(), 1, put("claim", bytes("theirs")));
        write(store.inner(), 2, put("count", bytes("no number")));
        let Ok(Outcome::Conflict(items)) = resolve(&store, &commit) else {
            panic!("the loser was told something else");
        };
        let items: Vec<_> = items
            .into_iter()
            .map(|in_the_way| (in_the_way.name, in_the_way.item.map(|item| item.revision)))
            .collect();
        let expected = [
            (name("claim"), Some(Revision::new(1))),
            (name("count"), Some(Revision::new(2))),
            (name("gone"), None),
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn a_second_copy_that_meets_something_else_in_its_way_is_in_conflict() {
        let store = failing(&[(0, Fault::LoseRequest)]);
        let put = Change::put(name("count"), Expect::Any, bytes("no number"), None);
        write(store.inner(), 2, put);
        let Ok(Outcome::Conflict(items)) = resolve(&store, &claim()) else {
            panic!("it was applied over bytes");
        };
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].name, name("count"));
    }

    /// The anchor was ours, and somebody moved it before it was read back.
    #[test]
    fn any_item_with_the_id_proves_that_the_commit_was_applied() {
        struct Mover(FaultStore<MemoryStore>);

        impl Store for Mover {
            async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
                if self.0.operations().len() == 1 {
                    let put = Change::put(name("claim"), Expect::Any, bytes("moved"), None);
                    write(self.0.inner(), 99, put);
                }
                self.0.get(key, now).await
            }

            async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
                self.0.commit(commit, now).await
            }

            async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
                self.0.list(query, now).await
            }
        }

        let store = Mover(failing(&[(0, Fault::LoseAnswer)]));
        let outcome = block_on(commit_resolved(&store, &Still::default(), &claim(), NOW));
        assert_eq!(outcome.unwrap(), Outcome::Applied);
        let claim = read(store.0.inner(), "claim").unwrap();
        assert_eq!(claim.revision, Revision::new(99));
    }
}
