//! Runs a handler that holds the right to run, until its effects and its answer are committed together.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{Either, select},
};

use crate::{
    budget::Deadline,
    causes::with_causes,
    context::{Caller, Run, StepMemory, Steps},
    extension::{ToolError, ToolErrorKind},
    ledger::{Finish, FinishError, Held, OVERHEAD},
    marker::BoxFuture,
    ports::Ports,
    state::{Access, Session},
    store::{MAX_VALUE_BYTES, Partition},
};

/// One request's work: everything about it that does not change from run to run.
pub(super) struct Job<'a> {
    pub(super) ports: &'a Ports,
    pub(super) partition: &'a Partition,
    pub(super) deadline: Deadline,
    pub(super) access: Access,
    pub(super) caller: Caller,
    /// What names the record in the ledger, where there is one: steps are kept beside it.
    pub(super) record: [String; 2],
    /// Whether what left no answer may run again: here, after a conflict on state, or by a retry.
    pub(super) runs_again: bool,
}

/// What a handler came to.
pub(super) struct Produced {
    /// The answer, as JSON.
    pub(super) answer: Bytes,
    /// Whether what it wrote is to stand: not, where it rejected.
    pub(super) keep_writes: bool,
}

/// How the work ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The answer is committed, or needs no commit.
    Answer(Bytes),
    /// The handler failed; nothing was applied.
    Failed,
    /// The handler outlived its budget, or met conflicts until then; nothing was applied.
    OutOfTime,
    /// The answer is over the limit; nothing was applied.
    TooLarge,
    /// Another request has taken the work over.
    Lost,
    /// The store failed. What was applied is not known to be nothing.
    Unavailable,
    /// Its writes met a conflict and were dropped, and it may not run again. What it did outside is not known.
    Unfinished,
}

/// How often state may be in conflict before the work is given up. Each conflict means that somebody else got
/// on; the budget usually ends it first.
const MAX_RUNS: u32 = 200;

/// The most bytes of an answer that no ledger keeps. What is added round it fits in the rest of 1 MiB.
const MAX_UNRECORDED_BYTES: usize = super::answer::MAX_ANSWER_BYTES - 8 * 1024;

impl Job<'_> {
    /// Runs the handler until it is done, again whenever the state that it read has changed meanwhile.
    pub(super) async fn drive(
        &self,
        held: Held,
        mut start: impl FnMut(Arc<Run>) -> BoxFuture<'static, Result<Produced, ToolError>>,
    ) -> Ended {
        let recorded = [self.record[0].clone(), self.record[1].clone()];
        let memory = Arc::new(StepMemory::new(
            self.partition.clone(),
            recorded,
            held.clone(),
        ));
        for run_number in 1..=MAX_RUNS {
            let run = Arc::new(Run {
                caller: self.caller.clone(),
                ports: self.ports.clone(),
                deadline: self.deadline,
                session: Arc::new(Session::new(
                    self.ports.clone(),
                    self.partition.clone(),
                    self.access,
                )),
                steps: Steps::new(Arc::clone(&memory)),
            });
            let outcome = self.run_once(&run, &mut start).await;
            // Before the record moves: a step's result is kept only while this run holds it.
            memory.settle().await;
            let ended = match outcome {
                Ok(produced) if produced.answer.len() > limit(&held) => Ended::TooLarge,
                Ok(produced) => match self.finish(&held, &run.session, produced).await {
                    Some(ended) => ended,
                    None if self.runs_again => {
                        self.back_off(run_number).await;
                        continue;
                    }
                    None => Ended::Unfinished,
                },
                Err(_) if run.steps.found_lost() => Ended::Lost,
                Err(ended) => ended,
            };
            match ended {
                Ended::Answer(_) | Ended::Lost => {}
                _ => self.release(&held).await,
            }
            return ended;
        }
        self.release(&held).await;
        Ended::OutOfTime
    }

    /// One run, within what is left of the budget. A panic is a failure like others.
    async fn run_once(
        &self,
        run: &Arc<Run>,
        start: &mut impl FnMut(Arc<Run>) -> BoxFuture<'static, Result<Produced, ToolError>>,
    ) -> Result<Produced, Ended> {
        let remaining = run.remaining();
        if remaining.is_zero() {
            return Err(Ended::OutOfTime);
        }
        let handler = AssertUnwindSafe(start(Arc::clone(run))).catch_unwind();
        let result = match select(handler, self.ports.runtime.dyn_sleep(remaining)).await {
            Either::Left((result, _)) => result,
            Either::Right(((), handler)) => {
                drop(handler);
                tracing::warn!(request_id = %self.caller.request_id, "the handler outlived its budget and was dropped");
                return Err(Ended::OutOfTime);
            }
        };
        match result {
            Ok(Ok(produced)) => Ok(produced),
            Ok(Err(error)) => {
                // A rejection was made an answer before it came here.
                if let ToolErrorKind::Failed(cause) = &error.0 {
                    tracing::error!(request_id = %self.caller.request_id, error = %with_causes(&**cause), "the handler failed");
                }
                Err(Ended::Failed)
            }
            Err(_) => {
                // The panic's own text went where panics go; it may hold anything.
                tracing::error!(request_id = %self.caller.request_id, "the handler panicked");
                Err(Ended::Failed)
            }
        }
    }

    /// Commits; `None` when the handler is to run again.
    async fn finish(&self, held: &Held, session: &Session, produced: Produced) -> Option<Ended> {
        let Produced {
            answer,
            keep_writes,
        } = produced;
        session.close();
        let changes = if keep_writes {
            session.changes()
        } else if self.runs_again {
            // What was rejected for what was read is recorded only where all of that was so at one time.
            session.checks()
        } else {
            Vec::new()
        };
        Some(
            match held
                .finish(self.ports, self.partition, answer.clone(), changes)
                .await
            {
                Ok(Finish::Done) => Ended::Answer(answer),
                Ok(Finish::StateConflict) => return None,
                Ok(Finish::Lost) => Ended::Lost,
                Err(error) => {
                    tracing::error!(request_id = %self.caller.request_id, error = %with_causes(&error), "the result was not committed");
                    match error {
                        FinishError::Store(_) => Ended::Unavailable,
                        FinishError::State(_) | FinishError::Corrupt(_) => Ended::Failed,
                    }
                }
            },
        )
    }

    /// Lets go of the record, unless nobody may run it again. Where that fails the lease runs out.
    async fn release(&self, held: &Held) {
        if self.runs_again
            && let Err(error) = held.release(self.ports, self.partition).await
        {
            tracing::warn!(request_id = %self.caller.request_id, error = %with_causes(&error), "the record was not released; its lease will run out");
        }
    }

    /// A short random pause, longer with each conflict, so that those who collide fall out of step.
    async fn back_off(&self, run_number: u32) {
        let most = 1_u64 << run_number.min(5);
        let pause = u64::try_from(self.ports.runtime.dyn_random() % u128::from(most)).unwrap_or(0);
        if pause > 0 {
            self.ports
                .runtime
                .dyn_sleep(Duration::from_millis(pause))
                .await;
        }
    }
}

fn limit(held: &Held) -> usize {
    if held.is_recorded() {
        MAX_VALUE_BYTES - OVERHEAD
    } else {
        MAX_UNRECORDED_BYTES
    }
}
