//! Whole services over the store, one on each handle: what comes 64 times at once takes effect once.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Failure, Harness,
    ensure::{ensure, ensure_eq},
    harness::NOW,
    turns::Turns,
};
use crate::{
    budget::Budget,
    prelude::*,
    service::Service,
    store::Store,
    testing::{Answer, Sent, Signer},
};

const DUPLICATES: usize = 64;

/// Longer than all pauses that there can be, were they as long as they are said to be.
const PATIENCE: Duration = Duration::from_secs(1_000_000);

#[derive(Serialize, JsonSchema)]
struct Number {
    number: i64,
}

/// Reads a number and writes the next: a lost update or a second run shows in the answer.
async fn next(ctx: ToolContext) -> Result<Number, ToolError> {
    let number = ctx.state().get::<i64>("number").await?.unwrap_or(0) + 1;
    ctx.state().put("number", &number)?;
    Ok(Number { number })
}

async fn look(ctx: ToolContext) -> Result<Number, ToolError> {
    let number = ctx.state().get("number").await?.unwrap_or(0);
    Ok(Number { number })
}

async fn welcome(ctx: EventContext) -> Result<Presentation, ToolError> {
    let number = ctx.state().get::<i64>("number").await?.unwrap_or(0) + 1;
    ctx.state().put("number", &number)?;
    Ok(Presentation::new().field("Number", number.to_string()))
}

/// Two instances of one extension, and an installation that no other case has.
struct World {
    signer: Signer,
    instances: [Service; 2],
    installation: String,
}

impl World {
    fn over<S: Store>(harness: &Harness<S>) -> Result<Self, Failure> {
        let signer = Signer::new();
        let instance = |store: &Arc<S>| {
            let extension = Extension::builder("once", "Once")
                .author("Example author")
                .description("Counts.")
                .summary("Counts.")
                .instructions("For the store suite.")
                .tool(Tool::new("next", next))
                .tool(Tool::new("look", look).read_only())
                .on_member_joined(welcome)
                .build()?;
            let runtime = Turns::new(harness.draw());
            let store = Arc::clone(store);
            // Waiters count what they wait, and pauses here take no time: how slow the store is must not end them.
            let config = signer
                .config()
                .budget(Budget::new(PATIENCE, Duration::from_secs(1)));
            Ok::<_, Failure>(Service::new(extension, config, store, runtime)?)
        };
        Ok(Self {
            instances: [instance(&harness.store)?, instance(&harness.other)?],
            installation: harness.unique(),
            signer,
        })
    }

    /// `webhook-id`s are unique per secret, so that they are made from the installation here.
    fn call(&self, tool: &str, id: &str) -> Sent {
        self.signer
            .call(tool, json!({}), NOW)
            .webhook_id(format!("{}-{id}", self.installation))
            .installation(&self.installation)
    }

    fn delivery(&self) -> Sent {
        let installation = json!(self.installation);
        self.signer
            .event("member.joined", "member-1", NOW)
            .webhook_id(format!("{}-delivery", self.installation))
            .context("installationId", installation)
    }

    /// Sends all of them at once, to one instance and the other in turn.
    async fn at_once(&self, requests: Vec<Sent>) -> Vec<Answer> {
        let sending = requests.iter().zip(self.instances.iter().cycle());
        join_all(sending.map(async |(request, service)| {
            Answer::of(service.handle(request.to_http(), NOW).await)
        }))
        .await
    }

    async fn number(&self) -> Result<Value, Failure> {
        // The signer numbers its requests; this one is a new request each time.
        let look = self.signer.call("look", json!({}), NOW);
        let look = self.call("look", look.id());
        let answers = self.at_once(vec![look]).await;
        number_of(answers.first())
    }
}

fn number_of(answer: Option<&Answer>) -> Result<Value, Failure> {
    let answer = answer.ok_or_else(|| Failure::new("there is no answer"))?;
    let json: Value = serde_json::from_slice(answer.http().body())?;
    let number = json.pointer("/result/structuredContent/number");
    number
        .cloned()
        .ok_or_else(|| Failure::new(format!("no number, but {}: {json}", answer.status())))
}

pub(super) async fn of_64_duplicates_of_a_call_one_takes_effect<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let world = World::over(harness)?;
    let duplicate = |number| {
        let id = format!("duplicate-{number}");
        world.call("next", &id).call_id("call")
    };
    let requests: Vec<Sent> = (0..DUPLICATES).map(duplicate).collect();
    for answer in world.at_once(requests.clone()).await {
        ensure_eq!(number_of(Some(&answer))?, 1, "a duplicate's answer");
    }
    ensure_eq!(world.number().await?, 1, "the effect");
    // Each of them committed a claim of its own, though one alone ran.
    for answer in world.at_once(requests).await {
        ensure_eq!(
            answer.status(),
            StatusCode::CONFLICT,
            "a duplicate's replay"
        );
    }
    ensure_eq!(world.number().await?, 1, "the effect after the replays");
    Ok(())
}

pub(super) async fn of_64_copies_of_a_delivery_one_takes_effect<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let world = World::over(harness)?;
    let answers = world.at_once(vec![world.delivery(); DUPLICATES]).await;
    let first = answers.first().map(|answer| answer.http().body().clone());
    let first = first.ok_or_else(|| Failure::new("there is no answer"))?;
    let shown: Value = serde_json::from_slice(&first)?;
    ensure_eq!(
        shown["presentation"]["fields"][0]["value"],
        "1",
        "the answer"
    );
    for answer in &answers {
        ensure_eq!(answer.status(), StatusCode::OK, "a copy's status");
        ensure!(
            *answer.http().body() == first,
            "two copies have other bytes"
        );
    }
    ensure_eq!(world.number().await?, 1, "the effect");
    Ok(())
}

pub(super) async fn of_64_replays_of_a_request_one_is_answered<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let world = World::over(harness)?;
    // Without a callId: nothing but the claim keeps the copies from running.
    let answers = world
        .at_once(vec![world.call("next", "same"); DUPLICATES])
        .await;
    let count = |status: StatusCode| {
        answers
            .iter()
            .filter(|answer| answer.status() == status)
            .count()
    };
    ensure_eq!(count(StatusCode::OK), 1, "copies that were answered");
    ensure_eq!(
        count(StatusCode::CONFLICT),
        DUPLICATES - 1,
        "copies that were refused"
    );
    ensure_eq!(world.number().await?, 1, "the effect");
    Ok(())
}

pub(super) async fn of_64_calls_at_once_each_takes_effect<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let world = World::over(harness)?;
    let call = |number| {
        let id = format!("call-{number}");
        world.call("next", &id).call_id(&id)
    };
    let answers = world.at_once((0..DUPLICATES).map(call).collect()).await;
    let mut numbers = Vec::new();
    for answer in &answers {
        numbers.extend(number_of(Some(answer))?.as_u64());
    }
    numbers.sort_unstable();
    let expected: Vec<u64> = (1..).take(DUPLICATES).collect();
    ensure_eq!(numbers, expected, "each call has a number of its own");
    ensure_eq!(world.number().await?, DUPLICATES, "the counter");
    Ok(())
}
