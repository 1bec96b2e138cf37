//! Whole tasks over the store, at each of their crash points: every operation fails in every way, and their effects
//! stand once.

use std::{sync::Arc, time::Duration};

use futures_util::future::join;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Failure, Harness,
    ensure::{ensure, ensure_eq},
    harness::NOW,
    life::{Dies, Flow, Life, Pace, React, answer_first, every_point},
};
use crate::{prelude::*, store::Store, task::StepContext};

#[derive(Deserialize, JsonSchema)]
struct Taste {
    taste: String,
}

/// So long that the journal no longer fits in the task's head.
const LONG: usize = 17_000;

/// All that a task does, once: what it says in the end shows what was done twice, lost or left out.
async fn errand(task: TaskContext) -> Result<Value, ToolError> {
    let began = task.now();
    let drawn = format!("{:032x}", task.random());
    task.progress("asking");
    let (taste, first) = join(
        task.ask::<Taste>("Sweet or salty?"),
        task.step("first", |step| async move { count(&step).await }),
    )
    .await;
    let (taste, first) = (taste?.taste, first?);
    let long: String = task
        .step("long", |step| async move {
            let number = count(&step).await?;
            Ok(format!("{number:0LONG$}"))
        })
        .await?;
    task.progress("resting");
    task.sleep(Duration::from_secs(7)).await?;
    let rested = task.now().since(began) >= Duration::from_secs(7);
    let noted = drawn.clone();
    task.step("last", |step| {
        let noted = noted.clone();
        async move {
            step.state().add("sum", 7)?;
            step.state().put("drawn", &noted)?;
            Ok(())
        }
    })
    .await?;
    Ok(
        json!({ "taste": taste, "first": first, "long": long.len(), "rested": rested, "drawn": drawn }),
    )
}

/// Reads a number and writes the next: a lost update or a second time shows.
async fn count(step: &StepContext) -> Result<i64, ToolError> {
    let number = step.state().get::<i64>("count").await?.unwrap_or(0) + 1;
    step.state().put("count", &number)?;
    Ok(number)
}

async fn look(ctx: ToolContext) -> Result<Value, ToolError> {
    let state = ctx.state();
    Ok(json!({
        "count": state.get::<i64>("count").await?.unwrap_or(0),
        "sum": state.get::<i64>("sum").await?.unwrap_or(0),
        "drawn": state.get::<String>("drawn").await?,
    }))
}

fn begin<S: Store>(harness: &Harness<S>, dies: Dies, pace: Pace) -> Result<Life<S>, Failure> {
    let extension = Extension::builder("errands", "Errands")
        .author("Example author")
        .description("Runs errands.")
        .summary("Runs errands.")
        .instructions("For the store suite.")
        .tool(Tool::task("errand", errand).asks::<Taste>())
        .tool(Tool::new("look", look).read_only())
        .build()?;
    let handles = [Arc::clone(&harness.store), Arc::clone(&harness.other)];
    let [a, b, c, d, ..] = harness.draw();
    let seed = u32::from_be_bytes([a, b, c, d]);
    let life = Life::new(handles, extension, harness.unique(), seed, (dies, pace))?;
    Ok(life.at(NOW))
}

/// Every operation of a task's life, with every fault. One after the other, so that it is known which operation comes
/// when.
async fn every_point_over<S: Store>(harness: &Harness<S>, flow: Flow) -> Result<usize, Failure> {
    let begin = |dies, pace| begin(harness, dies, pace);
    every_point(&flow, &[Pace::InTurn], &[Dies::All], begin).await
}

pub(super) async fn a_task_takes_effect_once_whatever_fails_on_its_way<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let flow = Flow {
        name: "an errand",
        tool: "errand",
        arguments: || json!({}),
        react: answer_first,
        check: |task, look| {
            ensure_eq!(task["status"], "completed", "the status");
            ensure_eq!(task["statusMessage"], "resting", "the progress");
            let result = &task["result"]["structuredContent"];
            let expected = json!({
                "taste": "sweet", "first": 1, "long": LONG, "rested": true, "drawn": result["drawn"],
            });
            ensure_eq!(*result, expected, "the result");
            let expected = json!({ "count": 2, "sum": 7, "drawn": result["drawn"] });
            ensure_eq!(*look, expected, "the effects");
            Ok(())
        },
    };
    let points = every_point_over(harness, flow).await?;
    ensure!(points >= 150, "{points} crash points");
    Ok(())
}

pub(super) async fn a_task_stays_cancelled_whatever_fails_on_its_way<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let flow = Flow {
        name: "an errand that is cancelled",
        tool: "errand",
        arguments: || json!({}),
        react: |task| {
            if task["status"] == "input_required" {
                React::Cancel
            } else {
                React::Wait
            }
        },
        check: |task, look| {
            ensure_eq!(task["status"], "cancelled", "the status");
            // The first step may be done by then, and nothing after it.
            let count = look["count"].as_i64();
            ensure!(matches!(count, Some(0 | 1)), "the effects: {look}");
            ensure_eq!(look["sum"], 0, "the last step's effect");
            Ok(())
        },
    };
    let points = every_point_over(harness, flow).await?;
    ensure!(points >= 50, "{points} crash points");
    Ok(())
}
