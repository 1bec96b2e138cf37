//! What pup asks of a task: how it stands, to take answers, to end.
//!
//! Each request reads the head once and then commits its claim, with what it changes of the task. So a task that is
//! unknown, another member's or another installation's is refused after the same store operations as any, and in the
//! same words.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    background::Job,
    book::{leftovers, moved_due},
    entry::{Answer, Entry},
    record::{End, Head, Unreadable, ask_key, ask_op, head_name},
    start::Tasks,
};
use crate::{
    budget::Deadline,
    form::Form,
    ledger::{Claim, Claimed, LedgerError},
    mcp::{Context, DetailedTask, Error, InputRequest, InputResponse, Task, TaskFault, TaskStatus},
    signing::Verified,
    store::{Change, Expect, MAX_VALUE_BYTES, Partition},
    time::Timestamp,
};

/// A request about a task, verified.
pub(crate) struct Requests<'a> {
    pub(crate) tasks: Tasks<'a>,
    pub(crate) request: &'a Verified,
    pub(crate) context: &'a Context,
    pub(crate) deadline: Deadline,
}

/// Why a request about a task has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// It was refused, under its own claim.
    #[error(transparent)]
    Refused(Error),
    /// The ledger or the store can't tell.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What a request makes of a task.
struct Outcome {
    head: Head,
    /// Whether somebody is to run it now.
    run: bool,
}

/// The most bytes of a head after an answer: a run that takes it has to add a little.
const MAX_HEAD_BYTES: usize = MAX_VALUE_BYTES - 16 * 1024;
/// The most bytes of the answers that one request brings.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

impl Requests<'_> {
    /// How a task stands. One that is due, and that nobody runs, is handed to the background: once in a while,
    /// however often it is polled.
    pub(crate) async fn get(&self, task_id: &str) -> Result<DetailedTask, RequestError> {
        let outcome = self
            .change(task_id, |head, now| {
                Ok(head.is_to_be_handed_over(now).then(|| {
                    let mut head = head.clone();
                    head.handed = Some(now);
                    Outcome { head, run: true }
                }))
            })
            .await?;
        Ok(detailed(task_id, &outcome))
    }

    /// Takes answers to what a task asks. One that does not fit is refused, and none of the request is taken; what is
    /// for a question that is not open is passed over.
    pub(crate) async fn update(
        &self,
        task_id: &str,
        responses: &Map<String, Value>,
    ) -> Result<(), RequestError> {
        self.change(task_id, |head, now| {
            let answers = answers(head, responses)?;
            if answers.is_empty() {
                return Ok(None);
            }
            let mut next = head.clone();
            for (op, answer) in answers {
                next.asks.remove(&op);
                next.journal.push(Entry::Answer { op, answer });
            }
            next.touch(now);
            // A run that is at work finds the answer by itself.
            let run = head.held_until(now).is_none();
            if run {
                next.due = Some(now);
                next.handed = Some(now);
            }
            let bytes = next.to_value().map_or(usize::MAX, |value| value.size());
            if bytes > MAX_HEAD_BYTES {
                // A run moves what it has read out of the head.
                return Err(Error::invalid_params(
                    "params.inputResponses has more than the task can take at once: send the rest in a moment",
                ));
            }
            Ok(Some(Outcome { head: next, run }))
        })
        .await?;
        Ok(())
    }

    /// Ends a task. A run that is at work stops where it would commit next.
    pub(crate) async fn cancel(&self, task_id: &str) -> Result<(), RequestError> {
        self.change(task_id, |head, now| {
            Ok(head.end.is_none().then(|| Outcome {
                head: head.ended(End::Cancelled, now),
                run: false,
            }))
        })
        .await?;
        Ok(())
    }

    /// Claims the request, and changes the task in the same commit; the head as it then is.
    async fn change(
        &self,
        task_id: &str,
        change: impl Fn(&Head, Timestamp) -> Result<Option<Outcome>, Error>,
    ) -> Result<Head, RequestError> {
        let ports = self.tasks.ports;
        let partition = Partition::installation(self.context.installation_id.as_str());
        let name = head_name(task_id).map_err(LedgerError::from)?;
        let claim = Claim::of(self.request)?;
        loop {
            let now = ports.now();
            let item = ports
                .read(&partition, &name)
                .await
                .map_err(LedgerError::from)?;
            let found = match item {
                None => None,
                Some(item) => Head::for_asker(&item.value, &self.context.asker_id)
                    .map_err(LedgerError::from)?
                    .map(|head| (head, item.revision)),
            };
            let (answer, changes, run) = match found {
                None => (Err(no_such_task()), Vec::new(), false),
                Some((head, revision)) => match change(&head, now) {
                    Err(error) => (Err(error), Vec::new(), false),
                    Ok(None) => (Ok(head), Vec::new(), false),
                    Ok(Some(outcome)) => {
                        let next = outcome.head;
                        let mut changes = vec![Change::put(
                            name.clone(),
                            Expect::At(revision),
                            next.to_value().map_err(LedgerError::from)?,
                            Some(next.expires),
                        )];
                        changes
                            .extend(moved_due(task_id, &head, &next).map_err(LedgerError::from)?);
                        if next.end.is_some() {
                            changes.extend(leftovers(task_id, &head).map_err(LedgerError::from)?);
                        }
                        (Ok(next), changes, outcome.run)
                    }
                },
            };
            match claim
                .take_with(ports, &partition, changes, self.deadline.received)
                .await?
            {
                Claimed::Fresh(_) => {}
                Claimed::Replayed => return Err(RequestError::Refused(Error::replayed())),
                Claimed::Conflict => {
                    if self.deadline.handler_remaining(ports.now()).is_zero() {
                        return Err(LedgerError::OutOfTime.into());
                    }
                    continue;
                }
            }
            if run {
                let job = Job {
                    partition,
                    task_id: task_id.to_owned(),
                };
                self.tasks.schedule(&job, now).await;
            }
            return answer.map_err(RequestError::Refused);
        }
    }
}

