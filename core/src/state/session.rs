//! One run of a handler against the store: what it read, and what it wants written.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::error::{Kind, StateError};
use crate::{
    ports::Ports,
    store::{
        Change, Expect, Item, MAX_EXPIRY, MAX_VALUE_BYTES, Name, Operation, Page, Partition, Query,
        StoreError, Value,
    },
    time::Timestamp,
};

/// Whether a handler may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadOnly,
    ReadWrite,
}

/// What one run of a handler read and wants written. A run that is repeated begins a new session.
pub(crate) struct Session {
    ports: Ports,
    partition: Partition,
    access: Access,
    seen: Mutex<Seen>,
    /// Whether the work of a step is what goes on at this moment.
    in_step: AtomicBool,
    /// Whether the store failed a read.
    store_failed: AtomicBool,
    /// Whether what was written is being committed: what is written later would be lost.
    closed: AtomicBool,
}

#[derive(Default)]
struct Seen {
    /// What the store held when it was read, `None` for absent.
    items: BTreeMap<Name, Option<Item>>,
    /// What the handler's outcome depends on: read by key, not merely listed.
    relied_on: BTreeSet<Name>,
    writes: BTreeMap<Name, Write>,
}

#[derive(Clone)]
enum Write {
    Put {
        value: Value,
        expires_at: Option<Timestamp>,
    },
    Delete,
    Add(i64),
}

impl Session {
    pub(crate) fn new(ports: Ports, partition: Partition, access: Access) -> Self {
        Self {
            ports,
            partition,
            access,
            seen: Mutex::default(),
            in_step: AtomicBool::new(false),
            store_failed: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    /// Does a piece of a step's work, in which writing is refused: a later run that recalls the step's result
    /// does not do the work, and would leave the writes out.
    pub(crate) fn in_step<T>(&self, work: impl FnOnce() -> T) -> T {
        let outer = self.in_step.swap(true, Ordering::Relaxed);
        let done = work();
        self.in_step.store(outer, Ordering::Relaxed);
        done
    }

    /// Refuses writes from now on, by contexts that outlive their work.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// The changes to commit: every write, and a check of all that was relied on.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let seen = self.seen();
        let names: BTreeSet<&Name> = seen.relied_on.iter().chain(seen.writes.keys()).collect();
        names
            .into_iter()
            .map(|name| {
                let expect = match seen.items.get(name) {
                    None => Expect::Any,
                    Some(None) => Expect::Absent,
                    Some(Some(item)) => Expect::At(item.revision),
                };
                let operation = match seen.writes.get(name).cloned() {
                    None => Operation::Check,
                    Some(Write::Put { value, expires_at }) => Operation::Put { value, expires_at },
                    Some(Write::Delete) => Operation::Delete,
                    Some(Write::Add(delta)) => Operation::Add { delta },
                };
                Change {
                    name: name.clone(),
                    expect,
                    operation,
                }
            })
            .collect()
    }

    /// A check of all that was relied on, for an outcome whose writes are dropped.
    pub(crate) fn checks(&self) -> Vec<Change> {
        let seen = self.seen();
        seen.relied_on
            .iter()
            .filter_map(|name| {
                let expect = match seen.items.get(name)? {
                    None => Expect::Absent,
                    Some(item) => Expect::At(item.revision),
                };
                Some(Change::check(name.clone(), expect))
            })
            .collect()
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        name: &Name,
    ) -> Result<Option<T>, StateError> {
        let known = self.known(name);
        let value = match known {
            Some(value) => value,
            None => {
                let item = self.ports.read(&self.partition, name).await;
                let item = self.noting_failure(item)?;
                self.saw(name, item)
            }
        };
        value.as_ref().map(decode).transpose()
    }

    pub(super) fn put<T: Serialize + ?Sized>(
        &self,
        name: Name,
        value: &T,
        lifetime: Option<Duration>,
    ) -> Result<(), StateError> {
        self.writable()?;
        let value = encode(value)?;
        let expires_at = lifetime.map(|lifetime| (self.ports.now() + lifetime).min(MAX_EXPIRY));
        self.seen()
            .writes
            .insert(name, Write::Put { value, expires_at });
        Ok(())
    }

    pub(super) fn delete(&self, name: Name) -> Result<(), StateError> {
        self.writable()?;
        self.seen().writes.insert(name, Write::Delete);
        Ok(())
    }

    pub(super) fn add(&self, name: Name, delta: i64) -> Result<(), StateError> {
        self.writable()?;
        let mut seen = self.seen();
        let write = match seen.writes.get(&name) {
            None => {
                let item = seen.items.get(&name).and_then(Option::as_ref);
                if item.is_some_and(|item| matches!(item.value, Value::Bytes(_))) {
                    return Err(StateError::not_a_number());
                }
                Write::Add(delta)
            }
            Some(Write::Add(before)) => Write::Add(before.saturating_add(delta)),
            Some(Write::Delete) => Write::Put {
                value: Value::Number(delta),
                expires_at: None,
            },
            Some(Write::Put {
                value: Value::Number(before),
                expires_at,
            }) => Write::Put {
                value: Value::Number(before.saturating_add(delta)),
                expires_at: *expires_at,
            },
            Some(Write::Put {
                value: Value::Bytes(_),
                ..
            }) => return Err(StateError::not_a_number()),
        };
        seen.writes.insert(name, write);
        Ok(())
    }

    /// A page from the store, remembered, but not relied on.
    pub(super) async fn page(&self, mut query: Query) -> Result<Page, StateError> {
        query.partition = self.partition.clone();
        let page = self.ports.store.dyn_list(&query, self.ports.now()).await;
        let page = self.noting_failure(page)?;
        let mut seen = self.seen();
        for (name, item) in &page.items {
            seen.items
                .entry(name.clone())
                .or_insert_with(|| Some(item.clone()));
        }
        Ok(page)
    }

    /// Whether the store failed a read of this run: then what it came to may be no more than that.
    pub(crate) fn met_store_failure(&self) -> bool {
        self.store_failed.load(Ordering::Relaxed)
    }

    fn noting_failure<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        read.inspect_err(|_| self.store_failed.store(true, Ordering::Relaxed))
    }

