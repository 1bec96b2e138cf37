//! What holds for any type and any answer.

use std::collections::BTreeSet;

use proptest::{
    collection::vec, option, prelude::*, sample::select, strategy::ValueTree,
    test_runner::TestRunner,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{form, free::form_of};

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
enum Snack {
    #[default]
    Popcorn,
    FruitBowl,
    Nuts,
}
const SNACKS: [Snack; 3] = [Snack::Popcorn, Snack::FruitBowl, Snack::Nuts];

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
enum Size {
    /// For one
    Small,
    /// For all
    Large,
    /// For the road
    Packed,
}
const SIZES: [Size; 3] = [Size::Small, Size::Large, Size::Packed];

/// One of everything. Each type's range is bounded by the schema, so that what fits can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Everything {
    #[schemars(length(min = 1, max = 5))]
    text: String,
    maybe_text: Option<String>,
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    letter: char,
    word: u32,
    signed: i16,
    #[schemars(range(min = 1, max = 9))]
    portions: Option<u8>,
    #[schemars(range(min = -1.5, max = 1.5))]
    weight: f64,
    yes: bool,
    #[serde(default)]
    preset: bool,
    snack: Snack,
    maybe_snack: Option<Snack>,
    size: Size,
    maybe_size: Option<Size>,
    #[schemars(length(min = 1, max = 3))]
    snacks: Vec<Snack>,
    sizes: BTreeSet<Size>,
    maybe_sizes: Option<Vec<Size>>,
    #[serde(default)]
    snack_set: BTreeSet<Snack>,
}

fn everything() -> impl Strategy<Value = Everything> {
    let texts = (
        "[a-zé]{1,5}",
        option::of(".{0,8}"),
        option::of(Just("2026-07-28".to_owned())),
        any::<char>(),
    );
    let numbers = (any::<u32>(), any::<i16>(), option::of(1..=9_u8), -1.5..1.5);
    let flags = (any::<bool>(), any::<bool>());
    let choices = (
        select(&SNACKS),
        option::of(select(&SNACKS)),
        select(&SIZES),
        option::of(select(&SIZES)),
    );
    let lists = (
        vec(select(&SNACKS), 1..=3),
        vec(select(&SIZES), 0..4),
        option::of(vec(select(&SIZES), 0..4)),
        vec(select(&SNACKS), 0..4),
    );
    (texts, numbers, flags, choices, lists).prop_map(|(texts, numbers, flags, choices, lists)| {
        Everything {
            text: texts.0,
            maybe_text: texts.1,
            day: texts.2,
            letter: texts.3,
            word: numbers.0,
            signed: numbers.1,
            portions: numbers.2,
            weight: numbers.3,
            yes: flags.0,
            preset: flags.1,
            snack: choices.0,
            maybe_snack: choices.1,
            size: choices.2,
            maybe_size: choices.3,
            snacks: lists.0,
            sizes: lists.1.into_iter().collect(),
            maybe_sizes: lists.2,
            snack_set: lists.3.into_iter().collect(),
        }
    })
}

/// Values of which each fits some field, or almost.
fn value() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        "a",
        "abcdef",
        "é",
        "popcorn",
        "fruit-bowl",
        "small",
        "packed",
        "Small",
        "2026-07-28",
        "2026-02-30",
    ];
    let numbers = [
        json!(0),
        json!(1),
        json!(9),
        json!(10),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(1.6),
        json!(-32_768),
        json!(-32_769),
        json!(4_294_967_295_u32),
        json!(4_294_967_296_u64),
        json!(1e300),
    ];
    let scalar = prop_oneof![
        4 => select(texts.to_vec()).prop_map(Value::from),
        4 => select(numbers.to_vec()),
        1 => any::<bool>().prop_map(Value::from),
        2 => Just(Value::Null),
    ];
    scalar.prop_recursive(2, 8, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(select(vec!["popcorn", "nuts"]), 0..4).prop_map(Value::from),
            vec(select(vec!["small", "packed", "Small"]), 0..4).prop_map(Value::from),
            inner.prop_map(|value| json!({"a": value})),
        ]
    })
}

/// What is done to an answer that fits: a field, by number, is left out, set, or added.
fn changes() -> impl Strategy<Value = Vec<(usize, Option<Value>)>> {
    vec((0..20_usize, option::weighted(0.8, value())), 0..3)
}

fn changed(content: &Value, changes: Vec<(usize, Option<Value>)>) -> Value {
    let mut fields: Map<String, Value> = content.as_object().unwrap().clone();
    let names: Vec<String> = fields.keys().cloned().chain(["other".to_owned()]).collect();
    for (at, value) in changes {
        let name = &names[at % names.len()];
        match value {
            Some(value) => fields.insert(name.clone(), value),
            None => fields.remove(name),
        };
    }
    Value::Object(fields)
}

