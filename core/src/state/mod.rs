//! What an extension keeps: typed values and counters, scoped to one installation of it.
//!
//! Reads see the store; writes are kept back and applied together with the answer of the call or event, in one
//! commit, or not at all. Reads remember what they saw and the commit expects it still to be so; where it is
//! not, the handler runs again from the start, since nothing was applied.
//!
//! A call that is not recorded (of a read-only tool, or without a `callId`) and that writes nothing commits
//! nothing, and so its reads are not checked: each is true of its own moment, and others may write between two of
//! them.

mod error;
mod key;
mod list;
mod session;

pub use self::{
    error::StateError,
    list::{Entries, Entry},
};
pub(crate) use self::{
    key::Scope,
    session::{Access, Session},
};

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

/// Typed values and counters under keys, in one scope: an installation, or one member in it.
///
/// A key is anything that serializes to a text, a whole number, an enum variant without data, or a tuple or
/// list of those: `"menu"`, `("count", Snack::Fruit)`, `("reminder", 42_u64)`. Parts can't run into each
/// other, whatever is in them. A tuple in a tuple adds its parts to the others: `("a", ("b", "c"))` is
/// `("a", "b", "c")`. Numbers sort by value.
///
/// Values are JSON, at most 256 KB each; one call can touch 99 keys, those it read included, and write 4 MB,
/// its answer included.
#[derive(Clone, Debug)]
pub struct State {
    session: Arc<Session>,
    scope: Scope,
}

impl State {
    pub(crate) fn new(session: Arc<Session>, scope: Scope) -> Self {
        Self { session, scope }
    }

    /// The value under `key`, with this handler's own writes seen; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When the key can't be one, when the store can't be reached, or when what is there is no `T`.
    pub async fn get<T: DeserializeOwned>(
        &self,
        key: impl Serialize,
    ) -> Result<Option<T>, StateError> {
        // Encoded before the await, so that a key that is not `Send` doesn't make the future so.
        let name = self.scope.name(&key)?;
        drop(key);
        self.session.get(&name).await
    }

    /// Sets the value under `key`, from the commit on.
    ///
    /// A whole number becomes a counter that [`State::add`] can count on.
    ///
    /// # Errors
    ///
    /// In a read-only tool or a step; when the key can't be one; when the value can't be JSON or is over 256 KB.
    pub fn put<T: Serialize + ?Sized>(
        &self,
        key: impl Serialize,
        value: &T,
    ) -> Result<(), StateError> {
        self.session.put(self.scope.name(&key)?, value, None)
    }

    /// Sets the value under `key` for a time, after which it is absent.
    ///
    /// # Errors
    ///
    /// As [`State::put`].
    pub fn put_for<T: Serialize + ?Sized>(
        &self,
        key: impl Serialize,
        value: &T,
        lifetime: Duration,
    ) -> Result<(), StateError> {
        self.session
            .put(self.scope.name(&key)?, value, Some(lifetime))
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// # Errors
    ///
    /// In a read-only tool or a step; when the key can't be one.
    pub fn delete(&self, key: impl Serialize) -> Result<(), StateError> {
        self.session.delete(self.scope.name(&key)?)
    }

    /// Adds to the counter under `key`; one that is absent starts at zero. The sum stays within `i64`. A lifetime
    /// that an earlier call gave it ends: what was added to stays.
    ///
    /// Adding never conflicts with others who add at the same time, unless this handler also *reads* the
    /// counter: then the sum depends on what it saw.
    ///
    /// # Errors
    ///
    /// In a read-only tool or a step; when the key can't be one; when this handler wrote something there that is no
    /// whole number. A value of that kind in the store fails the commit.
    pub fn add(&self, key: impl Serialize, delta: i64) -> Result<(), StateError> {
        self.session.add(self.scope.name(&key)?, delta)
    }

    /// The entries whose keys have the parts of `prefix` and more, in the order of their keys: `list("a")` has
    /// `("a", 1)`, but not `"a"` itself. `()` lists all.
    ///
    /// A page is no snapshot: entries that others add or remove meanwhile may or may not be in it, and an
    /// entry that was only listed does not make the commit conflict (one that this handler then writes does).
    pub fn list<P: Serialize>(&self, prefix: P) -> Entries {
        let prefix = self.scope.prefix(&prefix);
        Entries::new(Arc::clone(&self.session), self.scope.clone(), prefix)
    }
}
