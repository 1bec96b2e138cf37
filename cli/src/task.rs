//! Tasks, as MCP's tasks extension (`io.modelcontextprotocol/tasks`) writes them.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use crate::{
    answer_error::{AnswerError, RpcError},
    input_request::InputRequest,
    outcome::{Outcome, ToolResult},
};

/// What every answer about a task says of it.
#[derive(Clone, PartialEq)]
pub struct Task {
    /// What the task is asked about by.
    pub id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// What there is to say about the status, such as how far the work is.
    pub status_message: Option<String>,
    /// When it was created, as the extension wrote it: ISO 8601.
    pub created_at: String,
    /// When it last changed, as the extension wrote it: ISO 8601.
    pub last_updated_at: String,
    /// How long from its creation the task is kept, in milliseconds; `None` for as long as it takes.
    pub ttl_ms: Option<u64>,
    /// How long to wait between two questions about it, in milliseconds, where the extension says so.
    pub poll_interval_ms: Option<u64>,
    fields: Map<String, Value>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// The work goes on.
    Working,
    /// The work waits for answers.
    InputRequired,
    /// There is a result; perhaps a rejection.
    Completed,
    /// A JSON-RPC error ended the work.
    Failed,
    /// The work was cancelled.
    Cancelled,
}

/// A task with what its status brings along: the answer to `tasks/get`.
#[derive(Clone, PartialEq)]
pub struct DetailedTask {
    /// What every answer about the task says of it.
    pub task: Task,
    /// What its status brings along.
    pub state: TaskState,
}

/// A task's status, with what it brings along.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// The work goes on.
    Working,
    /// The work waits for answers to these requests, each under the key that its answer is to bear.
    InputRequired(BTreeMap<String, InputRequest>),
    /// The call's result; perhaps with a rejection, see [`ToolResult::is_error`].
    Completed(ToolResult),
    /// The JSON-RPC error that ended the work.
    Failed(RpcError),
    /// The work was cancelled.
    Cancelled,
}

impl Task {
    pub(crate) fn read(fields: Map<String, Value>) -> Result<Self, AnswerError> {
        let text = |name, problem| match fields.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err(AnswerError::shape(problem)),
        };
        Ok(Self {
            id: text("taskId", "its task has no text `taskId`")?,
            status: TaskStatus::read(&text("status", "its task has no text `status`")?)?,
            status_message: match fields.get("statusMessage") {
                None => None,
                Some(Value::String(message)) => Some(message.clone()),
                Some(_) => return Err(AnswerError::shape("its task's `statusMessage` is no text")),
            },
            created_at: text("createdAt", "its task has no text `createdAt`")?,
            last_updated_at: text("lastUpdatedAt", "its task has no text `lastUpdatedAt`")?,
            ttl_ms: match fields.get("ttlMs") {
                Some(Value::Null) => None,
                Some(Value::Number(ttl)) if ttl.is_u64() => ttl.as_u64(),
                _ => {
                    return Err(AnswerError::shape(
                        "its task's `ttlMs` is neither a whole number of milliseconds nor null",
                    ));
                }
            },
            poll_interval_ms: match fields.get("pollIntervalMs") {
                None => None,
                Some(Value::Number(interval)) if interval.is_u64() => interval.as_u64(),
                Some(_) => {
                    return Err(AnswerError::shape(
                        "its task's `pollIntervalMs` is no whole number of milliseconds",
                    ));
                }
            },
            fields,
        })
    }

    /// The whole task, as it came.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.fields
    }
}

impl TaskStatus {
    fn read(status: &str) -> Result<Self, AnswerError> {
        let known = [
            Self::Working,
            Self::InputRequired,
            Self::Completed,
            Self::Failed,
            Self::Cancelled,
        ];
        known
            .into_iter()
            .find(|known| known.as_str() == status)
            .ok_or_else(|| AnswerError::shape("its task's `status` is none that is known"))
    }

