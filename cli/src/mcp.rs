//! MCP requests as pup writes them.

use http::{HeaderMap, HeaderValue, header};
use pup_extension::mcp::{CONTEXT_KEY, header as mcp_header};
use serde_json::{Map, Value, json};

use crate::header_value;

pub use pup_extension::mcp::PROTOCOL_VERSION;

/// What a call carries beside its tool and arguments.
///
/// ```
/// use pup_extension_cli::CallOptions;
/// let retry = CallOptions::new().call_id("call_1").webhook_id("msg_2");
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    pub(crate) call_id: CallId,
    pub(crate) webhook_id: Option<String>,
    pub(crate) user_request: Option<UserRequest>,
}

#[derive(Clone, Default)]
pub(crate) enum CallId {
    #[default]
    Fresh,
    Given(String),
    Absent,
}

/// The message that led to a call, as a tool with `userRequest: true` is told it.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRequest {
    /// The message's id.
    pub message_id: String,
    /// The channel that it was written in, which can differ from the one that is answered in.
    pub channel_id: String,
    /// Its text.
    pub content: String,
}

impl CallOptions {
    /// A fresh `callId`, a fresh `webhook-id`, no message.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the call: the same id again is a retry of the same call.
    #[must_use]
    pub fn call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = CallId::Given(id.into());
        self
    }

    /// Leaves `callId` out, so that the extension can't know a retry of the call.
    #[must_use]
    pub fn without_call_id(mut self) -> Self {
        self.call_id = CallId::Absent;
        self
    }

    /// Names the request: the same id again is a replay.
    #[must_use]
    pub fn webhook_id(mut self, id: impl Into<String>) -> Self {
        self.webhook_id = Some(id.into());
        self
    }

    /// Sends the message that led to the call along. Pup does so only for a tool that declares `userRequest`.
    #[must_use]
    pub fn user_request(mut self, message: UserRequest) -> Self {
        self.user_request = Some(message);
        self
    }
}

impl std::fmt::Debug for CallOptions {
    /// The ids alone: the message stays out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let call_id = match &self.call_id {
            CallId::Fresh => "(fresh)",
            CallId::Given(id) => id,
            CallId::Absent => "(absent)",
        };
        f.debug_struct("CallOptions")
            .field("call_id", &call_id)
            .field("webhook_id", &self.webhook_id)
            .field("user_request", &self.user_request)
            .finish()
    }
}

impl std::fmt::Debug for UserRequest {
    /// The ids alone: the message stays out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRequest")
            .field("message_id", &self.message_id)
            .field("channel_id", &self.channel_id)
            .finish_non_exhaustive()
    }
}

/// Adds to a context what belongs to one call.
pub(crate) fn add_call(
    context: &mut Map<String, Value>,
    call_id: Option<&str>,
    user_request: Option<&UserRequest>,
) {
    if let Some(id) = call_id {
        context.insert("callId".to_owned(), json!(id));
    }
    if let Some(message) = user_request {
        let snapshot = json!({
            "messageId": message.message_id,
            "channelId": message.channel_id,
            "content": message.content,
        });
        context.insert("userRequest".to_owned(), snapshot);
    }
}

/// The body of a request: its parameters, with the metadata that every request carries.
pub(crate) fn body(
    id: u64,
    method: &str,
    mut params: Map<String, Value>,
    capabilities: &Map<String, Value>,
    context: &Map<String, Value>,
) -> Vec<u8> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "pup-ext", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        CONTEXT_KEY: context,
    });
    params.insert("_meta".to_owned(), meta);
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        .to_string()
        .into_bytes()
}

/// The headers of a request: what MCP mirrors from the body, and what it asks of every POST.
pub(crate) fn headers(method: &str, params: &Map<String, Value>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    headers.insert(
        mcp_header::PROTOCOL_VERSION,
        HeaderValue::from_static(PROTOCOL_VERSION),
    );
    headers.insert(mcp_header::METHOD, header_value::encode(method));
    if let Some(name) = name_source(method)
        .and_then(|key| params.get(key))
        .and_then(Value::as_str)
    {
        headers.insert(mcp_header::NAME, header_value::encode(name));
    }
    headers
}

/// The parameter that `Mcp-Name` mirrors, for the methods that have one.
fn name_source(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_mirrored_for_the_methods_that_have_one() {
        let params = json!({"name": "menü", "uri": "u", "taskId": "t"})
            .as_object()
            .unwrap()
            .clone();
        let name = |method| headers(method, &params).get("mcp-name").cloned();
        assert_eq!(name("tools/call").unwrap(), "=?base64?bWVuw7w=?=");
        assert_eq!(name("tasks/get").unwrap(), "t");
        assert_eq!(name("resources/read").unwrap(), "u");
        assert_eq!(name("server/discover"), None);
        assert_eq!(name("tools/list"), None);
    }

    #[test]
    fn debug_shows_no_message() {
        let message = UserRequest {
            message_id: "m1".to_owned(),
            channel_id: "c1".to_owned(),
            content: "for your eyes only".to_owned(),
        };
        let text = format!(
            "{:?}",
            CallOptions::new().call_id("call_1").user_request(message)
        );
        assert!(text.contains("m1") && text.contains("call_1"), "{text}");
        assert!(!text.contains("eyes"), "{text}");
    }
}
