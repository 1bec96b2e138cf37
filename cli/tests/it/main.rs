//! The client and the command against an HTTP server that answers by script and checks what it gets.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod client;
mod command;
mod readme;
mod rules;
mod server;
mod task_command;
mod tasks;
