//! A store in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fmt,
    ops::Bound,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Store,
    commit::{Change, Commit, InTheWay, Operation, Outcome},
    error::StoreError,
    item::{Item, Value},
    key::{Key, Name, Partition},
    list::{Page, Query},
};
use crate::time::Timestamp;

/// How many expired items a commit removes beyond as many as it touches itself, so that removal keeps up.
const PURGE: usize = 16;

/// A strict store in memory, for tests and examples. What it holds is gone with its last handle.
///
/// A clone is another handle on the same items.
///
/// ```
/// use futures_util::FutureExt;
/// use pup_extension::{
///     store::{Change, Commit, Expect, Key, MemoryStore, Name, Outcome, Partition, Revision, Store, Value},
///     time::Timestamp,
/// };
///
/// let store = MemoryStore::default();
/// let now = Timestamp::from_secs(1_785_196_800);
/// let count = Key::new(Partition::installation("guild-1"), Name::of(["count", "popcorn"])?);
/// let commit = Commit::new(Revision::new(0x5eed), count.partition.clone())
///     .with(Change::add(count.name.clone(), 2))?;
///
/// // Its futures are always ready.
/// let outcome = store.commit(&commit, now).now_or_never().expect("never waits")?;
/// assert_eq!(outcome, Outcome::Applied);
/// let item = store.get(&count, now).now_or_never().expect("never waits")?.expect("was written");
/// assert_eq!(item.value, Value::Number(2));
/// assert_eq!(item.revision, commit.id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    items: Arc<Mutex<Items>>,
}

impl Store for MemoryStore {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        Ok(self.with(|items| items.live(&key.partition, &key.name, now).cloned()))
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        Ok(self.with(|items| items.commit(commit, now)))
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        Ok(self.with(|items| items.list(query, now)))
    }
}

impl MemoryStore {
    /// Locking stays in here, so that no guard is alive across an await.
    fn with<T>(&self, work: impl FnOnce(&mut Items) -> T) -> T {
        // Nothing in `Items` panics between two steps that belong together.
        work(&mut self.items.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: usize = self.with(|items| items.of.values().map(BTreeMap::len).sum());
        f.debug_struct("MemoryStore")
            .field("items", &items)
            .finish()
    }
}

#[derive(Default)]
struct Items {
    of: BTreeMap<Partition, BTreeMap<Name, Item>>,
    /// Every item with an expiry, the earliest first.
    expiring: BTreeSet<(Timestamp, Partition, Name)>,
}

impl Items {
    fn live(&self, partition: &Partition, name: &Name, now: Timestamp) -> Option<&Item> {
        let item = self.of.get(partition)?.get(name)?;
        (!item.is_expired(now)).then_some(item)
    }

    fn commit(&mut self, commit: &Commit, now: Timestamp) -> Outcome {
        let partition = commit.partition();
        let in_the_way: Vec<InTheWay> = commit
            .changes()
            .iter()
            .filter_map(|change| {
                let item = self.live(partition, &change.name, now);
                let met = change.expect.holds(item) && change.operation.fits(item);
                (!met).then(|| InTheWay {
                    name: change.name.clone(),
                    item: item.cloned(),
                })
            })
            .collect();
        if !in_the_way.is_empty() {
            return Outcome::Conflict(in_the_way);
        }
        for change in commit.changes() {
            self.apply(commit, change, now);
        }
        self.purge(commit.changes().len() + PURGE, now);
        Outcome::Applied
    }

