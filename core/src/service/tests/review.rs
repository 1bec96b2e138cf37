//! Where the promise of once is easily broken: re-runs, late ends, torn reads, and the limits of time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, join, select};
use serde_json::{Value, json};

use super::fixture::World;
use crate::{
    extension::ExtensionBuilder,
    marker::MaybeSend,
    mcp::code,
    prelude::*,
    runtime::{HttpError, Runtime},
    service::Service,
    store::{
        Commit, Item, Key, MemoryStore, Outcome, Page, Query, Store, StoreError,
        testing::{Fault, FaultStore},
    },
    testing::{Answer, Pup, Signer, SimRuntime},
};

/// An extension of these tools.
fn extension(tools: impl IntoIterator<Item = Tool>) -> Extension {
    let builder = Extension::builder("review", "Review")
        .author("Example author")
        .description("Does one thing a tool.")
        .summary("Does one thing a tool.")
        .instructions("For tests.");
    tools
        .into_iter()
        .fold(builder, ExtensionBuilder::tool)
        .build()
        .unwrap()
}

/// What happened outside, counted.
#[derive(Clone, Debug, Default)]
struct Count(Arc<AtomicU32>);

impl Count {
    fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn what_may_not_run_twice_is_not_run_again_for_a_conflict_on_state() {
    let paid = Count::default();
    let counted = paid.clone();
    let pay = Tool::new("pay", move |ctx: ToolContext| {
        let paid = counted.clone();
        async move {
            let number = ctx.state().get::<i64>("number").await?.unwrap_or(0) + 1;
            paid.up();
            ctx.sleep(Duration::from_secs(1)).await;
            ctx.state().put("number", &number)?;
            Ok::<_, ToolError>(number)
        }
    })
    .at_most_once();
    let runtime = SimRuntime::new();
    let pup = Pup::new(extension([pay]), &runtime);
    let (first, second) = (
        pup.call("pay", json!({})).call_id("c1"),
        pup.call("pay", json!({})).call_id("c2"),
    );
    let (one, two) = runtime.run(join(pup.deliver(&first), pup.deliver(&second)));
    assert_eq!(paid.get(), 2, "each call pays once");
    assert_eq!(one.structured(), json!(1));
    assert_eq!(two.error_code(), Some(code::OUTCOME_UNKNOWN));
    // Nor does a retry pay again.
    runtime.advance(Duration::from_secs(60));
    let retry = second.retry().signed_at(runtime.now());
    assert_eq!(pup.send(&retry).error_code(), Some(code::OUTCOME_UNKNOWN));
    assert_eq!(paid.get(), 2);

    // A call without an id is not run twice either.
    let (first, second) = (pup.call("pay", json!({})), pup.call("pay", json!({})));
    let (_, two) = runtime.run(join(pup.deliver(&first), pup.deliver(&second)));
    assert_eq!(two.error_code(), Some(code::OUTCOME_UNKNOWN));
    assert_eq!(paid.get(), 4);
}

/// A store that takes its time over the records of steps.
struct SlowSteps {
    store: MemoryStore,
    runtime: SimRuntime,
    takes: Duration,
}

impl Store for SlowSteps {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.store.get(key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let of_a_step = |name: &str| name.starts_with("step/");
        if commit
            .changes()
            .iter()
            .any(|change| of_a_step(change.name.as_str()))
        {
            self.runtime.sleep(self.takes).await;
        }
        self.store.commit(commit, now).await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.store.list(query, now).await
    }
}

fn slow_steps(runtime: &SimRuntime) -> SlowSteps {
    SlowSteps {
        store: MemoryStore::default(),
        runtime: runtime.clone(),
        takes: Duration::from_millis(500),
    }
}

#[test]
fn the_record_of_a_step_is_committed_though_the_budget_ends_meanwhile() {
    let paid = Count::default();
    let counted = paid.clone();
    let pay = Tool::new("pay", move |ctx: ToolContext| {
        let paid = counted.clone();
        async move {
            ctx.sleep(Duration::from_millis(3_800)).await;
            ctx.step("pay", || async { Ok(paid.up()) }).await
        }
    });
    let runtime = SimRuntime::new();
    let pup = Pup::with_store(extension([pay]), &runtime, slow_steps(&runtime));
    let first = pup.call("pay", json!({})).call_id("c1");
    assert_eq!(pup.send(&first).error_code(), Some(code::OUT_OF_TIME));
    let retry = pup.send(&first.retry().signed_at(runtime.now()));
    assert_eq!(retry.structured(), json!(1));
    assert_eq!(paid.get(), 1);
}

#[test]
fn the_record_of_a_step_is_committed_though_the_handler_goes_on_without_it() {
    let paid = Count::default();
    let counted = (paid.clone(), Count::default());
    let pay = Tool::new("pay", move |ctx: ToolContext| {
        let (paid, runs) = counted.clone();
        async move {
            let step = Box::pin(ctx.step("pay", || async { Ok(paid.up()) }));
            let patience = Box::pin(ctx.sleep(Duration::from_millis(100)));
            match (runs.up(), select(step, patience).await) {
                (1, _) => Err(ToolError::failed("the first run gives up")),
                (_, Either::Left((paid, _))) => paid,
                (_, Either::Right(_)) => Err(ToolError::failed("it was done before")),
            }
        }
    });
    let runtime = SimRuntime::new();
    let pup = Pup::with_store(extension([pay]), &runtime, slow_steps(&runtime));
    let first = pup.call("pay", json!({})).call_id("c1");
    assert_eq!(pup.send(&first).error_code(), Some(code::INTERNAL));
    assert_eq!(pup.send(&first.retry()).structured(), json!(1));
    assert_eq!(paid.get(), 1);
}

#[test]
fn answers_can_be_kept_for_ever() {
    async fn next(ctx: ToolContext) -> Result<i64, ToolError> {
        let number = ctx.state().get::<i64>("number").await?.unwrap_or(0) + 1;
        ctx.state().put_for("number", &number, Duration::MAX)?;
        Ok(number)
    }
    let runtime = SimRuntime::new();
    let pup = Pup::with_config(
        extension([Tool::new("next", next)]),
        &runtime,
        MemoryStore::default(),
        |config| config.retention(Duration::MAX),
    );
    for _ in 0..2 {
        let sent = pup.call("next", json!({})).call_id("c1");
        assert_eq!(pup.send(&sent).structured(), json!(1));
        runtime.advance(Duration::from_secs(400 * 86_400));
    }
    let other = pup.call("next", json!({})).call_id("c2");
    assert_eq!(pup.send(&other).structured(), json!(2));
}

#[test]
fn a_record_outlives_its_run_however_short_answers_are_kept() {
    let runs = Count::default();
    let counted = runs.clone();
    let slow = Tool::new("slow", move |ctx: ToolContext| {
        let runs = counted.clone();
        async move {
            runs.up();
            ctx.sleep(Duration::from_secs(1)).await;
            ctx.state().add("sum", 1)?;
            Ok::<_, ToolError>(())
        }
    });
    let runtime = SimRuntime::new();
    let pup = Pup::with_config(
        extension([slow]),
        &runtime,
        MemoryStore::default(),
        |config| config.retention(Duration::ZERO),
    );
    let (first, second) = (
        pup.call("slow", json!({})).call_id("c1"),
        pup.call("slow", json!({})).call_id("c1"),
    );
    let (one, two) = runtime.run(join(pup.deliver(&first), pup.deliver(&second)));
    assert_eq!(one.result(), two.result());
    assert_eq!(runs.get(), 1);
}

#[test]
fn a_duplicate_that_loses_the_store_while_it_waits_does_not_say_that_nothing_ran() {
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let first = world
        .pup
        .call("slow", json!({ "seconds": 2 }))
        .call_id("c1");
    let second = first.retry();
    // The first's record; the second's attempt to take it, and its claim; then its next look at the record.
    faults.fail_at(3, Fault::FailBefore);
    let (one, two) = world
        .runtime
        .run(join(world.pup.deliver(&first), world.pup.deliver(&second)));
    assert_eq!(one.structured(), json!({ "number": 1 }));
    assert_eq!(
        (two.status().as_u16(), two.error_code()),
        (503, Some(code::OUTCOME_UNKNOWN))
    );
}

#[test]
fn a_rejection_for_what_was_never_so_is_not_recorded() {
    async fn spend(ctx: ToolContext) -> Result<i64, ToolError> {
        let left = ctx.state().get::<i64>("left").await?.unwrap_or(0);
        ctx.sleep(Duration::from_secs(1)).await;
        let right = ctx.state().get::<i64>("right").await?.unwrap_or(0);
        match left + right {
            10 => Ok(10),
            _ => Err(ToolError::reject("you don't have ten")),
        }
    }
    async fn fill(ctx: ToolContext) -> Result<(), ToolError> {
        ctx.state().put("right", &10)?;
        Ok(())
    }
    /// Moves all of it: there are ten before and after.
    async fn move_left(ctx: ToolContext) -> Result<(), ToolError> {
        ctx.state().put("left", &10)?;
        ctx.state().put("right", &0)?;
        Ok(())
    }
    let runtime = SimRuntime::new();
    let tools = [
        Tool::new("spend", spend),
        Tool::new("fill", fill),
        Tool::new("move_left", move_left),
    ];
    let pup = Pup::new(extension(tools), &runtime);
    let filled = pup.send(&pup.call("fill", json!({})));
    assert_eq!(filled.result()["isError"], false);
    let (spends, moves) = (
        pup.call("spend", json!({})).call_id("c1"),
        pup.call("move_left", json!({})),
    );
    let (spent, _) = runtime.run(join(pup.deliver(&spends), async {
        runtime.sleep(Duration::from_millis(500)).await;
        pup.deliver(&moves).await
    }));
    assert_eq!(spent.structured(), json!(10));
}

/// A runtime whose clock can be set without its timers.
struct SetBack {
    runtime: SimRuntime,
    seconds: Count,
}

impl Runtime for SetBack {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.runtime.now().as_secs() - u64::from(self.seconds.get()))
    }

    fn random(&self) -> u128 {
        self.runtime.random()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + MaybeSend + 'static {
        self.runtime.sleep(duration)
    }

    fn var(&self, name: &str) -> Option<String> {
        self.runtime.var(name)
    }

    fn http(
        &self,
        request: http::Request<bytes::Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<http::Response<bytes::Bytes>, HttpError>> + MaybeSend + 'static
    {
        self.runtime.http(request, timeout)
    }
}

