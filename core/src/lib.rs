//! Write [pup](https://docs.pup.run) extensions as typed Rust functions.
//!
//! This crate holds the author's API and every rule of the extension contract: signatures and their
//! rotation, replay rejection, MCP `2026-07-28`, once-only effects. It does no I/O, reads no clock and
//! draws no randomness; an adapter crate (`pup-extension-local`, `-lambda`, `-workers`) lends it those
//! through two ports, [`runtime::Runtime`] and [`store::Store`].

// On wasm every `#[test]` of this crate is wasm-bindgen's.
#[cfg(all(test, target_family = "wasm"))]
#[macro_use(test)]
extern crate pup_extension_wasm_test;

pub mod budget;
mod causes;
pub mod context;
pub mod extension;
pub mod form;
mod ledger;
pub mod manifest;
pub mod marker;
pub mod mcp;
mod ports;
pub mod prelude;
pub mod presentation;
pub mod runtime;
pub mod schema;
pub mod service;
pub mod signing;
pub mod state;
pub mod store;
pub mod task;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
