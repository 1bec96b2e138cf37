//! Long tasks, large tasks, and clocks that jump.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{Outside, World, accept};
use crate::{
    prelude::*,
    runtime::Runtime as _,
    store::{
        MemoryStore, Partition, Query, Store as _,
        testing::{FaultStore, Operation},
    },
    task::{AskError, Ran},
};

const SECOND: Duration = Duration::from_secs(1);

/// What the store holds of tasks.
fn left(world: &World, store: &MemoryStore) -> Vec<String> {
    let mut names = Vec::new();
    for prefix in ["task/", "due/"] {
        let query = Query {
            partition: Partition::installation("installation-1"),
            prefix: prefix.into(),
            after: None,
            limit: 1_000,
        };
        let now = world.runtime.now();
        let page = world.runtime.run(store.list(&query, now)).unwrap();
        names.extend(
            page.items
                .into_iter()
                .map(|(name, _)| name.as_str().to_owned()),
        );
    }
    names
}

fn of_one_tool(tool: Tool, store: MemoryStore) -> World {
    let extension = Extension::builder("one", "One")
        .author("Example author")
        .description("One.")
        .summary("One.")
        .instructions("For tests.")
        .tool(tool)
        .tool(
            Tool::new("count", async |ctx: ToolContext| {
                let count = ctx.state().get::<i64>("count").await?.unwrap_or(0);
                Ok::<_, ToolError>(json!({ "count": count }))
            })
            .read_only(),
        )
        .build()
        .unwrap();
    World::of(extension, Outside::default(), store, 0)
}

#[test]
fn a_thousand_steps_are_replayed_and_each_is_done_once() {
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let id = world.create("many", json!({ "batches": 1_000 }), "c1");
    // Every run is cut off after a while, so that the journal is read again and again.
    let mut runs = 0;
    while let Some((at, job)) = world.pup.background().take_next() {
        let now = world.runtime.now().max(at);
        world.runtime.set_time(now);
        let until = Some(now + Duration::from_millis(25));
        let run = world.pup.service().run_task(&job, until);
        world.runtime.run(run).unwrap();
        runs += 1;
        assert!(runs < 2_000);
    }
    assert!(runs > 20, "it was cut off {runs} times");
    assert_eq!(world.completed(&id), json!({ "done": 1_000 }));
    assert_eq!(
        (world.look()["stock"].clone(), world.outside.works()),
        (json!(1_000), 1_000)
    );
    // Written bytes grow with the length of the journal: a head is never more than a page, however long it is.
    let largest = faults
        .operations()
        .iter()
        .filter_map(|recorded| match &recorded.operation {
            Operation::Commit(commit) => Some(commit.bytes()),
            _ => None,
        })
        .max();
    assert!(largest < Some(64 * 1024), "{largest:?}");
}

#[test]
fn an_ended_task_leaves_its_head_alone() {
    let store = MemoryStore::default();
    let world = World::over(store.clone());
    let id = world.create("many", json!({ "batches": 600 }), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id)["done"], 600);
    let cancelled = world.create("choose", json!({}), "c2");
    world.send(&world.pup.task("tasks/cancel", &cancelled));
    let mut heads = vec![format!("task/{id}"), format!("task/{cancelled}")];
    heads.sort();
    assert_eq!(left(&world, &store), heads);
}

#[test]
fn a_full_journal_ends_the_task_before_the_next_step_has_an_effect() {
    let store = MemoryStore::default();
    let tool = Tool::task("fill", async |task: TaskContext| {
        for _ in 0..100 {
            let large: String = task
                .step("large", |step| async move {
                    step.state().add("count", 1)?;
                    Ok("x".repeat(200 * 1024))
                })
                .await?;
            assert_eq!(large.len(), 200 * 1024);
        }
        Ok::<_, ToolError>(())
    });
    let world = of_one_tool(tool, store.clone());
    let id = world.create("fill", json!({}), "c1");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["status"], "failed");
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("more than can be recorded")
    );
    // Each step that was begun was recorded: 4 MB hold 20 of these, and none more.
    let count = world.send(&world.pup.call("count", json!({}))).structured();
    assert_eq!(count["count"], 20);
    assert_eq!(left(&world, &store), [format!("task/{id}")]);
}

#[test]
fn a_result_that_is_too_large_fails_its_step_or_its_task() {
    let tool = Tool::task("large", async |task: TaskContext| {
        let step = task
            .step("large", |step| async move {
                step.state().add("count", 100)?;
                Ok("x".repeat(255 * 1024))
            })
            .await;
        if step.is_err_and(|error| !error.is_rejection()) {
            task.step(
                "note",
                |step| async move { Ok(step.state().add("count", 1)?) },
            )
            .await?;
        }
        Ok::<_, ToolError>("x".repeat(250 * 1024))
    });
    let world = of_one_tool(tool, MemoryStore::default());
    let id = world.create("large", json!({}), "c1");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["status"], "failed");
    assert!(
        task["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too large")
    );
    let count = world.send(&world.pup.call("count", json!({}))).structured();
    assert_eq!(count["count"], 1);
}

