//! The whole program: an extension, served here until it is stopped.

use std::{io, path::Path, process::ExitCode};

use pup_extension::{
    extension::Extension,
    runtime::Runtime as _,
    service::{Service, ServiceError},
};
use tokio_util::sync::CancellationToken;

use crate::{
    LocalBackground, LocalRuntime, OpenError, Runner, Server, Settings, SettingsError, SqliteStore,
    log,
    settings::{LISTEN, Secrets, config},
};

/// Serves an extension on this machine until it is interrupted: the body of a `main`.
///
/// Settings come from the environment:
///
/// | variable | meaning | by default |
/// |---|---|---|
/// | `PUP_LISTEN` | the address | `127.0.0.1:8787` |
/// | `PUP_DATABASE` | the SQLite file | `.pup/<id>.sqlite` |
/// | `PUP_SIGNING_SECRET` | the secret that requests are signed with | on loopback, one made for development |
/// | `PUP_SIGNING_SECRET_PREVIOUS`, `…_PREVIOUS_UNTIL` | the old secret during a rotation, and its end in Unix seconds | none |
/// | `PUP_PUBLIC_URL` | the base of the manifest's URLs | the address |
/// | `RUST_LOG` | what is logged | `info` |
///
/// It prints where it listens, logs one line a request, and ends with status 0 when it is stopped, 1 when it
/// can't start.
#[must_use]
pub fn run(extension: Extension) -> ExitCode {
    log::init();
    match block_on(serve(extension)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the last words of a program that can't start"
)]
fn report(error: &RunError) {
    eprintln!("error: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        eprintln!("  because: {cause}");
        source = cause.source();
    }
}

fn block_on(future: impl Future<Output = Result<(), RunError>>) -> Result<(), RunError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(RunError::Start)?
        .block_on(future)
}

async fn serve(extension: Extension) -> Result<(), RunError> {
    let runtime = LocalRuntime::new();
    let var = |name: &str| runtime.var(name);
    let manifest = extension.manifest();
    let (id, name) = (
        manifest.id().as_str().to_owned(),
        manifest.name().to_owned(),
    );
    let first_tool = manifest
        .tools()
        .iter()
        .find(|tool| tool.is_read_only())
        .map(|tool| tool.name().to_string());

    let settings = Settings::from_vars(var, &id)?;
    let folder = settings.database.parent().unwrap_or(Path::new("."));
    let secrets = Secrets::from_vars(var, settings.listen, folder)?;
    let store = SqliteStore::open(&settings.database)?;
    let server = Server::bind(settings.listen)
        .await
        .map_err(|source| RunError::Listen {
            address: settings.listen.to_string(),
            source,
        })?;
    let config = config(var, secrets.keyring.clone(), server.address())?;
    let public_url = config.public_url().unwrap_or_default().to_owned();
    let (background, runner) = LocalBackground::new();
    let service = Service::with_background(
        extension,
        config,
        store.clone(),
        runtime.clone(),
        background,
    )?;

    greet(
        &name,
        &public_url,
        &server,
        &settings,
        &secrets,
        first_tool.as_deref(),
    );
    serve_with_tasks(server, runner.scan(store), service, interrupted()).await
}

/// Answers requests and runs tasks, until `shutdown` completes or the server fails.
async fn serve_with_tasks(
    server: Server,
    runner: Runner,
    service: Service,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), RunError> {
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(service.clone(), stop.clone().cancelled_owned()));
    let told = stop.clone();
    let served = server
        .serve(service, async move {
            shutdown.await;
            told.cancel();
        })
        .await;
    // It may have ended by itself.
    stop.cancel();
    if let Err(error) = running.await {
        tracing::error!(panicked = error.is_panic(), "tasks are no longer run");
    }
    served.map_err(RunError::Serve)
}

/// Says where everything is, and what to do next.
#[expect(
    clippy::print_stdout,
    reason = "this is what the program says to whoever started it"
)]
fn greet(
    name: &str,
    public_url: &str,
    server: &Server,
    settings: &Settings,
    secrets: &Secrets,
    first_tool: Option<&str>,
) {
    println!("{name} is listening on http://{}\n", server.address());
    println!("  manifest  {public_url}/manifest.json");
    println!("  database  {}", settings.database.display());
    let try_it = match &secrets.development {
        Some((secret, path)) => {
            println!(
                "  secret    {} (for development, kept in {})",
                *secret.reveal(),
                path.display()
            );
            format!("--secret-file {}", path.display())
        }
        None => {
            println!("  secret    the one in PUP_SIGNING_SECRET");
            String::from("--secret-file FILE")
        }
    };
    let call = first_tool.map_or_else(|| String::from("tools"), |tool| format!("call {tool}"));
    println!("\nTry it, from another terminal:\n");
    println!(
        "  cargo run -p pup-extension-cli -- --url http://{} {try_it} {call}\n",
        server.address()
    );
}

/// Completes at Ctrl-C, or when the process is told to terminate.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                }
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the process can't be told to terminate; Ctrl-C works");
            }
        }
    }
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "the process can't be interrupted");
        std::future::pending::<()>().await;
    }
}

/// Why the server could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("the settings can't be used")]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error(
        "can't listen at {address}: set {LISTEN} to another address, or stop what listens there"
    )]
    Listen { address: String, source: io::Error },
    #[error("the extension can't be served")]
    Service(#[from] ServiceError),
    #[error("the process can't start its threads")]
    Start(#[source] io::Error),
    #[error("the server stopped")]
    Serve(#[source] io::Error),
}
