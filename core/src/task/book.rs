//! One run's hold on a task: every change that it makes to the head goes through here.

use super::{
    background::Job,
    due,
    entry::Entry,
    record::{Ask, End, Head, LEASE, Lease, Page, Unreadable, head_name, origin_name, page_name},
    replay::News,
};
use crate::{
    ports::Ports,
    store::{
        Change, CommitError, Expect, InTheWay, Item, KeyError, Name, Operation, Outcome, Revision,
        StoreError,
    },
    time::Timestamp,
};

/// The journal's lines stand in the head up to this size, and go to a page beyond it.
const MAX_TAIL_BYTES: usize = 16 * 1024;
/// The most bytes of a page that more than one line shares.
const MAX_PAGE_BYTES: usize = 128 * 1024;
/// The most bytes of questions that are outstanding at once: the head has to hold their answers beside them.
const MAX_ASKS_BYTES: usize = 96 * 1024;
/// The most pages with which more is begun.
const MAX_PAGES: u32 = 80;
/// The most pages at all: at the end they are deleted in one commit.
const MAX_PAGES_EVER: u32 = 90;
/// The most bytes of a journal.
pub(super) const MAX_JOURNAL_BYTES: usize = 4 * 1024 * 1024;

/// Why a run can't go on. What it recorded stands.
#[derive(Debug, thiserror::Error)]
pub(super) enum BookError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The journal has no room for what was to be recorded.
    #[error("the task's journal is full")]
    Full,
    /// More questions are outstanding than a head holds.
    #[error("the questions that are outstanding have more than {MAX_ASKS_BYTES} bytes")]
    TooManyAsks,
    /// Another has the task now, or it has ended.
    #[error("the task is no longer this run's")]
    Lost,
}

/// A task as a run holds it.
pub(super) struct Book<'a> {
    ports: &'a Ports,
    job: &'a Job,
    pub(super) head: Head,
    revision: Revision,
    token: String,
    /// Results that were written, or found written, and that the run was not told of: in the order of the journal.
    fresh: Vec<Entry>,
}

/// A change that a run makes.
#[derive(Clone, Default)]
pub(super) struct Delta {
    /// Lines for the journal, and what goes with them.
    pub(super) news: News,
    pub(super) then: Then,
}

/// What becomes of the hold.
#[derive(Clone, Default)]
pub(super) enum Then {
    /// It is kept, and lasts longer.
    #[default]
    Hold,
    /// It is given up; somebody is to look at the task at this time.
    Release { due: Option<Timestamp> },
    /// The same, for a run that got nowhere.
    Die { due: Timestamp },
    /// The same, for a run that the store failed: which says nothing of the task.
    Rest { due: Timestamp },
    /// The task ends.
    End(End),
}

/// What became of a change.
pub(super) enum Written {
    Done,
    /// Nothing was written: an answer came meanwhile. Only where the change asks for that.
    Moved,
    /// Nothing was written: state that the step read has changed, or can't be added to.
    StateConflict {
        not_a_number: bool,
    },
}

/// How a change gets on with an answer that comes at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meanwhile {
    /// It goes on top.
    Rebase,
    /// It is given up: what it says may no longer be so.
    Yield,
}