#[test]
fn a_step_that_writes_more_than_a_commit_holds_fails_and_writes_nothing() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Wide {
        keys: u32,
    }
    let tool = Tool::task("wide", async |task: TaskContext, input: Wide| {
        let step = task
            .step("wide", |step| async move {
                for key in 0..input.keys {
                    step.state().add(("key", key), 1)?;
                }
                step.state().add("count", 1)?;
                Ok(())
            })
            .await;
        Ok::<_, ToolError>(json!({ "failed": step.is_err() }))
    });
    let world = of_one_tool(tool, MemoryStore::default());
    for (keys, failed, count) in [(89, false, 1), (200, true, 1)] {
        let id = world.create("wide", json!({ "keys": keys }), &format!("c{keys}"));
        world.pup.run_tasks();
        assert_eq!(world.completed(&id), json!({ "failed": failed }), "{keys}");
        let look = world.send(&world.pup.call("count", json!({}))).structured();
        assert_eq!(look["count"], count, "{keys}");
    }
}

#[test]
fn what_is_added_to_no_number_fails_the_step() {
    let tool = Tool::task("add", async |task: TaskContext| {
        task.step("text", |step| async move {
            Ok(step.state().put("text", "no number")?)
        })
        .await?;
        let step = task
            .step(
                "add",
                |step| async move { Ok(step.state().add("text", 1)?) },
            )
            .await;
        Ok::<_, ToolError>(json!({ "failed": step.is_err() }))
    });
    let world = of_one_tool(tool, MemoryStore::default());
    let id = world.create("add", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "failed": true }));
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Yes {
    #[expect(dead_code, reason = "asked for, and not looked at")]
    yes: bool,
}

#[test]
fn questions_have_limits_and_are_named_by_their_tool() {
    let tool = Tool::task("ask", async |task: TaskContext| {
        let unnamed = task.ask::<Other>("Who?").await.unwrap_err();
        let long = task.ask::<Yes>(&"x".repeat(17 * 1024)).await.unwrap_err();
        let nested: Result<(AskError, bool, bool), ToolError> = task
            .step("nested", |_| {
                let task = task.clone();
                async move {
                    let ask = task.ask::<Yes>("Here?").await.unwrap_err();
                    let sleep = task.sleep(SECOND).await.is_err();
                    let step = task.step("inner", |_| async { Ok(()) }).await.is_err();
                    // These are what they are anywhere else, and nothing that a replay misses.
                    let _ = (task.now(), task.random());
                    task.progress("within a step");
                    Ok((ask == AskError::InStep, sleep, step))
                }
            })
            .await
            .map(|(ask, sleep, step): (bool, bool, bool)| {
                (
                    if ask {
                        AskError::InStep
                    } else {
                        AskError::Declined
                    },
                    sleep,
                    step,
                )
            });
        let (ask, sleep, step) = nested?;
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(json!({
            "unnamed": unnamed.to_string(),
            "long": long.to_string(),
            "in_step": ask.to_string(),
            "refused": sleep && step,
        }))
    });
    let world = of_one_tool(tool.asks::<Yes>(), MemoryStore::default());
    let id = world.create("ask", json!({}), "c1");
    world.pup.run_tasks();
    let result = world.completed(&id);
    let text = |name: &str| result[name].as_str().unwrap().to_owned();
    assert!(text("unnamed").contains(".asks::<"), "{result}");
    assert!(text("long").contains("16384 are allowed"), "{result}");
    assert!(text("in_step").contains("a step can't ask"), "{result}");
    assert_eq!(result["refused"], true);
    assert_eq!(world.get(&id)["statusMessage"], "within a step");
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Other {
    #[expect(dead_code, reason = "never asked for")]
    name: String,
}

#[test]
fn more_questions_than_a_record_holds_end_the_task() {
    let tool = Tool::task("ask", async |task: TaskContext| {
        let questions = (0..40).map(|_| task.ask::<Yes>(&"x".repeat(15 * 1024)));
        futures_util::future::join_all(questions).await;
        Ok::<_, ToolError>(())
    });
    let world = of_one_tool(tool.asks::<Yes>(), MemoryStore::default());
    let id = world.create("ask", json!({}), "c1");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("more at once"),
        "{task}"
    );
}

