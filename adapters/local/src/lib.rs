//! Runs a [pup extension](pup_extension) on this machine, with an embedded store and no cloud.
//!
//! [`run()`] is a whole program: it takes its settings from the environment, keeps its data in an SQLite file, and
//! serves until it is told to stop. Its parts, [`Server`], [`SqliteStore`], [`LocalRuntime`] and [`LocalBackground`],
//! can be put together in another way.

mod background;
mod log;
mod outbound;
mod run;
mod runtime;
mod server;
mod settings;
mod store;

pub use self::{
    background::{LocalBackground, Runner},
    run::run,
    runtime::LocalRuntime,
    server::Server,
    settings::{DATABASE, DevelopmentError, LISTEN, Settings, SettingsError},
    store::{OpenError, OpenErrorKind, SqliteOptions, SqliteStore},
};
