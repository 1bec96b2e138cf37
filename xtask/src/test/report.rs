//! What became of the stages, and the summary of it.

use std::time::Duration;

/// What became of one stage.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
    /// What could not be checked, and why.
    pub(crate) not_checked: Vec<String>,
    /// How long it took; `None` when it did not run.
    pub(crate) time: Option<Duration>,
}

impl Report {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// A stage that ran and checked nothing has failed too.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0 || (self.time.is_some() && self.passed == 0)
    }
}

/// A table with a line for each stage, what could not be checked, and the closing line that sums up all checks and
/// tests.
pub(crate) fn summary(reports: &[Report]) -> String {
    let mut text = format!(
        "\n{:<8} {:<8} {:>8} {:>7} {:>7} {:>8}\n",
        "stage", "result", "time", "passed", "failed", "ignored"
    );
    for report in reports {
        let result = match report.time {
            None => "NOT RUN",
            Some(_) if report.has_failed() => "FAILED",
            Some(_) => "ok",
        };
        text.push_str(&match report.time {
            None => format!("{:<8} {result}  (--only)\n", report.name),
            Some(time) => format!(
                "{:<8} {result:<8} {:>6.1} s {:>7} {:>7} {:>8}\n",
                report.name,
                time.as_secs_f32(),
                report.passed,
                report.failed,
                report.ignored
            ),
        });
    }
    for note in reports.iter().flat_map(|report| &report.not_checked) {
        text.push_str(&format!("\n{note}\n"));
    }
    let passed: usize = reports.iter().map(|report| report.passed).sum();
    // A stage that checked nothing is one failure of its own.
    let failed: usize = reports
        .iter()
        .map(|report| report.failed.max(report.has_failed().into()))
        .sum();
    text + &format!("\n{passed} passed, {failed} failed\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(name: &'static str, passed: usize, failed: usize) -> Report {
        Report {
            passed,
            failed,
            time: Some(Duration::from_millis(1_250)),
            ..Report::new(name)
        }
    }

    #[test]
    fn the_closing_line_stands_alone_and_adds_up() {
        let mut deny = ran("deny", 3, 0);
        deny.not_checked
            .push(String::from("advisories: NOT CHECKED (unreachable)"));
        let reports = [
            ran("fmt", 1, 0),
            ran("unit", 40, 2),
            deny,
            Report::new("fuzz"),
        ];
        let text = summary(&reports);
        assert!(text.contains("unit     FAILED"), "{text}");
        assert!(text.contains("deny     ok          1.2 s"), "{text}");
        assert!(text.contains("fuzz     NOT RUN"), "{text}");
        assert!(
            text.ends_with("\nadvisories: NOT CHECKED (unreachable)\n\n44 passed, 2 failed\n"),
            "{text}"
        );
    }

    #[test]
    fn a_stage_that_checked_nothing_has_failed() {
        assert!(ran("unit", 0, 0).has_failed());
        assert!(!Report::new("fuzz").has_failed());
        assert!(summary(&[ran("unit", 0, 0)]).ends_with("\n0 passed, 1 failed\n"));
    }
}
