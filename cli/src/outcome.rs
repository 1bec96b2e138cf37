//! What became of a `tools/call`.

use std::fmt;

use serde_json::{Map, Value};

use crate::{answer_error::AnswerError, task::Task};

/// What became of a `tools/call`.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The tool answered; perhaps with a rejection, see [`ToolResult::is_error`].
    Complete(ToolResult),
    /// The tool goes on as a task, to be asked about by its id: see [`Client::get_task`](crate::Client::get_task).
    Task(Task),
    /// The extension asks for input before it answers. The `InputRequiredResult` as MCP writes it.
    InputRequired(Fields),
}

/// The fields of an object. Its `Debug` shows their names alone, since a value may be someone's message.
#[derive(Clone, PartialEq)]
pub struct Fields(Map<String, Value>);

/// A tool's result.
#[derive(Clone, PartialEq)]
pub struct ToolResult(Map<String, Value>);

impl Outcome {
    pub(crate) fn read(result: Map<String, Value>) -> Result<Self, AnswerError> {
        match result.get("resultType").map(Value::as_str) {
            None | Some(Some("complete")) => Ok(Self::Complete(ToolResult(result))),
            Some(Some("task")) => Task::read(result).map(Self::Task),
            Some(Some("input_required")) => Ok(Self::InputRequired(Fields(result))),
            Some(_) => Err(AnswerError::shape("its `resultType` is none that is known")),
        }
    }
}

impl ToolResult {
    /// Whether the tool rejected what was asked of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.0
            .get("isError")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// The structured content.
    #[must_use]
    pub fn structured(&self) -> Option<&Value> {
        self.0.get("structuredContent")
    }

    /// The `pup` block of the structured content: fields and actions that pup shows.
    #[must_use]
    pub fn pup(&self) -> Option<&Value> {
        self.structured()?.get("pup")
    }

    /// The content blocks; none where the result has no list of them.
    #[must_use]
    pub fn content(&self) -> &[Value] {
        self.0
            .get("content")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The texts among the content blocks.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content()
            .iter()
            .filter_map(|block| block.get("text")?.as_str())
    }

    /// The whole result, as it came.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl Fields {
    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// A field that is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// All fields, as they came.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fields")
            .field(&self.0.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl fmt::Debug for ToolResult {
    /// The shape alone: results stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("is_error", &self.is_error())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::AnswerErrorKind;

    fn read(result: &Value) -> Result<Outcome, AnswerError> {
        Outcome::read(result.as_object().unwrap().clone())
    }

    #[test]
    fn the_result_type_tells_results_from_tasks() {
        assert!(matches!(read(&json!({})), Ok(Outcome::Complete(_))));
        assert!(matches!(
            read(&json!({"resultType": "complete"})),
            Ok(Outcome::Complete(_))
        ));
        assert!(matches!(
            read(&json!({"resultType": "input_required"})),
            Ok(Outcome::InputRequired(_))
        ));
        let task = json!({
            "resultType": "task", "taskId": "t1", "status": "working", "createdAt": "", "lastUpdatedAt": "",
            "ttlMs": null,
        });
        let Ok(Outcome::Task(task)) = read(&task) else {
            panic!("a task")
        };
        assert_eq!(task.id, "t1");
        assert_eq!(
            read(&json!({"resultType": "task"})).unwrap_err().kind(),
            AnswerErrorKind::Shape
        );
        for unknown in [json!("partial"), json!(1)] {
            assert_eq!(
                read(&json!({"resultType": unknown})).unwrap_err().kind(),
                AnswerErrorKind::Shape
            );
        }
    }

    #[test]
    fn a_result_shows_its_parts() {
        let result = json!({
            "isError": true,
            "content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}],
            "structuredContent": {"pup": {"fields": []}},
        });
        let Ok(Outcome::Complete(result)) = read(&result) else {
            panic!("a result")
        };
        assert!(result.is_error());
        assert_eq!(result.texts().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(result.pup(), Some(&json!({"fields": []})));
    }

    #[test]
    fn parts_of_a_wrong_type_are_absent() {
        let result = json!({"isError": "yes", "content": 1, "structuredContent": []});
        let Ok(Outcome::Complete(result)) = read(&result) else {
            panic!("a result")
        };
        assert!(!result.is_error() && result.content().is_empty() && result.pup().is_none());
    }
}
