//! A field of a form: what its schema allows, and what a line that was typed comes to.

use serde_json::{Map, Number, Value, json};

/// A field of a form.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) required: bool,
    pub(crate) title: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
    pub(crate) default: Option<&'a Value>,
    pub(crate) kind: Kind<'a>,
}

/// What a field takes: the flat schemas that MCP allows in a form.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Text {
        /// Characters.
        length: Range<u64>,
        format: Option<&'a str>,
    },
    Number {
        whole: bool,
        range: Range<f64>,
    },
    Boolean,
    OneOf(Vec<Choice<'a>>),
    SomeOf {
        choices: Vec<Choice<'a>>,
        count: Range<u64>,
    },
    /// A schema of some other form: its value is given as JSON.
    Json,
}

/// One of the values that a field takes.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) value: &'a Value,
    pub(crate) title: Option<&'a str>,
}

/// The least and the most, both allowed themselves.
#[derive(Debug)]
pub(crate) struct Range<T>(pub(crate) Option<T>, pub(crate) Option<T>);

impl<'a> Field<'a> {
    /// The fields of a form's schema.
    pub(crate) fn all(schema: &'a Map<String, Value>) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, property)| Self {
                name,
                required: is_required(name),
                title: property.get("title").and_then(Value::as_str),
                description: property.get("description").and_then(Value::as_str),
                default: property.get("default"),
                kind: Kind::read(property),
            })
            .collect()
    }

    /// The value of a typed line; `None` where the field is left out. An error says what is wrong with the line.
    pub(crate) fn parse(&self, line: &str) -> Result<Option<Value>, String> {
        match line.trim() {
            "!skip" if self.required => Err("it must be given".to_owned()),
            "!skip" => Ok(None),
            "" => match (self.default, &self.kind) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, _) if !self.required => Ok(None),
                (None, Kind::SomeOf { .. }) => self.kind.parse("").map(Some),
                (None, _) => Err("it must be given".to_owned()),
            },
            _ => self.kind.parse(line).map(Some),
        }
    }

    /// A value that the field takes, as far as its schema tells.
    pub(crate) fn example(&self) -> Value {
        if let Some(default) = self.default {
            return default.clone();
        }
        match &self.kind {
            Kind::Text { .. } => json!("…"),
            Kind::Number { whole, range } => range.example(*whole),
            Kind::Boolean => json!(true),
            Kind::OneOf(choices) => first(choices),
            Kind::SomeOf { choices, .. } => json!([first(choices)]),
            Kind::Json => Value::Null,
        }
    }
}

impl<'a> Kind<'a> {
    fn read(property: &'a Value) -> Self {
        let number = |name| property.get(name).and_then(Value::as_f64);
        let count = |name| property.get(name).and_then(Value::as_u64);
        let choices = Choice::all(property);
        if !choices.is_empty() {
            return Self::OneOf(choices);
        }
        match property.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text {
                length: Range(count("minLength"), count("maxLength")),
                format: property.get("format").and_then(Value::as_str),
            },
            Some(kind @ ("integer" | "number")) => Self::Number {
                whole: kind == "integer",
                range: Range(number("minimum"), number("maximum")),
            },
            Some("boolean") => Self::Boolean,
            Some("array") => {
                let choices = property.get("items").map(Choice::all).unwrap_or_default();
                if choices.is_empty() {
                    return Self::Json;
                }
                Self::SomeOf {
                    choices,
                    count: Range(count("minItems"), count("maxItems")),
                }
            }
            _ => Self::Json,
        }
    }

    fn parse(&self, line: &str) -> Result<Value, String> {
        let word = line.trim();
        match self {
            Self::Text { length, .. } => {
                // An empty line means something else.
                let text = if word == "\"\"" { "" } else { line };
                let characters = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                length.check(characters, "characters")?;
                Ok(json!(text))
            }
            Self::Number { whole, range } => parse_number(word, *whole, range),
            Self::Boolean => match word.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(json!(true)),
                "n" | "no" | "false" => Ok(json!(false)),
                _ => Err("say yes or no".to_owned()),
            },
            Self::OneOf(choices) => Choice::find(choices, word).cloned(),
            Self::SomeOf { choices, count } => {
                let mut values = Vec::new();
                for part in word
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                {
                    let value = Choice::find(choices, part)?;
                    if values.contains(value) {
                        return Err(format!("{} is chosen twice", plain(value)));
                    }
                    values.push(value.clone());
                }
                count.check(u64::try_from(values.len()).unwrap_or(u64::MAX), "choices")?;
                Ok(Value::Array(values))
            }
            Self::Json => serde_json::from_str(word).map_err(|error| format!("no JSON: {error}")),
        }
    }
}