#[test]
fn a_waiter_whose_clock_is_set_back_answers_in_time_all_the_same() {
    async fn next(ctx: ToolContext) -> Result<(), ToolError> {
        ctx.state().add("next", 1)?;
        Ok(())
    }
    let (runtime, seconds) = (SimRuntime::new(), Count::default());
    let clock = SetBack {
        runtime: runtime.clone(),
        seconds: seconds.clone(),
    };
    let faults = FaultStore::new(MemoryStore::default());
    // The first never commits its result.
    faults.fail_at(1, Fault::HangBefore);
    let signer = Signer::new();
    let tools = extension([Tool::new("next", next)]);
    let service = Service::new(tools, signer.config(), faults, clock).unwrap();
    let call = || {
        signer
            .call("next", json!({}), runtime.now())
            .call_id("c1")
            .to_http()
    };
    let first = Box::pin(service.handle(call(), runtime.now()));
    let soon = Box::pin(runtime.sleep(Duration::from_millis(1)));
    runtime.run(select(first, soon));

    let began = runtime.now();
    let (answer, ()) = runtime.run(join(service.handle(call(), began), async {
        runtime.sleep(Duration::from_secs(1)).await;
        seconds.0.store(3_600, Ordering::SeqCst);
    }));
    assert_eq!(Answer::of(answer).error_code(), Some(code::STILL_RUNNING));
    assert_eq!(runtime.now().since(began), Duration::from_secs(4));
}

