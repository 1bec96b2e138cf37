//! One run of a task's function against its journal. No store in here, and no time.
//!
//! The rules, each of which a simpler set was broken without:
//!
//! - Operations are numbered when the function *calls* them, and registered when they are first *polled*.
//! - Recorded results are delivered in the order of the journal, *one a poll* of the function.
//! - Until the journal is used up, no step starts that it does not hold: it may be one that the function is about to
//!   drop, as the loser of a `select!`.
//! - A recorded result for an operation that this run has *dropped* is passed over. One for an operation that this run
//!   never creates is a mismatch: the code has changed.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use super::{
    entry::{Answer, Entry, StepOutcome},
    record::Ask,
};
use crate::{state::Session, time::Timestamp};

/// What an operation is.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Step(String),
    Ask,
    Sleep,
    Now,
    Random,
    Progress,
    /// A pause that was refused.
    PastEnd,
    /// All that is known is that it was dropped.
    Dropped,
}

/// The result of an operation.
#[derive(Clone)]
pub(super) enum Produced {
    Step(StepOutcome),
    Answer(Answer),
    Woke,
}

/// What an operation's future is to do next.
pub(super) enum Move {
    /// Its work is to be done, perhaps again.
    Start,
    /// It is done.
    Take(Produced),
}

/// What the work of a step came to, and what it wants of the store.
pub(super) struct Worked {
    pub(super) op: u32,
    pub(super) outcome: StepOutcome,
    pub(super) session: Arc<Session>,
}

/// An operation that this run has registered, and that has not had its result.
struct Open {
    phase: Phase,
    waker: Option<Waker>,
}

enum Phase {
    /// For its result, be it recorded or still to come.
    Waiting,
    /// For leave to start.
    Ready,
    /// It may start, and does at its next poll.
    Granted,
    Running,
    /// Its result is there, for its next poll.
    Delivered(Produced),
}

/// What one turn of the function brought, to be committed with whatever is committed next.
#[derive(Clone, Default)]
pub(super) struct News {
    pub(super) entries: Vec<Entry>,
    pub(super) message: Option<String>,
    pub(super) asked: BTreeMap<u32, Ask>,
    pub(super) slept: BTreeMap<u32, Timestamp>,
    /// Asks and sleeps that were dropped.
    pub(super) withdrawn: BTreeSet<u32>,
}

impl News {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.message.is_none()
            && self.asked.is_empty()
            && self.slept.is_empty()
            && self.withdrawn.is_empty()
    }
}

/// A run, shared by the function's operations and whoever drives it.
pub(super) struct Replay {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next_op: u32,
    /// What earlier runs made each operation.
    known: BTreeMap<u32, Kind>,
    /// Those of them that this run has not come to.
    ahead: BTreeSet<u32>,
    /// Those that an earlier run dropped.
    dropped: BTreeSet<u32>,
    times: BTreeMap<u32, Timestamp>,
    bits: BTreeMap<u32, u128>,
    /// Results that were not delivered yet, in the order of the journal.
    results: VecDeque<(u32, Produced)>,
    /// All that ever had a result.
    have_result: BTreeSet<u32>,
    registered: BTreeSet<u32>,
    open: BTreeMap<u32, Open>,
    worked: Vec<Worked>,
    news: News,
    /// Asks and sleeps that wait, by this run's own registration.
    waits: BTreeSet<u32>,
    /// Whether it is the work of a step that goes on at this moment.
    in_step: bool,
    /// Whether the work of a step panicked, be it that the function caught it.
    panicked: bool,
    /// How the code differs from what was recorded.
    mismatch: Option<String>,
    /// Whether the function was given up: what it drops now means nothing.
    closed: bool,
}

