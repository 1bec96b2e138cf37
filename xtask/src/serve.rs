//! `cargo xtask serve`: the example extension on this machine, with a store of its own that goes with it.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitStatus;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::command::Command;
use crate::project::Project;
use crate::tools::Tool;

/// The package that is served.
const EXAMPLE: &str = "snack-club";
/// The same as a Lambda function: its package, and its binary.
const FUNCTION: &str = "snack-club-lambda";
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
    /// The Lambda function's binary, with what stands in for Lambda and DynamoDB.
    Lambda,
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
        Runtime::Lambda => lambda(project, options.port),
    }
}

fn local(project: &Project, port: u16) -> anyhow::Result<bool> {
    let server = cargo_run(project, &["--package", EXAMPLE])
        .env(LISTEN, format!("127.0.0.1:{port}"))
        .unchecked();
    with_store(|store| {
        let server = match store {
            Some(store) => server.env(DATABASE, store),
            None => server,
        };
        supervise(&server)
    })
}

fn lambda(project: &Project, port: u16) -> anyhow::Result<bool> {
    let emulator = Tool::Dynoxide.ensure(project)?;
    Command::cargo()
        .args(["build", "--quiet", "--package", FUNCTION])
        .dir(&project.root)
        .run()?;
    let function = project.target.join("debug").join(FUNCTION);
    let port = port.to_string();
    with_store(|store| {
        let store = store.or_else(|| env::var_os(DATABASE).map(PathBuf::from));
        let store = store.unwrap_or_default();
        let mut arguments: Vec<&OsStr> = [
            "--package",
            "pup-extension-tests",
            "--features",
            "lambda",
            "--bin",
            "serve-lambda",
            "--",
        ]
        .map(OsStr::new)
        .to_vec();
        let port = [OsStr::new("--port"), OsStr::new(&port)];
        arguments.push(function.as_os_str());
        arguments.extend(port);
        arguments.extend([OsStr::new("--database"), store.as_os_str()]);
        let server = cargo_run(project, &arguments)
            .env(Tool::DYNOXIDE_VARIABLE, &emulator)
            .unchecked();
        supervise(&server)
    })
}

fn cargo_run(project: &Project, arguments: &[impl AsRef<OsStr>]) -> duct::Expression {
    let manifest = project.root.join("Cargo.toml");
    let arguments = [
        OsStr::new("run"),
        OsStr::new("--quiet"),
        OsStr::new("--manifest-path"),
        manifest.as_os_str(),
    ]
    .into_iter()
    .chain(arguments.iter().map(AsRef::as_ref));
    duct::cmd("cargo", arguments).stdin_null()
}

/// Serves with a store of its own, which is removed afterwards, where `PUP_DATABASE` names none.
fn with_store(
    serve: impl FnOnce(Option<PathBuf>) -> anyhow::Result<ExitStatus>,
) -> anyhow::Result<bool> {
    if env::var_os(DATABASE).is_some() {
        return Ok(serve(None)?.success());
    }
    let folder = tempfile::tempdir().context("can't make a folder for the store")?;
    let status = serve(Some(folder.path().join("store.sqlite")))?;
    folder.close().context("can't remove the store's folder")?;
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
