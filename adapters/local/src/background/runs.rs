//! The runs that are at work, and what comes after each.

use std::{collections::HashMap, sync::Arc, time::Duration};

use pup_extension::task::{Job, Ran, RunTaskError};
use tokio::task::{Id, JoinError, JoinSet};

use super::{Begun, Shared, back_off};
use crate::runtime::now;

/// How much later than another run's lease a task is tried again, and how much later at the least after a run that
/// did nothing: two clocks may differ, and neither may turn into a busy loop.
const A_LITTLE: Duration = Duration::from_millis(250);

/// Runs in tokio tasks of their own. Dropped, it ends them where they stand.
pub(super) struct Runs<F> {
    run: F,
    shared: Arc<Shared>,
    at_work: JoinSet<Result<Ran, RunTaskError>>,
    of: HashMap<Id, Begun>,
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
        self.of.insert(id, begun);
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
        if let Some(begun) = self.of.remove(&id) {
            match ended {
                Ok(Ok(ran)) => self.ran(begun, ran),
                Ok(Err(error)) => self.failed(begun, &error),
                Err(error) => self.panicked(begun, &error),
            }
        }
        true
    }

    fn ran(&self, begun: Begun, ran: Ran) {
        let now = now();
        let again = match ran {
            Ran::Early(at) => Some(at.max(now + A_LITTLE)),
            Ran::Busy(at) => Some(at.max(now) + A_LITTLE),
            // What goes on later has been scheduled, and what core adds, it sees to.
            _ => None,
        };
        self.shared.agenda().end(begun.job, again);
    }

    fn failed(&self, begun: Begun, error: &RunTaskError) {
        if matches!(error, RunTaskError::Store(_)) {
            return self.try_again(begun, "the store failed");
        }
        // No other run by this program would fare better. The entry of what is due stays, for the next program.
        self.shared.agenda().end(begun.job, None);
    }

    fn panicked(&self, begun: Begun, error: &JoinError) {
        // Core counts what is begun and gets nowhere, so that it does not go on for ever. The error itself may quote
        // what people sent.
        let why = if error.is_panic() {
            "the run panicked"
        } else {
            "the run was ended"
        };
        self.try_again(begun, why);
    }

    /// Core's own line has the details.
    fn try_again(&self, begun: Begun, why: &'static str) {
        let failures = begun.failures.saturating_add(1);
        let pause = back_off(failures);
        tracing::warn!(
            task_id = begun.job.task_id(),
            why,
            again_in_secs = pause.as_secs(),
            "the task is run again"
        );
        self.shared
            .agenda()
            .fail(begun.job, now() + pause, failures);
    }
}
