//! Schemas with schemas inside.

use serde_json::{Map, Value, json};

use super::{
    super::random::Random,
    NAMES, TYPES,
    scalar::{fixed, length, number},
};

pub(crate) fn any(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 12 }) {
        0 => json!(true),
        1 => {
            if random.one_in(3) {
                json!(false)
            } else {
                json!({})
            }
        }
        2 => fixed(random),
        3 => length(random),
        4 => number(random),
        5 => json!({"type": random.pick(&TYPES)}),
        6 | 7 => array(random, depth),
        8 | 9 => object(random, depth),
        _ => combination(random, depth),
    }
}

pub(crate) fn array(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({});
    if random.one_in(2) {
        schema["type"] = "array".into();
    }
    if random.one_in(2) {
        schema["items"] = any(random, depth - 1);
    }
    if random.one_in(3) {
        schema["prefixItems"] = (0..=random.below(2))
            .map(|_| any(random, depth - 1))
            .collect();
    }
    if random.one_in(4) {
        schema["minItems"] = random.below(3).into();
    }
    if random.one_in(4) {
        schema["maxItems"] = random.below(4).into();
    }
    if random.one_in(4) {
        schema["uniqueItems"] = random.one_in(2).into();
    }
    if random.one_in(4) {
        schema["contains"] = any(random, depth - 1);
        if random.one_in(2) {
            schema["minContains"] = random.below(3).into();
        }
        if random.one_in(2) {
            schema["maxContains"] = random.below(3).into();
        }
    }
    schema
}

pub(crate) fn object(random: &mut Random, depth: usize) -> Value {
    let mut schema = json!({});
    if random.one_in(2) {
        schema["type"] = "object".into();
    }
    if !random.one_in(4) {
        schema["properties"] = properties(random, depth);
    }
    if random.one_in(3) {
        schema["required"] = json!([random.pick(&NAMES)]);
    }
    if random.one_in(3) {
        schema["additionalProperties"] = if random.one_in(2) {
            json!(false)
        } else {
            any(random, depth - 1)
        };
    }
    if random.one_in(4) {
        let pattern = random.pick(&["^a", "b$", r"\d", "^.$"]);
        schema["patternProperties"] = json!({pattern: any(random, depth - 1)});
    }
    if random.one_in(6) {
        schema["propertyNames"] = random.choose(&[
            json!({"maxLength": 1}),
            json!({"enum": ["a", "b", "c1"]}),
            json!({"pattern": "^[a-c]"}),
        ]);
    }
    if random.one_in(6) {
        schema["minProperties"] = random.below(3).into();
    }
    if random.one_in(6) {
        schema["maxProperties"] = random.below(3).into();
    }
    schema
}

fn properties(random: &mut Random, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..=random.below(3) {
        properties.insert(random.pick(&NAMES).into(), any(random, depth - 1));
    }
    properties.into()
}

pub(crate) fn combination(random: &mut Random, depth: usize) -> Value {
    let mut schema = if random.one_in(3) {
        object(random, depth)
    } else {
        json!({})
    };
    let list = |random: &mut Random| {
        (0..=random.below(3))
            .map(|_| any(random, depth - 1))
            .collect::<Value>()
    };
    match random.below(5) {
        0 => schema["allOf"] = list(random),
        1 => schema["anyOf"] = list(random),
        2 => schema["oneOf"] = list(random),
        3 => schema["not"] = any(random, depth - 1),
        _ => {
            schema["if"] = any(random, depth - 1);
            if !random.one_in(3) {
                schema["then"] = any(random, depth - 1);
            }
            if !random.one_in(3) {
                schema["else"] = any(random, depth - 1);
            }
        }
    }
    schema
}

/// Definitions that refer to each other and to the root, always through a part of the value.
pub(crate) fn recursive(random: &mut Random) -> Value {
    let references = ["#", "#/$defs/tree", "#/$defs/a~1b", "#/$defs/%C3%A9"];
    let part = |random: &mut Random| match random.below(4) {
        0 => json!({"anyOf": [{"$ref": random.pick(&references)}, {"type": "null"}]}),
        1 => json!({"type": "array", "items": {"$ref": random.pick(&references)}}),
        2 => json!({"$ref": random.pick(&references), "minProperties": 1}),
        _ => any(random, 1),
    };
    let node = |random: &mut Random| {
        let mut schema = json!({
            "type": if random.one_in(2) { json!("object") } else { json!(["object", "array", "null"]) },
            "properties": {"a": part(random), "b": part(random), random.pick(&NAMES): any(random, 1)},
        });
        if random.one_in(2) {
            schema["additionalProperties"] = random.one_in(2).into();
        }
        if random.one_in(3) {
            schema["items"] = part(random);
        }
        schema
    };
    let mut root = if random.one_in(3) {
        json!({"$ref": "#/$defs/tree", "maxProperties": 2})
    } else {
        node(random)
    };
    root["$defs"] = json!({"tree": node(random), "a/b": node(random), "é": any(random, 2)});
    root
}

/// Objects that close over what their branches know.
pub(crate) fn unevaluated(random: &mut Random) -> Value {
    let branch = |random: &mut Random, depth| {
        let mut schema = json!({});
        if !random.one_in(4) {
            schema["properties"] =
                json!({random.pick(&NAMES): fixed(random), random.pick(&NAMES): true});
        }
        if random.one_in(4) {
            schema["patternProperties"] = json!({"^a": true});
        }
        if random.one_in(8) {
            schema["additionalProperties"] = number(random);
        }
        if random.one_in(3) {
            schema["required"] = json!([random.pick(&NAMES)]);
        }
        if random.one_in(6) {
            schema["unevaluatedProperties"] = json!(random.one_in(2));
        }
        if depth > 0 && random.one_in(2) {
            let nested = combination(random, 1);
            schema
                .as_object_mut()
                .unwrap()
                .extend(nested.as_object().unwrap().clone());
        }
        schema
    };
    let mut schema = branch(random, 0);
    let count = 1 + random.below(3);
    let list = |random: &mut Random| (0..count).map(|_| branch(random, 1)).collect::<Value>();
    match random.below(6) {
        0 => schema["allOf"] = list(random),
        1 => schema["anyOf"] = list(random),
        2 => schema["oneOf"] = list(random),
        3 => {
            schema["if"] = branch(random, 1);
            schema["then"] = branch(random, 1);
            schema["else"] = branch(random, 1);
        }
        4 => {
            schema["$ref"] = "#/$defs/x".into();
            schema["$defs"] = json!({"x": branch(random, 1)});
        }
        _ => schema["not"] = branch(random, 1),
    }
    schema["unevaluatedProperties"] = if random.one_in(3) {
        fixed(random)
    } else {
        json!(false)
    };
    schema
}
