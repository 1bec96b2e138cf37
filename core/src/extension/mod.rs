//! The author's side: tools, commands, settings and events, in one value.
//!
//! The manifest, MCP's tool list and the dispatch of calls all come from this value, so they can't disagree.

mod args;
mod builder;
mod error;
mod event;
mod handler;
mod output;
mod tool;

pub use self::{
    args::{TaskArgs, ToolArgs},
    builder::{BuildError, Extension, ExtensionBuilder},
    error::ToolError,
    event::{EventArgs, EventResult},
    handler::Handler,
    output::{Contents, Reply, ToolOutput, ToolResult},
    tool::Tool,
};
pub(crate) use self::{
    builder::{BuiltRun, BuiltTask, BuiltTool},
    error::Kind as ToolErrorKind,
    event::Handle,
    tool::{Prepare, Prepared},
};
