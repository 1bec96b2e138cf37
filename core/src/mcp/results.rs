//! What each method answers with.

use std::{fmt, time::Duration};

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{Content, SUPPORTED_VERSIONS, TASKS_EXTENSION, ToolDefinition};

/// What `tools/call` answers with.
///
/// A tool that ran and says no is a result too, with `is_error`, so that the model can see why. Only what is wrong
/// with the request itself is an [`Error`](super::Error).
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// For models and people.
    pub content: Vec<Content>,
    /// For programs: any JSON value, one that fits the tool's output schema where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the call was rejected.
    pub is_error: bool,
}

impl CallToolResult {
    /// A structured result with its JSON as text, as MCP advises for clients that read only one of the two.
    ///
    /// ```
    /// use pup_extension::mcp::CallToolResult;
    ///
    /// let result = CallToolResult::structured(serde_json::json!({"saved": "fruit"}));
    /// assert_eq!(
    ///     serde_json::to_value(&result).unwrap(),
    ///     serde_json::json!({
    ///         "content": [{"type": "text", "text": "{\"saved\":\"fruit\"}"}],
    ///         "structuredContent": {"saved": "fruit"},
    ///         "isError": false,
    ///     }),
    /// );
    /// ```
    #[must_use]
    pub fn structured(value: Value) -> Self {
        Self {
            content: vec![Content::text(value.to_string())],
            structured_content: Some(value),
            is_error: false,
        }
    }

    /// A result of content alone.
    pub fn content(content: impl IntoIterator<Item = Content>) -> Self {
        Self {
            content: content.into_iter().collect(),
            structured_content: None,
            is_error: false,
        }
    }

    /// A rejection, with words that the model may act on.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(message)],
            structured_content: None,
            is_error: true,
        }
    }
}

/// Results are people's data: only their shape is shown.
impl fmt::Debug for CallToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallToolResult")
            .field("content", &self.content)
            .field(
                "structured_content",
                &self.structured_content.as_ref().map(|_| ".."),
            )
            .field("is_error", &self.is_error)
            .finish()
    }
}

/// What `tools/list` answers with: one page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListToolsResult {
    /// The tools, in an order that stays the same.
    pub tools: Vec<ToolDefinition>,
    /// Where the next page starts; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long it may be kept. All pages must have the same scope.
    #[serde(flatten)]
    pub cache: CacheHint,
}

/// What `server/discover` answers with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    supported_versions: &'static [&'static str],
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(flatten)]
    cache: CacheHint,
}

impl DiscoverResult {
    /// A server of tools, without notice of changes to their list; with `tasks`, one whose tools may return tasks.
    #[must_use]
    pub fn new(tasks: bool, instructions: Option<String>, cache: CacheHint) -> Self {
        Self {
            supported_versions: SUPPORTED_VERSIONS,
            capabilities: Capabilities { tasks },
            instructions,
            cache,
        }
    }
}

/// What `tasks/update` and `tasks/cancel` answer with: that they were heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EmptyResult {}

/// How long a client may keep a result, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheHint {
    /// How long; goes out in whole milliseconds. Zero: ask every time.
    #[serde(rename = "ttlMs", serialize_with = "as_millis")]
    pub ttl: Duration,
    /// For whom.
    #[serde(rename = "cacheScope")]
    pub scope: CacheScope,
}

/// For whom a result may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// For everyone: it is the same for all, and holds nothing private.
    Public,
    /// For the caller that asked.
    Private,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Capabilities {
    tasks: bool,
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let empty = serde_json::Map::new();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tools", &empty)?;
        if self.tasks {
            map.serialize_entry(
                "extensions",
                &std::collections::BTreeMap::from([(TASKS_EXTENSION, &empty)]),
            )?;
        }
        map.end()
    }
}

fn as_millis<S: Serializer>(ttl: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
}
