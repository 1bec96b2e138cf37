//! What is written: changes that apply together or not at all.

use super::{
    item::{Item, MAX_VALUE_BYTES, Revision, Value},
    key::{Name, Partition},
};
use crate::time::Timestamp;

/// The most items that one commit touches, those that it only checks included.
pub const MAX_COMMIT_ITEMS: usize = 100;
/// The most bytes of one commit: its keys and values together.
pub const MAX_COMMIT_BYTES: usize = 4 * 1024 * 1024;

/// A set of changes in one partition that apply together or not at all.
///
/// One that exists is within the limits of every backend; see [`Commit::push`].
#[derive(Clone, Debug)]
pub struct Commit {
    id: Revision,
    partition: Partition,
    changes: Vec<Change>,
    bytes: usize,
}

impl Commit {
    /// An empty commit. `id` becomes the revision of all that it writes; it must be random and never used before.
    #[must_use]
    pub const fn new(id: Revision, partition: Partition) -> Self {
        Self {
            id,
            partition,
            changes: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds a change.
    ///
    /// # Errors
    ///
    /// When the commit names this item already, touches more than [`MAX_COMMIT_ITEMS`], holds more than
    /// [`MAX_COMMIT_BYTES`], or the value is over [`MAX_VALUE_BYTES`]. The commit is left as it was.
    pub fn push(&mut self, change: Change) -> Result<(), CommitError> {
        let value = match &change.operation {
            Operation::Put { value, .. } => value.size(),
            Operation::Add { .. } | Operation::Delete | Operation::Check => 0,
        };
        let bytes = self.bytes + change.name.as_str().len() + value;
        if value > MAX_VALUE_BYTES {
            return Err(CommitError::ValueTooLarge {
                name: change.name,
                bytes: value,
            });
        }
        if self.changes.iter().any(|other| other.name == change.name) {
            return Err(CommitError::NamedTwice { name: change.name });
        }
        if self.changes.len() == MAX_COMMIT_ITEMS {
            return Err(CommitError::TooManyItems);
        }
        if bytes > MAX_COMMIT_BYTES {
            return Err(CommitError::TooLarge { bytes });
        }
        self.bytes = bytes;
        self.changes.push(change);
        Ok(())
    }

    /// The same, by value.
    ///
    /// # Errors
    ///
    /// As [`Commit::push`].
    pub fn with(mut self, change: Change) -> Result<Self, CommitError> {
        self.push(change)?;
        Ok(self)
    }

    /// The id, and the revision of all that the commit writes.
    #[must_use]
    pub const fn id(&self) -> Revision {
        self.id
    }

    /// The partition that all changes are in.
    #[must_use]
    pub const fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The changes, each of another item.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// One change of one item.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which item.
    pub name: Name,
    /// What must hold of it for the commit to apply.
    pub expect: Expect,
    /// What is done to it.
    pub operation: Operation,
}

impl Change {
    /// Writes a value.
    #[must_use]
    pub const fn put(
        name: Name,
        expect: Expect,
        value: Value,
        expires_at: Option<Timestamp>,
    ) -> Self {
        Self {
            name,
            expect,
            operation: Operation::Put { value, expires_at },
        }
    }

    /// Removes the item, if it is there.
    #[must_use]
    pub const fn delete(name: Name, expect: Expect) -> Self {
        Self {
            name,
            expect,
            operation: Operation::Delete,
        }
    }

    /// Writes nothing, but fails the commit where the expectation does not hold.
    #[must_use]
    pub const fn check(name: Name, expect: Expect) -> Self {
        Self {
            name,
            expect,
            operation: Operation::Check,
        }
    }

    /// Adds to a number; an absent item counts as zero. Never in conflict with another add.
    #[must_use]
    pub const fn add(name: Name, delta: i64) -> Self {
        Self {
            name,
            expect: Expect::Any,
            operation: Operation::Add { delta },
        }
    }
}

/// What a change expects of its item. An expired item is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Any,
    /// That it is not there.
    Absent,
    /// That it is there, at this revision.
    At(Revision),
}

impl Expect {
    /// Whether the expectation holds of what is there (`None` for absent, expired items included).
    #[must_use]
    pub fn holds(self, item: Option<&Item>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => item.is_none(),
            Self::At(revision) => item.is_some_and(|item| item.revision == revision),
        }
    }
}

/// What is done to an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The item becomes this, at the commit's revision.
    Put {
        /// The new value.
        value: Value,
        /// When it counts as absent again; `None` for never.
        expires_at: Option<Timestamp>,
    },
    /// The item becomes absent.
    Delete,
    /// Nothing is done.
    Check,
    /// The item becomes its number plus `delta` (saturating), at the commit's revision and without an expiry
    /// (an absent or expired item counts as zero). An item that holds [`Value::Bytes`] is *in the way*.
    Add {
        /// What to add; negative to take away.
        delta: i64,
    },
}

impl Operation {
    /// Whether the operation can be done to what is there: an add needs a number.
    #[must_use]
    pub fn fits(&self, item: Option<&Item>) -> bool {
        match self {
            Self::Add { .. } => item.is_none_or(|item| matches!(item.value, Value::Number(_))),
            Self::Put { .. } | Self::Delete | Self::Check => true,
        }
    }
}

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every change was applied.
    Applied,
    /// Nothing was applied. Every item in the way is named, in the order of the changes.
    Conflict(Vec<InTheWay>),
}

/// An item that did not meet its change's expectation, or that an add met with bytes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InTheWay {
    /// Which item.
    pub name: Name,
    /// What is there; `None` for absent.
    pub item: Option<Item>,
}

/// Why a change can't join a commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// One commit changes an item once.
    #[error("the commit names {name:?} twice")]
    NamedTwice {
        /// The item.
        name: Name,
    },
    /// Over [`MAX_COMMIT_ITEMS`].
    #[error("a commit touches at most {MAX_COMMIT_ITEMS} items, those it only read included")]
    TooManyItems,
    /// Over [`MAX_COMMIT_BYTES`].
    #[error("the commit has {bytes} bytes; {MAX_COMMIT_BYTES} are allowed")]
    TooLarge {
        /// How many it would have.
        bytes: usize,
    },
    /// Over [`MAX_VALUE_BYTES`].
    #[error("the value of {name:?} has {bytes} bytes; {MAX_VALUE_BYTES} are allowed")]
    ValueTooLarge {
        /// The item.
        name: Name,
        /// How many bytes it has.
        bytes: usize,
    },
}
