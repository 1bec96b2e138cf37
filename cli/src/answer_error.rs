//! What an answer can be instead of what was asked for.

use serde_json::Value;
use thiserror::Error;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct RpcError {
    /// The code; MCP gives some of them a meaning.
    pub code: i64,
    /// What went wrong.
    pub message: String,
    /// More about it, in a form of the extension's.
    pub data: Option<Value>,
}

/// Why an answer is not what was asked for.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct AnswerError(#[from] Inner);

/// The kinds of [`AnswerError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerErrorKind {
    /// The status is not 2xx.
    Status,
    /// The body is not JSON.
    NotJson,
    /// The body is JSON, but no JSON-RPC response.
    NotRpc,
    /// The JSON-RPC response has the id of another request.
    OtherId,
    /// The extension answered with a JSON-RPC error: see [`AnswerError::refused`].
    Refused,
    /// The body lacks what this kind of answer has.
    Shape,
}

impl AnswerError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> AnswerErrorKind {
        match self.0 {
            Inner::Status(_) => AnswerErrorKind::Status,
            Inner::NotJson(_) => AnswerErrorKind::NotJson,
            Inner::NotRpc { .. } => AnswerErrorKind::NotRpc,
            Inner::OtherId => AnswerErrorKind::OtherId,
            Inner::Refused(_) => AnswerErrorKind::Refused,
            Inner::Shape(_) => AnswerErrorKind::Shape,
        }
    }

    /// The JSON-RPC error that the extension answered with, if that is what is wrong.
    #[must_use]
    pub fn refused(&self) -> Option<&RpcError> {
        match &self.0 {
            Inner::Refused(error) => Some(error),
            _ => None,
        }
    }

    pub(crate) fn shape(problem: &'static str) -> Self {
        Inner::Shape(problem).into()
    }
}

#[derive(Debug, Error)]
pub(crate) enum Inner {
    #[error("the extension answered HTTP {0}")]
    Status(u16),
    #[error("the answer (HTTP {0}) is not JSON")]
    NotJson(u16),
    #[error("the answer (HTTP {status}) is no JSON-RPC response: {problem}")]
    NotRpc { status: u16, problem: &'static str },
    #[error("the answer has the id of another request")]
    OtherId,
    #[error("the extension refused: {0}")]
    Refused(RpcError),
    #[error("the answer is not of the form that pup reads: {0}")]
    Shape(&'static str),
}

impl RpcError {
    pub(crate) fn read(error: Value) -> Option<Self> {
        let Value::Object(mut error) = error else {
            return None;
        };
        let code = error.get("code")?.as_i64()?;
        let Some(Value::String(message)) = error.remove("message") else {
            return None;
        };
        Some(Self {
            code,
            message,
            data: error.remove("data"),
        })
    }
}
