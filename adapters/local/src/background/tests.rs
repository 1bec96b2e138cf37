//! The runner with runs that the tests make up.

use std::{
    future::pending,
    sync::atomic::{AtomicU32, Ordering},
};

use pup_extension::{
    store::{
        Change, Commit, Expect, Key, Name, Outcome, Partition, Revision, Store as _, StoreError,
        Value,
    },
    task::due,
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::JoinHandle,
};

use super::*;

const PAST: Timestamp = Timestamp::from_secs(1);
/// Longer than any test waits.
const HOUR: Duration = Duration::from_secs(3_600);

pub(super) fn job(task: &str) -> Job {
    let name = Name::of_plain(["due", "0000000000000000", task]).unwrap();
    due(&Key::new(Partition::installation("i"), name))
        .unwrap()
        .0
}

/// A runner at work, whose runs say that they have begun and then wait to be let go on.
struct Running {
    background: LocalBackground,
    begun: mpsc::UnboundedReceiver<String>,
    gate: Arc<Semaphore>,
    stop: Option<oneshot::Sender<()>>,
    driving: JoinHandle<()>,
}

impl Running {
    /// The runs come to what `result` says of the task and the number of the run, the first of all being 1.
    fn start(
        (background, runner): (LocalBackground, Runner),
        result: impl Fn(&str, u32) -> Result<Ran, RunTaskError> + Send + Sync + 'static,
    ) -> Self {
        let (say, begun) = mpsc::unbounded_channel();
        let gate = Arc::new(Semaphore::new(0));
        let (result, runs) = (Arc::new(result), Arc::new(AtomicU32::new(0)));
        let run = {
            let gate = Arc::clone(&gate);
            move |job: Job| {
                let (say, gate) = (say.clone(), Arc::clone(&gate));
                let (result, runs) = (Arc::clone(&result), Arc::clone(&runs));
                async move {
                    let run = runs.fetch_add(1, Ordering::Relaxed) + 1;
                    say.send(job.task_id().to_owned()).unwrap();
                    gate.acquire().await.unwrap().forget();
                    result(job.task_id(), run)
                }
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let driving = tokio::spawn(runner.drive(run, async {
            stopped.await.ok();
        }));
        Self {
            background,
            begun,
            gate,
            stop: Some(stop),
            driving,
        }
    }

    async fn schedule(&self, task: &str, at: Timestamp) {
        self.background.schedule(job(task), at).await.unwrap();
    }

    /// The task of the next run that begins.
    async fn next(&mut self) -> String {
        within(self.begun.recv()).await.unwrap()
    }

    /// Lets as many runs end.
    fn let_go(&self, runs: usize) {
        self.gate.add_permits(runs);
    }

    fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Until the runner has seen that it is to stop.
    async fn closed(&self) {
        until(async || {
            self.background
                .schedule(job("late"), now() + HOUR)
                .await
                .is_err()
        })
        .await;
    }

    /// Until nothing runs, and what waits is an hour away.
    async fn idle(&self) {
        until(async || {
            let agenda = self.background.shared.agenda();
            let soon = now() + HOUR / 2;
            agenda.is_idle() && agenda.next().is_none_or(|at| at > soon)
        })
        .await;
    }

    /// Ends, with everything let go, and gives the runs that had begun and were not looked at.
    async fn end(mut self) -> Vec<String> {
        self.let_go(1_000);
        self.stop();
        within(self.driving).await.unwrap();
        let mut others = Vec::new();
        while let Ok(task) = self.begun.try_recv() {
            others.push(task);
        }
        others
    }
}

/// Bounded by less than it takes until the clock is looked at again, so that nothing passes by that alone.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LOOK_AGAIN * 2 / 3, future)
        .await
        .expect("it takes no longer")
}

async fn until(holds: impl AsyncFn() -> bool) {
    within(async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

fn store_error() -> RunTaskError {
    StoreError::not_applied("the disk is on fire").into()
}

#[tokio::test]
async fn what_is_past_runs_at_once_and_what_is_to_come_does_not() {
    let mut running = Running::start(LocalBackground::new(), |_, _| Ok(Ran::Ended));
    running.schedule("later", now() + HOUR).await;
    running.schedule("now", PAST).await;
    assert_eq!(running.next().await, "now");
    running.let_go(1);
    running.idle().await;
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn what_comes_due_while_it_waits_is_run() {
    let mut running = Running::start(LocalBackground::new(), |_, _| Ok(Ran::Waiting));
    running.schedule("soon", now() + HOUR).await;
    running
        .schedule("soon", now() + Duration::from_millis(20))
        .await;
    assert_eq!(running.next().await, "soon");
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn jobs_of_one_task_become_one_run() {
    let (background, runner) = LocalBackground::new();
    for at in [now() + HOUR, PAST, now(), PAST] {
        background.schedule(job("a"), at).await.unwrap();
    }
    let mut running = Running::start((background, runner), |_, _| Ok(Ran::Ended));
    assert_eq!(running.next().await, "a");
    running.let_go(1);
    running.idle().await;
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn a_task_that_is_scheduled_while_it_runs_is_run_again_after() {
    let mut running = Running::start(LocalBackground::new(), |_, _| Ok(Ran::Waiting));
    running.schedule("a", PAST).await;
    assert_eq!(running.next().await, "a");
    running.schedule("a", PAST).await;
    running.schedule("a", now()).await;
    // Another one gets its turn, so the first was looked at, and was not run beside itself.
    running.schedule("b", now()).await;
    assert_eq!(running.next().await, "b");
    running.let_go(2);
    assert_eq!(running.next().await, "a");
    running.let_go(1);
    running.idle().await;
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn a_run_that_did_nothing_is_followed_by_another() {
    let results = |_: &str, run| {
        Ok(match run {
            1 => Ran::Busy(PAST),
            2 => Ran::Early(PAST),
            3 => Ran::Busy(now() + Duration::from_millis(5)),
            _ => Ran::Early(now() + HOUR),
        })
    };
    let mut running = Running::start(LocalBackground::new(), results);
    running.let_go(4);
    running.schedule("a", PAST).await;
    for _ in 0..4 {
        assert_eq!(running.next().await, "a");
    }
    running.idle().await;
    assert!(running.background.shared.agenda().next().is_some());
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn what_core_has_scheduled_or_can_not_run_is_not_run_again() {
    let results = |task: &str, _| match task {
        "ended" => Ok(Ran::Ended),
        "waiting" => Ok(Ran::Waiting),
        "later" => Ok(Ran::Later(PAST)),
        "tool" => Err(RunTaskError::Tool(String::from("gone"))),
        _ => Err(RunTaskError::Record),
    };
    let mut running = Running::start(LocalBackground::new(), results);
    let mut tasks = ["ended", "later", "record", "tool", "waiting"];
    for task in tasks {
        running.schedule(task, PAST).await;
    }
    let mut begun = Vec::new();
    for _ in tasks {
        begun.push(running.next().await);
    }
    begun.sort();
    tasks.sort_unstable();
    assert_eq!(begun, tasks);
    running.let_go(tasks.len());
    running.idle().await;
    assert_eq!(running.background.shared.agenda().next(), None);
    assert!(running.end().await.is_empty());
}

#[tokio::test]
async fn a_run_that_fails_or_panics_is_tried_again() {
    let results = |task: &str, run| match task {
        _ if run > 2 => Ok(Ran::Ended),
        "panics" => panic!("a run that panics"),
        _ => Err(store_error()),
    };
    let mut running = Running::start(LocalBackground::new(), results);
    running.let_go(4);
    running.schedule("fails", PAST).await;
    running.schedule("panics", PAST).await;
    let mut begun = Vec::new();
    for _ in 0..4 {
        begun.push(running.next().await);
    }
    begun[..2].sort();
    begun[2..].sort();
    assert_eq!(begun, ["fails", "panics", "fails", "panics"]);
    running.idle().await;
    assert!(running.end().await.is_empty());
}

#[test]
fn the_pause_after_failures_grows_to_a_minute() {
    let pauses = [1, 2, 3, 6, 7, 64, 65, u32::MAX].map(|failures| back_off(failures).as_secs());
    assert_eq!(pauses, [1, 2, 4, 32, 60, 60, 60, 60]);
}

#[tokio::test]
async fn a_shutdown_waits_for_runs_and_begins_none() {
    let (background, mut runner) = LocalBackground::new();
    runner.patience = HOUR;
    let mut running = Running::start((background, runner), |_, _| Ok(Ran::Busy(PAST)));
    running.schedule("a", PAST).await;
    assert_eq!(running.next().await, "a");
    running.schedule("a", PAST).await;
    running.stop();
    running.closed().await;
    assert!(!running.driving.is_finished());
    running.let_go(1);
    within(&mut running.driving).await.unwrap();
    assert!(within(running.begun.recv()).await.is_none());
}

#[tokio::test]
async fn a_shutdown_that_comes_first_begins_nothing() {
    let (background, runner) = LocalBackground::new();
    background.schedule(job("a"), PAST).await.unwrap();
    let run = |_| -> std::future::Ready<_> { panic!("a run began") };
    within(runner.drive(run, async {})).await;
    assert!(background.schedule(job("a"), PAST).await.is_err());
}

#[tokio::test]
async fn a_run_that_does_not_end_is_dropped() {
    let (background, mut runner) = LocalBackground::new();
    runner.patience = Duration::ZERO;
    background.schedule(job("a"), PAST).await.unwrap();
    let (say, mut begun) = mpsc::unbounded_channel();
    let run = move |_| {
        let say = say.clone();
        async move {
            say.send(()).unwrap();
            pending().await
        }
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let driving = tokio::spawn(runner.drive(run, async {
        stopped.await.ok();
    }));
    assert_eq!(within(begun.recv()).await, Some(()));
    stop.send(()).unwrap();
    within(driving).await.unwrap();
    // The run held what speaks into it.
    assert_eq!(within(begun.recv()).await, None);
}

#[tokio::test]
async fn a_background_without_its_runner_refuses() {
    let (background, runner) = LocalBackground::new();
    let clone = background.clone();
    assert!(clone.schedule(job("a"), PAST).await.is_ok());
    drop(runner);
    assert!(clone.schedule(job("b"), PAST).await.is_err());
}

#[tokio::test]
async fn what_an_earlier_process_left_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let (past, later) = (PAST.as_millis(), (now() + HOUR).as_millis());
    for (installation, task, at, expires_at) in [
        ("a", "one", past, None),
        ("a", "later", later, None),
        ("b", "two", past, Some(now() + HOUR)),
        ("b", "expired", past, Some(PAST)),
    ] {
        let name = Name::of_plain(["due", &format!("{at:016}"), task]).unwrap();
        let put = Change::put(name, Expect::Absent, Value::Number(0), expires_at);
        let commit = Commit::new(Revision::new(1), Partition::installation(installation))
            .with(put)
            .unwrap();
        let outcome = store.commit(&commit, Timestamp::EPOCH).await.unwrap();
        assert_eq!(outcome, Outcome::Applied);
    }
    drop(store);

    let (background, runner) = LocalBackground::new();
    let runner = runner.scan(SqliteStore::open(&path).unwrap());
    let mut running = Running::start((background, runner), |_, _| Ok(Ran::Ended));
    let mut begun = [running.next().await, running.next().await];
    begun.sort();
    assert_eq!(begun, ["one", "two"]);
    running.let_go(2);
    running.idle().await;
    assert_eq!(
        running.background.shared.agenda().next(),
        Some(Timestamp::from_millis(later))
    );
    assert!(running.end().await.is_empty());
}
