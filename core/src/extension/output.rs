//! What a handler returns, and what becomes of it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::error::ToolError;
use crate::{
    mcp::{CallToolResult, Content},
    presentation::Presentation,
    schema,
};

/// What a tool can return: data that serializes, a [`Reply`], [`Contents`], or a `Result` of one of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "a tool returns `Result<T, ToolError>`",
    note = "`T` is data that implements `serde::Serialize` and `schemars::JsonSchema`, a `Reply` or `Contents`"
)]
pub trait ToolResult {
    #[doc(hidden)]
    fn output_schema() -> Option<Value>;

    #[doc(hidden)]
    fn into_result(self) -> Result<CallToolResult, ToolError>;
}

impl<T: ToolOutput, E: Into<ToolError>> ToolResult for Result<T, E> {
    fn output_schema() -> Option<Value> {
        T::output_schema()
    }

    fn into_result(self) -> Result<CallToolResult, ToolError> {
        self.map_err(Into::into).and_then(T::into_result)
    }
}

/// What stands in a tool's `Ok`: data, a [`Reply`] or [`Contents`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "not data that a tool can return",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it, or return a `Reply` or `Contents`"
)]
pub trait ToolOutput {
    #[doc(hidden)]
    fn output_schema() -> Option<Value>;

    #[doc(hidden)]
    fn into_result(self) -> Result<CallToolResult, ToolError>;
}

impl<T: Serialize + JsonSchema> ToolOutput for T {
    fn output_schema() -> Option<Value> {
        Some(schema::output_of::<T>())
    }

    fn into_result(self) -> Result<CallToolResult, ToolError> {
        structured(&self, None)
    }
}

/// Data, together with the block that pup shows beside it: fields, and buttons that call tools.
///
/// The block stands in the structured content, under `pup`; so the data must be an object without a member of
/// that name.
#[derive(Clone, Debug)]
pub struct Reply<T> {
    data: T,
    pup: Option<Presentation>,
}

impl<T> Reply<T> {
    /// A reply of data alone.
    pub const fn new(data: T) -> Self {
        Self { data, pup: None }
    }

    /// Adds the block.
    #[must_use]
    pub fn pup(mut self, presentation: Presentation) -> Self {
        self.pup = Some(presentation);
        self
    }
}

impl<T: Serialize + JsonSchema> ToolOutput for Reply<T> {
    fn output_schema() -> Option<Value> {
        let mut schema = schema::output_of::<T>();
        // The block is pup's own, so the schema says no more of it than that it is there.
        let properties = schema
            .as_object_mut()?
            .entry("properties")
            .or_insert_with(|| Value::Object(Default::default()));
        properties
            .as_object_mut()?
            .entry("pup")
            .or_insert_with(|| serde_json::json!({ "type": "object" }));
        Some(schema)
    }

    fn into_result(self) -> Result<CallToolResult, ToolError> {
        structured(&self.data, self.pup.as_ref())
    }
}

/// MCP content of any kind (text, image, audio, resource links, embedded resources), without structured data.
#[derive(Clone, Debug, Default)]
pub struct Contents(Vec<Content>);

impl Contents {
    /// From what is to be shown, in its order.
    #[must_use]
    pub fn new(contents: impl IntoIterator<Item = Content>) -> Self {
        Self(contents.into_iter().collect())
    }
}

impl From<Content> for Contents {
    fn from(content: Content) -> Self {
        Self(vec![content])
    }
}

impl ToolOutput for Contents {
    fn output_schema() -> Option<Value> {
        None
    }

    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::content(self.0))
    }
}

/// The data as structured content, and its JSON as text for clients that read only that.
fn structured(
    data: &impl Serialize,
    pup: Option<&Presentation>,
) -> Result<CallToolResult, ToolError> {
    let mut value =
        serde_json::to_value(data).map_err(|_| ToolError::failed(OutputError::NotJson))?;
    if let Some(pup) = pup {
        let block =
            serde_json::to_value(pup).map_err(|_| ToolError::failed(OutputError::NotJson))?;
        let members = value
            .as_object_mut()
            .ok_or_else(|| ToolError::failed(OutputError::NoObject))?;
        if members.insert("pup".into(), block).is_some() {
            return Err(ToolError::failed(OutputError::PupTaken));
        }
    }
    Ok(CallToolResult::structured(value))
}

#[derive(Debug, thiserror::Error)]
enum OutputError {
    #[error("the tool's result can't be written as JSON")]
    NotJson,
    #[error("a reply with a `pup` block needs an object as its data")]
    NoObject,
    #[error("a reply with a `pup` block can't have a member `pup` in its data")]
    PupTaken,
}
