//! What a command brought, and how it is printed.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use pup_extension_cli::Answer;
use serde_json::{Map, Value, json};

use crate::{
    failure::{Failure, Kind},
    style::{BAD, NAME, NOTE, safe, styled},
};

/// What a command brought: for people, for machines, and the failure if it is one.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// For people; it may hold colours, and has passed through [`safe`] where it came from outside.
    text: String,
    /// For machines, beside `ok` and `error`.
    document: Map<String, Value>,
    /// For people, beside the text: which request it was.
    note: Option<String>,
    /// For people: a command to try next.
    next: Option<String>,
    failure: Option<Failure>,
}

impl Report {
    /// What was asked for.
    pub(crate) fn new(text: String, result: Value) -> Self {
        let mut document = Map::new();
        document.insert("result".to_owned(), result);
        Self {
            text,
            document,
            ..Self::default()
        }
    }

    /// A failure.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }

    /// What was asked for, if it is there, else a failure; and which answer it comes from.
    pub(crate) fn of(answer: &Answer, outcome: Result<Self, Failure>) -> Self {
        let mut report = outcome.unwrap_or_else(Self::failed);
        let mut note = format!("HTTP {}", answer.status().as_u16());
        report
            .document
            .insert("status".to_owned(), json!(answer.status().as_u16()));
        let ids = [
            ("webhookId", "webhook-id", answer.request().webhook_id()),
            ("callId", "callId", answer.request().call_id()),
        ];
        for (field, label, id) in ids {
            if let Some(id) = id {
                report.document.insert(field.to_owned(), json!(id));
                note = format!("{note} · {label} {}", safe(id));
            }
        }
        report.note = Some(note);
        report
    }

    /// The same, failed after all: what came stays part of it.
    pub(crate) fn but_failed(mut self, failure: Failure) -> Self {
        self.failure = Some(failure);
        self
    }

    /// The same, with a command to try next. It is ready for a shell, and safe to show.
    pub(crate) fn next(mut self, command: String) -> Self {
        self.next = Some(command);
        self
    }

    /// The same, with more for machines.
    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        self.document.insert(field.to_owned(), value);
        self
    }

    fn document(mut self) -> Value {
        self.document
            .insert("ok".to_owned(), json!(self.failure.is_none()));
        if let Some(failure) = &self.failure {
            self.document.insert("error".to_owned(), failure.to_json());
        }
        Value::Object(self.document)
    }
}

/// Prints a report to standard output (errors and notes to standard error, unless a machine reads), and says how
/// the command ends. A reader that has gone away is no failure.
pub(crate) fn print(outcome: Result<Report, Failure>, json: bool) -> ExitCode {
    let report = outcome.unwrap_or_else(Report::failed);
    let exit = report
        .failure
        .as_ref()
        .map_or(0, |failure| failure.kind().exit_status());
    let printed = if json {
        print_document(report)
    } else {
        print_text(&report)
    };
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::from(exit),
    }
}

fn print_document(report: Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", report.document())?;
    out.flush()
}

fn print_text(report: &Report) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if !report.text.is_empty() {
        writeln!(out, "{}", report.text.trim_end())?;
    }
    out.flush()?;
    let mut err = anstream::stderr().lock();
    if let Some(failure) = &report.failure {
        let label = if failure.kind() == Kind::Rejected {
            "rejected:"
        } else {
            "error:"
        };
        writeln!(err, "{} {}", styled(BAD, label), safe(failure.message()))?;
        if let Some(data) = failure.details() {
            writeln!(err, "{}", safe(&format!("{data:#}")))?;
        }
        if let Some(hint) = failure.hint_text() {
            writeln!(err, "  hint: {hint}")?;
        }
    }
    if let Some(next) = &report.next {
        writeln!(err, "next: {}", styled(NAME, next))?;
    }
    if let Some(note) = &report.note {
        writeln!(err, "{}", styled(NOTE, note))?;
    }
    Ok(())
}
