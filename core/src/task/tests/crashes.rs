//! Every crash point of every task: each store operation of its whole life fails in each way that there is, processes
//! die where it hangs, and pup goes on as it does. Then the task has ended as it should, each step's effect stands
//! exactly once, and nothing but its end is left of it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::fixture::{Outside, extension};
use crate::{
    prelude::*,
    store::{
        Commit, Item, Key, MemoryStore, Outcome, Page, Query, Store, StoreError,
        suite::{
            Failure, block_on,
            life::{Dies, Flow, Life, Pace, React, answer_first, every_point},
        },
        testing::Fault,
    },
    task::{DUE_PREFIX, Job, due, record::Head},
};

/// A store that looks after every commit whether whoever finds a task by what is due finds this one when it has to be
/// run: of a process that dies, nothing else is left.
struct Watched(MemoryStore);

impl Store for Watched {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.0.get(key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let outcome = self.0.commit(commit, now).await?;
        let query = |prefix: &str| Query {
            partition: commit.partition().clone(),
            prefix: prefix.to_owned(),
            after: None,
            limit: 100,
        };
        let entries = self.0.list(&query(DUE_PREFIX), now).await?.items;
        let entries: Vec<_> = entries
            .into_iter()
            .map(|(name, _)| due(&Key::new(commit.partition().clone(), name)).unwrap())
            .collect();
        let mut expected = Vec::new();
        for (name, item) in self.0.list(&query("task/"), now).await?.items {
            let parts = name.parts();
            let [_, task_id] = parts.as_slice() else {
                continue;
            };
            let head = Head::from_value(&item.value).unwrap();
            let job = Job {
                partition: commit.partition().clone(),
                task_id: task_id.clone(),
            };
            expected.extend(head.due.map(|at| (job, at)));
            assert!(
                head.end.is_some() || head.due.is_some() || !head.asks.is_empty(),
                "nobody would ever go on with the task"
            );
            assert!(head.end.is_none() || head.due.is_none());
        }
        assert_eq!(entries, expected, "what is due");
        Ok(outcome)
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.0.list(query, now).await
    }
}

fn begin(dies: Dies, pace: Pace) -> Result<Life<Watched>, Failure> {
    over(extension(&Outside::default()), dies, pace)
}

fn over(extension: Extension, dies: Dies, pace: Pace) -> Result<Life<Watched>, Failure> {
    let store = Arc::new(Watched(MemoryStore::default()));
    let handles = [Arc::clone(&store), store];
    Life::new(handles, extension, String::from("home"), 0, (dies, pace))
}

/// The structured content of the result.
fn completed(task: &Value) -> Result<&Value, Failure> {
    if task["status"] == "completed" && task["result"]["isError"] != true {
        Ok(&task["result"]["structuredContent"])
    } else {
        Err(Failure::new(format!("not completed, but {task}")))
    }
}

fn same(what: &str, left: &Value, right: &Value) -> Result<(), Failure> {
    if left == right {
        Ok(())
    } else {
        Err(Failure::new(format!("{what}: {left} instead of {right}")))
    }
}

/// Nothing to do but to wait.
fn wait(_: &Value) -> React {
    React::Wait
}

/// Tries every crash point of a flow.
fn try_every_point(
    flow: &Flow,
    at_least: usize,
    begin: impl Fn(Dies, Pace) -> Result<Life<Watched>, Failure>,
) {
    let extents = [Dies::All, Dies::Alone];
    let points = block_on(every_point(flow, &[Pace::Beside], &extents, begin)).unwrap();
    println!("{}: {points} crash points, none of them skipped", flow.name);
    assert!(points >= at_least, "{points}");
}

#[test]
fn at_every_crash_point_of_a_question_its_answer_is_what_counts() {
    let flow = Flow {
        name: "a question",
        tool: "choose",
        arguments: || json!({}),
        react: answer_first,
        check: |task, _| same("the result", completed(task)?, &json!({ "snack": "fruit" })),
    };
    try_every_point(&flow, 96, begin);
}

