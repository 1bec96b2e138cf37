//! Events, and the context of their handlers.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    run::{Caller, Run, caller_context, common_context, working_context},
    settings::Settings,
};
use crate::{
    extension::ToolError,
    manifest::EventKind,
    ports::Ports,
    runtime::HttpError,
    state::{Scope, Session, State},
    time::Timestamp,
};

/// An event about a member.
#[derive(Clone)]
#[non_exhaustive]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// To whom.
    pub member_id: String,
    /// pup's id of the event.
    pub event_id: String,
    /// When it happened, as pup wrote it: a date and a time with its offset, as RFC 3339 has them.
    pub occurred_at: String,
    /// The `event` member of the envelope as it came, for what this type doesn't name.
    pub raw: Arc<RawValue>,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.kind)
            .field("member_id", &self.member_id)
            .field("event_id", &self.event_id)
            .field("occurred_at", &self.occurred_at)
            .finish_non_exhaustive()
    }
}

/// What an event's handler is given. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventContext {
    run: Arc<Run>,
}

common_context!(EventContext);

impl EventContext {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }
}