/// Fields of forms, as they are derived.
fn near_fields() -> Vec<Value> {
    let titled = json!([{"const": "a", "title": "A"}, {"type": "string", "enum": ["b"]}]);
    vec![
        json!({"type": "string"}),
        json!({"type": ["string", "null"], "format": "email"}),
        json!({"type": "integer", "minimum": 0}),
        json!({"type": ["number", "null"], "default": null}),
        json!({"type": "boolean"}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
        json!({"oneOf": titled}),
        json!({"anyOf": [{"oneOf": titled}, {"type": "null"}]}),
        json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        json!({"type": ["array", "null"], "items": {"oneOf": titled}, "uniqueItems": true}),
    ]
}

/// Schemas that are nearly a form's, and some that are nothing like it.
fn schema() -> impl Strategy<Value = Value> {
    let keywords = [
        "type",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "allOf",
        "items",
        "prefixItems",
        "properties",
        "required",
        "additionalProperties",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "uniqueItems",
        "format",
        "pattern",
        "title",
        "description",
        "default",
        "examples",
        "$ref",
        "not",
    ];
    let words = [
        "string",
        "integer",
        "number",
        "boolean",
        "array",
        "object",
        "null",
        "a",
        "b",
        "email",
        "date",
        "uuid",
        "#",
        "",
        "a b\nc\n\nd",
    ];
    let leaf = prop_oneof![
        8 => select(words.to_vec()).prop_map(Value::from),
        2 => select(vec![json!(0), json!(1), json!(-1), json!(0.5), json!(2)]),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let choices = prop_oneof![
        Just(json!(["a", "b"])),
        Just(json!(["a", "b", null])),
        Just(json!([{"const": "a", "title": "A"}, {"type": "string", "enum": ["b"]}])),
        Just(json!([{"const": "a", "description": "A"}, {"type": "null"}])),
    ];
    let field = leaf.prop_recursive(3, 24, 4, move |inner| {
        let keyword = prop_oneof![
            4 => select(keywords.to_vec()).prop_map(str::to_owned),
            1 => Just("type".to_owned()),
        ];
        let value = prop_oneof![3 => inner.clone(), 1 => choices.clone()];
        prop_oneof![
            1 => vec(inner, 0..4).prop_map(Value::from),
            4 => vec((keyword, value), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    });
    // A field of a form, to which up to two things are done.
    let near = (
        select(near_fields()),
        vec((select(keywords.to_vec()), field.clone()), 0..3),
    );
    let near = near.prop_map(|(mut field, keywords)| {
        for (keyword, value) in keywords {
            field[keyword] = value;
        }
        field
    });
    let fields = vec((select(vec!["a", "b", "c"]), near), 0..3);
    prop_oneof![
        1 => field,
        4 => (fields, any::<bool>()).prop_map(|(fields, required)| {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect();
            let required: Vec<_> = fields.keys().filter(|_| required).cloned().collect();
            json!({"type": "object", "properties": fields, "required": required})
        }),
    ]
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// Fields that are left out are null here, as some write them.
    #[test]
    fn an_answer_that_fits_comes_back_as_it_was(everything in everything()) {
        let form = form::<Everything>();
        let content = serde_json::to_value(&everything).unwrap();
        prop_assert_eq!(form.check(&content), Ok(()));
        prop_assert_eq!(form.read::<Everything>(&content).unwrap(), everything);
    }

    #[test]
    fn what_is_checked_can_be_read(everything in everything(), changes in changes()) {
        let form = form::<Everything>();
        let content = changed(&serde_json::to_value(&everything).unwrap(), changes);
        match (form.check(&content), form.read::<Everything>(&content)) {
            (Ok(()), Ok(_)) => {}
            (Err(mismatches), Err(error)) => prop_assert_eq!(error, mismatches.into()),
            other => prop_assert!(false, "{} {:?}", content, other),
        }
    }

    #[test]
    fn any_schema_is_a_form_of_mcp_or_refused(schema in schema(), content in value()) {
        match form_of(schema) {
            Ok(form) => {
                super::assert_is_of_mcp(&form);
                for content in [&content, &json!({"a": content})] {
                    prop_assert_eq!(
                        form.check(content).is_ok(),
                        form.read::<Value>(content).is_ok(),
                    );
                }
            }
            Err(error) => prop_assert!(error.problems().count() > 0),
        }
    }
}

/// The generators make answers of both kinds, and schemas that are forms.
#[test]
fn the_generators_are_not_one_sided() {
    let mut runner = TestRunner::deterministic();
    let form = form::<Everything>();
    let (mut fit, mut forms, mut with_fields) = (0, 0, 0);
    for _ in 0..1_000 {
        let tree = (everything(), changes(), schema()).new_tree(&mut runner);
        let (everything, changes, schema) = tree.unwrap().current();
        let content = changed(&serde_json::to_value(&everything).unwrap(), changes);
        fit += u32::from(form.check(&content).is_ok());
        if let Ok(form) = form_of(schema) {
            forms += 1;
            with_fields += u32::from(form.schema()["properties"] != json!({}));
        }
    }
    assert!((200..800).contains(&fit), "{fit} fit");
    assert!((100..900).contains(&forms), "{forms} are forms");
    assert!(with_fields >= 50, "{with_fields} forms with fields");
}

#[cfg(not(target_arch = "wasm32"))]
mod against_the_oracle {
    use super::*;
    use crate::oracle;

    const SETS: [&str; 2] = ["sizes", "snack_set"];

    /// As the form takes it: optional fields that are null are left out.
    fn without_nulls(content: &Value, requested: &Value) -> Value {
        let required = requested["required"].as_array().unwrap();
        let mut fields = content.as_object().unwrap().clone();
        fields.retain(|name, value| {
            !value.is_null()
                || required.contains(&json!(name))
                || requested["properties"].get(name).is_none()
        });
        Value::Object(fields)
    }

    proptest! {
        #![proptest_config(config(1_000))]

        #[test]
        fn changed_answers_are_judged_as_the_oracle_judges(
            everything in everything(),
            changes in changes(),
        ) {
            let form = form::<Everything>();
            let theirs = oracle::of_answers(form.schema(), &SETS);
            let content = changed(&serde_json::to_value(&everything).unwrap(), changes);
            let ours = form.check(&content);
            prop_assert_eq!(
                ours.is_ok(),
                theirs.is_valid(&without_nulls(&content, form.schema())),
                "{} {:?}", content, ours
            );
        }
    }
}
