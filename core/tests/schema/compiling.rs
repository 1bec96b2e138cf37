//! What compiles and what does not, and why.

use pup_extension::schema::{MAX_SUBSCHEMAS, Schema};
use serde_json::json;

use super::{compile, refusal};

#[test]
fn an_unknown_keyword_is_named_with_its_place() {
    let schema = json!({
        "properties": {"a/b": {"items": [{}], "minimun": 1}},
        "oneOf": [true, {"contentEncoding": "base64"}],
    });
    let error = Schema::compile(&schema).unwrap_err();
    let problems: Vec<_> = error.problems().collect();
    assert_eq!(
        problems,
        [
            "#/oneOf/1/contentEncoding: unknown keyword: only keywords that are checked, and annotations, are allowed",
            "#/properties/a~1b/items: a schema is an object or a boolean",
            "#/properties/a~1b/minimun: unknown keyword: only keywords that are checked, and annotations, are allowed",
        ],
    );
    assert_eq!(error.to_string(), problems.join("; "));
}

#[test]
fn keywords_of_other_dialects_and_unsupported_ones_are_refused() {
    for keyword in [
        "$id",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$vocabulary",
        "definitions",
        "id",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedItems",
        "additionalItems",
        "contentMediaType",
        "nullable",
        "discriminator",
        "example",
        "Type",
        "X-note",
        "x-mcp-headers",
        "enumNames",
        "",
    ] {
        assert!(
            refusal(&json!({ keyword: true })).contains(": unknown keyword"),
            "{keyword}"
        );
    }
}

#[test]
fn annotations_are_allowed_and_have_no_effect() {
    let schema = compile(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A", "description": "B", "$comment": "C", "default": 3, "examples": [1], "deprecated": true,
        "readOnly": true, "writeOnly": false, "x-order": [1, 2], "type": "string",
    }));
    assert!(schema.validate(&json!("a")).is_ok());
}

#[test]
fn a_keyword_with_a_value_of_another_kind_is_refused() {
    for (schema, expected) in [
        (
            json!({"type": "text"}),
            "#/type: the value of this keyword must be null, boolean, integer,",
        ),
        (json!({"type": []}), "#/type: the value"),
        (json!({"type": ["string", 1]}), "#/type: the value"),
        (
            json!({"enum": []}),
            "#/enum: the value of this keyword must be an array with at least one value",
        ),
        (
            json!({"minimum": "1"}),
            "#/minimum: the value of this keyword must be a number",
        ),
        (
            json!({"multipleOf": 0}),
            "#/multipleOf: the value of this keyword must be a number above 0",
        ),
        (
            json!({"multipleOf": -2}),
            "#/multipleOf: the value of this keyword must be a number above 0",
        ),
        (
            json!({"minLength": -1}),
            "#/minLength: the value of this keyword must be a whole number, 0 or more",
        ),
        (json!({"maxItems": 1.5}), "#/maxItems: the value"),
        (
            json!({"uniqueItems": 1}),
            "#/uniqueItems: the value of this keyword must be true or false",
        ),
        (
            json!({"required": "a"}),
            "#/required: the value of this keyword must be an array of names",
        ),
        (json!({"required": [1]}), "#/required: the value"),
        (
            json!({"properties": []}),
            "#/properties: the value of this keyword must be an object of schemas",
        ),
        (
            json!({"properties": {"a": 1}}),
            "#/properties/a: a schema is an object or a boolean",
        ),
        (
            json!({"allOf": {}}),
            "#/allOf: the value of this keyword must be an array of schemas",
        ),
        (
            json!({"anyOf": []}),
            "#/anyOf: the value of this keyword must be an array with at least one schema",
        ),
        (json!({"prefixItems": {}}), "#/prefixItems: the value"),
        (
            json!({"pattern": 1}),
            "#/pattern: the value of this keyword must be a string",
        ),
        (
            json!({"pattern": "(?=a)"}),
            "#/pattern: pattern `(?=a)`: lookaround, backreferences",
        ),
        (
            json!({"patternProperties": {"[": true}}),
            "#/patternProperties/[: pattern `[`: a character class",
        ),
        (
            json!({"format": "uint32"}),
            "#/format: unknown format `uint32`: the formats are date-time, date,",
        ),
        (
            json!({"title": 1}),
            "#/title: the value of this keyword must be a string",
        ),
        (json!({"deprecated": "no"}), "#/deprecated: the value"),
        (json!({"examples": 1}), "#/examples: the value"),
        (
            json!({"then": true}),
            "#/then: `then` does nothing without `if`",
        ),
        (
            json!({"else": true}),
            "#/else: `else` does nothing without `if`",
        ),
        (
            json!({"maxContains": 1}),
            "#/maxContains: `maxContains` does nothing without `contains`",
        ),
        (json!({"$defs": []}), "#/$defs: the value"),
        (
            json!({"not": {"$defs": {}}}),
            "#/not/$defs: `$defs` can stand at the root only",
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            "#/$schema: only JSON Schema 2020-12",
        ),
        (
            json!({"if": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}),
            "#/if/$schema: only",
        ),
        (json!(null), "#: a schema is an object or a boolean"),
        (json!([]), "#: a schema is an object or a boolean"),
    ] {
        let error = refusal(&schema);
        assert!(error.starts_with(expected), "{schema}: {error}");
    }
}