    /// This run's own writes among the names that start with `prefix`.
    pub(super) fn own_writes(&self, prefix: &str) -> BTreeMap<Name, Option<Value>> {
        let seen = self.seen();
        seen.writes
            .iter()
            .filter(|(name, _)| name.as_str().starts_with(prefix))
            .map(|(name, write)| {
                (
                    name.clone(),
                    after(write, seen.items.get(name).and_then(Option::as_ref)),
                )
            })
            .collect()
    }

    fn writable(&self) -> Result<(), StateError> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(StateError::new(Kind::Closed));
        }
        match self.access {
            Access::ReadOnly => Err(StateError::new(Kind::ReadOnly)),
            Access::ReadWrite if self.in_step.load(Ordering::Relaxed) => {
                Err(StateError::new(Kind::InStep))
            }
            Access::ReadWrite => Ok(()),
        }
    }

    /// The value that the handler would see now, where no read of the store is needed to tell.
    fn known(&self, name: &Name) -> Option<Option<Value>> {
        let mut seen = self.seen();
        match seen.writes.get(name) {
            Some(write @ (Write::Put { .. } | Write::Delete)) => Some(after(write, None)),
            write => {
                let item = seen.items.get(name)?;
                let value = match write {
                    Some(write) => after(write, item.as_ref()),
                    None => item.as_ref().map(|item| item.value.clone()),
                };
                seen.relied_on.insert(name.clone());
                Some(value)
            }
        }
    }

    /// Remembers what a read brought, and gives the value with this run's own writes applied.
    fn saw(&self, name: &Name, item: Option<Item>) -> Option<Value> {
        let mut seen = self.seen();
        // The first sight counts: two reads of one key in one run must not disagree.
        let item = seen.items.entry(name.clone()).or_insert(item).clone();
        seen.relied_on.insert(name.clone());
        match seen.writes.get(name) {
            Some(write) => after(write, item.as_ref()),
            None => item.map(|item| item.value),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Nothing in this file panics halfway through a change.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("partition", &self.partition)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// What a write makes of what was there.
fn after(write: &Write, item: Option<&Item>) -> Option<Value> {
    match write {
        Write::Put { value, .. } => Some(value.clone()),
        Write::Delete => None,
        Write::Add(delta) => Some(match item.map(|item| &item.value) {
            None => Value::Number(*delta),
            Some(Value::Number(number)) => Value::Number(number.saturating_add(*delta)),
            // Can't be added to: the commit will say so.
            Some(bytes) => bytes.clone(),
        }),
    }
}

fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Value, StateError> {
    let json = serde_json::to_vec(value).map_err(|_| StateError::new(Kind::NotJson))?;
    if json.len() > MAX_VALUE_BYTES {
        return Err(StateError::new(Kind::TooLarge(json.len())));
    }
    let number = std::str::from_utf8(&json)
        .ok()
        .and_then(|text| text.parse().ok());
    Ok(number.map_or_else(|| Value::Bytes(Bytes::from(json)), Value::Number))
}

pub(super) fn decode<T: DeserializeOwned>(value: &Value) -> Result<T, StateError> {
    match value {
        Value::Bytes(json) => serde_json::from_slice(json),
        Value::Number(number) => serde_json::from_str(&number.to_string()),
    }
    .map_err(|_| StateError::new(Kind::WrongType))
}
