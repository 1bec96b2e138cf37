//! Who runs a task when no request is open.

use std::{error::Error, fmt, future::Future};

use serde::{Deserialize, Serialize};

use crate::{
    marker::{BoxFuture, MaybeSend, MaybeSync},
    store::{Partition, StoreError},
    time::Timestamp,
};

/// The platform's side of tasks: "run this task at this time". One implementation per runtime.
///
/// It may forget what it was told, and it may run a task twice or early: what is due stands in the store, beside the
/// task, so a poll finds what was forgotten and hands it over again; and a run that is not wanted finds that out and
/// ends ([`Ran`]). So an implementation needs no store of its own. It should run what it was told soon, since somebody
/// may be waiting, and look at start for [what is due](crate::task::due()), where the platform lets it.
pub trait Background: MaybeSend + MaybeSync + 'static {
    /// Sees to it that [`Service::run_task`](crate::service::Service::run_task) is called with this job, not
    /// before `at`. Returns as soon as the platform has taken the job; it does not wait for the run.
    fn schedule(
        &self,
        job: Job,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), BackgroundError>> + MaybeSend;
}

/// A task that is to be run. It holds no data of anybody's, and crosses to another process as JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Job {
    pub(crate) partition: Partition,
    pub(crate) task_id: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Wire {
    partition: String,
    task: String,
}

impl Job {
    /// The partition of the task's installation.
    #[must_use]
    pub const fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The task.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.task_id
    }
}

impl TryFrom<Wire> for Job {
    type Error = crate::store::KeyError;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        Ok(Self {
            partition: Partition::from_encoded(wire.partition)?,
            task_id: wire.task,
        })
    }
}

impl From<Job> for Wire {
    fn from(job: Job) -> Self {
        Self {
            partition: job.partition.as_str().to_owned(),
            task: job.task_id,
        }
    }
}

/// What came of a run.
///
/// Whatever it says of a later time has been [scheduled](Background::schedule) already, except for [`Ran::Busy`]
/// and [`Ran::Early`]: there another run sees to the task, if it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ran {
    /// The task has ended, now or before; or there is none.
    Ended,
    /// It waits for answers, and for nothing else.
    Waiting,
    /// It goes on at this time.
    Later(Timestamp),
    /// Nothing was done: it is not to go on before this time.
    Early(Timestamp),
    /// Nothing was done: another run is at work, and holds the task until then, or longer. A queue that hands the job
    /// to somebody else later should do so, since the other may die.
    Busy(Timestamp),
}

/// Why a task could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunTaskError {
    /// The store failed. The task goes on when it is run again.
    #[error("the task could not be run: the store failed")]
    Store(#[from] StoreError),
    /// What the store holds of the task can't be read, perhaps since a later version wrote it.
    #[error("the task's record can't be read by this version")]
    Record,
    /// The extension no longer has the tool, or it is no task tool any more. A deployment that brings it back
    /// can go on with the task.
    #[error("the extension has no task tool `{0}`")]
    Tool(String),
}

/// Why a job could not be handed over.
pub struct BackgroundError {
    /// What the task's asker is told, where it is ended by this.
    forbidden: Option<String>,
    cause: Box<dyn Error + Send + Sync>,
}

impl BackgroundError {
    /// With what the platform said. Nothing is lost by it: the next poll of the task hands it over again.
    #[must_use]
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            forbidden: None,
            cause: cause.into(),
        }
    }

    /// The deployment forbids it, and would again: the task fails with `message`, which names what is missing (a
    /// permission, a function) and is shown to whoever polls the task.
    #[must_use]
    pub fn forbidden(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self {
            forbidden: Some(message.into()),
            cause: cause.into(),
        }
    }

    /// The message of an error that ends the task.
    pub(crate) fn ends_the_task(&self) -> Option<&str> {
        self.forbidden.as_deref()
    }
}

impl fmt::Debug for BackgroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundError")
            .field("forbidden", &self.forbidden)
            .field("cause", &self.cause)
            .finish()
    }
}

impl fmt::Display for BackgroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task could not be handed over to the background")
    }
}

impl Error for BackgroundError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// The dyn-compatible twin.
pub(crate) trait DynBackground: MaybeSend + MaybeSync {
    fn dyn_schedule(&self, job: Job, at: Timestamp) -> BoxFuture<'_, Result<(), BackgroundError>>;
}

impl<B: Background> DynBackground for B {
    fn dyn_schedule(&self, job: Job, at: Timestamp) -> BoxFuture<'_, Result<(), BackgroundError>> {
        Box::pin(self.schedule(job, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_crosses_to_another_process_as_json() {
        let job = Job {
            partition: Partition::installation("a/b"),
            task_id: String::from("t1"),
        };
        let json = serde_json::to_string(&job).unwrap();
        assert_eq!(json, r#"{"partition":"i/a%2Fb","task":"t1"}"#);
        assert_eq!(serde_json::from_str::<Job>(&json).unwrap(), job);
        assert!(serde_json::from_str::<Job>(r#"{"partition":"","task":"t1"}"#).is_err());
    }
}