    fn apply(&mut self, commit: &Commit, change: &Change, now: Timestamp) {
        let partition = commit.partition();
        let item = match &change.operation {
            Operation::Check => return,
            Operation::Delete => None,
            Operation::Put { value, expires_at } => Some((value.clone(), *expires_at)),
            Operation::Add { delta } => {
                let number = match self.live(partition, &change.name, now) {
                    Some(Item {
                        value: Value::Number(number),
                        ..
                    }) => *number,
                    _ => 0,
                };
                Some((Value::Number(number.saturating_add(*delta)), None))
            }
        };
        self.remove(partition, &change.name);
        if let Some((value, expires_at)) = item {
            if let Some(at) = expires_at {
                self.expiring
                    .insert((at, partition.clone(), change.name.clone()));
            }
            let item = Item {
                value,
                revision: commit.id(),
                expires_at,
            };
            self.of
                .entry(partition.clone())
                .or_default()
                .insert(change.name.clone(), item);
        }
    }

    fn remove(&mut self, partition: &Partition, name: &Name) {
        let Some(names) = self.of.get_mut(partition) else {
            return;
        };
        if let Some(at) = names.remove(name).and_then(|item| item.expires_at) {
            self.expiring.remove(&(at, partition.clone(), name.clone()));
        }
        if names.is_empty() {
            self.of.remove(partition);
        }
    }

    fn purge(&mut self, most: usize, now: Timestamp) {
        for _ in 0..most {
            let Some((_, partition, name)) =
                self.expiring.first().filter(|(at, ..)| *at <= now).cloned()
            else {
                return;
            };
            self.remove(&partition, &name);
        }
    }

    fn list(&self, query: &Query, now: Timestamp) -> Page {
        let Some(names) = self.of.get(&query.partition) else {
            return Page::default();
        };
        let (from, to) = query.range();
        let items = names
            .range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded))
            .take_while(|(name, _)| to.as_deref().is_none_or(|to| name.as_str() < to))
            .filter(|(_, item)| !item.is_expired(now))
            .map(|(name, item)| Ok::<_, Infallible>((name.clone(), item.clone())));
        match Page::collect(query, items) {
            Ok(page) => page,
            Err(never) => match never {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{
        Expect, Revision,
        suite::{Harness, block_on},
    };

    crate::store_suite! {
        #[test]
        block_on = block_on,
        harness = {
            let store = MemoryStore::default();
            Harness::new(store.clone(), store, 0)
        },
        not_promised = [],
    }

    fn put(store: &MemoryStore, number: u64, expires_at: Option<u64>, now: u64) {
        let name = Name::of([number.to_string().as_str()]).unwrap();
        let expires_at = expires_at.map(Timestamp::from_secs);
        let change = Change::put(name, Expect::Any, Value::Number(1), expires_at);
        let commit = Commit::new(Revision::new(number.into()), Partition::unscoped())
            .with(change)
            .unwrap();
        block_on(store.commit(&commit, Timestamp::from_secs(now))).unwrap();
    }

    fn size(store: &MemoryStore) -> (usize, usize) {
        store.with(|items| {
            let stored = items.of.values().map(BTreeMap::len).sum();
            (stored, items.expiring.len())
        })
    }

    #[test]
    fn commits_remove_expired_items_a_bounded_number_at_a_time() {
        let store = MemoryStore::default();
        for number in 0..100 {
            put(&store, number, Some(10), 1);
        }
        put(&store, 100, Some(12), 1);
        put(&store, 101, None, 11);
        assert_eq!(size(&store), (102 - PURGE - 1, 101 - PURGE - 1));
        for number in 102..110 {
            put(&store, number, None, 11);
        }
        assert_eq!(size(&store), (10, 1));
    }

    #[test]
    fn an_item_that_was_replaced_is_not_removed_at_its_old_expiry() {
        let store = MemoryStore::default();
        put(&store, 1, Some(10), 1);
        put(&store, 1, Some(20), 1);
        put(&store, 2, None, 15);
        assert_eq!(size(&store), (2, 1));
    }

    #[test]
    fn it_prints_how_much_it_holds_and_not_what() {
        let store = MemoryStore::default();
        put(&store, 1, None, 1);
        assert_eq!(format!("{store:?}"), "MemoryStore { items: 1 }");
    }
}
