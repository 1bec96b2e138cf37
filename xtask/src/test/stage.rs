//! A stage while it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::command::Command;
use crate::project::Project;
use crate::test::counts::{Counts, failures};
use crate::test::report::Report;

/// How many lines of a failed command are shown; the log has all of them.
const TAIL: usize = 60;

/// Runs checks, prints what became of each, and counts.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) project: &'a Project,
    log: PathBuf,
    report: Report,
}

impl<'a> Stage<'a> {
    pub(super) fn start(project: &'a Project, name: &'static str) -> anyhow::Result<Self> {
        let log = project.scratch("logs")?.join(format!("{name}.log"));
        fs::write(&log, "").with_context(|| format!("can't write {}", log.display()))?;
        Ok(Self {
            project,
            log,
            report: Report::new(name),
        })
    }

    pub(super) fn finish(self, time: Duration) -> Report {
        Report {
            time: Some(time),
            ..self.report
        }
    }

    /// One check: a command that must succeed. Returns what it printed.
    ///
    /// # Errors
    ///
    /// When it can't be started.
    pub(crate) fn check(&mut self, name: &str, command: &Command) -> anyhow::Result<String> {
        let finished = command.log_to(&self.log)?;
        if finished.success {
            self.passed(name);
        } else {
            self.failed(name, &tail(&finished.output), command);
        }
        Ok(finished.output)
    }

    /// A run of tests, each of which counts; `cargo test`, or anything that closes like it.
    ///
    /// # Errors
    ///
    /// When it can't be started.
    pub(crate) fn tests(&mut self, name: &str, command: &Command) -> anyhow::Result<Counts> {
        let finished = command.log_to(&self.log)?;
        let counts = Counts::read(&finished.output);
        self.report.passed += counts.passed;
        self.report.failed += counts.failed;
        self.report.ignored += counts.ignored;
        if finished.success && counts.passed > 0 && counts.failed == 0 {
            println!("   ok    {name}: {counts}");
            return Ok(counts);
        }
        if counts.failed == 0 {
            // It did not compile, ended early, or ran no test: that is one failure.
            self.report.failed += 1;
        }
        let shown = match failures(&finished.output) {
            shown if shown.is_empty() => tail(&finished.output),
            shown => shown,
        };
        self.print_failure(&format!("{name}: {counts}"), &shown, Some(command));
        Ok(counts)
    }

    /// One check of our own, which passed if there is nothing wrong.
    pub(crate) fn verify(&mut self, name: &str, faults: &[String]) {
        if faults.is_empty() {
            self.passed(name);
        } else {
            self.report.failed += 1;
            self.print_failure(name, faults, None);
        }
    }

    /// A check that can't be made here. It is said again at the very end, and counts neither way.
    pub(crate) fn not_checked(&mut self, name: &str, reason: &str) {
        let note = format!("{name}: NOT CHECKED ({reason})");
        println!("   ----  {note}");
        self.report.not_checked.push(note);
    }

    /// Where the output of this stage's commands is kept.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    fn passed(&mut self, name: &str) {
        self.report.passed += 1;
        println!("   ok    {name}");
    }

    fn failed(&mut self, name: &str, shown: &[String], command: &Command) {
        self.report.failed += 1;
        self.print_failure(name, shown, Some(command));
    }

    fn print_failure(&self, name: &str, shown: &[String], command: Option<&Command>) {
        println!("   FAIL  {name}");
        for line in shown {
            println!("         {line}");
        }
        if let Some(command) = command {
            println!(
                "         (`{command}`; all of its output is in {})",
                self.log.display()
            );
        }
    }
}

fn tail(output: &str) -> Vec<String> {
    let lines: Vec<_> = output.lines().collect();
    lines
        .iter()
        .skip(lines.len().saturating_sub(TAIL))
        .map(|line| String::from(*line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_in_their_order() {
        let output: String = (0..100).map(|n| format!("{n}\n")).collect();
        let tail = tail(&output);
        assert_eq!(tail.len(), TAIL);
        assert_eq!(
            (
                tail.first().unwrap().as_str(),
                tail.last().unwrap().as_str()
            ),
            ("40", "99")
        );
    }
}
