//! What stands in the store for a task: its head, its origin, and the pages of its journal.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json, value::RawValue};

use super::entry::Entry;
use crate::{
    mcp::{AskerId, ChannelId, Context, MessageId, UserRequest},
    store::{KeyError, MAX_EXPIRY, Name, Value},
    time::Timestamp,
};

/// Where the parts of a task stand.
pub(super) fn head_name(task_id: &str) -> Result<Name, KeyError> {
    Name::of(["task", task_id])
}

pub(super) fn origin_name(task_id: &str) -> Result<Name, KeyError> {
    Name::of(["task", task_id, "origin"])
}

pub(super) fn page_name(task_id: &str, page: u32) -> Result<Name, KeyError> {
    Name::of(["task", task_id, "journal", &page.to_string()])
}

/// The item that everything about a task moves by: small, and rewritten with every change.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    v: u32,
    /// Whose it is.
    asker: String,
    pub(super) created: Timestamp,
    /// When it ends to be, whatever it did until then.
    pub(super) expires: Timestamp,
    /// Milliseconds that a client is asked to leave between polls.
    poll: u64,
    pub(super) updated: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<End>,
    /// How many runs in a row ended without having recorded anything.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) deaths: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lease: Option<Lease>,
    /// When somebody has to look at it. There is an entry for that under `due/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<Timestamp>,
    /// When the background was last told of it, since when it has not been run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) handed: Option<Timestamp>,
    /// By the number of their operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) asks: BTreeMap<u32, Ask>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sleeps: BTreeMap<u32, Timestamp>,
    /// What a runner's latest change was called by it, so that it can tell whether it was applied.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) mark: String,
    /// How much of the journal stands in pages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) pages: u32,
    #[serde(default, skip_serializing_if = "is_none")]
    pub(super) paged: usize,
    /// The rest of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) journal: Vec<Entry>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_none(bytes: &usize) -> bool {
    *bytes == 0
}

/// How a task ended. It never changes again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// With the result of the call, a whole object.
    Completed(Box<RawValue>),
    /// With a JSON-RPC error.
    Failed {
        code: i64,
        message: String,
    },
    Cancelled,
}

/// Who runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    /// Of the one run that took it. It stays the same when the head moves.
    pub(super) token: String,
    pub(super) until: Timestamp,
}

/// How long a run holds a task without a sign of life.
pub(super) const LEASE: Duration = Duration::from_secs(45);

/// How long the background has to run what it was told of, before a poll tells it again.
const HAND_OVER: Duration = Duration::from_secs(10);

impl Lease {
    /// Whether the run may still be alive. A lease that reaches further than any could was written before the clock
    /// was set back, and holds nobody.
    pub(super) fn is_live(&self, now: Timestamp) -> bool {
        now < self.until && self.until <= now + LEASE * 2
    }
}

/// A question that waits for its answer.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) message: String,
    /// The form, as it was asked.
    pub(super) schema: Json,
    /// The fields that are sets, which the form has no word for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sets: Vec<String>,
}

impl Ask {
    /// How many bytes it has, about.
    pub(super) fn size(&self) -> usize {
        let sets: usize = self.sets.iter().map(String::len).sum();
        self.message.len() + self.schema.to_string().len() + sets
    }
}

/// The key of a question. Operations are numbered once, so no key comes twice in a task.
pub(super) fn ask_key(op: u32) -> String {
    format!("ask-{op}")
}

/// The operation of a key; `None` where it is none of ours.
pub(super) fn ask_op(key: &str) -> Option<u32> {
    let op = key.strip_prefix("ask-")?.parse().ok()?;
    (ask_key(op) == key).then_some(op)
}

const VERSION: u32 = 1;

impl Head {
    pub(crate) fn new(asker: &AskerId, created: Timestamp, ttl: Duration, poll: Duration) -> Self {
        Self {
            v: VERSION,
            asker: asker.as_str().to_owned(),
            created,
            expires: (created + ttl).min(MAX_EXPIRY),
            poll: u64::try_from(poll.as_millis()).unwrap_or(u64::MAX),
            updated: created,
            message: None,
            end: None,
            deaths: 0,
            lease: None,
            due: None,
            handed: None,
            asks: BTreeMap::new(),
            sleeps: BTreeMap::new(),
            mark: String::new(),
            pages: 0,
            paged: 0,
            journal: Vec::new(),
        }
    }