impl<'a> Choice<'a> {
    /// The values that a schema lists, in any of the forms that it may list them in.
    fn all(schema: &'a Value) -> Vec<Self> {
        let list = |name| schema.get(name).and_then(Value::as_array);
        if let Some(values) = list("enum") {
            let titles = list("enumNames");
            let title = |index: usize| titles?.get(index)?.as_str();
            return values
                .iter()
                .enumerate()
                .map(|(index, value)| Self {
                    value,
                    title: title(index),
                })
                .collect();
        }
        let titled = list("oneOf").or_else(|| list("anyOf"));
        let titled = titled.into_iter().flatten().filter_map(|choice| {
            Some(Self {
                value: choice.get("const")?,
                title: choice.get("title").and_then(Value::as_str),
            })
        });
        titled.collect()
    }

    /// The value of this name, else of this title, else of this number in the list.
    fn find<'b>(choices: &'b [Self], word: &str) -> Result<&'b Value, String> {
        let named = choices.iter().find(|choice| plain(choice.value) == word);
        let titled = || choices.iter().find(|choice| choice.title == Some(word));
        let numbered = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
        named
            .or_else(titled)
            .or_else(numbered)
            .map(|choice| choice.value)
            .ok_or_else(|| format!("{word:?} is none of the choices"))
    }
}

impl<T: PartialOrd + std::fmt::Display + Copy> Range<T> {
    fn check(&self, value: T, unit: &str) -> Result<(), String> {
        match *self {
            Self(Some(least), _) if value < least => Err(format!("at least {least} {unit}")),
            Self(_, Some(most)) if value > most => Err(format!("at most {most} {unit}")),
            _ => Ok(()),
        }
        .map_err(|problem| problem.trim_end().to_owned())
    }
}

impl<T: std::fmt::Display> Range<T> {
    /// What it allows, in words; `None` where that is anything.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self(Some(least), Some(most)) => Some(format!("{least} to {most}")),
            Self(Some(least), None) => Some(format!("at least {least}")),
            Self(None, Some(most)) => Some(format!("at most {most}")),
            Self(None, None) => None,
        }
    }
}

