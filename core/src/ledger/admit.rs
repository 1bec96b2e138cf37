//! May this request run, and if not, what is it told?

use std::time::Duration;

use bytes::Bytes;

use super::{
    fingerprint::Fingerprint,
    record::{Corrupt, Meeting, Progress, Record, Retry, meet},
};
use crate::{
    budget::Deadline,
    ports::Ports,
    signing::Verified,
    state::StateError,
    store::{
        AnchoredCommit, Change, CommitError, Expect, InTheWay, Item, KeyError, MAX_EXPIRY, Name,
        Operation, Outcome, Partition, Revision, StoreError, StoreErrorKind, Value,
    },
    time::Timestamp,
};

/// A claim of a signed request's id, by which its replays are known.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    name: Name,
    expires_at: Timestamp,
}

/// What a claim holds: nothing. That it is there is all it says.
const CLAIMED: Value = Value::Bytes(Bytes::new());

/// Claims are kept for this long after their signature has expired, so that no two clocks disagree one away.
const CLAIM_MARGIN: Duration = Duration::from_secs(3_600);

impl Claim {
    pub(crate) fn of(request: &Verified) -> Result<Self, LedgerError> {
        let name = Name::of(["seen", request.id()])?;
        Ok(Self {
            name,
            expires_at: request.accepted_until() + CLAIM_MARGIN,
        })
    }

    fn commit(&self, ports: &Ports, partition: &Partition) -> Result<AnchoredCommit, CommitError> {
        ports.commit(
            partition,
            self.name.clone(),
            None,
            CLAIMED,
            Some(self.expires_at),
        )
    }

    /// Claims the id and nothing else.
    pub(crate) async fn take(
        &self,
        ports: &Ports,
        partition: &Partition,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        let commit = self.commit(ports, partition)?;
        match ports.send(&commit, now).await? {
            Outcome::Applied => Ok(Taken::Fresh(Held {
                name: self.name.clone(),
                revision: commit.id(),
                what: HeldWhat::Claim {
                    expires_at: self.expires_at,
                },
            })),
            Outcome::Conflict(_) => Ok(Taken::Replayed),
        }
    }

    /// Claims the id, together with changes of what the request is about.
    pub(crate) async fn take_with(
        &self,
        ports: &Ports,
        partition: &Partition,
        changes: Vec<Change>,
        now: Timestamp,
    ) -> Result<Claimed, LedgerError> {
        let mut commit = self.commit(ports, partition)?;
        for change in changes {
            commit.push(change)?;
        }
        Ok(match ports.send(&commit, now).await? {
            Outcome::Applied => Claimed::Fresh(commit.id()),
            Outcome::Conflict(in_the_way)
                if in_the_way.iter().any(|other| other.name == self.name) =>
            {
                Claimed::Replayed
            }
            Outcome::Conflict(_) => Claimed::Conflict,
        })
    }
}

/// What became of a claim that brings changes.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// It was the first, and the changes stand, at this revision.
    Fresh(Revision),
    Replayed,
    /// Nothing was applied: something else than a claim was in the way.
    Conflict,
}

/// Whether a claim was the first.
#[derive(Debug)]
pub(crate) enum Taken {
    Fresh(Held),
    Replayed,
}

/// The right to run: the item that this request wrote, at the revision that it wrote.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    name: Name,
    revision: Revision,
    what: HeldWhat,
}

#[derive(Clone, Debug)]
enum HeldWhat {
    /// A bare claim: the run is not deduplicated, but its writes are anchored here.
    Claim { expires_at: Timestamp },
    /// A record of the ledger.
    Record {
        fingerprint: Fingerprint,
        attempt: u32,
        expires_at: Timestamp,
    },
}

/// What the ledger makes of a request.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is to run.
    Run(Held),
    /// It ran; this was answered.
    Answer(Bytes),
    /// This very request was seen before.
    Replayed,
    /// Its id stands for something else.
    OtherContent,
    /// Another request runs it, longer than this one can wait.
    StillRunning,
    /// It ran, left no answer, and may not run again.
    OutcomeUnknown,
}

/// Why the ledger can't tell. Nothing of the handler ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the request's time ran out before its claim was committed")]
    OutOfTime,
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl LedgerError {
    /// Whether what was to be committed may have been.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Store(error) if error.kind() == StoreErrorKind::Unknown)
    }
}

/// A request to run something once.
#[derive(Debug)]
pub(crate) struct Admit<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) partition: &'a Partition,
    /// Where the record stands.
    pub(crate) record: Name,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) retry: Retry,
    pub(crate) begin: Begin,
    pub(crate) retention: Duration,
    pub(crate) deadline: Deadline,
}

/// What is written where a request is admitted.
#[derive(Debug)]
pub(crate) enum Begin {
    /// That it runs, from then on.
    Running,
    /// Its answer, since that is known, with what the answer speaks of.
    Done {
        answer: Bytes,
        changes: Vec<Change>,
        /// The answer is kept at least until then.
        kept_until: Timestamp,
    },
}

