//! The tour: a server of its own, and pup's side of every promise, over real HTTP.

mod report;
mod server;
mod steps;
mod tasks;

use std::process::ExitCode;

use report::Report;
use server::Place;

/// Runs every step; success only if all of them held.
#[expect(clippy::print_stderr, reason = "a tour that can't begin says why")]
pub(crate) fn run() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the tour can't start its threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut report = Report::default();
    let begun = std::env::current_exe()
        .map_err(Into::into)
        // A server is this program again.
        .and_then(Place::new)
        .and_then(|place| runtime.block_on(steps::all(&place, &mut report)));
    if let Err(error) = begun {
        eprintln!("error: the tour stopped: {error}");
        return ExitCode::FAILURE;
    }
    report.close()
}
