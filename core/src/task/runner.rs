//! Runs a task's function, and decides what happens between two polls of it.

use std::{future::poll_fn, panic::AssertUnwindSafe, sync::Arc, task::Poll, time::Duration};

use futures_util::{
    FutureExt,
    future::{CatchUnwind, Either, select},
};

use super::{
    book::{Book, BookError, Delta, Meanwhile, Then, Written},
    context::TaskRun,
    entry::{Entry, StepOutcome},
    record::End,
    replay::{Replay, Worked},
    wakeful::Wakeful,
};
use crate::{
    causes::with_causes,
    extension::{ToolError, ToolErrorKind},
    marker::BoxFuture,
    mcp::{CallToolResult, Error, ResultObject, ServerInfo, code},
    ports::Ports,
    store::MAX_VALUE_BYTES,
    time::Timestamp,
};

/// How often a run says that it lives.
const RENEWAL: Duration = Duration::from_secs(15);
/// How long a replay waits for something that is none of the task's operations, before the code counts as changed.
const FOREIGN_WAIT: Duration = Duration::from_secs(10);
/// How often in a row the function may wake itself before its driver looks round.
const MAX_SETTLING: u32 = 64;
/// How long a task rests that the store failed.
const REST: Duration = Duration::from_secs(10);
/// So many runs in a row that recorded nothing end a task.
pub(super) const MAX_DEATHS: u32 = 5;
/// The most bytes of a task's result: with the head round it, a value.
const MAX_RESULT_BYTES: usize = MAX_VALUE_BYTES - 16 * 1024;

/// Where the function may run.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// In the request that created the task: until its first step, and no longer than that.
    Request { until: Timestamp },
    /// In the background, as long as the platform lets it.
    Background { until: Option<Timestamp> },
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The task has ended, by this run.
    Ended,
    /// It waits for answers or for a time.
    Suspended { due: Option<Timestamp> },
    /// It is to go on at once, or in a moment, elsewhere.
    HandedOver { at: Timestamp },
}

/// A task's function that has begun.
pub(super) type Handler = BoxFuture<'static, Result<CallToolResult, ToolError>>;

/// One run.
pub(super) struct Runner<'a> {
    pub(super) ports: &'a Ports,
    pub(super) book: Book<'a>,
    pub(super) run: Arc<TaskRun>,
    pub(super) handler: Wakeful<CatchUnwind<AssertUnwindSafe<Handler>>>,
    pub(super) server: &'a ServerInfo,
    pub(super) place: Place,
    /// When the lease is to be renewed.
    renew_at: Timestamp,
    /// Whether this run has recorded a result.
    got_on: bool,
    /// How often in a row a step met a conflict on state.
    conflicts: u32,
}

