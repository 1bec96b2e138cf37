//! The project's own chores. `cargo xtask test` runs everything that is tested.

mod command;
mod project;
mod serve;
mod test;
mod tools;
mod wasm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::project::Project;
use crate::tools::Tool;

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    about = "The project's own chores",
    disable_version_flag = true
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run everything that is tested, stage by stage, and say at the end what ran.
    Test(test::Options),
    /// Serve the example extension until it is interrupted.
    Serve(serve::Options),
    /// Install the pinned tools that the tests use, and print where they are.
    Tools,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.chore) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> anyhow::Result<bool> {
    let project = Project::find()?;
    match chore {
        Chore::Test(options) => test::run(&project, options),
        Chore::Serve(options) => serve::run(&project, options),
        Chore::Tools => {
            for tool in Tool::ALL {
                println!("{}", tool.ensure(&project)?.display());
            }
            Ok(true)
        }
    }
}
