//! Commands: a tool that a member can call without the assistant.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{
    name::check_length,
    violation::{Report, Rule, Unique},
};

/// The most characters of a command's name, as Discord has it.
pub const MAX_COMMAND_NAME_CHARS: usize = 32;
/// The most characters of a command's description, as Discord has it.
pub const MAX_COMMAND_DESCRIPTION_CHARS: usize = 100;

/// A command that calls a tool.
///
/// pup offers commands in Discord, so Discord's own limits are checked: the name has 1 to
/// [`MAX_COMMAND_NAME_CHARS`] lower-case letters, digits, hyphens or underscores, of any script, and the
/// description 1 to [`MAX_COMMAND_DESCRIPTION_CHARS`] characters. The names of pup's own commands are taken; only
/// pup knows them.
///
/// ```
/// use pup_extension::manifest::Command;
///
/// let command = Command::new("snacks", "See available snacks").tool("snack_menu").public();
/// assert_eq!(
///     serde_json::to_value(&command)?,
///     serde_json::json!({
///         "name": "snacks",
///         "description": "See available snacks",
///         "tool": "snack_menu",
///         "visibility": "public",
///     }),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Command {
    /// What the member types.
    pub name: String,
    /// What the member reads beside it.
    pub description: String,
    /// The name of the tool that it calls.
    pub tool: String,
    /// Who sees the answer.
    #[serde(default, skip_serializing_if = "Visibility::is_default")]
    pub visibility: Visibility,
    /// Where the command is offered; `None` for both of pup's surfaces.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub surfaces: Option<Vec<Surface>>,
    /// The command's options: JSON objects that are handed to pup as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
}

impl Command {
    /// A command that names no tool yet, seen by the member alone, on both surfaces.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            tool: String::new(),
            visibility: Visibility::EPHEMERAL,
            surfaces: None,
            options: Vec::new(),
        }
    }

    /// The tool that it calls. Required.
    #[must_use]
    pub fn tool(self, name: impl Into<String>) -> Self {
        Self {
            tool: name.into(),
            ..self
        }
    }

    /// Everybody in the channel sees the answer.
    #[must_use]
    pub fn public(self) -> Self {
        self.visibility(Visibility::PUBLIC)
    }

    /// Who sees the answer.
    #[must_use]
    pub fn visibility(self, visibility: Visibility) -> Self {
        Self { visibility, ..self }
    }

    /// Where the command is offered, in place of both surfaces.
    #[must_use]
    pub fn surfaces(self, surfaces: impl IntoIterator<Item = Surface>) -> Self {
        Self {
            surfaces: Some(surfaces.into_iter().collect()),
            ..self
        }
    }

    /// Adds an option: a JSON object, as pup wants it. The protocol's page does not say what is in one, so only
    /// that it is an object is checked.
    #[must_use]
    pub fn option(mut self, object: impl Into<Value>) -> Self {
        self.options.push(object.into());
        self
    }

    pub(super) fn check(&self, report: &mut Report, path: &str) {
        let name_path = format!("{path}.name");
        if self.name.is_empty() {
            report.add(&name_path, Rule::Empty);
        } else if !self.name.chars().all(is_command_char) {
            report.add(&name_path, Rule::CommandName);
        }
        check_length(report, &name_path, &self.name, MAX_COMMAND_NAME_CHARS);

        let description_path = format!("{path}.description");
        if self.description.trim().is_empty() {
            report.add(&description_path, Rule::Empty);
        }
        check_length(
            report,
            &description_path,
            &self.description,
            MAX_COMMAND_DESCRIPTION_CHARS,
        );

        if self.visibility.as_str().is_empty() {
            report.add(format!("{path}.visibility"), Rule::Empty);
        }
        if let Some(surfaces) = &self.surfaces {
            check_surfaces(report, path, surfaces);
        }
        for (index, option) in self.options.iter().enumerate() {
            if !option.is_object() {
                report.add(format!("{path}.options[{index}]"), Rule::NotAnObject);
            }
        }
    }
}

/// Who sees a command's answer.
///
/// The protocol's page names only `ephemeral`; `public` is assumed to be its counterpart. Any other is
/// [`Visibility::other`], which pup may refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Visibility(Cow<'static, str>);

impl Visibility {
    /// The member who gave the command alone. The default.
    pub const EPHEMERAL: Self = Self(Cow::Borrowed("ephemeral"));
    /// Everybody in the channel.
    pub const PUBLIC: Self = Self(Cow::Borrowed("public"));

