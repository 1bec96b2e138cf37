//! A deployment that changes a task's function while a task of it is under way: the task fails with an error that
//! says so, and what was recorded is never misapplied.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{Outside, Taste, World, accept};
use crate::{prelude::*, store::MemoryStore};

/// What the function was when the task began: a step, a question, a pause, a step.
async fn before(task: TaskContext) -> Result<Value, ToolError> {
    let one = add(&task, "one", 1).await?;
    let _: Taste = task.ask("Sweet or salty?").await?;
    task.sleep(Duration::from_secs(60)).await?;
    let two = add(&task, "two", 10).await?;
    Ok(json!(one + two))
}

async fn add(task: &TaskContext, name: &str, delta: i64) -> Result<i64, ToolError> {
    task.step(name, |step| async move {
        step.state().add("stock", delta)?;
        Ok(delta)
    })
    .await
}

fn world(tool: Tool, store: &MemoryStore, number: u32) -> World {
    let extension = Extension::builder("changing", "Changing")
        .author("Example author")
        .description("Changes.")
        .summary("Changes.")
        .instructions("For tests.")
        .tool(tool.asks::<Taste>())
        .tool(
            Tool::new("stock", async |ctx: ToolContext| {
                let stock = ctx.state().get::<i64>("stock").await?;
                Ok::<_, ToolError>(json!({ "stock": stock }))
            })
            .read_only(),
        )
        .build()
        .unwrap();
    World::of(extension, Outside::default(), store.clone(), number)
}

/// Runs a task to its pause under the first code, and on from there under another; how it ends.
fn change(after: Tool) -> (Value, Value) {
    let store = MemoryStore::default();
    let first = world(Tool::task("tool", before), &store, 1);
    let id = first.create("tool", json!({}), "c1");
    first.pup.run_tasks();
    first.answer(
        &id,
        json!({ "ask-1": accept(&json!({ "taste": "sweet" })) }),
    );
    first.pup.background().forget();

    let second = world(after, &store, 2);
    second.runtime.advance(Duration::from_secs(3_600));
    second.get(&id);
    second.pup.run_tasks();
    let stock = second
        .send(&second.pup.call("stock", json!({})))
        .structured();
    (second.get(&id), stock["stock"].clone())
}

fn fails_cleanly(after: Tool) {
    let (task, stock) = change(after);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("was changed"),
        "{task}"
    );
    assert_eq!(stock, 1, "what was recorded stands, and no more than that");
}

#[test]
fn the_same_code_goes_on() {
    let (task, stock) = change(Tool::task("tool", before));
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(
        (&task["result"]["structuredContent"], &stock),
        (&json!(11), &json!(11))
    );
}

#[test]
fn code_that_only_adds_to_the_end_goes_on() {
    let (task, stock) = change(Tool::task("tool", async |task: TaskContext| {
        let sum = before(task.clone()).await?;
        add(&task, "three", 100).await?;
        Ok::<_, ToolError>(sum)
    }));
    assert_eq!(
        (&task["status"], &stock),
        (&json!("completed"), &json!(111)),
        "{task}"
    );
}

#[test]
fn a_step_of_another_name_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        add(&task, "other", 1).await?;
        let _: Taste = task.ask("Sweet or salty?").await?;
        Ok::<_, ToolError>(json!(0))
    }));
}

#[test]
fn another_order_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        let _: Taste = task.ask("Sweet or salty?").await?;
        add(&task, "one", 1).await?;
        Ok::<_, ToolError>(json!(0))
    }));
}

#[test]
fn an_operation_that_is_left_out_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        add(&task, "one", 1).await?;
        task.sleep(Duration::from_secs(60)).await?;
        Ok::<_, ToolError>(json!(0))
    }));
}

#[test]
fn an_operation_that_is_put_in_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        add(&task, "zero", 1_000).await?;
        before(task).await
    }));
}

#[test]
fn a_function_that_ends_before_what_is_recorded_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        add(&task, "one", 1).await?;
        Ok::<_, ToolError>(json!(0))
    }));
}

#[test]
fn a_time_where_a_step_was_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        let now = task.now();
        task.progress(format!("{now:?}"));
        before(task).await
    }));
}

#[test]
fn a_result_of_another_type_is_a_change() {
    fails_cleanly(Tool::task("tool", async |task: TaskContext| {
        let one: String = task
            .step("one", |step| async move {
                step.state().add("stock", 1_000)?;
                Ok(String::from("one"))
            })
            .await?;
        let _: Taste = task.ask("Sweet or salty?").await?;
        Ok::<_, ToolError>(json!(one))
    }));
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Other {
    #[expect(dead_code, reason = "a field that the answer does not have")]
    amount: u8,
}

#[test]
fn an_answer_that_another_form_does_not_take_is_a_change() {
    let after = Tool::task("tool", async |task: TaskContext| {
        add(&task, "one", 1).await?;
        let _: Other = task.ask("How many?").await?;
        Ok::<_, ToolError>(json!(0))
    });
    fails_cleanly(after.asks::<Other>());
}

#[test]
fn arguments_that_the_tool_no_longer_takes_are_a_change() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct Input {
        #[expect(dead_code, reason = "an argument that the call does not have")]
        needed: u8,
    }
    fails_cleanly(Tool::task("tool", async |task: TaskContext, _: Input| {
        before(task).await
    }));
}

#[test]
fn a_tool_that_is_gone_leaves_the_task_for_a_deployment_that_brings_it_back() {
    let store = MemoryStore::default();
    let first = world(Tool::task("tool", before), &store, 1);
    let id = first.create("tool", json!({}), "c1");
    let without = world(Tool::task("other", before), &store, 2);
    without.runtime.advance(Duration::from_secs(60));
    without.get(&id);
    let runs = without.pup.run_tasks();
    let told = runs.first().unwrap().as_ref().unwrap_err().to_string();
    assert_eq!(told, "the extension has no task tool `tool`");
    first.pup.run_tasks();
    assert_eq!(first.get(&id)["status"], "input_required");
}