fn no_such_task() -> Error {
    Error::invalid_params(
        "params.taskId is no task of this member's here: it may have ended long ago",
    )
}

/// The answers to questions that are open, each held against its form.
fn answers(head: &Head, responses: &Map<String, Value>) -> Result<Vec<(u32, Answer)>, Error> {
    let mut answers = Vec::new();
    let mut bytes = 0;
    for (key, response) in responses {
        let Some((op, ask)) = ask_op(key).and_then(|op| Some((op, head.asks.get(&op)?))) else {
            continue;
        };
        let path = format!("params.inputResponses[\"{key}\"]");
        let response = InputResponse::read(response)
            .map_err(|what| Error::invalid_params(format!("{path}{what}")))?;
        let answer = match response {
            InputResponse::Decline => Answer::Declined,
            InputResponse::Cancel => Answer::Cancelled,
            InputResponse::Accept(content) => {
                let form = Form::restore(ask.schema.clone(), ask.sets.iter().cloned())
                    .map_err(|_| Error::internal())?;
                form.check(content).map_err(|mismatches| {
                    Error::invalid_params(format!("{path} doesn't fit its form: {mismatches}"))
                })?;
                let content =
                    serde_json::value::to_raw_value(content).map_err(|_| Error::internal())?;
                bytes += content.get().len();
                Answer::Accepted(content)
            }
        };
        answers.push((op, answer));
    }
    if bytes > MAX_ANSWER_BYTES {
        return Err(Error::invalid_params(format!(
            "params.inputResponses has {bytes} bytes of answers; {MAX_ANSWER_BYTES} are allowed"
        )));
    }
    // In one order, whatever that of the request is.
    answers.sort_by_key(|(op, _)| *op);
    Ok(answers)
}

/// What every answer about a task says of it.
pub(super) fn shown(task_id: &str, head: &Head) -> Task {
    let status = match &head.end {
        Some(End::Completed(_)) => TaskStatus::Completed,
        Some(End::Failed { .. }) => TaskStatus::Failed,
        Some(End::Cancelled) => TaskStatus::Cancelled,
        None if head.asks.is_empty() => TaskStatus::Working,
        None => TaskStatus::InputRequired,
    };
    Task {
        task_id: task_id.to_owned(),
        status,
        status_message: head.message.clone(),
        created_at: head.created.to_rfc3339(),
        last_updated_at: head.updated.to_rfc3339(),
        ttl_ms: head.ttl_ms(),
        poll_interval_ms: head.poll_interval_ms(),
    }
}

fn detailed(task_id: &str, head: &Head) -> DetailedTask {
    let input_requests: BTreeMap<String, InputRequest> = head
        .asks
        .iter()
        .map(|(op, ask)| {
            let request = InputRequest::Elicitation {
                mode: "form",
                message: ask.message.clone(),
                requested_schema: ask.schema.clone(),
            };
            (ask_key(*op), request)
        })
        .collect();
    let (result, error) = match &head.end {
        Some(End::Completed(result)) => (Some(result.clone()), None),
        Some(End::Failed { code, message }) => {
            let message = message.clone();
            (
                None,
                Some(TaskFault {
                    code: *code,
                    message,
                }),
            )
        }
        Some(End::Cancelled) | None => (None, None),
    };
    DetailedTask {
        task: shown(task_id, head),
        input_requests,
        result,
        error,
    }
}

impl From<Unreadable> for LedgerError {
    fn from(_: Unreadable) -> Self {
        Self::Corrupt(crate::ledger::Corrupt)
    }
}
