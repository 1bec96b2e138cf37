//! A success response around a result: built so that a recorded result goes out again under another id.

use std::fmt;

use bytes::Bytes;
use serde::Serialize;

use super::{
    CallToolResult, DetailedTask, DiscoverResult, EmptyResult, Error, Id, ListToolsResult, Task,
};

/// Who answers: what every result says in `_meta["io.modelcontextprotocol/serverInfo"]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// The extension's id.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its version.
    pub version: String,
}

/// The JSON text of a complete result object, with its `resultType` and who answered.
///
/// This is what is recorded under a `callId`; the envelope and its id are the request's own.
///
/// ```
/// use pup_extension::mcp::{CallToolResult, Id, ResultObject, ServerInfo, respond};
///
/// let server = ServerInfo { name: "snack_club".into(), title: None, version: "1.0.0".into() };
/// let result = ResultObject::complete(&CallToolResult::rejected("sold out"), &server).unwrap();
/// let recorded = ResultObject::from_recorded(result.as_bytes().clone()).unwrap();
///
/// let answer: serde_json::Value = serde_json::from_slice(&respond(&Id::from(7), &recorded)).unwrap();
/// assert_eq!(answer["id"], 7);
/// assert_eq!(answer["result"]["resultType"], "complete");
/// assert_eq!(answer["result"]["content"][0]["text"], "sold out");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ResultObject(Bytes);

impl ResultObject {
    /// The object for a result of type `complete`.
    ///
    /// # Errors
    ///
    /// [`Error::internal`] when the result can't be written as JSON. None of core's can't.
    pub fn complete<T: CompleteResult>(result: &T, server: &ServerInfo) -> Result<Self, Error> {
        Self::of("complete", result, server)
    }

    /// The object of type `task`, for a call that was made one.
    pub(crate) fn task(task: &Task, server: &ServerInfo) -> Result<Self, Error> {
        Self::of("task", task, server)
    }

    fn of<T: Serialize>(
        result_type: &'static str,
        result: &T,
        server: &ServerInfo,
    ) -> Result<Self, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Whole<'a, T> {
            result_type: &'static str,
            #[serde(flatten)]
            result: &'a T,
            #[serde(rename = "_meta")]
            meta: ResultMeta<'a>,
        }

        #[derive(Serialize)]
        struct ResultMeta<'a> {
            #[serde(rename = "io.modelcontextprotocol/serverInfo")]
            server: &'a ServerInfo,
        }

        serde_json::to_vec(&Whole {
            result_type,
            result,
            meta: ResultMeta { server },
        })
        .map(|bytes| Self(bytes.into()))
        .map_err(|_| Error::internal())
    }

    /// A result that was recorded. It is taken for what it was, and not read again.
    ///
    /// `None` when it has not even the look of an object.
    #[must_use]
    pub fn from_recorded(bytes: Bytes) -> Option<Self> {
        (bytes.starts_with(b"{") && bytes.ends_with(b"}")).then_some(Self(bytes))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }
}

/// Results are people's data: only the size is shown.
impl fmt::Debug for ResultObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResultObject({} B)", self.0.len())
    }
}

/// The body of a success response.
#[must_use]
pub fn respond(id: &Id, result: &ResultObject) -> Vec<u8> {
    [
        br#"{"jsonrpc":"2.0","id":"#,
        id.as_json().as_bytes(),
        br#","result":"#,
        &result.0,
        b"}",
    ]
    .concat()
}

/// A result of core's, whose members don't get in the way of those that every result has.
pub trait CompleteResult: Serialize + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! complete {
    ($($result:ty),+) => {$(
        impl sealed::Sealed for $result {}
        impl CompleteResult for $result {}
    )+};
}

complete!(
    CallToolResult,
    ListToolsResult,
    DiscoverResult,
    EmptyResult,
    DetailedTask
);
