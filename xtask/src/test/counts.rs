//! What a run of tests prints, counted.

use std::fmt;

/// How many lines of failures are shown at most.
const SHOWN: usize = 200;

/// The sum of the closing lines of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
}

impl Counts {
    /// Adds up every `test result:` line, one for each test binary and each package's doc tests.
    pub(crate) fn read(output: &str) -> Self {
        let mut counts = Self::default();
        for line in output
            .lines()
            .filter_map(|line| line.trim().strip_prefix("test result: "))
        {
            let number = |of: &str| {
                line.split([';', '.'])
                    .filter_map(|part| part.trim().split_once(' '))
                    .find_map(|(number, what)| (what == of).then(|| number.parse().ok()).flatten())
                    .unwrap_or(0)
            };
            counts.passed += number("passed");
            counts.failed += number("failed");
            counts.ignored += number("ignored");
        }
        counts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tests passed", self.passed)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.ignored > 0 {
            write!(f, ", {} ignored", self.ignored)?;
        }
        Ok(())
    }
}

/// The lines in which test binaries say what failed and how, from `failures:` to `test result:`.
pub(crate) fn failures(output: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in output.lines() {
        inside |= line == "failures:";
        if inside {
            lines.push(String::from(line));
        }
        inside &= !line.starts_with("test result: ");
    }
    let left_out = lines.len().saturating_sub(SHOWN);
    if left_out > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("… and {left_out} more lines"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
     Running unittests src/lib.rs (target/debug/deps/one-1)

running 2 tests
test a ... ok
test b ... FAILED

failures:

---- b stdout ----
thread 'b' panicked at src/lib.rs:1:1:
test result of another kind: 9 passed

failures:
    b

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s

   Doc-tests one

running 4 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s; merged doctests compilation took 0.20s
error: 1 target failed:
";

    #[test]
    fn the_closing_lines_of_all_binaries_add_up() {
        assert_eq!(
            Counts::read(OUTPUT),
            Counts {
                passed: 4,
                failed: 1,
                ignored: 1
            }
        );
        assert_eq!(
            Counts::read(OUTPUT).to_string(),
            "4 tests passed, 1 failed, 1 ignored"
        );
        assert_eq!(Counts::read("error: could not compile"), Counts::default());
    }

    #[test]
    fn the_closing_line_of_a_run_on_wasm_is_understood() {
        let line =
            "test result: FAILED. 1 passed; 3 failed; 1 ignored; 0 filtered out; finished in 0.21s";
        assert_eq!(
            Counts::read(line),
            Counts {
                passed: 1,
                failed: 3,
                ignored: 1
            }
        );
    }

    #[test]
    fn what_failed_is_shown_and_nothing_else() {
        let shown = failures(OUTPUT);
        assert_eq!(shown.first().map(String::as_str), Some("failures:"));
        assert!(shown.iter().any(|line| line.contains("panicked at")));
        assert!(
            !shown.iter().any(|line| line.contains("Doc-tests")),
            "{shown:?}"
        );
        assert_eq!(
            failures(&format!("failures:\n{}", "x\n".repeat(500))).len(),
            SHOWN + 1
        );
    }
}
