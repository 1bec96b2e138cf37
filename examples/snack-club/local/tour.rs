//! The tour: a server of its own, and pup's side of every promise, over real HTTP.

use std::process::ExitCode;

use pup_extension_tests::{Local, tour};

/// Takes every step; success only if all of them held.
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
    let toured = std::env::current_exe()
        .map_err(Into::into)
        // A server is this program again.
        .and_then(Local::new)
        .and_then(|place| runtime.block_on(tour::take(&place)));
    toured.unwrap_or_else(|error| {
        eprintln!("error: the tour stopped: {error}");
        ExitCode::FAILURE
    })
}