    /// Reads a head for one who asks about it; `None` where it is another's. Whose it is can be told of heads of any
    /// version, so that one that can't be read tells nobody else that it is there.
    pub(super) fn for_asker(value: &Value, asker: &AskerId) -> Result<Option<Self>, Unreadable> {
        #[derive(Deserialize)]
        struct Whose {
            asker: String,
        }

        match from_value::<Whose>(value) {
            Ok(whose) if whose.asker == asker.as_str() => Self::from_value(value).map(Some),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    pub(super) fn asker(&self) -> &str {
        &self.asker
    }

    pub(super) fn poll_interval_ms(&self) -> u64 {
        self.poll
    }

    pub(super) fn ttl_ms(&self) -> u64 {
        self.expires
            .as_millis()
            .saturating_sub(self.created.as_millis())
    }

    /// Whether the run that took it under this token may go on.
    pub(super) fn is_held_by(&self, token: &str) -> bool {
        self.end.is_none()
            && self
                .lease
                .as_ref()
                .is_some_and(|lease| lease.token == token)
    }

    /// Whether a run is at work.
    pub(super) fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        let lease = self.lease.as_ref()?;
        lease.is_live(now).then_some(lease.until)
    }

    /// Whether somebody has to run it now: its time has come, or whoever ran it died.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.end.is_none()
            && self.held_until(now).is_none()
            && (self.lease.is_some() || self.due.is_some_and(|at| at <= now))
    }

    /// Whether it is due, and the background has to be told, perhaps again: what it was told may be lost.
    pub(super) fn is_to_be_handed_over(&self, now: Timestamp) -> bool {
        self.is_due(now)
            && self
                .handed
                .is_none_or(|at| at > now || now.since(at) >= HAND_OVER)
    }

    /// Notes that something about it changed. The clock may have been set back.
    pub(super) fn touch(&mut self, now: Timestamp) {
        self.updated = self.updated.max(now);
    }

    /// Ends it: what only a living task needs is dropped.
    pub(super) fn ended(&self, end: End, now: Timestamp) -> Self {
        let mut head = Self {
            end: Some(end),
            lease: None,
            due: None,
            handed: None,
            asks: BTreeMap::new(),
            sleeps: BTreeMap::new(),
            pages: 0,
            paged: 0,
            journal: Vec::new(),
            ..self.clone()
        };
        if let Some(End::Failed { message, .. }) = &head.end {
            head.message = Some(message.clone());
        }
        head.touch(now);
        head
    }

    pub(super) fn to_value(&self) -> Result<Value, Unreadable> {
        to_value(self)
    }

    /// From the form in the store: the one way in which every head is read.
    pub(super) fn from_value(value: &Value) -> Result<Self, Unreadable> {
        from_value(value).and_then(|head: Self| {
            if head.v == VERSION {
                Ok(head)
            } else {
                Err(Unreadable)
            }
        })
    }
}

/// What a task was made from: written once, read by each run, deleted at the end.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Origin {
    v: u32,
    pub(super) tool: String,
    pub(super) arguments: Json,
    /// The `webhook-id` of the call.
    pub(super) request: String,
    pub(super) installation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) settings: Map<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_request: Option<StoredRequest>,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredRequest {
    message: String,
    channel: String,
    content: String,
}

impl Origin {
    pub(crate) fn new(
        tool: &str,
        arguments: &Json,
        request_id: &str,
        context: &Context,
        user_request: Option<&UserRequest>,
    ) -> Self {
        Self {
            v: VERSION,
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            request: request_id.to_owned(),
            installation: context.installation_id.as_str().to_owned(),
            call: context.call_id.as_ref().map(|id| id.as_str().to_owned()),
            channel: context.channel_id.as_ref().map(|id| id.as_str().to_owned()),
            settings: context.settings.clone(),
            user_request: user_request.map(|request| StoredRequest {
                message: request.message_id.as_str().to_owned(),
                channel: request.channel_id.as_str().to_owned(),
                content: request.content.clone(),
            }),
        }
    }

    pub(super) fn user_request(&self) -> Option<UserRequest> {
        let stored = self.user_request.as_ref()?;
        Some(UserRequest {
            message_id: MessageId::new(stored.message.clone())?,
            channel_id: ChannelId::new(stored.channel.clone())?,
            content: stored.content.clone(),
        })
    }

    pub(super) fn to_value(&self) -> Result<Value, Unreadable> {
        to_value(self)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, Unreadable> {
        from_value(value).and_then(|origin: Self| {
            if origin.v == VERSION {
                Ok(origin)
            } else {
                Err(Unreadable)
            }
        })
    }
}

/// A part of the journal that no longer changes.
#[derive(Serialize, Deserialize)]
pub(super) struct Page {
    v: u32,
    pub(super) journal: Vec<Entry>,
}

impl Page {
    pub(super) const fn new(journal: Vec<Entry>) -> Self {
        Self {
            v: VERSION,
            journal,
        }
    }

    pub(super) fn to_value(&self) -> Result<Value, Unreadable> {
        to_value(self)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, Unreadable> {
        from_value(value).and_then(|page: Self| {
            if page.v == VERSION {
                Ok(page)
            } else {
                Err(Unreadable)
            }
        })
    }
}

/// A record can't be read, or not by this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task's record can't be read by this version")]
pub(crate) struct Unreadable;

fn to_value(record: &impl Serialize) -> Result<Value, Unreadable> {
    serde_json::to_vec(record)
        .map(|json| Value::Bytes(Bytes::from(json)))
        .map_err(|_| Unreadable)
}

fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Unreadable> {
    match value {
        Value::Bytes(json) => serde_json::from_slice(json).map_err(|_| Unreadable),
        Value::Number(_) => Err(Unreadable),
    }
}