#[test]
fn state_that_is_written_in_a_step_is_refused_and_not_lost() {
    async fn pay(ctx: ToolContext) -> Result<i64, ToolError> {
        let number = ctx.state().get::<i64>("number").await?.unwrap_or(0) + 1;
        ctx.step("pay", || async {
            // A later run recalls the step, and would not write this.
            ctx.state().add("paid", 1)?;
            Ok(())
        })
        .await?;
        ctx.sleep(Duration::from_secs(1)).await;
        ctx.state().put("number", &number)?;
        Ok(number)
    }
    async fn look(ctx: ToolContext) -> Result<Value, ToolError> {
        let state = ctx.state();
        Ok(json!([
            state.get::<i64>("number").await?.unwrap_or(0),
            state.get::<i64>("paid").await?.unwrap_or(0)
        ]))
    }
    let runtime = SimRuntime::new();
    let tools = [Tool::new("pay", pay), Tool::new("look", look).read_only()];
    let pup = Pup::new(extension(tools), &runtime);
    let (first, second) = (
        pup.call("pay", json!({})).call_id("c1"),
        pup.call("pay", json!({})).call_id("c2"),
    );
    let _ = runtime.run(join(pup.deliver(&first), pup.deliver(&second)));
    let stands = pup.send(&pup.call("look", json!({}))).structured();
    assert_eq!(stands[0], stands[1], "as often paid as numbered");
}

