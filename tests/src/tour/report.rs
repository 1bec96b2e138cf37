//! What the tour prints, and whether everything held.

use std::process::ExitCode;

/// What a step saw: what to print, or what did not hold.
pub(super) type Seen = Result<String, String>;

/// The steps so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    held: usize,
    failed: usize,
}

#[expect(clippy::print_stdout, reason = "the tour is for reading")]
impl Report {
    /// A heading.
    pub(super) fn part(&self, title: &str) {
        println!("\n{title}");
    }

    /// One step and its result.
    pub(super) fn step(&mut self, promise: &str, seen: Seen) {
        match seen {
            Ok(seen) => {
                self.held += 1;
                println!("  ok    {promise}\n          {seen}");
            }
            Err(why) => {
                self.failed += 1;
                println!("  FAIL  {promise}\n          {why}");
            }
        }
    }

    /// The last line, and the program's status.
    pub(super) fn close(self) -> ExitCode {
        println!("\n{} of {} steps held", self.held, self.held + self.failed);
        if self.failed == 0 && self.held > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