#[test]
fn at_every_crash_point_of_a_refusal_it_is_one() {
    let flow = Flow {
        name: "a question that is declined",
        tool: "choose",
        arguments: || json!({}),
        react: |task| match answer_first(task) {
            React::Answer(_) => React::Answer(json!({ "ask-0": { "action": "decline" } })),
            other => other,
        },
        check: |task, _| {
            same("the status", &task["status"], &json!("completed"))?;
            same("a rejection", &task["result"]["isError"], &json!(true))
        },
    };
    try_every_point(&flow, 96, begin);
}

#[test]
fn at_every_crash_point_of_steps_and_pauses_each_effect_stands_once() {
    let flow = Flow {
        name: "steps, pauses and progress",
        tool: "bake",
        arguments: || json!({ "batches": 3 }),
        react: wait,
        check: |task, look| {
            let expected = json!({ "batches": 3, "stock": 3 });
            same("the result", completed(task)?, &expected)?;
            same("the progress", &task["statusMessage"], &json!("3 of 3"))?;
            same("the effect", &look["stock"], &json!(3))
        },
    };
    try_every_point(&flow, 150, begin);
}

const EVERYTHING: Flow = Flow {
    name: "everything",
    tool: "everything",
    arguments: || json!({}),
    react: answer_first,
    check: |task, look| {
        let result = completed(task)?;
        same("the first step", &result["first"], &json!(1))?;
        same("the second step", &result["second"], &json!(2))?;
        same("the third step", &result["drawn"], &look["drawn"])?;
        same("the steps' effects", &look["stock"], &json!(2))?;
        same("the second step's other effect", &look["sum"], &json!(7))?;
        same("the progress", &task["statusMessage"], &json!("counting"))?;
        match result["slept"].as_u64() {
            Some(60..=600) => Ok(()),
            _ => Err(Failure::new(format!("it slept {} s", result["slept"]))),
        }
    },
};

#[test]
fn at_every_crash_point_of_everything_each_effect_stands_once() {
    try_every_point(&EVERYTHING, 300, begin);
}

#[test]
fn at_every_crash_point_of_steps_at_once_on_one_key_both_count() {
    let flow = Flow {
        name: "two steps at once on one key",
        tool: "collide",
        arguments: || json!({}),
        react: wait,
        check: |task, look| {
            same("the result", completed(task)?, &json!({ "sum": 3 }))?;
            same("the effects", &look["stock"], &json!(2))
        },
    };
    try_every_point(&flow, 120, begin);
}

#[test]
fn at_every_crash_point_of_a_race_that_the_answer_wins_it_wins() {
    let flow = Flow {
        name: "a question against the clock, answered",
        tool: "hurry",
        arguments: || json!({}),
        react: answer_first,
        check: |task, look| {
            let expected = json!({ "answered": true, "stock": 1 });
            same("the result", completed(task)?, &expected)?;
            same("the effect", &look["stock"], &json!(1))
        },
    };
    try_every_point(&flow, 110, begin);
}

#[test]
fn at_every_crash_point_of_a_race_that_the_clock_wins_it_wins() {
    let flow = Flow {
        name: "a question against the clock, not answered",
        tool: "hurry",
        arguments: || json!({}),
        react: wait,
        check: |task, look| {
            let expected = json!({ "answered": false, "stock": 1 });
            same("the result", completed(task)?, &expected)?;
            same("the effect", &look["stock"], &json!(1))
        },
    };
    try_every_point(&flow, 150, begin);
}

#[test]
fn at_every_crash_point_of_a_question_beside_a_long_step_the_effect_stands_once() {
    let flow = Flow {
        name: "a question beside a long step",
        tool: "ask_beside_step",
        arguments: || json!({ "seconds": 22 }),
        react: answer_first,
        check: |task, look| {
            same("the result", completed(task)?, &json!({ "stock": 1 }))?;
            same("the effect", &look["stock"], &json!(1))
        },
    };
    try_every_point(&flow, 150, begin);
}

