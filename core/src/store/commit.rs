//! What is written: changes that apply together or not at all.

use super::{
    item::{Item, MAX_VALUE_BYTES, Revision, Value},
    key::{Name, Partition},
};
use crate::time::Timestamp;

/// The most items that one commit touches, those that it only checks included.
pub const MAX_COMMIT_ITEMS: usize = 100;
/// The most bytes of one commit: its keys and values together, and [`ITEM_OVERHEAD_BYTES`] an item.
pub const MAX_COMMIT_BYTES: usize = 4 * 1024 * 1024;
/// What an item counts towards [`MAX_COMMIT_BYTES`] beside its key and value: backends that count (DynamoDB)
/// count its revision, its expiry and the names of these too.
pub const ITEM_OVERHEAD_BYTES: usize = 100;
/// The latest expiry that an item may have, 2^53 - 1 milliseconds after the epoch (in the year 287396): the
/// greatest that every backend keeps exactly. One that is never to expire has none.
pub const MAX_EXPIRY: Timestamp = Timestamp::from_millis((1 << 53) - 1);

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
    /// [`MAX_COMMIT_BYTES`], the value is over [`MAX_VALUE_BYTES`], or the expiry is after [`MAX_EXPIRY`].
    /// The commit is left as it was.
    pub fn push(&mut self, change: Change) -> Result<(), CommitError> {
        let (value, expires_at) = match &change.operation {
            Operation::Put { value, expires_at } => (value.size(), *expires_at),
            Operation::Add { .. } | Operation::Delete | Operation::Check => (0, None),
        };
        let key = self.partition.as_str().len() + change.name.as_str().len();
        let bytes = self.bytes + key + value + ITEM_OVERHEAD_BYTES;
        if value > MAX_VALUE_BYTES {
            return Err(CommitError::ValueTooLarge {
                name: change.name,
                bytes: value,
            });
        }
        if expires_at.is_some_and(|at| at > MAX_EXPIRY) {
            return Err(CommitError::ExpiresTooLate { name: change.name });
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

    /// How many bytes count towards [`MAX_COMMIT_BYTES`].
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
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
    /// After [`MAX_EXPIRY`].
    #[error("{name:?} expires later than any store can keep; give it no expiry")]
    ExpiresTooLate {
        /// The item.
        name: Name,
    },
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    fn name(number: usize) -> Name {
        Name::of([number.to_string().as_str()]).unwrap()
    }

    fn put(number: usize, bytes: usize, expires_at: Option<Timestamp>) -> Change {
        let value = Value::Bytes(Bytes::from(vec![0; bytes]));
        Change::put(name(number), Expect::Any, value, expires_at)
    }

    fn empty() -> Commit {
        Commit::new(Revision::new(1), Partition::unscoped())
    }

    #[test]
    fn a_commit_touches_each_item_once_and_at_most_a_hundred() {
        let mut commit = empty();
        for number in 0..MAX_COMMIT_ITEMS {
            commit
                .push(Change::check(name(number), Expect::Absent))
                .unwrap();
        }
        let twice = commit.push(Change::delete(name(0), Expect::Any));
        assert_eq!(twice, Err(CommitError::NamedTwice { name: name(0) }));
        let more = commit.push(Change::add(name(MAX_COMMIT_ITEMS), 1));
        assert_eq!(more, Err(CommitError::TooManyItems));
        assert_eq!(commit.changes().len(), MAX_COMMIT_ITEMS);
    }

    #[test]
    fn keys_values_and_overhead_count_towards_four_megabytes() {
        let mut commit = empty();
        for number in 10..25 {
            commit.push(put(number, MAX_VALUE_BYTES, None)).unwrap();
        }
        // The partition `u` has one byte, each name two.
        let free = MAX_COMMIT_BYTES - 15 * (MAX_VALUE_BYTES + 3 + ITEM_OVERHEAD_BYTES);
        let fits = free - 3 - ITEM_OVERHEAD_BYTES;
        assert!(fits < MAX_VALUE_BYTES);
        let over = commit.push(put(99, fits + 1, None));
        let bytes = MAX_COMMIT_BYTES + 1;
        assert_eq!(over, Err(CommitError::TooLarge { bytes }));
        commit.push(put(99, fits, None)).unwrap();
        assert_eq!(commit.bytes(), MAX_COMMIT_BYTES);
    }

    #[test]
    fn a_value_has_at_most_256_kilobytes() {
        let bytes = MAX_VALUE_BYTES + 1;
        let over = empty().push(put(1, bytes, None));
        assert_eq!(
            over,
            Err(CommitError::ValueTooLarge {
                name: name(1),
                bytes
            })
        );
        empty().push(put(1, MAX_VALUE_BYTES, None)).unwrap();
    }

    #[test]
    fn an_expiry_that_some_backend_could_not_keep_is_refused() {
        let late = Some(MAX_EXPIRY + Duration::from_millis(1));
        assert_eq!(
            empty().push(put(1, 0, late)),
            Err(CommitError::ExpiresTooLate { name: name(1) })
        );
        empty().push(put(1, 0, Some(MAX_EXPIRY))).unwrap();
    }
}