    /// The status as MCP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the task has ended: it stays as it is.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl DetailedTask {
    pub(crate) fn read(result: Map<String, Value>) -> Result<Self, AnswerError> {
        let task = Task::read(result)?;
        let field = |name| task.fields.get(name).cloned();
        let state = match task.status {
            TaskStatus::Working => TaskState::Working,
            TaskStatus::InputRequired => {
                TaskState::InputRequired(requests(field("inputRequests"))?)
            }
            TaskStatus::Completed => TaskState::Completed(nested_result(field("result"))?),
            TaskStatus::Failed => {
                let error = field("error").and_then(RpcError::read).ok_or_else(|| {
                    AnswerError::shape("its task failed without an `error` of a code and a message")
                })?;
                TaskState::Failed(error)
            }
            TaskStatus::Cancelled => TaskState::Cancelled,
        };
        Ok(Self { task, state })
    }
}

fn requests(requests: Option<Value>) -> Result<BTreeMap<String, InputRequest>, AnswerError> {
    let Some(Value::Object(requests)) = requests else {
        return Err(AnswerError::shape(
            "its task requires input and has no `inputRequests`",
        ));
    };
    requests
        .into_iter()
        .map(|(key, request)| Ok((key, InputRequest::read(request)?)))
        .collect()
}

/// What the call would have been answered with, had it not become a task.
fn nested_result(result: Option<Value>) -> Result<ToolResult, AnswerError> {
    let Some(Value::Object(result)) = result else {
        return Err(AnswerError::shape(
            "its task is completed without a `result`",
        ));
    };
    match Outcome::read(result)? {
        Outcome::Complete(result) => Ok(result),
        Outcome::Task(_) | Outcome::InputRequired(_) => Err(AnswerError::shape(
            "its task is completed with a `result` that is none",
        )),
    }
}

