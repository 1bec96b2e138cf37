//! Schemas from types, in the form in which they are advertised.

use schemars::{
    JsonSchema,
    generate::{Contract, SchemaSettings},
};
use serde_json::{Map, Value, json};

use super::pattern::without_needless_escapes;

/// The schema of a tool's arguments, from the type that they are deserialized into.
///
/// It is what `schemars` derives for deserialization, with all types inlined (only recursive ones are kept in
/// `$defs`), and then:
///
/// - `$schema` is left out, since MCP's default is the dialect that is meant; so is the root's `title` where it only
///   repeats the type's name.
/// - Formats that JSON Schema doesn't know go (`uint32`, `double`, `partial-date-time` …); 32-bit integers get the
///   bounds that theirs stood for, and an `ip` becomes `ipv4` or `ipv6`.
/// - A pattern that a JavaScript engine would refuse for a needless escape loses it.
/// - A root without a `type` gets `"type": "object"` where it admits nothing but objects (an enum all of whose
///   variants have fields) or anything at all.
///
/// Two things are worth knowing when the type is written. A doc comment becomes the `description`, but one that starts
/// with a heading (`# Like this`) becomes a `title` too. And unknown properties are refused only for types with
/// `#[serde(deny_unknown_fields)]`.
///
/// Whether a tool can have this input is for [`Schema::compile_input`](super::Schema::compile_input) to say: it refuses
/// a root that is not an object, such as an `Option`, a list, or an enum with unit variants.
///
/// ```
/// use pup_extension::schema::input_of;
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Bake {
///     batches: u32,
/// }
///
/// assert_eq!(
///     input_of::<Bake>(),
///     json!({
///         "type": "object",
///         "properties": {"batches": {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32}},
///         "required": ["batches"],
///         "additionalProperties": false,
///     }),
/// );
/// ```
#[must_use]
pub fn input_of<T: JsonSchema>() -> Value {
    let mut schema = deserialized_of::<T>();
    require_object(&mut schema);
    schema
}

/// The schema of what a type is deserialized from: as [`input_of`], but of any JSON value.
pub(crate) fn deserialized_of<T: JsonSchema>() -> Value {
    derived::<T>(Contract::Deserialize)
}

/// The schema of the arguments of a tool that takes none: an empty object, as MCP recommends to say it.
#[must_use]
pub fn input_of_unit() -> Value {
    json!({"type": "object", "additionalProperties": false})
}

/// The schema of a tool's structured result, from the type that is serialized.
///
/// As [`input_of`], but for serialization, and of any JSON value: MCP allows that for results.
#[must_use]
pub fn output_of<T: JsonSchema>() -> Value {
    derived::<T>(Contract::Serialize)
}

/// Writes whole numbers as integers, throughout: `3.0` becomes `3`.
///
/// JSON has one kind of number, and a schema's `integer` accepts `3.0`; serde's integers do not. Between validation and
/// deserialization this closes the gap. Numbers that no `i64` or `u64` holds exactly are left as they are.
///
/// ```
/// use serde_json::json;
///
/// let mut arguments = json!({"batches": 3.0, "weights": [0.5, 1e3]});
/// pup_extension::schema::unify_numbers(&mut arguments);
/// assert_eq!(arguments, json!({"batches": 3, "weights": [0.5, 1_000]}));
/// ```
pub fn unify_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            // 2⁶³ and 2⁶⁴: from there on a float is out of the range.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and within bounds"
            )]
            match number.as_f64() {
                Some(float) if float.fract() != 0.0 => {}
                Some(float) if (-9_223_372_036_854_775_808.0..0.0).contains(&float) => {
                    *value = (float as i64).into();
                }
                Some(float) if (0.0..18_446_744_073_709_551_616.0).contains(&float) => {
                    *value = (float as u64).into();
                }
                _ => {}
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unify_numbers),
        Value::Object(properties) => properties.values_mut().for_each(unify_numbers),
        _ => {}
    }
}

fn derived<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(keywords) = &mut schema
        && keywords.get("title").and_then(Value::as_str) == Some(&*T::schema_name())
    {
        keywords.remove("title");
    }
    normalise(&mut schema);
    schema
}

/// In this sub-schema and all below.
fn normalise(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(normalise);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(normalise);
            }
            (
                "items"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else",
                schema,
            ) => normalise(schema),
            ("pattern", Value::String(pattern)) => *pattern = without_needless_escapes(pattern),
            _ => {}
        }
    }
    if let Some(Value::Object(patterns)) = keywords.get_mut("patternProperties") {
        *patterns = std::mem::take(patterns)
            .into_iter()
            .map(|(pattern, schema)| (without_needless_escapes(&pattern), schema))
            .collect();
    }
    standard_format(keywords);
}

/// Takes away a format that is not JSON Schema's, and says by other keywords what can be said.
fn standard_format(keywords: &mut Map<String, Value>) {
    let bounds = match keywords.get("format").and_then(Value::as_str) {
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("uint32") => Some((0, i64::from(u32::MAX))),
        Some(
            "int8" | "int16" | "int64" | "int128" | "int" | "uint8" | "uint16" | "uint64"
            | "uint128" | "uint" | "float" | "double" | "ip" | "partial-date-time" | "partial-time"
            | "zoned-date-time",
        ) => None,
        // Of JSON Schema, or unknown: compiling the schema will tell.
        _ => return,
    };
    let is_ip = keywords.get("format").and_then(Value::as_str) == Some("ip");
    keywords.remove("format");
    if let Some((least, most)) = bounds {
        if !keywords.contains_key("minimum") && !keywords.contains_key("exclusiveMinimum") {
            keywords.insert("minimum".into(), least.into());
        }
        if !keywords.contains_key("maximum") && !keywords.contains_key("exclusiveMaximum") {
            keywords.insert("maximum".into(), most.into());
        }
    }
    if is_ip && !keywords.contains_key("anyOf") {
        keywords.insert(
            "anyOf".into(),
            json!([{"format": "ipv4"}, {"format": "ipv6"}]),
        );
    }
}

/// Says that the root is an object, where that takes nothing away that the type's author can have meant.
fn require_object(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.contains_key("type") {
        return;
    }
    let restricts = [
        "oneOf", "anyOf", "allOf", "not", "if", "$ref", "enum", "const",
    ];
    let anything = !restricts
        .iter()
        .any(|keyword| keywords.contains_key(*keyword));
    if anything || admits_only_objects(keywords) {
        keywords.insert("type".into(), "object".into());
    }
}

fn admits_only_objects(keywords: &Map<String, Value>) -> bool {
    let is_object = |schema: &Value| schema.as_object().is_some_and(admits_only_objects);
    keywords.get("type").and_then(Value::as_str) == Some("object")
        || ["oneOf", "anyOf"].iter().any(|keyword| {
            let branches = keywords.get(*keyword).and_then(Value::as_array);
            branches.is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_object))
        })
        || keywords
            .get("allOf")
            .and_then(Value::as_array)
            .is_some_and(|parts| parts.iter().any(is_object))
}
