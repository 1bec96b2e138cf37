//! A type with any schema: for shapes that no derived type has.

use std::{borrow::Cow, cell::RefCell};

use pup_extension::form::{Form, FormError};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

thread_local! {
    static SCHEMA: RefCell<Schema> = RefCell::default();
}

/// Takes any answer, and has the schema that [`form_of`] was last given on this thread.
#[derive(Debug, Deserialize)]
pub(crate) struct Free(#[expect(dead_code, reason = "only the schema counts")] Value);

impl JsonSchema for Free {
    fn schema_name() -> Cow<'static, str> {
        "Free".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        SCHEMA.with_borrow(Clone::clone)
    }
}

/// The form of a type with that schema. What is neither an object nor a boolean is no schema, and counts as empty.
pub(crate) fn form_of(schema: Value) -> Result<Form, FormError> {
    SCHEMA.set(Schema::try_from(schema).unwrap_or_default());
    Form::of::<Free>()
}
