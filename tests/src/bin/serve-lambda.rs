//! Serves a Lambda function's binary on this machine, until it is told to stop: several instances of it, the background
//! function beside them, and DynamoDB's emulator.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use pup_extension_cli::Secret;
use pup_extension_tests::{
    Result, Secrets,
    dynamodb::DynamoDb,
    lambda::{Options, Platform},
};

const DEVELOPMENT_SECRET: &str = ".pup/development-secret";

/// Serves a Lambda function's binary on this machine.
///
/// The secrets are those of `PUP_SIGNING_SECRET`, `PUP_SIGNING_SECRET_PREVIOUS` and
/// `PUP_SIGNING_SECRET_PREVIOUS_UNTIL`; without the first, one is made for development.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
struct Cli {
    /// The function's binary
    program: PathBuf,
    /// The port on 127.0.0.1; 0 for a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The file that the table is kept in; in memory without one
    #[arg(long)]
    database: Option<PathBuf>,
    /// How many instances answer at once
    #[arg(long, default_value_t = Options::default().instances)]
    instances: usize,
    /// What the functions log
    #[arg(long, default_value = "INFO")]
    log_level: String,
}

#[expect(clippy::print_stderr, reason = "a program that can't start says why")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    let served = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(serve(&cli)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "it says where it listens")]
async fn serve(cli: &Cli) -> Result<()> {
    let (secrets, made) = secrets()?;
    let database = DynamoDb::start(cli.database.as_deref()).await?;
    let options = Options {
        port: cli.port,
        instances: cli.instances,
        log_level: cli.log_level.clone(),
        ..Options::default()
    };
    let stop = stopped()?;
    let platform = Platform::start(&cli.program, database.url(), &secrets, &options).await?;
    let url = platform.url();
    println!("The function is listening on {url}\n");
    println!("  manifest  {url}/manifest.json");
    match &cli.database {
        Some(file) => println!("  database  {}", file.display()),
        None => println!("  database  in memory"),
    }
    if made {
        println!("  secret    the one in {DEVELOPMENT_SECRET}");
    } else {
        println!("  secret    the one in PUP_SIGNING_SECRET");
    }
    println!("\nTry it, from another terminal:\n");
    let secret = if made {
        format!("--secret-file {DEVELOPMENT_SECRET}")
    } else {
        String::from("--secret-file FILE")
    };
    println!("  cargo run -p pup-extension-cli -- --url {url} {secret} tools\n");
    io::stdout().flush()?;
    stop.await;
    drop(platform);
    Ok(())
}

/// Completes at Ctrl-C, or when the process is told to terminate.
fn stopped() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The secrets, and whether one was made for development.
fn secrets() -> Result<(Secrets, bool)> {
    let Ok(current) = env::var("PUP_SIGNING_SECRET") else {
        return Ok((Secrets::new(development_secret()?), true));
    };
    let mut secrets = Secrets::new(current.parse()?);
    if let Ok(previous) = env::var("PUP_SIGNING_SECRET_PREVIOUS") {
        let until = env::var("PUP_SIGNING_SECRET_PREVIOUS_UNTIL")
            .map_err(|_| "PUP_SIGNING_SECRET_PREVIOUS_UNTIL is not set")?;
        secrets.previous = Some((previous.parse()?, until.trim().parse()?));
    }
    Ok((secrets, false))
}

/// The one that the local server keeps, too.
fn development_secret() -> Result<Secret> {
    let path = Path::new(DEVELOPMENT_SECRET);
    if let Ok(text) = fs::read_to_string(path) {
        return Ok(text.trim().parse()?);
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    let secret = Secret::from_bytes(&bytes)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{}", *secret.reveal())?;
        file.persist(path)?;
    }
    Ok(secret)
}
