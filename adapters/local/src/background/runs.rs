//! The runs that are at work, and what comes after each.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use pup_extension::task::{Job, Ran, RunTaskError};
use tokio::task::{Id, JoinError, JoinSet};

use super::{Begun, Shared, back_off};
use crate::{log::chain, runtime::now};

/// How much later than another run's lease a task is tried again, and how much later at the least after a run that
/// did nothing: two clocks may differ, and neither may turn into a busy loop.
const A_LITTLE: Duration = Duration::from_millis(250);

/// Runs in tokio tasks of their own. Dropped, it ends them where they stand.
pub(super) struct Runs<F> {
    run: F,
    shared: Arc<Shared>,
    at_work: JoinSet<Result<Ran, RunTaskError>>,
    of: HashMap<Id, Run>,
}

struct Run {
    begun: Begun,
    since: Instant,
}

impl<F> Runs<F> {
    pub(super) fn new(run: F, shared: Arc<Shared>) -> Self {
        Self {
            run,
            shared,
            at_work: JoinSet::new(),
            of: HashMap::new(),
        }
    }

    pub(super) fn begin<R>(&mut self, begun: Begun)
    where
        F: Fn(Job) -> R,
        R: Future<Output = Result<Ran, RunTaskError>> + Send + 'static,
    {
        let id = self.at_work.spawn((self.run)(begun.job.clone())).id();
        let since = Instant::now();
        self.of.insert(id, Run { begun, since });
    }

    /// Waits until a run ends, and sees to what comes after it; false when none is at work. Nothing is lost when this
    /// is dropped while it waits.
    pub(super) async fn end_next(&mut self) -> bool {
        let Some(ended) = self.at_work.join_next_with_id().await else {
            return false;
        };
        let (id, ended) = match ended {
            Ok((id, result)) => (id, Ok(result)),
            Err(error) => (error.id(), Err(error)),
        };
        if let Some(run) = self.of.remove(&id) {
            match ended {
                Ok(Ok(ran)) => self.ran(run, ran),
                Ok(Err(error)) => self.failed(run, &error),
                Err(error) => self.panicked(run, &error),
            }
        }
        true
    }

    fn ran(&self, run: Run, ran: Ran) {
        let now = now();
        let (outcome, again) = match ran {
            Ran::Ended => ("ended", None),
            Ran::Waiting => ("waiting", None),
            // It has been scheduled.
            Ran::Later(_) => ("later", None),
            Ran::Early(at) => ("early", Some(at.max(now + A_LITTLE))),
            Ran::Busy(at) => ("busy", Some(at.max(now) + A_LITTLE)),
            // What core adds, it sees to.
            _ => ("other", None),
        };
        let duration_ms = run.millis();
        let job = run.begun.job;
        let task_id = job.task_id();
        if again.is_none() {
            tracing::info!(task_id, outcome, duration_ms, "task run");
        } else {
            tracing::debug!(task_id, outcome, duration_ms, "task run");
        }
        self.shared.agenda().end(job, again);
    }

    fn failed(&self, run: Run, error: &RunTaskError) {
        if matches!(error, RunTaskError::Store(_)) {
            return self.try_again(run, "failed", &chain(error));
        }
        // No other run by this program would fare better. The entry of what is due stays, for the next program.
        tracing::error!(
            task_id = run.begun.job.task_id(),
            outcome = "failed",
            duration_ms = run.millis(),
            error = chain(error),
            "task run"
        );
        self.shared.agenda().end(run.begun.job, None);
    }

    fn panicked(&self, run: Run, error: &JoinError) {
        // Core counts what is begun and gets nowhere, so that it does not go on for ever. The error itself may quote
        // what people sent.
        let error = if error.is_panic() {
            "the run panicked"
        } else {
            "the run was ended"
        };
        self.try_again(run, "panicked", error);
    }

    fn try_again(&self, run: Run, outcome: &'static str, error: &str) {
        let failures = run.begun.failures.saturating_add(1);
        let pause = back_off(failures);
        tracing::error!(
            task_id = run.begun.job.task_id(),
            outcome,
            duration_ms = run.millis(),
            error,
            again_in_secs = pause.as_secs(),
            "task run"
        );
        self.shared
            .agenda()
            .fail(run.begun.job, now() + pause, failures);
    }
}

impl Run {
    fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