#[test]
fn at_every_crash_point_of_a_cancellation_during_a_step_the_task_is_cancelled() {
    let flow = Flow {
        name: "a cancellation during a long step",
        tool: "ask_beside_step",
        arguments: || json!({ "seconds": 22 }),
        react: |task| match task["status"].as_str() {
            Some("input_required") => React::Cancel,
            _ => React::Wait,
        },
        check: |task, look| {
            // The step may be done before pup comes through; its question is never answered.
            same("the status", &task["status"], &json!("cancelled"))?;
            match look["stock"].as_i64() {
                Some(0 | 1) => Ok(()),
                _ => Err(Failure::new(format!("the effect is {}", look["stock"]))),
            }
        },
    };
    try_every_point(&flow, 60, begin);
}

#[test]
fn at_every_crash_point_of_a_step_that_fails_its_failure_is_remembered() {
    let flow = Flow {
        name: "a step that fails",
        tool: "fail_in_step",
        arguments: || json!({}),
        react: wait,
        check: |task, look| {
            same("the result", completed(task)?, &json!({ "failed": true }))?;
            same("the effect", &look["stock"], &json!(1))
        },
    };
    try_every_point(&flow, 100, begin);
}

/// Steps whose results fill several pages of a journal.
async fn fill(task: TaskContext) -> Result<Value, ToolError> {
    let mut bytes = 0;
    for page in 1..=3_i64 {
        let result: String = task
            .step("fill", |step| async move {
                let number = step.state().get::<i64>("stock").await?.unwrap_or(0) + 1;
                step.state().put("stock", &number)?;
                Ok(format!("{number:017000}"))
            })
            .await?;
        bytes += result.len();
        if result.parse() != Ok(page) {
            return Err(ToolError::reject("a page is another one"));
        }
        task.sleep(Duration::from_secs(1)).await?;
    }
    Ok(json!({ "bytes": bytes }))
}

fn begin_filling(dies: Dies, pace: Pace) -> Result<Life<Watched>, Failure> {
    let extension = Extension::builder("fill", "Fill")
        .author("Example author")
        .description("Fills journals.")
        .summary("Fills journals.")
        .instructions("For tests.")
        .tool(Tool::task("fill", fill))
        .tool(
            Tool::new("look", |ctx: ToolContext| async move {
                let stock = ctx.state().get::<i64>("stock").await?;
                Ok::<_, ToolError>(json!({ "stock": stock }))
            })
            .read_only(),
        )
        .build()?;
    over(extension, dies, pace)
}

#[test]
fn at_every_crash_point_of_a_long_journal_it_is_recalled_whole_and_deleted_at_the_end() {
    let flow = Flow {
        name: "a journal of several pages",
        tool: "fill",
        arguments: || json!({}),
        react: wait,
        check: |task, look| {
            same("the result", completed(task)?, &json!({ "bytes": 51_000 }))?;
            same("the effect", &look["stock"], &json!(3))
        },
    };
    try_every_point(&flow, 150, begin_filling);
}

#[test]
fn at_a_sample_of_pairs_of_crash_points_of_everything_each_effect_stands_once() {
    block_on(async {
        let life = begin(Dies::All, Pace::Beside)?;
        let (operations, _) = Box::pin(life.live(&EVERYTHING, &[])).await?;
        let (mut pairs, mut both) = (0, 0);
        for first in 0..operations {
            for (number, fault) in Fault::ALL.into_iter().enumerate() {
                // Near and far, and with each fault in its turn as the second.
                let second = first + [1, 3, 2, 5][(first + number) % 4];
                let follower = Fault::ALL[(first + 5 * number) % Fault::ALL.len()];
                let faults = [(first, fault), (second, follower)];
                let dies = [Dies::All, Dies::Alone][(first + number) % 2];
                let life = begin(dies, Pace::Beside)?;
                let (operations, failed) = Box::pin(life.live(&EVERYTHING, &faults)).await?;
                if operations > second {
                    assert_eq!(failed, [first, second], "{faults:?}");
                    both += 1;
                } else {
                    // The task ended before the second would have come.
                    assert_eq!(failed, [first], "{faults:?}");
                }
                pairs += 1;
            }
        }
        println!("everything: {pairs} pairs of faults, of which {both} both came");
        assert!(both >= 200 && both + 20 >= pairs, "{both} of {pairs}");
        Ok::<_, Failure>(())
    })
    .unwrap();
}