impl Replay {
    /// Of a journal and what was outstanding beside it.
    pub(super) fn new(
        journal: Vec<Entry>,
        asks: impl Iterator<Item = u32>,
        sleeps: impl Iterator<Item = u32>,
    ) -> Self {
        let mut state = State::default();
        for entry in journal {
            state.recall(entry);
        }
        state.known.extend(asks.map(|op| (op, Kind::Ask)));
        state.known.extend(sleeps.map(|op| (op, Kind::Sleep)));
        state.ahead = state.known.keys().copied().collect();
        Self {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // The side of the function.

    /// Numbers an operation that the function calls; `None` in the work of a step, which a replay leaves out.
    pub(super) fn create(&self) -> Option<u32> {
        let mut state = self.state();
        if state.in_step {
            return None;
        }
        let op = state.next_op;
        state.next_op += 1;
        Some(op)
    }

    /// Whether a pause is refused, because it lasts too long or because it did in an earlier run.
    pub(super) fn refuses(&self, op: u32, lasts_too_long: bool) -> bool {
        let mut state = self.state();
        match state.known.get(&op) {
            Some(Kind::PastEnd) => {
                state.meets(op, Kind::PastEnd);
                true
            }
            Some(_) => false,
            None if lasts_too_long => {
                state.meets(op, Kind::PastEnd);
                state.news.entries.push(Entry::PastEnd { op });
                true
            }
            None => false,
        }
    }

    /// Registers an operation at its first poll.
    pub(super) fn register_step(&self, op: u32, name: &str) {
        let mut state = self.state();
        if state.meets(op, Kind::Step(name.to_owned())) {
            let phase = if state.have_result.contains(&op) || state.dropped.contains(&op) {
                Phase::Waiting
            } else {
                Phase::Ready
            };
            state.open(op, phase);
        }
    }

    /// The same for a question: what it asks counts the first time.
    pub(super) fn register_ask(&self, op: u32, ask: impl FnOnce() -> Ask) {
        let mut state = self.state();
        let is_new = !state.known.contains_key(&op);
        if state.meets(op, Kind::Ask) {
            state.open(op, Phase::Waiting);
            if is_new {
                state.news.asked.insert(op, ask());
            }
            state.wait(op);
        }
    }

    /// The same for a pause, whose end counts as it was the first time.
    pub(super) fn register_sleep(&self, op: u32, until: Timestamp) {
        let mut state = self.state();
        let is_new = !state.known.contains_key(&op);
        if state.meets(op, Kind::Sleep) {
            state.open(op, Phase::Waiting);
            if is_new {
                state.news.slept.insert(op, until);
            }
            state.wait(op);
        }
    }

    /// Polls a registered operation.
    pub(super) fn poll(&self, op: u32, waker: &Waker) -> Poll<Move> {
        let mut state = self.state();
        let Some(open) = state.open.get_mut(&op) else {
            // It did not match: the run is about to be ended.
            return Poll::Pending;
        };
        match std::mem::replace(&mut open.phase, Phase::Waiting) {
            Phase::Delivered(produced) => {
                state.open.remove(&op);
                Poll::Ready(Move::Take(produced))
            }
            Phase::Granted => {
                open.phase = Phase::Running;
                Poll::Ready(Move::Start)
            }
            phase => {
                open.phase = phase;
                open.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Hands in what the work of a step came to.
    pub(super) fn worked(&self, worked: Worked) {
        let mut state = self.state();
        if let Some(open) = state.open.get_mut(&worked.op) {
            open.phase = Phase::Waiting;
            state.worked.push(worked);
        }
    }

    /// Notes that an operation's future is gone.
    pub(super) fn drop_op(&self, op: u32) {
        let mut state = self.state();
        let Some(open) = state.open.remove(&op) else {
            return;
        };
        if state.closed {
            return;
        }
        state.waits.remove(&op);
        state.worked.retain(|worked| worked.op != op);
        if matches!(open.phase, Phase::Delivered(_)) || !state.dropped.insert(op) {
            return;
        }
        state.news.asked.remove(&op);
        state.news.slept.remove(&op);
        state.news.withdrawn.insert(op);
        state.news.entries.push(Entry::Dropped { op });
    }

    /// A time that is the same in every replay.
    pub(super) fn now(&self, real: Timestamp) -> Timestamp {
        let Some(op) = self.create() else {
            return real;
        };
        let mut state = self.state();
        if let Some(at) = state.times.get(&op).copied() {
            state.meets(op, Kind::Now);
            return at;
        }
        if state.meets(op, Kind::Now) {
            state.news.entries.push(Entry::Now { op, at: real });
        }
        real
    }

    /// Random bits that are the same in every replay.
    pub(super) fn random(&self, real: u128) -> u128 {
        let Some(op) = self.create() else {
            return real;
        };
        let mut state = self.state();
        if let Some(bits) = state.bits.get(&op).copied() {
            state.meets(op, Kind::Random);
            return bits;
        }
        if state.meets(op, Kind::Random) {
            let bits = format!("{real:032x}");
            state.news.entries.push(Entry::Random { op, bits });
        }
        real
    }

    /// Says how far the function is, unless an earlier run said it.
    pub(super) fn progress(&self, message: String) {
        let Some(op) = self.create() else {
            // In the work of a step, which no replay does again once it is recorded.
            self.state().news.message = Some(message);
            return;
        };
        let mut state = self.state();
        let is_new = !state.known.contains_key(&op);
        if state.meets(op, Kind::Progress) && is_new {
            state.news.message = Some(message);
            state.news.entries.push(Entry::Progress { op });
        }
    }

    /// Does a piece of a step's work.
    pub(super) fn in_step<T>(&self, work: impl FnOnce() -> T) -> T {
        let outer = std::mem::replace(&mut self.state().in_step, true);
        // A panic ends the run: a replay can't know what the function made of it.
        let mut leave = Leave {
            replay: self,
            outer,
            panicked: true,
        };
        let done = work();
        leave.panicked = false;
        done
    }

    /// Whether it is the work of a step that goes on at this moment.
    pub(super) fn is_in_step(&self) -> bool {
        self.state().in_step
    }

    /// Notes that what was recorded can't be what this operation produced.
    pub(super) fn mismatch(&self, op: u32, what: &str) {
        self.state().differs(op, what);
    }

    // The side of the driver.

    /// How the code differs from the journal, if it was seen to.
    pub(super) fn found_mismatch(&self) -> Option<String> {
        self.state().mismatch.clone()
    }

    /// Whether the work of a step panicked.
    pub(super) fn panicked(&self) -> bool {
        self.state().panicked
    }

    /// Adds a result that was recorded meanwhile, unless it is known.
    pub(super) fn recall(&self, entry: Entry) {
        let mut state = self.state();
        if entry.is_result() && state.have_result.contains(&entry.op()) {
            return;
        }
        state.recall(entry);
    }

    /// Delivers the next result of the journal, if its operation waits for it: then the function is to be polled.
    pub(super) fn deliver(&self) -> bool {
        let mut state = self.state();
        while let Some((op, _)) = state.results.front() {
            let op = *op;
            if !state.registered.contains(&op) {
                return false;
            }
            let produced = state.results.pop_front().map(|(_, produced)| produced);
            state.waits.remove(&op);
            if let (Some(open), Some(produced)) = (state.open.get_mut(&op), produced) {
                open.phase = Phase::Delivered(produced);
                if let Some(waker) = open.waker.take() {
                    waker.wake();
                }
                return true;
            }
            // Dropped: passed over.
        }
        false
    }

    /// What the journal holds of operations that this run has not come to: the first of them. Or of one that it has
    /// not dropped, as an earlier run did.
    pub(super) fn behind(&self) -> Option<u32> {
        let state = self.state();
        let undelivered = state.results.front().map(|(op, _)| *op);
        let undropped = || state.dropped.iter().find(|op| state.open.contains_key(op));
        state
            .ahead
            .first()
            .copied()
            .or(undelivered)
            .or_else(|| undropped().copied())
    }

    /// Whether some step waits for leave to start.
    pub(super) fn wants_start(&self) -> bool {
        self.state()
            .open
            .values()
            .any(|open| matches!(open.phase, Phase::Ready))
    }

    /// How many steps are at work, or have leave to be.
    pub(super) fn running(&self) -> usize {
        self.state()
            .open
            .values()
            .filter(|open| matches!(open.phase, Phase::Granted | Phase::Running))
            .count()
    }

    /// Lets steps start, this many at the most.
    pub(super) fn grant(&self, most: usize) {
        let mut state = self.state();
        let ready = state
            .open
            .values_mut()
            .filter(|open| matches!(open.phase, Phase::Ready));
        for open in ready.take(most) {
            open.phase = Phase::Granted;
            if let Some(waker) = open.waker.take() {
                waker.wake();
            }
        }
    }

    /// Has a step do its work again, since what it read has changed.
    pub(super) fn again(&self, op: u32) {
        if let Some(open) = self.state().open.get_mut(&op) {
            open.phase = Phase::Granted;
            if let Some(waker) = open.waker.take() {
                waker.wake();
            }
        }
    }

    /// The work of a step that is done, and is to be committed.
    pub(super) fn take_worked(&self) -> Option<Worked> {
        let mut state = self.state();
        if state.worked.is_empty() {
            None
        } else {
            Some(state.worked.remove(0))
        }
    }

    /// What a step that was registered is called.
    pub(super) fn step_name(&self, op: u32) -> String {
        match self.state().known.get(&op) {
            Some(Kind::Step(name)) => name.clone(),
            _ => String::new(),
        }
    }

    /// An operation that the journal holds, and that this run never came to.
    pub(super) fn unmet(&self) -> Option<u32> {
        self.state().ahead.first().copied()
    }

    /// Whether a question or a pause is outstanding.
    pub(super) fn waits(&self) -> bool {
        !self.state().waits.is_empty()
    }

    /// What is to be committed beside whatever comes next, from now on in the caller's hands.
    pub(super) fn take_news(&self) -> News {
        std::mem::take(&mut self.state().news)
    }

    /// Takes news back that were not committed. The function was not polled meanwhile.
    pub(super) fn put_back(&self, news: News) {
        self.state().news = news;
    }

    pub(super) fn has_news(&self) -> bool {
        !self.state().news.is_empty()
    }

    /// The function is given up: what it drops from now on means nothing.
    pub(super) fn close(&self) {
        self.state().closed = true;
    }
}

/// Leaves the work of a step, also by a panic.
struct Leave<'a> {
    replay: &'a Replay,
    outer: bool,
    panicked: bool,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.replay.state();
        state.in_step = self.outer;
        state.panicked |= self.panicked;
    }
}

impl State {
    /// Takes in a line of the journal.
    fn recall(&mut self, entry: Entry) {
        let (op, kind, produced) = match entry {
            Entry::Step { op, name, outcome } => {
                (op, Kind::Step(name), Some(Produced::Step(outcome)))
            }
            Entry::Answer { op, answer } => (op, Kind::Ask, Some(Produced::Answer(answer))),
            Entry::Woke { op } => (op, Kind::Sleep, Some(Produced::Woke)),
            Entry::Now { op, at } => {
                self.times.insert(op, at);
                (op, Kind::Now, None)
            }
            Entry::Random { op, bits } => {
                self.bits
                    .insert(op, u128::from_str_radix(&bits, 16).unwrap_or(0));
                (op, Kind::Random, None)
            }
            Entry::Progress { op } => (op, Kind::Progress, None),
            Entry::PastEnd { op } => (op, Kind::PastEnd, None),
            Entry::Dropped { op } => {
                self.dropped.insert(op);
                (op, Kind::Dropped, None)
            }
        };
        if kind != Kind::Dropped || !self.known.contains_key(&op) {
            self.known.insert(op, kind);
        }
        if let Some(produced) = produced {
            self.have_result.insert(op);
            self.results.push_back((op, produced));
        }
    }

    /// Notes that this run has come to an operation; whether it is what it was.
    fn meets(&mut self, op: u32, kind: Kind) -> bool {
        self.ahead.remove(&op);
        self.registered.insert(op);
        let same = match self.known.get(&op) {
            None => true,
            Some(Kind::Dropped) => matches!(kind, Kind::Step(_) | Kind::Ask | Kind::Sleep),
            Some(known) => *known == kind,
        };
        if !same {
            self.differs(op, "is another one than was recorded");
        }
        self.known.insert(op, kind);
        same
    }

    fn differs(&mut self, op: u32, what: &str) {
        self.mismatch
            .get_or_insert_with(|| format!("the operation {op} {what}"));
    }

    fn open(&mut self, op: u32, phase: Phase) {
        self.open.insert(op, Open { phase, waker: None });
    }

    /// Notes that a question or a pause is outstanding, unless it has its result or was dropped once.
    fn wait(&mut self, op: u32) {
        if !self.have_result.contains(&op) && !self.dropped.contains(&op) {
            self.waits.insert(op);
        }
    }
}
