//! A store that fails where it is told to.

use std::{
    collections::BTreeMap,
    fmt,
    future::pending,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    store::{Commit, Item, Key, Outcome, Page, Query, Store, StoreError},
    time::Timestamp,
};

/// How an operation of a [`FaultStore`] fails.
///
/// A fault never lies: what was applied is not reported as *not applied*. A read has no effect, so where the
/// fault of a commit is an error, that of a read is *not applied*, as the port wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Nothing is applied, and the caller is told so.
    FailBefore,
    /// Nothing is applied, but the caller is told that it is not known.
    LoseRequest,
    /// The commit is carried out, but the caller is told that it is not known.
    LoseAnswer,
    /// The caller is told that it is not known. Nothing is applied yet: the commit is carried out after the
    /// next operation, as a copy that was long on its way.
    ArriveLate,
    /// Nothing is applied, and the operation never completes: the caller can only drop it.
    HangBefore,
    /// The commit is carried out, and the operation never completes: the caller can only drop it.
    HangAfter,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 6] = [
        Self::FailBefore,
        Self::LoseRequest,
        Self::LoseAnswer,
        Self::ArriveLate,
        Self::HangBefore,
        Self::HangAfter,
    ];

    /// Whether the operation still completes, with an error.
    #[must_use]
    pub const fn completes(self) -> bool {
        !matches!(self, Self::HangBefore | Self::HangAfter)
    }
}

/// An operation, as it was asked.
#[derive(Clone, Debug)]
pub enum Operation {
    /// [`Store::get`].
    Get(Key),
    /// [`Store::commit`].
    Commit(Commit),
    /// [`Store::list`].
    List(Query),
}

/// What a [`FaultStore`] saw.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The operation.
    pub operation: Operation,
    /// The caller's time.
    pub now: Timestamp,
    /// How it failed, if it was made to.
    pub fault: Option<Fault>,
}

/// A store that records every operation, and fails those that it is told to, by their number from zero.
///
/// To try every crash point of a flow: run it once without a fault, see how many operations it took
/// ([`FaultStore::operations`]), and run it again for each of them and each [`Fault`].
///
/// A clone shares the record, the plan and the store.
///
/// ```
/// use futures_util::FutureExt;
/// use pup_extension::{
///     store::{Key, MemoryStore, Name, Partition, Store, testing::{Fault, FaultStore}},
///     time::Timestamp,
/// };
///
/// let store = FaultStore::new(MemoryStore::default());
/// store.fail_at(1, Fault::FailBefore);
/// let key = Key::new(Partition::unscoped(), Name::of(["a"])?);
/// let mut read = || store.get(&key, Timestamp::EPOCH).now_or_never().expect("no fault that hangs");
/// assert!(read().is_ok());
/// assert!(read().is_err());
/// assert!(read().is_ok());
/// assert_eq!(store.operations().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FaultStore<S> {
    store: Arc<S>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    plan: BTreeMap<usize, Fault>,
    recorded: Vec<Recorded>,
    /// Commits on their way, each with the number of the operation after which it arrives.
    late: Vec<(usize, Commit, Timestamp)>,
}

impl<S> FaultStore<S> {
    /// A store that does not fail yet.
    pub fn new(store: S) -> Self {
        Self {
            store: Arc::new(store),
            state: Arc::default(),
        }
    }

    /// The store inside. What is asked of it directly is neither recorded nor made to fail.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// Lets the operation with this number (from zero, counted since the store was made) fail.
    pub fn fail_at(&self, operation: usize, fault: Fault) {
        self.with(|state| state.plan.insert(operation, fault));
    }

    /// Lets no operation fail from now on, whatever was planned.
    pub fn heal(&self) {
        self.with(|state| state.plan.clear());
    }

