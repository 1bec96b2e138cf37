//! This machine: a program that serves the extension, and an SQLite file.

use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use tempfile::TempDir;

use crate::place::{Place, Result, Secrets, Server};

/// How long a server may take to say where it listens.
const START: Duration = Duration::from_secs(30);

/// A fresh folder for the database, which goes with this value.
#[derive(Debug)]
pub struct Local {
    program: PathBuf,
    folder: TempDir,
}

impl Local {
    /// For servers that this program runs.
    ///
    /// # Errors
    ///
    /// When there can be no folder.
    pub fn new(program: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            program: program.into(),
            folder: tempfile::tempdir()?,
        })
    }
}

impl Place for Local {
    /// Starts a server on a free port.
    async fn serve(&self, secrets: &Secrets) -> Result<Server> {
        let mut child = Command::new(&self.program)
            .env("PUP_LISTEN", "127.0.0.1:0")
            .env("PUP_DATABASE", self.folder.path().join("extension.sqlite"))
            .env_remove("PUP_SIGNING_SECRET_PREVIOUS")
            .env_remove("PUP_SIGNING_SECRET_PREVIOUS_UNTIL")
            .env_remove("PUP_PUBLIC_URL")
            .envs(secrets.vars())
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let running = Running(child);
        // Read on a thread of its own, so that a server that says nothing can be given up.
        let (said, heard) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout)
                .lines()
                .map_while(std::result::Result::ok)
            {
                if let Some((_, url)) = line.split_once(" is listening on ") {
                    // Nobody hears it once the server was given up.
                    said.send(url.trim().to_owned()).ok();
                }
            }
        });
        let url = heard
            .recv_timeout(START)
            .map_err(|_| "the server did not say where it listens")?;
        Ok(Server::new(url, running))
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
