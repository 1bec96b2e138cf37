//! A tool as `tools/list` shows it.

use serde::Serialize;
use serde_json::{Map, Value};

/// The definition of a tool.
///
/// ```
/// use pup_extension::mcp::ToolDefinition;
///
/// let tool = ToolDefinition::new("snack_menu");
/// assert_eq!(
///     serde_json::to_string(&tool).unwrap(),
///     r#"{"name":"snack_menu","inputSchema":{"additionalProperties":false,"type":"object"}}"#,
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema (2020-12) of its arguments. Its root must have `type: "object"`.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema (2020-12) of its structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Hints about what it does.
    #[serde(skip_serializing_if = "ToolAnnotations::is_empty")]
    pub annotations: ToolAnnotations,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

impl ToolDefinition {
    /// A tool that takes no arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema: Map::from_iter([
                (String::from("type"), Value::from("object")),
                (String::from("additionalProperties"), Value::from(false)),
            ]),
            output_schema: None,
            annotations: ToolAnnotations::default(),
            meta: Map::new(),
        }
    }
}

/// Hints about a tool; what is `None` is not said. pup decides its write policy by the manifest, not by these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing. Not said: it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something, where it changes anything. Not said: it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more. Not said: it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It deals with things outside. Not said: it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
