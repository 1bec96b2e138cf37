//! What the cases run on.

use std::{
    any::Any,
    fmt,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::Failure;
use crate::{
    store::{
        Change, Commit, Expect, InTheWay, Item, Key, Name, Outcome, Partition, Query, Revision,
        Store, StoreError, Value,
    },
    time::Timestamp,
};

/// The time of most operations: in the year 2096, so that nothing expires by a backend's own clock.
pub(super) const NOW: Timestamp = Timestamp::from_secs(4_000_000_000);

/// Two handles on one store, and what makes this run differ from others on it.
pub struct Harness<S> {
    pub(super) store: Arc<S>,
    pub(super) other: Arc<S>,
    draws: Draws,
    /// Goes after the stores.
    _guard: Option<Box<dyn Any + Send + Sync>>,
}

impl<S: Store> Harness<S> {
    /// `store` and `other` are handles on the same items: two connections, where the backend has such.
    ///
    /// Partitions and commit ids are derived from the nonce. Where the items outlive the run it has to be
    /// random; otherwise any number will do.
    pub fn new(store: S, other: S, nonce: u128) -> Self {
        Self {
            store: Arc::new(store),
            other: Arc::new(other),
            draws: Draws::new(nonce.to_be_bytes()),
            _guard: None,
        }
    }

    /// Keeps a value, such as a temporary folder, until the stores are dropped.
    #[must_use]
    pub fn keeping(mut self, guard: impl Any + Send + Sync) -> Self {
        self._guard = Some(Box::new(guard));
        self
    }

    /// A number that was not drawn before.
    pub(super) fn draw(&self) -> [u8; 16] {
        self.draws.next()
    }

    /// A new commit id.
    pub(super) fn id(&self) -> Revision {
        Revision::from_bytes(self.draw())
    }

    /// A text for ids that no other case or run uses.
    pub(super) fn unique(&self) -> String {
        self.id().to_string()
    }

    /// A partition of its own for a case.
    pub(super) fn space(&self) -> Space<'_, S> {
        self.space_in(Partition::installation(&self.unique()))
    }

    /// A given partition.
    pub(super) fn space_in(&self, partition: Partition) -> Space<'_, S> {
        Space {
            harness: self,
            store: &self.store,
            partition,
        }
    }
}

/// Numbers that look random and come from a seed, no two of them the same.
#[derive(Debug)]
pub(super) struct Draws {
    seed: [u8; 16],
    drawn: AtomicU64,
}

impl Draws {
    pub(super) const fn new(seed: [u8; 16]) -> Self {
        Self {
            seed,
            drawn: AtomicU64::new(0),
        }
    }

    pub(super) fn next(&self) -> [u8; 16] {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(drawn.to_be_bytes());
        let digest = hash.finalize();
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(digest)
            .for_each(|(to, from)| *to = from);
        bytes
    }
}

impl<S> fmt::Debug for Harness<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").finish_non_exhaustive()
    }
}

/// One partition through one handle, with short ways to say what is done there.
pub(super) struct Space<'h, S> {
    harness: &'h Harness<S>,
    store: &'h Arc<S>,
    partition: Partition,
}

impl<'h, S: Store> Space<'h, S> {
    /// The same partition through the other handle.
    pub(super) fn through_other(&self) -> Self {
        Self {
            harness: self.harness,
            store: &self.harness.other,
            partition: self.partition.clone(),
        }
    }

    /// The same partition, through the one handle or the other.
    pub(super) fn through_either(&self, number: usize) -> Self {
        if number.is_multiple_of(2) {
            self.harness.space_in(self.partition.clone())
        } else {
            self.through_other()
        }
    }

