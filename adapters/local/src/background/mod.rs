//! Runs tasks when no request is open: in this process, on tokio.

mod agenda;
mod runs;
mod scan;

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pup_extension::{
    service::Service,
    task::{Background, BackgroundError, Job, Ran, RunTaskError},
    time::Timestamp,
};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use self::{
    agenda::{Agenda, Begun},
    runs::Runs,
};
use crate::{SqliteStore, runtime::now, server::SHUTDOWN_TIMEOUT};

/// How many tasks run at once; the others wait for their turn.
const RUNS: usize = 64;
/// The clock is looked at again after this long, since it can be set while we sleep, and the machine can sleep, too.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Runs the tasks of an extension in this process, at their times.
///
/// It comes with a [`Runner`]: the service is made with the one, and the other then runs it. A clone is another
/// handle on the same.
///
/// It keeps what it was told in memory: each task once, some hundred bytes for each, however often it is scheduled.
/// A task that waits is run at the earliest time that it was scheduled for; one that runs is run again afterwards. What
/// a process that ended had been told is found again by [`Runner::scan`].
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use pup_extension::{
///     prelude::*,
///     service::{Config, Service},
///     signing::{Keyring, Secret},
/// };
/// use pup_extension_local::{LocalBackground, LocalRuntime, Server, SqliteStore};
/// use tokio_util::sync::CancellationToken;
///
/// # let extension = Extension::builder("snack_club", "Snack club")
/// #     .author("Example author")
/// #     .description("Snacks.")
/// #     .summary("Snacks.")
/// #     .instructions("For snacks.")
/// #     .tool(Tool::new("bite", async |_: ToolContext| Ok::<_, ToolError>(())))
/// #     .build()?;
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let store = SqliteStore::open(folder.path().join("extension.sqlite"))?;
/// let server = Server::bind(([127, 0, 0, 1], 0).into()).await?;
/// let keyring = Keyring::new(Secret::from_bytes(&[7; 32])?);
/// let config = Config::local(keyring, format!("http://{}", server.address()))?;
///
/// let (background, runner) = LocalBackground::new();
/// let service =
///     Service::with_background(extension, config, store.clone(), LocalRuntime::new(), background)?;
///
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(
///     runner
///         .scan(store)
///         .run(service.clone(), stop.clone().cancelled_owned()),
/// );
/// # stop.cancel();
/// server.serve(service, stop.cancelled_owned()).await?;
/// running.await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocalBackground {
    shared: Arc<Shared>,
}

/// Runs what its [`LocalBackground`] is told. Until it does, that is kept; once it is dropped or told to stop, nothing
/// can be scheduled any more.
#[derive(Debug)]
#[must_use = "no task is run until the runner runs"]
pub struct Runner {
    shared: Arc<Shared>,
    store: Option<SqliteStore>,
    patience: Duration,
}

#[derive(Debug)]
struct Shared {
    agenda: Mutex<Agenda>,
    /// The agenda has something new.
    news: Notify,
}

impl LocalBackground {
    /// A background, and what runs its tasks.
    pub fn new() -> (Self, Runner) {
        let shared = Arc::new(Shared {
            agenda: Mutex::new(Agenda::new(RUNS)),
            news: Notify::new(),
        });
        let runner = Runner {
            shared: Arc::clone(&shared),
            store: None,
            patience: SHUTDOWN_TIMEOUT,
        };
        (Self { shared }, runner)
    }
}

impl Background for LocalBackground {
    /// Takes the job.
    ///
    /// # Errors
    ///
    /// When the runner was dropped or told to stop. The next process finds the task by what is due.
    async fn schedule(&self, job: Job, at: Timestamp) -> Result<(), BackgroundError> {
        if self.shared.add([(job, at)]) {
            Ok(())
        } else {
            Err(BackgroundError::new("the runner has stopped"))
        }
    }
}

impl Runner {
    /// Has it look for what is due in this store, which should be the service's: when it starts, and every minute, since
    /// another process on the same file may die with what it was told.
    pub fn scan(mut self, store: SqliteStore) -> Self {
        self.store = Some(store);
        self
    }

    /// Runs tasks until `shutdown` completes, 64 at once at the most, each in a tokio task of its own. Then it begins
    /// no more, and lets the ones that are at work come to an end, for ten seconds at the most.
    ///
    /// A run that fails since the store does, or that panics, is tried again after a second, and after up to a minute
    /// where it keeps failing. Each run is a line of the log.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn run(self, service: Service, shutdown: impl Future<Output = ()> + Send) {
        let run = move |job: Job| {
            let service = service.clone();
            async move { service.run_task(&job, None).await }
        };
        self.drive(run, shutdown).await;
    }

    async fn drive<R>(mut self, run: impl Fn(Job) -> R, shutdown: impl Future<Output = ()>)
    where
        R: Future<Output = Result<Ran, RunTaskError>> + Send + 'static,
    {
        let _scan = self.store.take().map(|store| {
            let scan = scan::scan(store, Arc::clone(&self.shared));
            AbortOnDropHandle::new(tokio::spawn(scan))
        });
        let mut shutdown = pin!(shutdown);
        let mut runs = Runs::new(run, Arc::clone(&self.shared));
        loop {
            tokio::select! {
                // In this order, so that a shutdown comes before another run.
                biased;
                () = &mut shutdown => break,
                true = runs.end_next() => {}
                begun = self.shared.next() => runs.begin(begun),
            }
        }
        self.shared.agenda().close();
        let all_end = async { while runs.end_next().await {} };
        if tokio::time::timeout(self.patience, all_end).await.is_err() {
            // Dropped where they stand. What they had committed stands; the rest is done again by the next process,
            // which finds them by what is due, once their leases have run out.
            tracing::warn!("tasks were still at work at the end of the shutdown");
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.shared.agenda().close();
    }
}

impl Shared {
    /// Takes jobs in. Returns whether it still takes any.
    fn add(&self, jobs: impl IntoIterator<Item = (Job, Timestamp)>) -> bool {
        let mut agenda = self.agenda();
        let open = jobs.into_iter().all(|(job, at)| agenda.add(job, at));
        drop(agenda);
        self.news.notify_one();
        open
    }

    /// Waits for the next run that is to begin. Nothing is lost when this is dropped while it waits.
    async fn next(&self) -> Begun {
        loop {
            let pause = {
                let mut agenda = self.agenda();
                let now = now();
                if let Some(begun) = agenda.begin(now) {
                    return begun;
                }
                let pause = agenda.next().map(|at| at.since(now));
                pause.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
            };
            // Either way there may be something to run.
            tokio::time::timeout(pause, self.news.notified()).await.ok();
        }
    }

    fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long to wait after so many failures in a row: a second, twice as long each time, a minute at the most.
fn back_off(failures: u32) -> Duration {
    const MOST: u64 = 60;
    let secs = 1_u64.checked_shl(failures.saturating_sub(1));
    Duration::from_secs(secs.unwrap_or(MOST).min(MOST))
}

#[cfg(test)]
mod tests;
