//! pup's invocation context, as it stands in `params._meta`.

use std::fmt;

use serde_json::{Map, Value};

use super::{Error, object::Object};

/// Where in `params._meta` pup puts the context.
pub const CONTEXT_KEY: &str = "io.puphq/context";

/// The most bytes of an id in the context. None may be empty.
pub const MAX_ID_BYTES: usize = 256;

const PATH: &str = "params._meta[\"io.puphq/context\"]";
const USER_REQUEST_PATH: &str = "params._meta[\"io.puphq/context\"].userRequest";

/// Who asks, where, and with which settings (extension protocol, "Invocation context").
///
/// It says nothing that can be trusted until the signature over the body was verified. Members that the
/// protocol page does not name are ignored.
#[derive(Clone, PartialEq)]
pub struct Context {
    /// The installation: all that is stored is scoped by it.
    pub installation_id: InstallationId,
    /// The member who asks.
    pub asker_id: AskerId,
    /// The channel that the answer goes to; absent during tool discovery.
    pub channel_id: Option<ChannelId>,
    /// The installation's settings, by key.
    pub settings: Map<String, Value>,
    /// pup's stable id of the call, on recorded calls and their task requests.
    pub call_id: Option<CallId>,
    /// The message that the call came from, as pup sent it. Only a tool that declares `userRequest` may see it.
    pub user_request: Option<UserRequest>,
}

/// The message that triggered a call, a snapshot.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRequest {
    /// The message.
    pub message_id: MessageId,
    /// The channel that it was written in, which may differ from the context's.
    pub channel_id: ChannelId,
    /// What it says.
    pub content: String,
}

impl Context {
    pub(super) fn read(object: &Object<'_>) -> Result<Self, Error> {
        let user_request = match object.object("userRequest", USER_REQUEST_PATH)? {
            None => None,
            Some(request) => Some(UserRequest {
                message_id: required_id(&request, "messageId").map(MessageId)?,
                channel_id: required_id(&request, "channelId").map(ChannelId)?,
                content: request.required_text("content")?.into_owned(),
            }),
        };
        Ok(Self {
            installation_id: required_id(object, "installationId").map(InstallationId)?,
            asker_id: required_id(object, "askerId").map(AskerId)?,
            channel_id: optional_id(object, "channelId")?.map(ChannelId),
            settings: object.required_map("settings")?,
            call_id: optional_id(object, "callId")?.map(CallId),
            user_request,
        })
    }

    /// The context in `_meta`, if there is one.
    pub(super) fn find(meta: &Object<'_>) -> Result<Option<Self>, Error> {
        meta.object(CONTEXT_KEY, PATH)?
            .as_ref()
            .map(Self::read)
            .transpose()
    }
}

/// Settings and the message are people's data: of the settings only the number is shown, and of the message its
/// ids.
impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("installation_id", &self.installation_id)
            .field("asker_id", &self.asker_id)
            .field("channel_id", &self.channel_id)
            .field(
                "settings",
                &format_args!("{} redacted", self.settings.len()),
            )
            .field("call_id", &self.call_id)
            .field("user_request", &self.user_request)
            .finish()
    }
}

/// The message is someone's: only its ids are shown.
impl fmt::Debug for UserRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserRequest")
            .field("message_id", &self.message_id)
            .field("channel_id", &self.channel_id)
            .field("content", &format_args!("redacted"))
            .finish()
    }
}

/// One type an id, so that none is taken for another: what is scoped by an asker can't be asked for by channel.
macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        ///
        /// 1 to 256 bytes of any text.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// From text; `None` when it is empty or longer than [`MAX_ID_BYTES`].
            #[must_use]
            pub fn new(text: impl Into<String>) -> Option<Self> {
                let text = text.into();
                in_bounds(&text).then_some(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    )+};
}

ids! {
    /// The id of an installation: one Discord server's copy of the extension.
    InstallationId;
    /// The id of the member who asks.
    AskerId;
    /// The id of a channel.
    ChannelId;
    /// pup's stable id of one call. It is no credential.
    CallId;
    /// The id of a message.
    MessageId;
}

fn in_bounds(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len())
}

fn required_id(object: &Object<'_>, name: &str) -> Result<String, Error> {
    let id = object.required_text(name)?;
    bounded(object, name, &id)
}

fn optional_id(object: &Object<'_>, name: &str) -> Result<Option<String>, Error> {
    object
        .text(name)?
        .map(|id| bounded(object, name, &id))
        .transpose()
}

fn bounded(object: &Object<'_>, name: &str, id: &str) -> Result<String, Error> {
    if in_bounds(id) {
        Ok(id.to_owned())
    } else {
        Err(object.error(name, "must have 1 to 256 bytes"))
    }
}
