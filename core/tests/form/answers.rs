//! Answers: which fit, what becomes of them, and what is said of those that don't fit.

use std::collections::BTreeSet;

use pup_extension::form::ReadError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{complaint, form};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Snack {
    Popcorn,
    Nuts,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    /// For one
    Small,
    /// For all
    Large,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Order {
    #[schemars(range(min = 1, max = 9))]
    portions: u8,
    size: Size,
    #[schemars(length(min = 1, max = 2))]
    snacks: Vec<Snack>,
    sizes: Option<BTreeSet<Size>>,
    #[schemars(length(max = 10))]
    note: Option<String>,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(default)]
    gift: bool,
    tip: Option<f64>,
}

fn least() -> Value {
    json!({"portions": 1, "size": "small", "snacks": ["nuts"]})
}

fn least_order() -> Order {
    Order {
        portions: 1,
        size: Size::Small,
        snacks: vec![Snack::Nuts],
        sizes: None,
        note: None,
        mail: None,
        gift: false,
        tip: None,
    }
}

/// The least answer, with one field set.
fn with(name: &str, value: Value) -> Value {
    let mut content = least();
    content[name] = value;
    content
}

#[test]
fn answers_that_fit_are_read() {
    let form = form::<Order>();
    assert_eq!(form.read::<Order>(&least()).unwrap(), least_order());
    let all = json!({
        "portions": 9,
        "size": "large",
        "snacks": ["popcorn", "popcorn"],
        "sizes": ["large", "small"],
        "note": "no salt",
        "mail": "joe@example.com",
        "gift": true,
        "tip": 0.5,
    });
    assert_eq!(
        form.read::<Order>(&all).unwrap(),
        Order {
            portions: 9,
            size: Size::Large,
            snacks: vec![Snack::Popcorn, Snack::Popcorn],
            sizes: Some(BTreeSet::from([Size::Small, Size::Large])),
            note: Some("no salt".into()),
            mail: Some("joe@example.com".into()),
            gift: true,
            tip: Some(0.5),
        }
    );
}

#[test]
fn null_for_an_optional_field_is_as_if_it_were_left_out() {
    let form = form::<Order>();
    let mut content = least();
    for name in ["sizes", "note", "mail", "gift", "tip"] {
        content[name] = Value::Null;
    }
    assert_eq!(form.read::<Order>(&content).unwrap(), least_order());
    assert_eq!(
        complaint(&form, &with("portions", Value::Null)),
        "answer.portions: must be an integer"
    );
    assert_eq!(
        complaint(&form, &with("other", Value::Null)),
        "answer.other: there is no such property"
    );
    assert_eq!(
        complaint(&form, &with("snacks", json!([null]))),
        "answer.snacks[0]: must be a string"
    );
}

#[test]
fn whole_numbers_may_have_a_fraction_of_zero() {
    let form = form::<Order>();
    let order = form.read::<Order>(&with("portions", json!(3.0))).unwrap();
    assert_eq!(order.portions, 3);
    let order = form.read::<Order>(&with("tip", json!(2))).unwrap();
    assert_eq!(order.tip, Some(2.0));
    assert_eq!(
        complaint(&form, &with("portions", json!(3.5))),
        "answer.portions: must be an integer"
    );
}

#[test]
fn what_does_not_fit_is_named_and_not_quoted() {
    let form = form::<Order>();
    for (content, expected) in [
        (
            with("portions", json!(10)),
            "answer.portions: must be at most 9",
        ),
        (
            with("portions", json!("many")),
            "answer.portions: must be an integer",
        ),
        (
            with("size", json!("medium")),
            "answer.size: must be one of \"small\", \"large\"",
        ),
        (
            with("snacks", json!([])),
            "answer.snacks: must have 1 item or more",
        ),
        (
            with("snacks", json!(["nuts", "gravel"])),
            "answer.snacks[1]: must be one of \"popcorn\", \"nuts\"",
        ),
        (
            with("sizes", json!(["medium"])),
            "answer.sizes[0]: must be one of \"small\", \"large\"",
        ),
        (
            with("sizes", json!(["small", "small"])),
            "answer.sizes: must not hold an item twice",
        ),
        (
            with("note", json!("my secret words")),
            "answer.note: must have at most 10 characters",
        ),
        (
            with("mail", json!("nobody")),
            "answer.mail: must be an e-mail address",
        ),
        (
            with("gift", json!("yes")),
            "answer.gift: must be true or false",
        ),
        (
            with("gitf", json!(true)),
            "answer.gitf: there is no such property",
        ),
        (
            with("joe@example.com", json!(true)),
            "answer[…]: there is no such property",
        ),
        (
            json!({"size": "small"}),
            "answer.portions: is required; answer.snacks: is required",
        ),
        (json!([]), "answer: must be an object"),
        (json!(null), "answer: must be an object"),
    ] {
        assert_eq!(complaint(&form, &content), expected, "{content}");
        let error = form.read::<Order>(&content).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error, ReadError::Mismatches(_)));
    }
}

#[test]
fn a_type_may_be_narrower_than_its_form() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "String")]
    #[schemars(with = "String")]
    struct Even(#[expect(dead_code, reason = "only whether it can be made counts")] String);

    impl TryFrom<String> for Even {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            if text.len().is_multiple_of(2) {
                Ok(Self(text))
            } else {
                Err(format!("{text} is odd"))
            }
        }
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Word {
        #[serde(rename = "word")]
        _word: Even,
        #[serde(rename = "count")]
        _count: Option<u64>,
    }
    let form = form::<Word>();
    form.read::<Word>(&json!({"word": "even"})).unwrap();
    for content in [
        json!({"word": "odd"}),
        // An integer, but not one of 64 bits.
        json!({"word": "even", "count": 1e300}),
    ] {
        form.check(&content).unwrap();
        let error = form.read::<Word>(&content).unwrap_err();
        assert_eq!(error, ReadError::Refused);
        assert_eq!(
            error.to_string(),
            "the answer fits the form, but not its type"
        );
    }
}

#[test]
fn a_yes_takes_an_empty_answer_only() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Confirm {}
    let form = form::<Confirm>();
    assert_eq!(form.read::<Confirm>(&json!({})).unwrap(), Confirm {});
    assert_eq!(
        complaint(&form, &json!({"sure": true})),
        "answer.sure: there is no such property"
    );
}
