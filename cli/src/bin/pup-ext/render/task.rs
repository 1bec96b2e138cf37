//! Tasks, and what they ask.

use std::collections::BTreeMap;

use pup_extension_cli::{DetailedTask, InputRequest, Task, TaskState, TaskStatus};
use serde_json::Value;

use super::{indented, line, pretty, result, tools::arguments};
use crate::style::{BAD, GOOD, HEADING, NAME, NOTE, safe, styled};

/// A task that a call has become.
pub(crate) fn task(task: &Task) -> String {
    format!(
        "{} {} ({}{})",
        styled(HEADING, "goes on as a task:"),
        styled(NAME, safe(&task.id)),
        task.status,
        message(task)
    )
}

/// How a task stands.
pub(crate) fn standing(task: &Task) -> String {
    let style = match task.status {
        TaskStatus::Working => NAME,
        TaskStatus::InputRequired => HEADING,
        TaskStatus::Completed => GOOD,
        TaskStatus::Failed | TaskStatus::Cancelled => BAD,
    };
    format!("{}{}", styled(style, task.status), message(task))
}

/// A task with what its status brings along.
pub(crate) fn detailed_task(DetailedTask { task, state }: &DetailedTask) -> String {
    let mut out = String::new();
    line(&mut out, standing(task));
    let kept = task.ttl_ms.map_or_else(
        || "kept without end".to_owned(),
        |ttl| format!("kept for {} s", ttl / 1_000),
    );
    let times = format!(
        "created {}, changed {}, {kept}",
        safe(&task.created_at),
        safe(&task.last_updated_at)
    );
    line(&mut out, format!("  {}", styled(NOTE, times)));
    match state {
        TaskState::Working | TaskState::Cancelled => {}
        TaskState::InputRequired(requests) => out.push_str(&questions(requests)),
        TaskState::Completed(done) => out.push_str(&result(done)),
        TaskState::Failed(error) => {
            line(&mut out, safe(&error.to_string()));
            if let Some(data) = &error.data {
                line(&mut out, pretty(data));
            }
        }
    }
    out
}

/// What a task asks, by key: the message, and the fields of the answer.
pub(crate) fn questions(requests: &BTreeMap<String, InputRequest>) -> String {
    let mut out = String::new();
    for (key, request) in requests {
        let key = styled(NAME, safe(key));
        match request {
            InputRequest::Form(form) => {
                line(
                    &mut out,
                    format!("  {key}  {}", indented(&safe(&form.message), 4)),
                );
                arguments(&mut out, &form.schema);
            }
            InputRequest::Other(request) => {
                let request = pretty(&Value::Object(request.as_map().clone()));
                line(&mut out, format!("  {key}  {}", indented(&request, 4)));
            }
        }
    }
    out
}

/// What was sent to a task.
pub(crate) fn answered(keys: &[String]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| safe(key)).collect();
    format!("{} {}", styled(GOOD, "acknowledged:"), keys.join(", "))
}

pub(crate) fn cancelling() -> String {
    format!(
        "{} the task is asked to end, and may still end otherwise",
        styled(GOOD, "acknowledged:")
    )
}

fn message(task: &Task) -> String {
    task.status_message
        .as_ref()
        .map(|message| format!(": {}", indented(&safe(message), 2)))
        .unwrap_or_default()
}
