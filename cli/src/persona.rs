//! Whom the client speaks for.

use serde_json::{Map, Value, json};

/// The installation, asker and channel that the client speaks for, and the installation's settings.
///
/// The ids are texts of any form, since the protocol gives them none.
#[derive(Clone, Debug)]
pub struct Persona {
    /// The installation: one extension on one server.
    pub installation_id: String,
    /// The member who asks.
    pub asker_id: String,
    /// The channel of the conversation; not sent in discovery.
    pub channel_id: Option<String>,
    /// The settings of the installation, by key.
    pub settings: Map<String, Value>,
}

impl Default for Persona {
    /// `local-installation`, `local-asker` and `local-channel`, without settings.
    fn default() -> Self {
        Self {
            installation_id: "local-installation".to_owned(),
            asker_id: "local-asker".to_owned(),
            channel_id: Some("local-channel".to_owned()),
            settings: Map::new(),
        }
    }
}

impl Persona {
    /// The context of discovery: no channel.
    pub(crate) fn discovery_context(&self) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("installationId".to_owned(), json!(self.installation_id));
        context.insert("askerId".to_owned(), json!(self.asker_id));
        context.insert("settings".to_owned(), Value::Object(self.settings.clone()));
        context
    }

    /// The context of a call.
    pub(crate) fn call_context(&self) -> Map<String, Value> {
        let mut context = self.discovery_context();
        if let Some(channel) = &self.channel_id {
            context.insert("channelId".to_owned(), json!(channel));
        }
        context
    }

    /// The context of an event, which nobody asked for: the installation and its settings.
    pub(crate) fn event_context(&self) -> Map<String, Value> {
        let mut context = self.discovery_context();
        context.remove("askerId");
        context
    }
}
