//! A store that counts what it is asked.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    store::{Commit, Item, Key, Operation, Outcome, Page, Query, Store, StoreError},
    time::Timestamp,
};

/// A store that counts what it is asked, to show what a flow costs, or that it writes nothing.
///
/// A clone shares the counters and the store.
#[derive(Debug)]
pub struct CountingStore<S> {
    store: Arc<S>,
    counts: Arc<Mutex<Counts>>,
}

/// What a [`CountingStore`] was asked, whatever came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads of one item.
    pub gets: u64,
    /// Commits, those that only check included.
    pub commits: u64,
    /// Pages listed.
    pub lists: u64,
    /// Items that commits asked to put, to delete or to add to.
    pub writes: u64,
}

impl Counts {
    /// Round trips: gets, commits and lists together.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.gets + self.commits + self.lists
    }
}

impl<S> CountingStore<S> {
    /// Counts from zero.
    pub fn new(store: S) -> Self {
        Self {
            store: Arc::new(store),
            counts: Arc::default(),
        }
    }

    /// The store inside. What is asked of it directly is not counted.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.store
    }

    /// What was asked so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked so far; counting starts again at zero.
    pub fn take(&self) -> Counts {
        std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<S> Clone for CountingStore<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            counts: Arc::clone(&self.counts),
        }
    }
}

impl<S: Store> Store for CountingStore<S> {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.count(|counts| counts.gets += 1);
        self.store.get(key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let writes = commit
            .changes()
            .iter()
            .filter(|change| change.operation != Operation::Check)
            .count();
        self.count(|counts| {
            counts.commits += 1;
            counts.writes += u64::try_from(writes).unwrap_or(u64::MAX);
        });
        self.store.commit(commit, now).await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.count(|counts| counts.lists += 1);
        self.store.list(query, now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Change, Expect, MemoryStore, Name, Partition, Revision, suite::block_on};

    #[test]
    fn each_kind_of_operation_is_counted_whatever_came_of_it() {
        let store = CountingStore::new(MemoryStore::default());
        let shared = store.clone();
        let now = Timestamp::EPOCH;
        let name = |text| Name::of([text]).unwrap();
        let commit = Commit::new(Revision::new(1), Partition::unscoped())
            .with(Change::check(name("a"), Expect::At(Revision::new(9))))
            .unwrap()
            .with(Change::add(name("b"), 1))
            .unwrap()
            .with(Change::delete(name("c"), Expect::Any))
            .unwrap();
        let outcome = block_on(shared.commit(&commit, now)).unwrap();
        assert!(matches!(outcome, Outcome::Conflict(_)));
        let key = Key::new(Partition::unscoped(), name("b"));
        assert_eq!(block_on(store.get(&key, now)).unwrap(), None);
        let query = Query {
            partition: Partition::unscoped(),
            prefix: String::new(),
            after: None,
            limit: 1,
        };
        block_on(store.list(&query, now)).unwrap();
        let counts = Counts {
            gets: 1,
            commits: 1,
            lists: 1,
            writes: 2,
        };
        assert_eq!(store.counts(), counts);
        assert_eq!(counts.operations(), 3);
        assert_eq!(store.take(), counts);
        assert_eq!(store.counts(), Counts::default());
    }
}
