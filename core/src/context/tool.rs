//! The context of a tool call.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    run::{Caller, Run, caller_context, common_context, working_context},
    settings::Settings,
};
use crate::{
    extension::ToolError,
    mcp::UserRequest,
    ports::Ports,
    runtime::HttpError,
    state::{Scope, Session, State},
    time::Timestamp,
};

/// What a tool's handler is given. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolContext {
    run: Arc<Run>,
    asker_id: Arc<str>,
    call_id: Option<Arc<str>>,
    user_request: Option<Arc<UserRequest>>,
}

common_context!(ToolContext);

impl ToolContext {
    pub(crate) fn new(
        run: Arc<Run>,
        asker_id: Arc<str>,
        call_id: Option<Arc<str>>,
        user_request: Option<Arc<UserRequest>>,
    ) -> Self {
        Self {
            run,
            asker_id,
            call_id,
            user_request,
        }
    }

    /// The member who asked, vouched for by pup. Never take an id from an argument instead.
    #[must_use]
    pub fn asker_id(&self) -> &str {
        &self.asker_id
    }

    /// State of the member who asked, and of no one else.
    #[must_use]
    pub fn asker_state(&self) -> State {
        self.member_state(&self.asker_id)
    }

    /// pup's stable id of this call, the same in each retry. Not a credential.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The message that triggered the call, for a tool that declares
    /// [`user_request`](crate::extension::Tool::user_request), when the call came from a conversation.
    #[must_use]
    pub fn user_request(&self) -> Option<&UserRequest> {
        self.user_request.as_deref()
    }
}