/// Why the driver waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// For a step's work, or for something that is none of the task's operations.
    Work,
    /// For something foreign, in the middle of a replay.
    Replay,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        ports: &'a Ports,
        book: Book<'a>,
        run: Arc<TaskRun>,
        handler: Handler,
        server: &'a ServerInfo,
        place: Place,
    ) -> Self {
        Self {
            ports,
            book,
            run,
            handler: Wakeful::new(AssertUnwindSafe(handler).catch_unwind()),
            server,
            place,
            renew_at: ports.now() + RENEWAL,
            got_on: false,
            conflicts: 0,
        }
    }

    /// Runs the function until the task ends or waits, or has to go on elsewhere.
    pub(super) async fn run(mut self) -> Result<Stopped, BookError> {
        let task_id = Arc::clone(&self.run.task_id);
        let mut stopped = self.drive().await;
        if let Err(BookError::Full) = &stopped {
            self.replay().take_news();
            stopped = self.full().await;
        }
        if let Err(error @ (BookError::Commit(_) | BookError::TooManyAsks)) = &stopped {
            // More than a record holds, which another run would meet again.
            tracing::error!(task_id = %self.run.task_id, error = %with_causes(error), "the task can't be recorded");
            self.replay().take_news();
            stopped = self
                .end(failed(
                    "the task asks for more at once than can be recorded",
                ))
                .await;
        }
        if let Err(BookError::Store(error)) = &stopped {
            tracing::warn!(task_id = %self.run.task_id, error = %with_causes(error), "the store failed under a run; the task rests");
            // If this fails too, the lease runs out by itself.
            if let Ok(rested) = self.rest().await {
                stopped = Ok(rested);
            }
        }
        // What the function drops now means nothing.
        self.replay().close();
        let Self { handler, .. } = self;
        if std::panic::catch_unwind(AssertUnwindSafe(move || drop(handler))).is_err() {
            tracing::error!(%task_id, "the task's function panicked when it was put away");
        }
        stopped
    }

    fn replay(&self) -> &Replay {
        &self.run.replay
    }

    async fn drive(&mut self) -> Result<Stopped, BookError> {
        let mut settling = 0;
        loop {
            match self.handler.poll() {
                None => {}
                Some(Ok(outcome)) => return self.returned(outcome).await,
                Some(Err(_)) => {
                    // The panic's own text went where panics go; it may hold anything.
                    tracing::error!(task_id = %self.run.task_id, "the task's function panicked");
                    return self.die().await;
                }
            }
            // What the function does by itself (a yield, a channel between two of its branches) is done before it is
            // told anything: in a first run and in a replay alike, or they would number operations differently. A step
            // may wake itself without end.
            if self.handler.is_woken() && settling < MAX_SETTLING && !self.is_to_be_renewed() {
                settling += 1;
                yield_now().await;
                continue;
            }
            settling = 0;
            if let Some(stopped) = self.between_polls().await? {
                return Ok(stopped);
            }
        }
    }

    /// Does what there is to do, until the function is to be polled again.
    async fn between_polls(&mut self) -> Result<Option<Stopped>, BookError> {
        loop {
            if let Some(what) = self.replay().found_mismatch() {
                return self.changed_code(&what).await.map(Some);
            }
            if self.replay().panicked() {
                tracing::error!(task_id = %self.run.task_id, "the work of a step panicked");
                return self.die().await.map(Some);
            }
            // However busy a step or a replay is.
            if self.is_to_be_renewed() {
                self.write(Then::Hold).await?;
            }
            if self.replay().deliver() {
                return Ok(None);
            }
            if self.replay().behind().is_some() {
                return self.wait(Wait::Replay).await;
            }
            if let Some(worked) = self.replay().take_worked() {
                if let Some(stopped) = self.record(worked).await? {
                    return Ok(Some(stopped));
                }
                // It is to be done again.
                if self.replay().running() > 0 && self.replay().behind().is_none() {
                    return Ok(None);
                }
                continue;
            }
            let running = self.replay().running();
            // Each step that is at work may need room, so where there is none for another it waits for them.
            let has_room = self.book.has_room(running + 1);
            if self.replay().wants_start() && (has_room || running == 0) {
                let is_over = self.until().is_some_and(|until| self.ports.now() >= until);
                if is_over || matches!(self.place, Place::Request { .. }) {
                    return self.hand_over().await.map(Some);
                }
                // A step may act on what was drawn before it.
                self.flush().await?;
                if self.replay().behind().is_some() {
                    continue;
                }
                if !self.book.has_room(running + 1) {
                    return self.full().await.map(Some);
                }
                self.replay().grant(1);
                continue;
            }
            if self.replay().running() > 0 || !self.replay().waits() {
                self.flush().await?;
                if self.replay().behind().is_some() {
                    continue;
                }
                return self.wait(Wait::Work).await;
            }
            if !self.book.has_room(0) {
                return self.full().await.map(Some);
            }
            if let Some(stopped) = self.suspend().await? {
                return Ok(Some(stopped));
            }
        }
    }

    /// Waits until the function is woken, and renews the lease meanwhile.
    async fn wait(&mut self, wait: Wait) -> Result<Option<Stopped>, BookError> {
        let began = self.ports.now();
        let (mut waited, mut unseen) = (Duration::ZERO, Duration::ZERO);
        loop {
            let now = self.ports.now();
            let mut pause = self.renew_at.since(now).min(RENEWAL);
            if let Some(until) = self.until() {
                if now >= until {
                    return self.hand_over().await.map(Some);
                }
                pause = pause.min(until.since(now));
            }
            if wait == Wait::Work
                && let Some(at) = self.book.head.sleeps.values().min()
            {
                if *at <= now {
                    self.wake(now).await?;
                    return Ok(None);
                }
                pause = pause.min(at.since(now));
            }
            if wait == Wait::Replay {
                // By the clock, and by what was waited: the clock may be set.
                if waited >= FOREIGN_WAIT && now.since(began) >= FOREIGN_WAIT
                    || waited >= FOREIGN_WAIT * 2
                {
                    return self
                        .changed_code("the journal holds more than the code does")
                        .await
                        .map(Some);
                }
                pause = pause.min(FOREIGN_WAIT);
            }
            let pause = pause.max(Duration::from_millis(1));
            let timer = self.ports.runtime.dyn_sleep(pause);
            match select(self.handler.woken(), timer).await {
                Either::Left(_) => return Ok(None),
                Either::Right(_) => {
                    waited += pause;
                    unseen += pause;
                }
            }
            if self.ports.now() >= self.renew_at || unseen >= RENEWAL {
                unseen = Duration::ZERO;
                self.write(Then::Hold).await?;
                if self.replay().behind().is_some() && wait == Wait::Work {
                    return Ok(None);
                }
            }
        }
    }

    /// Whether it is time to say that the run lives. The clock may have been set back.
    fn is_to_be_renewed(&self) -> bool {
        let now = self.ports.now();
        now >= self.renew_at || self.renew_at.since(now) > RENEWAL
    }

    fn until(&self) -> Option<Timestamp> {
        match self.place {
            Place::Request { until } => Some(until),
            Place::Background { until } => until,
        }
    }

    /// Ends the pauses whose time has come while other work went on.
    async fn wake(&mut self, now: Timestamp) -> Result<(), BookError> {
        let mut delta = Delta {
            news: self.replay().take_news(),
            then: Then::Hold,
        };
        for (op, until) in &self.book.head.sleeps {
            if *until <= now {
                delta.news.withdrawn.insert(*op);
                delta.news.entries.push(Entry::Woke { op: *op });
            }
        }
        self.book.write(&delta, &[], Meanwhile::Rebase).await?;
        self.wrote();
        Ok(())
    }

    /// Commits what a step's work came to, with the state that it wrote.
    async fn record(&mut self, worked: Worked) -> Result<Option<Stopped>, BookError> {
        let Worked {
            op,
            mut outcome,
            session,
        } = worked;
        if matches!(outcome, StepOutcome::Failed) && session.met_store_failure() {
            // Not the author's failure, and none to remember.
            return self.rest().await.map(Some);
        }
        let name = self.replay().step_name(op);
        let news = self.replay().take_news();
        // What was refused for what was read is recorded only where all of that was so at one time.
        let mut state = match outcome {
            StepOutcome::Ok(_) => session.changes(),
            StepOutcome::Rejected(_) | StepOutcome::Failed => session.checks(),
        };
        loop {
            let mut delta = Delta {
                news: news.clone(),
                then: Then::Hold,
            };
            delta.news.entries.push(Entry::Step {
                op,
                name: name.clone(),
                outcome: outcome.clone(),
            });
            let failure = match self.book.write(&delta, &state, Meanwhile::Rebase).await {
                Ok(Written::Done | Written::Moved) => {
                    self.got_on = true;
                    self.conflicts = 0;
                    self.wrote();
                    return Ok(None);
                }
                Ok(Written::StateConflict { not_a_number: true }) => {
                    String::from("what was added to is no number")
                }
                Ok(Written::StateConflict { .. }) => {
                    self.replay().put_back(news);
                    self.learn();
                    self.back_off().await;
                    if self.ports.now() >= self.renew_at {
                        self.write(Then::Hold).await?;
                    }
                    self.replay().again(op);
                    return Ok(None);
                }
                Err(BookError::Commit(error)) if !state.is_empty() => with_causes(&error),
                Err(error) => return Err(error),
            };
            tracing::error!(task_id = %self.run.task_id, step = name, error = failure, "the step's writes can't be committed");
            outcome = StepOutcome::Failed;
            state = Vec::new();
        }
    }

    /// Commits what the function said, asked and drew, if there is any.
    async fn flush(&mut self) -> Result<(), BookError> {
        if self.replay().has_news() {
            self.write(Then::Hold).await?;
        }
        Ok(())
    }

    /// Gives the task up until an answer or a time comes; `None` when an answer came at the same time.
    async fn suspend(&mut self) -> Result<Option<Stopped>, BookError> {
        let news = self.replay().take_news();
        let mut sleeps = self.book.head.sleeps.clone();
        sleeps.extend(news.slept.clone());
        let due = sleeps
            .into_iter()
            .filter(|(op, _)| !news.withdrawn.contains(op))
            .map(|(_, until)| until)
            .min();
        let delta = Delta {
            news: news.clone(),
            then: Then::Release { due },
        };
        match self.book.write(&delta, &[], Meanwhile::Yield).await? {
            Written::Done => Ok(Some(Stopped::Suspended { due })),
            Written::Moved | Written::StateConflict { .. } => {
                self.replay().put_back(news);
                self.learn();
                Ok(None)
            }
        }
    }

    /// Has another run go on: in the background, or in the next process.
    async fn hand_over(&mut self) -> Result<Stopped, BookError> {
        let at = self.ports.now();
        let stuck = matches!(self.place, Place::Background { .. }) && !self.got_on;
        if stuck {
            return self.die().await;
        }
        self.write(Then::Release { due: Some(at) }).await?;
        Ok(Stopped::HandedOver { at })
    }

    /// Ends a run that got nowhere. The task is tried again after a while, or fails for good.
    async fn die(&mut self) -> Result<Stopped, BookError> {
        let deaths = self.book.head.deaths;
        if deaths + 1 >= MAX_DEATHS {
            return self.end(died()).await;
        }
        let at = self.ports.now() + Duration::from_secs(1 << (2 * deaths.min(4)));
        // Nothing of this run's turn is kept.
        self.replay().take_news();
        self.write(Then::Die { due: at }).await?;
        Ok(Stopped::HandedOver { at })
    }

    /// Ends a run that the store failed. The task goes on after a while, as often as that takes.
    async fn rest(&mut self) -> Result<Stopped, BookError> {
        let at = self.ports.now() + REST;
        self.replay().take_news();
        self.write(Then::Rest { due: at }).await?;
        Ok(Stopped::HandedOver { at })
    }

    async fn changed_code(&mut self, what: &str) -> Result<Stopped, BookError> {
        tracing::error!(task_id = %self.run.task_id, what, "the task's journal does not match its code");
        self.end(changed()).await
    }

    async fn full(&mut self) -> Result<Stopped, BookError> {
        tracing::error!(task_id = %self.run.task_id, "the task's journal is full");
        self.end(failed(
            "the task did more than can be recorded of it, and was ended before its next step",
        ))
        .await
    }

    /// The function is done.
    async fn returned(
        &mut self,
        outcome: Result<CallToolResult, ToolError>,
    ) -> Result<Stopped, BookError> {
        if let Some(what) = self.replay().found_mismatch() {
            return self.changed_code(&what).await;
        }
        if self.replay().panicked() {
            tracing::error!(task_id = %self.run.task_id, "the work of a step panicked");
            return self.die().await;
        }
        if let Some(op) = self.replay().unmet() {
            return self
                .changed_code(&format!("the operation {op} was not called"))
                .await;
        }
        let result = match outcome {
            Ok(result) => result,
            Err(error) => match error.0 {
                ToolErrorKind::Rejected(message) => CallToolResult::rejected(message),
                ToolErrorKind::Failed(cause) => {
                    tracing::error!(task_id = %self.run.task_id, error = %with_causes(&*cause), "the task failed");
                    return self
                        .end(failed(
                            "the extension failed unexpectedly: its log says why, under the task's id",
                        ))
                        .await;
                }
            },
        };
        let end = match ResultObject::complete(&result, self.server) {
            Ok(result) if result.as_bytes().len() > MAX_RESULT_BYTES => {
                tracing::error!(task_id = %self.run.task_id, bytes = result.as_bytes().len(), "the task's result is too large");
                failed(
                    "the task's result is too large: the tool should return less, or a link to it",
                )
            }
            Ok(result) => serde_json::from_slice(result.as_bytes())
                .map_or_else(|_| failure(&Error::internal()), End::Completed),
            Err(error) => failure(&error),
        };
        self.end(end).await
    }

    async fn end(&mut self, end: End) -> Result<Stopped, BookError> {
        self.write(Then::End(end)).await?;
        Ok(Stopped::Ended)
    }

    /// Writes what the function said meanwhile, and what becomes of the hold.
    async fn write(&mut self, then: Then) -> Result<(), BookError> {
        let delta = Delta {
            news: self.replay().take_news(),
            then,
        };
        self.book.write(&delta, &[], Meanwhile::Rebase).await?;
        self.wrote();
        Ok(())
    }

    fn wrote(&mut self) {
        self.renew_at = self.ports.now() + RENEWAL;
        self.learn();
    }

    /// Takes in the results that were written, in the order of the journal: this run's, and answers that came
    /// meanwhile.
    fn learn(&mut self) {
        for entry in self.book.take_fresh() {
            self.run.replay.recall(entry);
        }
    }

    /// A short random pause, longer with each conflict in a row, so that those who collide fall out of step.
    async fn back_off(&mut self) {
        self.conflicts += 1;
        let most = 1_u64 << self.conflicts.min(8);
        let pause = u64::try_from(self.ports.runtime.dyn_random() % u128::from(most)).unwrap_or(0);
        if pause > 0 {
            let pause = Duration::from_millis(pause);
            self.ports.runtime.dyn_sleep(pause).await;
        }
    }
}

/// Lets the executor's other work go on.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// The end of a task that keeps dying.
pub(super) fn died() -> End {
    failed("the task was begun five times and got nowhere; the extension's log may say why")
}

/// The end of a task whose code is another one than it began with.
pub(super) fn changed() -> End {
    failed(
        "the extension was changed while the task was under way, and can't go on with it: call the tool again",
    )
}

/// The end of a task that failed for a reason that its asker may be told.
pub(super) fn failed(message: &str) -> End {
    End::Failed {
        code: code::INTERNAL,
        message: message.to_owned(),
    }
}

fn failure(error: &Error) -> End {
    End::Failed {
        code: error.code(),
        message: error.message().to_owned(),
    }
}
