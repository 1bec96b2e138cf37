//! One field of a form: from what `schemars` derives to MCP's `PrimitiveSchemaDefinition`.

use serde_json::{Map, Value};

use super::{
    choice::Choices,
    error::{Problem, Reason},
    kind::kind,
};
use crate::schema::Schema;

/// The formats of strings that a form can ask for.
pub(super) const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// What may be said of each kind of field, besides its type and its choices.
const OF_STRING: &[&str] = &[
    "minLength",
    "maxLength",
    "format",
    "title",
    "description",
    "default",
];
const OF_NUMBER: &[&str] = &["minimum", "maximum", "title", "description", "default"];
const OF_CHOICES: &[&str] = &["minItems", "maxItems", "title", "description", "default"];
const OF_ANY: &[&str] = &["title", "description", "default"];
const OF_ITEM: &[&str] = &["title", "description"];

/// Pairs of which the first must not be above the second.
const BOUNDS: [(&str, &str); 3] = [
    ("minLength", "maxLength"),
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
];

/// A field in MCP's form.
pub(super) struct Field {
    pub(super) requested: Map<String, Value>,
    /// Whether it is a set, for which MCP has no word.
    pub(super) unique: bool,
}

/// Translates a field, and notes what can't be.
pub(super) fn field(
    name: &str,
    schema: &Value,
    required: bool,
    problems: &mut Vec<Problem>,
) -> Option<Field> {
    let Value::Object(keywords) = schema else {
        problems.push(Problem::new(name, Reason::Field(kind(schema))));
        return None;
    };
    let (keywords, nullable) = without_null(keywords.clone());
    let mut keywords = without_notes(keywords);
    if nullable && required {
        problems.push(Problem::new(name, Reason::RequiredNull));
    }
    if !required && keywords.get("default") == Some(&Value::Null) {
        keywords.remove("default");
    }
    let before = problems.len();
    let field = shape(name, keywords, problems)?;
    if problems.len() == before {
        check(name, &field, problems);
    }
    Some(field)
}

/// Whichever of MCP's shapes it is.
fn shape(
    name: &str,
    mut keywords: Map<String, Value>,
    problems: &mut Vec<Problem>,
) -> Option<Field> {
    let mut unique = false;
    let (what, allowed, mut requested) = if let Some(choices) = Choices::take(&mut keywords) {
        refuse_twice(name, &choices, problems);
        ("a choice", OF_ANY, choices.single())
    } else {
        let is_fixed = keywords.contains_key("enum") || keywords.contains_key("const");
        match keywords.get("type").and_then(Value::as_str) {
            Some("string") if !is_fixed => {
                refuse_format(name, &keywords, problems);
                ("a string", OF_STRING, typed(&mut keywords))
            }
            Some("integer" | "number") if !is_fixed => {
                ("a number", OF_NUMBER, typed(&mut keywords))
            }
            Some("boolean") if !is_fixed => ("a boolean", OF_ANY, typed(&mut keywords)),
            Some("array") if keywords.contains_key("items") => {
                let items = keywords.remove("items").unwrap_or_default();
                let items = self::items(&format!("{name}[]"), items, problems)?;
                if let Some(Value::Bool(is_set)) = keywords.get("uniqueItems") {
                    unique = *is_set;
                    keywords.remove("uniqueItems");
                }
                let mut requested = typed(&mut keywords);
                requested.insert("items".into(), items);
                ("a list", OF_CHOICES, requested)
            }
            _ => {
                let kind = kind(&Value::Object(keywords));
                problems.push(Problem::new(name, Reason::Field(kind)));
                return None;
            }
        }
    };
    refuse_others(name, (what, allowed), &keywords, problems);
    requested.append(&mut keywords);
    Some(Field { requested, unique })
}

/// The items of a list: an enumeration, and its own title and description are left out.
fn items(path: &str, schema: Value, problems: &mut Vec<Problem>) -> Option<Value> {
    let (mut keywords, nullable) = match schema {
        Value::Object(keywords) => without_null(keywords),
        schema => {
            problems.push(Problem::new(path, Reason::Item(kind(&schema))));
            return None;
        }
    };
    if nullable {
        problems.push(Problem::new(path, Reason::Item("an `Option`")));
        return None;
    }
    keywords = without_notes(keywords);
    let Some(choices) = Choices::take(&mut keywords) else {
        let kind = kind(&Value::Object(keywords));
        problems.push(Problem::new(path, Reason::Item(kind)));
        return None;
    };
    refuse_twice(path, &choices, problems);
    refuse_others(path, ("an item", OF_ITEM), &keywords, problems);
    Some(choices.items())
}

