//! What calls, challenges and events bring.

use pup_extension_cli::ToolResult;
use serde_json::{Map, Value};

use super::{indented, inline, line, objects, pretty, text};
use crate::style::{BAD, GOOD, HEADING, NAME, safe, styled};

pub(crate) fn challenge(echo: &str) -> String {
    format!(
        "{} {}",
        styled(GOOD, "the challenge came back:"),
        safe(echo)
    )
}

pub(crate) fn delivery(presentation: Option<&Value>) -> String {
    match presentation {
        None => format!("{} nothing to present", styled(GOOD, "accepted:")),
        Some(presentation) => format!(
            "{}\n{}",
            styled(GOOD, "accepted, to present:"),
            pretty(presentation)
        ),
    }
}

/// A tool's result: its content, its structured content (once, since the text is often the same as JSON), and
/// what pup would show.
pub(crate) fn result(result: &ToolResult) -> String {
    let mut out = String::new();
    if result.is_error() {
        line(&mut out, styled(BAD, "rejected"));
    }
    let structured = result.structured();
    for block in result.content() {
        let repeats = || {
            let value = block
                .get("text")?
                .as_str()
                .map(serde_json::from_str::<Value>)?
                .ok()?;
            Some(Some(&value) == structured)
        };
        if !repeats().unwrap_or_default() {
            line(&mut out, content(block));
        }
    }
    if let Some(structured) = structured {
        let mut structured = structured.clone();
        let pup = structured
            .as_object_mut()
            .and_then(|fields| fields.remove("pup"));
        if structured
            .as_object()
            .is_none_or(|fields| !fields.is_empty())
            || pup.is_none()
        {
            line(&mut out, pretty(&structured));
        }
        if let Some(pup) = pup {
            shown(&mut out, &pup);
        }
    }
    out
}

/// A content block: a text as it is, others by what they are and where they lead.
fn content(block: &Value) -> String {
    let Value::Object(block) = block else {
        return inline(block);
    };
    let kind = text(block, "type").unwrap_or_default();
    let mime = |block: &Map<String, Value>| {
        text(block, "mimeType")
            .map(|mime| format!(" {mime}"))
            .unwrap_or_default()
    };
    match kind.as_str() {
        "text" => text(block, "text").unwrap_or_default(),
        "image" | "audio" => {
            let size = block
                .get("data")
                .and_then(Value::as_str)
                .map_or(0, str::len);
            format!("[{kind}{}, {size} characters of base64]", mime(block))
        }
        "resource_link" => {
            let name = text(block, "title")
                .or_else(|| text(block, "name"))
                .unwrap_or_default();
            format!("[{name}]({})", text(block, "uri").unwrap_or_default())
        }
        "resource" => {
            let empty = Map::new();
            let resource = block
                .get("resource")
                .and_then(Value::as_object)
                .unwrap_or(&empty);
            let body = text(resource, "text")
                .map(|body| format!("\n{body}"))
                .unwrap_or_default();
            format!(
                "[resource{} {}]{body}",
                mime(resource),
                text(resource, "uri").unwrap_or_default()
            )
        }
        _ => pretty(&Value::Object(block.clone())),
    }
}

/// The `pup` block: fields, and actions as the calls that they make.
fn shown(out: &mut String, pup: &Value) {
    let Value::Object(pup) = pup else {
        line(out, pretty(pup));
        return;
    };
    for field in objects(pup, "fields") {
        let label = text(field, "label").unwrap_or_default();
        let value = field.get("value").map(inline).unwrap_or_default();
        line(
            out,
            format!(
                "  {} {}",
                styled(HEADING, format!("{label}:")),
                indented(&value, 4)
            ),
        );
    }
    for action in objects(pup, "actions") {
        let label = text(action, "label").unwrap_or_default();
        let tool = text(action, "tool").unwrap_or_default();
        let arguments = action
            .get("arguments")
            .map(|arguments| format!(" '{}'", inline(arguments)));
        let call = styled(
            NAME,
            format!("call {tool}{}", arguments.unwrap_or_default()),
        );
        line(
            out,
            format!("  {} {call}", styled(HEADING, format!("[{label}]"))),
        );
    }
    let other: Map<_, _> = pup
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "fields" | "actions"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !other.is_empty() {
        line(out, pretty(&Value::Object(other)));
    }
}
