//! A background whose jobs the test runs.

use std::{
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    marker::MaybeSend,
    task::{Background, BackgroundError, Job},
    time::Timestamp,
};

/// A background that keeps what it was handed until the test [runs](super::Pup::run_tasks) or
/// [forgets](Self::forget) it. Clones share what they keep.
#[derive(Clone, Debug, Default)]
pub struct SimBackground {
    jobs: Arc<Mutex<Vec<(Timestamp, Job)>>>,
    forbidden: Arc<Mutex<Option<String>>>,
}

impl SimBackground {
    /// One that was handed nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What it was handed and has not run, in the order of its time.
    #[must_use]
    pub fn jobs(&self) -> Vec<(Timestamp, Job)> {
        let mut jobs = self.lock().clone();
        jobs.sort();
        jobs
    }

    /// Forgets everything, as a process that dies does.
    pub fn forget(&self) {
        self.lock().clear();
    }

    /// Takes the job whose time comes first, each of its task's at once.
    #[must_use]
    pub fn take_next(&self) -> Option<(Timestamp, Job)> {
        let next = self.jobs().into_iter().next()?;
        self.lock()
            .retain(|(at, job)| *job != next.1 || *at > next.0);
        Some(next)
    }

    /// Has it refuse every job from now on, as [a deployment that lacks a permission](BackgroundError::forbidden) does.
    pub fn forbid(&self, message: impl Into<String>) {
        *self
            .forbidden
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(message.into());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Timestamp, Job)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background for SimBackground {
    fn schedule(
        &self,
        job: Job,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), BackgroundError>> + MaybeSend {
        let forbidden = self
            .forbidden
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        ready(match forbidden {
            Some(message) => Err(BackgroundError::forbidden(message, "forbidden")),
            None => {
                self.lock().push((at, job));
                Ok(())
            }
        })
    }
}
