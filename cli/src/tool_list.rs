//! A page of `tools/list`.

use serde_json::{Map, Value};

use crate::{answer_error::AnswerError, param_headers::ParamHeaders};

/// A page of the tool list, or several put together.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    /// The tools, in the extension's order.
    pub tools: Vec<ToolDefinition>,
    /// The tools that a client must not use.
    pub excluded: Vec<ExcludedTool>,
    /// What asks for the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// A tool as the list defines it.
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    name: String,
    definition: Map<String, Value>,
    pub(crate) param_headers: ParamHeaders,
}

/// A tool whose definition breaks a rule, so that MCP has its clients leave it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedTool {
    /// The tool's name; empty where it has none.
    pub name: String,
    /// The rule that it breaks.
    pub reason: String,
}

impl ToolDefinition {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole definition, as it came.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.definition
    }
}

impl ToolList {
    pub(crate) fn read(mut result: Map<String, Value>) -> Result<Self, AnswerError> {
        let Some(Value::Array(definitions)) = result.remove("tools") else {
            return Err(AnswerError::shape("its result has no list of `tools`"));
        };
        let mut list = Self::default();
        for definition in definitions {
            match read_tool(definition) {
                Ok(tool) => list.tools.push(tool),
                Err(excluded) => list.excluded.push(excluded),
            }
        }
        list.next_cursor = match result.remove("nextCursor") {
            Some(Value::String(cursor)) => Some(cursor),
            None | Some(Value::Null) => None,
            Some(_) => return Err(AnswerError::shape("its `nextCursor` is no text")),
        };
        Ok(list)
    }
}

fn read_tool(definition: Value) -> Result<ToolDefinition, ExcludedTool> {
    let excluded = |name: &str, reason: String| ExcludedTool {
        name: name.to_owned(),
        reason,
    };
    let Value::Object(definition) = definition else {
        return Err(excluded("", "it is no object".to_owned()));
    };
    let Some(name) = definition
        .get("name")
        .and_then(Value::as_str)
        .map(str::to_owned)
    else {
        return Err(excluded("", "it has no name".to_owned()));
    };
    let Some(schema) = definition
        .get("inputSchema")
        .filter(|schema| schema.is_object())
    else {
        return Err(excluded(&name, "it has no `inputSchema`".to_owned()));
    };
    match ParamHeaders::read(schema) {
        Ok(param_headers) => Ok(ToolDefinition {
            name,
            definition,
            param_headers,
        }),
        Err(error) => Err(excluded(&name, error.to_string())),
    }
}