impl fmt::Debug for Task {
    /// Without the message, which may be someone's: it stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("id", &self.id)
            .field("status", &self.status)
            .field("created_at", &self.created_at)
            .field("last_updated_at", &self.last_updated_at)
            .field("ttl_ms", &self.ttl_ms)
            .field("poll_interval_ms", &self.poll_interval_ms)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DetailedTask {
    /// The task's own form, and the shape of what its status brings along.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetailedTask")
            .field("task", &self.task)
            .field("state", &self.state)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::AnswerErrorKind;

    fn with(changes: &Value) -> Map<String, Value> {
        let mut task = json!({
            "taskId": "t1",
            "status": "working",
            "createdAt": "2026-07-28T00:00:00Z",
            "lastUpdatedAt": "2026-07-28T00:00:01Z",
            "ttlMs": 60_000,
        });
        for (name, value) in changes.as_object().unwrap() {
            task[name] = value.clone();
        }
        task.as_object().unwrap().clone()
    }

    fn state(changes: &Value) -> TaskState {
        DetailedTask::read(with(changes)).unwrap().state
    }

    fn problem(fields: Map<String, Value>) -> String {
        let error = DetailedTask::read(fields).unwrap_err();
        assert_eq!(error.kind(), AnswerErrorKind::Shape);
        error.to_string()
    }

    #[test]
    fn every_field_of_a_task_is_read() {
        let task = Task::read(with(
            &json!({"statusMessage": "1 of 3", "pollIntervalMs": 500, "extra": 1}),
        ))
        .unwrap();
        assert_eq!(task.id, "t1");
        assert_eq!(task.status, TaskStatus::Working);
        assert_eq!(task.status_message.as_deref(), Some("1 of 3"));
        assert_eq!(task.created_at, "2026-07-28T00:00:00Z");
        assert_eq!(task.last_updated_at, "2026-07-28T00:00:01Z");
        assert_eq!(task.ttl_ms, Some(60_000));
        assert_eq!(task.poll_interval_ms, Some(500));
        assert_eq!(task.as_map()["extra"], 1);

        let bare = Task::read(with(&json!({"ttlMs": null}))).unwrap();
        assert_eq!(
            (bare.ttl_ms, bare.poll_interval_ms, bare.status_message),
            (None, None, None)
        );
    }

    #[test]
    fn each_status_brings_its_own_along() {
        assert_eq!(state(&json!({})), TaskState::Working);
        assert_eq!(state(&json!({"status": "cancelled"})), TaskState::Cancelled);
        let TaskState::Completed(result) =
            state(&json!({"status": "completed", "result": {"isError": true}}))
        else {
            panic!("it is completed")
        };
        assert!(result.is_error());
        let TaskState::Failed(error) =
            state(&json!({"status": "failed", "error": {"code": -32603, "message": "oven broke"}}))
        else {
            panic!("it failed")
        };
        assert_eq!((error.code, error.message.as_str()), (-32603, "oven broke"));
        let form = json!({"method": "elicitation/create", "params": {
            "message": "Sweet or salty?", "requestedSchema": {"type": "object", "properties": {}},
        }});
        let TaskState::InputRequired(requests) =
            state(&json!({"status": "input_required", "inputRequests": {"taste": form}}))
        else {
            panic!("it asks")
        };
        let form = requests["taste"].form().unwrap();
        assert_eq!(form.message, "Sweet or salty?");
    }

    #[test]
    fn a_status_tells_whether_the_task_has_ended() {
        let ended = |status| TaskStatus::read(status).unwrap().is_terminal();
        assert!(ended("completed") && ended("failed") && ended("cancelled"));
        assert!(!ended("working") && !ended("input_required"));
    }

    #[test]
    fn an_unknown_status_is_an_error_that_says_so() {
        for status in ["paused", "Working", ""] {
            let problem = problem(with(&json!({"status": status})));
            assert!(
                problem.contains("`status` is none that is known"),
                "{problem}"
            );
        }
    }

    #[test]
    fn what_a_task_lacks_is_named() {
        for name in ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"] {
            let mut fields = with(&json!({}));
            fields.remove(name);
            let problem = problem(fields);
            assert!(problem.contains(&format!("`{name}`")), "{problem}");
        }
    }

    #[test]
    fn what_is_of_another_type_is_named() {
        for (changes, name) in [
            (json!({"taskId": 1}), "taskId"),
            (json!({"status": null}), "status"),
            (json!({"statusMessage": ["x"]}), "statusMessage"),
            (json!({"ttlMs": "60000"}), "ttlMs"),
            (json!({"ttlMs": -1}), "ttlMs"),
            (json!({"ttlMs": 0.5}), "ttlMs"),
            (json!({"pollIntervalMs": null}), "pollIntervalMs"),
            (json!({"pollIntervalMs": -1}), "pollIntervalMs"),
            (json!({"status": "completed"}), "result"),
            (json!({"status": "completed", "result": []}), "result"),
            (
                json!({"status": "completed", "result": {"resultType": "input_required"}}),
                "result",
            ),
            (json!({"status": "failed"}), "error"),
            (json!({"status": "failed", "error": {"code": 1}}), "error"),
            (json!({"status": "input_required"}), "inputRequests"),
            (
                json!({"status": "input_required", "inputRequests": []}),
                "inputRequests",
            ),
            (
                json!({"status": "input_required", "inputRequests": {"k": 1}}),
                "inputRequests",
            ),
        ] {
            let problem = problem(with(&changes));
            assert!(
                problem.contains(&format!("`{name}`")),
                "{changes}: {problem}"
            );
        }
    }

    #[test]
    fn debug_shows_no_message_and_no_result() {
        let task = DetailedTask::read(with(&json!({
            "status": "completed", "statusMessage": "private", "result": {"content": ["private"]},
        })));
        let text = format!("{:?}", task.unwrap());
        assert!(text.contains("t1") && text.contains("Completed"), "{text}");
        assert!(!text.contains("private"), "{text}");
    }
}
