//! What a task asks of the member, and what is answered.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::{answer_error::AnswerError, outcome::Fields};

/// What a task asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum InputRequest {
    /// A form to fill in: an `elicitation/create` in form mode, the one kind that pup puts to its members.
    Form(Form),
    /// Any other request, as MCP writes it.
    Other(Fields),
}

/// A form to fill in.
#[derive(Clone, PartialEq)]
pub struct Form {
    /// What the member is asked.
    pub message: String,
    /// The JSON schema of the answer: an object of flat fields.
    pub schema: Map<String, Value>,
}

/// Answers to what a task asks, each under the key of its question.
///
/// ```
/// use pup_extension_cli::InputResponses;
/// use serde_json::json;
/// let responses = InputResponses::new()
///     .accept("taste", json!({"taste": "sweet"}))
///     .decline("drink");
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct InputResponses(Map<String, Value>);

impl InputRequest {
    pub(crate) fn read(request: Value) -> Result<Self, AnswerError> {
        let Value::Object(mut request) = request else {
            return Err(AnswerError::shape(
                "one of its `inputRequests` is no object",
            ));
        };
        let Some(Value::String(method)) = request.get("method") else {
            return Err(AnswerError::shape(
                "one of its `inputRequests` has no text `method`",
            ));
        };
        let mode = request.get("params").and_then(|params| params.get("mode"));
        if method != "elicitation/create" || mode.is_some_and(|mode| mode != "form") {
            return Ok(Self::Other(Fields::new(request)));
        }
        let Some(Value::Object(mut params)) = request.remove("params") else {
            return Err(AnswerError::shape("one of its forms has no `params`"));
        };
        match (params.remove("message"), params.remove("requestedSchema")) {
            (Some(Value::String(message)), Some(Value::Object(schema))) => {
                Ok(Self::Form(Form { message, schema }))
            }
            (Some(Value::String(_)), _) => Err(AnswerError::shape(
                "one of its forms has no object `requestedSchema`",
            )),
            _ => Err(AnswerError::shape("one of its forms has no text `message`")),
        }
    }

    /// The form, if it is one.
    #[must_use]
    pub fn form(&self) -> Option<&Form> {
        match self {
            Self::Form(form) => Some(form),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Debug for Form {
    /// The shape alone: the message stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").finish_non_exhaustive()
    }
}

impl InputResponses {
    /// No answers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills a form in. Content that is not an object is sent as it is, for the extension to refuse.
    #[must_use]
    pub fn accept(self, key: impl Into<String>, content: impl Into<Value>) -> Self {
        let content = content.into();
        self.respond(key, json!({"action": "accept", "content": content}))
    }

    /// Says no to a question.
    #[must_use]
    pub fn decline(self, key: impl Into<String>) -> Self {
        self.respond(key, json!({"action": "decline"}))
    }

    /// Dismisses a question without a choice.
    #[must_use]
    pub fn cancel(self, key: impl Into<String>) -> Self {
        self.respond(key, json!({"action": "cancel"}))
    }

    /// Answers with any JSON, for trying what the extension does with it.
    #[must_use]
    pub fn respond(mut self, key: impl Into<String>, response: impl Into<Value>) -> Self {
        self.0.insert(key.into(), response.into());
        self
    }

    /// The keys that are answered, each once.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether nothing is answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

impl fmt::Debug for InputResponses {
    /// The keys alone: answers stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputResponses")
            .field(&self.0.keys().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(params: &Value) -> Result<InputRequest, AnswerError> {
        InputRequest::read(json!({"method": "elicitation/create", "params": params}))
    }

    #[test]
    fn a_form_may_leave_its_mode_out() {
        let params = json!({"message": "How many?", "requestedSchema": {"type": "object"}});
        let mut with_mode = params.clone();
        with_mode["mode"] = json!("form");
        for params in [params, with_mode] {
            let request = form(&params).unwrap();
            assert_eq!(request.form().unwrap().message, "How many?");
            assert_eq!(request.form().unwrap().schema["type"], "object");
        }
    }

    #[test]
    fn requests_of_other_kinds_are_kept_as_they_are() {
        let url = form(&json!({"mode": "url", "message": "", "url": "https://x.example"}));
        assert!(url.unwrap().form().is_none());
        let sampling = json!({"method": "sampling/createMessage", "params": {}});
        let InputRequest::Other(fields) = InputRequest::read(sampling.clone()).unwrap() else {
            panic!("it is no form")
        };
        assert_eq!(Some(fields.as_map()), sampling.as_object());
    }

    #[test]
    fn what_a_form_lacks_is_named() {
        for (request, name) in [
            (json!([]), "inputRequests"),
            (json!({}), "method"),
            (json!({"method": "elicitation/create"}), "params"),
            (
                json!({"method": "elicitation/create", "params": {"requestedSchema": {}}}),
                "message",
            ),
            (
                json!({"method": "elicitation/create", "params": {"message": "", "requestedSchema": 1}}),
                "requestedSchema",
            ),
        ] {
            let problem = InputRequest::read(request).unwrap_err().to_string();
            assert!(problem.contains(&format!("`{name}`")), "{problem}");
        }
    }

    #[test]
    fn responses_are_written_as_mcp_does_and_no_debug_shows_them() {
        let responses = InputResponses::new()
            .accept("a", json!({"private": 1}))
            .decline("b")
            .cancel("c")
            .respond("d", json!("anything"));
        let text = format!("{responses:?}");
        assert!(text.contains('a') && !text.contains("private"), "{text}");
        assert_eq!(responses.keys().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        let expected = json!({
            "a": {"action": "accept", "content": {"private": 1}},
            "b": {"action": "decline"},
            "c": {"action": "cancel"},
            "d": "anything",
        });
        assert_eq!(responses.into_value(), expected);
    }

    #[test]
    fn debug_shows_no_question() {
        let request = form(&json!({"message": "private", "requestedSchema": {"private": 1}}));
        assert!(!format!("{:?}", request.unwrap()).contains("private"));
    }
}
