//! Setting up a client.

use std::{fmt, sync::Arc, time::Duration};

use pup_extension::{mcp::TASKS_EXTENSION, signing::Secret, time::Timestamp};
use serde_json::{Map, Value, json};

use crate::{
    base_url::BaseUrl,
    client::Client,
    clock::Clock,
    error::ClientError,
    persona::Persona,
    transport::{DEADLINE, Transport},
};

/// Sets up a [`Client`]. [`Client::to_builder`] gives one that is set up like an existing client.
///
/// ```
/// use pup_extension_cli::Client;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse()?;
/// let client = Client::builder("http://127.0.0.1:8787", secret)
///     .installation("guild_1")
///     .asker("member_7")
///     .setting("greeting", "Hello!")
///     .build()?;
/// let other = client.to_builder().asker("member_8").build()?;
/// assert_eq!(other.persona().installation_id, "guild_1");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ClientBuilder {
    config: Config,
}

/// Everything that a client is told.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) base_url: String,
    pub(crate) secret: Arc<Secret>,
    pub(crate) persona: Persona,
    pub(crate) capabilities: Map<String, Value>,
    pub(crate) clock: Clock,
    pub(crate) webhook_id: Option<String>,
    pub(crate) deadline: Duration,
    pub(crate) plain_http: bool,
}

impl ClientBuilder {
    pub(crate) fn new(base_url: String, secret: Secret) -> Self {
        Self {
            config: Config {
                base_url,
                secret: Arc::new(secret),
                persona: Persona::default(),
                capabilities: capabilities(),
                clock: Clock::System { skew_secs: 0 },
                webhook_id: None,
                deadline: DEADLINE,
                plain_http: false,
            },
        }
    }

    pub(crate) fn from_config(config: Config) -> Self {
        Self { config }
    }

    /// Signs with another secret.
    #[must_use]
    pub fn secret(mut self, secret: Secret) -> Self {
        self.config.secret = Arc::new(secret);
        self
    }

    /// Speaks for someone else altogether.
    #[must_use]
    pub fn persona(mut self, persona: Persona) -> Self {
        self.config.persona = persona;
        self
    }

    /// Speaks for another installation.
    #[must_use]
    pub fn installation(mut self, id: impl Into<String>) -> Self {
        self.config.persona.installation_id = id.into();
        self
    }

    /// Speaks for another member.
    #[must_use]
    pub fn asker(mut self, id: impl Into<String>) -> Self {
        self.config.persona.asker_id = id.into();
        self
    }

    /// Speaks from another channel.
    #[must_use]
    pub fn channel(mut self, id: impl Into<String>) -> Self {
        self.config.persona.channel_id = Some(id.into());
        self
    }

    /// Sets a setting of the installation.
    #[must_use]
    pub fn setting(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.config
            .persona
            .settings
            .insert(key.into(), value.into());
        self
    }

    /// Declares these client capabilities, and no others. By default: the tasks extension and forms to fill in.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Map<String, Value>) -> Self {
        self.config.capabilities = capabilities;
        self
    }

    /// Signs by a clock that goes this many seconds fast (negative: slow).
    #[must_use]
    pub fn clock_skew_secs(mut self, skew_secs: i64) -> Self {
        self.config.clock = Clock::System { skew_secs };
        self
    }

    /// Signs every request with this time.
    #[must_use]
    pub fn timestamp(mut self, timestamp: Timestamp) -> Self {
        self.config.clock = Clock::Fixed(timestamp);
        self
    }

    /// Gives every request this `webhook-id`, unless its own options name one. By default each gets a fresh one.
    #[must_use]
    pub fn webhook_id(mut self, id: impl Into<String>) -> Self {
        self.config.webhook_id = Some(id.into());
        self
    }

    /// Waits this long for an answer instead of pup's five seconds ([`DEADLINE`]).
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.config.deadline = deadline;
        self
    }

    /// Allows plain http to other machines, as between containers. Pup itself would refuse.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.config.plain_http = true;
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ClientErrorKind::Url`](crate::ClientErrorKind::Url) for a base URL that is no absolute http or https
    /// URL, that holds credentials, a query or a fragment, or that is plain http to another machine;
    /// [`ClientErrorKind::System`](crate::ClientErrorKind::System) when an https URL finds no certificates here.
    pub fn build(self) -> Result<Client, ClientError> {
        let base = BaseUrl::parse(&self.config.base_url, self.config.plain_http)?;
        let transport = Transport::new(&base, self.config.deadline)?;
        Ok(Client::from_parts(self.config, base, transport))
    }
}

impl fmt::Debug for ClientBuilder {
    /// The ids alone: a base URL that was not checked yet may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let persona = &self.config.persona;
        f.debug_struct("ClientBuilder")
            .field("installation_id", &persona.installation_id)
            .field("asker_id", &persona.asker_id)
            .field("channel_id", &persona.channel_id)
            .finish_non_exhaustive()
    }
}

/// What pup can do: follow tasks, and have its members fill in forms.
fn capabilities() -> Map<String, Value> {
    let mut capabilities = Map::new();
    capabilities.insert("elicitation".to_owned(), json!({"form": {}}));
    capabilities.insert("extensions".to_owned(), json!({TASKS_EXTENSION: {}}));
    capabilities
}
