//! Every rule of the protocol's table, over a whole manifest.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{
    document::{Manifest, ManifestTool},
    draft::{MANIFEST_VERSION, ManifestDraft, PROTOCOL_VERSION, ToolDraft},
    endpoint::EndpointRule,
    event::EventKind,
    name::{ExtensionId, MAX_QUALIFIED_NAME_CHARS, check_length, check_name, length},
    violation::{Report, Rule, Unique, Violations},
};

/// The most characters of the summary.
pub const MAX_SUMMARY_CHARS: usize = 150;
/// The most characters of the instructions.
pub const MAX_INSTRUCTIONS_CHARS: usize = 2_000;
/// The most tools.
pub const MAX_TOOLS: usize = 100;
/// The most settings.
pub const MAX_SETTINGS: usize = 25;
/// The most bytes of a manifest as JSON: pup reads no response over 1 MiB.
pub const MAX_MANIFEST_BYTES: usize = 1024 * 1024;

pub(super) fn check(draft: ManifestDraft, rule: EndpointRule) -> Result<Manifest, Violations> {
    let mut report = Report::default();
    check_versions(&mut report, &draft);
    check_name(&mut report, "id", &draft.id);
    check_texts(&mut report, &draft);
    draft.endpoints.check(&mut report, rule);
    check_events_endpoint(&mut report, &draft);
    check_tools(&mut report, &draft);
    check_commands(&mut report, &draft);
    check_settings(&mut report, &draft);
    let events = check_events(&mut report, &draft.events);
    let json = check_size(&mut report, &draft);

    // A draft that breaks a rule makes none of these, so that bad names never get a type.
    report.finish(())?;
    Ok(Manifest {
        id: ExtensionId::unchecked(&draft.id),
        tools: draft.tools.iter().map(ManifestTool::unchecked).collect(),
        draft,
        events,
        json,
    })
}

fn check_versions(report: &mut Report, draft: &ManifestDraft) {
    if draft.manifest_version != MANIFEST_VERSION {
        report.add("manifestVersion", Rule::Version { supported: "1" });
    }
    if draft.protocol_version != PROTOCOL_VERSION {
        report.add(
            "protocolVersion",
            Rule::Version {
                supported: PROTOCOL_VERSION,
            },
        );
    }
}

fn check_texts(report: &mut Report, draft: &ManifestDraft) {
    for (path, text) in [
        ("name", &draft.name),
        ("author", &draft.author),
        ("description", &draft.description),
        ("summary", &draft.summary),
    ] {
        if text.trim().is_empty() {
            report.add(path, Rule::Empty);
        }
    }
    if draft.summary.contains(is_line_break) {
        report.add("summary", Rule::OneLine);
    }
    check_length(report, "summary", &draft.summary, MAX_SUMMARY_CHARS);
    check_length(
        report,
        "instructions",
        &draft.instructions,
        MAX_INSTRUCTIONS_CHARS,
    );
}

/// The characters that Unicode says always end a line.
fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn check_events_endpoint(report: &mut Report, draft: &ManifestDraft) {
    match (draft.events.is_empty(), &draft.endpoints.events) {
        (false, None) => report.add("endpoints.events", Rule::EventsEndpointMissing),
        (true, Some(_)) => report.add("endpoints.events", Rule::EventsEndpointUnused),
        (true, None) | (false, Some(_)) => {}
    }
}

fn check_tools(report: &mut Report, draft: &ManifestDraft) {
    check_count(report, "tools", draft.tools.len(), 1, MAX_TOOLS);
    let mut seen = Unique::default();
    for (index, tool) in draft.tools.iter().enumerate() {
        let path = format!("tools[{index}].name");
        check_name(report, &path, &tool.name);
        check_qualified(report, &path, &draft.id, tool);
        seen.check(report, &path, index, &tool.name);
        if tool.always_ask && tool.read_only {
            report.add(format!("tools[{index}].alwaysAsk"), Rule::AlwaysAskReadOnly);
        }
    }
}

