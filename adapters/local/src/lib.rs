//! Runs a [pup extension](pup_extension) on this machine, with an embedded store and no cloud.

mod store;

pub use self::store::{OpenError, OpenErrorKind, SqliteOptions, SqliteStore};
