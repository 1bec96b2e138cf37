//! `cargo xtask test`: named stages, run one after the other whatever became of the one before.
//!
//! A stage is made of checks and of test runs, and both are counted. A tool that is missing is a failed check. What
//! could not be checked, or was left out, is listed at the end by name and never counted as passed.

mod counts;
mod links;
mod names;
mod report;
mod stage;
mod stages;

use std::time::Instant;

use clap::Args;

use crate::project::Project;
use crate::test::report::{Report, summary};
use crate::test::stage::Stage;
use crate::test::stages::Name;

/// Which stages to run.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Run this stage only (repeatable); by default all run.
    #[arg(long, value_name = "STAGE")]
    only: Vec<Name>,
}

/// Runs the stages and prints what became of each; whether none failed.
///
/// # Errors
///
/// When a log can't be written.
pub(crate) fn run(project: &Project, options: &Options) -> anyhow::Result<bool> {
    let mut reports = Vec::new();
    for name in Name::ALL {
        reports.push(if options.only.is_empty() || options.only.contains(&name) {
            run_stage(project, name)?
        } else {
            Report::new(name.text())
        });
    }
    print!("{}", summary(&reports));
    Ok(!reports.iter().any(Report::has_failed))
}

fn run_stage(project: &Project, name: Name) -> anyhow::Result<Report> {
    println!("== {}: {}", name.text(), name.about());
    let started = Instant::now();
    let mut stage = Stage::start(project, name.text())?;
    if let Err(error) = name.run(&mut stage) {
        stage.verify(name.text(), &[format!("{error:#}")]);
    }
    Ok(stage.finish(started.elapsed()))
}
