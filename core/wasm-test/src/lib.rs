//! Lets ordinary `#[test]` functions run on `wasm32-unknown-unknown`, where the standard test harness has no way to
//! say what it ran.
//!
//! `#[macro_use(test)] extern crate pup_extension_wasm_test;` at the root of a crate puts this `test` before the
//! standard one everywhere in that crate, in what `proptest!` expands to as well, so no test module has to know. The
//! crate that does so depends on `wasm-bindgen-test` too, since the attribute names it. Off wasm this crate is empty.

#[cfg(target_family = "wasm")]
pub use wasm_bindgen_test::wasm_bindgen_test as test;