#[test]
fn a_call_touches_ninety_nine_keys_beside_its_record() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct Keys {
        keys: u32,
    }
    async fn fill(ctx: ToolContext, input: Keys) -> Result<(), ToolError> {
        for key in 0..input.keys {
            ctx.state().put(("key", key), &true)?;
        }
        Ok(())
    }
    let runtime = SimRuntime::new();
    let pup = Pup::new(extension([Tool::new("fill", fill)]), &runtime);
    let fill = |keys: u32| {
        let call_id = format!("c{keys}");
        pup.send(&pup.call("fill", json!({ "keys": keys })).call_id(&call_id))
    };
    assert_eq!(fill(99).result()["isError"], false);
    assert_eq!(fill(100).error_code(), Some(code::INTERNAL));
}

#[test]
fn a_run_sees_its_own_writes_in_gets_and_lists_over_many_pages() {
    async fn fill(ctx: ToolContext) -> Result<(), ToolError> {
        let state = ctx.state();
        for number in 0_u32..90 {
            state.put(("list", number), &number)?;
        }
        Ok(())
    }
    async fn fill_more(ctx: ToolContext) -> Result<(), ToolError> {
        for number in 90_u32..180 {
            ctx.state().put(("list", number), &number)?;
        }
        ctx.state().add("counter", 5)?;
        ctx.asker_state().put(("list", 7), &7)?;
        Ok(())
    }
    async fn check(ctx: ToolContext) -> Result<Value, ToolError> {
        let state = ctx.state();
        // Own deletions at the front, an own entry in the middle of the second page, one at the end.
        for number in 0_u32..60 {
            state.delete(("list", number))?;
        }
        state.put(("list", 150_u32), &1_000)?;
        state.put(("list", 999_u32), &999)?;
        state.add(("list", 998_u32), 3)?;
        let all: Vec<i64> = values(state.list("list").all().await?);
        let few: Vec<i64> = values(state.list("list").first(2).await?);
        state.add("counter", 2)?;
        let counter = state.get::<i64>("counter").await?;
        state.delete("counter")?;
        let deleted = state.get::<i64>("counter").await?;
        state.add("counter", 1)?;
        let again = state.get::<i64>("counter").await?;
        let others: Vec<i64> = values(ctx.member_state("someone-else").list(()).all().await?);
        let mine: Vec<i64> = values(ctx.asker_state().list(()).all().await?);
        Ok(
            json!({ "all": all, "few": few, "counter": [counter, deleted, again], "others": others, "mine": mine }),
        )
    }
    fn values(entries: Vec<crate::state::Entry<i64>>) -> Vec<i64> {
        entries.into_iter().map(|entry| entry.value).collect()
    }
    let runtime = SimRuntime::new();
    let tools = [
        Tool::new("fill", fill),
        Tool::new("fill_more", fill_more),
        Tool::new("check", check),
    ];
    let pup = Pup::new(extension(tools), &runtime);
    for tool in ["fill", "fill_more"] {
        let filled = pup.send(&pup.call(tool, json!({})));
        assert_eq!(filled.result()["isError"], false);
    }
    let seen = pup
        .send(&pup.call("check", json!({})).call_id("c1"))
        .structured();
    let mut expected: Vec<i64> = (60..150).collect();
    expected.push(1_000);
    expected.extend(151..180);
    expected.extend([3, 999]);
    assert_eq!(seen["all"], json!(expected));
    assert_eq!(seen["few"], json!([60, 61]));
    assert_eq!(seen["counter"], json!([7, null, 1]));
    assert_eq!((&seen["others"], &seen["mine"]), (&json!([]), &json!([7])));
}
