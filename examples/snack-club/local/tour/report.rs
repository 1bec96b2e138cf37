//! What the tour prints, and whether everything held.

use std::process::ExitCode;

/// What a step saw: what to print, or what did not hold.
pub(crate) type Seen = Result<String, String>;

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    held: usize,
    failed: usize,
}

#[expect(clippy::print_stdout, reason = "the tour is for reading")]
impl Report {
    /// A heading.
    pub(crate) fn part(&self, title: &str) {
        println!("\n{title}");
    }

    /// One step and its result.
    pub(crate) fn step(&mut self, promise: &str, seen: Seen) {
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
    pub(crate) fn close(self) -> ExitCode {
        println!("\n{} of {} steps held", self.held, self.held + self.failed);
        if self.failed == 0 && self.held > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
