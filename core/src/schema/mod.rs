//! JSON Schema 2020-12: derived from an author's types, and enforced as a whole.
//!
//! Two halves that meet in the middle:
//!
//! - [`input_of`] and [`output_of`] make the schema that a tool advertises from its Rust types;
//! - [`Schema::compile`] takes such a schema apart once, when the extension is built, and
//!   [`Schema::validate`] checks every call's arguments against *all* of it: ranges, lengths, patterns, formats,
//!   unknown properties. What is advertised is what is enforced.
//!
//! ```
//! use pup_extension::schema::{self, Schema};
//! use schemars::JsonSchema;
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Bake {
//!     #[schemars(range(min = 1, max = 10))]
//!     batches: u32,
//!     note: Option<String>,
//! }
//!
//! let schema = Schema::compile_input(&schema::input_of::<Bake>())?;
//! assert!(schema.validate(&json!({"batches": 3})).is_ok());
//!
//! let mismatches = schema.validate(&json!({"batches": 11, "nte": "crisp"})).unwrap_err();
//! assert_eq!(
//!     mismatches.to_string(),
//!     "arguments.batches: must be at most 10; arguments.nte: there is no such property",
//! );
//! # Ok::<(), schema::SchemaError>(())
//! ```
//!
//! # A closed set of keywords
//!
//! A schema that holds anything that would not be enforced does not compile, and the error names it. Understood are
//! all that `schemars` writes for types and for its attributes, and a little more:
//!
//! | for | keywords |
//! |---|---|
//! | any value | `type`, `enum`, `const`, boolean schemas |
//! | numbers | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` |
//! | strings | `minLength`, `maxLength`, `pattern`, `format` |
//! | arrays | `items`, `prefixItems`, `contains`, `minContains`, `maxContains`, `minItems`, `maxItems`, `uniqueItems` |
//! | objects | `properties`, `required`, `additionalProperties`, `patternProperties`, `propertyNames`, `minProperties`, `maxProperties`, `unevaluatedProperties` |
//! | combinations | `allOf`, `anyOf`, `oneOf`, `not`, `if`, `then`, `else`, `$ref` (to `#` or `#/$defs/NAME`), `$defs` (at the root) |
//! | annotations, without effect | `title`, `description`, `default`, `examples`, `deprecated`, `readOnly`, `writeOnly`, `$comment`, `x-…` |
//! | MCP | `x-mcp-header`: see [`HeaderParam`] |
//!
//! `$schema` may stand at the root if it names 2020-12, the only dialect. No reference is ever fetched.
//!
//! Each keyword means what the specification says, with these choices where it leaves one:
//!
//! - `format` is an assertion. Checked are `date-time`, `date`, `time`, `duration`, `email`, `hostname`, `ipv4`,
//!   `ipv6`, `uri`, `uri-reference` and `uuid`. (Of an internationalised host name, the form of the labels.)
//! - `pattern` is an ECMA-262 expression with the `u` flag, as in the callers' engines, less what can't run in linear
//!   time or isn't worth its tables: lookaround, backreferences, `\p{…}`.
//! - Numbers are compared by value and without rounding, and `multipleOf` reads decimals as they are written, so
//!   `0.3` is a multiple of `0.1`. Lengths are in code points.
//!
//! # Limits
//!
//! A schema has at most [`MAX_SUBSCHEMAS`] sub-schemas, nested at most [`MAX_DEPTH`] deep. One validation takes a
//! bounded number of steps, far more than any value of a mebibyte needs with an ordinary schema; a value and a
//! schema that together need more (it takes recursion with ambiguous alternatives) do not pass.

mod compile;
mod decimal;
mod derive;
mod error;
mod evaluate;
mod format;
mod header;
mod mismatch;
mod node;
mod number;
mod pattern;

use std::fmt;

use serde_json::Value;

pub(crate) use self::{derive::deserialized_of, format::is_date_time};
pub use self::{
    derive::{input_of, input_of_unit, output_of, unify_numbers},
    error::SchemaError,
    header::{HeaderKind, HeaderParam},
    mismatch::{Mismatch, Mismatches},
};

/// The most sub-schemas of one schema, the definitions and the root included.
pub const MAX_SUBSCHEMAS: usize = 4_096;

/// The deepest that sub-schemas nest, and the longest chain of them that apply to one value (each step from a keyword
/// to its value counts).
pub const MAX_DEPTH: usize = 96;

/// The most that one validation does, in checks of one sub-schema against one value: some tenths of a second.
const MAX_STEPS: u64 = 5_000_000;

/// The deepest that checks nest, which bounds the stack. JSON text that `serde_json` has read nests 127 levels.
const MAX_FRAMES: u32 = 512;

/// The most mismatches that are reported of one value.
const MAX_MISMATCHES: usize = 16;

/// A compiled schema.
///
/// Compiling allocates, validating hardly ever does: do the first once, when the extension is built.
pub struct Schema {
    nodes: Vec<node::Node>,
    headers: Vec<HeaderParam>,
}

impl Schema {
    /// Compiles a schema of any value.
    ///
    /// # Errors
    ///
    /// Names every keyword that is unknown or malformed, with its place: see [the list](self).
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let compile::Compiled { nodes, headers } = compile::compile(schema)?;
        Ok(Self { nodes, headers })
    }

    /// Compiles the schema of a tool's arguments, which MCP requires to say `"type": "object"` at its root.
    ///
    /// # Errors
    ///
    /// Those of [`compile`](Self::compile), and a root that is not of that type.
    pub fn compile_input(schema: &Value) -> Result<Self, SchemaError> {
        compile::check_input(schema)?;
        Self::compile(schema)
    }

    /// Checks the arguments of a call. Messages call the root `arguments`.
    ///
    /// # Errors
    ///
    /// Everything that does not fit, up to 16 entries; or one that says that the value could not be checked within
    /// the limits.
    pub fn validate(&self, arguments: &Value) -> Result<(), Mismatches> {
        self.validate_as("arguments", arguments)
    }

    /// Checks a value that messages call by another name: `result`, `answer`.
    ///
    /// # Errors
    ///
    /// As for [`validate`](Self::validate).
    pub fn validate_as(&self, name: &str, value: &Value) -> Result<(), Mismatches> {
        evaluate::validate(&self.nodes, name, value)
    }

    /// The parameters that are annotated with `x-mcp-header`.
    #[must_use]
    pub fn header_params(&self) -> &[HeaderParam] {
        &self.headers
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("subschemas", &self.nodes.len())
            .field("headers", &self.headers)
            .finish()
    }
}
