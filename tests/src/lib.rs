//! Scenarios that run against the example extension on any runtime, and the runtimes that they run on.

#[cfg(feature = "lambda")]
pub mod dynamodb;
#[cfg(feature = "lambda")]
pub mod lambda;
mod local;
mod place;
pub mod tour;

pub use self::{
    local::Local,
    place::{Place, Result, Secrets, Server},
};