    /// A visibility that this crate does not know.
    #[must_use]
    pub fn other(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The name in the manifest.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_default(&self) -> bool {
        *self == Self::EPHEMERAL
    }
}

impl Default for Visibility {
    fn default() -> Self {
        Self::EPHEMERAL
    }
}

/// A place where pup offers a command. The protocol's page says that there are two, and names neither.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Surface(String);

impl Surface {
    /// The surface that pup calls so.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name in the manifest.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// For optional fields where `null` is not the same as absent.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

fn check_surfaces(report: &mut Report, path: &str, surfaces: &[Surface]) {
    if surfaces.is_empty() {
        report.add(format!("{path}.surfaces"), Rule::Empty);
    }
    let mut seen = Unique::default();
    for (index, surface) in surfaces.iter().enumerate() {
        let path = format!("{path}.surfaces[{index}]");
        if surface.as_str().is_empty() {
            report.add(path, Rule::Empty);
        } else {
            seen.check(report, &path, index, surface.as_str());
        }
    }
}

/// Discord's grammar for the names of chat commands: `-`, `_`, letters and numbers of any script, the marks of
/// Devanagari and Thai, and no letter that has a lower-case form other than itself.
fn is_command_char(c: char) -> bool {
    let named = matches!(c, '-' | '_' | '\u{900}'..='\u{97f}' | '\u{e00}'..='\u{e7f}');
    (named || c.is_alphanumeric()) && c.to_lowercase().eq([c])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_lite::Regex;
    use serde_json::json;

    use super::*;

    fn broken(command: &Command) -> Vec<String> {
        let mut report = Report::default();
        command.check(&mut report, "commands[0]");
        report
            .finish(())
            .err()
            .into_iter()
            .flatten()
            .map(|v| v.to_string())
            .collect()
    }

    fn named(name: &str) -> Command {
        Command::new(name, "See available snacks").tool("snack_menu")
    }

    #[test]
    fn a_name_is_one_that_discord_takes() {
        for name in [
            "snacks",
            "s",
            "snack-menu_2",
            "9",
            "-",
            "закуски",
            "小吃",
            "स्नैक",
            "ขนม",
        ] {
            assert_eq!(broken(&named(name)), Vec::<String>::new(), "{name}");
        }
        for name in [
            "Snacks",
            "snack menu",
            "snacks!",
            "/snacks",
            "snack.menu",
            "É",
            "ǅ",
            "🍿",
            "a\0",
        ] {
            assert_eq!(
                broken(&named(name)),
                ["commands[0].name: must be lower-case letters, digits, hyphens or underscores"],
                "{name}"
            );
        }
        assert_eq!(broken(&named("")), ["commands[0].name: must not be empty"]);
    }

    #[test]
    fn lengths_hold_at_their_limits() {
        assert_eq!(broken(&named(&"a".repeat(32))), Vec::<String>::new());
        assert_eq!(
            broken(&named(&"a".repeat(33))),
            ["commands[0].name: has 33 characters; at most 32 are allowed"]
        );
        assert_eq!(
            broken(&Command::new("a", "d".repeat(100)).tool("t")),
            Vec::<String>::new()
        );
        assert_eq!(
            broken(&Command::new("a", "d".repeat(101)).tool("t")),
            ["commands[0].description: has 101 characters; at most 100 are allowed"]
        );
        assert_eq!(
            broken(&Command::new("a", " ").tool("t")),
            ["commands[0].description: must not be empty"]
        );
    }

    #[test]
    fn surfaces_are_named_once_and_options_are_objects() {
        let command = named("a")
            .visibility(Visibility::other(""))
            .surfaces([Surface::new("x"), Surface::new(""), Surface::new("x")])
            .option(json!({"anything": [1]}))
            .option(json!("text"));
        assert_eq!(
            broken(&command),
            [
                "commands[0].visibility: must not be empty",
                "commands[0].surfaces[1]: must not be empty",
                "commands[0].surfaces[2]: must be unique; entry 0 has it already",
                "commands[0].options[1]: must be a JSON object",
            ]
        );
        assert_eq!(
            broken(&named("a").surfaces([])),
            ["commands[0].surfaces: must not be empty"]
        );
    }

    #[test]
    fn what_is_the_default_is_left_out_and_what_is_not_comes_back() {
        let plain = named("a").visibility(Visibility::other("ephemeral"));
        assert_eq!(
            serde_json::to_value(&plain).unwrap(),
            json!({"name": "a", "description": "See available snacks", "tool": "snack_menu"})
        );
        let full = named("a")
            .public()
            .surfaces([Surface::new("x")])
            .option(json!({"name": "snack"}));
        let json = serde_json::to_value(&full).unwrap();
        assert_eq!(json["visibility"], "public");
        assert_eq!(json["surfaces"], json!(["x"]));
        assert_eq!(json["options"], json!([{"name": "snack"}]));
        assert_eq!(serde_json::from_value::<Command>(json).unwrap(), full);
    }

    proptest! {
        #[test]
        fn every_name_of_the_grammar_is_taken(name in "[a-zà-öа-яก-ฮऄ-ह0-9一-龥_-]{1,32}") {
            prop_assert_eq!(broken(&named(&name)), Vec::<String>::new());
        }

        #[test]
        fn an_ascii_name_is_judged_as_the_grammar_says(name in "[ -~]{0,4}|[a-z0-9_-]{0,40}") {
            let valid = Regex::new("^[a-z0-9_-]{1,32}$").unwrap().is_match(&name);
            prop_assert_eq!(broken(&named(&name)).is_empty(), valid);
        }
    }
}