impl<'a> Book<'a> {
    /// Takes hold of a task whose head stands at this revision; `None` when somebody was faster.
    pub(super) async fn take(
        ports: &'a Ports,
        job: &'a Job,
        head: &Head,
        revision: Revision,
        now: Timestamp,
    ) -> Result<Option<Book<'a>>, BookError> {
        let token = format!("{:032x}", ports.runtime.dyn_random());
        let until = now + LEASE;
        let mut next = head.clone();
        // Whoever held it has not given it up: it died.
        next.deaths += u32::from(next.lease.is_some());
        next.lease = Some(Lease {
            token: token.clone(),
            until,
        });
        next.due = Some(until);
        next.handed = None;
        let woken: Vec<u32> = next
            .sleeps
            .iter()
            .filter(|(_, until)| **until <= now)
            .map(|(op, _)| *op)
            .collect();
        for op in woken {
            next.sleeps.remove(&op);
            next.journal.push(Entry::Woke { op });
        }
        next.mark.clone_from(&token);
        let mut book = Self {
            ports,
            job,
            head: head.clone(),
            revision,
            token,
            fresh: Vec::new(),
        };
        match book.put(next, Vec::new(), now).await? {
            Ok(()) => Ok(Some(book)),
            Err(in_the_way) => match book.find(in_the_way) {
                Ok(()) if book.is_held() => Ok(Some(book)),
                Ok(()) | Err(BookError::Lost) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// The hold of the request that created the task, and wrote this head.
    pub(super) fn created(ports: &'a Ports, job: &'a Job, head: Head, revision: Revision) -> Self {
        let token = head
            .lease
            .as_ref()
            .map(|lease| lease.token.clone())
            .unwrap_or_default();
        Self {
            ports,
            job,
            head,
            revision,
            token,
            fresh: Vec::new(),
        }
    }

    /// The whole journal, from its pages and the head.
    pub(super) async fn journal(&self) -> Result<Vec<Entry>, BookError> {
        let mut journal = Vec::new();
        for page in 0..self.head.pages {
            let name = page_name(&self.job.task_id, page)?;
            let item = self.ports.read(&self.job.partition, &name).await?;
            let Some(item) = item else {
                // Pages go when a task ends.
                return Err(self.missing().await?);
            };
            let page = Page::from_value(&item.value)?;
            journal.extend(page.journal);
        }
        journal.extend(self.head.journal.iter().cloned());
        Ok(journal)
    }

    /// Why a part of the task is not there.
    async fn missing(&self) -> Result<BookError, BookError> {
        let name = head_name(&self.job.task_id)?;
        let item = self.ports.read(&self.job.partition, &name).await?;
        let head = item.map(|item| Head::from_value(&item.value)).transpose()?;
        Ok(match head {
            Some(head) if head.is_held_by(&self.token) => Unreadable.into(),
            _ => BookError::Lost,
        })
    }

    /// Whether there is room for so many more results, however large they are.
    pub(super) fn has_room(&self, results: usize) -> bool {
        let tail: usize = self.head.journal.iter().map(Entry::size).sum();
        let bytes = self.head.paged + tail + results * (super::MAX_STEP_BYTES + 1024);
        let pages = usize::try_from(self.head.pages).unwrap_or(usize::MAX) + 2 * results;
        bytes <= MAX_JOURNAL_BYTES && pages <= usize::try_from(MAX_PAGES).unwrap_or(0)
    }

    /// Writes a change, with a step's changes of state. An answer that comes at the same time is taken in: then the
    /// head's journal holds it.
    pub(super) async fn write(
        &mut self,
        delta: &Delta,
        state: &[Change],
        meanwhile: Meanwhile,
    ) -> Result<Written, BookError> {
        let mark = format!("{:032x}", self.ports.runtime.dyn_random());
        loop {
            let now = self.ports.now();
            let (next, pages) = self.after(delta, &mark, now)?;
            let mut changes = pages;
            changes.extend(state.iter().cloned());
            let written: Vec<Entry> = answers(&self.head)
                .chain(&delta.news.entries)
                .filter(|entry| entry.is_result())
                .cloned()
                .collect();
            let in_the_way = match self.put(next, changes, now).await? {
                Ok(()) => {
                    self.fresh = written;
                    return Ok(Written::Done);
                }
                Err(in_the_way) => in_the_way,
            };
            let head = head_name(&self.job.task_id)?;
            if in_the_way.iter().any(|other| other.name == head) {
                self.find(in_the_way)?;
                if self.head.mark == mark {
                    // It was this very change, and its answer was lost; others may have come after it.
                    self.fresh = written;
                    self.fresh.extend(answers(&self.head).cloned());
                    if matches!(delta.then, Then::Hold) && !self.is_held() {
                        // It stands, but was cancelled since: the run must not go on from the head that it found.
                        return Err(BookError::Lost);
                    }
                    return Ok(Written::Done);
                }
                self.fresh = answers(&self.head).cloned().collect();
                if !self.is_held() {
                    return Err(BookError::Lost);
                }
                if meanwhile == Meanwhile::Yield {
                    return Ok(Written::Moved);
                }
            } else {
                let not_a_number = in_the_way
                    .iter()
                    .any(|other| state.iter().any(|change| other.met_bytes(change)));
                return Ok(Written::StateConflict { not_a_number });
            }
        }
    }

    fn is_held(&self) -> bool {
        self.head.is_held_by(&self.token)
    }

    /// What the run is to be told: some of it, it may know already.
    pub(super) fn take_fresh(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.fresh)
    }

    /// Takes the head as it was found in the way. The run is lost where there is none.
    fn find(&mut self, in_the_way: Vec<InTheWay>) -> Result<(), BookError> {
        let name = head_name(&self.job.task_id)?;
        let item = in_the_way
            .into_iter()
            .find(|other| other.name == name)
            .and_then(|other| other.item);
        let Some(Item {
            value, revision, ..
        }) = item
        else {
            return Err(BookError::Lost);
        };
        self.head = Head::from_value(&value)?;
        self.revision = revision;
        Ok(())
    }

    /// The head after a change, and the pages that the journal needs for it.
    fn after(
        &self,
        delta: &Delta,
        mark: &str,
        now: Timestamp,
    ) -> Result<(Head, Vec<Change>), BookError> {
        let mut pages = Vec::new();
        let mut next = match &delta.then {
            Then::End(end) => {
                let mut next = self.head.clone();
                if let Some(message) = &delta.news.message {
                    next.message = Some(message.clone());
                }
                next.ended(end.clone(), now)
            }
            then => {
                let mut next = self.head.clone();
                let before = (next.message.clone(), next.asks.is_empty());
                let has_results = delta.news.entries.iter().any(Entry::is_result);
                for op in &delta.news.withdrawn {
                    next.asks.remove(op);
                    next.sleeps.remove(op);
                }
                next.asks.extend(delta.news.asked.clone());
                next.sleeps.extend(delta.news.slept.clone());
                next.journal.extend(delta.news.entries.iter().cloned());
                if let Some(message) = &delta.news.message {
                    next.message = Some(message.clone());
                }
                if before != (next.message.clone(), next.asks.is_empty()) {
                    next.touch(now);
                }
                if next.asks.values().map(Ask::size).sum::<usize>() > MAX_ASKS_BYTES {
                    return Err(BookError::TooManyAsks);
                }
                match then {
                    Then::Release { due } => {
                        next.lease = None;
                        next.due = *due;
                        next.handed = due.filter(|at| *at <= now);
                        next.deaths = 0;
                    }
                    Then::Die { due } => {
                        next.lease = None;
                        next.due = Some(*due);
                        next.deaths += 1;
                    }
                    Then::Rest { due } => {
                        next.lease = None;
                        next.due = Some(*due);
                    }
                    Then::Hold | Then::End(_) => {
                        if let Some(lease) = &mut next.lease {
                            lease.until = now + LEASE;
                        }
                        if has_results {
                            next.deaths = 0;
                        }
                    }
                }
                self.spill(&mut next, &mut pages)?;
                next
            }
        };
        mark.clone_into(&mut next.mark);
        Ok((next, pages))
    }

    /// Moves the journal from the head to pages, where it has outgrown it.
    fn spill(&self, head: &mut Head, pages: &mut Vec<Change>) -> Result<(), BookError> {
        let bytes: usize = head.journal.iter().map(Entry::size).sum();
        if bytes <= MAX_TAIL_BYTES {
            return Ok(());
        }
        head.paged += bytes;
        let mut page = Vec::new();
        let mut page_bytes = 0;
        let mut whole = Vec::new();
        for entry in std::mem::take(&mut head.journal) {
            let size = entry.size();
            if page_bytes + size > MAX_PAGE_BYTES && !page.is_empty() {
                whole.push(std::mem::take(&mut page));
                page_bytes = 0;
            }
            page_bytes += size;
            page.push(entry);
        }
        whole.push(page);
        for journal in whole {
            if head.pages >= MAX_PAGES_EVER {
                return Err(BookError::Full);
            }
            pages.push(Change::put(
                page_name(&self.job.task_id, head.pages)?,
                Expect::Any,
                Page::new(journal).to_value()?,
                Some(head.expires),
            ));
            head.pages += 1;
        }
        Ok(())
    }

    /// Sends one commit that moves the head, its due entry and what goes with them.
    async fn put(
        &mut self,
        next: Head,
        changes: Vec<Change>,
        now: Timestamp,
    ) -> Result<Result<(), Vec<InTheWay>>, BookError> {
        let mut commit = self.ports.commit(
            &self.job.partition,
            head_name(&self.job.task_id)?,
            Some(self.revision),
            next.to_value()?,
            Some(next.expires),
        )?;
        for change in moved_due(&self.job.task_id, &self.head, &next)? {
            commit.push(change)?;
        }
        if next.end.is_some() {
            for change in leftovers(&self.job.task_id, &self.head)? {
                commit.push(change)?;
            }
        }
        for change in changes {
            commit.push(change)?;
        }
        Ok(match self.ports.send(&commit, now).await? {
            Outcome::Applied => {
                self.head = next;
                self.revision = commit.id();
                Ok(())
            }
            Outcome::Conflict(in_the_way) => Err(in_the_way),
        })
    }
}

/// The answers in a head's journal.
fn answers(head: &Head) -> impl Iterator<Item = &Entry> {
    let is_answer = |entry: &&Entry| matches!(entry, Entry::Answer { .. });
    head.journal.iter().filter(is_answer)
}

impl InTheWay {
    /// Whether an addition met what can't be added to.
    fn met_bytes(&self, change: &Change) -> bool {
        matches!(change.operation, Operation::Add { .. })
            && self.name == change.name
            && change.expect.holds(self.item.as_ref())
            && !change.operation.fits(self.item.as_ref())
    }
}

/// The changes that move a task's due entry from where one head has it to where another has it.
pub(super) fn moved_due(
    task_id: &str,
    before: &Head,
    after: &Head,
) -> Result<Vec<Change>, KeyError> {
    let mut changes = Vec::new();
    if before.due == after.due {
        return Ok(changes);
    }
    if let Some(at) = before.due {
        changes.push(Change {
            name: due::name(task_id, at)?,
            expect: Expect::Any,
            operation: Operation::Delete,
        });
    }
    if let Some(at) = after.due {
        changes.push(due_entry(task_id, at, after)?);
    }
    Ok(changes)
}

/// The entry that says when somebody has to look at a task.
pub(super) fn due_entry(task_id: &str, at: Timestamp, head: &Head) -> Result<Change, KeyError> {
    Ok(Change::put(
        due::name(task_id, at)?,
        Expect::Any,
        crate::store::Value::Bytes(bytes::Bytes::new()),
        Some(head.expires),
    ))
}

/// The deletions of all that only a living task needs.
pub(super) fn leftovers(task_id: &str, head: &Head) -> Result<Vec<Change>, KeyError> {
    let mut names: Vec<Name> = vec![origin_name(task_id)?];
    for page in 0..head.pages {
        names.push(page_name(task_id, page)?);
    }
    Ok(names
        .into_iter()
        .map(|name| Change {
            name,
            expect: Expect::Any,
            operation: Operation::Delete,
        })
        .collect())
}
