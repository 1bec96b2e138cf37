//! What is to be run and what runs: the state of a background, without a clock.

use std::collections::{BTreeSet, HashMap};

use pup_extension::{task::Job, time::Timestamp};

/// Holds each task once, however often it is added: some hundred bytes for each that waits or runs.
#[derive(Debug)]
pub(super) struct Agenda {
    tasks: HashMap<Job, Task>,
    /// Those that wait, the earliest first.
    times: BTreeSet<(Timestamp, Job)>,
    running: usize,
    most: usize,
    closed: bool,
}

#[derive(Debug)]
enum Task {
    Waits {
        at: Timestamp,
        failures: u32,
    },
    Runs {
        /// It is run again after this run, which may have been too early to see why it was added.
        again: Option<Timestamp>,
    },
}

/// A job whose run begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) job: Job,
    /// How many runs of it failed before, without one between that did not.
    pub(super) failures: u32,
}

impl Agenda {
    /// With as many runs at once.
    pub(super) fn new(most: usize) -> Self {
        Self {
            tasks: HashMap::new(),
            times: BTreeSet::new(),
            running: 0,
            most,
            closed: false,
        }
    }

    /// Takes a job in, unless it is closed. Of a task that waits, the earlier time counts; one that runs is run again
    /// afterwards. Returns whether it was taken in.
    pub(super) fn add(&mut self, job: Job, at: Timestamp) -> bool {
        if self.closed {
            return false;
        }
        match self.tasks.get_mut(&job) {
            Some(Task::Runs { again }) => *again = earliest(*again, Some(at)),
            Some(Task::Waits { at: earlier, .. }) if *earlier <= at => {}
            Some(Task::Waits {
                at: later,
                failures,
            }) => {
                let (later, failures) = (*later, *failures);
                self.times.remove(&(later, job.clone()));
                self.wait(job, at, failures);
            }
            None => self.wait(job, at, 0),
        }
        true
    }

    /// Begins the run that is due first, if one is due and not too many are at work.
    pub(super) fn begin(&mut self, now: Timestamp) -> Option<Begun> {
        if self.is_full() || self.times.first()?.0 > now {
            return None;
        }
        let (_, job) = self.times.pop_first()?;
        self.running += 1;
        match self.tasks.insert(job.clone(), Task::Runs { again: None }) {
            Some(Task::Waits { failures, .. }) => Some(Begun { job, failures }),
            Some(Task::Runs { .. }) | None => unreachable!("a task that has a time waits"),
        }
    }

    /// A run has ended, and the task is to be run again at this time or, if that is earlier, as it was added meanwhile.
    pub(super) fn end(&mut self, job: Job, again: Option<Timestamp>) {
        if let Some(added) = self.leave(&job)
            && let Some(at) = earliest(added, again)
        {
            self.wait(job, at, 0);
        }
    }

    /// A run has failed, these many in a row, and the task is to be run again at this time: no earlier even if it was
    /// added meanwhile, since it may have done that itself.
    pub(super) fn fail(&mut self, job: Job, again: Timestamp, failures: u32) {
        if self.leave(&job).is_some() {
            self.wait(job, again, failures);
        }
    }

    /// When the next run can begin, if that depends on the time alone.
    pub(super) fn next(&self) -> Option<Timestamp> {
        match self.times.first() {
            Some((at, _)) if !self.is_full() => Some(*at),
            Some(_) | None => None,
        }
    }

