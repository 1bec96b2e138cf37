//! Fixed values, types, numbers and lengths.

use serde_json::{Map, Value, json};

use super::{super::random::Random, TYPES};

pub(super) fn small_value(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-0.0),
        json!(2),
        json!(2.5),
        json!("a"),
        json!("1"),
        json!("ab"),
        json!(""),
        json!([]),
        json!({}),
        json!([1]),
        json!([1.0, "a"]),
        json!({"a": 1}),
        json!({"a": 1.0, "b": null}),
        json!({"b": "a"}),
    ];
    random.choose(&values)
}

pub(crate) fn fixed(random: &mut Random) -> Value {
    let mut schema = Map::new();
    match random.below(4) {
        0 => {
            schema.insert("const".into(), small_value(random));
        }
        1 => {
            let choices: Vec<_> = (0..=random.below(4)).map(|_| small_value(random)).collect();
            schema.insert("enum".into(), choices.into());
        }
        2 => {
            schema.insert("type".into(), random.pick(&TYPES).into());
        }
        _ => {
            let from = random.below(TYPES.len());
            let types: Vec<_> = TYPES.iter().skip(from).step_by(2).copied().collect();
            schema.insert("type".into(), types.into());
        }
    }
    if random.one_in(8) {
        schema.insert("not".into(), json!({"const": small_value(random)}));
    }
    schema.into()
}

pub(crate) fn number_value(random: &mut Random) -> Value {
    let texts = [
        "0",
        "-0.0",
        "1",
        "1.0",
        "-1",
        "2",
        "3",
        "5",
        "7",
        "10",
        "0.1",
        "0.3",
        "0.35",
        "0.7",
        "1.1",
        "2.5",
        "19.99",
        "-7.5",
        "1e2",
        "1e-3",
        "100",
        "4.35",
        "1070468.14",
        "255",
        "256",
        "4294967295",
        "4294967296",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740992.0",
        "-9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551616",
        "1e15",
        "123456789.123",
        "null",
        "\"5\"",
    ];
    serde_json::from_str(random.pick(&texts)).unwrap()
}

pub(crate) fn number(random: &mut Random) -> Value {
    let mut schema = Map::new();
    if random.one_in(3) {
        schema.insert("type".into(), random.pick(&["integer", "number"]).into());
    }
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if random.one_in(4) {
            let limit = number_value(random);
            if limit.is_number() {
                schema.insert(keyword.into(), limit);
            }
        }
    }
    if random.one_in(3) {
        let steps = [
            "1", "2", "3", "5", "10", "0.1", "0.01", "0.25", "2.5", "1.1", "0.7", "1e-3", "7",
        ];
        schema.insert(
            "multipleOf".into(),
            serde_json::from_str(random.pick(&steps)).unwrap(),
        );
    }
    schema.into()
}

pub(crate) fn text_value(random: &mut Random) -> Value {
    let chars = ["a", "b", "1", "é", "e\u{301}", "😀", " ", "\n"];
    let length = random.below(6);
    json!((0..length).map(|_| random.pick(&chars)).collect::<String>())
}

pub(crate) fn length(random: &mut Random) -> Value {
    let mut schema = json!({});
    if random.one_in(2) {
        schema["minLength"] = random.below(4).into();
    }
    if random.one_in(2) {
        schema["maxLength"] = if random.one_in(5) {
            json!(2.0)
        } else {
            random.below(6).into()
        };
    }
    if random.one_in(8) {
        schema["type"] = "string".into();
    }
    schema
}