#[test]
fn answers_have_a_limit() {
    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    struct Text {
        text: String,
    }
    let tool = Tool::task("ask", async |task: TaskContext| {
        let text: Text = task.ask("What?").await?;
        Ok::<_, ToolError>(json!({ "bytes": text.text.len() }))
    });
    let world = of_one_tool(tool.asks::<Text>(), MemoryStore::default());
    let id = world.create("ask", json!({}), "c1");
    let answer = |bytes: usize| json!({ "ask-0": accept(&json!({ "text": "x".repeat(bytes) })) });
    let refused = world.answer(&id, answer(65 * 1024));
    assert_eq!(
        (refused.status().as_u16(), refused.error_code()),
        (400, Some(-32602))
    );
    assert_eq!(world.answer(&id, answer(63 * 1024)).status(), 200);
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "bytes": 63 * 1024 }));
}

#[test]
fn more_answers_than_a_head_holds_are_taken_one_after_another() {
    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    struct Text {
        text: String,
    }
    let tool = Tool::task("ask", async |task: TaskContext| {
        let questions = (0..6).map(|_| task.ask::<Text>("What?"));
        let texts = futures_util::future::join_all(questions).await;
        let bytes: usize = texts.iter().flatten().map(|text| text.text.len()).sum();
        Ok::<_, ToolError>(json!({ "bytes": bytes }))
    });
    let world = of_one_tool(tool.asks::<Text>(), MemoryStore::default());
    let id = world.create("ask", json!({}), "c1");
    let bytes = 60 * 1024;
    let answer =
        |op: u32| json!({ format!("ask-{op}"): accept(&json!({ "text": "x".repeat(bytes) })) });
    let mut refused = 0;
    for op in 0..6 {
        if world.answer(&id, answer(op)).status() != 200 {
            refused += 1;
            world.pup.run_tasks();
            assert_eq!(world.answer(&id, answer(op)).status(), 200);
        }
    }
    assert_eq!(refused, 1);
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "bytes": 6 * bytes }));
}

#[test]
fn progress_is_cut_off_and_the_same_text_is_no_update() {
    let tool = Tool::task("report", async |task: TaskContext| {
        task.progress("é".repeat(2_000));
        task.sleep(SECOND).await?;
        task.progress("é".repeat(2_000));
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(())
    });
    let world = of_one_tool(tool, MemoryStore::default());
    let id = world.create("report", json!({}), "c1");
    let first = world.get(&id);
    assert_eq!(first["statusMessage"], "é".repeat(1_000));
    let run = |world: &World| {
        let (at, job) = world.pup.background().take_next().unwrap();
        world.runtime.set_time(at);
        world
            .runtime
            .run(world.pup.service().run_task(&job, None))
            .unwrap()
    };
    run(&world);
    let second = world.get(&id);
    assert_eq!(second["lastUpdatedAt"], first["lastUpdatedAt"]);
    assert_eq!(run(&world), Ran::Ended);
}

#[test]
fn a_task_is_gone_after_its_time_whatever_it_was_at() {
    let store = MemoryStore::default();
    let tool = Tool::task("slow", async |task: TaskContext| {
        task.step("slow", |step| async move {
            step.sleep(Duration::from_secs(30)).await;
            Ok(step.state().add("count", 1)?)
        })
        .await?;
        Ok::<_, ToolError>(())
    })
    .ttl(Duration::from_secs(20));
    let world = of_one_tool(tool, store.clone());
    let id = world.create("slow", json!({}), "c1");
    assert_eq!(world.get(&id)["ttlMs"], 20_000);
    // It ends in the middle of the step, which then can't commit.
    let runs = world.pup.run_tasks();
    assert!(matches!(runs.as_slice(), [Ok(Ran::Ended)]), "{runs:?}");
    let answer = world.send(&world.pup.task("tasks/get", &id));
    assert_eq!(
        (answer.status().as_u16(), answer.error_code()),
        (400, Some(-32602))
    );
    let count = world.send(&world.pup.call("count", json!({}))).structured();
    assert_eq!(count["count"], 0);
    assert_eq!(left(&world, &store), Vec::<String>::new());
    // The call's record outlives it, and says what it said: no second task is made of an old call.
    let again = world
        .send(&world.pup.call("slow", json!({})).call_id("c1"))
        .result();
    assert_eq!(again["taskId"], id);
}

#[test]
fn a_record_outlives_a_task_that_takes_longer_than_records_are_kept() {
    let tool = Tool::task("choose", async |task: TaskContext| {
        task.sleep(Duration::from_secs(90 * 24 * 3_600)).await?;
        Ok::<_, ToolError>(())
    })
    .ttl(Duration::from_secs(100 * 24 * 3_600));
    let world = of_one_tool(tool, MemoryStore::default());
    let id = world.create("choose", json!({}), "c1");
    world.runtime.advance(Duration::from_secs(60 * 24 * 3_600));
    let again = world
        .send(&world.pup.call("choose", json!({})).call_id("c1"))
        .result();
    assert_eq!(again["taskId"], id);
    world.pup.run_tasks();
    assert_eq!(world.get(&id)["status"], "completed");
}