fn check_qualified(report: &mut Report, path: &str, id: &str, tool: &ToolDraft) {
    let length = length(id) + "__".len() + length(&tool.name);
    if length > MAX_QUALIFIED_NAME_CHARS {
        report.add(
            path,
            Rule::QualifiedTooLong {
                length,
                limit: MAX_QUALIFIED_NAME_CHARS,
            },
        );
    }
}

fn check_commands(report: &mut Report, draft: &ManifestDraft) {
    let tools: BTreeSet<&str> = draft.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut seen = Unique::default();
    for (index, command) in draft.commands.iter().enumerate() {
        let path = format!("commands[{index}]");
        command.check(report, &path);
        seen.check(report, &format!("{path}.name"), index, &command.name);
        if !tools.contains(command.tool.as_str()) {
            report.add(format!("{path}.tool"), Rule::UnknownTool);
        }
    }
}

fn check_settings(report: &mut Report, draft: &ManifestDraft) {
    check_count(report, "settings", draft.settings.len(), 0, MAX_SETTINGS);
    let mut seen = Unique::default();
    for (index, setting) in draft.settings.iter().enumerate() {
        setting.check(report, &mut seen, "settings", index);
    }
}

fn check_events(report: &mut Report, names: &[String]) -> Vec<EventKind> {
    let mut seen = Unique::default();
    let mut kinds = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let path = format!("events[{index}]");
        match EventKind::from_name(name) {
            Some(kind) => kinds.push(kind),
            None => report.add(&path, Rule::UnknownEvent),
        }
        seen.check(report, &path, index, name);
    }
    kinds
}

fn check_count(report: &mut Report, path: &str, found: usize, min: usize, max: usize) {
    if !(min..=max).contains(&found) {
        report.add(path, Rule::Count { found, min, max });
    }
}

