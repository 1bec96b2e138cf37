//! Why a schema can't be compiled.

use std::{error::Error, fmt};

use super::{MAX_DEPTH, MAX_SUBSCHEMAS, format::Format, pattern::PatternError};

/// The most problems that are listed; more are counted out.
const MAX_PROBLEMS: usize = 16;

/// What is wrong with a schema: every problem that was found, each with the place in the schema where it stands.
///
/// The text is meant for the author of the schema, and quotes it.
#[derive(Clone, PartialEq, Eq)]
pub struct SchemaError {
    problems: Vec<Problem>,
    more: bool,
}

/// One thing that is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) pointer: String,
    pub(super) reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    #[error("a schema is an object or a boolean")]
    NotASchema,
    #[error("unknown keyword: only keywords that are checked, and annotations, are allowed")]
    UnknownKeyword,
    #[error("the value of this keyword must be {0}")]
    Value(&'static str),
    #[error("only JSON Schema 2020-12 is supported: leave `$schema` out")]
    Dialect,
    #[error("unknown format `{0}`: the formats are {names}", names = Format::NAMES)]
    Format(String),
    #[error("pattern `{0}`: {1}")]
    Pattern(String, PatternError),
    #[error("only `#` and `#/$defs/NAME` can be referred to")]
    Reference,
    #[error("there is no `{0}` in `$defs`")]
    Undefined(String),
    #[error("`$defs` can stand at the root only")]
    InnerDefinitions,
    #[error("`{0}` does nothing without `{1}`")]
    Companion(&'static str, &'static str),
    #[error(
        "the schema refers to itself without looking at a part of the value: it could never be decided"
    )]
    Cycle,
    #[error("the schema nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("the schema has more than {MAX_SUBSCHEMAS} sub-schemas")]
    TooLarge,
    #[error(
        "`x-mcp-header` must be a header name: letters, digits and !#$%&'*+-.^_`|~, at least one"
    )]
    HeaderName,
    #[error("two parameters have the `x-mcp-header` `{0}`; upper and lower case are the same")]
    HeaderTwice(String),
    #[error(
        "an `x-mcp-header` parameter must have the one type `string`, `integer` or `boolean`; for an optional one \
         use `#[serde(default)]` with `#[schemars(with = \"…\")]` in place of a nullable type"
    )]
    HeaderType,
    #[error(
        "`x-mcp-header` can stand only on a parameter that is reached from the root through `properties` alone"
    )]
    HeaderPlace,
    #[error(
        "the input of a tool must have `\"type\": \"object\"` at the root: use a struct with named fields, or an enum \
         all of whose variants are objects"
    )]
    NotAnObject,
}

impl SchemaError {
    /// The error, if there are problems.
    pub(super) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        let more = problems.len() > MAX_PROBLEMS;
        Err(Self {
            problems: problems.into_iter().take(MAX_PROBLEMS).collect(),
            more,
        })
    }

    /// Each problem as a text of its own, at most 16: a JSON pointer into the schema (`#` is its root), and what is
    /// wrong there.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        self.problems
            .iter()
            .map(|problem| format!("{}: {}", problem.pointer, problem.reason))
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", problem.pointer, problem.reason)?;
        }
        f.write_str(if self.more { "; and more" } else { "" })
    }
}

impl fmt::Debug for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.problems()).finish()
    }
}

impl Error for SchemaError {}