#[test]
fn a_clock_that_jumps_delays_a_task_at_the_most() {
    for jump in [-7_200_i64, -60, 60, 7_200] {
        let world = World::new();
        let id = world.create("ask_beside_step", json!({ "seconds": 100 }), "c1");
        world.answer(
            &id,
            json!({ "ask-0": accept(&json!({ "taste": "sweet" })) }),
        );
        // In the middle of the step the clock is set.
        let set = async {
            world.runtime.sleep(Duration::from_secs(50)).await;
            let now = world.runtime.now();
            let amount = Duration::from_secs(jump.unsigned_abs());
            let then = if jump < 0 {
                Timestamp::EPOCH + now.since(Timestamp::EPOCH + amount)
            } else {
                now + amount
            };
            world.runtime.set_time(then);
        };
        let run = world.pup.go_on_with_tasks();
        world.runtime.run(futures_util::future::join(set, run));
        assert_eq!(world.completed(&id), json!({ "stock": 1 }), "{jump}");
    }
}

#[test]
fn a_dead_run_is_taken_over_even_where_the_clock_was_set_back_meanwhile() {
    let world = World::new();
    let id = world.create("bake", json!({ "batches": 1 }), "c1");
    // A run takes the task and dies with it.
    let (_, job) = world.pup.background().take_next().unwrap();
    let mut run = Box::pin(world.pup.service().run_task(&job, None));
    let _ = futures_util::FutureExt::now_or_never(&mut run);
    drop(run);
    let start = world.runtime.now();
    world
        .runtime
        .set_time(Timestamp::from_millis(start.as_millis() - 3_600_000));
    world.get(&id);
    world.pup.run_tasks();
    assert_eq!(world.completed(&id)["stock"], 1);
}

#[test]
fn five_deaths_of_the_process_end_the_task_and_progress_starts_the_count_anew() {
    let world = World::new();
    let id = world.create("ask_beside_step", json!({ "seconds": 10 }), "c1");
    let mut begun = 0;
    while let Some((at, job)) = world.pup.background().take_next() {
        if at > world.runtime.now() {
            world.runtime.set_time(at);
        }
        let service = world.pup.service();
        let run = Box::pin(service.run_task(&job, None));
        let death = Box::pin(world.runtime.sleep(SECOND));
        // The process dies a second into each run.
        let ended = world.runtime.run(async {
            match futures_util::future::select(run, death).await {
                futures_util::future::Either::Left((ran, _)) => Some(ran.unwrap()),
                futures_util::future::Either::Right(((), run)) => {
                    drop(run);
                    None
                }
            }
        });
        begun += 1;
        if ended == Some(Ran::Ended) {
            break;
        }
        assert!(begun < 20, "it never ends");
        world.runtime.advance(Duration::from_secs(60));
        world.get(&id);
    }
    assert_eq!(begun, 6, "five runs died, and the sixth ended it");
    let task = world.get(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(world.look()["stock"], 0);
}

#[test]
fn a_run_that_is_cut_off_without_getting_anywhere_counts_as_a_death() {
    let world = World::new();
    let id = world.create("ask_beside_step", json!({ "seconds": 1_000 }), "c1");
    let mut runs = 0;
    while let Some((at, job)) = world.pup.background().take_next() {
        let now = world.runtime.now().max(at);
        world.runtime.set_time(now);
        let until = Some(now + Duration::from_secs(100));
        world
            .runtime
            .run(world.pup.service().run_task(&job, until))
            .unwrap();
        runs += 1;
        assert!(runs < 20);
    }
    assert_eq!(runs, 5);
    assert_eq!(world.get(&id)["status"], "failed");
}

#[test]
fn the_time_and_random_numbers_are_those_of_the_first_run() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::<Value>::new()));
    let note = std::sync::Arc::clone(&seen);
    let tool = Tool::task("draw", move |task: TaskContext| {
        let note = std::sync::Arc::clone(&note);
        async move {
            let drawn = json!([task.now().as_millis(), task.random().to_string()]);
            note.lock().unwrap().push(drawn);
            task.sleep(SECOND).await?;
            Ok::<_, ToolError>(())
        }
    });
    let world = of_one_tool(tool, MemoryStore::default());
    world.create("draw", json!({}), "c1");
    world.pup.run_tasks();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], seen[1]);
}
