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

mod commit;
mod error;
mod item;
mod key;

use std::future::Future;

pub use self::{
    commit::{
        Change, Commit, CommitError, Expect, InTheWay, MAX_COMMIT_BYTES, MAX_COMMIT_ITEMS,
        Operation, Outcome,
    },
    error::{StoreError, StoreErrorKind},
    item::{Item, MAX_VALUE_BYTES, Revision, Value},
    key::{Key, KeyError, Name, Partition},
};
use crate::{
    marker::{BoxFuture, MaybeSend, MaybeSync},
    time::Timestamp,
};

/// A key-value store with conditional, all-or-nothing commits.
///
/// `now` is the caller's time; a store never asks a clock of its own. An item whose `expires_at` is not after
/// `now` is absent, for reads and for expectations alike, whether or not it was physically removed. A backend
/// without a TTL of its own removes a bounded number of expired items with each commit.
pub trait Store: MaybeSend + MaybeSync + 'static {
    /// The item at `key`, strongly consistent: what a commit that was acknowledged wrote is seen.
    fn get(
        &self,
        key: &Key,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Item>, StoreError>> + MaybeSend;

    /// Applies every change, or none.
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

/// What [`Store::list`] is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The partition to read.
    pub partition: Partition,
    /// Names start with this; empty for all.
    pub prefix: String,
    /// Where an earlier page ended ([`Page::next`]); `None` for the first page.
    pub after: Option<Cursor>,
    /// The most items to return, 1 to [`MAX_PAGE`]. A page may be shorter and still not be the last.
    pub limit: usize,
}

/// The most items that one page of [`Store::list`] holds.
pub const MAX_PAGE: usize = 1_000;

/// A place in a listing, made by the store that made the page and meaningful to it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

/// One page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The items, in the order of the names' bytes.
    pub items: Vec<(Name, Item)>,
    /// Where to go on; `None` when this was the last page.
    pub next: Option<Cursor>,
}

/// The dyn-compatible twin, behind which core reaches whatever store there is.
pub(crate) trait DynStore: MaybeSend + MaybeSync {
    fn dyn_get<'a>(
        &'a self,
        key: &'a Key,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Item>, StoreError>>;
    fn dyn_commit<'a>(
        &'a self,
        commit: &'a Commit,
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
        commit: &'a Commit,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(self.commit(commit, now))
    }

    fn dyn_list<'a>(
        &'a self,
        query: &'a Query,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(self.list(query, now))
    }
}
