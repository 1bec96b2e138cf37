//! How a request is refused: JSON-RPC errors, each with the HTTP status it travels under.

use std::{borrow::Cow, fmt};

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Id, PROTOCOL_VERSION, SUPPORTED_VERSIONS, TASKS_EXTENSION, code};

/// A JSON-RPC error with its HTTP status.
///
/// How the status is chosen: 400, 403, 404, 409 and 422 where the *request* is wrong, with the status that the
/// specification gives where it gives one; 200 where the exchange went well and the *call* has no result (still
/// running, out of time, answer too large), so that nothing between us and the caller takes it for an outage;
/// 503 where the same call may succeed once a backend is back; 500 for what we did not expect, which no
/// malformed request can bring about.
///
/// Messages are lowercase and say what to do. They never hold the value of a header or of an argument, nor the
/// text of an unexpected failure.
///
/// ```
/// use pup_extension::mcp::{Error, Message};
///
/// let error = Message::parse(br#"{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}"#).unwrap_err();
/// assert_eq!((error.code(), error.status().as_u16()), (-32600, 400));
/// let body = String::from_utf8(error.to_body(None)).unwrap();
/// assert!(body.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":""#));
/// ```
#[derive(Clone, PartialEq)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    data: Option<Box<Value>>,
    id: Option<Id>,
}

/// The kinds of [`Error`]; each has one code and one status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// [`code::PARSE`], 400.
    Parse,
    /// [`code::INVALID_REQUEST`], 400.
    InvalidRequest,
    /// [`code::INVALID_REQUEST`], 403: the `Origin` is not allowed.
    ForeignOrigin,
    /// [`code::METHOD_NOT_FOUND`], 404.
    MethodNotFound,
    /// [`code::INVALID_PARAMS`], 400.
    InvalidParams,
    /// [`code::HEADER_MISMATCH`], 400.
    HeaderMismatch,
    /// [`code::MISSING_CAPABILITY`], 400.
    MissingCapability,
    /// [`code::UNSUPPORTED_VERSION`], 400.
    UnsupportedVersion,
    /// [`code::INTERNAL`], 500.
    Internal,
    /// [`code::REPLAYED`], 409.
    Replayed,
    /// [`code::STILL_RUNNING`], 200.
    StillRunning,
    /// [`code::CALL_ID_REUSED`], 422: as the Idempotency-Key draft has it for a key with another payload.
    CallIdReused,
    /// [`code::OUTCOME_UNKNOWN`], 503: a status that promises nothing.
    OutcomeUnknown,
    /// [`code::OUT_OF_TIME`], 200.
    OutOfTime,
    /// [`code::ANSWER_TOO_LARGE`], 200.
    AnswerTooLarge,
    /// [`code::UNAVAILABLE`], 503.
    Unavailable,
}

