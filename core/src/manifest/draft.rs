//! A manifest that nobody has checked yet.

use serde::{Deserialize, Serialize};

use super::{
    check,
    command::Command,
    document::Manifest,
    endpoint::{EndpointRule, Endpoints},
    setting::Setting,
    violation::Violations,
};

/// The `manifestVersion` that is supported.
pub const MANIFEST_VERSION: u64 = 1;
/// The `protocolVersion` that is supported: the version of MCP.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// A manifest as plain data, unchecked; [`ManifestDraft::check`] makes a [`Manifest`] of it.
///
/// In JSON it has the protocol's field names. Unknown fields, doubled fields and missing ones are refused; only
/// `endpoints.events` and what the protocol calls optional may be missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestDraft {
    /// The version of the manifest's format: [`MANIFEST_VERSION`].
    pub manifest_version: u64,
    /// The version of MCP that the extension speaks: [`PROTOCOL_VERSION`].
    pub protocol_version: String,
    /// The extension's id, by the grammar of [`ExtensionId`](super::ExtensionId).
    pub id: String,
    /// The name that people see. Not empty.
    pub name: String,
    /// Who made it. Not empty.
    pub author: String,
    /// What it is for. Not empty.
    pub description: String,
    /// One line for the assistant, who always has it. Not empty, at most
    /// [`MAX_SUMMARY_CHARS`](super::MAX_SUMMARY_CHARS).
    pub summary: String,
    /// How the assistant is to use the tools, loaded with their details. At most
    /// [`MAX_INSTRUCTIONS_CHARS`](super::MAX_INSTRUCTIONS_CHARS).
    pub instructions: String,
    /// Where pup sends requests.
    pub endpoints: Endpoints,
    /// The tools, 1 to [`MAX_TOOLS`](super::MAX_TOOLS), each name once.
    pub tools: Vec<ToolDraft>,
    /// The commands, each name once.
    pub commands: Vec<Command>,
    /// The settings, at most [`MAX_SETTINGS`](super::MAX_SETTINGS), each key once.
    pub settings: Vec<Setting>,
    /// The events that the extension wants, by the names of [`EventKind`](super::EventKind), each once.
    pub events: Vec<String>,
}

impl ManifestDraft {
    /// Checks every rule, with endpoints that must be public and https.
    ///
    /// # Errors
    ///
    /// All violations at once.
    pub fn check(self) -> Result<Manifest, Violations> {
        self.check_with(EndpointRule::PublicHttps)
    }

    /// Checks every rule, with endpoints by `rule`.
    ///
    /// # Errors
    ///
    /// All violations at once.
    pub fn check_with(self, rule: EndpointRule) -> Result<Manifest, Violations> {
        check::check(self, rule)
    }
}

impl Default for ManifestDraft {
    /// The supported versions, and nothing else.
    fn default() -> Self {
        Self {
            manifest_version: MANIFEST_VERSION,
            protocol_version: PROTOCOL_VERSION.to_owned(),
            id: String::new(),
            name: String::new(),
            author: String::new(),
            description: String::new(),
            summary: String::new(),
            instructions: String::new(),
            endpoints: Endpoints::default(),
            tools: Vec::new(),
            commands: Vec::new(),
            settings: Vec::new(),
            events: Vec::new(),
        }
    }
}

/// What the manifest says of a tool, unchecked. All the rest about it is MCP's `tools/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDraft {
    /// The name, as in MCP's tool list, by the grammar of [`ToolName`](super::ToolName).
    pub name: String,
    /// The tool changes nothing. Without it, the tool is a write, and pup may ask the member first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// The tool does what can't be undone, so pup always asks. Not together with `read_only`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub always_ask: bool,
    /// The tool wants its answers in a Discord thread.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thread: bool,
    /// The tool wants the message that the member wrote.
    #[serde(default, skip_serializing_if = "is_false")]
    pub user_request: bool,
}

impl ToolDraft {
    /// A write of this name, with nothing else set.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
