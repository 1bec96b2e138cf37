//! Following a task until it ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal as _, Write as _},
};

use pup_extension_cli::{
    Answer, ClientError, InputRequest, InputResponses, Task, TaskState, ToolResult,
};
use serde_json::{Map, Value, json};

use super::{
    Session,
    pace::Pace,
    progress::Progress,
    prompt::{Filled, Prompt},
};
use crate::{
    args::FollowArgs,
    failure::{Failure, Kind},
    render,
    report::Report,
    style::{BAD, NOTE, safe, styled},
};

/// How often in a row a request that brought nothing is sent again.
const RETRIES: u32 = 5;

/// MCP's code for wrong parameters: here, for answers that the task does not take.
const INVALID_PARAMS: i64 = -32602;

/// Follows a task until it ends, requires input that nobody gives, or takes too long. A call that was just
/// answered with the task starts the story.
pub(crate) async fn watch(
    session: &Session,
    created: Option<(Answer, Task)>,
    follow: &FollowArgs,
    json: bool,
) -> Result<Report, Failure> {
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut watch = Watch {
        session,
        json,
        asks: follow.input || (terminal && !follow.no_input && !json),
        pace: Pace::new(follow.timeout),
        progress: Progress::new(json),
        answered: BTreeSet::new(),
        last: None,
        task: None,
    };
    let outcome = watch.follow(created).await;
    Ok(watch.report(outcome))
}

struct Watch<'a> {
    session: &'a Session,
    json: bool,
    /// Whether there is somebody to ask.
    asks: bool,
    pace: Pace,
    progress: Progress,
    /// The keys that were answered, which may stand among the task's questions for a while yet.
    answered: BTreeSet<String>,
    /// The last answer about the task, and the task in it.
    last: Option<Answer>,
    task: Option<Map<String, Value>>,
}