/// How long a waiter sleeps before it looks again: at first, and at the most.
const FIRST_WAIT: Duration = Duration::from_millis(25);
const LONGEST_WAIT: Duration = Duration::from_millis(400);

impl Admit<'_> {
    /// Claims the request (if its kind is claimed) and takes, awaits or reads the record.
    ///
    /// The claim is committed before anything is answered or awaited: together with the record where that is
    /// taken, else with a check of the record that was seen. `claim` is then `None`, also where an error follows.
    pub(crate) async fn admit(&self, claim: &mut Option<Claim>) -> Result<Admission, LedgerError> {
        let mut now = self.deadline.received;
        let mut there: Option<Item> = None;
        let mut wait = FIRST_WAIT;
        let mut waited = Duration::ZERO;
        loop {
            let record = there
                .as_ref()
                .map(|item| Record::from_value(&item.value))
                .transpose()?;
            let meeting = meet(record.as_ref(), self.fingerprint, self.retry, now);
            let outcome = match (&meeting, claim.as_ref()) {
                (Meeting::Take { attempt }, _) => match self
                    .take(there.as_ref(), *attempt, claim.as_ref(), now)
                    .await?
                {
                    Ok(held) => {
                        *claim = None;
                        return Ok(Admission::Run(held));
                    }
                    Err(in_the_way) => Err(in_the_way),
                },
                (_, Some(claim)) => self.claim_beside(claim, there.as_ref(), now).await?,
                (_, None) => Ok(()),
            };
            match outcome {
                Ok(()) => *claim = None,
                Err(in_the_way) => {
                    if claim.as_ref().is_some_and(|claim| {
                        in_the_way.iter().any(|other| other.name == claim.name)
                    }) {
                        return Ok(Admission::Replayed);
                    }
                    there = in_the_way
                        .into_iter()
                        .find(|other| other.name == self.record)
                        .and_then(|other| other.item);
                    now = self.ports.now();
                    if self.deadline.handler_remaining(now).is_zero() {
                        return if claim.is_some() {
                            Err(LedgerError::OutOfTime)
                        } else {
                            Ok(Admission::StillRunning)
                        };
                    }
                    continue;
                }
            }
            match meeting {
                Meeting::Take { .. } => {}
                Meeting::Answer(answer) => return Ok(Admission::Answer(answer)),
                Meeting::OtherContent => return Ok(Admission::OtherContent),
                Meeting::OutcomeUnknown => return Ok(Admission::OutcomeUnknown),
                Meeting::Wait => {
                    // By the clock, and by what was waited: the clock may be set back.
                    let remaining = self
                        .deadline
                        .handler_remaining(self.ports.now())
                        .min(self.deadline.handler().saturating_sub(waited));
                    if remaining.is_zero() {
                        return Ok(Admission::StillRunning);
                    }
                    let pause = wait.min(remaining);
                    self.ports.runtime.dyn_sleep(pause).await;
                    waited += pause;
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
            }
            there = self.ports.read(self.partition, &self.record).await?;
            now = self.ports.now();
        }
    }

    /// Writes the record as this request's own, with the claim if that is still to be made.
    async fn take(
        &self,
        there: Option<&Item>,
        attempt: u32,
        claim: Option<&Claim>,
        now: Timestamp,
    ) -> Result<Result<Held, Vec<InTheWay>>, LedgerError> {
        let (progress, kept_until, changes) = match &self.begin {
            Begin::Running => {
                let lease_until = self.deadline.lease_end();
                let progress = Progress::Running {
                    lease_until,
                    attempt,
                };
                // Not before its run is over, or nobody would wait for it.
                (progress, lease_until, &[][..])
            }
            Begin::Done {
                answer,
                changes,
                kept_until,
            } => {
                let answer = answer.clone();
                (Progress::Done { answer }, *kept_until, &changes[..])
            }
        };
        // Not later than stores can keep.
        let expires_at = (now + self.retention).max(kept_until).min(MAX_EXPIRY);
        let record = Record {
            fingerprint: self.fingerprint,
            progress,
        };
        let from = there.map(|item| item.revision);
        let mut commit = self.ports.commit(
            self.partition,
            self.record.clone(),
            from,
            record.to_value()?,
            Some(expires_at),
        )?;
        if let Some(claim) = claim {
            commit.push(Change::put(
                claim.name.clone(),
                Expect::Absent,
                CLAIMED,
                Some(claim.expires_at),
            ))?;
        }
        for change in changes {
            commit.push(change.clone())?;
        }
        Ok(match self.ports.send(&commit, now).await? {
            Outcome::Applied => Ok(Held {
                name: self.record.clone(),
                revision: commit.id(),
                what: HeldWhat::Record {
                    fingerprint: self.fingerprint,
                    attempt,
                    expires_at,
                },
            }),
            Outcome::Conflict(in_the_way) => Err(in_the_way),
        })
    }

    /// Commits the claim, provided that the record is still what it was.
    async fn claim_beside(
        &self,
        claim: &Claim,
        there: Option<&Item>,
        now: Timestamp,
    ) -> Result<Result<(), Vec<InTheWay>>, LedgerError> {
        let expect = there.map_or(Expect::Absent, |item| Expect::At(item.revision));
        let mut commit = claim.commit(self.ports, self.partition)?;
        commit.push(Change::check(self.record.clone(), expect))?;
        Ok(match self.ports.send(&commit, now).await? {
            Outcome::Applied => Ok(()),
            Outcome::Conflict(in_the_way) => Err(in_the_way),
        })
    }
}

