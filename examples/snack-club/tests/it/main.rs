//! The example as its users have it: in-process with a fake pup, and as a server of its own.

mod kill;
mod log;
mod logged;
mod program;
mod pup_ext;
mod scenarios;
mod tasks;

const PROGRAM: &str = env!("CARGO_BIN_EXE_snack-club");
