//! When a task is asked about.

use std::time::Duration;

use pup_extension_cli::Task;
use tokio::time::{Instant, sleep_until};

use crate::failure::{Failure, Kind};

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);
const USUAL: Duration = Duration::from_secs(1);

/// How long to wait between two questions, and until when to ask at all.
pub(crate) struct Pace {
    /// `None` until the task was seen.
    interval: Option<Duration>,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self {
            interval: None,
            timeout,
            // A time that no clock reaches is none.
            deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
        }
    }

    /// Keeps to what the task asks for, within bounds.
    pub(crate) fn keep_to(&mut self, task: &Task) {
        self.interval = Some(interval(task.poll_interval_ms));
    }

    /// Whether the task was seen.
    pub(crate) fn is_kept(&self) -> bool {
        self.interval.is_some()
    }

    /// Waits for the next question's time: twice as long for each one in a row that brought nothing.
    pub(crate) async fn wait(&self, failures: u32) -> Result<(), Failure> {
        let interval = self.interval.unwrap_or(USUAL);
        let longer = interval.saturating_mul(2_u32.saturating_pow(failures));
        self.bounded(tokio::time::sleep(longer.min(LONGEST))).await
    }

    /// What comes of something, unless the time is over before.
    pub(crate) async fn bounded<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let Some(deadline) = self.deadline else {
            return Ok(future.await);
        };
        tokio::select! {
            value = future => Ok(value),
            () = sleep_until(deadline) => Err(self.over()),
        }
    }

    /// Does something that the time stands still for.
    pub(crate) fn paused<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let value = work();
        self.deadline = self
            .deadline
            .and_then(|deadline| deadline.checked_add(begun.elapsed()));
        value
    }

    fn over(&self) -> Failure {
        let seconds = self.timeout.unwrap_or_default().as_secs_f64();
        let message = format!("the task has not ended within {seconds} s; it goes on");
        Failure::new(Kind::Timeout, message)
    }
}

/// The interval that a task asks for, within bounds.
fn interval(poll_interval_ms: Option<u64>) -> Duration {
    poll_interval_ms
        .map_or(USUAL, Duration::from_millis)
        .clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_tasks_within_bounds() {
        for (asked, millis) in [
            (None, 1_000),
            (Some(0), 100),
            (Some(99), 100),
            (Some(250), 250),
            (Some(30_001), 30_000),
            (Some(u64::MAX), 30_000),
        ] {
            assert_eq!(interval(asked), Duration::from_millis(millis), "{asked:?}");
        }
    }
}
