//! Strict JSON-RPC 2.0: one request or notification in one body.

use std::{borrow::Cow, fmt};

use serde_json::value::RawValue;

use super::{
    Error, Id, MAX_REQUEST_ID_BYTES,
    object::{Members, Text, Top},
};

/// How deep arrays and objects may nest, the envelope counted.
pub const MAX_NESTING: usize = 64;

/// A JSON-RPC message that a client may send.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// It wants an answer.
    Request(Request<'a>),
    /// It has no id, so it gets no answer and runs nothing: HTTP 202.
    Notification(Notification<'a>),
}

/// A JSON-RPC request, borrowing from the body that it stands in.
#[derive(Clone)]
pub struct Request<'a> {
    /// The id, to be echoed.
    pub id: Id,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters; an object when they are there.
    pub params: Option<&'a RawValue>,
}

/// A JSON-RPC notification. MCP `2026-07-28` defines none that a client sends over HTTP.
#[derive(Clone)]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters; an object when they are there.
    pub params: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a body once, without copying it.
    ///
    /// Members that JSON-RPC does not define are ignored.
    ///
    /// ```
    /// use pup_extension::mcp::Message;
    ///
    /// let body = br#"{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {}}"#;
    /// let Ok(Message::Request(request)) = Message::parse(body) else { panic!("a request") };
    /// assert_eq!((request.id.as_json(), &*request.method), (r#""a""#, "tools/list"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Parse`](super::ErrorKind::Parse) when the body is no JSON text in UTF-8;
    /// [`InvalidRequest`](super::ErrorKind::InvalidRequest) for a batch, a response, a member that is missing,
    /// ill-typed or there twice, and for nesting deeper than [`MAX_NESTING`]. Where the id can be told, the
    /// error carries it.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let text = str::from_utf8(body).map_err(|_| Error::parse("the body is not valid UTF-8"))?;
        let top = serde_json::from_str::<Top<'a>>(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Error::parse(format!(
                "the body is not valid JSON: see line {line}, column {column}"
            ))
        })?;
        let members = match top {
            Top::Object(members) => members,
            Top::Array => {
                return Err(Error::invalid_request(
                    "batches are not supported: send one request a POST",
                ));
            }
            Top::Scalar => {
                return Err(Error::invalid_request(
                    "the body must be a JSON-RPC request object",
                ));
            }
        };
        let id = members.unique("id").map(Id::from_raw);
        Self::assemble(&members, id.clone(), text).map_err(|error| match id.flatten() {
            Some(id) => error.with_id(id),
            None => error,
        })
    }

    fn assemble(members: &Members<'a>, id: Option<Option<Id>>, text: &str) -> Result<Self, Error> {
        if !members.twice.is_empty() {
            return Err(Error::invalid_request(
                "the request names a member twice: name each once",
            ));
        }
        if members.text("jsonrpc").as_deref() != Some("2.0") {
            return Err(Error::invalid_request("jsonrpc must be \"2.0\""));
        }
        if members.once.contains_key("result") || members.once.contains_key("error") {
            return Err(Error::invalid_request(
                "responses are not accepted: send a request",
            ));
        }
        if id == Some(None) {
            return Err(Error::invalid_request(format!(
                "id must be a string or an integer of at most {MAX_REQUEST_ID_BYTES} bytes"
            )));
        }
        let Some(method) = members.text("method") else {
            return Err(Error::invalid_request("method must be a string"));
        };
        let params = members.once.get("params").copied();
        if params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err(Error::invalid_request("params must be an object"));
        }
        if nests_deeper(text, MAX_NESTING) {
            return Err(Error::invalid_request(format!(
                "the request nests too deep: {MAX_NESTING} levels are allowed"
            )));
        }
        Ok(match id.flatten() {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

impl<'a> Members<'a> {
    /// The member, if it is there once.
    fn unique(&self, name: &str) -> Option<&'a RawValue> {
        self.once
            .get(name)
            .copied()
            .filter(|_| !self.twice.iter().any(|twice| twice == name))
    }

    /// The member, if it is a string.
    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.once.get(name).copied().and_then(Text::parse)
    }
}

/// Parameters are people's data: only whether there are any is shown.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("params", &self.params.map(|_| ".."))
            .finish()
    }
}

/// Parameters are people's data: only whether there are any is shown.
impl fmt::Debug for Notification<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notification")
            .field("method", &self.method)
            .field("params", &self.params.map(|_| ".."))
            .finish()
    }
}

/// Whether valid JSON nests deeper than `limit`. Members are read without recursion, so nothing else would notice.
fn nests_deeper(json: &str, limit: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}
