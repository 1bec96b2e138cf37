//! How a task begins, and how it goes on.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::{
    background::{Job, Ran, RunTaskError},
    book::{Book, BookError, Delta, Meanwhile, Then, due_entry},
    context::{TaskContext, TaskRun},
    record::{Head, LEASE, Lease, Origin, Unreadable, head_name, origin_name},
    replay::Replay,
    requests::shown,
    runner::{self, MAX_DEATHS, Place, Runner, Stopped},
};
use crate::{
    budget::Deadline,
    causes::with_causes,
    context::{Caller, Settings},
    extension::{BuiltRun, BuiltTask, BuiltTool, Extension, Prepared},
    ledger::{
        Admission, Admit, Begin, Claim, Claimed, Fingerprint, LedgerError, Retry, canonical,
        idempotency_key,
    },
    mcp::{Context, ResultObject, UserRequest},
    ports::Ports,
    signing::Verified,
    state::Access,
    store::{Change, Expect, MAX_VALUE_BYTES, Name, Partition, Revision},
    time::Timestamp,
};

/// Everything that tasks are made of and run by.
#[derive(Clone, Copy)]
pub(crate) struct Tasks<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) extension: &'a Extension,
}

/// A call of a task tool, its arguments checked.
pub(crate) struct NewTask<'a> {
    pub(crate) request: &'a Verified,
    pub(crate) context: &'a Context,
    pub(crate) name: &'a str,
    pub(crate) tool: &'a BuiltTool,
    pub(crate) task: &'a BuiltTask,
    pub(crate) arguments: &'a Value,
    pub(crate) deadline: Deadline,
    pub(crate) retention: std::time::Duration,
}

/// What came of such a call.
pub(crate) enum Created {
    /// The task, now or when the call came first.
    Answer(Bytes),
    /// The arguments and what goes with them are more than can be kept.
    TooLarge,
    Replayed,
    OtherContent,
    StillRunning,
    OutcomeUnknown,
}

/// How many times a run looks again when others move its task's head.
const MAX_LOOKS: u32 = 16;

