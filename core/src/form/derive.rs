//! The form as a whole: from what `schemars` derives to MCP's `requestedSchema`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    Form,
    error::{Problem, Reason},
    field::{field, without_notes, without_null},
    kind::kind,
};
use crate::schema::{Schema, SchemaError};

/// The form, or everything that keeps the type from being one.
pub(super) fn form(derived: &Value) -> Result<Form, Vec<Problem>> {
    let root = root(derived).map_err(|reason| vec![Problem::new("", reason)])?;
    let mut problems = Vec::new();
    refuse_others(&root, &mut problems);

    let nothing = Map::new();
    let derived_fields = match root.get("properties") {
        Some(Value::Object(fields)) => fields,
        _ => &nothing,
    };
    let required: BTreeSet<&str> = root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for name in &required {
        if !derived_fields.contains_key(*name) {
            problems.push(Problem::new(*name, Reason::NoSuchField));
        }
    }

    let (mut requested, mut sets) = (Map::new(), BTreeSet::new());
    for (name, schema) in derived_fields {
        let is_required = required.contains(&**name);
        if let Some(field) = field(name, schema, is_required, &mut problems) {
            if field.unique {
                sets.insert(name.clone());
            }
            requested.insert(name.clone(), Value::Object(field.requested));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    // In the order of the fields.
    let required: Vec<&String> = requested
        .keys()
        .filter(|name| required.contains(&***name))
        .collect();
    let requested = json!({"type": "object", "required": required, "properties": requested});
    assemble(requested, sets)
        .map_err(|error| vec![Problem::new("", Reason::Schema(error.to_string()))])
}

/// The form of a `requestedSchema`, some of whose fields are sets.
pub(super) fn assemble(requested: Value, sets: BTreeSet<String>) -> Result<Form, SchemaError> {
    let mut check = requested.clone();
    let mut optional = BTreeSet::new();
    if let Some(form) = check.as_object_mut() {
        form.insert("additionalProperties".into(), Value::Bool(false));
        let required = form.get("required").cloned().unwrap_or_default();
        let is_required = |name: &String| {
            let required = required.as_array().into_iter().flatten();
            required.into_iter().any(|one| one == name.as_str())
        };
        let fields = form.get_mut("properties").and_then(Value::as_object_mut);
        for (name, field) in fields.into_iter().flatten() {
            if !is_required(name) {
                optional.insert(name.clone());
            }
            if let (true, Some(field)) = (sets.contains(name), field.as_object_mut()) {
                field.insert("uniqueItems".into(), Value::Bool(true));
            }
        }
    }
    Ok(Form {
        check: Schema::compile(&check)?,
        optional,
        sets,
        requested,
    })
}

/// The keywords of the root, if it is an object and nothing else.
fn root(derived: &Value) -> Result<Map<String, Value>, Reason> {
    let Value::Object(keywords) = derived else {
        return Err(Reason::Root(kind(derived)));
    };
    let (keywords, nullable) = without_null(keywords.clone());
    if nullable {
        return Err(Reason::Root("an `Option`"));
    }
    if keywords.get("type").is_some_and(|of| of == "object") {
        return Ok(without_notes(keywords));
    }
    let alternatives = ["oneOf", "anyOf", "enum", "const"];
    if alternatives
        .iter()
        .any(|keyword| keywords.contains_key(*keyword))
    {
        return Err(Reason::Root("an enum"));
    }
    Err(Reason::Root(kind(derived)))
}

/// Notes what is said of the whole and that no form can say. What merely names or describes it is left out.
fn refuse_others(root: &Map<String, Value>, problems: &mut Vec<Problem>) {
    for (keyword, value) in root {
        let reason = match keyword.as_str() {
            "type" | "properties" | "required" | "title" | "description" | "$schema" => continue,
            // Of use only to fields that refer to them, and those are refused.
            "$defs" => continue,
            "additionalProperties" | "unevaluatedProperties" if *value == Value::Bool(false) => {
                continue;
            }
            "additionalProperties" | "unevaluatedProperties" | "patternProperties" => {
                Reason::AnyField
            }
            "oneOf" | "anyOf" | "allOf" => Reason::Flattened,
            other => Reason::RootKeyword(other.into()),
        };
        problems.push(Problem::new("", reason));
    }
}
