//! Values for a schema.

use serde_json::{Map, Value};

use super::{
    super::random::Random,
    NAMES,
    scalar::{number_value, small_value, text_value},
};

/// A value that follows the schema about half of the way.
pub(crate) fn value_near(random: &mut Random, schema: &Value) -> Value {
    if random.one_in(5) {
        return small_value(random);
    }
    near(random, schema, schema, 6)
}

fn near(random: &mut Random, root: &Value, schema: &Value, depth: usize) -> Value {
    if depth == 0 || random.one_in(10) {
        return small_value(random);
    }
    let Value::Object(keywords) = schema else {
        return small_value(random);
    };
    if let Some(constant) = keywords.get("const") {
        return constant.clone();
    }
    if let Some(Value::Array(choices)) = keywords.get("enum") {
        return random.choose(choices);
    }
    for keyword in ["oneOf", "anyOf", "allOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword)
            && random.one_in(2)
        {
            let branch = random.choose(branches);
            return near(random, root, &branch, depth - 1);
        }
    }
    for keyword in ["if", "then", "else", "not"] {
        if let Some(branch) = keywords.get(keyword)
            && random.one_in(4)
        {
            return near(random, root, branch, depth - 1);
        }
    }
    if let Some(Value::String(reference)) = keywords.get("$ref") {
        let decoded = reference.replace("%C3%A9", "é");
        let target = root.pointer(decoded.trim_start_matches('#')).unwrap();
        return near(random, root, target, depth - 1);
    }
    let kind = match keywords.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => random.choose(kinds).as_str().unwrap().to_owned(),
        _ => String::from(
            if keywords
                .keys()
                .any(|keyword| keyword.contains("ropert") || keyword == "required")
            {
                "object"
            } else if keywords
                .keys()
                .any(|keyword| keyword.contains("tem") || keyword == "contains")
            {
                "array"
            } else if keywords.contains_key("minLength") || keywords.contains_key("maxLength") {
                "string"
            } else if keywords
                .keys()
                .any(|keyword| keyword.contains("imum") || keyword == "multipleOf")
            {
                "number"
            } else {
                return small_value(random);
            },
        ),
    };
    match kind.as_str() {
        "object" => {
            let mut object = Map::new();
            let properties = keywords.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                if !random.one_in(3) {
                    object.insert(name.clone(), near(random, root, schema, depth - 1));
                }
            }
            for name in keywords
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if !object.contains_key(name.as_str().unwrap()) && !random.one_in(4) {
                    object.insert(name.as_str().unwrap().into(), small_value(random));
                }
            }
            if random.one_in(3) {
                object.insert(random.pick(&NAMES).into(), small_value(random));
            }
            object.into()
        }
        "array" => {
            let prefix = keywords.get("prefixItems").and_then(Value::as_array);
            (0..random.below(4))
                .map(|at| {
                    let schema = prefix
                        .and_then(|prefix| prefix.get(at))
                        .or_else(|| keywords.get("items"));
                    let schema = schema
                        .or_else(|| keywords.get("contains"))
                        .unwrap_or(&Value::Null);
                    near(random, root, schema, depth - 1)
                })
                .collect()
        }
        "string" => text_value(random),
        "integer" | "number" => number_value(random),
        "boolean" => random.one_in(2).into(),
        _ => Value::Null,
    }
}
