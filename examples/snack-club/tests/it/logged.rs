//! A server whose log is read.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    io::{BufRead as _, BufReader, Lines},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use pup_extension_cli::{Client, Secret};
use serde_json::Value;

use crate::PROGRAM;

/// A server of its own process, on the database of a folder. It is killed when this value goes.
pub(crate) struct Logged {
    server: Child,
    pub(crate) url: String,
    lines: mpsc::Receiver<String>,
    log: String,
    /// The server would stop at a pipe that nobody holds.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl Logged {
    /// Starts it; `level` is how much it logs.
    pub(crate) fn start(folder: &Path, secret: &Secret, level: &str) -> Self {
        let mut server = Command::new(PROGRAM)
            .current_dir(folder)
            .env("PUP_LISTEN", "127.0.0.1:0")
            .env("PUP_SIGNING_SECRET", &*secret.reveal())
            .env_remove("PUP_DATABASE")
            .env_remove("PUP_PUBLIC_URL")
            .env("RUST_LOG", level)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = stdout
            .find_map(|line| {
                line.unwrap()
                    .split_once(" is listening on ")
                    .map(|(_, url)| url.trim().to_owned())
            })
            .unwrap();
        let stderr = BufReader::new(server.stderr.take().unwrap());
        let (read, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines() {
                // Nobody reads it once the test has failed.
                read.send(line.unwrap()).ok();
            }
        });
        Self {
            server,
            url,
            lines,
            log: String::new(),
            _stdout: stdout,
        }
    }

    pub(crate) fn client(&self, secret: &Secret) -> Client {
        Client::new(self.url.as_str(), secret.clone()).unwrap()
    }

    /// Reads on until a line is of this kind; whether one was, within this time.
    pub(crate) fn waits_for(&mut self, patience: Duration, is: impl Fn(&Value) -> bool) -> bool {
        let end = Instant::now() + patience;
        while let Ok(line) = self
            .lines
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.log.push_str(&line);
            self.log.push('\n');
            if is(&serde_json::from_str(&line).unwrap()) {
                return true;
            }
        }
        false
    }

    /// Kills the server; what it logged.
    pub(crate) fn end(mut self) -> String {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        // The pipe is closed, so this comes to an end.
        while let Ok(line) = self.lines.recv() {
            self.log.push_str(&line);
            self.log.push('\n');
        }
        std::mem::take(&mut self.log)
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        // It may have been killed.
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// The lines of a log.
pub(crate) fn lines(log: &str) -> impl Iterator<Item = Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap())
}
