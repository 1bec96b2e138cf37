//! The thread that writes.

use std::{
    io,
    thread::{self, JoinHandle},
    time::Instant,
};

use pup_extension::{
    store::{Commit, Outcome, StoreError},
    time::Timestamp,
};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{
    apply,
    error::{Failure, Refused},
};

/// How many commits can wait before callers have to.
const QUEUE: usize = 256;
/// How many commits one transaction takes, at most.
const BATCH: usize = 64;
/// A transaction takes no further commit once it holds this many bytes, so that nobody waits for long.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// How many expired items a transaction removes beyond as many as it touches itself, so that removal keeps up.
const PURGE: usize = 16;

/// A commit to be carried out.
struct Job {
    commit: Commit,
    now: Timestamp,
    /// Since when it waits.
    since: Instant,
    reply: oneshot::Sender<Answer>,
}

type Answer = Result<Outcome, StoreError>;

/// The way to the thread that writes. When it is dropped, the thread finishes what is queued, and the drop
/// waits for it: so no commit that was begun is lost, and the file is closed.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(mut connection: Connection) -> io::Result<Self> {
        let (jobs, mut queue) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name(String::from("pup-sqlite-writer"))
            .spawn(move || {
                let mut lock = Lock::default();
                while let Some(batch) = next_batch(&mut queue) {
                    lock.carry_out(&mut connection, batch);
                }
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Commits. Once queued, a commit is carried out whether or not anybody still waits for it.
    pub(super) async fn commit(&self, commit: &Commit, now: Timestamp) -> Answer {
        let (reply, answer) = oneshot::channel();
        let job = Job {
            commit: commit.clone(),
            now,
            since: Instant::now(),
            reply,
        };
        let queued = match &self.jobs {
            Some(jobs) => jobs.send(job).await.is_ok(),
            None => false,
        };
        if !queued {
            return Err(Failure::WriterStopped.not_applied());
        }
        answer
            .await
            .unwrap_or_else(|_| Err(Failure::WriterStopped.unknown()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Where the thread panicked, those who waited were told.
            drop(thread.join());
        }
    }
}

/// Waits for a commit, and takes along those that are queued behind it.
fn next_batch(queue: &mut mpsc::Receiver<Job>) -> Option<Vec<Job>> {
    let first = queue.blocking_recv()?;
    let mut bytes = first.commit.bytes();
    let mut batch = vec![first];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let Ok(job) = queue.try_recv() else { break };
        bytes += job.commit.bytes();
        batch.push(job);
    }
    Some(batch)
}

/// How it stands with the lock of the database, which another process may hold.
#[derive(Default)]
struct Lock {
    /// When the last attempt to get it began, and how it failed; none where it came.
    missed: Option<(Instant, Failure)>,
}

impl Lock {
    /// Carries out a batch. Whoever waited all through an attempt that did not get the lock is told of that, and does
    /// not wait for another: so nobody waits for more than two of them, however long the queue is.
    fn carry_out(&mut self, connection: &mut Connection, mut batch: Vec<Job>) {
        if let Some((began, failure)) = &self.missed {
            for job in batch.extract_if(.., |job| job.since < *began) {
                drop(job.reply.send(Err(failure.clone().not_applied())));
            }
        }
        if !batch.is_empty() {
            let began = Instant::now();
            self.missed = carry_out(connection, batch).map(|failure| (began, failure));
        }
    }
}

/// Carries out a batch, and then tells everybody; the failure where nothing of it was tried.
fn carry_out(connection: &mut Connection, batch: Vec<Job>) -> Option<Failure> {
    let mut missed = None;
    let answers = match transact(connection, &batch) {
        // One of them can't be carried out, and it shall not be the others' loss.
        Err(Failed::Inside(_)) if batch.len() > 1 => batch
            .chunks(1)
            .flat_map(|alone| answers(transact(connection, alone), alone.len()))
            .collect(),
        Err(Failed::Before(error)) => {
            let failure = Failure::from(error);
            missed = Some(failure.clone());
            batch
                .iter()
                .map(|_| Err(failure.clone().not_applied()))
                .collect()
        }
        result => answers(result, batch.len()),
    };
    for (job, answer) in batch.into_iter().zip(answers) {
        // Whoever gave up waiting needs no answer.
        drop(job.reply.send(answer));
    }
    missed
}

/// Where a transaction failed.
#[derive(Debug)]
enum Failed {
    /// Before any change; a lock that was not free in time above all.
    Before(rusqlite::Error),
    /// In one of the commits.
    Inside(rusqlite::Error),
    /// At its end. It may have reached the log all the same, and be found there after a crash.
    AtCommit(rusqlite::Error, Vec<Outcome>),
}

/// Carries out commits in one transaction, one after the other, so that each sees what those before it did.
fn transact(connection: &mut Connection, batch: &[Job]) -> Result<Vec<Outcome>, Failed> {
    if !connection.is_autocommit() {
        // An earlier transaction could not be rolled back.
        connection
            .execute_batch("ROLLBACK")
            .map_err(Failed::Before)?;
    }
    // Immediate: the conditions are read under the write lock, and nothing has to be upgraded.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Failed::Before)?;
    let mut outcomes = Vec::with_capacity(batch.len());
    let mut touched = 0;
    for Job { commit, now, .. } in batch {
        let outcome = apply::apply(&transaction, commit, *now).map_err(Failed::Inside)?;
        if outcome == Outcome::Applied {
            touched += commit.changes().len();
        }
        outcomes.push(outcome);
    }
    if touched == 0 {
        // Nothing was changed: there is nothing to make durable.
        return Ok(outcomes);
    }
    // By the clock that is farthest behind.
    if let Some(now) = batch.iter().map(|job| job.now).min() {
        apply::purge(&transaction, now, touched + PURGE).map_err(Failed::Inside)?;
    }
    match transaction.commit() {
        Ok(()) => Ok(outcomes),
        Err(error) => Err(Failed::AtCommit(error, outcomes)),
    }
}

/// What each of the commits is told.
fn answers(result: Result<Vec<Outcome>, Failed>, count: usize) -> Vec<Answer> {
    match result {
        Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
        Err(Failed::Before(error) | Failed::Inside(error)) => {
            let failure = Failure::from(error);
            (0..count)
                .map(|_| Err(failure.clone().not_applied()))
                .collect()
        }
        Err(Failed::AtCommit(error, outcomes)) => {
            let error = Refused::from(error);
            outcomes
                .into_iter()
                .map(|outcome| match outcome {
                    Outcome::Applied => Err(Failure::Database(error.clone()).unknown()),
                    // What was in the way may have been written by another commit of the transaction.
                    Outcome::Conflict(_) => Err(Failure::Together(error.clone()).not_applied()),
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use pup_extension::store::{Change, Expect, Name, Partition, Revision, StoreErrorKind, Value};
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::SqliteStore;

    const NOW: Timestamp = Timestamp::from_secs(1_785_196_800);

    /// A database in which an item named `broken` can't be written, and one named `late` breaks the end of
    /// its transaction.
    fn database() -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        drop(SqliteStore::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TRIGGER broken BEFORE INSERT ON item WHEN new.name = 'broken'
                 BEGIN SELECT RAISE (ABORT, 'broken'); END;
                 CREATE TABLE parent (id INTEGER PRIMARY KEY);
                 CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
                 CREATE TRIGGER late BEFORE INSERT ON item WHEN new.name = 'late'
                 BEGIN INSERT INTO child VALUES (1); END;
                 PRAGMA foreign_keys = ON;",
            )
            .unwrap();
        (folder, connection)
    }

    fn name(part: &str) -> Name {
        Name::of([part]).unwrap()
    }

    /// Carries out one batch; what each commit was told.
    fn told(
        connection: &mut Connection,
        commits: impl IntoIterator<Item = Vec<Change>>,
    ) -> Vec<Result<Outcome, StoreErrorKind>> {
        let mut replies = Vec::new();
        let mut batch = Vec::new();
        for (changes, id) in commits.into_iter().zip(1..) {
            let mut commit = Commit::new(Revision::new(id), Partition::unscoped());
            for change in changes {
                commit.push(change).unwrap();
            }
            let (reply, answer) = oneshot::channel();
            replies.push(answer);
            batch.push(Job {
                commit,
                now: NOW,
                since: Instant::now(),
                reply,
            });
        }
        carry_out(connection, batch);
        let told = replies.into_iter().map(|mut reply| {
            let answer = reply.try_recv().expect("everybody is told");
            answer.map_err(|error| error.kind())
        });
        told.collect()
    }

    fn names(connection: &Connection) -> Vec<String> {
        connection
            .prepare("SELECT name FROM item ORDER BY name")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    fn add(part: &str) -> Change {
        Change::add(name(part), 1)
    }

    #[test]
    fn each_commit_of_a_batch_sees_those_before_it_and_has_its_own_outcome() {
        let (_folder, mut connection) = database();
        let put = |value| Change::put(name("a"), Expect::Absent, Value::Number(value), None);
        let told = told(
            &mut connection,
            [
                vec![put(1), add("b")],
                vec![put(2), add("c")],
                vec![add("a"), add("b")],
            ],
        );
        assert_eq!(told[0], Ok(Outcome::Applied));
        let Ok(Outcome::Conflict(items)) = &told[1] else {
            panic!("{:?}", told[1]);
        };
        let shown = items[0].item.as_ref().unwrap();
        assert_eq!(shown.revision, Revision::new(1));
        assert_eq!(told[2], Ok(Outcome::Applied));
        assert_eq!(names(&connection), ["a", "b"]);
    }

    #[test]
    fn a_commit_that_breaks_is_undone_and_the_others_of_its_batch_are_applied() {
        let (_folder, mut connection) = database();
        let told = told(
            &mut connection,
            [
                vec![add("a")],
                vec![add("half"), add("broken")],
                vec![add("b")],
            ],
        );
        let expected = [
            Ok(Outcome::Applied),
            Err(StoreErrorKind::NotApplied),
            Ok(Outcome::Applied),
        ];
        assert_eq!(told, expected);
        assert_eq!(names(&connection), ["a", "b"]);
    }

    #[test]
    fn a_transaction_that_fails_at_its_end_has_an_unknown_outcome() {
        let (_folder, mut connection) = database();
        let check = Change::check(name("a"), Expect::Absent);
        let batch = [vec![add("a")], vec![add("late")], vec![check]];
        let expected = [
            Err(StoreErrorKind::Unknown),
            Err(StoreErrorKind::Unknown),
            // It was in conflict with something that may never have been.
            Err(StoreErrorKind::NotApplied),
        ];
        assert_eq!(told(&mut connection, batch), expected);
        assert!(names(&connection).is_empty());
        // And the next one finds the connection in order.
        let next = told(&mut connection, [vec![add("a")]]);
        assert_eq!(next, [Ok(Outcome::Applied)]);
    }

    #[test]
    fn a_transaction_that_was_left_open_is_rolled_back_first() {
        let (_folder, mut connection) = database();
        connection
            .execute_batch("BEGIN; DELETE FROM item;")
            .unwrap();
        let told = told(&mut connection, [vec![add("a")]]);
        assert_eq!(told, [Ok(Outcome::Applied)]);
    }

    #[test]
    fn whoever_waited_through_a_missed_lock_does_not_wait_for_another() {
        let (folder, mut connection) = database();
        connection.busy_timeout(Duration::from_millis(1)).unwrap();
        let other = Connection::open(folder.path().join("store.sqlite")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut lock = Lock::default();
        let job = |since: Instant, id: u128| {
            let commit = Commit::new(Revision::new(id), Partition::unscoped())
                .with(add("a"))
                .unwrap();
            let (reply, answer) = oneshot::channel();
            let now = NOW;
            (
                Job {
                    commit,
                    now,
                    since,
                    reply,
                },
                answer,
            )
        };
        let told = |mut answer: oneshot::Receiver<Answer>| answer.try_recv().unwrap().is_ok();
        let waiting = Instant::now();
        let (first, answer) = job(waiting, 1);
        lock.carry_out(&mut connection, vec![first]);
        assert!(!told(answer));

        // The lock is free again. One that waited all the while is told what the first was told.
        other.execute_batch("ROLLBACK").unwrap();
        let (old, of_old) = job(waiting, 2);
        lock.carry_out(&mut connection, vec![old]);
        assert!(!told(of_old));
        let (old, of_old) = job(waiting, 3);
        let (new, of_new) = job(Instant::now(), 4);
        lock.carry_out(&mut connection, vec![old, new]);
        assert!(!told(of_old) && told(of_new));
        // And from then on nobody is.
        let (old, of_old) = job(waiting, 5);
        lock.carry_out(&mut connection, vec![old]);
        assert!(told(of_old));
    }

    #[test]
    fn a_batch_is_bounded_in_number_and_in_bytes() {
        let (sender, mut queue) = mpsc::channel(200);
        let queue_up = |value: usize| {
            let value = Value::Bytes(vec![0; value].into());
            let change = Change::put(name("a"), Expect::Any, value, None);
            let commit = Commit::new(Revision::new(1), Partition::unscoped())
                .with(change)
                .unwrap();
            let (reply, _) = oneshot::channel();
            let job = Job {
                commit,
                now: NOW,
                since: Instant::now(),
                reply,
            };
            assert!(sender.try_send(job).is_ok());
        };
        (0..BATCH + 1).for_each(|_| queue_up(1));
        assert_eq!(next_batch(&mut queue).unwrap().len(), BATCH);
        assert_eq!(next_batch(&mut queue).unwrap().len(), 1);
        (0..BATCH).for_each(|_| queue_up(256 * 1024));
        let bytes = next_batch(&mut queue).unwrap().len() * 256 * 1024;
        assert!((BATCH_BYTES - 256 * 1024..=BATCH_BYTES).contains(&bytes));
    }
}