#[test]
fn definitions_that_nothing_refers_to_are_checked_too() {
    assert!(
        refusal(&json!({"$defs": {"a": {"typ": "string"}}}))
            .starts_with("#/$defs/a/typ: unknown keyword")
    );
}

#[test]
fn references_lead_to_the_root_or_a_definition_and_nowhere_else() {
    for reference in [
        "https://example.com/a.json",
        "a.json",
        "#/properties/a",
        "#/$defs/a/items",
        "#a",
        "",
        "#/$defs",
    ] {
        let error = refusal(&json!({"properties": {"a": {"$ref": reference}}}));
        assert!(
            error
                .starts_with("#/properties/a/$ref: only `#` and `#/$defs/NAME` can be referred to"),
            "{error}"
        );
    }
    assert!(
        refusal(&json!({"items": {"$ref": "#/$defs/b"}, "$defs": {"a": {}}}))
            .contains("no `b` in `$defs`")
    );
}

#[test]
fn a_reference_that_looks_at_no_part_of_the_value_is_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"not": {"anyOf": [{"$ref": "#"}]}}]}),
        json!({"if": {"$ref": "#"}}),
        json!({"if": true, "else": {"$ref": "#"}}),
    ] {
        assert_eq!(
            refusal(&schema),
            "#: the schema refers to itself without looking at a part of the value: it could never be decided",
        );
    }
    let through_two = json!({
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}},
    });
    assert!(refusal(&through_two).starts_with("#/$defs/a: the schema refers to itself"));
    // The same definition twice on the way is no cycle.
    let diamond = json!({
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}},
    });
    assert!(compile(&diamond).validate(&json!("a")).is_ok());
}

#[test]
fn a_schema_that_is_too_deep_too_long_or_too_large_is_refused() {
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"properties": {"a": deep}});
    }
    assert!(refusal(&deep).ends_with("the schema nests deeper than 96 levels"));

    let mut definitions = serde_json::Map::new();
    for n in 0..200 {
        definitions.insert(
            format!("d{n}"),
            json!({"$ref": format!("#/$defs/d{}", n + 1)}),
        );
    }
    definitions.insert("d200".into(), json!({}));
    let long = json!({"items": {"$ref": "#/$defs/d0"}, "$defs": definitions});
    assert!(refusal(&long).ends_with("the schema nests deeper than 96 levels"));

    let large = json!({"prefixItems": vec![json!(true); MAX_SUBSCHEMAS]});
    assert!(refusal(&large).ends_with("the schema has more than 4096 sub-schemas"));
    let definitions: serde_json::Map<_, _> = (0..=MAX_SUBSCHEMAS)
        .map(|n| (n.to_string(), json!({})))
        .collect();
    assert!(
        refusal(&json!({"$defs": definitions}))
            .ends_with("the schema has more than 4096 sub-schemas")
    );
    compile(&json!({"prefixItems": vec![json!(true); MAX_SUBSCHEMAS - 1]}));
}

#[test]
fn only_so_many_problems_are_listed() {
    let properties: serde_json::Map<_, _> = (10..40)
        .map(|n| (n.to_string(), json!({"typ": 1})))
        .collect();
    let error = Schema::compile(&json!({ "properties": properties })).unwrap_err();
    assert_eq!(error.problems().count(), 16);
    assert!(error.to_string().ends_with("; and more"));
}
