//! Running other programs: no shell, no standard input, and both outputs kept in the order they came.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

/// A command that takes longer is ended: a test that hangs must not hang the run.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// A program and what it is started with.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
    limit: Duration,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Whether it ended by itself with status zero.
    pub(crate) success: bool,
    /// Both of its outputs, as they came.
    pub(crate) output: String,
}

impl Command {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().into(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
            limit: LIMIT,
        }
    }

    /// Cargo, of the toolchain that this program runs under.
    pub(crate) fn cargo() -> Self {
        Self::new("cargo")
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().into()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().into()));
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.into());
        self
    }

    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it, adding what it prints to the file `log`. Ending with another status than zero is no error here.
    ///
    /// # Errors
    ///
    /// When it can't be started, names no program, or its output can't be kept.
    pub(crate) fn log_to(&self, log: &Path) -> anyhow::Result<Finished> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(log)?;
        let start = file.seek(SeekFrom::End(0))?;
        let handle = self
            .expression()
            .stderr_to_stdout()
            .stdout_file(file.try_clone()?)
            .unchecked()
            .start()
            .map_err(|error| self.not_started(error))?;
        let status = handle.wait_timeout(self.limit)?.map(|output| output.status);
        if status.is_none() {
            handle.kill()?;
        }
        file.seek(SeekFrom::Start(start))?;
        let mut output = Vec::new();
        file.read_to_end(&mut output)?;
        let mut output = String::from_utf8_lossy(&output).into_owned();
        if status.is_none() {
            output.push_str(&format!(
                "\nended after {} s without a result\n",
                self.limit.as_secs()
            ));
        }
        Ok(Finished {
            success: status.is_some_and(|status| status.success()),
            output,
        })
    }

    /// Runs it and returns its standard output; what it prints as errors goes to ours.
    ///
    /// # Errors
    ///
    /// When it can't be started, or ends with another status than zero.
    pub(crate) fn read(&self) -> anyhow::Result<String> {
        let output = self
            .expression()
            .stdout_capture()
            .unchecked()
            .run()
            .map_err(|error| self.not_started(error))?;
        if !output.status.success() {
            bail!("`{self}` failed: {}", output.status);
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{self}` printed what is not UTF-8"))
    }

    /// Runs it with its outputs going to our standard error.
    ///
    /// # Errors
    ///
    /// When it can't be started, or ends with another status than zero.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let output = self
            .expression()
            .stdout_to_stderr()
            .unchecked()
            .run()
            .map_err(|error| self.not_started(error))?;
        if !output.status.success() {
            bail!("`{self}` failed: {}", output.status);
        }
        Ok(())
    }

    fn expression(&self) -> duct::Expression {
        let mut expression = duct::cmd(&self.program, &self.args).stdin_null();
        for (name, value) in &self.env {
            expression = expression.env(name, value);
        }
        if let Some(dir) = &self.dir {
            expression = expression.dir(dir);
        }
        expression
    }

    fn not_started(&self, error: io::Error) -> anyhow::Error {
        let program = self.program.to_string_lossy().into_owned();
        if error.kind() == io::ErrorKind::NotFound {
            anyhow::Error::new(error).context(format!("`{program}` is not installed"))
        } else {
            anyhow::Error::new(error).context(format!("`{program}` can't be started"))
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Path::new(&self.program)
            .file_name()
            .unwrap_or(&self.program);
        f.write_str(&name.to_string_lossy())?;
        for arg in &self.args {
            write!(f, " {}", arg.to_string_lossy())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_added_to_and_only_the_own_part_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let first = Command::cargo().arg("--version").log_to(&log).unwrap();
        assert!(
            first.success && first.output.starts_with("cargo "),
            "{first:?}"
        );
        let second = Command::cargo()
            .arg("no-such-subcommand")
            .log_to(&log)
            .unwrap();
        assert!(
            !second.success && second.output.contains("no-such-subcommand"),
            "{second:?}"
        );
        assert!(!second.output.contains(&first.output));
        assert_eq!(
            std::fs::read_to_string(&log).unwrap(),
            first.output + &second.output
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Command::new("no-such-program")
            .log_to(&dir.path().join("log"))
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`no-such-program` is not installed"),
            "{error:#}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_outlives_its_limit_is_ended_and_has_failed() {
        let dir = tempfile::tempdir().unwrap();
        let slow = Command::new("sleep")
            .arg("60")
            .limit(Duration::from_millis(50));
        let finished = slow.log_to(&dir.path().join("log")).unwrap();
        assert!(!finished.success);
        assert!(finished.output.contains("without a result"), "{finished:?}");
    }
}
