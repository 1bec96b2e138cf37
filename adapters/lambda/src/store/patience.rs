//! How long an operation is tried.

use std::{future::Future, time::Duration};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use tokio::time::Instant;

/// How long one operation may take where nothing sets a nearer end.
const MOST: Duration = Duration::from_secs(4);
/// How long one attempt may take: several fit into a request.
pub(super) const ATTEMPT: Duration = Duration::from_millis(1_500);

tokio::task_local! {
    static END: Instant;
}

/// Runs a future whose store operations are tried no longer than to `end`. They run in the same task.
pub(crate) async fn within<F: Future>(end: Instant, future: F) -> F::Output {
    END.scope(end, future).await
}

/// How long operations are tried, in all and each time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    most: Duration,
    attempt: Duration,
}

impl Limits {
    pub(super) const DEFAULT: Self = Self {
        most: MOST,
        attempt: ATTEMPT,
    };

    /// As long as this, in one attempt if that takes so long.
    pub(super) const fn up_to(most: Duration) -> Self {
        Self {
            most,
            attempt: most,
        }
    }
}

/// What is left for one operation: when it ends, and the pauses between its attempts.
pub(super) struct Patience {
    end: Instant,
    attempt: Duration,
    pauses: ExponentialBackoff,
}

impl Patience {
    pub(super) fn new(limits: Limits) -> Self {
        let most = Instant::now() + limits.most;
        let end = END.try_with(|end| most.min(*end)).unwrap_or(most);
        let pauses = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(10))
            .with_max_delay(Duration::from_millis(500))
            .with_factor(2.0)
            .without_max_times()
            .with_jitter()
            .build();
        Self {
            end,
            attempt: limits.attempt,
            pauses,
        }
    }

    /// Runs one attempt; `None` when it took too long.
    pub(super) async fn attempt<F: Future>(&self, attempt: F) -> Option<F::Output> {
        let end = self.end.min(Instant::now() + self.attempt);
        tokio::time::timeout_at(end, attempt).await.ok()
    }

    /// Rests before another attempt; whether there is time for one.
    pub(super) async fn pause(&mut self) -> bool {
        let pause = self.pauses.next().unwrap_or(MOST);
        if Instant::now() + pause >= self.end {
            return false;
        }
        tokio::time::sleep(pause).await;
        true
    }
}
