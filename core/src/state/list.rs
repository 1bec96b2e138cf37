//! Listing by prefix.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{
    error::StateError,
    key::Scope,
    session::{Session, decode},
};
use crate::store::{Cursor, MAX_PAGE, Name, Partition, Query, Value};

/// A listing that is being asked for; see [`State::list`](super::State::list).
#[derive(Debug)]
#[must_use = "a listing does nothing until it is read with `.first()` or `.all()`"]
pub struct Entries {
    session: Arc<Session>,
    scope: Scope,
    prefix: Result<String, StateError>,
}

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<T> {
    /// The parts of its key, those of the prefix included, as texts (numbers zero-padded to 20 digits).
    pub key: Vec<String>,
    /// Its value.
    pub value: T,
}

/// How many entries one read of the store brings.
const PAGE: usize = 100;

impl Entries {
    pub(super) fn new(
        session: Arc<Session>,
        scope: Scope,
        prefix: Result<String, StateError>,
    ) -> Self {
        Self {
            session,
            scope,
            prefix,
        }
    }

    /// At most `limit` entries from the start, with this handler's own writes seen.
    ///
    /// # Errors
    ///
    /// When the prefix can't be one, the store can't be reached, or a value is no `T`.
    pub async fn first<T: DeserializeOwned>(
        self,
        limit: usize,
    ) -> Result<Vec<Entry<T>>, StateError> {
        let Self {
            session,
            scope,
            prefix,
        } = self;
        let prefix = prefix?;
        let mut found: Vec<(Name, Value)> = Vec::new();
        let mut after: Option<Cursor> = None;
        // Own deletions can hide what was read, so `limit` entries may take more than one page.
        loop {
            let own = session.own_writes(&prefix);
            let query = Query {
                partition: Partition::unscoped(),
                prefix: prefix.clone(),
                after: after.take(),
                limit: limit.saturating_add(own.len()).clamp(1, PAGE.min(MAX_PAGE)),
            };
            let page = session.page(query).await?;
            found.extend(
                page.items
                    .into_iter()
                    .map(|(name, item)| (name, item.value)),
            );
            let enough = found
                .iter()
                .filter(|(name, _)| !own.contains_key(name))
                .count()
                >= limit;
            match page.next {
                Some(next) if !enough => after = Some(next),
                next => {
                    let complete = next.is_none();
                    return overlay(found, &session, &prefix, complete)
                        .into_iter()
                        .take(limit)
                        .map(|(name, value)| {
                            Ok(Entry {
                                key: scope.strip(&name),
                                value: decode(&value)?,
                            })
                        })
                        .collect();
                }
            }
        }
    }

    /// Every entry.
    ///
    /// For listings that are known to be short: it reads 100 entries a round trip, until there are no more.
    ///
    /// # Errors
    ///
    /// As [`Entries::first`].
    pub async fn all<T: DeserializeOwned>(self) -> Result<Vec<Entry<T>>, StateError> {
        self.first(usize::MAX).await
    }
}

/// What was read, with the run's own writes in their places. Where the listing goes on behind what was read, own
/// writes behind its last name are left out, since others may stand before them.
fn overlay(
    found: Vec<(Name, Value)>,
    session: &Session,
    prefix: &str,
    complete: bool,
) -> Vec<(Name, Value)> {
    let last = found.last().map(|(name, _)| name.clone());
    let mut merged: std::collections::BTreeMap<Name, Value> = found.into_iter().collect();
    for (name, value) in session.own_writes(prefix) {
        let in_reach = complete || last.as_ref().is_some_and(|last| name <= *last);
        match value {
            Some(value) if in_reach => {
                merged.insert(name, value);
            }
            Some(_) => {}
            None => {
                merged.remove(&name);
            }
        }
    }
    merged.into_iter().collect()
}
