//! What names a request about a task.

use crate::mcp::{CallId, CallOptions};

/// What a request about a task carries beside the task's id.
///
/// ```
/// use pup_extension_cli::TaskOptions;
/// let options = TaskOptions::new().call_id("call_1");
/// ```
#[derive(Clone, Debug, Default)]
pub struct TaskOptions {
    call_id: Option<String>,
    webhook_id: Option<String>,
}

impl TaskOptions {
    /// No `callId`, a fresh `webhook-id`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the call that the task came from, as pup does in every request about the task.
    #[must_use]
    pub fn call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Names the request: the same id again is a replay.
    #[must_use]
    pub fn webhook_id(mut self, id: impl Into<String>) -> Self {
        self.webhook_id = Some(id.into());
        self
    }

    pub(crate) fn into_call_options(self) -> CallOptions {
        CallOptions {
            call_id: self.call_id.map_or(CallId::Absent, CallId::Given),
            webhook_id: self.webhook_id,
            user_request: None,
        }
    }
}
