//! The tool list.

use pup_extension_cli::ToolList;
use serde_json::{Map, Value};

use super::{indented, inline, line, text};
use crate::style::{BAD, HEADING, NAME, NOTE, safe, styled};

pub(crate) fn tools(list: &ToolList) -> String {
    let mut out = String::new();
    for tool in &list.tools {
        let definition = tool.as_map();
        let title = text(definition, "title")
            .map(|title| format!("  {title}"))
            .unwrap_or_default();
        line(
            &mut out,
            format!("{}{title}", styled(HEADING, safe(tool.name()))),
        );
        if let Some(description) = text(definition, "description") {
            line(&mut out, format!("  {}", indented(&description, 2)));
        }
        if let Some(Value::Object(schema)) = definition.get("inputSchema") {
            arguments(&mut out, schema);
        }
        out.push('\n');
    }
    for tool in &list.excluded {
        let reason = safe(&tool.reason);
        line(
            &mut out,
            format!("{}  {reason}", styled(BAD, safe(&tool.name))),
        );
    }
    out
}

/// A line for each argument: its name, its type, whether it must be given, and what it is for.
pub(super) fn arguments(out: &mut String, schema: &Map<String, Value>) {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        let optional = if required.iter().any(|required| required == name) {
            ""
        } else {
            ", optional"
        };
        let note = format!("({}{optional})", kind(property));
        let about = property
            .get("description")
            .and_then(Value::as_str)
            .map(|about| format!("  {}", safe(about)));
        let about = indented(&about.unwrap_or_default(), 6);
        line(
            out,
            format!(
                "    {} {}{about}",
                styled(NAME, safe(name)),
                styled(NOTE, note)
            ),
        );
    }
}

/// What a property may be: its choices where it has some, else its type; for a list, what it is a list of.
fn kind(property: &Value) -> String {
    let choices = match (
        property.get("enum"),
        property.get("const"),
        property.get("oneOf").or_else(|| property.get("anyOf")),
    ) {
        (Some(Value::Array(choices)), ..) => choices.iter().map(inline).collect(),
        (_, Some(only), _) => vec![inline(only)],
        (.., Some(Value::Array(choices))) => choices
            .iter()
            .filter_map(|choice| choice.get("const"))
            .map(inline)
            .collect(),
        _ => Vec::new(),
    };
    if !choices.is_empty() {
        return choices.join(" | ");
    }
    match property.get("type") {
        Some(Value::String(kind)) if kind == "array" => match property.get("items") {
            Some(items) => format!("array of {}", self::kind(items)),
            None => kind.clone(),
        },
        Some(Value::Array(kinds)) => kinds.iter().map(inline).collect::<Vec<_>>().join(" | "),
        Some(kind) => inline(kind),
        None => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn choices_are_shown_in_place_of_a_type() {
        assert_eq!(
            kind(&json!({"type": "string", "enum": ["a", "b"]})),
            "a | b"
        );
        assert_eq!(kind(&json!({"const": 1})), "1");
        assert_eq!(
            kind(&json!({"oneOf": [{"const": "a"}, {"const": "b"}]})),
            "a | b"
        );
        assert_eq!(
            kind(&json!({"oneOf": [{"type": "string"}], "type": "object"})),
            "object"
        );
        assert_eq!(kind(&json!({"type": ["string", "null"]})), "string | null");
        assert_eq!(kind(&json!(true)), "any");
    }

    #[test]
    fn a_list_shows_what_it_is_a_list_of() {
        assert_eq!(kind(&json!({"type": "array"})), "array");
        let items = json!({"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]});
        assert_eq!(
            kind(&json!({"type": "array", "items": items})),
            "array of a | b"
        );
        assert_eq!(
            kind(&json!({"type": "array", "items": {"type": "string"}})),
            "array of string"
        );
    }
}
