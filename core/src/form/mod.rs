//! Forms that people fill in: MCP's elicitation, from Rust types.
//!
//! A [`Form`] is made of a struct once, when the extension is built. [`Form::schema`] is the `requestedSchema` of an
//! `elicitation/create` request; [`Form::check`] holds an answer's `content` against all of it, and [`Form::read`]
//! makes it the struct.
//!
//! ```
//! use pup_extension::form::Form;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Debug, Deserialize, JsonSchema)]
//! struct Order {
//!     /// How many portions?
//!     #[schemars(range(min = 1, max = 9))]
//!     portions: u8,
//!     snack: Snack,
//!     /// Anything else?
//!     #[schemars(length(max = 200))]
//!     note: Option<String>,
//! }
//!
//! #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
//! #[serde(rename_all = "kebab-case")]
//! enum Snack {
//!     /// Hot popcorn
//!     Popcorn,
//!     /// Fruit in season
//!     FruitBowl,
//! }
//!
//! let form = Form::of::<Order>()?;
//! assert_eq!(
//!     *form.schema(),
//!     json!({
//!         "type": "object",
//!         "properties": {
//!             "portions": {
//!                 "type": "integer",
//!                 "description": "How many portions?",
//!                 "minimum": 1,
//!                 "maximum": 9,
//!             },
//!             "snack": {
//!                 "type": "string",
//!                 "oneOf": [
//!                     {"const": "popcorn", "title": "Hot popcorn"},
//!                     {"const": "fruit-bowl", "title": "Fruit in season"},
//!                 ],
//!             },
//!             "note": {"type": "string", "description": "Anything else?", "maxLength": 200},
//!         },
//!         "required": ["portions", "snack"],
//!     }),
//! );
//!
//! let order: Order = form.read(&json!({"portions": 2, "snack": "fruit-bowl", "note": null}))?;
//! assert_eq!((order.portions, order.snack, order.note), (2, Snack::FruitBowl, None));
//!
//! let error = form.read::<Order>(&json!({"portions": 12, "snack": "gravel"})).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "answer.portions: must be at most 9; answer.snack: must be one of \"popcorn\", \"fruit-bowl\"",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a form can ask for
//!
//! A form is a struct with named fields; a struct without any asks for no more than a yes. Each field is one of:
//!
//! | field | Rust type | can say |
//! |---|---|---|
//! | text | `String`, `char`, … | `length(min, max)`; `email`, `url`; `extend("format" = "date")` or `"date-time"` |
//! | number | integers, floats | `range(min, max)` |
//! | yes or no | `bool` | |
//! | one choice | an enum of unit variants | titles |
//! | several choices | `Vec`, array or set of such an enum | titles, `length(min, max)` |
//!
//! - **Optional** is an `Option`, or a field with `#[serde(default)]`: it isn't in `required`. What people send as
//!   `null` for it counts as left out. A default is advertised, and must fit its own field.
//! - **Names** are those of the wire, as serde has them. A field's doc comment is its `description`; a `title` is set
//!   by `#[schemars(title = "…")]`.
//! - **Choices** show the `title` of their variant, or else the first paragraph of its doc comment. If only some
//!   variants have either, the others show their name.
//! - Newtypes and flattened structs are as good as what they hold.
//! - Numbers may be written with a zero fraction: an integer takes `3.0`.
//! - A set refuses a choice that is sent twice; MCP can't advertise that.
//! - Properties that the form does not list are refused, with or without `#[serde(deny_unknown_fields)]`.
//!
//! What has no effect on answers and no place in a form is left out: the description of the struct, examples,
//! `deprecated` and the like. Anything else is [an error](FormError): nested objects, lists of anything but choices,
//! maps, tuples, variants that carry data, patterns, other formats, bounds that exclude their limit, …
//!
//! # Order
//!
//! The choices of an enum come as they are declared; but of an enum only some of whose variants have titles or docs, the
//! others come first. Fields come in alphabetical order, unless the build turns on `preserve_order` of `serde_json`
//! and of `schemars`.
//!
//! # What not to ask for
//!
//! MCP forbids forms that ask for passwords, keys, tokens or payment data.

mod choice;
mod derive;
mod error;
mod field;
mod kind;

use std::{borrow::Cow, collections::BTreeSet};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::error::{FormError, ReadError};
use crate::schema::{self, Mismatches, Schema, SchemaError};

/// What messages call the root of an answer.
const ANSWER: &str = "answer";

/// A form, taken from a type once, and good for any number of answers.
#[derive(Debug)]
pub struct Form {
    requested: Value,
    /// The fields that may be left out.
    optional: BTreeSet<String>,
    /// The fields that are sets, for which MCP has no word.
    sets: BTreeSet<String>,
    /// What answers are held against: `requested`, and what MCP has no words for.
    check: Schema,
}

impl Form {
    /// Makes the form that asks for a `T`: [what it can hold](self).
    ///
    /// # Errors
    ///
    /// Everything in the type that a form can't ask for, with the field where it is.
    pub fn of<T: JsonSchema + DeserializeOwned>() -> Result<Self, FormError> {
        let derived = schema::deserialized_of::<T>();
        derive::form(&derived).map_err(|problems| FormError::new(&T::schema_name(), problems))
    }

    /// The `requestedSchema`, exactly in the form that MCP allows.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.requested
    }

    /// The fields that are sets: with the schema, all that there is to know of a form.
    pub(crate) fn sets(&self) -> Vec<String> {
        self.sets.iter().cloned().collect()
    }

    /// The form that was asked some time ago, from its schema and the fields that are sets.
    pub(crate) fn restore(
        requested: Value,
        sets: impl IntoIterator<Item = String>,
    ) -> Result<Self, SchemaError> {
        derive::assemble(requested, sets.into_iter().collect())
    }

    /// Checks the `content` of an accepted answer. Messages call it `answer`: `answer.portions: must be at most 9`.
    ///
    /// # Errors
    ///
    /// Everything that does not fit, up to 16 entries, none of which quotes the answer.
    pub fn check(&self, content: &Value) -> Result<(), Mismatches> {
        self.check.validate_as(ANSWER, &self.without_nulls(content))
    }

    /// Checks the `content` of an accepted answer, and makes it a `T`: the type that the form was made of.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check); or the answer fits the form, and `T` is narrower still, as a type with a
    /// `Deserialize` of its own can be.
    pub fn read<T: DeserializeOwned>(&self, content: &Value) -> Result<T, ReadError> {
        let content = self.without_nulls(content);
        self.check.validate_as(ANSWER, &content)?;
        let mut content = content.into_owned();
        schema::unify_numbers(&mut content);
        // serde's text may quote what was sent.
        serde_json::from_value(content).map_err(|_| ReadError::Refused)
    }

    /// Takes an optional field that is null for one that was left out.
    fn without_nulls<'a>(&self, content: &'a Value) -> Cow<'a, Value> {
        let is_left_out =
            |name: &String, value: &Value| value.is_null() && self.optional.contains(name);
        match content {
            Value::Object(fields)
                if fields.iter().any(|(name, value)| is_left_out(name, value)) =>
            {
                let mut fields = fields.clone();
                fields.retain(|name, value| !is_left_out(name, value));
                Cow::Owned(Value::Object(fields))
            }
            _ => Cow::Borrowed(content),
        }
    }
}