impl Error {
    /// The body is no JSON text in UTF-8.
    pub fn parse(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Parse, message)
    }

    /// The JSON is no request that we take.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidRequest, message)
    }

    /// The request comes from a web page of a foreign origin.
    #[must_use]
    pub fn foreign_origin() -> Self {
        Self::new(
            ErrorKind::ForeignOrigin,
            "this origin is not allowed: call from a server, without an Origin header",
        )
    }

    /// The method does not exist here. Names the version that we speak, for callers of another one.
    #[must_use]
    pub fn method_not_found() -> Self {
        Self::new(
            ErrorKind::MethodNotFound,
            format!("there is no such method in MCP {PROTOCOL_VERSION} on this server: ask server/discover for what there is"),
        )
        .with_data(json!({ "supported": SUPPORTED_VERSIONS }))
    }

    /// The parameters are wrong. The message names the member, never its value.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidParams, message)
    }

    /// A header is missing, malformed, duplicated, or disagrees with the body. The message names it.
    pub fn header_mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::HeaderMismatch, message)
    }

    /// The client has not declared what this request needs: a `ClientCapabilities` object.
    #[must_use]
    pub fn missing_capability(required: &Map<String, Value>) -> Self {
        Self::new(
            ErrorKind::MissingCapability,
            "the client lacks a capability that this request needs: declare it in the request's client capabilities",
        )
        .with_data(json!({ "requiredCapabilities": required }))
    }

    /// The client has not declared the tasks extension.
    #[must_use]
    pub fn missing_tasks_extension() -> Self {
        Self::missing_capability(&Map::from_iter([(
            String::from("extensions"),
            json!({ TASKS_EXTENSION: {} }),
        )]))
    }

    /// The request is of a protocol version that we don't speak.
    #[must_use]
    pub fn unsupported_version(requested: &str) -> Self {
        // No version is longer; a header may be.
        let requested: String = requested.chars().take(64).collect();
        Self::new(
            ErrorKind::UnsupportedVersion,
            format!("unsupported protocol version: send {PROTOCOL_VERSION}"),
        )
        .with_data(json!({ "supported": SUPPORTED_VERSIONS, "requested": requested }))
    }

    /// Something failed that the caller has no part in. Says nothing about it: the text is for the log.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            ErrorKind::Internal,
            "the extension failed unexpectedly: its log says why, under the request id",
        )
    }

    /// The signed id of this request was seen before.
    #[must_use]
    pub fn replayed() -> Self {
        Self::new(
            ErrorKind::Replayed,
            "this request was received before: sign a new one, with a new webhook-id",
        )
    }

    /// The first delivery of this call is still at work.
    #[must_use]
    pub fn still_running() -> Self {
        Self::new(
            ErrorKind::StillRunning,
            "this call is still running: ask again in a moment, with the same callId",
        )
    }

    /// The `callId` belongs to a call with another asker, tool or arguments. Says no more about that one.
    #[must_use]
    pub fn call_id_reused() -> Self {
        Self::new(
            ErrorKind::CallIdReused,
            "this callId was used with other content: send a new callId",
        )
    }

    /// Whether the call took effect is not known.
    #[must_use]
    pub fn outcome_unknown() -> Self {
        Self::new(
            ErrorKind::OutcomeUnknown,
            "it is not known whether the call took effect: ask again with the same callId before acting on it",
        )
    }

    /// The tool took longer than a request may take.
    #[must_use]
    pub fn out_of_time() -> Self {
        Self::new(
            ErrorKind::OutOfTime,
            "the tool ran out of time and its writes were dropped: work that takes this long belongs in a task",
        )
    }

    /// The answer is larger than a caller takes.
    #[must_use]
    pub fn answer_too_large() -> Self {
        Self::new(
            ErrorKind::AnswerTooLarge,
            "the tool's answer is too large and its writes were dropped: return less, or a link to it",
        )
    }

    /// The store can't be reached; nothing ran.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(
            ErrorKind::Unavailable,
            "the extension can't reach its store and nothing ran: try again",
        )
    }

    fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            data: None,
            id: None,
        }
    }

    /// With a `data` member.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// With the id of the request that it answers.
    #[must_use]
    pub fn with_id(mut self, id: Id) -> Self {
        self.id = Some(id);
        self
    }

    /// To `initialize`, every error names the versions there are: it may be all that a legacy client can show.
    pub(super) fn naming_versions(self) -> Self {
        match self.data {
            None => self.with_data(json!({ "supported": SUPPORTED_VERSIONS })),
            Some(_) => self,
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The JSON-RPC code.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.kind.code()
    }

    /// The HTTP status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.kind.status()
    }

    /// What to do about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The `data` member.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.data.as_deref()
    }

    /// The id of the request, where it could be read.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// Whether the same call, signed anew under the same `callId`, may have another answer later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Internal
                | ErrorKind::StillRunning
                | ErrorKind::OutcomeUnknown
                | ErrorKind::OutOfTime
                | ErrorKind::Unavailable
        )
    }

    /// The JSON-RPC error response. Its id is `id`, or else the one that the error carries; without either
    /// the member is left out, as MCP has it for a request whose id could not be read.
    #[must_use]
    pub fn to_body(&self, id: Option<&Id>) -> Vec<u8> {
        #[derive(Serialize)]
        struct Wire<'a> {
            code: i64,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Value>,
        }

        let mut body = br#"{"jsonrpc":"2.0","#.to_vec();
        if let Some(id) = id.or(self.id.as_ref()) {
            body.extend_from_slice(br#""id":"#);
            body.extend_from_slice(id.as_json().as_bytes());
            body.push(b',');
        }
        body.extend_from_slice(br#""error":"#);
        let wire = Wire {
            code: self.code(),
            message: &self.message,
            data: self.data(),
        };
        match serde_json::to_vec(&wire) {
            Ok(error) => body.extend_from_slice(&error),
            Err(_) => unreachable!("a number, a string and a JSON value are always JSON"),
        }
        body.push(b'}');
        body
    }
}

impl ErrorKind {
    /// The JSON-RPC code.
    #[must_use]
    pub fn code(self) -> i64 {
        match self {
            Self::Parse => code::PARSE,
            Self::InvalidRequest | Self::ForeignOrigin => code::INVALID_REQUEST,
            Self::MethodNotFound => code::METHOD_NOT_FOUND,
            Self::InvalidParams => code::INVALID_PARAMS,
            Self::HeaderMismatch => code::HEADER_MISMATCH,
            Self::MissingCapability => code::MISSING_CAPABILITY,
            Self::UnsupportedVersion => code::UNSUPPORTED_VERSION,
            Self::Internal => code::INTERNAL,
            Self::Replayed => code::REPLAYED,
            Self::StillRunning => code::STILL_RUNNING,
            Self::CallIdReused => code::CALL_ID_REUSED,
            Self::OutcomeUnknown => code::OUTCOME_UNKNOWN,
            Self::OutOfTime => code::OUT_OF_TIME,
            Self::AnswerTooLarge => code::ANSWER_TOO_LARGE,
            Self::Unavailable => code::UNAVAILABLE,
        }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Parse
            | Self::InvalidRequest
            | Self::InvalidParams
            | Self::HeaderMismatch
            | Self::MissingCapability
            | Self::UnsupportedVersion => StatusCode::BAD_REQUEST,
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::MethodNotFound => StatusCode::NOT_FOUND,
            Self::Replayed => StatusCode::CONFLICT,
            Self::CallIdReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::StillRunning | Self::OutOfTime | Self::AnswerTooLarge => StatusCode::OK,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::OutcomeUnknown | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
