//! What an extension tells pup about itself: the manifest, checked whole.
//!
//! A [`ManifestDraft`] is plain data, made by hand or read from JSON. A [`Manifest`] that exists is valid: the
//! one way to it is a check of every rule that the
//! [extension protocol](https://docs.pup.run/extension-protocol) states, which reports *all* violations at
//! once, each with its path:
//!
//! ```
//! use pup_extension::manifest::{Command, Endpoints, ManifestDraft, ToolDraft};
//!
//! let mut draft = ManifestDraft {
//!     id: "snack_club".into(),
//!     name: "Snack Club".into(),
//!     author: "Example author".into(),
//!     description: "List available snacks.".into(),
//!     summary: "Read the available snack choices.".into(),
//!     instructions: "Use snack_menu when asked for the available snacks.".into(),
//!     endpoints: Endpoints::under("https://snacks.example.com", false)?,
//!     tools: vec![ToolDraft { read_only: true, ..ToolDraft::new("snack_menu") }],
//!     commands: vec![Command::new("snacks", "See available snacks").tool("snack_menu")],
//!     ..ManifestDraft::default()
//! };
//! let manifest = draft.clone().check()?;
//! assert_eq!(manifest.endpoints().mcp, "https://snacks.example.com/mcp");
//!
//! draft.id = "Snack__club".into();
//! draft.commands[0].tool = "snacks_menu".into();
//! assert_eq!(
//!     draft.check().unwrap_err().to_string(),
//!     "id: must be a lower-case letter followed by lower-case letters, digits or underscores\n\
//!      id: must not hold a double underscore, which is reserved\n\
//!      commands[0].tool: must be the name of one of the manifest's tools",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Units
//!
//! pup checks a manifest with a JavaScript schema, whose strings are counted in UTF-16 code units. So every
//! limit in characters is counted that way here: an emoji counts as two, any common letter as one. What passes
//! here passes under either reading of "character".
//!
//! # What can't be known here
//!
//! A command must not have the name of one of pup's own. That list is not published, so pup alone refuses it.

mod check;
mod command;
mod document;
mod draft;
mod endpoint;
mod error;
mod event;
mod name;
mod setting;
mod violation;

pub use self::{
    check::{
        MAX_INSTRUCTIONS_CHARS, MAX_MANIFEST_BYTES, MAX_SETTINGS, MAX_SUMMARY_CHARS, MAX_TOOLS,
    },
    command::{
        Command, MAX_COMMAND_DESCRIPTION_CHARS, MAX_COMMAND_NAME_CHARS, Surface, Visibility,
    },
    document::{Manifest, ManifestTool},
    draft::{MANIFEST_VERSION, ManifestDraft, PROTOCOL_VERSION, ToolDraft},
    endpoint::{EndpointRule, Endpoints},
    error::{ManifestError, ManifestErrorKind},
    event::EventKind,
    name::{ExtensionId, MAX_NAME_CHARS, MAX_QUALIFIED_NAME_CHARS, ToolName},
    setting::{MAX_LONG_TEXT_CHARS, MAX_TEXT_CHARS, Setting, SettingKind},
    violation::{Rule, Violation, Violations},
};
