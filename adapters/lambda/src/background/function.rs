//! The background function: runs a task for as long as an invocation lasts.

use std::time::Duration;

use lambda_runtime::Diagnostic;
use pup_extension::{
    runtime::Runtime as _,
    service::Service,
    task::{Background as _, Job, Ran},
    time::Timestamp,
};
use tokio::time::Instant;

use super::{Hand, handing::SOON};
use crate::{LambdaRuntime, log::chain, store::within};

/// What is left of an invocation when a run is told to end, for its last commit and for what comes next.
const RESERVE: Duration = Duration::from_secs(10);
/// How long an invocation is taken to last whose deadline is none.
const UNTOLD: Duration = Duration::from_secs(60);
/// A run that would have less time than this is left to another invocation.
const WORTHWHILE: Duration = Duration::from_secs(30);

/// Runs jobs.
#[derive(Debug)]
pub(crate) struct BackgroundFunction {
    pub(crate) service: Service,
    pub(crate) runtime: LambdaRuntime,
    /// To itself, for where an invocation's time ends before the task does.
    pub(crate) hand: Hand,
}

/// Why a run failed. Lambda tries it again, and keeps it as a dead letter when that fails, too.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("the event is no job of a task")]
    NoJob,
    #[error("the task can't be run now")]
    Run(#[from] pup_extension::task::RunTaskError),
    /// The other may die: Lambda comes back to see.
    #[error("another run is at work on the task")]
    Busy,
    #[error("what is left of the task could not be handed on")]
    Hand(#[from] pup_extension::task::BackgroundError),
}

impl BackgroundFunction {
    /// Runs a task until it ends or waits, pauses of up to a minute included, or until the invocation's time is nearly
    /// over; then another invocation goes on.
    pub(crate) async fn handle(&self, event: &str, deadline: Timestamp) -> Result<(), RunError> {
        let job: Job = serde_json::from_str(event).map_err(|_| RunError::NoJob)?;
        let began = self.runtime.now();
        let left = if deadline > began {
            deadline.since(began)
        } else {
            // An emulator may give one that is long over.
            UNTOLD
        };
        // Of a short invocation, most is for the run.
        let until = began + left.saturating_sub(RESERVE.min(left / 4));
        let worthwhile = WORTHWHILE.min(left / 4);
        let can_wait =
            |at: Timestamp| at.since(self.runtime.now()) <= SOON && until.since(at) >= worthwhile;
        let end = Instant::now() + left;
        let mut waited_for_another = false;
        loop {
            let run = self.service.run_task(&job, Some(until));
            let at = match within(end, run).await? {
                Ran::Later(at) | Ran::Early(at) => at,
                // Of one that died, or that is about to end: its lease says when to look again.
                Ran::Busy(at) if !waited_for_another => {
                    waited_for_another = true;
                    if !can_wait(at) {
                        return Err(RunError::Busy);
                    }
                    at
                }
                Ran::Busy(_) => return Err(RunError::Busy),
                // It has ended, or waits for an answer.
                _ => return Ok(()),
            };
            if !can_wait(at) {
                self.hand.schedule(job, at).await?;
                return Ok(());
            }
            self.runtime.sleep(at.since(self.runtime.now())).await;
        }
    }
}

impl From<RunError> for Diagnostic {
    fn from(error: RunError) -> Self {
        let error_type = match &error {
            RunError::NoJob => "NoJob",
            RunError::Run(_) => "RunFailed",
            RunError::Busy => "Busy",
            RunError::Hand(_) => "NotHandedOn",
        };
        Self {
            error_type: error_type.to_owned(),
            error_message: chain(&error),
        }
    }
}
