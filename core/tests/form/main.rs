//! Forms of types: what is asked, what is refused, which answers fit.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

// On wasm every `#[test]` of this crate is wasm-bindgen's.
#[cfg(target_family = "wasm")]
#[macro_use(test)]
extern crate pup_extension_wasm_test;

mod answers;
mod free;
// The oracle does not build for wasm.
#[cfg(not(target_arch = "wasm32"))]
mod oracle;
mod properties;
mod refusals;
mod shapes;

use pup_extension::form::Form;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The form of a type, which is valid by MCP's own schema.
fn form<T: JsonSchema + DeserializeOwned>() -> Form {
    let form = Form::of::<T>().unwrap_or_else(|error| panic!("{error}"));
    assert_is_of_mcp(&form);
    form
}

#[cfg(not(target_arch = "wasm32"))]
fn assert_is_of_mcp(form: &Form) {
    oracle::assert_is_of_mcp(form.schema());
}

#[cfg(target_arch = "wasm32")]
fn assert_is_of_mcp(form: &Form) {
    assert_eq!(form.schema()["type"], "object");
}

/// What is said of a type that can't be a form.
fn refusals<T: JsonSchema + DeserializeOwned>() -> Vec<String> {
    match Form::of::<T>() {
        Ok(form) => panic!("a form: {}", form.schema()),
        Err(error) => error.problems().collect(),
    }
}

/// What is said of an answer that does not fit.
fn complaint(form: &Form, content: &Value) -> String {
    match form.check(content) {
        Ok(()) => panic!("fits: {content}"),
        Err(mismatches) => mismatches.to_string(),
    }
}
