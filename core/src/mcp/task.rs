//! Tasks, as MCP's tasks extension (`io.modelcontextprotocol/tasks`) writes them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// What every answer about a task says of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    pub(crate) task_id: String,
    pub(crate) status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status_message: Option<String>,
    /// RFC 3339, as the next.
    pub(crate) created_at: String,
    pub(crate) last_updated_at: String,
    /// From its creation.
    pub(crate) ttl_ms: u64,
    pub(crate) poll_interval_ms: u64,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// What `tasks/get` answers with: a task, with what its status brings along.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DetailedTask {
    #[serde(flatten)]
    pub(crate) task: Task,
    /// While input is required.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) input_requests: BTreeMap<String, InputRequest>,
    /// Once completed: the result of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Box<RawValue>>,
    /// Once failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<TaskFault>,
}

/// The JSON-RPC error that ended a task.
#[derive(Serialize)]
pub(crate) struct TaskFault {
    pub(crate) code: i64,
    pub(crate) message: String,
}

/// A form that somebody is to fill in.
#[derive(Serialize)]
#[serde(tag = "method", content = "params")]
pub(crate) enum InputRequest {
    #[serde(rename = "elicitation/create", rename_all = "camelCase")]
    Elicitation {
        mode: &'static str,
        message: String,
        requested_schema: Value,
    },
}

/// One answer in `tasks/update`.
#[derive(Debug, PartialEq)]
pub(crate) enum InputResponse<'a> {
    /// With the form's content.
    Accept(&'a Value),
    Decline,
    Cancel,
}

impl<'a> InputResponse<'a> {
    /// Reads MCP's `ElicitResult`; what is wrong with it, after its path.
    pub(crate) fn read(response: &'a Value) -> Result<Self, &'static str> {
        const NOTHING: &Value = &Value::Null;
        let Value::Object(members) = response else {
            return Err(" must be an object");
        };
        match members.get("action").and_then(Value::as_str) {
            Some("accept") => match members.get("content").unwrap_or(NOTHING) {
                content @ Value::Object(_) => Ok(Self::Accept(content)),
                _ => Err(".content must be an object, since it was accepted"),
            },
            Some("decline") => Ok(Self::Decline),
            Some("cancel") => Ok(Self::Cancel),
            _ => Err(".action must be `accept`, `decline` or `cancel`"),
        }
    }
}