/// What became of the commit that ends a run.
#[derive(Debug)]
pub(crate) enum Finish {
    /// The answer stands, and so do the writes.
    Done,
    /// Nothing was applied: what the handler read has changed meanwhile. It may run again.
    StateConflict,
    /// Nothing was applied: another took the run over. The handler must not run again here.
    Lost,
}

/// Why a run could not be ended. Nothing was applied, unless the store's outcome stayed unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FinishError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Held {
    /// Whether an answer is recorded for later duplicates.
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(self.what, HeldWhat::Record { .. })
    }

    /// The revision of all that was written with it.
    pub(crate) const fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether an earlier attempt may have left steps behind.
    pub(crate) fn has_history(&self) -> bool {
        matches!(self.what, HeldWhat::Record { attempt: 2.., .. })
    }

    /// A check that this run still holds its record, for commits on the way.
    pub(crate) fn check(&self) -> Change {
        Change::check(self.name.clone(), Expect::At(self.revision))
    }

    /// Until when what belongs to this run is kept.
    pub(crate) fn expires_at(&self) -> Timestamp {
        match self.what {
            HeldWhat::Claim { expires_at } | HeldWhat::Record { expires_at, .. } => expires_at,
        }
    }

    /// Commits the answer together with the handler's changes of state, or its mere checks.
    pub(crate) async fn finish(
        &self,
        ports: &Ports,
        partition: &Partition,
        answer: Bytes,
        changes: Vec<Change>,
    ) -> Result<Finish, FinishError> {
        let writes = |change: &Change| !matches!(change.operation, Operation::Check);
        let value = match &self.what {
            HeldWhat::Claim { .. } if !changes.iter().any(writes) => {
                return Ok(Finish::Done);
            }
            HeldWhat::Claim { .. } => CLAIMED,
            HeldWhat::Record { fingerprint, .. } => Record {
                fingerprint: *fingerprint,
                progress: Progress::Done { answer },
            }
            .to_value()?,
        };
        let mut commit = self.replace(ports, partition, value)?;
        for change in changes {
            commit.push(change).map_err(StateError::from)?;
        }
        match ports.send(&commit, ports.now()).await? {
            Outcome::Applied => Ok(Finish::Done),
            Outcome::Conflict(in_the_way)
                if in_the_way.iter().any(|other| other.name == self.name) =>
            {
                Ok(Finish::Lost)
            }
            Outcome::Conflict(in_the_way) => {
                let met_bytes = commit.as_commit().changes().iter().any(|change| {
                    matches!(change.operation, Operation::Add { .. })
                        && in_the_way.iter().any(|other| {
                            other.name == change.name
                                && change.expect.holds(other.item.as_ref())
                                && !change.operation.fits(other.item.as_ref())
                        })
                });
                if met_bytes {
                    Err(StateError::not_a_number().into())
                } else {
                    Ok(Finish::StateConflict)
                }
            }
        }
    }

    /// Lets go, so that a retry need not wait for the lease. Where this fails the lease runs out by itself.
    pub(crate) async fn release(
        &self,
        ports: &Ports,
        partition: &Partition,
    ) -> Result<(), FinishError> {
        let HeldWhat::Record {
            fingerprint,
            attempt,
            ..
        } = &self.what
        else {
            return Ok(());
        };
        let progress = Progress::Running {
            lease_until: Timestamp::EPOCH,
            attempt: *attempt,
        };
        let record = Record {
            fingerprint: *fingerprint,
            progress,
        };
        let commit = self.replace(ports, partition, record.to_value()?)?;
        // In conflict: another has taken it over already, which is as good.
        ports.send(&commit, ports.now()).await?;
        Ok(())
    }

    fn replace(
        &self,
        ports: &Ports,
        partition: &Partition,
        value: Value,
    ) -> Result<AnchoredCommit, FinishError> {
        let commit = ports.commit(
            partition,
            self.name.clone(),
            Some(self.revision),
            value,
            Some(self.expires_at()),
        );
        Ok(commit.map_err(StateError::from)?)
    }
}