/// Takes out the `type`, to begin the field with.
fn typed(keywords: &mut Map<String, Value>) -> Map<String, Value> {
    keywords.remove_entry("type").into_iter().collect()
}

fn refuse_twice(path: &str, choices: &Choices, problems: &mut Vec<Problem>) {
    if let Some(value) = choices.twice() {
        problems.push(Problem::new(path, Reason::Twice(value.into())));
    }
}

fn refuse_format(name: &str, keywords: &Map<String, Value>, problems: &mut Vec<Problem>) {
    if let Some(Value::String(format)) = keywords.get("format")
        && !FORMATS.contains(&&**format)
    {
        problems.push(Problem::new(
            name,
            Reason::Format {
                format: format.clone(),
            },
        ));
    }
}

fn refuse_others(
    path: &str,
    (what, allowed): (&'static str, &'static [&'static str]),
    keywords: &Map<String, Value>,
    problems: &mut Vec<Problem>,
) {
    let others = keywords
        .keys()
        .filter(|keyword| !allowed.contains(&&***keyword));
    problems.extend(others.map(|keyword| {
        let keyword = keyword.clone();
        let reason = Reason::Keyword {
            keyword,
            what,
            allowed,
        };
        Problem::new(path, reason)
    }));
}

/// That the values of the keywords make sense, and that the default is one that the field itself would take.
fn check(name: &str, field: &Field, problems: &mut Vec<Problem>) {
    let schema = match Schema::compile(&field.checked()) {
        Ok(schema) => schema,
        Err(error) => {
            problems.push(Problem::new(name, Reason::Schema(error.to_string())));
            return;
        }
    };
    let number = |keyword| field.requested.get(keyword).and_then(Value::as_f64);
    for (least, most) in BOUNDS {
        if let (Some(low), Some(high)) = (number(least), number(most))
            && low > high
        {
            problems.push(Problem::new(name, Reason::Bounds(least, most)));
            return;
        }
    }
    if let Some(default) = field.requested.get("default")
        && let Err(mismatches) = schema.validate_as("default", default)
    {
        let reason = Reason::Default(mismatches.to_string());
        problems.push(Problem::new(name, reason));
    }
}

impl Field {
    /// What answers are held against.
    pub(super) fn checked(&self) -> Value {
        let mut keywords = self.requested.clone();
        if self.unique {
            keywords.insert("uniqueItems".into(), true.into());
        }
        Value::Object(keywords)
    }
}

/// Leaves out what has no effect on answers and that MCP does not list.
pub(super) fn without_notes(mut keywords: Map<String, Value>) -> Map<String, Value> {
    for note in [
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
    ] {
        keywords.remove(note);
    }
    keywords
}

/// Takes null away from what is allowed, and tells whether it was there.
///
/// An `Option` comes in three shapes: with `null` among the types, with `null` among the values, or as an `anyOf` of
/// the type and `null`. What is said around such an `anyOf` (the field's own description and default) takes the
/// place of what is said in it.
pub(super) fn without_null(mut keywords: Map<String, Value>) -> (Map<String, Value>, bool) {
    let mut nullable = false;
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        nullable |= remove_null(types, |of| of == "null");
        if let [of] = types.as_slice() {
            let of = of.clone();
            keywords.insert("type".into(), of);
        }
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        nullable |= remove_null(values, Value::is_null);
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = keywords.get_mut(keyword) else {
            continue;
        };
        if !remove_null(branches, |branch| {
            branch.get("type").is_some_and(|of| of == "null")
        }) {
            continue;
        }
        nullable = true;
        if let [Value::Object(inner)] = branches.as_slice()
            && let (inner, _) = without_null(inner.clone())
            && let Some(merged) = merged(keyword, &keywords, inner)
        {
            keywords = merged;
            break;
        }
    }
    (keywords, nullable)
}

/// Whether there was one.
fn remove_null(list: &mut Vec<Value>, is_null: impl Fn(&Value) -> bool) -> bool {
    let before = list.len();
    list.retain(|item| !is_null(item));
    list.len() < before
}

/// `inner`, which is all that is left of `keyword`, with what is said around it. `None` if the two can't be one.
fn merged(
    keyword: &str,
    outer: &Map<String, Value>,
    mut inner: Map<String, Value>,
) -> Option<Map<String, Value>> {
    for (name, value) in outer {
        if name == keyword {
            continue;
        }
        if inner.contains_key(name) && !OF_ANY.contains(&&**name) {
            return None;
        }
        inner.insert(name.clone(), value.clone());
    }
    Some(inner)
}
