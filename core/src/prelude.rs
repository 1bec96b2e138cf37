//! What an extension's source needs, in one import.

pub use crate::{
    context::{Event, EventContext, Settings, ToolContext, UserRequest},
    extension::{BuildError, Contents, Extension, Reply, Tool, ToolError},
    manifest::{Command, EventKind, Setting},
    mcp::Content,
    presentation::{Action, Presentation},
    state::State,
    task::{AskError, StepContext, TaskContext},
    time::Timestamp,
};
