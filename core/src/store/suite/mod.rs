//! The conformance suite for implementations of the store port (feature `store-suite`).
//!
//! There is one list of cases, [`CASES`]. Every backend runs all of them:
//!
//! - with a test harness, [`store_suite!`](crate::store_suite) mounts each case as a test of its own name;
//! - without one (in a Worker), [`run`] runs a case by its name.
//!
//! A case that a backend does not promise is named in its `not_promised` list. It runs all the same, and has
//! to fail: the list is never longer than what is true.
//!
//! The cases state their own time, in the year 2096, so that no backend's own clock removes what they wrote
//! with an expiry. Those about races make many futures over the two handles of a [`Harness`] and drive them
//! together: whether they truly run in parallel is up to the backend.

mod adds;
mod atomicity;
mod basics;
mod cases;
mod ensure;
mod expectations;
mod expiry;
mod harness;
mod keys;
pub(crate) mod life;
mod lists;
mod lost_answers;
mod once;
mod races;
mod tasks;
mod turns;
mod values;

pub use self::{
    cases::{CASES, judge, run},
    ensure::Failure,
    harness::{Harness, block_on},
};
