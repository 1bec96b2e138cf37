//! What is said of a value that does not fit.

use serde_json::{Value, json};

use super::{compile, complaint};

#[test]
fn a_mismatch_names_the_argument_and_says_what_it_must_be() {
    let at = |schema: Value, value: Value| {
        complaint(&json!({"properties": {"p": schema}}), &json!({"p": value}))
            .replace("arguments.p: ", "")
    };
    assert_eq!(at(json!({"maximum": 10}), json!(11)), "must be at most 10");
    assert_eq!(
        at(json!({"minimum": 0.5}), json!(0)),
        "must be at least 0.5"
    );
    assert_eq!(
        at(json!({"exclusiveMaximum": 10}), json!(10)),
        "must be less than 10"
    );
    assert_eq!(
        at(json!({"exclusiveMinimum": 10}), json!(10.0)),
        "must be more than 10"
    );
    assert_eq!(
        at(json!({"multipleOf": 0.25}), json!(0.3)),
        "must be a multiple of 0.25"
    );
    assert_eq!(
        at(json!({"type": "integer"}), json!(0.5)),
        "must be an integer"
    );
    assert_eq!(
        at(json!({"type": ["string", "null"]}), json!(1)),
        "must be a string or null"
    );
    assert_eq!(
        at(json!({"type": "boolean"}), json!(1)),
        "must be true or false"
    );
    assert_eq!(
        at(json!({"minLength": 1}), json!("")),
        "must have 1 character or more"
    );
    assert_eq!(
        at(json!({"maxLength": 2}), json!("abc")),
        "must have at most 2 characters"
    );
    assert_eq!(
        at(json!({"pattern": "^a"}), json!("b")),
        "must match the pattern ^a"
    );
    assert_eq!(
        at(json!({"format": "date"}), json!("today")),
        "must be a date, as in 2026-07-28"
    );
    assert_eq!(
        at(json!({"minItems": 2}), json!([1])),
        "must have 2 items or more"
    );
    assert_eq!(
        at(json!({"maxItems": 1}), json!([1, 2])),
        "must have at most 1 item"
    );
    assert_eq!(
        at(json!({"uniqueItems": true}), json!([1, 1.0])),
        "must not hold an item twice"
    );
    assert_eq!(
        at(json!({"contains": {"type": "null"}}), json!([1])),
        "must hold 1 item or more of a certain kind"
    );
    assert_eq!(
        at(json!({"minProperties": 1}), json!({})),
        "must have 1 property or more"
    );
    assert_eq!(
        at(json!({"maxProperties": 0}), json!({"a": 1})),
        "must have at most 0 properties"
    );
    assert_eq!(
        at(json!({"enum": ["popcorn", 1]}), json!("cake")),
        r#"must be one of "popcorn", 1"#
    );
    assert_eq!(
        at(json!({"const": {"a": 1}}), json!("cake")),
        r#"must be {"a":1}"#
    );
    assert_eq!(
        at(json!({"not": {"const": 0}}), json!(0)),
        "is of a kind that is excluded"
    );
    assert_eq!(at(json!(false), json!(0)), "is not allowed");
    assert_eq!(
        at(
            json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
            json!(3)
        ),
        "fits more than one of the alternatives; it must fit one",
    );
    assert_eq!(
        complaint(&json!({"required": ["p"]}), &json!({})),
        "arguments.p: is required"
    );
    assert_eq!(
        complaint(
            &json!({"propertyNames": {"maxLength": 1}}),
            &json!({"ab": 1})
        ),
        "arguments.ab: is not a name that a property can have here",
    );
    assert_eq!(
        complaint(
            &json!({"properties": {"a": {"items": {"properties": {"b": {"type": "null"}}}}}}),
            &json!({"a": [{}, {"b": 1}]})
        ),
        "arguments.a[1].b: must be null",
    );
}

#[test]
fn of_alternatives_the_one_that_was_meant_is_explained() {
    let tagged = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"maximum": 3}}, "required": ["kind", "n"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind", "s"]},
    ]});
    assert_eq!(
        complaint(&tagged, &json!({"kind": "a", "n": 4})),
        "arguments.n: must be at most 3"
    );
    assert_eq!(
        complaint(&tagged, &json!({"kind": "b"})),
        "arguments.s: is required"
    );
    assert_eq!(
        complaint(&tagged, &json!({"kind": "c"})),
        "arguments: fits none of the 2 alternatives"
    );
    let optional = json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]});
    assert_eq!(
        complaint(&optional, &json!("abc")),
        "arguments: must have at most 2 characters"
    );
    assert_eq!(
        complaint(&optional, &json!(1)),
        "arguments: fits none of the 2 alternatives"
    );
}

/// So an enumeration looks whose values are described one by one.
#[test]
fn alternatives_that_are_values_are_listed() {
    let described = json!({"oneOf": [
        {"const": "popcorn", "type": "string", "description": "Salty."},
        {"enum": ["fruit", "pretzels"], "type": "string"},
    ]});
    assert_eq!(
        complaint(&described, &json!("gravel")),
        "arguments: must be one of \"popcorn\", \"fruit\", \"pretzels\""
    );
    assert_eq!(
        complaint(&described, &json!(null)),
        "arguments: must be one of \"popcorn\", \"fruit\", \"pretzels\""
    );
    let optional = json!({"anyOf": [described, {"type": "null"}]});
    assert_eq!(
        complaint(&optional, &json!("gravel")),
        "arguments: must be one of \"popcorn\", \"fruit\", \"pretzels\""
    );
}

#[test]
fn nothing_of_a_value_is_quoted() {
    let schema = json!({
        "properties": {
            "text": {"pattern": "^a", "maxLength": 3, "format": "email", "enum": ["x"], "not": {"type": "string"}},
            "number": {"maximum": 3, "multipleOf": 2, "const": 2},
            "map": {"additionalProperties": {"type": "integer"}, "propertyNames": {"pattern": "^a$"}},
            "list": {"items": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
        },
        "additionalProperties": false,
    });
    let secret = "hunter2 is my password";
    let value = json!({
        "text": secret, "number": 424_242, "map": {secret: secret, "joe@example.com": "x"}, "list": [secret], secret: 1,
    });
    let mismatches = compile(&schema).validate(&value).unwrap_err();
    assert!(mismatches.iter().count() >= 7, "{mismatches}");
    for text in [mismatches.to_string(), format!("{mismatches:?}")] {
        for leak in ["hunter2", "password", "424242", "joe"] {
            assert!(!text.contains(leak), "{text}");
        }
    }
    assert!(
        mismatches
            .iter()
            .any(|mismatch| mismatch.path() == "arguments.map[…]"),
        "{mismatches}"
    );
}

#[test]
fn only_so_many_mismatches_are_noted() {
    let items: Vec<_> = (0..1_000).map(|n| json!(n)).collect();
    let mismatches = compile(&json!({"items": {"type": "string"}}))
        .validate(&items.into())
        .unwrap_err();
    assert_eq!(mismatches.iter().count(), 16);
    assert_eq!(mismatches.iter().last().unwrap().path(), "arguments[15]");
}

#[test]
fn a_long_list_of_choices_is_cut() {
    let choices: Vec<_> = (0..500).map(|n| format!("choice-{n}")).collect();
    let text = complaint(&json!({ "enum": choices }), &json!("x"));
    assert!(
        text.starts_with("arguments: must be one of \"choice-0\", ") && text.ends_with(", …"),
        "{text}"
    );
    assert!(text.len() < 400, "{text}");
}
