//! The store port on an embedded SQLite database.
//!
//! - **Strict.** A commit is one transaction; its conditions are read inside of it, under the write lock.
//! - **Durable.** The database is in WAL mode with `synchronous = FULL`: the log is synced to the disk before
//!   a commit is acknowledged, so that it survives `kill -9` and a power loss alike. With `NORMAL` it would
//!   survive the first but not always the second: the last acknowledged commits could be gone, a replayed
//!   request would be accepted again and an effect be applied twice.
//! - **Affordable.** One thread writes. Commits that wait while it syncs go into the next transaction
//!   together, each with an outcome of its own; none is acknowledged before that transaction is durable.
//! - **Shared.** Reads don't wait for the writer. Several processes can use one file; they take turns in
//!   writing, and a turn that does not come in time is an error that says that nothing was applied.
//!
//! Expired items are absent at once and removed later, some with each transaction. Nothing is kept beyond its
//! expiry: where two clocks must agree, core sets the expiry late enough for both.

mod apply;
mod due;
mod error;
mod file;
mod readers;
mod rows;
mod schema;
mod sqlite;
mod writer;

pub use self::{
    error::{OpenError, OpenErrorKind},
    sqlite::{SqliteOptions, SqliteStore},
};
