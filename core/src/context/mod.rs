//! What a handler is given: who asked and where, state, steps, and the platform.
//!
//! A context exists only for a request whose signature held; nothing else makes one.

mod event;
mod run;
mod settings;
mod steps;
mod tool;

pub use self::{
    event::{Event, EventContext},
    settings::{SettingError, Settings},
    tool::ToolContext,
};
pub(crate) use self::{
    run::{Caller, Run, caller_context, working_context},
    steps::{StepMemory, Steps},
};
pub use crate::mcp::UserRequest;
