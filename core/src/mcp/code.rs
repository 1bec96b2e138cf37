//! Every error code that this crate emits.
//!
//! [`PARSE`] to [`INTERNAL`] are JSON-RPC 2.0's; `-32020` to `-32022` are MCP's. The rest are ours, outside the
//! range that JSON-RPC reserves (`-32768` to `-32000`), as MCP asks of an implementation.

/// The body is no JSON text in UTF-8.
pub const PARSE: i64 = -32700;
/// The JSON is no JSON-RPC request or notification, or is one that we don't take (a batch, a response).
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist, or no longer does.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong: `_meta`, pup's context, an unknown tool or task, a tool's arguments.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed that the caller has no part in.
pub const INTERNAL: i64 = -32603;
/// MCP `HeaderMismatch`: a header is missing, malformed, duplicated, or disagrees with the body.
pub const HEADER_MISMATCH: i64 = -32020;
/// MCP `MissingRequiredClientCapability`.
pub const MISSING_CAPABILITY: i64 = -32021;
/// MCP `UnsupportedProtocolVersion`.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The request's id was seen before: a replay. Nothing happened.
pub const REPLAYED: i64 = -31001;
/// The first delivery of this call is still at work. Asking again later, under a new request id, brings
/// its result.
pub const STILL_RUNNING: i64 = -31002;
/// The `callId` was used before with other content. Nothing ran.
pub const CALL_ID_REUSED: i64 = -31003;
/// Whether the call's effects were applied is not known, and could not be found out in time.
pub const OUTCOME_UNKNOWN: i64 = -31004;
/// The tool took longer than a request may take. Nothing that it wrote through us was applied.
pub const OUT_OF_TIME: i64 = -31005;
/// The answer is larger than a caller takes. Nothing that the tool wrote through us was applied.
pub const ANSWER_TOO_LARGE: i64 = -31006;
/// The store can't be reached. Nothing ran.
pub const UNAVAILABLE: i64 = -31007;
