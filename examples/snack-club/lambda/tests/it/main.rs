//! The function's real binary, on what stands in for Lambda and DynamoDB.

mod deploy;
mod events;
mod once;
mod start;
mod tasks;
mod tour;

const PROGRAM: &str = env!("CARGO_BIN_EXE_snack-club-lambda");
