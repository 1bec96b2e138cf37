//! An extension whose tools are tasks, and a pup that plays with them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, join, join3, select};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    prelude::*,
    store::{MemoryStore, Store},
    task::SleepError,
    testing::{Answer, Pup, Sent, SimRuntime},
};

/// What functions did beyond the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside {
    /// How often any function began.
    pub(super) runs: Arc<AtomicU32>,
    /// How often the work of a step began.
    pub(super) works: Arc<AtomicU32>,
}

impl Outside {
    pub(super) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    pub(super) fn works(&self) -> u32 {
        self.works.load(Ordering::SeqCst)
    }

    fn begin(&self) -> u32 {
        self.runs.fetch_add(1, Ordering::SeqCst)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Taste {
    taste: Flavour,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Flavour {
    Sweet,
    Salty,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Amount {
    #[schemars(range(min = 1, max = 9))]
    amount: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Batches {
    batches: u32,
}

async fn choose(task: TaskContext) -> Result<Value, ToolError> {
    let answer: Taste = task.ask("Sweet or salty?").await?;
    Ok(json!({ "snack": match answer.taste {
        Flavour::Sweet => "fruit",
        Flavour::Salty => "popcorn",
    }}))
}

/// Adds one to `key`, and says what it then is: a lost update or a second time would show.
async fn count(step: StepContext, key: &str) -> Result<i64, ToolError> {
    let number = step.state().get::<i64>(key).await?.unwrap_or(0) + 1;
    step.state().put(key, &number)?;
    Ok(number)
}

async fn bake(task: TaskContext, input: Batches) -> Result<Value, ToolError> {
    let mut last = 0;
    for batch in 1..=input.batches {
        last = task
            .step("batch", |step| async move { count(step, "stock").await })
            .await?;
        task.progress(format!("{batch} of {}", input.batches));
        if batch < input.batches {
            task.sleep(Duration::from_millis(250)).await?;
        }
    }
    Ok(json!({ "batches": input.batches, "stock": last }))
}

/// Everything there is, in parallel and in turn.
async fn everything(task: TaskContext) -> Result<Value, ToolError> {
    let began = task.now();
    let drawn = task.random();
    task.progress("asking");
    let (taste, amount, stock) = join3(
        task.ask::<Taste>("Sweet or salty?"),
        task.ask::<Amount>("How many?"),
        task.step("first", |step| async move { count(step, "stock").await }),
    )
    .await;
    let (_, amount, stock) = (taste?, amount?, stock?);
    task.sleep(Duration::from_secs(60)).await?;
    let slept = task.now().since(began).as_secs();
    task.progress("counting");
    let second = task
        .step("second", |step| async move {
            step.state().add("sum", i64::from(amount.amount))?;
            count(step, "stock").await
        })
        .await?;
    let third = task
        .step("third", |step| async move {
            step.state().put("drawn", &format!("{drawn:032x}"))?;
            Ok(())
        })
        .await;
    third?;
    Ok(
        json!({ "first": stock, "second": second, "slept": slept, "drawn": format!("{drawn:032x}") }),
    )
}

/// Two steps at once on one key.
async fn collide(task: TaskContext) -> Result<Value, ToolError> {
    let one = task.step("one", |step| async move { count(step, "stock").await });
    let two = task.step("two", |step| async move { count(step, "stock").await });
    let (one, two) = join(one, two).await;
    let (one, two) = (one?, two?);
    Ok(json!({ "sum": one + two }))
}

/// A question against the clock.
async fn hurry(task: TaskContext) -> Result<Value, ToolError> {
    let question = Box::pin(task.ask::<Taste>("Quick: sweet or salty?"));
    let alarm = Box::pin(task.sleep(Duration::from_secs(100)));
    let answered = match select(question, alarm).await {
        Either::Left((answer, _)) => answer.map(|_| true)?,
        Either::Right((woke, _)) => woke.map(|()| false)?,
    };
    let stock = task
        .step("after", |step| async move { count(step, "stock").await })
        .await?;
    Ok(json!({ "answered": answered, "stock": stock }))
}

async fn sleep_long(task: TaskContext) -> Result<Value, ToolError> {
    let refused = task.sleep(Duration::from_secs(48 * 3_600)).await;
    let past = matches!(refused, Err(SleepError::PastEnd));
    task.sleep_until(Timestamp::EPOCH).await?;
    Ok(json!({ "refused": past }))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Long {
    seconds: u64,
}

/// A question beside a step that takes long.
async fn ask_beside_step(task: TaskContext, input: Long) -> Result<Value, ToolError> {
    let (answer, stock) = join(
        task.ask::<Taste>("Sweet or salty?"),
        task.step("slow", |step| async move {
            step.sleep(Duration::from_secs(input.seconds)).await;
            count(step, "stock").await
        }),
    )
    .await;
    let _ = answer?;
    Ok(json!({ "stock": stock? }))
}

/// A step against the clock.
async fn time_out(task: TaskContext, input: Long) -> Result<Value, ToolError> {
    let work = Box::pin(task.step("slow", |step| async move {
        step.sleep(Duration::from_secs(input.seconds)).await;
        count(step, "stock").await
    }));
    let alarm = Box::pin(task.sleep(Duration::from_secs(10)));
    let in_time = match select(work, alarm).await {
        Either::Left((done, _)) => done.map(|_| true)?,
        Either::Right((woke, _)) => woke.map(|()| false)?,
    };
    let after = task
        .step("after", |step| async move { count(step, "after").await })
        .await?;
    Ok(json!({ "in_time": in_time, "after": after }))
}

pub(super) fn extension(outside: &Outside) -> Extension {
    let (panicking, failing, working, many, rejecting) = (
        outside.clone(),
        outside.clone(),
        outside.clone(),
        outside.clone(),
        outside.clone(),
    );
    Extension::builder("tasks", "Tasks")
        .author("Example author")
        .description("Tasks for tests.")
        .summary("Tasks for tests.")
        .instructions("For tests.")
        .tool(Tool::task("choose", choose).asks::<Taste>().read_only())
        .tool(Tool::task("bake", bake))
        .tool(
            Tool::task("everything", everything)
                .asks::<Taste>()
                .asks::<Amount>(),
        )
        .tool(Tool::task("collide", collide))
        .tool(Tool::task("hurry", hurry).asks::<Taste>())
        .tool(Tool::task("time_out", time_out))
        .tool(Tool::task("sleep_long", sleep_long))
        .tool(Tool::task("ask_beside_step", ask_beside_step).asks::<Taste>())
        .tool(Tool::task("panic", move |_: TaskContext| {
            let outside = panicking.clone();
            async move {
                outside.begin();
                if outside.runs() < 1_000 {
                    panic!("a function that panics");
                }
                Ok::<(), ToolError>(())
            }
        }))
        .tool(Tool::task("fail_in_step", move |task: TaskContext| {
            let outside = failing.clone();
            async move {
                let works = &outside.works;
                let first = task
                    .step("fails", |step| async move {
                        works.fetch_add(1, Ordering::SeqCst);
                        step.state().add("stock", 100)?;
                        Err::<(), _>(ToolError::failed("a secret cause"))
                    })
                    .await;
                let failed = first.is_err_and(|error| !error.is_rejection());
                task.sleep(Duration::from_secs(1)).await?;
                task.step("works", |step| async move {
                    works.fetch_add(1, Ordering::SeqCst);
                    step.state().add("stock", 1)?;
                    Ok(())
                })
                .await?;
                Ok::<_, ToolError>(json!({ "failed": failed }))
            }
        }))
        .tool(Tool::task("fail", move |task: TaskContext| {
            let outside = working.clone();
            async move {
                outside.begin();
                task.step("fails", |_| async move {
                    Err::<(), _>(ToolError::failed("a secret cause"))
                })
                .await
            }
        }))
        .tool(Tool::task("reject", move |task: TaskContext| {
            let outside = rejecting.clone();
            async move {
                outside.begin();
                task.step("rejects", |step| async move {
                    step.state().add("stock", 100)?;
                    Err::<(), _>(ToolError::reject("not today"))
                })
                .await
            }
        }))
        .tool(Tool::task(
            "many",
            move |task: TaskContext, input: Batches| {
                let outside = many.clone();
                async move {
                    outside.begin();
                    let works = &outside.works;
                    for _ in 0..input.batches {
                        task.step("one of many", |step| async move {
                            works.fetch_add(1, Ordering::SeqCst);
                            step.sleep(Duration::from_millis(1)).await;
                            step.state().add("stock", 1)?;
                            Ok(())
                        })
                        .await?;
                    }
                    Ok::<_, ToolError>(json!({ "done": input.batches }))
                }
            },
        ))
        .tool(Tool::new("look", look).read_only())
        .build()
        .unwrap()
}

async fn look(ctx: ToolContext) -> Result<Value, ToolError> {
    let state = ctx.state();
    Ok(json!({
        "stock": state.get::<i64>("stock").await?.unwrap_or(0),
        "sum": state.get::<i64>("sum").await?.unwrap_or(0),
        "drawn": state.get::<String>("drawn").await?,
    }))
}

/// A world with one tool, on a store of its own.
pub(super) fn of_one_tool(tool: Tool) -> World {
    let extension = Extension::builder("one", "One")
        .author("Example author")
        .description("One.")
        .summary("One.")
        .instructions("For tests.")
        .tool(tool)
        .build()
        .unwrap();
    World::of(extension, Outside::default(), MemoryStore::default(), 0)
}

/// A pup, its runtime and what happened outside.
pub(super) struct World {
    pub(super) pup: Pup,
    pub(super) runtime: SimRuntime,
    pub(super) outside: Outside,
    number: u32,
}

impl World {
    pub(super) fn new() -> Self {
        Self::over(MemoryStore::default())
    }

    pub(super) fn over(store: impl Store) -> Self {
        Self::instance(store, 0)
    }

    /// One of several processes over one store, each with a number of its own.
    pub(super) fn instance(store: impl Store, number: u32) -> Self {
        let outside = Outside::default();
        Self::of(extension(&outside), outside, store, number)
    }

    /// The same with another extension.
    pub(super) fn of(
        extension: Extension,
        outside: Outside,
        store: impl Store,
        number: u32,
    ) -> Self {
        let runtime = SimRuntime::with_seed(number);
        let pup = Pup::with_store(extension, &runtime, store);
        Self {
            pup,
            runtime,
            outside,
            number,
        }
    }

    /// Calls a task tool; the task's id.
    pub(super) fn create(&self, tool: &str, arguments: Value, call_id: &str) -> String {
        let sent = self.pup.call(tool, arguments).call_id(call_id);
        let task = self.send(&sent).result();
        assert_eq!(task["resultType"], "task");
        task["taskId"].as_str().unwrap().to_owned()
    }

    pub(super) fn send(&self, sent: &Sent) -> Answer {
        let answer = self.pup.send(&self.own(sent));
        #[cfg(not(target_arch = "wasm32"))]
        super::shapes::check(sent, &answer);
        answer
    }

    /// A request under an id that no other process's pup gives.
    pub(super) fn own(&self, sent: &Sent) -> Sent {
        let id = format!("{}-{}", self.number, sent.id());
        sent.clone().webhook_id(id)
    }

    /// How the task stands.
    pub(super) fn get(&self, task_id: &str) -> Value {
        self.send(&self.pup.task("tasks/get", task_id)).result()
    }

    /// Answers what the task asks.
    pub(super) fn answer(&self, task_id: &str, responses: Value) -> Answer {
        self.send(&self.pup.answer(task_id, responses))
    }

    /// The structured content of a completed task.
    pub(super) fn completed(&self, task_id: &str) -> Value {
        let mut task = self.get(task_id);
        assert_eq!(task["status"], "completed", "{task}");
        task["result"]["structuredContent"].take()
    }

    pub(super) fn look(&self) -> Value {
        self.send(&self.pup.call("look", json!({}))).structured()
    }
}

pub(super) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}
