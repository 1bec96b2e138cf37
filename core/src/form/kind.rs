//! What a sub-schema that has no place in a form stands for, in the words of Rust.

use serde_json::Value;

/// `a map`, `a tuple`, `a recursive type`.
pub(super) fn kind(schema: &Value) -> &'static str {
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(false) => return "a type without values",
        _ => return "any value",
    };
    let has = |keyword: &str| keywords.contains_key(keyword);
    if has("$ref") {
        return "a recursive type";
    }
    if has("prefixItems") {
        return "a tuple";
    }
    let mut branches = ["oneOf", "anyOf"]
        .iter()
        .filter_map(|keyword| keywords.get(*keyword)?.as_array())
        .flatten()
        .peekable();
    if branches.peek().is_some() {
        return if branches.any(|branch| type_of(branch) == Some("object")) {
            "an enum whose variants carry data"
        } else {
            "a choice between types"
        };
    }
    match type_of(schema) {
        Some("object") if has("additionalProperties") && !has("properties") => "a map",
        Some("object") => "an object",
        Some("array") => "a list",
        Some("null") => "a unit type",
        _ if has("enum") || has("const") => "an enum of other values than strings",
        Some("string") => "a string",
        Some("integer" | "number") => "a number",
        Some("boolean") => "a boolean",
        _ if keywords.get("type").is_some_and(Value::is_array) => "a choice between types",
        _ => "any value",
    }
}

fn type_of(schema: &Value) -> Option<&str> {
    schema.get("type")?.as_str()
}
