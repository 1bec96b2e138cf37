//! What a task's changes look like as they come.

use std::io::{self, Write as _};

use pup_extension_cli::{Task, TaskStatus};
use serde_json::{Map, Value, json};

use crate::render;

/// Shows each change of a task's status or message once: to people as it comes, to machines at the end.
pub(crate) struct Progress {
    json: bool,
    shown: Option<(TaskStatus, Option<String>)>,
    changes: Vec<Value>,
}

impl Progress {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            shown: None,
            changes: Vec::new(),
        }
    }

    /// Shows the task that a call has become.
    pub(crate) fn created(&mut self, task: &Task) -> io::Result<()> {
        self.show_as(task, &render::task(task))
    }

    /// Shows how the task stands, unless that was shown just before.
    pub(crate) fn show(&mut self, task: &Task) -> io::Result<()> {
        self.show_as(task, &render::standing(task))
    }

    /// The changes that were shown, for machines.
    pub(crate) fn into_changes(self) -> Value {
        Value::Array(self.changes)
    }

    fn show_as(&mut self, task: &Task, text: &str) -> io::Result<()> {
        let now = (task.status, task.status_message.clone());
        if self.shown.as_ref() == Some(&now) {
            return Ok(());
        }
        self.shown = Some(now);
        if !self.json {
            let mut out = anstream::stdout().lock();
            writeln!(out, "{text}")?;
            return out.flush();
        }
        let mut change = Map::new();
        change.insert("status".to_owned(), json!(task.status.as_str()));
        if let Some(message) = &task.status_message {
            change.insert("statusMessage".to_owned(), json!(message));
        }
        self.changes.push(Value::Object(change));
        Ok(())
    }
}
