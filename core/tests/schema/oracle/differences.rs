//! Where the oracle is not followed, and why.

use pup_extension::schema::Schema;
use serde_json::{Value, json};

/// Whether a pair may show one of the differences of numbers or patterns that the tests below name.
pub(crate) fn may_differ(schema: &Value, value: &Value) -> bool {
    (anywhere(value, &is_large_integer)
        && anywhere_keyword(schema, "multipleOf", &|step| step.as_u64().is_none()))
        || (anywhere(value, &|value| {
            value.as_str().is_some_and(|text| !text.is_ascii())
        }) && anywhere_keyword(schema, "pattern", &|pattern| {
            pattern
                .as_str()
                .is_some_and(|pattern| pattern.contains(r"\b") || pattern.contains(r"\B"))
        }))
}

fn is_large_integer(value: &Value) -> bool {
    const PRECISE: u64 = 1 << 53;
    value
        .as_u64()
        .or_else(|| value.as_i64().map(i64::unsigned_abs))
        .is_some_and(|integer| integer > PRECISE)
}

fn anywhere(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| anywhere(item, is)),
            Value::Object(object) => object.values().any(|value| anywhere(value, is)),
            _ => false,
        }
}

fn anywhere_keyword(schema: &Value, keyword: &str, is: &dyn Fn(&Value) -> bool) -> bool {
    anywhere(schema, &|schema| schema.get(keyword).is_some_and(is))
}

/// Texts of a format on which the two may differ, as the tests below show.
pub(crate) fn of_format(name: &str, text: &str) -> bool {
    name == "email" && text.contains("\\ ")
}

/// Our verdict, and the oracle's.
fn verdicts(schema: &Value, value: &Value) -> (bool, bool) {
    (
        Schema::compile(schema).unwrap().validate(value).is_ok(),
        super::oracle(schema).is_valid(value),
    )
}

const OURS: (bool, bool) = (true, false);
const THEIRS: (bool, bool) = (false, true);

/// The specification speaks of division that results in an integer. The oracle divides floats here, and an integer
/// over 2⁵³ is rounded before.
#[test]
fn a_large_integer_is_not_rounded_before_it_is_divided_by_a_fraction() {
    let schema = json!({"multipleOf": 2.5});
    assert_eq!(
        verdicts(&schema, &json!(9_223_372_036_854_775_807_u64)),
        THEIRS
    );
    assert_eq!(
        verdicts(&schema, &json!(9_223_372_036_854_775_805_u64)),
        (true, true)
    );
}

/// In ECMA-262 a word is made of ASCII letters, digits and the underscore; the oracle counts all letters.
#[test]
fn a_word_boundary_knows_ascii_words_alone() {
    assert_eq!(verdicts(&json!({"pattern": r"a\b"}), &json!("aé")), OURS);
    assert_eq!(verdicts(&json!({"pattern": r"é\b"}), &json!("é")), THEIRS);
}

/// A mailbox, not a header field with a display name (RFC 5321, section 4.1.2; the oracle takes RFC 5322's form too).
#[test]
fn an_email_address_has_no_display_name() {
    assert_eq!(
        verdicts(&json!({"format": "email"}), &json!("Joe <joe@example.com>")),
        THEIRS
    );
}

/// RFC 5321's quoted pair may hold a space, and its quoted text no tab.
#[test]
fn a_quoted_local_part_is_that_of_smtp() {
    assert_eq!(
        verdicts(&json!({"format": "email"}), &json!(r#""\ "@example.com"#)),
        OURS
    );
    assert_eq!(
        verdicts(&json!({"format": "email"}), &json!("\"a\tb\"@example.com")),
        THEIRS
    );
}

/// What `xn--` encodes is not decoded: it would take tables of all of Unicode.
#[test]
fn an_internationalised_label_is_not_decoded() {
    assert_eq!(
        verdicts(&json!({"format": "hostname"}), &json!("xn--X")),
        OURS
    );
    assert_eq!(
        verdicts(
            &json!({"format": "hostname"}),
            &json!("xn--4gbwdl.xn--wgbh1c")
        ),
        (true, true)
    );
}

/// The oracle ignores keywords and formats that it does not know; here nothing is advertised that is not enforced.
#[test]
fn what_the_oracle_ignores_or_supports_beyond_the_closed_set_is_refused() {
    for schema in [
        json!({"minimun": 1}),
        json!({"format": "uint32"}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"unevaluatedItems": false}),
        json!({"pattern": "^(?!a)"}),
        json!({"$anchor": "a"}),
        json!({"then": false}),
    ] {
        super::oracle(&schema);
        assert!(Schema::compile(&schema).is_err(), "{schema}");
    }
}
