//! MCP's own schema, and the `jsonschema` crate.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

const MCP: &str = include_str!("../../../tests/fixtures/mcp-2026-07-28.schema.json");

/// Demands that MCP allows it as a `requestedSchema`, each of its fields included.
pub(crate) fn assert_is_of_mcp(requested: &Value) {
    let params = json!({"mode": "form", "message": "Which?", "requestedSchema": requested});
    for (name, validator) in form_params() {
        let errors: Vec<_> = validator.iter_errors(&params).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{requested:#}");
    }
}

/// `ElicitRequestFormParams` as it is published, and closed: with nothing allowed that it does not list.
fn form_params() -> &'static [(&'static str, Validator); 2] {
    static VALIDATORS: OnceLock<[(&str, Validator); 2]> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        let mut published: Value = serde_json::from_str(MCP).unwrap();
        published["$ref"] = json!("#/$defs/ElicitRequestFormParams");
        let mut closed = published.clone();
        close(&mut closed["$defs"]);
        [("published", published), ("closed", closed)]
            .map(|(name, schema)| (name, jsonschema::draft202012::new(&schema).unwrap()))
    })
}

/// Forbids all properties that are not listed, where some are.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords.values_mut().for_each(close);
            if keywords.get("properties").is_some_and(Value::is_object)
                && keywords.get("type").is_some_and(|of| of == "object")
            {
                keywords
                    .entry("additionalProperties")
                    .or_insert(false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Validates answers: the requested schema with nothing allowed besides, and no choice twice in `sets`.
pub(crate) fn of_answers(requested: &Value, sets: &[&str]) -> Validator {
    let mut schema = requested.clone();
    schema["additionalProperties"] = false.into();
    for name in sets {
        schema["properties"][name]["uniqueItems"] = true.into();
    }
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

/// The oracle would tell a form that MCP does not allow.
#[test]
fn the_closed_schema_refuses_what_mcp_does_not_list() {
    let [_, (_, closed)] = form_params();
    let is_valid = |field: Value| {
        let requested = json!({"type": "object", "properties": {"a": field}});
        closed.is_valid(&json!({"message": "Which?", "requestedSchema": requested}))
    };
    assert!(is_valid(json!({"type": "string", "minLength": 1})));
    assert!(is_valid(
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}})
    ));
    for field in [
        json!({"type": "string", "pattern": "a"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "integer", "format": "uint32"}),
        json!({"type": "array", "items": {"oneOf": [{"const": "a", "title": "A"}]}}),
        json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "uniqueItems": true}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": "A", "description": "b"}]}),
        json!({"type": "string", "oneOf": [{"const": "a"}]}),
        json!({"type": "string", "enum": ["a", null]}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "string", "default": null}),
    ] {
        assert!(!is_valid(field.clone()), "{field}");
    }
    let params = json!({
        "message": "Which?",
        "requestedSchema": {"type": "object", "properties": {}, "additionalProperties": false},
    });
    assert!(!closed.is_valid(&params));
}
