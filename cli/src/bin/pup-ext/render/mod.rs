//! Answers as people read them.
//!
//! Everything here takes what came as it is: a field that is missing or of another type is left out, since the
//! JSON form shows the whole.

mod discovery;
mod manifest;
mod result;
mod task;
mod tools;

pub(crate) use discovery::discovery;
pub(crate) use manifest::manifest;
pub(crate) use result::{challenge, delivery, result};
pub(crate) use task::{answered, cancelling, detailed_task, questions, standing, task};
pub(crate) use tools::tools;

use serde_json::{Map, Value};

use crate::style::{NAME, safe, styled};

/// A field that is a text, safe to show.
fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(safe)
}

/// Whether a field is true.
fn flag(object: &Map<String, Value>, name: &str) -> bool {
    object
        .get(name)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// The objects in a field that is a list.
fn objects<'a>(
    object: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    object
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

/// A JSON value over several lines, safe to show.
fn pretty(value: &Value) -> String {
    safe(&format!("{value:#}"))
}

/// A value on one line: a text as it is, anything else as JSON.
fn inline(value: &Value) -> String {
    safe(
        &value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    )
}

/// Adds a line, or several.
fn line(out: &mut String, text: impl std::fmt::Display) {
    out.push_str(&text.to_string());
    out.push('\n');
}

/// A line of a list: a name, and what there is to say about it.
fn item(name: &str, about: Option<&str>) -> String {
    match about.filter(|about| !about.is_empty()) {
        Some(about) => format!("  {}  {}\n", styled(NAME, name), indented(about, 4)),
        None => format!("  {}\n", styled(NAME, name)),
    }
}

/// A text whose further lines are moved in.
pub(crate) fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{:by$}", ""))
}
