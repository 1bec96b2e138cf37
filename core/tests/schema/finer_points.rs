//! Cases that are easily got wrong, after the specification. They run where the oracle can't, too.

use serde_json::json;

use super::compile;

#[test]
fn the_specifications_finer_points_hold() {
    let yes = true;
    let no = false;
    let cases = [
        // A reference leaves its siblings in force.
        (
            json!({"$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": {"minLength": 1}}}),
            json!("ab"),
            no,
        ),
        // The prefix is not subject to `items`.
        (
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
            json!(["a", 1, 2]),
            yes,
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!(["a", 1]),
            no,
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!([]),
            yes,
        ),
        // Only without any match by name or pattern is a property additional.
        (
            json!({"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": false}),
            json!({"ab": 1}),
            yes,
        ),
        (
            json!({"properties": {"ab": {}}, "patternProperties": {"^a": {"type": "null"}}}),
            json!({"ab": 1}),
            no,
        ),
        // `additionalProperties` sees its own siblings only, `unevaluatedProperties` what is applied in place.
        (
            json!({"allOf": [{"properties": {"a": {}}}], "additionalProperties": false}),
            json!({"a": 1}),
            no,
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            yes,
        ),
        (
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}, "unevaluatedProperties": false}),
            json!({"a": 1}),
            yes,
        ),
        (
            json!({"properties": {"a": {}}, "allOf": [{"unevaluatedProperties": false}]}),
            json!({"a": 1}),
            no,
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"unevaluatedProperties": false}]}),
            json!({"a": 1}),
            no,
        ),
        (
            json!({"allOf": [{"unevaluatedProperties": true}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            yes,
        ),
        (
            json!({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1, "b": 1}),
            yes,
        ),
        (
            json!({"anyOf": [{"required": ["c"], "properties": {"a": {}}}, {}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            no,
        ),
        (
            json!({"not": {"not": {"properties": {"a": {}}}}, "unevaluatedProperties": false}),
            json!({"a": 1}),
            no,
        ),
        (
            json!({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "else": {"properties": {"b": {}}}, "unevaluatedProperties": false}),
            json!({"a": 1}),
            yes,
        ),
        (
            json!({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "else": {"properties": {"b": {}}}, "unevaluatedProperties": false}),
            json!({"a": 2}),
            no,
        ),
        (
            json!({"unevaluatedProperties": {"type": "integer"}}),
            json!({"a": "x"}),
            no,
        ),
        // Keywords speak of their own type only.
        (
            json!({"minLength": 5, "minimum": 5, "minItems": 5, "required": ["a"], "format": "date"}),
            json!(true),
            yes,
        ),
        // Numbers are numbers, and booleans are not.
        (json!({"const": 1}), json!(1.0), yes),
        (json!({"enum": [[0]]}), json!([false]), no),
        (json!({"const": {"a": [1]}}), json!({"a": [1.0]}), yes),
        (
            json!({"uniqueItems": true}),
            json!([{"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}]),
            no,
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, true, "1", [1]]),
            yes,
        ),
        (json!({"type": "integer"}), json!(1e300), yes),
        (
            json!({"maximum": 9_007_199_254_740_992_u64}),
            json!(9_007_199_254_740_993_u64),
            no,
        ),
        (json!({"multipleOf": 0.01}), json!(19.99), yes),
        // `minContains: 0` lifts the one that `contains` asks for.
        (
            json!({"contains": {"const": 1}, "minContains": 0}),
            json!([]),
            yes,
        ),
        (
            json!({"contains": {"const": 1}, "maxContains": 1}),
            json!([1, 1.0]),
            no,
        ),
        (
            json!({"contains": false, "minContains": 0, "maxContains": 0}),
            json!([1]),
            yes,
        ),
        // Code points, not UTF-16 units and not bytes.
        (json!({"maxLength": 1}), json!("😀"), yes),
        (json!({"maxLength": 1}), json!("e\u{301}"), no),
        (json!({"minLength": 2.0}), json!("a"), no),
        // A pattern is not anchored, and its end is the end.
        (json!({"pattern": "es"}), json!("yes"), yes),
        (json!({"pattern": "^a$"}), json!("a\n"), no),
        // Branches without their condition's counterpart say nothing.
        (json!({"if": {"const": 0}, "then": false}), json!(1), yes),
        (json!({"if": {"const": 0}, "else": false}), json!(1), no),
        (json!({"oneOf": [true, true]}), json!(1), no),
        (json!({"oneOf": [true, false]}), json!(1), yes),
        (json!(false), json!(null), no),
        (
            json!({"required": ["__proto__", "toString"]}),
            json!({"__proto__": 1, "toString": 1}),
            yes,
        ),
    ];
    for (schema, value, fits) in cases {
        assert_eq!(
            compile(&schema).validate(&value).is_ok(),
            fits,
            "{schema}\n{value}"
        );
    }
}
