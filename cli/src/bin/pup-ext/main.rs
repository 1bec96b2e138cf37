//! `pup-ext`: acts as pup against an extension, on the command line.

mod args;
mod commands;
mod failure;
mod hints;
mod input;
mod render;
mod report;
mod style;
mod task;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let json = args.global.json;
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failure::Failure::usage(format!("the system gave no event loop: {error}")))
        .and_then(|runtime| runtime.block_on(commands::run(args)));
    report::print(outcome, json)
}