impl Watch<'_> {
    async fn follow(&mut self, created: Option<(Answer, Task)>) -> Result<Report, Failure> {
        if let Some((answer, task)) = created {
            self.last = Some(answer);
            self.note(&task);
            if self.progress.created(&task).is_err() {
                return Ok(Report::default());
            }
            self.pace.wait(0).await?;
        }
        let session = self.session;
        loop {
            let answer = self
                .patiently(async || {
                    session
                        .client
                        .get_task(&session.id, session.options())
                        .await
                })
                .await?;
            let read = answer.task();
            let read = read.map_err(|error| Failure::of_answer(&answer, &error));
            self.last = Some(answer);
            let detailed = read?;
            self.note(&detailed.task);
            if self.progress.show(&detailed.task).is_err() {
                // A reader that has gone away wants to know no more.
                return Ok(Report::default());
            }
            match detailed.state {
                TaskState::Working => {}
                TaskState::InputRequired(requests) => {
                    if let Some(report) = self.answer(requests).await? {
                        return Ok(report);
                    }
                }
                TaskState::Completed(result) => return Ok(self.completed(&result)),
                TaskState::Failed(error) => return Err(Failure::of_failed_task(&error)),
                TaskState::Cancelled => {
                    return Err(Failure::new(Kind::Cancelled, "the task was cancelled"));
                }
            }
            self.pace.wait(0).await?;
        }
    }

    fn note(&mut self, task: &Task) {
        self.pace.keep_to(task);
        self.task = Some(task.as_map().clone());
    }

    fn completed(&self, result: &ToolResult) -> Report {
        let report = Report::new(render::result(result), json!(self.task));
        if result.is_error() {
            report.but_failed(Failure::rejection())
        } else {
            report
        }
    }

    /// Answers what was not answered yet. A report where that can't be done here.
    async fn answer(
        &mut self,
        mut requests: BTreeMap<String, InputRequest>,
    ) -> Result<Option<Report>, Failure> {
        requests.retain(|key, _| !self.answered.contains(key));
        if requests.is_empty() {
            return Ok(None);
        }
        if let Some(failure) = unanswerable(&requests) {
            let report = Report::new(render::questions(&requests), json!(self.task));
            return Ok(Some(report.but_failed(failure)));
        }
        let asks = self.asks;
        let responses = self.pace.paused(|| asks.then(|| ask(&requests)).flatten());
        let Some(responses) = responses else {
            let failure = Failure::new(Kind::InputRequired, "the task waits for input")
                .hint(self.session.next.answer(&requests));
            let report = Report::new(render::questions(&requests), json!(self.task));
            return Ok(Some(report.but_failed(failure)));
        };
        let session = self.session;
        let answer = self
            .patiently(async || {
                let (id, options) = (&session.id, session.options());
                session
                    .client
                    .update_task(id, responses.clone(), options)
                    .await
            })
            .await?;
        let error = answer.acknowledged().err();
        let failure = error
            .as_ref()
            .map(|error| Failure::of_answer(&answer, error));
        self.last = Some(answer);
        match (error, failure) {
            (None, _) | (_, None) => self.answered.extend(responses.keys().map(str::to_owned)),
            // What is asked stays open, and is asked again.
            (Some(error), Some(failure))
                if error.refused().map(|refusal| refusal.code) == Some(INVALID_PARAMS) =>
            {
                tell(&format!(
                    "{} {}",
                    styled(BAD, "error:"),
                    safe(failure.message())
                ));
            }
            (_, Some(failure)) => return Err(failure),
        }
        Ok(None)
    }

    /// Sends a request; where it brings nothing that time may not mend, again, a few times in a row. That the
    /// extension is there at all must have shown before.
    async fn patiently(
        &self,
        request: impl AsyncFn() -> Result<Answer, ClientError>,
    ) -> Result<Answer, Failure> {
        let mut failures = 0;
        loop {
            let sent = self.pace.bounded(request()).await?;
            let problem = match &sent {
                Ok(answer) if may_pass(answer) => format!("HTTP {}", answer.status().as_u16()),
                Err(error) if error.is_unreachable() => error.to_string(),
                _ => return sent.map_err(Failure::from),
            };
            if !self.pace.is_kept() || failures == RETRIES {
                return sent.map_err(Failure::from);
            }
            if failures == 0 && !self.json {
                tell(&styled(NOTE, format!("asking again: {problem}")).to_string());
            }
            self.pace.wait(failures).await?;
            failures += 1;
        }
    }

    /// What became of it, with what was last known of the task.
    fn report(self, outcome: Result<Report, Failure>) -> Report {
        let report = match (outcome, self.task) {
            (Ok(report), _) => report,
            (Err(failure), Some(task)) => {
                Report::new(String::new(), json!(task)).but_failed(failure)
            }
            (Err(failure), None) => Report::failed(failure),
        };
        let report = report.with("changes", self.progress.into_changes());
        match &self.last {
            Some(answer) => Report::of(answer, Ok(report)),
            None => report,
        }
    }
}

/// Why nobody can be asked: one of the requests is none that pup puts to its members.
fn unanswerable(requests: &BTreeMap<String, InputRequest>) -> Option<Failure> {
    let other = requests.values().find_map(|request| match request {
        InputRequest::Form(_) => None,
        InputRequest::Other(fields) => Some(fields),
    })?;
    let method = other.text("method").unwrap_or_default();
    let message = format!("the task asks for more than a form ({method})");
    Some(Failure::new(Kind::Invalid, message).hint("pup has its members fill in forms alone"))
}

/// Puts the questions to whoever types; `None` when nobody does. Nothing else goes on meanwhile.
fn ask(requests: &BTreeMap<String, InputRequest>) -> Option<InputResponses> {
    let echo = !io::stdin().is_terminal();
    let mut prompt = Prompt::new(io::stdin().lock(), anstream::stderr().lock(), echo);
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        responses = match prompt.fill(key, request.form()?)? {
            Filled::Accepted(content) => responses.accept(key, content),
            Filled::Declined => responses.decline(key),
            Filled::Cancelled => responses.cancel(key),
        };
    }
    Some(responses)
}

/// Whether the same request may be answered otherwise in a moment: the extension is busy, or failed.
fn may_pass(answer: &Answer) -> bool {
    answer.status().as_u16() == 429 || answer.status().is_server_error()
}

/// A line beside the output. That nobody reads it is no failure.
fn tell(text: &str) {
    writeln!(anstream::stderr().lock(), "{text}").ok();
}
