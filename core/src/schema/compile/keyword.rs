//! The keywords, one by one: the closed list of what is checked.

use serde_json::{Map, Number, Value};

use super::{
    super::{
        decimal::Decimal,
        error::Reason,
        format::Format,
        node::{Id, InPlace, Node, Types},
        pattern::Pattern,
    },
    Compiler,
    header::Reach,
    pointer::{Pointer, definition},
};

/// The name of the dialect, which a root may state.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl Compiler {
    /// Takes one keyword into `node`. `siblings` are all keywords of the same sub-schema.
    pub(super) fn keyword(
        &mut self,
        node: &mut Node,
        (keyword, value): (&str, &Value),
        siblings: &Map<String, Value>,
        place: &Pointer<'_>,
        reach: &Reach<'_>,
    ) {
        let inner = &place.key(keyword);
        let done = match keyword {
            "type" => self.types(value, inner).map(|types| node.types = types),
            "const" => {
                node.constant = Some(value.clone());
                Some(())
            }
            "enum" => list(value)
                .map(|choices| node.choices = Some(choices.to_vec()))
                .or_else(|| {
                    self.problem(inner, Reason::Value("an array with at least one value"));
                    None
                }),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                self.number(node, keyword, value, inner)
            }
            "minLength" | "maxLength" | "pattern" | "format" => {
                self.string(node, keyword, value, inner)
            }
            "items" | "prefixItems" | "contains" | "minContains" | "maxContains" | "minItems"
            | "maxItems" | "uniqueItems" => self.array(node, (keyword, value), siblings, inner),
            "required"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties" => self.object(node, keyword, value, inner, reach),
            "unevaluatedProperties" => {
                node.unevaluated = Some(self.schema(value, inner));
                Some(())
            }
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "$ref" => {
                self.in_place(node, (keyword, value), siblings, place)
            }
            _ => {
                self.annotation(keyword, value, place);
                Some(())
            }
        };
        // Every keyword that could not be taken in has left a problem behind.
        debug_assert!(
            done.is_some() || !self.problems.is_empty(),
            "`{keyword}` failed without a problem"
        );
    }

    fn types(&mut self, value: &Value, place: &Pointer<'_>) -> Option<Types> {
        let types = match value {
            Value::String(name) => Types::from_name(name),
            Value::Array(names) if !names.is_empty() => names
                .iter()
                .map(|name| name.as_str().and_then(Types::from_name))
                .try_fold(Types::NONE, |types, next| next.map(|next| types.or(next))),
            _ => None,
        };
        if types.is_none() {
            let expected =
                "null, boolean, integer, number, string, array or object, or an array of these";
            self.problem(place, Reason::Value(expected));
        }
        types
    }

    fn number(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &Value,
        place: &Pointer<'_>,
    ) -> Option<()> {
        let Value::Number(limit) = value else {
            self.problem(place, Reason::Value("a number"));
            return None;
        };
        let rules = node.number.get_or_insert_default();
        match keyword {
            "minimum" => rules.minimum = Some(limit.clone()),
            "maximum" => rules.maximum = Some(limit.clone()),
            "exclusiveMinimum" => rules.above = Some(limit.clone()),
            "exclusiveMaximum" => rules.below = Some(limit.clone()),
            _ => match Decimal::of(limit).filter(|step| !step.is_zero() && is_positive(limit)) {
                Some(step) => rules.multiple_of = Some((limit.clone(), step)),
                None => self.problem(place, Reason::Value("a number above 0")),
            },
        }
        Some(())
    }

    fn string(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &Value,
        place: &Pointer<'_>,
    ) -> Option<()> {
        let rules = node.string.get_or_insert_default();
        match keyword {
            "minLength" => rules.min_length = self.count(value, place)?,
            "maxLength" => rules.max_length = Some(self.count(value, place)?),
            "format" => {
                let name = self.text(value, place)?;
                rules.format = Format::from_name(name);
                if rules.format.is_none() {
                    self.problem(place, Reason::Format(name.into()));
                }
            }
            _ => {
                let source = self.text(value, place)?;
                rules.pattern = self.pattern(source, place);
            }
        }
        Some(())
    }

    fn array(
        &mut self,
        node: &mut Node,
        (keyword, value): (&str, &Value),
        siblings: &Map<String, Value>,
        place: &Pointer<'_>,
    ) -> Option<()> {
        if keyword.ends_with("Contains") && !siblings.contains_key("contains") {
            let name = if keyword == "minContains" {
                "minContains"
            } else {
                "maxContains"
            };
            self.problem(place, Reason::Companion(name, "contains"));
        }
        let rules = node.array.get_or_insert_default();
        match keyword {
            "items" => rules.items = Some(self.schema(value, place)),
            "contains" => rules.contains = Some(self.schema(value, place)),
            "prefixItems" => rules.prefix = self.schemas(value, place)?,
            "minContains" => rules.min_contains = Some(self.count(value, place)?),
            "maxContains" => rules.max_contains = Some(self.count(value, place)?),
            "minItems" => rules.min_items = self.count(value, place)?,
            "maxItems" => rules.max_items = Some(self.count(value, place)?),
            _ => match value {
                Value::Bool(unique) => rules.unique = *unique,
                _ => self.problem(place, Reason::Value("true or false")),
            },
        }
        Some(())
    }

    fn object(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &Value,
        place: &Pointer<'_>,
        reach: &Reach<'_>,
    ) -> Option<()> {
        let rules = node.object.get_or_insert_default();
        match keyword {
            "required" => {
                let names = value
                    .as_array()
                    .and_then(|names| names.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
                match names {
                    Some(names) => rules.required = names.into_iter().map(Box::from).collect(),
                    None => self.problem(place, Reason::Value("an array of names")),
                }
            }
            "properties" => {
                for (name, schema) in self.map(value, place)? {
                    let id = self.reached_schema(schema, &place.key(name), &reach.property(name));
                    rules.properties.push((name.as_str().into(), id));
                }
                rules
                    .properties
                    .sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
            }
            "patternProperties" => {
                for (pattern, schema) in self.map(value, place)? {
                    let place = place.key(pattern);
                    let id = self.schema(schema, &place);
                    if let Some(pattern) = self.pattern(pattern, &place) {
                        rules.patterns.push((pattern, id));
                    }
                }
            }
            "additionalProperties" => rules.additional = Some(self.schema(value, place)),
            "propertyNames" => rules.names = Some(self.schema(value, place)),
            "minProperties" => rules.min_properties = self.count(value, place)?,
            _ => rules.max_properties = Some(self.count(value, place)?),
        }
        Some(())
    }

    fn in_place(
        &mut self,
        node: &mut Node,
        (keyword, value): (&str, &Value),
        siblings: &Map<String, Value>,
        outer: &Pointer<'_>,
    ) -> Option<()> {
        let place = &outer.key(keyword);
        let in_place = match keyword {
            "allOf" => InPlace::AllOf(self.non_empty_schemas(value, place)?),
            "anyOf" => InPlace::AnyOf(self.non_empty_schemas(value, place)?),
            "oneOf" => InPlace::OneOf(self.non_empty_schemas(value, place)?),
            "not" => InPlace::Not(self.schema(value, place)),
            "$ref" => {
                let reference = self.text(value, place)?;
                InPlace::Ref(self.reference(reference, place)?)
            }
            "if" => {
                let condition = self.schema(value, place);
                let mut branch = |name| {
                    siblings
                        .get(name)
                        .map(|branch| self.schema(branch, &outer.key(name)))
                };
                InPlace::If {
                    condition,
                    then: branch("then"),
                    otherwise: branch("else"),
                }
            }
            // Taken in with their `if`.
            _ => {
                if !siblings.contains_key("if") {
                    let name = if keyword == "then" { "then" } else { "else" };
                    self.problem(place, Reason::Companion(name, "if"));
                }
                return Some(());
            }
        };
        node.in_place.push(in_place);
        Some(())
    }

    /// Keywords that constrain nothing: allowed, and checked no further than their own form.
    fn annotation(&mut self, keyword: &str, value: &Value, place: &Pointer<'_>) {
        let inner = &place.key(keyword);
        let is_root = matches!(place, Pointer::Root);
        let problem = match keyword {
            "title" | "description" | "$comment" => {
                (!value.is_string()).then_some(Reason::Value("a string"))
            }
            "deprecated" | "readOnly" | "writeOnly" => {
                (!value.is_boolean()).then_some(Reason::Value("true or false"))
            }
            "examples" => (!value.is_array()).then_some(Reason::Value("an array")),
            "default" | "x-mcp-header" => None,
            "$schema" => {
                let known =
                    value.as_str().map(|dialect| dialect.trim_end_matches('#')) == Some(DIALECT);
                (!known || !is_root).then_some(Reason::Dialect)
            }
            "$defs" if !is_root => Some(Reason::InnerDefinitions),
            "$defs" => (!value.is_object()).then_some(Reason::Value("an object of schemas")),
            // MCP's own extensions have rules; one that is not known here can't be kept to.
            _ if keyword.starts_with("x-") && !keyword.starts_with("x-mcp-") => None,
            _ => Some(Reason::UnknownKeyword),
        };
        if let Some(reason) = problem {
            self.problem(inner, reason);
        }
    }

    fn reference(&mut self, reference: &str, place: &Pointer<'_>) -> Option<Id> {
        if reference == "#" {
            return Some(Id(0));
        }
        let Some(name) = definition(reference) else {
            self.problem(place, Reason::Reference);
            return None;
        };
        let id = self.definitions.get(&name).copied();
        if id.is_none() {
            self.problem(place, Reason::Undefined(name));
        }
        id
    }

    fn pattern(&mut self, source: &str, place: &Pointer<'_>) -> Option<Pattern> {
        Pattern::new(source)
            .map_err(|error| self.problem(place, Reason::Pattern(source.into(), error)))
            .ok()
    }

    fn schemas(&mut self, value: &Value, place: &Pointer<'_>) -> Option<Vec<Id>> {
        let Value::Array(schemas) = value else {
            self.problem(place, Reason::Value("an array of schemas"));
            return None;
        };
        Some(
            schemas
                .iter()
                .enumerate()
                .map(|(at, schema)| self.schema(schema, &place.index(at)))
                .collect(),
        )
    }

    fn non_empty_schemas(&mut self, value: &Value, place: &Pointer<'_>) -> Option<Vec<Id>> {
        let schemas = self.schemas(value, place)?;
        if schemas.is_empty() {
            self.problem(place, Reason::Value("an array with at least one schema"));
        }
        Some(schemas)
    }

    fn map<'v>(&mut self, value: &'v Value, place: &Pointer<'_>) -> Option<&'v Map<String, Value>> {
        let map = value.as_object();
        if map.is_none() {
            self.problem(place, Reason::Value("an object of schemas"));
        }
        map
    }

    fn text<'v>(&mut self, value: &'v Value, place: &Pointer<'_>) -> Option<&'v str> {
        let text = value.as_str();
        if text.is_none() {
            self.problem(place, Reason::Value("a string"));
        }
        text
    }

    /// A length or a number of things; `2.0` is one too.
    fn count(&mut self, value: &Value, place: &Pointer<'_>) -> Option<u64> {
        let count = value.as_u64().or_else(|| {
            let float = value
                .as_f64()
                .filter(|float| float.fract() == 0.0 && (0.0..=9e15).contains(float))?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and within bounds"
            )]
            Some(float as u64)
        });
        if count.is_none() {
            self.problem(place, Reason::Value("a whole number, 0 or more"));
        }
        count
    }
}

fn list(value: &Value) -> Option<&[Value]> {
    value
        .as_array()
        .map(Vec::as_slice)
        .filter(|list| !list.is_empty())
}

fn is_positive(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| float > 0.0)
}
