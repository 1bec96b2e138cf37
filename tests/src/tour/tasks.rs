//! The steps about tasks: work that outlives its process.

use std::time::{Duration, Instant};

use pup_extension_cli::{
    CallOptions, Client, DetailedTask, InputRequest, InputResponses, Outcome, Task, TaskOptions,
    TaskState, TaskStatus,
};
use serde_json::{Map, Value, json};

use super::{
    report::Report,
    steps::{code, expect, menu, message, status},
};
use crate::place::{Place, Result, Secrets, Server};

/// How long anything of a task may take here. A process that dies in the middle of a batch holds the task for most of
/// a minute.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(20);

/// A task that takes its time, and whose server is killed meanwhile.
pub(super) async fn baking(
    place: &impl Place,
    server: Server,
    secrets: &Secrets,
    report: &mut Report,
) -> Result<Server> {
    const BATCHES: u64 = 8;
    const CALL: &str = "tour-bake";
    let pup = server.client(&secrets.current)?;
    let before = stock(&pup).await?;
    let order = json!({ "batches": BATCHES });

    let task = begin(&pup, "bake_snacks", order.clone(), CALL).await?;
    report.step(
        "a call of long work is answered with a task at once",
        expect(
            task.status == TaskStatus::Working && task.poll_interval_ms.is_some(),
            || format!("task {}, {}", task.id, task.status),
            &task.status,
        ),
    );
    let again = begin(&pup, "bake_snacks", order, CALL).await?;
    report.step(
        "the same call again is the same task",
        expect(
            again.id == task.id,
            || format!("task {}", again.id),
            &again.id,
        ),
    );

    let mut told: Vec<String> = Vec::new();
    let detailed = until(&pup, &task.id, CALL, |detailed| {
        let message = detailed.task.status_message.clone();
        told.extend(message.filter(|message| told.last() != Some(message)));
        told.last().is_some_and(|message| batch(message) >= 3) || detailed.task.status.is_terminal()
    })
    .await?;
    // Before anything else, since the next batch is soon to come.
    server.kill();
    report.step(
        "a task that works says how far it is",
        expect(
            detailed.task.status == TaskStatus::Working,
            || told.join(", "),
            &format!("{}: {}", detailed.task.status, told.join(", ")),
        ),
    );

    let server = place.serve(secrets).await?;
    let pup = server.client(&secrets.current)?;
    let began = Instant::now();
    // The menu says how it goes on, so that nobody has to ask the task.
    while stock(&pup).await? < before + BATCHES && began.elapsed() < PATIENCE {
        tokio::time::sleep(PAUSE).await;
    }
    let detailed = ended(&pup, &task.id, CALL).await?;
    let baked = stock(&pup).await? - before;
    report.step(
        "killed there and started again, it is completed without being asked, each batch counted once",
        expect(
            result(&detailed) == json!({ "batches": BATCHES }) && baked == BATCHES,
            || {
                let last = told.last().map(String::as_str).unwrap_or_default();
                format!("killed after {last}; result {}, {baked} more in stock", result(&detailed))
            },
            &format!("{}, {baked} more in stock", detailed.task.status),
        ),
    );
    Ok(server)
}

