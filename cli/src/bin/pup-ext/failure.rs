//! Why a command did not bring what was asked for.

use http::StatusCode;
use pup_extension_cli::{Answer, AnswerError, AnswerErrorKind, ClientError, RpcError};
use serde_json::{Map, Value, json};

use crate::hints;

/// Why a command did not bring what was asked for, with everything that either form of output shows of it.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
    code: Option<i64>,
    data: Option<Value>,
}

/// The kinds of failures; each has an exit status and a name in the JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing was sent.
    Usage,
    /// No whole answer came.
    Unreachable,
    /// The extension refused, or failed.
    Refused,
    /// The tool rejected what was asked of it.
    Rejected,
    /// The answer is one that pup would not take.
    Invalid,
    /// The task was cancelled.
    Cancelled,
    /// The task waits for input that nobody gives here.
    InputRequired,
    /// The task goes on after the time that it was followed for.
    Timeout,
}

impl Kind {
    pub(crate) fn exit_status(self) -> u8 {
        match self {
            Self::Refused | Self::Rejected | Self::Invalid | Self::Cancelled => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::InputRequired => 4,
            Self::Timeout => 5,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Invalid => "invalid",
            Self::Cancelled => "cancelled",
            Self::InputRequired => "input_required",
            Self::Timeout => "timeout",
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            code: None,
            data: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// A result with `isError`.
    pub(crate) fn rejection() -> Self {
        Self::new(Kind::Rejected, "the tool rejected the call")
    }

    /// The error that a task ended with.
    pub(crate) fn of_failed_task(error: &RpcError) -> Self {
        let RpcError { code, message, .. } = error;
        let mut failure = Self::new(
            Kind::Refused,
            format!("the task failed: {message} (code {code})"),
        );
        failure.code = Some(*code);
        failure.data = error.data.clone();
        failure
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What an answer that is not as asked comes down to.
    pub(crate) fn of_answer(answer: &Answer, error: &AnswerError) -> Self {
        let status = answer.status();
        if let Some(refusal) = error.refused() {
            return Self::of_refusal(answer, refusal);
        }
        if !status.is_success() {
            let message = format!("the extension answered {}", status_line(status));
            let body = answer.json().ok();
            let mut failure = Self::new(Kind::Refused, with_reason(message, body.as_ref()));
            failure.hint = hints::of_status(answer);
            failure.data = body;
            return failure;
        }
        let mut failure = Self::new(Kind::Invalid, error.to_string());
        if error.kind() == AnswerErrorKind::NotJson {
            failure.hint =
                Some("check that --url names an extension, and not some other server".to_owned());
        }
        failure
    }

    fn of_refusal(answer: &Answer, refusal: &RpcError) -> Self {
        let RpcError { code, message, .. } = refusal;
        let text = format!(
            "the extension refused: {message} (code {code}, {})",
            status_line(answer.status())
        );
        Self {
            kind: Kind::Refused,
            message: text,
            hint: hints::of_code(*code, message, answer)
                .map(str::to_owned)
                .or_else(|| hints::of_status(answer)),
            code: Some(*code),
            data: refusal.data.clone(),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What a JSON-RPC error says beside its message.
    pub(crate) fn details(&self) -> Option<&Value> {
        self.data.as_ref().filter(|_| self.code.is_some())
    }

    /// Its form in the JSON document.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("kind".to_owned(), json!(self.kind.name()));
        error.insert("message".to_owned(), json!(self.message));
        let code = self.code.map(Value::from);
        let hint = self.hint.clone().map(Value::from);
        for (name, value) in [("code", code), ("data", self.data.clone()), ("hint", hint)] {
            if let Some(value) = value {
                error.insert(name.to_owned(), value);
            }
        }
        Value::Object(error)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let kind = if error.is_unreachable() {
            Kind::Unreachable
        } else if error.is_refused_answer() {
            Kind::Invalid
        } else {
            Kind::Usage
        };
        let mut failure = Self::new(kind, with_causes(&error));
        failure.hint = hints::of_client_error(error.kind()).map(str::to_owned);
        failure
    }
}

/// An error's text with those of its causes, each once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        cause = error.source();
    }
    text
}

/// What a JSON error says in the place where such texts stand.
fn with_reason(message: String, body: Option<&Value>) -> String {
    let error = body.and_then(|body| body.get("error"));
    let reason = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
    match reason {
        Some(reason) => format!("{message}: {reason}"),
        None => message,
    }
}

fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    }
}
