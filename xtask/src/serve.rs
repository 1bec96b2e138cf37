//! `cargo xtask serve`: the example extension on this machine, with a store of its own that goes with it.

use std::env;
use std::process::ExitStatus;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::project::Project;

/// The package that is served.
const EXAMPLE: &str = "snack-club";
/// The variables that the local server goes by.
const LISTEN: &str = "PUP_LISTEN";
const DATABASE: &str = "PUP_DATABASE";

/// What to serve the example by.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What it runs on.
    #[arg(long, value_enum, default_value_t = Runtime::Local)]
    runtime: Runtime,
    /// The port on 127.0.0.1; 0 for a free one.
    #[arg(long, default_value_t = 8787)]
    port: u16,
}

/// A runtime that the example can be served on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Runtime {
    /// This machine: an HTTP server and SQLite.
    Local,
}

/// Serves until the server ends, or a signal ends it; whether it ended well.
///
/// The variables that the server reads are passed on. Where `PUP_DATABASE` names no store, it gets one in a temporary
/// folder, which is removed afterwards.
///
/// # Errors
///
/// When the server can't be started.
pub(crate) fn run(project: &Project, options: &Options) -> anyhow::Result<bool> {
    match options.runtime {
        Runtime::Local => local(project, options.port),
    }
}

fn local(project: &Project, port: u16) -> anyhow::Result<bool> {
    let mut server = duct::cmd!(
        "cargo",
        "run",
        "--quiet",
        "--package",
        EXAMPLE,
        "--manifest-path",
        project.root.join("Cargo.toml")
    )
    .env(LISTEN, format!("127.0.0.1:{port}"))
    .stdin_null()
    .unchecked();
    let mut folder = None;
    if env::var_os(DATABASE).is_none() {
        let fresh = tempfile::tempdir().context("can't make a folder for the store")?;
        server = server.env(DATABASE, fresh.path().join("store.sqlite"));
        folder = Some(fresh);
    }
    let status = supervise(&server)?;
    if let Some(folder) = folder {
        folder.close().context("can't remove the store's folder")?;
    }
    Ok(status.success())
}

/// Runs a program to its end, and hands it each signal that is meant to end us.
#[cfg(unix)]
fn supervise(program: &duct::Expression) -> anyhow::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;
    use std::thread;

    use duct::unix::HandleExt;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let program = program
        // In a group of its own, a Ctrl-C of the terminal's reaches it once, by way of us.
        .before_spawn(|command| {
            command.process_group(0);
            Ok(())
        })
        .start()
        .context("cargo can't be started")?;
    let no_more = signals.handle();
    thread::scope(|scope| {
        scope.spawn(|| {
            for signal in &mut signals {
                if let Err(error) = program.send_signal(signal) {
                    eprintln!("the server can't be told to stop: {error}");
                }
            }
        });
        let status = program.wait().map(|output| output.status);
        no_more.close();
        Ok(status?)
    })
}

#[cfg(not(unix))]
fn supervise(program: &duct::Expression) -> anyhow::Result<ExitStatus> {
    Ok(program.run().context("cargo can't be started")?.status)
}