    pub(super) fn store(&self) -> &'h Arc<S> {
        self.store
    }

    pub(super) fn id(&self) -> Revision {
        self.harness.id()
    }

    pub(super) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// A commit with a new id.
    pub(super) fn build(
        &self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<Commit, Failure> {
        let mut commit = Commit::new(self.id(), self.partition.clone());
        for change in changes {
            commit.push(change)?;
        }
        Ok(commit)
    }

    pub(super) async fn send(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, Failure> {
        Ok(self.store.commit(commit, now).await?)
    }

    /// Commits what must be applied; the revision.
    pub(super) async fn apply_at(
        &self,
        changes: impl IntoIterator<Item = Change>,
        now: Timestamp,
    ) -> Result<Revision, Failure> {
        let commit = self.build(changes)?;
        match self.send(&commit, now).await? {
            Outcome::Applied => Ok(commit.id()),
            Outcome::Conflict(items) => Err(Failure::new(format!(
                "the commit was to be applied, but these are in the way: {items:?}"
            ))),
        }
    }

    pub(super) async fn apply(
        &self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<Revision, Failure> {
        self.apply_at(changes, NOW).await
    }

    /// Commits what must be in conflict; the items in the way.
    pub(super) async fn conflict_at(
        &self,
        changes: impl IntoIterator<Item = Change>,
        now: Timestamp,
    ) -> Result<Vec<InTheWay>, Failure> {
        match self.send(&self.build(changes)?, now).await? {
            Outcome::Conflict(items) => Ok(items),
            Outcome::Applied => Err(Failure::new(
                "the commit was applied, but its expectations were not met",
            )),
        }
    }

    pub(super) async fn conflict(
        &self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<Vec<InTheWay>, Failure> {
        self.conflict_at(changes, NOW).await
    }

    /// Puts a value for good, whatever is there.
    pub(super) async fn put(&self, name: &Name, value: Value) -> Result<Revision, Failure> {
        self.apply([Change::put(name.clone(), Expect::Any, value, None)])
            .await
    }

    pub(super) async fn get_at(
        &self,
        name: &Name,
        now: Timestamp,
    ) -> Result<Option<Item>, Failure> {
        let key = Key::new(self.partition.clone(), name.clone());
        Ok(self.store.get(&key, now).await?)
    }

    pub(super) async fn get(&self, name: &Name) -> Result<Option<Item>, Failure> {
        self.get_at(name, NOW).await
    }

    /// An item that must be there.
    pub(super) async fn item(&self, name: &Name) -> Result<Item, Failure> {
        self.get(name)
            .await?
            .ok_or_else(|| Failure::new(format!("{name:?} is absent")))
    }

    /// A number that must be there.
    pub(super) async fn number(&self, name: &Name) -> Result<i64, Failure> {
        match self.item(name).await?.value {
            Value::Number(number) => Ok(number),
            Value::Bytes(_) => Err(Failure::new(format!("{name:?} holds bytes, not a number"))),
        }
    }

    pub(super) fn query(&self, prefix: &str, limit: usize) -> Query {
        Query {
            partition: self.partition.clone(),
            prefix: prefix.to_owned(),
            after: None,
            limit,
        }
    }

    /// Every page of a listing, one after the other.
    pub(super) async fn list_at(
        &self,
        prefix: &str,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<(Name, Item)>, Failure> {
        let mut query = self.query(prefix, limit);
        let mut items = Vec::new();
        // A cursor that does not move must not keep the suite for ever.
        for _ in 0..10_000 {
            let page = self.store.list(&query, now).await?;
            if page.items.len() > query.page_size() {
                return Err(Failure::new("a page has more items than its limit"));
            }
            items.extend(page.items);
            match page.next {
                None => return Ok(items),
                next => query.after = next,
            }
        }
        Err(Failure::new("the listing does not come to its end"))
    }

    /// The names of a listing.
    pub(super) async fn names(&self, prefix: &str) -> Result<Vec<Name>, Failure> {
        let items = self.list_at(prefix, 100, NOW).await?;
        Ok(items.into_iter().map(|(name, _)| name).collect())
    }
}

pub(super) fn name(part: &str) -> Result<Name, Failure> {
    Ok(Name::of([part])?)
}

/// The names `{prefix}0`, `{prefix}1`, … with as many digits as keep their order.
pub(super) fn names(prefix: &str, count: usize) -> Result<Vec<Name>, Failure> {
    (0..count)
        .map(|number| name(&format!("{prefix}{number:03}")))
        .collect()
}

pub(super) fn text(text: &str) -> Value {
    Value::Bytes(Bytes::copy_from_slice(text.as_bytes()))
}

/// Lets the other futures of a race have their turn.
pub(super) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Whether a commit was applied, where a conflict is as good an answer.
pub(super) fn applied(outcome: &Result<Outcome, StoreError>) -> Result<bool, Failure> {
    match outcome {
        Ok(Outcome::Applied) => Ok(true),
        Ok(Outcome::Conflict(_)) => Ok(false),
        Err(error) => Err(Failure::new(format!("{error}: {error:?}"))),
    }
}

/// Polls a future until it is done: enough where it waits for nothing but other futures in the same task,
/// as over a [`MemoryStore`](crate::store::MemoryStore). Needs no runtime.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