impl Tasks<'_> {
    /// Creates the task of a call, or finds the one that it has, and runs it until its first step: by `first`, whose
    /// arguments are read already.
    pub(crate) async fn create(
        &self,
        call: NewTask<'_>,
        first: Prepared<TaskContext>,
    ) -> Result<Created, LedgerError> {
        let NewTask {
            context, deadline, ..
        } = call;
        let partition = Partition::installation(context.installation_id.as_str());
        let job = Job {
            partition: partition.clone(),
            task_id: format!("{:032x}", self.ports.runtime.dyn_random()),
        };
        let head = self.first_head(&call);
        let user_request = call.user_request();
        let origin = Origin::new(
            call.name,
            call.arguments,
            call.request.id(),
            context,
            user_request.as_ref(),
        );
        let answer = ResultObject::task(&shown(&job.task_id, &head), &self.extension.server)
            .map_err(|_| Unreadable)?;
        let answer = answer.as_bytes().clone();
        let origin_value = origin.to_value()?;
        if origin_value.size() > MAX_VALUE_BYTES {
            return Ok(Created::TooLarge);
        }
        let revision = match self
            .begin(&call, &job, &head, origin_value, answer.clone())
            .await?
        {
            Ok(revision) => revision,
            Err(created) => return Ok(created),
        };

        let book = Book::created(self.ports, &job, head, revision);
        let run = self.task_run(&job, &book, &origin, call.tool, call.task, Vec::new());
        let handler = first(TaskContext::new(Arc::clone(&run)));
        let until = self.ports.now() + deadline.handler_remaining(self.ports.now());
        let runner = Runner::new(
            self.ports,
            book,
            run,
            handler,
            &self.extension.server,
            Place::Request { until },
        );
        // Boxed, so that no request's future is as large as a run's.
        match Box::pin(runner.run()).await {
            Ok(stopped) => {
                self.hand_on(&job, stopped).await;
            }
            // The task stands, and its due entry with it: another run goes on when this one's lease is over.
            Err(error) => {
                tracing::warn!(task_id = job.task_id, error = %with_causes(&error), "the task's first run broke off");
                self.schedule(&job, deadline.lease_end()).await;
            }
        }
        Ok(Created::Answer(answer))
    }

    fn first_head(&self, call: &NewTask<'_>) -> Head {
        let created = call.deadline.received;
        let mut head = Head::new(
            &call.context.asker_id,
            created,
            call.task.ttl,
            call.task.poll_interval,
        );
        // Held by this request, no longer than it may take.
        let until = call.deadline.lease_end().min(created + LEASE);
        head.lease = Some(Lease {
            token: format!("{:032x}", self.ports.runtime.dyn_random()),
            until,
        });
        head.due = Some(until);
        head
    }

    /// Commits the claim, the record and the task as one; the revision of the head, or what else is to be answered.
    async fn begin(
        &self,
        call: &NewTask<'_>,
        job: &Job,
        head: &Head,
        origin: crate::store::Value,
        answer: Bytes,
    ) -> Result<Result<Revision, Created>, LedgerError> {
        let put = |name: Name, value| Change::put(name, Expect::Absent, value, Some(head.expires));
        let mut changes = vec![
            put(head_name(&job.task_id)?, head.to_value()?),
            put(origin_name(&job.task_id)?, origin),
        ];
        if let Some(due) = head.due {
            changes.push(due_entry(&job.task_id, due, head)?);
        }
        let claim = Claim::of(call.request)?;
        let received = call.deadline.received;
        let Some(call_id) = &call.context.call_id else {
            return Ok(
                match claim
                    .take_with(self.ports, &job.partition, changes, received)
                    .await
                {
                    Ok(Claimed::Fresh(revision)) => Ok(revision),
                    Ok(Claimed::Replayed | Claimed::Conflict) => Err(Created::Replayed),
                    Err(error) => Err(unknown_or(error)?),
                },
            );
        };
        let admit = Admit {
            ports: self.ports,
            partition: &job.partition,
            record: Name::of(["call", call_id.as_str()])?,
            fingerprint: Fingerprint::of(&[
                call.context.asker_id.as_str().as_bytes(),
                call.name.as_bytes(),
                &canonical(call.arguments),
            ]),
            retry: Retry::AsNeeded,
            begin: Begin::Done {
                answer,
                changes,
                kept_until: head.expires,
            },
            retention: call.retention,
            deadline: call.deadline,
        };
        let mut claim = Some(claim);
        Ok(match admit.admit(&mut claim).await {
            Ok(Admission::Run(held)) => Ok(held.revision()),
            Ok(Admission::Answer(answer)) => Err(Created::Answer(answer)),
            Ok(Admission::Replayed) => Err(Created::Replayed),
            Ok(Admission::OtherContent) => Err(Created::OtherContent),
            Ok(Admission::StillRunning) => Err(Created::StillRunning),
            Ok(Admission::OutcomeUnknown) => Err(Created::OutcomeUnknown),
            Err(error) if claim.is_none() => {
                tracing::error!(request_id = call.request.id(), error = %with_causes(&error), "the call's record could not be followed; its outcome is not known");
                Err(Created::OutcomeUnknown)
            }
            Err(error) => Err(unknown_or(error)?),
        })
    }

    /// Goes on with a task.
    pub(crate) async fn run(
        &self,
        job: &Job,
        until: Option<Timestamp>,
    ) -> Result<Ran, RunTaskError> {
        match self.go_on(job, until).await {
            Ok(Ok(ran)) => Ok(ran),
            Ok(Err(tool)) => Err(RunTaskError::Tool(tool)),
            Err(BookError::Lost) => Ok(Ran::Ended),
            Err(BookError::Store(error)) => Err(RunTaskError::Store(error)),
            Err(
                BookError::Unreadable(_)
                | BookError::Commit(_)
                | BookError::Key(_)
                | BookError::Full
                | BookError::TooManyAsks,
            ) => Err(RunTaskError::Record),
        }
    }

    /// The same; the name of a tool that is gone.
    async fn go_on(
        &self,
        job: &Job,
        until: Option<Timestamp>,
    ) -> Result<Result<Ran, String>, BookError> {
        for _ in 0..MAX_LOOKS {
            let now = self.ports.now();
            let item = self
                .ports
                .read(&job.partition, &head_name(&job.task_id)?)
                .await?;
            let Some(item) = item else {
                return Ok(Ok(Ran::Ended));
            };
            let head = Head::from_value(&item.value)?;
            if head.end.is_some() {
                return Ok(Ok(Ran::Ended));
            }
            if let Some(until) = head.held_until(now) {
                return Ok(Ok(Ran::Busy(until)));
            }
            if !head.is_due(now) {
                return Ok(Ok(head.due.map_or(Ran::Waiting, Ran::Early)));
            }
            let origin = self
                .ports
                .read(&job.partition, &origin_name(&job.task_id)?)
                .await?;
            let Some(origin) = origin else {
                // It ended between the two reads.
                continue;
            };
            let origin = Origin::from_value(&origin.value)?;
            let Some((tool, task)) = self.task_tool(&origin.tool) else {
                return Ok(Err(origin.tool));
            };
            if let Some(book) = Book::take(self.ports, job, &head, item.revision, now).await? {
                match self.run_held(job, book, &origin, tool, task, until).await {
                    Ok(stopped) => return Ok(Ok(self.hand_on(job, stopped).await)),
                    // It has ended, or is another's: the next look tells.
                    Err(BookError::Lost) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        // Others moved it each time, so it is in good hands.
        Ok(Ok(Ran::Busy(self.ports.now() + LEASE)))
    }

    async fn run_held(
        &self,
        job: &Job,
        mut book: Book<'_>,
        origin: &Origin,
        tool: &BuiltTool,
        task: &BuiltTask,
        until: Option<Timestamp>,
    ) -> Result<Stopped, BookError> {
        if book.head.deaths >= MAX_DEATHS {
            tracing::error!(task_id = job.task_id, "the task keeps dying, and is ended");
            return end(&mut book, runner::died()).await;
        }
        let Ok(prepared) = task.handler.prepare(&origin.arguments) else {
            tracing::error!(
                task_id = job.task_id,
                tool = origin.tool,
                "the task's arguments are no longer what its tool takes"
            );
            return end(&mut book, runner::changed()).await;
        };
        let journal = book.journal().await?;
        let run = self.task_run(job, &book, origin, tool, task, journal);
        let handler = prepared(TaskContext::new(Arc::clone(&run)));
        let place = Place::Background { until };
        let runner = Runner::new(
            self.ports,
            book,
            run,
            handler,
            &self.extension.server,
            place,
        );
        Box::pin(runner.run()).await
    }

    fn task_tool(&self, name: &str) -> Option<(&BuiltTool, &BuiltTask)> {
        let tool = self.extension.tools.get(name)?;
        match &tool.run {
            BuiltRun::Task(task) => Some((tool, task)),
            BuiltRun::Call(_) => None,
        }
    }

    fn task_run(
        &self,
        job: &Job,
        book: &Book<'_>,
        origin: &Origin,
        tool: &BuiltTool,
        task: &BuiltTask,
        journal: Vec<super::entry::Entry>,
    ) -> Arc<TaskRun> {
        let head = &book.head;
        let asks = head.asks.keys().copied();
        let sleeps = head.sleeps.keys().copied();
        Arc::new(TaskRun {
            caller: Caller {
                request_id: origin.request.as_str().into(),
                installation_id: origin.installation.as_str().into(),
                channel_id: origin.channel.as_deref().map(Into::into),
                settings: Settings::from_json(Value::Object(origin.settings.clone())),
                idempotency_key: idempotency_key(&["task", job.partition.as_str(), &job.task_id]),
            },
            asker_id: head.asker().into(),
            call_id: origin.call.as_deref().map(Into::into),
            user_request: origin.user_request().map(Arc::new),
            task_id: job.task_id.as_str().into(),
            expires: head.expires,
            partition: job.partition.clone(),
            access: if tool.read_only {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            },
            forms: Arc::clone(&task.forms),
            ports: self.ports.clone(),
            replay: Replay::new(journal, asks, sleeps),
        })
    }

    /// Has the background go on where a run stopped.
    async fn hand_on(&self, job: &Job, stopped: Stopped) -> Ran {
        let at = match stopped {
            Stopped::Ended => return Ran::Ended,
            Stopped::Suspended { due: None } => return Ran::Waiting,
            Stopped::Suspended { due: Some(at) } | Stopped::HandedOver { at } => at,
        };
        self.schedule(job, at).await;
        Ran::Later(at)
    }

    /// Hands a task to the background. Where that fails, the due entry and the next poll make up for it.
    pub(super) async fn schedule(&self, job: &Job, at: Timestamp) {
        let Some(background) = &self.ports.background else {
            return;
        };
        let Err(error) = background.dyn_schedule(job.clone(), at).await else {
            return;
        };
        let Some(message) = error.ends_the_task() else {
            tracing::warn!(task_id = job.task_id, error = %with_causes(&error), "the task was not handed to the background; a poll will do it again");
            return;
        };
        tracing::error!(task_id = job.task_id, error = %with_causes(&error), "{message}; the task is ended");
        if let Err(error) = self.give_up(job, message).await {
            // The next poll hands it over again, and comes here.
            tracing::warn!(task_id = job.task_id, error = %with_causes(&error), "the task could not be ended");
        }
    }

    /// Ends a task that nobody can be told to run, unless somebody runs it or it waits for an answer.
    async fn give_up(&self, job: &Job, message: &str) -> Result<(), BookError> {
        for _ in 0..MAX_LOOKS {
            let now = self.ports.now();
            let item = self
                .ports
                .read(&job.partition, &head_name(&job.task_id)?)
                .await?;
            let Some(item) = item else { return Ok(()) };
            let head = Head::from_value(&item.value)?;
            if head.end.is_some() || head.due.is_none() || head.held_until(now).is_some() {
                return Ok(());
            }
            if let Some(mut book) = Book::take(self.ports, job, &head, item.revision, now).await? {
                let failed = runner::failed(message);
                return match end(&mut book, failed).await {
                    // Cancelled meanwhile.
                    Ok(_) | Err(BookError::Lost) => Ok(()),
                    Err(error) => Err(error),
                };
            }
        }
        Ok(())
    }
}

impl NewTask<'_> {
    fn user_request(&self) -> Option<UserRequest> {
        self.context
            .user_request
            .clone()
            .filter(|_| self.tool.user_request)
    }
}

async fn end(book: &mut Book<'_>, end: super::record::End) -> Result<Stopped, BookError> {
    let delta = Delta {
        then: Then::End(end),
        ..Delta::default()
    };
    book.write(&delta, &[], Meanwhile::Rebase).await?;
    Ok(Stopped::Ended)
}

/// A commit that may have been applied may have made a task; otherwise nothing was.
fn unknown_or(error: LedgerError) -> Result<Created, LedgerError> {
    if error.is_unknown() {
        tracing::error!(error = %with_causes(&error), "it is not known whether a task was created");
        Ok(Created::OutcomeUnknown)
    } else {
        Err(error)
    }
}
