//! The one store port on which every guarantee is built: [`Store`], three operations.
//!
//! An adapter implements `get`, `commit` and `list` and nothing else. The shared suite (feature
//! `store-suite`) proves that it did: run it against every implementation.
//!
//! Two ideas carry the rest:
//!
//! - **The revision of an item is the id of the commit that wrote it**, 128 random bits chosen by the caller.
//!   So no revision ever returns, and a commit whose answer was lost can be recognised by its own id.
//! - **A commit is all or nothing, and conditional.** Each change states what it expects of its item; if any
//!   expectation fails, nothing is applied and the outcome names *every* item in the way.

mod anchored;
mod commit;
mod error;
mod item;
mod key;
mod list;
mod memory;
mod resolve;
#[cfg(any(test, feature = "store-suite"))]
pub mod suite;
#[cfg(any(test, feature = "store-suite"))]
pub mod testing;

use std::{future::Future, sync::Arc};

pub(crate) use self::{anchored::AnchoredCommit, resolve::commit_resolved};
pub use self::{
    commit::{
        Change, Commit, CommitError, Expect, ITEM_OVERHEAD_BYTES, InTheWay, MAX_COMMIT_BYTES,
        MAX_COMMIT_ITEMS, MAX_EXPIRY, Operation, Outcome,
    },
    error::{StoreError, StoreErrorKind},
    item::{Item, MAX_VALUE_BYTES, Revision, Value},
    key::{Key, KeyError, Name, Partition},
    list::{Cursor, MAX_PAGE, MAX_PAGE_BYTES, Page, Query},
    memory::MemoryStore,
};
use crate::{
    marker::{BoxFuture, MaybeSend, MaybeSync},
    time::Timestamp,
};

/// A key-value store with conditional, all-or-nothing commits.
///
/// `now` is the caller's time; a store never asks a clock of its own. An item whose `expires_at` is not after
/// `now` is absent, for reads and for expectations alike, whether or not it was physically removed. A backend
/// without a TTL of its own removes a bounded number of expired items with each commit (by the `now` of that
/// commit, so what two clocks must agree on is given an expiry that is late enough for both). A read removes
/// nothing.
pub trait Store: MaybeSend + MaybeSync + 'static {
    /// The item at `key`, strongly consistent: what a commit that was acknowledged wrote is seen.
    fn get(
        &self,
        key: &Key,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Item>, StoreError>> + MaybeSend;

    /// Applies every change, or none. A commit without changes is applied.
    ///
    /// A backend does its own retries of what is known to pass and to have applied nothing (a lock that is
    /// held, a throttled request), as long as it has patience; it never answers for more than it knows.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotApplied`] when nothing was and will be applied; [`StoreErrorKind::Unknown`] when it
    /// may have been, or still may be. A commit that is sent again under its own id must not apply twice where
    /// its first change is a conditional put, as all of core's are: the expectation then meets the commit's
    /// own revision.
    fn commit(
        &self,
        commit: &Commit,
        now: Timestamp,
    ) -> impl Future<Output = Result<Outcome, StoreError>> + MaybeSend;

    /// A page of the items of one partition whose name starts with a prefix, in the order of the names' bytes.
    ///
    /// Each item is current when it is read, but the page is no snapshot: items that come or go while the pages
    /// are read may or may not appear.
    fn list(
        &self,
        query: &Query,
        now: Timestamp,
    ) -> impl Future<Output = Result<Page, StoreError>> + MaybeSend;
}

/// A store that several owners share.
impl<S: Store> Store for Arc<S> {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        S::get(self, key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        S::commit(self, commit, now).await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        S::list(self, query, now).await
    }
}

/// The dyn-compatible twin, behind which core reaches whatever store there is. It sends anchored commits
/// alone, so that no flow can send one whose lost answer could not be found out; flows call
/// [`commit_resolved`], which finds it out.
pub(crate) trait DynStore: MaybeSend + MaybeSync {
    fn dyn_get<'a>(
        &'a self,
        key: &'a Key,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Item>, StoreError>>;
    fn dyn_commit<'a>(
        &'a self,
        commit: &'a AnchoredCommit,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Outcome, StoreError>>;
    fn dyn_list<'a>(
        &'a self,
        query: &'a Query,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;
}

impl<S: Store> DynStore for S {
    fn dyn_get<'a>(
        &'a self,
        key: &'a Key,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Item>, StoreError>> {
        Box::pin(self.get(key, now))
    }

    fn dyn_commit<'a>(
        &'a self,
        commit: &'a AnchoredCommit,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(self.commit(commit.as_commit(), now))
    }

    fn dyn_list<'a>(
        &'a self,
        query: &'a Query,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(self.list(query, now))
    }
}
