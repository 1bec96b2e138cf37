//! The schemas of types, and the evaluator of all schemas.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

// On wasm every `#[test]` of this crate is wasm-bindgen's.
#[cfg(target_family = "wasm")]
#[macro_use(test)]
extern crate pup_extension_wasm_test;

mod compiling;
mod finer_points;
mod headers;
mod limits;
mod messages;
// The oracle does not build for wasm.
#[cfg(not(target_arch = "wasm32"))]
mod oracle;
mod types;

use pup_extension::schema::Schema;
use serde_json::Value;

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{error}\n{schema:#}"))
}

/// What is said of a schema that does not compile.
fn refusal(schema: &Value) -> String {
    Schema::compile(schema)
        .map(|_| ())
        .expect_err(&schema.to_string())
        .to_string()
}

/// What is said of a value that does not fit.
fn complaint(schema: &Value, value: &Value) -> String {
    compile(schema)
        .validate(value)
        .expect_err(&value.to_string())
        .to_string()
}
