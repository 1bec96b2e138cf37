//! A commit that can be recognised by its own id when its answer was lost.

use super::{
    commit::{Change, Commit, CommitError, Expect},
    item::{Revision, Value},
    key::{Key, Name, Partition},
};
use crate::time::Timestamp;

/// A commit whose first change, the *anchor*, is a conditional put.
///
/// The anchor makes it safe to send the commit again: once one copy is applied, the anchor holds the
/// commit's own id and no other copy can apply. And it tells whether that happened, as long as nobody else
/// writes there in the meantime. So a flow anchors its commit where only itself may write:
///
/// - a *claim* (`seen/…`), put where nothing was. Nobody overwrites or removes a claim. A commit that writes
///   the state of a call without a ledger record is anchored at the call's own claim, which it puts again;
/// - a *ledger record* (`call/…`, `delivery/…`), moved from the revision that its owner wrote. A record moves
///   by its owner's revision alone. To release one is a put, too: a deletion could not be recognised;
/// - a *task's head* is the exception: an answer or a cancellation may move it right after a runner did. A
///   runner whose commit was applied, but whose answer was lost, may be told of a conflict; it then reads the
///   head again, as with any conflict, and looks in the journal for its own entry before it adds it.
#[derive(Clone, Debug)]
pub(crate) struct AnchoredCommit {
    commit: Commit,
    anchor: Key,
    expect: Expect,
}

impl AnchoredCommit {
    /// A commit whose anchor is put where nothing is.
    ///
    /// # Errors
    ///
    /// As [`Commit::push`], for the anchor.
    pub(crate) fn creating(
        id: Revision,
        partition: Partition,
        anchor: Name,
        value: Value,
        expires_at: Option<Timestamp>,
    ) -> Result<Self, CommitError> {
        Self::new(id, partition, anchor, Expect::Absent, value, expires_at)
    }

    /// A commit whose anchor replaces what stands there at the revision `from`.
    ///
    /// # Errors
    ///
    /// As [`Commit::push`], for the anchor.
    pub(crate) fn replacing(
        id: Revision,
        partition: Partition,
        anchor: Name,
        from: Revision,
        value: Value,
        expires_at: Option<Timestamp>,
    ) -> Result<Self, CommitError> {
        Self::new(id, partition, anchor, Expect::At(from), value, expires_at)
    }

    fn new(
        id: Revision,
        partition: Partition,
        name: Name,
        expect: Expect,
        value: Value,
        expires_at: Option<Timestamp>,
    ) -> Result<Self, CommitError> {
        let anchor = Key::new(partition.clone(), name.clone());
        let commit =
            Commit::new(id, partition).with(Change::put(name, expect, value, expires_at))?;
        Ok(Self {
            commit,
            anchor,
            expect,
        })
    }

    /// Adds a change, as [`Commit::push`].
    pub(crate) fn push(&mut self, change: Change) -> Result<(), CommitError> {
        self.commit.push(change)
    }

    /// The commit, to be sent.
    pub(crate) const fn as_commit(&self) -> &Commit {
        &self.commit
    }

    /// The id.
    pub(crate) const fn id(&self) -> Revision {
        self.commit.id()
    }

    /// Where the anchor stands.
    pub(crate) const fn anchor(&self) -> &Key {
        &self.anchor
    }

    /// What the anchor expects there.
    pub(crate) const fn anchor_expects(&self) -> Expect {
        self.expect
    }
}
