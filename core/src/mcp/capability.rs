//! What a client declares on each request.

use serde_json::value::RawValue;

use super::{Error, object::Object};

/// The identifier of MCP's tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The part of a request's `ClientCapabilities` that matters here.
///
/// They count for the one request that carries them; nothing is remembered from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// The client handles tasks: it declares the extension [`TASKS_EXTENSION`].
    pub tasks: bool,
    /// The client can show a form: it declares `elicitation`, either empty or with `form`.
    pub elicitation: bool,
}

impl ClientCapabilities {
    /// Refuses a client that does not handle tasks.
    ///
    /// # Errors
    ///
    /// [`Error::missing_tasks_extension`].
    pub fn require_tasks(&self) -> Result<(), Error> {
        if self.tasks {
            Ok(())
        } else {
            Err(Error::missing_tasks_extension())
        }
    }

    pub(super) fn read(raw: &RawValue) -> Result<Self, Error> {
        const PATH: &str = "params._meta[\"io.modelcontextprotocol/clientCapabilities\"]";
        const EXTENSIONS: &str =
            "params._meta[\"io.modelcontextprotocol/clientCapabilities\"].extensions";
        const TASKS: &str = "params._meta[\"io.modelcontextprotocol/clientCapabilities\"].extensions[\"io.modelcontextprotocol/tasks\"]";
        const ELICITATION: &str =
            "params._meta[\"io.modelcontextprotocol/clientCapabilities\"].elicitation";

        let capabilities = Object::read(raw, PATH)?;
        let tasks = match capabilities.object("extensions", EXTENSIONS)? {
            Some(extensions) => extensions.object(TASKS_EXTENSION, TASKS)?.is_some(),
            None => false,
        };
        let elicitation = capabilities
            .object("elicitation", ELICITATION)?
            .is_some_and(|modes| modes.is_empty() || modes.member("form").is_some());
        Ok(Self { tasks, elicitation })
    }
}
