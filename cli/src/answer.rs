//! What came back, whatever its status.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};

#[cfg(doc)]
use crate::AnswerErrorKind;
use crate::{
    answer_error::{AnswerError, Inner, RpcError},
    outcome::Outcome,
    signed::SignedRequest,
    sse,
    task::DetailedTask,
    tool_list::ToolList,
};

/// An answer that keeps pup's rules: read whole, within the deadline, below the cap, not compressed, no redirect.
#[derive(Clone)]
pub struct Answer {
    request: SignedRequest,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// The response to a JSON-RPC request.
#[derive(Clone, PartialEq)]
pub enum Reply {
    /// The request succeeded with this result.
    Result(Map<String, Value>),
    /// The request was refused, or failed.
    Error(RpcError),
}

impl Answer {
    pub(crate) fn new(
        request: SignedRequest,
        (status, headers, body): (StatusCode, HeaderMap, Bytes),
    ) -> Self {
        Self {
            request,
            status,
            headers,
            body,
        }
    }

    /// The request that was answered; to send again, for one.
    #[must_use]
    pub fn request(&self) -> &SignedRequest {
        &self.request
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// A header's first value; `None` also for one that is not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The exact bytes of the body.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body as JSON, whatever the status. Of a stream of server-sent events, the response at its end.
    ///
    /// # Errors
    ///
    /// [`AnswerErrorKind::NotJson`].
    pub fn json(&self) -> Result<Value, AnswerError> {
        let content_type = self
            .header(header::CONTENT_TYPE.as_str())
            .unwrap_or_default();
        let value = if is_event_stream(content_type) {
            std::str::from_utf8(&self.body).ok().and_then(sse::response)
        } else {
            serde_json::from_slice(&self.body).ok()
        };
        value.ok_or_else(|| Inner::NotJson(self.status.as_u16()).into())
    }

    /// The JSON-RPC response, whatever the HTTP status.
    ///
    /// # Errors
    ///
    /// [`AnswerErrorKind::NotJson`], [`AnswerErrorKind::NotRpc`] for JSON that is no JSON-RPC 2.0 response, and
    /// [`AnswerErrorKind::OtherId`] for one that answers another request. An error response may leave its id out.
    pub fn reply(&self) -> Result<Reply, AnswerError> {
        let Value::Object(mut message) = self.json()? else {
            return Err(self.not_rpc("it is no object"));
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(self.not_rpc("its `jsonrpc` is not \"2.0\""));
        }
        let reply = match (message.remove("result"), message.remove("error")) {
            (Some(Value::Object(result)), None) => Reply::Result(result),
            (Some(_), None) => return Err(self.not_rpc("its `result` is no object")),
            (None, Some(error)) => Reply::Error(
                RpcError::read(error)
                    .ok_or_else(|| self.not_rpc("its `error` lacks a code or a message"))?,
            ),
            _ => return Err(self.not_rpc("it has not exactly one of `result` and `error`")),
        };
        let id = message.get("id").filter(|id| !id.is_null());
        let optional = matches!(reply, Reply::Error(_)) && id.is_none();
        match self.request.rpc_id {
            Some(expected) if !optional && id.and_then(Value::as_u64) != Some(expected) => {
                Err(Inner::OtherId.into())
            }
            _ => Ok(reply),
        }
    }

    /// The result of a JSON-RPC request.
    ///
    /// # Errors
    ///
    /// As [`reply`](Self::reply); [`AnswerErrorKind::Refused`] for a JSON-RPC error, and
    /// [`AnswerErrorKind::Status`] for a result whose status is not 2xx.
    pub fn result(&self) -> Result<Map<String, Value>, AnswerError> {
        match self.reply()? {
            Reply::Result(result) if self.status.is_success() => Ok(result),
            Reply::Result(_) => Err(Inner::Status(self.status.as_u16()).into()),
            Reply::Error(error) => Err(Inner::Refused(error).into()),
        }
    }

    /// What became of a `tools/call`.
    ///
    /// # Errors
    ///
    /// As [`result`](Self::result), and [`AnswerErrorKind::Shape`] for a result of a kind that MCP does not know,
    /// or for a task that is not of MCP's form.
    pub fn outcome(&self) -> Result<Outcome, AnswerError> {
        Outcome::read(self.result()?)
    }

    /// The task that a `tasks/get` asked about.
    ///
    /// # Errors
    ///
    /// As [`result`](Self::result), and [`AnswerErrorKind::Shape`] for a result that is no task of MCP's form
    /// (a status that is not known, for one), or that is about another task.
    pub fn task(&self) -> Result<DetailedTask, AnswerError> {
        let detailed = DetailedTask::read(self.complete_result()?)?;
        match &self.request.task_id {
            Some(asked) if *asked != detailed.task.id => {
                Err(AnswerError::shape("it is about another task"))
            }
            _ => Ok(detailed),
        }
    }

    /// Checks that a `tasks/update` or a `tasks/cancel` was acknowledged. What becomes of it shows in the task.
    ///
    /// # Errors
    ///
    /// As [`result`](Self::result), and [`AnswerErrorKind::Shape`] for a result of another kind.
    pub fn acknowledged(&self) -> Result<(), AnswerError> {
        self.complete_result().map(drop)
    }

    /// A result whose `resultType`, if it says one, is `complete`.
    fn complete_result(&self) -> Result<Map<String, Value>, AnswerError> {
        let result = self.result()?;
        match result.get("resultType") {
            Some(kind) if kind != "complete" => {
                Err(AnswerError::shape("its `resultType` is not \"complete\""))
            }
            _ => Ok(result),
        }
    }

    /// A page of `tools/list`.
    ///
    /// # Errors
    ///
    /// As [`result`](Self::result), and [`AnswerErrorKind::Shape`] for a result without a list of tools.
    pub fn tool_list(&self) -> Result<ToolList, AnswerError> {
        ToolList::read(self.result()?)
    }

    /// The text that the challenge endpoint sent back.
    ///
    /// # Errors
    ///
    /// [`AnswerErrorKind::Status`] unless the status is 2xx; [`AnswerErrorKind::NotJson`];
    /// [`AnswerErrorKind::Shape`] for JSON without a text `challenge`.
    pub fn challenge(&self) -> Result<String, AnswerError> {
        match self.object()?.remove("challenge") {
            Some(Value::String(text)) => Ok(text),
            _ => Err(Inner::Shape("it has no text `challenge`").into()),
        }
    }

    /// The answer to an event: what to present, if anything.
    ///
    /// # Errors
    ///
    /// [`AnswerErrorKind::Status`] unless the status is 2xx; [`AnswerErrorKind::NotJson`];
    /// [`AnswerErrorKind::Shape`] for JSON other than `{}` and `{"presentation": …}`.
    pub fn presentation(&self) -> Result<Option<Value>, AnswerError> {
        let mut object = self.object()?;
        let presentation = object.remove("presentation");
        if object.is_empty() {
            Ok(presentation)
        } else {
            Err(Inner::Shape("it has fields other than `presentation`").into())
        }
    }

    /// The JSON object in a 2xx answer: the manifest, for one.
    ///
    /// # Errors
    ///
    /// [`AnswerErrorKind::Status`] unless the status is 2xx; [`AnswerErrorKind::NotJson`];
    /// [`AnswerErrorKind::Shape`] for JSON that is no object.
    pub fn object(&self) -> Result<Map<String, Value>, AnswerError> {
        if !self.status.is_success() {
            return Err(Inner::Status(self.status.as_u16()).into());
        }
        match self.json()? {
            Value::Object(object) => Ok(object),
            _ => Err(Inner::Shape("it is no object").into()),
        }
    }

    fn not_rpc(&self, problem: &'static str) -> AnswerError {
        Inner::NotRpc {
            status: self.status.as_u16(),
            problem,
        }
        .into()
    }
}

fn is_event_stream(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

impl fmt::Debug for Answer {
    /// The shape alone: bodies stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status.as_u16())
            .field("body_bytes", &self.body.len())
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reply {
    /// The shape alone: results stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(result) => write!(f, "Result({} fields)", result.len()),
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use serde_json::json;

    use super::*;
    use crate::AnswerErrorKind;

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        let mut request = SignedRequest::unsigned(Method::POST, "/mcp", "");
        request.rpc_id = Some(7);
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        Answer::new(
            request,
            (
                StatusCode::from_u16(status).unwrap(),
                headers,
                body.to_owned().into(),
            ),
        )
    }

    fn kind(body: &str) -> AnswerErrorKind {
        answer(200, "application/json", body)
            .reply()
            .unwrap_err()
            .kind()
    }

    #[test]
    fn a_reply_is_read_at_any_status_and_from_a_stream_too() {
        let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no","data":[1]}}"#;
        let expected = RpcError {
            code: -32602,
            message: "no".to_owned(),
            data: Some(json!([1])),
        };
        assert_eq!(
            answer(400, "application/json", error).reply().unwrap(),
            Reply::Error(expected.clone())
        );
        let stream = format!("event: message\ndata: {error}\n\n");
        let answer = answer(200, "Text/Event-Stream; charset=utf-8", &stream);
        assert_eq!(answer.reply().unwrap(), Reply::Error(expected));
    }

    #[test]
    fn what_is_no_json_rpc_response_is_named() {
        assert_eq!(kind("<html>"), AnswerErrorKind::NotJson);
        assert_eq!(kind(""), AnswerErrorKind::NotJson);
        for body in [
            "[]",
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":"1","message":""}}"#,
        ] {
            assert_eq!(kind(body), AnswerErrorKind::NotRpc, "{body}");
        }
    }

    #[test]
    fn only_an_error_may_leave_the_id_out_and_none_may_have_anothers() {
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":8,"result":{}}"#),
            AnswerErrorKind::OtherId
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#),
            AnswerErrorKind::OtherId
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","result":{}}"#),
            AnswerErrorKind::OtherId
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":""}}"#),
            AnswerErrorKind::OtherId
        );
        let silent = r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert!(matches!(
            answer(400, "application/json", silent).reply(),
            Ok(Reply::Error(_))
        ));
    }

    #[test]
    fn a_result_counts_with_a_2xx_only() {
        let result = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        assert!(answer(200, "application/json", result).result().is_ok());
        let error = answer(500, "application/json", result)
            .result()
            .unwrap_err();
        assert_eq!(error.kind(), AnswerErrorKind::Status);
        let refusal = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#;
        let error = answer(200, "application/json", refusal)
            .outcome()
            .unwrap_err();
        assert_eq!(error.refused().map(|refusal| refusal.code), Some(-32602));
    }

    #[test]
    fn a_challenge_is_read_from_a_2xx_only() {
        let body = r#"{"challenge":"hello"}"#;
        assert_eq!(
            answer(200, "application/json", body).challenge().unwrap(),
            "hello"
        );
        assert_eq!(
            answer(401, "application/json", body)
                .challenge()
                .unwrap_err()
                .kind(),
            AnswerErrorKind::Status
        );
        for shape in [r#"{"challenge":1}"#, "{}", r#""hello""#] {
            let error = answer(200, "application/json", shape)
                .challenge()
                .unwrap_err();
            assert_eq!(error.kind(), AnswerErrorKind::Shape, "{shape}");
        }
    }

    #[test]
    fn an_event_is_answered_by_nothing_or_a_presentation() {
        let presentation = |body| answer(200, "application/json", body).presentation();
        assert_eq!(presentation("{}").unwrap(), None);
        assert_eq!(
            presentation(r#"{"presentation":{"a":1}}"#).unwrap(),
            Some(json!({"a": 1}))
        );
        assert_eq!(
            presentation(r#"{"a":1}"#).unwrap_err().kind(),
            AnswerErrorKind::Shape
        );
    }

    #[test]
    fn debug_shows_no_body() {
        let answer = answer(
            200,
            "application/json",
            r#"{"jsonrpc":"2.0","id":7,"result":{"private":1}}"#,
        );
        assert!(!format!("{answer:?} {:?}", answer.reply()).contains("private"));
    }
}