    /// Forgets what waits, and takes nothing in any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.times.clear();
        self.tasks
            .retain(|_, task| matches!(task, Task::Runs { .. }));
    }

    /// Whether no run is at work.
    #[cfg(test)]
    pub(super) const fn is_idle(&self) -> bool {
        self.running == 0
    }

    fn is_full(&self) -> bool {
        self.running >= self.most
    }

    fn wait(&mut self, job: Job, at: Timestamp, failures: u32) {
        if !self.closed {
            self.times.insert((at, job.clone()));
            self.tasks.insert(job, Task::Waits { at, failures });
        }
    }

    /// Takes out a task that runs: the time that it was added for meanwhile.
    fn leave(&mut self, job: &Job) -> Option<Option<Timestamp>> {
        match self.tasks.remove(job) {
            Some(Task::Runs { again }) => {
                self.running -= 1;
                Some(again)
            }
            Some(Task::Waits { .. }) | None => None,
        }
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::job, *};

    const fn at(secs: u64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// Begins a run, and says of which task and after how many failures.
    fn begin(agenda: &mut Agenda, now: u64) -> Option<(String, u32)> {
        let begun = agenda.begin(at(now))?;
        Some((begun.job.task_id().to_owned(), begun.failures))
    }

    fn first(task: &str) -> Option<(String, u32)> {
        Some((task.to_owned(), 0))
    }

    #[test]
    fn jobs_begin_in_the_order_of_their_times_and_not_before() {
        let mut agenda = Agenda::new(64);
        assert_eq!(agenda.next(), None);
        for (task, secs) in [("c", 30), ("a", 10), ("b", 20)] {
            assert!(agenda.add(job(task), at(secs)));
        }
        assert_eq!(agenda.next(), Some(at(10)));
        assert_eq!(begin(&mut agenda, 9), None);
        assert_eq!(begin(&mut agenda, 20), first("a"));
        assert_eq!(begin(&mut agenda, 20), first("b"));
        assert_eq!(begin(&mut agenda, 20), None);
        assert_eq!(agenda.next(), Some(at(30)));
    }

    #[test]
    fn of_a_task_that_waits_the_earlier_time_counts() {
        let mut agenda = Agenda::new(64);
        for secs in [20, 30, 20, 10, 40] {
            agenda.add(job("a"), at(secs));
        }
        assert_eq!(agenda.next(), Some(at(10)));
        assert_eq!(begin(&mut agenda, 10), first("a"));
        agenda.end(job("a"), None);
        assert_eq!(begin(&mut agenda, 99), None);
    }

    #[test]
    fn a_task_is_run_once_at_a_time_and_again_if_it_was_added_meanwhile() {
        let mut agenda = Agenda::new(64);
        agenda.add(job("a"), at(0));
        assert_eq!(begin(&mut agenda, 1), first("a"));
        for secs in [7, 5, 6] {
            agenda.add(job("a"), at(secs));
        }
        assert_eq!(begin(&mut agenda, 99), None);
        // Earlier than what the run itself asks for.
        agenda.end(job("a"), Some(at(20)));
        assert_eq!(agenda.next(), Some(at(5)));
        assert_eq!(begin(&mut agenda, 5), first("a"));
        agenda.add(job("a"), at(30));
        agenda.end(job("a"), Some(at(20)));
        assert_eq!(agenda.next(), Some(at(20)));
    }

    #[test]
    fn no_more_than_allowed_run_at_once() {
        let mut agenda = Agenda::new(2);
        for task in ["a", "b", "c"] {
            agenda.add(job(task), at(0));
        }
        assert_eq!(begin(&mut agenda, 0), first("a"));
        assert_eq!(begin(&mut agenda, 0), first("b"));
        assert_eq!(begin(&mut agenda, 0), None);
        // Looking again would find nothing until a run ends.
        assert_eq!(agenda.next(), None);
        agenda.fail(job("b"), at(9), 1);
        assert_eq!(begin(&mut agenda, 0), first("c"));
        assert_eq!(begin(&mut agenda, 9), None);
        agenda.end(job("a"), None);
        assert_eq!(agenda.next(), Some(at(9)));
    }

    #[test]
    fn failures_are_counted_until_a_run_succeeds() {
        let mut agenda = Agenda::new(64);
        agenda.add(job("a"), at(0));
        assert_eq!(begin(&mut agenda, 0), first("a"));
        // A task that hands itself over and fails does not go round without a pause.
        agenda.add(job("a"), at(0));
        agenda.fail(job("a"), at(10), 1);
        assert_eq!(agenda.next(), Some(at(10)));
        // But somebody who asks from outside is served.
        agenda.add(job("a"), at(5));
        assert_eq!(begin(&mut agenda, 5), Some((String::from("a"), 1)));
        agenda.end(job("a"), Some(at(6)));
        assert_eq!(begin(&mut agenda, 6), first("a"));
    }

    #[test]
    fn what_is_closed_begins_nothing_and_takes_nothing_in() {
        let mut agenda = Agenda::new(64);
        for task in ["ends", "fails", "waits"] {
            agenda.add(job(task), at(0));
        }
        assert_eq!(begin(&mut agenda, 0), first("ends"));
        assert_eq!(begin(&mut agenda, 0), first("fails"));
        agenda.add(job("ends"), at(0));
        agenda.close();
        assert!(!agenda.add(job("ends"), at(0)));
        assert!(!agenda.add(job("new"), at(0)));
        agenda.end(job("ends"), Some(at(0)));
        agenda.fail(job("fails"), at(0), 1);
        assert_eq!(begin(&mut agenda, 99), None);
        assert_eq!((agenda.running, agenda.tasks.len()), (0, 0));
    }
}