impl Range<f64> {
    fn example(&self, whole: bool) -> Value {
        let value = self.0.or(self.1).unwrap_or(1.0);
        let text = if whole {
            format!("{:.0}", value.ceil())
        } else {
            value.to_string()
        };
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn parse_number(word: &str, whole: bool, range: &Range<f64>) -> Result<Value, String> {
    let number: Option<Number> = serde_json::from_str(word).ok();
    let number = number.filter(|number| !whole || number.is_i64() || number.is_u64());
    let value = number.as_ref().and_then(Number::as_f64);
    let (Some(number), Some(value)) = (number, value) else {
        let kind = if whole { "whole number" } else { "number" };
        return Err(format!("{word:?} is no {kind}"));
    };
    range.check(value, "")?;
    Ok(Value::Number(number))
}

/// A value as it is typed: a text without its quotes, all else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn first(choices: &[Choice<'_>]) -> Value {
    choices
        .first()
        .map(|choice| choice.value.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line comes to for a required field of this schema.
    fn parse(property: &Value, line: &str) -> Result<Option<Value>, String> {
        let schema = json!({"properties": {"field": property}, "required": ["field"]});
        Field::all(schema.as_object().unwrap())[0].parse(line)
    }

    fn assert_takes(property: &Value, cases: &[(&str, Value)]) {
        for (line, value) in cases {
            assert_eq!(
                parse(property, line),
                Ok(Some(value.clone())),
                "{line:?} for {property}"
            );
        }
    }

    fn assert_refuses(property: &Value, cases: &[(&str, &str)]) {
        for (line, problem) in cases {
            let error = parse(property, line).unwrap_err();
            assert!(error.contains(problem), "{line:?}: {error}");
        }
    }

    #[test]
    fn texts_are_taken_as_they_are_within_their_length() {
        let property = json!({"type": "string", "minLength": 2, "maxLength": 3});
        assert_takes(&property, &[("äöü", json!("äöü")), (" a", json!(" a"))]);
        assert_refuses(
            &property,
            &[
                ("a", "at least 2 characters"),
                ("abcd", "at most 3 characters"),
                ("\"\"", "at least 2"),
                ("", "must be given"),
            ],
        );
        assert_takes(&json!({"type": "string"}), &[("\"\"", json!(""))]);
    }

    #[test]
    fn numbers_are_parsed_and_kept_to_their_range() {
        let whole = json!({"type": "integer", "minimum": 1, "maximum": 10});
        assert_takes(&whole, &[("1", json!(1)), (" 10 ", json!(10))]);
        assert_refuses(
            &whole,
            &[
                ("0", "at least 1"),
                ("11", "at most 10"),
                ("1.5", "no whole number"),
                ("ten", "no whole number"),
                ("1 2", "no whole number"),
                ("\"1\"", "no whole number"),
            ],
        );
        let any = json!({"type": "number"});
        assert_takes(&any, &[("-1.5", json!(-1.5)), ("2", json!(2))]);
        assert_refuses(&any, &[("NaN", "no number"), ("1e999", "no number")]);
    }

    #[test]
    fn booleans_are_yes_or_no() {
        let property = json!({"type": "boolean"});
        assert_takes(
            &property,
            &[
                ("y", json!(true)),
                ("Yes", json!(true)),
                ("true", json!(true)),
                ("n", json!(false)),
                ("NO", json!(false)),
                ("false", json!(false)),
            ],
        );
        assert_refuses(&property, &[("maybe", "yes or no"), ("1", "yes or no")]);
    }

    #[test]
    fn a_choice_is_named_titled_or_numbered_in_every_form_of_enumeration() {
        for property in [
            json!({"type": "string", "enum": ["sweet", "salty"], "enumNames": ["Sweet!", "Salty!"]}),
            json!({"type": "string", "oneOf": [
                {"const": "sweet", "title": "Sweet!"}, {"const": "salty", "title": "Salty!"},
            ]}),
        ] {
            let salty = json!("salty");
            assert_takes(
                &property,
                &[
                    ("salty", salty.clone()),
                    ("Salty!", salty.clone()),
                    (" 2", salty),
                    ("1", json!("sweet")),
                ],
            );
            assert_refuses(
                &property,
                &[
                    ("0", "none of"),
                    ("3", "none of"),
                    ("sour", "none of"),
                    ("-1", "none of"),
                ],
            );
        }
        // A name counts before a number.
        assert_takes(&json!({"enum": ["2", "1"]}), &[("1", json!("1"))]);
    }

    #[test]
    fn several_choices_stand_between_commas() {
        for items in [
            json!({"type": "string", "enum": ["a", "b", "c"]}),
            json!({"anyOf": [
                {"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "c", "title": "C"},
            ]}),
        ] {
            let property = json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2});
            assert_takes(
                &property,
                &[
                    ("a", json!(["a"])),
                    ("3, b", json!(["c", "b"])),
                    ("b,", json!(["b"])),
                ],
            );
            assert_refuses(
                &property,
                &[
                    ("", "at least 1 choices"),
                    ("a,b,c", "at most 2 choices"),
                    ("a, 1", "chosen twice"),
                    ("d", "none of"),
                ],
            );
        }
        let none = json!({"type": "array", "items": {"enum": ["a"]}});
        assert_takes(&none, &[("", json!([]))]);
    }

    #[test]
    fn an_empty_line_takes_the_default_or_leaves_the_field_out() {
        let schema = json!({
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "integer", "default": 7},
                "c": {"type": "integer", "default": 7},
            },
            "required": ["c"],
        });
        let fields = Field::all(schema.as_object().unwrap());
        let [a, b, c] = &fields[..] else {
            panic!("three fields")
        };
        assert_eq!(a.parse(""), Ok(None));
        assert_eq!(b.parse(""), Ok(Some(json!(7))));
        assert_eq!(b.parse("!skip"), Ok(None));
        assert_eq!(c.parse(" "), Ok(Some(json!(7))));
        assert!(c.parse("!skip").unwrap_err().contains("must be given"));
    }

    #[test]
    fn a_schema_of_another_form_takes_json() {
        let property = json!({"type": "object"});
        assert_takes(&property, &[("{\"a\": 1}", json!({"a": 1}))]);
        assert_refuses(&property, &[("{", "no JSON")]);
    }

    #[test]
    fn each_kind_has_an_example_that_it_takes() {
        for property in [
            json!({"type": "string"}),
            json!({"type": "integer", "minimum": 2.5}),
            json!({"type": "integer", "maximum": -3}),
            json!({"type": "number", "minimum": 0.5}),
            json!({"type": "boolean"}),
            json!({"enum": ["a", "b"]}),
            json!({"type": "integer", "default": 4}),
        ] {
            let schema = json!({"properties": {"field": property}, "required": ["field"]});
            let fields = Field::all(schema.as_object().unwrap());
            let example = fields[0].example();
            assert_eq!(
                fields[0].parse(&plain(&example)),
                Ok(Some(example)),
                "{property}"
            );
        }
        let several =
            json!({"properties": {"f": {"type": "array", "items": {"enum": ["a", "b"]}}}});
        assert_eq!(
            Field::all(several.as_object().unwrap())[0].example(),
            json!(["a"])
        );
    }
}
