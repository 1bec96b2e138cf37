//! An extension that does one thing a tool, and what it did outside.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    prelude::*,
    testing::{Answer, Pup, Sent, SimRuntime},
};

/// What handlers did beyond the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside {
    /// How often any handler began.
    pub(super) runs: Arc<AtomicU32>,
    /// How often something was paid.
    pub(super) payments: Arc<AtomicU32>,
}

impl Outside {
    pub(super) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    pub(super) fn payments(&self) -> u32 {
        self.payments.load(Ordering::SeqCst)
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    #[schemars(length(max = 100))]
    pub(super) text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Number {
    pub(super) number: i64,
}

/// Reads a number and writes the next: a lost update or a second run would show in the answer.
async fn next(ctx: ToolContext) -> Result<Number, ToolError> {
    let number = ctx.state().get::<i64>("next").await?.unwrap_or(0) + 1;
    ctx.state().put("next", &number)?;
    Ok(Number { number })
}

/// The same, with a pause in which others can come between.
async fn next_after(ctx: ToolContext, input: Seconds) -> Result<Number, ToolError> {
    let number = ctx.state().get::<i64>("next").await?.unwrap_or(0) + 1;
    ctx.sleep(Duration::from_secs(input.seconds)).await;
    ctx.state().put("next", &number)?;
    Ok(Number { number })
}

async fn add(ctx: ToolContext) -> Result<(), ToolError> {
    ctx.state().add("sum", 1)?;
    Ok(())
}

async fn look(ctx: ToolContext) -> Result<Value, ToolError> {
    let state = ctx.state();
    Ok(json!({
        "next": state.get::<i64>("next").await?.unwrap_or(0),
        "sum": state.get::<i64>("sum").await?.unwrap_or(0),
        "greeted": state.get::<i64>("greeted").await?.unwrap_or(0),
        "mine": ctx.asker_state().get::<String>("text").await?,
    }))
}

async fn keep(ctx: ToolContext, input: Text) -> Result<Text, ToolError> {
    ctx.asker_state().put("text", &input.text)?;
    Ok(input)
}

async fn reject(ctx: ToolContext) -> Result<(), ToolError> {
    ctx.state().add("sum", 100)?;
    Err(ToolError::reject("not today"))
}

async fn meddle(ctx: ToolContext) -> Result<(), ToolError> {
    ctx.state().add("sum", 100)?;
    Ok(())
}

async fn slow(ctx: ToolContext, input: Seconds) -> Result<Number, ToolError> {
    ctx.state().add("sum", 1)?;
    ctx.sleep(Duration::from_secs(input.seconds)).await;
    Ok(Number { number: 1 })
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Seconds {
    seconds: u64,
}

async fn bytes(input: Size) -> Result<Value, ToolError> {
    Ok(json!({ "text": "x".repeat(input.size) }))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Size {
    size: usize,
}

async fn quote(ctx: ToolContext) -> Result<Value, ToolError> {
    Ok(json!({ "content": ctx.user_request().map(|request| request.content.clone()) }))
}

async fn greet(ctx: EventContext, event: Event) -> Result<Presentation, ToolError> {
    let greeted = ctx.state().get::<i64>("greeted").await?.unwrap_or(0) + 1;
    ctx.state().put("greeted", &greeted)?;
    let greeting = ctx
        .settings()
        .text("greeting")
        .unwrap_or("Hello")
        .to_owned();
    Ok(Presentation::new().field(greeting, format!("{} is number {greeted}", event.member_id)))
}

pub(super) fn extension(outside: &Outside) -> Extension {
    let (failing, panicking, paying, stepping) = (
        outside.clone(),
        outside.clone(),
        outside.clone(),
        outside.clone(),
    );
    let (declining, first_only) = (outside.clone(), outside.clone());
    Extension::builder("fixture", "Fixture")
        .author("Example author")
        .description("Does one thing a tool.")
        .summary("Does one thing a tool.")
        .instructions("For tests.")
        .tool(Tool::new("next", next))
        .tool(Tool::new("next_after", next_after))
        .tool(Tool::new("add", add))
        .tool(Tool::new("look", look).read_only())
        .tool(Tool::new("keep", keep))
        .tool(Tool::new("reject", reject))
        .tool(Tool::new("meddle", meddle).read_only())
        .tool(Tool::new("slow", slow))
        .tool(Tool::new("slow_read", slow_read).read_only())
        .tool(Tool::new("bytes", bytes).read_only())
        .tool(Tool::new("bytes_write", bytes))
        .tool(Tool::new("quote", quote).read_only().user_request())
        .tool(Tool::new("quote_nothing", quote).read_only())
        .tool(Tool::new("fail", move |ctx: ToolContext| {
            let outside = failing.clone();
            async move {
                ctx.state().add("sum", 100)?;
                outside.runs.fetch_add(1, Ordering::SeqCst);
                Err::<(), _>(ToolError::failed("a secret cause"))
            }
        }))
        .tool(Tool::new("fail_first", move |ctx: ToolContext| {
            let outside = first_only.clone();
            async move {
                ctx.state().add("sum", 1)?;
                match outside.runs.fetch_add(1, Ordering::SeqCst) {
                    0 => Err(ToolError::failed("the first time fails")),
                    _ => Ok(()),
                }
            }
        }))
        .tool(Tool::new("panic", move |ctx: ToolContext| {
            let outside = panicking.clone();
            async move {
                ctx.state().add("sum", 100)?;
                if outside.runs.fetch_add(1, Ordering::SeqCst) < 1_000 {
                    panic!("a handler that panics");
                }
                Ok::<(), ToolError>(())
            }
        }))
        .tool(
            Tool::new("pay", move |ctx: ToolContext| {
                let outside = paying.clone();
                async move {
                    outside.payments.fetch_add(1, Ordering::SeqCst);
                    ctx.sleep(Duration::from_secs(1)).await;
                    ctx.state().add("sum", 1)?;
                    Ok::<(), ToolError>(())
                }
            })
            .at_most_once(),
        )
        .tool(
            Tool::new("pay_and_fail", move |_: ToolContext| {
                let outside = declining.clone();
                async move {
                    outside.payments.fetch_add(1, Ordering::SeqCst);
                    Err::<(), _>(ToolError::failed("the line broke"))
                }
            })
            .at_most_once(),
        )
        .tool(Tool::new("step", move |ctx: ToolContext| {
            let outside = stepping.clone();
            async move {
                outside.runs.fetch_add(1, Ordering::SeqCst);
                let number = ctx.state().get::<i64>("next").await?.unwrap_or(0) + 1;
                let paid = ctx
                    .step("pay", || async {
                        Ok(outside.payments.fetch_add(1, Ordering::SeqCst) + 1)
                    })
                    .await?;
                ctx.state().put("next", &number)?;
                Ok::<_, ToolError>(
                    json!({ "number": number, "paid": paid, "key": ctx.idempotency_key() }),
                )
            }
        }))
        .on_member_joined(greet)
        .build()
        .unwrap()
}

async fn slow_read(ctx: ToolContext, input: Seconds) -> Result<Number, ToolError> {
    ctx.sleep(Duration::from_secs(input.seconds)).await;
    Ok(Number { number: 1 })
}

/// A pup, its runtime and what happened outside.
pub(super) struct World {
    pub(super) pup: Pup,
    pub(super) runtime: SimRuntime,
    pub(super) outside: Outside,
}

impl World {
    pub(super) fn new() -> Self {
        Self::over(crate::store::MemoryStore::default())
    }

    pub(super) fn over(store: impl crate::store::Store) -> Self {
        Self::instance(store, 0)
    }

    /// One of several instances over one store, each with a number of its own.
    pub(super) fn instance(store: impl crate::store::Store, number: u32) -> Self {
        let runtime = SimRuntime::with_seed(number);
        let outside = Outside::default();
        let pup = Pup::with_store(extension(&outside), &runtime, store);
        Self {
            pup,
            runtime,
            outside,
        }
    }

    pub(super) fn call(&self, tool: &str, call_id: &str) -> Sent {
        self.pup.call(tool, json!({})).call_id(call_id)
    }

    /// The answer, held against MCP's schema where the oracle runs.
    pub(super) fn send(&self, sent: &Sent) -> Answer {
        let answer = self.pup.send(sent);
        #[cfg(not(target_arch = "wasm32"))]
        super::answers::check(sent, &answer);
        answer
    }

    /// What stands in the store, as the read-only tool sees it.
    pub(super) fn look(&self) -> Value {
        self.send(&self.pup.call("look", json!({}))).structured()
    }
}
