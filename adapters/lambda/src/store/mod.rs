//! The store on one DynamoDB table.
//!
//! | attribute | type | holds |
//! |---|---|---|
//! | `pk` | S | the partition (hash key) |
//! | `sk` | S | the name in it (range key) |
//! | `r` | B | the revision, 16 bytes |
//! | `v` or `n` | B or N | the value: bytes, or a number |
//! | `x` | N | when it expires, in milliseconds; not there where it never does |
//! | `ttl` | N | the same in seconds, rounded up: the table's TTL attribute |

mod attributes;
mod condition;
mod dynamo;
mod failure;
mod patience;
mod plan;
mod probe;

pub use self::dynamo::DynamoStore;
#[cfg(feature = "secrets-manager")]
pub(crate) use self::failure::Failure;
pub(crate) use self::{failure::failure, patience::within, probe::ProbeError};
