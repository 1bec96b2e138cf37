//! The manifest.

use serde_json::{Map, Value};

use super::{flag, inline, item, line, objects, text};
use crate::style::{HEADING, styled};

pub(crate) fn manifest(manifest: &Map<String, Value>) -> String {
    let mut out = String::new();
    let name = text(manifest, "name").unwrap_or_default();
    let id = text(manifest, "id").unwrap_or_default();
    let author = text(manifest, "author")
        .map(|author| format!(", by {author}"))
        .unwrap_or_default();
    line(
        &mut out,
        format!("{} ({id}){author}", styled(HEADING, name)),
    );
    for field in ["description", "summary", "instructions"] {
        if let Some(about) = text(manifest, field) {
            line(&mut out, about);
        }
    }
    if let Some(Value::Object(endpoints)) = manifest.get("endpoints") {
        let endpoints = endpoints
            .iter()
            .map(|(name, url)| (crate::style::safe(name), Some(inline(url))));
        section(&mut out, "Endpoints", endpoints);
    }
    section(
        &mut out,
        "Tools",
        objects(manifest, "tools").map(|tool| (label(tool, "name"), Some(policy(tool)))),
    );
    section(
        &mut out,
        "Commands",
        objects(manifest, "commands").map(|command| {
            (
                format!("/{}", label(command, "name")),
                Some(purpose(command)),
            )
        }),
    );
    section(
        &mut out,
        "Settings",
        objects(manifest, "settings")
            .map(|setting| (label(setting, "key"), text(setting, "label"))),
    );
    let events = manifest
        .get("events")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    section(
        &mut out,
        "Events",
        events.map(|event| (inline(event), None)),
    );
    out
}

fn section(out: &mut String, heading: &str, items: impl Iterator<Item = (String, Option<String>)>) {
    let lines: String = items
        .map(|(name, about)| item(&name, about.as_deref()))
        .collect();
    if !lines.is_empty() {
        line(
            out,
            format!("\n{}\n{}", styled(HEADING, heading), lines.trim_end()),
        );
    }
}

fn label(object: &Map<String, Value>, field: &str) -> String {
    text(object, field).unwrap_or_default()
}

/// What pup does about a tool, by its flags.
fn policy(tool: &Map<String, Value>) -> String {
    let kind = if flag(tool, "readOnly") {
        "read only"
    } else {
        "write"
    };
    let flags = [
        ("alwaysAsk", "always asks"),
        ("thread", "in a thread"),
        ("userRequest", "sees the request"),
    ];
    let flags = flags
        .into_iter()
        .filter(|(field, _)| flag(tool, field))
        .map(|(_, words)| words);
    std::iter::once(kind)
        .chain(flags)
        .collect::<Vec<_>>()
        .join(", ")
}

fn purpose(command: &Map<String, Value>) -> String {
    let tool = text(command, "tool")
        .map(|tool| format!(" (calls {tool})"))
        .unwrap_or_default();
    format!("{}{tool}", label(command, "description"))
}
