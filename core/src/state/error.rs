//! How state fails.

use std::{error::Error, fmt};

use crate::store::{CommitError, KeyError, MAX_VALUE_BYTES, StoreError};

/// Why an operation on state failed. No kind of it quotes a key or a value.
#[derive(Debug)]
pub struct StateError(Kind);

#[derive(Debug)]
pub(super) enum Kind {
    ReadOnly,
    InStep,
    /// Its work has ended.
    Closed,
    Key(&'static str),
    KeyLimit(KeyError),
    NotJson,
    WrongType,
    NotANumber,
    TooLarge(usize),
    Commit(CommitError),
    Store(StoreError),
}

impl StateError {
    pub(super) const fn new(kind: Kind) -> Self {
        Self(kind)
    }

    pub(crate) const fn not_a_number() -> Self {
        Self(Kind::NotANumber)
    }

    /// Whether the store could not be reached, so that the same may succeed another time. All other kinds are
    /// faults of the code or its data.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0, Kind::Store(_))
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::ReadOnly => f.write_str(
                "a read-only tool can't write state: declare the tool without `.read_only()` if it changes something",
            ),
            Kind::Closed => f.write_str(
                "the work that this state belongs to has ended, and what it wrote is committed without this",
            ),
            Kind::InStep => f.write_str(
                "state can't be written in a step, whose work is left out when the handler runs again: write it after the step, from its result",
            ),
            Kind::Key(what) => {
                write!(f, "{what} can't be part of a state key: use texts, whole numbers and plain enum variants")
            }
            Kind::KeyLimit(_) => f.write_str("the state key can't be used"),
            Kind::NotJson => f.write_str("the value can't be written as JSON"),
            Kind::WrongType => f.write_str("the value in the store is not of the type that was asked for"),
            Kind::NotANumber => f.write_str("only a whole number can be added to"),
            Kind::TooLarge(bytes) => write!(f, "the value has {bytes} bytes; {MAX_VALUE_BYTES} are allowed"),

            Kind::Commit(_) => f.write_str("the handler's state doesn't fit one commit"),
            Kind::Store(_) => f.write_str("the store could not be read"),
        }
    }
}

impl Error for StateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::KeyLimit(error) => Some(error),
            Kind::Commit(error) => Some(error),
            Kind::Store(error) => Some(error),
            // serde's texts may quote the value, so they are not kept.
            Kind::NotJson
            | Kind::WrongType
            | Kind::ReadOnly
            | Kind::InStep
            | Kind::Closed
            | Kind::Key(_)
            | Kind::NotANumber
            | Kind::TooLarge(_) => None,
        }
    }
}

impl From<KeyError> for StateError {
    fn from(error: KeyError) -> Self {
        Self(Kind::KeyLimit(error))
    }
}

impl From<CommitError> for StateError {
    fn from(error: CommitError) -> Self {
        Self(Kind::Commit(error))
    }
}

impl From<StoreError> for StateError {
    fn from(error: StoreError) -> Self {
        Self(Kind::Store(error))
    }
}