    /// What was asked so far, in the order in which it was.
    #[must_use]
    pub fn operations(&self) -> Vec<Recorded> {
        self.with(|state| state.recorded.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records an operation; its number, and its fault if it has one.
    fn begin(&self, operation: Operation, now: Timestamp) -> (usize, Option<Fault>) {
        self.with(|state| {
            let number = state.recorded.len();
            let fault = state.plan.get(&number).copied();
            state.recorded.push(Recorded {
                operation,
                now,
                fault,
            });
            (number, fault)
        })
    }
}

impl<S: Store> FaultStore<S> {
    async fn read<T>(
        &self,
        operation: Operation,
        now: Timestamp,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let (number, fault) = self.begin(operation, now);
        let answer = match fault {
            None => read.await,
            Some(fault) if fault.completes() => Err(StoreError::not_applied(Injected(fault))),
            Some(_) => pending().await,
        };
        self.arrivals(number).await;
        answer
    }

    /// Carries out the commits that arrive after this operation.
    async fn arrivals(&self, number: usize) {
        let due: Vec<_> = self.with(|state| {
            let late = std::mem::take(&mut state.late);
            let (due, late) = late.into_iter().partition(|(after, ..)| *after <= number);
            state.late = late;
            due
        });
        for (_, commit, now) in due {
            // Nobody waits for this answer any more.
            drop(self.store.commit(&commit, now).await);
        }
    }
}

impl<S: Store> Store for FaultStore<S> {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        let operation = Operation::Get(key.clone());
        self.read(operation, now, self.store.get(key, now)).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let (number, fault) = self.begin(Operation::Commit(commit.clone()), now);
        let answer = match fault {
            None => self.store.commit(commit, now).await,
            Some(fault @ Fault::FailBefore) => Err(StoreError::not_applied(Injected(fault))),
            Some(fault @ Fault::LoseRequest) => Err(StoreError::unknown(Injected(fault))),
            Some(fault @ Fault::LoseAnswer) => {
                self.store.commit(commit, now).await?;
                Err(StoreError::unknown(Injected(fault)))
            }
            Some(fault @ Fault::ArriveLate) => {
                self.with(|state| state.late.push((number + 1, commit.clone(), now)));
                Err(StoreError::unknown(Injected(fault)))
            }
            Some(Fault::HangBefore) => pending().await,
            Some(Fault::HangAfter) => {
                self.store.commit(commit, now).await?;
                pending().await
            }
        };
        self.arrivals(number).await;
        answer
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        let operation = Operation::List(query.clone());
        self.read(operation, now, self.store.list(query, now)).await
    }
}

impl<S> Clone for FaultStore<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for FaultStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultStore")
            .field("store", &self.store)
            .field("operations", &self.with(|state| state.recorded.len()))
            .finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the test made this operation fail: {0:?}")]
struct Injected(Fault);

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::store::{Change, MemoryStore, Name, Partition, Revision, StoreErrorKind, Value};

    const NOW: Timestamp = Timestamp::EPOCH;

    fn key() -> Key {
        Key::new(Partition::unscoped(), Name::of(["count"]).unwrap())
    }

    fn add(store: &FaultStore<MemoryStore>) -> Option<Result<Outcome, StoreErrorKind>> {
        let commit = Commit::new(Revision::new(1), Partition::unscoped())
            .with(Change::add(key().name, 1))
            .unwrap();
        let outcome = store.commit(&commit, NOW).now_or_never()?;
        Some(outcome.map_err(|error| error.kind()))
    }

    fn count(store: &FaultStore<MemoryStore>) -> i64 {
        let read = store.inner().get(&key(), NOW).now_or_never().unwrap();
        match read.unwrap().map(|item| item.value) {
            None => 0,
            Some(Value::Number(number)) => number,
            Some(Value::Bytes(_)) => panic!("bytes"),
        }
    }

    #[test]
    fn each_fault_of_a_commit_does_what_it_says() {
        use StoreErrorKind::{NotApplied, Unknown};

        for (fault, told, applied) in [
            (Fault::FailBefore, Some(Err(NotApplied)), 0),
            (Fault::LoseRequest, Some(Err(Unknown)), 0),
            (Fault::LoseAnswer, Some(Err(Unknown)), 1),
            (Fault::ArriveLate, Some(Err(Unknown)), 0),
            (Fault::HangBefore, None, 0),
            (Fault::HangAfter, None, 1),
        ] {
            let store = FaultStore::new(MemoryStore::default());
            store.fail_at(1, fault);
            assert_eq!(add(&store), Some(Ok(Outcome::Applied)), "{fault:?}");
            assert_eq!(add(&store), told, "{fault:?}");
            assert_eq!(count(&store), 1 + applied, "{fault:?}");
            assert_eq!(fault.completes(), told.is_some());
            let faults: Vec<_> = store.operations().iter().map(|seen| seen.fault).collect();
            assert_eq!(faults, [None, Some(fault)]);
        }
    }

    #[test]
    fn a_late_commit_arrives_after_the_next_operation_and_not_again() {
        let store = FaultStore::new(MemoryStore::default());
        store.fail_at(0, Fault::ArriveLate);
        add(&store);
        let read = store.get(&key(), NOW).now_or_never().unwrap().unwrap();
        assert_eq!(read, None, "the read is still before it");
        assert_eq!(count(&store), 1);
        store.get(&key(), NOW).now_or_never().unwrap().unwrap();
        assert_eq!(count(&store), 1);
    }

    #[test]
    fn a_read_fails_as_not_applied_or_hangs() {
        for fault in Fault::ALL {
            let store = FaultStore::new(MemoryStore::default());
            store.fail_at(0, fault);
            store.fail_at(1, fault);
            let query = Query {
                partition: Partition::unscoped(),
                prefix: String::new(),
                after: None,
                limit: 1,
            };
            let get = store.get(&key(), NOW).now_or_never();
            let list = store.list(&query, NOW).now_or_never();
            let kinds = [
                get.map(|read| read.unwrap_err().kind()),
                list.map(|read| read.unwrap_err().kind()),
            ];
            let told = fault.completes().then_some(StoreErrorKind::NotApplied);
            assert_eq!(kinds, [told, told], "{fault:?}");
        }
    }
}
