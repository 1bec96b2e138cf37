//! The tour: pup's side of every promise, over real HTTP, against the example wherever it runs.

mod report;
mod steps;
mod tasks;

use std::process::ExitCode;

use self::report::Report;
use crate::place::{Place, Result};

/// Takes every step, and prints what it saw; success only if all of them held.
///
/// # Errors
///
/// When the place stops answering at all.
pub async fn take(place: &impl Place) -> Result<ExitCode> {
    let mut report = Report::default();
    steps::all(place, &mut report).await?;
    Ok(report.close())
}