/// A task that asks, and whose answer comes to another process.
pub(super) async fn asking(
    place: &impl Place,
    server: Server,
    secrets: &Secrets,
    report: &mut Report,
) -> Result<Server> {
    const CALL: &str = "tour-choose";
    let pup = server.client(&secrets.current)?;
    let options = TaskOptions::new().call_id(CALL);

    let answer = pup
        .to_builder()
        .capabilities(Map::new())
        .build()?
        .call("choose_snack", json!({}), CallOptions::new())
        .await?;
    report.step(
        "a client that knows no tasks is told so",
        expect(
            code(&answer) == Some(-32021),
            || message(&answer),
            &status(&answer),
        ),
    );

    let task = begin(&pup, "choose_snack", json!({}), CALL).await?;
    let detailed = until(&pup, &task.id, CALL, |detailed| {
        detailed.task.status != TaskStatus::Working
    })
    .await?;
    let question = match &detailed.state {
        TaskState::InputRequired(requests) => requests.iter().next(),
        _ => None,
    };
    let Some((key, InputRequest::Form(form))) = question else {
        return Err(format!("choose_snack asks nothing: it is {}", detailed.task.status).into());
    };
    report.step(
        "a task that requires input asks by a form",
        expect(
            form.message == "Sweet or salty?",
            || format!("{key}: {:?}", form.message),
            &form.message,
        ),
    );

    let other = pup.to_builder().asker("another-member").build()?;
    let answer = other.get_task(&task.id, options.clone()).await?;
    report.step(
        "for another member there is no such task",
        expect(
            code(&answer) == Some(-32602),
            || message(&answer),
            &status(&answer),
        ),
    );

    let sour = InputResponses::new().accept(key, json!({ "taste": "sour" }));
    let answer = pup.update_task(&task.id, sour, options.clone()).await?;
    report.step(
        "an answer that doesn't fit the form is refused, and the question stays",
        expect(
            code(&answer) == Some(-32602) && is_asking(&pup, &task.id, CALL).await?,
            || message(&answer),
            &status(&answer),
        ),
    );

    server.kill();
    let server = place.serve(secrets).await?;
    let pup = server.client(&secrets.current)?;
    let salty = InputResponses::new().accept(key, json!({ "taste": "salty" }));
    let answer = pup.update_task(&task.id, salty, options).await?;
    let acknowledged = answer.acknowledged().is_ok();
    let detailed = ended(&pup, &task.id, CALL).await?;
    report.step(
        "killed and started again, the server takes the answer, and completes the task",
        expect(
            acknowledged && result(&detailed) == json!({ "snack": "popcorn" }),
            || format!("{}, result {}", detailed.task.status, result(&detailed)),
            &format!("{}, then {}", status(&answer), detailed.task.status),
        ),
    );
    Ok(server)
}

/// The number of the batch that a message is about; 0 where it is about none.
fn batch(message: &str) -> u64 {
    let number = message.split(' ').nth(1);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Calls a task tool.
async fn begin(pup: &Client, tool: &str, arguments: Value, call_id: &str) -> Result<Task> {
    let options = CallOptions::new().call_id(call_id);
    let answer = pup.call(tool, arguments, options).await?;
    match answer.outcome()? {
        Outcome::Task(task) => Ok(task),
        _ => Err(format!("{tool} has not become a task: {}", status(&answer)).into()),
    }
}

/// Asks how a task stands until it stands so, or there is no more patience.
async fn until(
    pup: &Client,
    id: &str,
    call_id: &str,
    mut stands: impl FnMut(&DetailedTask) -> bool,
) -> Result<DetailedTask> {
    let began = Instant::now();
    loop {
        let options = TaskOptions::new().call_id(call_id);
        let detailed = pup.get_task(id, options).await?.task()?;
        if stands(&detailed) || began.elapsed() >= PATIENCE {
            return Ok(detailed);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn ended(pup: &Client, id: &str, call_id: &str) -> Result<DetailedTask> {
    until(pup, id, call_id, |detailed| {
        detailed.task.status.is_terminal()
    })
    .await
}

async fn is_asking(pup: &Client, id: &str, call_id: &str) -> Result<bool> {
    let detailed = until(pup, id, call_id, |_| true).await?;
    Ok(detailed.task.status == TaskStatus::InputRequired)
}

/// The structured content of a completed task; null when it has none.
fn result(detailed: &DetailedTask) -> Value {
    match &detailed.state {
        TaskState::Completed(result) => result.structured().cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

async fn stock(pup: &Client) -> Result<u64> {
    let menu = menu(pup).await?;
    menu["stock"]
        .as_u64()
        .ok_or_else(|| "the menu has no stock".into())
}
