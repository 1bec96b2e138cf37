//! The server that the tour visits: a process of its own, which can be killed.

use std::{
    error::Error,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use pup_extension_cli::{Client, Secret};
use tempfile::TempDir;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How long a server may take to say where it listens.
const START: Duration = Duration::from_secs(30);

/// A fresh folder for the database, which goes when the tour ends.
#[derive(Debug)]
pub(crate) struct Place {
    program: PathBuf,
    folder: TempDir,
}

/// The secrets of a server: the current one, and during a rotation the previous one with its end.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    pub(crate) current: Secret,
    pub(crate) previous: Option<(Secret, u64)>,
}

impl Place {
    /// For servers that this program runs.
    pub(crate) fn new(program: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self {
            program: program.into(),
            folder: tempfile::tempdir()?,
        })
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("snack_club.sqlite")
    }

    /// Starts a server on a free port, on this place's database.
    pub(crate) fn serve(&self, secrets: &Secrets) -> Result<Server> {
        let mut command = Command::new(&self.program);
        command
            .env("PUP_LISTEN", "127.0.0.1:0")
            .env("PUP_DATABASE", self.database())
            .env("PUP_SIGNING_SECRET", &*secrets.current.reveal())
            .env_remove("PUP_SIGNING_SECRET_PREVIOUS")
            .env_remove("PUP_SIGNING_SECRET_PREVIOUS_UNTIL")
            .env_remove("PUP_PUBLIC_URL")
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some((previous, until)) = &secrets.previous {
            command
                .env("PUP_SIGNING_SECRET_PREVIOUS", &*previous.reveal())
                .env("PUP_SIGNING_SECRET_PREVIOUS_UNTIL", until.to_string());
        }
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut server = Server {
            child,
            url: String::new(),
        };
        // Read on a thread of its own, so that a server that says nothing can be given up.
        let (said, heard) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout)
                .lines()
                .map_while(std::result::Result::ok)
            {
                if let Some((_, url)) = line.split_once(" is listening on ") {
                    // Nobody hears it once the tour has given up.
                    said.send(url.trim().to_owned()).ok();
                }
            }
        });
        server.url = heard
            .recv_timeout(START)
            .map_err(|_| "the server did not say where it listens")?;
        Ok(server)
    }
}

/// A running server. It is killed, not stopped, when this value goes.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    url: String,
}

impl Server {
    pub(crate) fn client(&self, secret: &Secret) -> Result<Client> {
        Ok(Client::new(self.url.as_str(), secret.clone())?)
    }

    /// Ends the process at once (`SIGKILL`), wherever it is.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, or been killed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