fn check_size(report: &mut Report, draft: &ManifestDraft) -> Bytes {
    let json = serde_json::to_vec(draft).unwrap_or_else(|_| {
        unreachable!("a draft is made of strings, flags and JSON, which all have a JSON form")
    });
    if json.len() > MAX_MANIFEST_BYTES {
        report.add(
            "",
            Rule::TooLarge {
                bytes: json.len(),
                limit: MAX_MANIFEST_BYTES,
            },
        );
    }
    json.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::{Command, Endpoints, Setting};

    fn valid() -> ManifestDraft {
        ManifestDraft {
            id: "snack_club".into(),
            name: "Snack Club".into(),
            author: "Example author".into(),
            description: "List available snacks.".into(),
            summary: "Read the available snack choices.".into(),
            instructions: String::new(),
            endpoints: Endpoints::under("https://snacks.example.com", false).unwrap(),
            tools: vec![ToolDraft::new("snack_menu")],
            ..ManifestDraft::default()
        }
    }

    /// What is wrong with a valid manifest after `change`, one a line.
    fn broken(change: impl FnOnce(&mut ManifestDraft)) -> String {
        let mut draft = valid();
        change(&mut draft);
        draft
            .check()
            .err()
            .map(|violations| violations.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_valid_manifest_passes() {
        assert_eq!(broken(|_| {}), "");
    }

    #[test]
    fn only_the_supported_versions_pass() {
        for version in [0, 2, u64::MAX] {
            assert_eq!(
                broken(|draft| draft.manifest_version = version),
                "manifestVersion: must be 1, the version that is supported"
            );
        }
        for version in ["2025-11-25", "", "2026-07-28 "] {
            assert_eq!(
                broken(|draft| draft.protocol_version = version.into()),
                "protocolVersion: must be 2026-07-28, the version that is supported"
            );
        }
    }

    #[test]
    fn texts_that_people_see_are_not_empty() {
        for blank in ["", " \t"] {
            assert_eq!(
                broken(|draft| draft.name = blank.into()),
                "name: must not be empty"
            );
            assert_eq!(
                broken(|draft| draft.author = blank.into()),
                "author: must not be empty"
            );
            assert_eq!(
                broken(|draft| draft.description = blank.into()),
                "description: must not be empty"
            );
            assert_eq!(
                broken(|draft| draft.summary = blank.into()),
                "summary: must not be empty"
            );
        }
    }

    #[test]
    fn a_summary_is_one_line_of_150_characters() {
        assert_eq!(broken(|draft| draft.summary = "é".repeat(150)), "");
        assert_eq!(
            broken(|draft| draft.summary = "é".repeat(151)),
            "summary: has 151 characters; at most 150 are allowed"
        );
        assert_eq!(broken(|draft| draft.summary = "🍿".repeat(75)), "");
        assert_eq!(
            broken(|draft| draft.summary = "🍿".repeat(75) + "a"),
            "summary: has 151 characters; at most 150 are allowed"
        );
        for line_break in [
            "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            for summary in [format!("a{line_break}b"), format!("a{line_break}")] {
                assert_eq!(
                    broken(|draft| draft.summary = summary),
                    "summary: must be one line"
                );
            }
        }
        assert_eq!(broken(|draft| draft.summary = "a\tb".into()), "");
    }

    #[test]
    fn instructions_have_2000_characters_on_any_number_of_lines() {
        assert_eq!(broken(|draft| draft.instructions = "a\n".repeat(1_000)), "");
        assert_eq!(
            broken(|draft| draft.instructions = "a".repeat(2_001)),
            "instructions: has 2001 characters; at most 2000 are allowed"
        );
    }

    #[test]
    fn an_id_of_48_characters_passes_and_one_more_does_not() {
        let long = |chars: usize| {
            move |draft: &mut ManifestDraft| {
                draft.id = "a".repeat(chars);
                draft.tools = vec![ToolDraft::new("b")];
            }
        };
        assert_eq!(broken(long(48)), "");
        assert_eq!(
            broken(long(49)),
            "id: has 49 characters; at most 48 are allowed"
        );
    }

    #[test]
    fn an_id_and_a_tool_have_64_characters_together() {
        for id in [14, 20, 48] {
            let with_tool = |chars: usize| {
                move |draft: &mut ManifestDraft| {
                    draft.id = "a".repeat(id);
                    draft.tools = vec![ToolDraft::new("ok"), ToolDraft::new("b".repeat(chars))];
                }
            };
            assert_eq!(broken(with_tool(62 - id)), "");
            let expected = "tools[1].name: is too long for the id: `id__tool` has 65 characters; at most 64 \
                            are allowed";
            assert_eq!(broken(with_tool(63 - id)).lines().last(), Some(expected));
        }
    }

    #[test]
    fn a_tool_name_of_48_characters_passes_and_one_more_does_not() {
        let named = |chars: usize| {
            move |draft: &mut ManifestDraft| {
                draft.id = "a".into();
                draft.tools = vec![ToolDraft::new("b".repeat(chars))];
            }
        };
        assert_eq!(broken(named(48)), "");
        assert_eq!(
            broken(named(49)),
            "tools[0].name: has 49 characters; at most 48 are allowed"
        );
    }

    #[test]
    fn there_are_1_to_100_tools_of_different_names() {
        let tools = |count: usize| {
            move |draft: &mut ManifestDraft| {
                draft.tools = (0..count)
                    .map(|n| ToolDraft::new(format!("tool_{n}")))
                    .collect();
            }
        };
        assert_eq!(
            broken(tools(0)),
            "tools: has 0 entries; 1 to 100 are allowed"
        );
        assert_eq!(broken(tools(1)), "");
        assert_eq!(broken(tools(100)), "");
        assert_eq!(
            broken(tools(101)),
            "tools: has 101 entries; 1 to 100 are allowed"
        );
        assert_eq!(
            broken(|draft| draft.tools = ["a", "b", "a", "a"].map(ToolDraft::new).into()),
            "tools[2].name: must be unique; entry 0 has it already\n\
             tools[3].name: must be unique; entry 0 has it already"
        );
    }

    #[test]
    fn a_read_only_tool_cannot_be_an_irreversible_write() {
        let marked = |read_only, always_ask| {
            move |draft: &mut ManifestDraft| {
                draft.tools[0].read_only = read_only;
                draft.tools[0].always_ask = always_ask;
            }
        };
        assert_eq!(broken(marked(true, false)), "");
        assert_eq!(broken(marked(false, true)), "");
        assert_eq!(
            broken(marked(true, true)),
            "tools[0].alwaysAsk: marks an irreversible write, but the tool is read only"
        );
    }

    #[test]
    fn a_command_calls_a_tool_of_the_manifest_and_has_a_name_of_its_own() {
        let command = |name: &str, tool: &str| Command::new(name, "d").tool(tool);
        assert_eq!(
            broken(|draft| draft.commands = vec![command("a", "snack_menu")]),
            ""
        );
        let both = vec![
            command("a", "snack_menu"),
            command("b", "snacks"),
            command("a", ""),
        ];
        assert_eq!(
            broken(|draft| draft.commands = both),
            "commands[1].tool: must be the name of one of the manifest's tools\n\
             commands[2].name: must be unique; entry 0 has it already\n\
             commands[2].tool: must be the name of one of the manifest's tools"
        );
    }

    #[test]
    fn there_are_up_to_25_settings() {
        let settings = |count: usize| {
            move |draft: &mut ManifestDraft| {
                draft.settings = (0..count)
                    .map(|n| Setting::text(format!("key_{n}"), "Label"))
                    .collect();
            }
        };
        assert_eq!(broken(settings(25)), "");
        assert_eq!(
            broken(settings(26)),
            "settings: has 26 entries; 0 to 25 are allowed"
        );
        assert_eq!(
            broken(|draft| draft.settings = vec![Setting::text("a".repeat(48), "Label")]),
            ""
        );
        assert_eq!(
            broken(|draft| draft.settings = vec![Setting::text("a".repeat(49), "Label")]),
            "settings[0].key: has 49 characters; at most 48 are allowed"
        );
    }

    #[test]
    fn events_are_declared_exactly_where_there_is_an_endpoint_for_them() {
        let declared = |names: &[&str], endpoint: bool| {
            broken(|draft| {
                draft.events = names.iter().map(|name| (*name).to_owned()).collect();
                draft.endpoints = Endpoints::under("https://snacks.example.com", endpoint).unwrap();
            })
        };
        assert_eq!(declared(&["member.left"], true), "");
        assert_eq!(declared(&["member.joined", "member.left"], true), "");
        assert_eq!(
            declared(&["member.joined"], false),
            "endpoints.events: is required, since events are declared"
        );
        assert_eq!(
            declared(&[], true),
            "endpoints.events: must be left out, since no events are declared"
        );
        assert_eq!(
            declared(&["member.joined", "member.moved", "member.joined"], true),
            "events[1]: must be `member.joined` or `member.left`\n\
             events[2]: must be unique; entry 0 has it already"
        );
    }

    #[test]
    fn endpoints_are_checked_each_at_its_own_path() {
        let changed = broken(|draft| {
            draft.events = vec!["member.left".into()];
            draft.endpoints = Endpoints {
                challenge: "http://a.example/challenge".into(),
                mcp: "https://user:pw@a.example/mcp".into(),
                events: Some("/events".into()),
            };
        });
        assert_eq!(
            changed,
            "endpoints.challenge: must be an https URL\n\
             endpoints.mcp: must not carry credentials\n\
             endpoints.events: must be an absolute URL with a host, percent-encoded and in ASCII"
        );
    }

    #[test]
    fn a_manifest_is_at_most_one_mebibyte_of_json() {
        let empty = serde_json::to_vec(&ManifestDraft {
            description: String::new(),
            ..valid()
        })
        .unwrap();
        let room = MAX_MANIFEST_BYTES - empty.len();
        assert_eq!(broken(|draft| draft.description = "d".repeat(room)), "");
        assert_eq!(
            broken(|draft| draft.description = "d".repeat(room + 1)),
            "manifest: has 1048577 bytes as JSON; at most 1048576 are allowed"
        );
    }

    #[test]
    fn every_violation_is_reported_at_once_with_its_path() {
        let draft = ManifestDraft {
            manifest_version: 2,
            protocol_version: "1".into(),
            id: "Snack".into(),
            name: String::new(),
            author: String::new(),
            description: String::new(),
            summary: format!("{}\n", "a".repeat(150)),
            instructions: "a".repeat(2_001),
            endpoints: Endpoints {
                challenge: "http://u@10.0.0.1/#x".into(),
                mcp: String::new(),
                events: Some("https://a.example/".into()),
            },
            tools: vec![
                ToolDraft::new("snack_menu"),
                ToolDraft {
                    read_only: true,
                    always_ask: true,
                    ..ToolDraft::new("snack_menu")
                },
                ToolDraft::new("b__".to_owned() + &"c".repeat(60)),
            ],
            commands: vec![
                Command::new("Snacks", "")
                    .tool("nope")
                    .surfaces([])
                    .option(json!(1)),
                Command::new("", "d").tool("snack_menu"),
            ],
            settings: vec![
                Setting::text("1", "Label").max_length(501),
                Setting::long_text("b", " ").max_length(4_001),
                Setting::raw(json!([])),
            ],
            events: Vec::new(),
        };
        let violations = draft.check().unwrap_err();
        let found: Vec<(&str, &Rule)> = violations
            .iter()
            .map(|violation| (violation.path.as_str(), &violation.rule))
            .collect();
        assert_eq!(
            found,
            [
                ("manifestVersion", &Rule::Version { supported: "1" }),
                (
                    "protocolVersion",
                    &Rule::Version {
                        supported: "2026-07-28"
                    }
                ),
                ("id", &Rule::Name),
                ("name", &Rule::Empty),
                ("author", &Rule::Empty),
                ("description", &Rule::Empty),
                ("summary", &Rule::OneLine),
                (
                    "summary",
                    &Rule::TooLong {
                        length: 151,
                        limit: 150
                    }
                ),
                (
                    "instructions",
                    &Rule::TooLong {
                        length: 2_001,
                        limit: 2_000
                    }
                ),
                ("endpoints.challenge", &Rule::Fragment),
                ("endpoints.challenge", &Rule::Credentials),
                ("endpoints.challenge", &Rule::Https),
                ("endpoints.challenge", &Rule::NotPublic),
                ("endpoints.mcp", &Rule::Url),
                ("endpoints.events", &Rule::EventsEndpointUnused),
                ("tools[1].name", &Rule::Duplicate { first: 0 }),
                ("tools[1].alwaysAsk", &Rule::AlwaysAskReadOnly),
                ("tools[2].name", &Rule::DoubleUnderscore),
                (
                    "tools[2].name",
                    &Rule::TooLong {
                        length: 63,
                        limit: 48
                    }
                ),
                (
                    "tools[2].name",
                    &Rule::QualifiedTooLong {
                        length: 70,
                        limit: 64
                    }
                ),
                ("commands[0].name", &Rule::CommandName),
                ("commands[0].description", &Rule::Empty),
                ("commands[0].surfaces", &Rule::Empty),
                ("commands[0].options[0]", &Rule::NotAnObject),
                ("commands[0].tool", &Rule::UnknownTool),
                ("commands[1].name", &Rule::Empty),
                ("settings[0].key", &Rule::Name),
                ("settings[0].maxLength", &Rule::MaxLength { limit: 500 }),
                ("settings[1].label", &Rule::Empty),
                ("settings[1].maxLength", &Rule::MaxLength { limit: 4_000 }),
                ("settings[2]", &Rule::NotAnObject),
            ]
        );
        assert_eq!(violations.to_string().lines().count(), found.len());
    }

    #[test]
    fn a_violation_does_not_repeat_what_was_written() {
        let text = broken(|draft| {
            draft.id = "PRIVATE".into();
            draft.endpoints.mcp = "http://user:PRIVATE@a.example/".into();
            draft.events = vec!["PRIVATE".into()];
        });
        assert!(!text.is_empty() && !text.contains("PRIVATE"), "{text}");
    }
}
