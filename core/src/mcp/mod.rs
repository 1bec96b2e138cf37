//! The wire layer of MCP `2026-07-28` over Streamable HTTP: pure functions and types, no I/O.
//!
//! A POST that carries a valid signature goes through here in this order:
//!
//! 1. [`AllowedOrigins::check`]: a foreign `Origin` is refused (403).
//! 2. [`Message::parse`]: strict JSON-RPC 2.0, read once, borrowing from the body. A
//!    [notification](Notification) is answered with 202 and never runs anything.
//! 3. [`admit()`]: the headers agree with the body, the version is ours, the method exists, `_meta` and
//!    pup's [`Context`] are whole. Out comes a typed [`Method`].
//! 4. For a tool with `x-mcp-header` parameters: [`check_param_headers`].
//! 5. The answer: a [`ResultObject`] under [`respond`], or [`Error::to_body`] with [`Error::status`].
//!
//! # Headers that decide nothing
//!
//! - `Accept`: the specification has clients send `application/json, text/event-stream`, and asks nothing of
//!   a server. Answers are always `application/json`, which every client takes; no request is refused over it.
//! - `Content-Type`: the specification has no rule for a server. The signature covers the exact bytes, so a
//!   wrong label on them changes nothing; what counts is whether they parse.
//! - `Mcp-Session-Id` and `Last-Event-ID` belong to earlier revisions, and are ignored as this one asks.
//! - `Mcp-Name` where the method has no name, and `Mcp-Param-*` that no tool asked for.
//!
//! # Duplicates
//!
//! A name that stands twice is read differently by different parsers, so it is refused wherever a member
//! decides something: in the envelope, in `params`, in `_meta`, in the client's capabilities and in pup's
//! context; and for the standard headers and the recognised `Mcp-Param-*`. Inside a tool's arguments the last
//! one counts, for the header comparison as for the tool.

mod admit;
mod annotations;
mod answer;
mod capability;
pub mod code;
mod content;
mod context;
mod error;
pub mod header;
mod id;
mod message;
mod method;
mod mirrored;
mod object;
mod origin;
mod results;
mod task;
mod tool;

#[cfg(test)]
mod tests;

pub(crate) use self::task::{
    DetailedTask, InputRequest, InputResponse, Task, TaskFault, TaskStatus,
};
pub use self::{
    admit::{Admitted, Meta, admit},
    annotations::{Annotations, Priority, Role},
    answer::{CompleteResult, ResultObject, ServerInfo, respond},
    capability::{ClientCapabilities, TASKS_EXTENSION},
    content::{Content, ResourceLink},
    context::{
        AskerId, CONTEXT_KEY, CallId, ChannelId, Context, InstallationId, MAX_ID_BYTES, MessageId,
        UserRequest,
    },
    error::{Error, ErrorKind},
    id::{Id, MAX_REQUEST_ID_BYTES},
    message::{MAX_NESTING, Message, Notification, Request},
    method::Method,
    mirrored::check_param_headers,
    origin::{AllowedOrigins, OriginError},
    results::{
        CacheHint, CacheScope, CallToolResult, DiscoverResult, EmptyResult, ListToolsResult,
    },
    tool::{ToolAnnotations, ToolDefinition},
};

/// The protocol version that this crate speaks.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// All the versions that this crate speaks, as `server/discover` and version errors list them.
pub const SUPPORTED_VERSIONS: &[&str] = &[PROTOCOL_VERSION];
