//! Arguments that a tool wants mirrored into `Mcp-Param-*` headers (MCP 2026-07-28, Streamable HTTP, "Custom
//! Headers from Tool Parameters").

use std::collections::BTreeSet;

use http::{HeaderMap, HeaderName};
use pup_extension::mcp::header::PARAM_PREFIX;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::header_value;

const ANNOTATION: &str = "x-mcp-header";

/// Which arguments of a tool are mirrored, and into which headers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParamHeaders(Vec<ParamHeader>);

#[derive(Clone, Debug, PartialEq)]
struct ParamHeader {
    /// The keys that lead from the arguments to the value.
    path: Vec<String>,
    header: HeaderName,
}

/// Why a tool's annotations are invalid, so that a client must not use the tool.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum InvalidAnnotation {
    #[error("`x-mcp-header` at {0} is not a text that can end a header's name")]
    Name(String),
    #[error("`x-mcp-header` at {0} repeats a name")]
    Repeated(String),
    #[error("`x-mcp-header` at {0} stands on a parameter that is no text, integer or boolean")]
    Type(String),
    #[error("`x-mcp-header` at {0} can't be reached through `properties` alone")]
    Unreachable(String),
}

impl ParamHeaders {
    /// Reads the annotations of an input schema, by every rule that the specification has for them.
    pub(crate) fn read(input_schema: &Value) -> Result<Self, InvalidAnnotation> {
        let mut reader = Reader::default();
        if input_schema.get(ANNOTATION).is_some() {
            return Err(InvalidAnnotation::Unreachable("the root".to_owned()));
        }
        reader.schema(input_schema, &mut Vec::new(), true)?;
        Ok(Self(reader.headers))
    }

    /// Adds a header for each annotated argument that is there.
    pub(crate) fn apply(&self, arguments: &Value, headers: &mut HeaderMap) {
        for ParamHeader { path, header } in &self.0 {
            let value = path.iter().try_fold(arguments, |value, key| value.get(key));
            if let Some(text) = value.and_then(text) {
                headers.insert(header.clone(), header_value::encode(&text));
            }
        }
    }
}

/// A value's text form. One of a type that has none is left to the extension to refuse.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[derive(Default)]
struct Reader {
    headers: Vec<ParamHeader>,
    seen: BTreeSet<String>,
}

impl Reader {
    /// Walks a schema and everything in it that is one. `reachable`: through `properties` alone, from the root.
    fn schema(
        &mut self,
        schema: &Value,
        path: &mut Vec<String>,
        reachable: bool,
    ) -> Result<(), InvalidAnnotation> {
        let Value::Object(schema) = schema else {
            return Ok(());
        };
        for (keyword, value) in schema {
            match keyword.as_str() {
                ANNOTATION => self.annotation(value, schema, path, reachable)?,
                "properties" => self.named(value, path, reachable)?,
                "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
                    self.named(value, path, false)?;
                }
                // Values, not schemas: what looks like an annotation in them is none.
                "default" | "const" | "enum" | "examples" => {}
                _ => match value {
                    Value::Array(schemas) => {
                        for schema in schemas {
                            self.schema(schema, path, false)?;
                        }
                    }
                    schema => self.schema(schema, path, false)?,
                },
            }
        }
        Ok(())
    }

    /// Walks an object whose keys are names and whose values are schemas.
    fn named(
        &mut self,
        schemas: &Value,
        path: &mut Vec<String>,
        reachable: bool,
    ) -> Result<(), InvalidAnnotation> {
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            path.push(name.clone());
            self.schema(schema, path, reachable)?;
            path.pop();
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        name: &Value,
        schema: &Map<String, Value>,
        path: &[String],
        reachable: bool,
    ) -> Result<(), InvalidAnnotation> {
        let place = || path.join(".");
        if !reachable {
            return Err(InvalidAnnotation::Unreachable(place()));
        }
        let name = name.as_str().filter(|name| !name.is_empty());
        let header =
            name.and_then(|name| HeaderName::try_from(format!("{PARAM_PREFIX}{name}")).ok());
        let header = header.ok_or_else(|| InvalidAnnotation::Name(place()))?;
        if !is_primitive(schema.get("type")) {
            return Err(InvalidAnnotation::Type(place()));
        }
        if !self.seen.insert(header.as_str().to_owned()) {
            return Err(InvalidAnnotation::Repeated(place()));
        }
        self.headers.push(ParamHeader {
            path: path.to_vec(),
            header,
        });
        Ok(())
    }
}

