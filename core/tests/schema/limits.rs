//! What takes too long or nests too deeply is given up.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::compile;

#[test]
fn recursion_with_ambiguous_alternatives_is_given_up_in_time() {
    // Twice the work at every level: 2¹⁰⁰ if it were all done.
    let schema = compile(&json!({
        "anyOf": [
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
            {"const": 1},
        ],
    }));
    let nested = |depth: usize, innermost: &str| {
        let text = format!(
            "{}{innermost}{}",
            "{\"a\":".repeat(depth),
            "}".repeat(depth)
        );
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert!(schema.validate(&nested(100, "1")).is_ok());
    assert!(schema.validate(&nested(10, "2")).is_err());
    let error = schema.validate(&nested(100, "2")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arguments: is too large or nests too deeply to be checked"
    );
    // Giving up is no verdict that `not` could turn round.
    let negated = compile(&json!({"not": {"$ref": "#/$defs/x"}, "$defs": {"x": {
        "anyOf": [{"properties": {"a": {"$ref": "#/$defs/x"}}}, {"properties": {"a": {"$ref": "#/$defs/x"}}}],
        "properties": {"b": false},
    }}}));
    let text = format!("{}{{\"b\":1}}{}", "{\"a\":".repeat(100), "}".repeat(100));
    assert!(
        negated
            .validate(&serde_json::from_str(&text).unwrap())
            .is_err()
    );
}

#[test]
fn the_stack_is_bounded_whatever_nests() {
    let schema =
        compile(&json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}));
    let nested = |depth: usize| (0..depth).fold(json!(null), |value, _| json!({ "a": value }));
    assert!(
        schema.validate(&nested(127)).is_ok(),
        "as deep as JSON text may nest"
    );
    assert!(schema.validate(&nested(1_000)).is_err());
}

#[test]
fn a_search_that_would_take_too_long_is_given_up() {
    let schema = compile(&json!({"pattern": r"(\w{1,50}-){1,50}$"}));
    assert!(schema.validate(&json!("ab-cd-")).is_ok());
    let error = schema.validate(&json!("a-".repeat(300_000))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arguments: is too large or nests too deeply to be checked"
    );
    // With a limit on the length the text is refused for that, without a search.
    let limited = compile(&json!({"pattern": r"(\w{1,50}-){1,50}$", "maxLength": 100}));
    let error = limited.validate(&json!("a-".repeat(300_000))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arguments: must have at most 100 characters"
    );
}

#[test]
fn a_body_of_a_mebibyte_is_checked_within_the_limits() {
    let item = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer", "minimum": 0}}, "required": ["n"]},
        {"type": "string", "pattern": "^[a-z]+$"},
    ]});
    let schema = compile(&json!({"type": "array", "items": item}));
    let mut text = String::from("[");
    for n in 0..60_000 {
        write!(text, "{{\"kind\":\"a\",\"n\":{n}}},").unwrap();
    }
    text.push_str("\"a\"]");
    assert!(text.len() > 1 << 20);
    schema
        .validate(&serde_json::from_str(&text).unwrap())
        .unwrap();

    let smallest = compile(
        &json!({"items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "uniqueItems": false}),
    );
    let ones = format!("[1{}]", ",1".repeat((1 << 19) - 2));
    smallest
        .validate(&serde_json::from_str(&ones).unwrap())
        .unwrap();
    let numbers: Value = (0..150_000).collect::<Vec<_>>().into();
    compile(&json!({"uniqueItems": true}))
        .validate(&numbers)
        .unwrap();
}