/// Whether a schema's `type` allows texts, integers or booleans alone; null may stand beside them, and is not
/// mirrored.
fn is_primitive(kind: Option<&Value>) -> bool {
    let one = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => {
            kinds.iter().any(one) && kinds.iter().all(|kind| one(kind) || kind == "null")
        }
        Some(kind) => one(kind),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mirrored(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        ParamHeaders::read(schema)
            .unwrap()
            .apply(arguments, &mut headers);
        let text = |(name, value): (&HeaderName, &http::HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        headers.iter().map(text).collect()
    }

    #[test]
    fn annotated_arguments_are_mirrored_at_any_depth() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "nested": {"type": "object", "properties": {
                "count": {"type": ["integer", "null"], "x-mcp-header": "Count"},
                "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            }},
            "plain": {"type": "string"},
        }});
        let arguments =
            json!({"region": "süd", "nested": {"count": -7, "dry": true}, "plain": "x"});
        let expected = [
            ("mcp-param-count", "-7"),
            ("mcp-param-dry", "true"),
            ("mcp-param-region", "=?base64?c8O8ZA==?="),
        ];
        let mut found = mirrored(&schema, &arguments);
        found.sort();
        assert_eq!(
            found,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn absent_and_null_arguments_have_no_header() {
        let schema = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "A"},
            "b": {"type": "string", "x-mcp-header": "B"},
            "c": {"type": "string", "x-mcp-header": "C"},
        }});
        assert_eq!(mirrored(&schema, &json!({"a": null, "c": {}})), []);
        assert_eq!(mirrored(&schema, &json!("a")), []);
    }

    #[test]
    fn annotations_that_break_a_rule_are_named_with_their_place() {
        let text = json!({"type": "string", "x-mcp-header": "A"});
        let with = |annotation: Value| json!({"properties": {"p": {"type": "string", "x-mcp-header": annotation}}});
        let typed = |kind: Value| json!({"properties": {"p": {"type": kind, "x-mcp-header": "A"}}});
        for (schema, error) in [
            (with(json!("")), InvalidAnnotation::Name("p".into())),
            (with(json!("a b")), InvalidAnnotation::Name("p".into())),
            (with(json!("a\r\nb")), InvalidAnnotation::Name("p".into())),
            (with(json!("ü")), InvalidAnnotation::Name("p".into())),
            (with(json!(1)), InvalidAnnotation::Name("p".into())),
            (typed(json!("number")), InvalidAnnotation::Type("p".into())),
            (typed(json!("object")), InvalidAnnotation::Type("p".into())),
            (
                typed(json!(["string", "number"])),
                InvalidAnnotation::Type("p".into()),
            ),
            (typed(json!(["null"])), InvalidAnnotation::Type("p".into())),
            (
                json!({"properties": {"p": {"x-mcp-header": "A"}}}),
                InvalidAnnotation::Type("p".into()),
            ),
            (
                json!({"properties": {"p": text, "q": {"type": "string", "x-mcp-header": "a"}}}),
                InvalidAnnotation::Repeated("q".into()),
            ),
            (
                text.clone(),
                InvalidAnnotation::Unreachable("the root".into()),
            ),
            (
                json!({"properties": {"p": {"items": text}}}),
                InvalidAnnotation::Unreachable("p".into()),
            ),
            (
                json!({"$defs": {"P": text}}),
                InvalidAnnotation::Unreachable("P".into()),
            ),
            (
                json!({"allOf": [{"properties": {"p": text}}]}),
                InvalidAnnotation::Unreachable("p".into()),
            ),
            (
                json!({"if": {"properties": {"p": text}}}),
                InvalidAnnotation::Unreachable("p".into()),
            ),
        ] {
            assert_eq!(ParamHeaders::read(&schema), Err(error), "{schema}");
        }
    }

    #[test]
    fn what_only_looks_like_an_annotation_is_none() {
        let schema = json!({
            "properties": {"x-mcp-header": {"type": "string"}},
            "default": {"x-mcp-header": "A"},
            "examples": [{"x-mcp-header": 1}],
        });
        assert_eq!(ParamHeaders::read(&schema), Ok(ParamHeaders::default()));
        assert_eq!(
            ParamHeaders::read(&json!(true)),
            Ok(ParamHeaders::default())
        );
    }
}
