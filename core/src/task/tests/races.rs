//! Two runners, two pollers, an answerer and perhaps a canceller at one task, in random order: each store operation
//! takes a random time, some longer than a lease, so that runs go on that others have taken the task from.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::{LocalBoxFuture, join, join_all};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fixture::{Outside, accept, extension};
use crate::{
    prelude::*,
    runtime::Runtime as _,
    service::Service,
    store::{
        Commit, Item, Key, MemoryStore, Name, Operation, Outcome, Page, Partition, Query, Store,
        StoreError,
    },
    task::{Job, Ran, RunTaskError, record::Head},
    testing::{Answer, Pup, Sent, Signer, SimBackground, SimRuntime},
    time::Timestamp,
};

/// Numbers that look random, from a seed.
#[derive(Clone)]
struct Dice(Arc<AtomicU64>);

impl Dice {
    /// A number below `sides`.
    fn roll(&self, sides: u64) -> u64 {
        // SplitMix64.
        let step = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(step, Ordering::Relaxed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % sides
    }
}

/// A store whose operations take a random time before they are carried out, and another until that is known, if it
/// ever is: of some commits the answer is lost, or they are.
#[derive(Clone)]
struct Slow {
    store: MemoryStore,
    runtime: SimRuntime,
    dice: Dice,
    conflicts: Arc<AtomicU64>,
    lost: Arc<AtomicU64>,
}

impl Slow {
    async fn pause(&self) {
        let millis = match self.dice.roll(200) {
            // The run's lease runs out meanwhile.
            0..5 => 46_000 + self.dice.roll(60_000),
            5..12 => self.dice.roll(5_000),
            12..140 => self.dice.roll(30),
            _ => return,
        };
        self.runtime.sleep(Duration::from_millis(millis)).await;
    }

    /// Time for others to come in between, before whoever sent a commit looks what became of it.
    async fn lose(&self) -> StoreError {
        let millis = self.dice.roll(15_000);
        self.runtime.sleep(Duration::from_millis(millis)).await;
        self.lost.fetch_add(1, Ordering::Relaxed);
        StoreError::unknown(Lost)
    }
}

/// Whether a commit leaves a task with an open question.
fn asks(commit: &Commit) -> bool {
    commit.changes().iter().any(|change| {
        let Operation::Put { value, .. } = &change.operation else {
            return false;
        };
        let parts = change.name.parts();
        parts.len() == 2
            && parts[0] == "task"
            && Head::from_value(value).is_ok_and(|head| !head.asks.is_empty())
    })
}

#[derive(Debug, thiserror::Error)]
#[error("the answer was lost")]
struct Lost;

impl Store for Slow {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.pause().await;
        let item = self.store.get(key, now).await;
        self.pause().await;
        item
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        self.pause().await;
        // More of those that ask something: while they are lost an answer can come.
        let lost = self.dice.roll(if asks(commit) { 2 } else { 12 }) == 0;
        if lost && self.dice.roll(2) == 0 {
            return Err(self.lose().await);
        }
        let outcome = self.store.commit(commit, now).await?;
        if lost {
            return Err(self.lose().await);
        }
        if let Outcome::Conflict(_) = &outcome {
            self.conflicts.fetch_add(1, Ordering::Relaxed);
        }
        self.pause().await;
        Ok(outcome)
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.store.list(query, now).await
    }
}

/// What stands in the store, but for the claims that every request leaves.
type Standing = BTreeMap<Name, Item>;

async fn standing(store: &MemoryStore, now: Timestamp) -> Standing {
    let query = Query {
        partition: Partition::installation("installation-1"),
        prefix: String::new(),
        after: None,
        limit: 1_000,
    };
    let page = store.list(&query, now).await.unwrap();
    assert_eq!(page.next, None);
    page.items
        .into_iter()
        .filter(|(name, _)| !name.as_str().starts_with("seen/"))
        .collect()
}

struct Race {
    runtime: SimRuntime,
    dice: Dice,
    store: MemoryStore,
    slow: Slow,
    services: [Service; 2],
    signer: Signer,
    outside: Outside,
    over: AtomicBool,
    /// Every amount that was answered.
    amounts: Mutex<Vec<i64>>,
    busy: AtomicU64,
}

/// By then a task has ended, unless something was lost.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);

impl Race {
    fn new(seed: u64, tool: &str) -> Self {
        // Both draw from one sequence, and so never the same.
        let runtime = SimRuntime::new();
        let dice = Dice(Arc::new(AtomicU64::new(seed << 20)));
        let store = MemoryStore::default();
        let slow = Slow {
            store: store.clone(),
            runtime: runtime.clone(),
            dice: dice.clone(),
            conflicts: Arc::default(),
            lost: Arc::default(),
        };
        let (outside, signer) = (Outside::default(), Signer::new());
        let services = [(); 2].map(|()| {
            // What it is told is nothing to go by here: the runners come when they like.
            let background = SimBackground::new();
            let (store, runtime) = (slow.clone(), runtime.clone());
            Service::with_background(
                if tool == "late" {
                    late_extension()
                } else {
                    extension(&outside)
                },
                signer.config(),
                store,
                runtime,
                background,
            )
            .unwrap()
        });
        Self {
            runtime,
            dice,
            store,
            slow,
            services,
            signer,
            outside,
            over: AtomicBool::new(false),
            amounts: Mutex::default(),
            busy: AtomicU64::new(0),
        }
    }

    fn either(&self) -> &Service {
        &self.services[usize::try_from(self.dice.roll(2)).unwrap()]
    }

    async fn pause(&self, most: u64) {
        let pause = Duration::from_millis(1 + self.dice.roll(most));
        self.runtime.sleep(pause).await;
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Sends a request, and a new one like it where the store was too slow for it.
    async fn send(&self, service: &Service, request: impl Fn(Timestamp) -> Sent) -> Value {
        for _ in 0..20 {
            let now = self.runtime.now();
            let answer = Answer::of(service.handle(request(now).to_http(), now).await);
            let mut json = answer.json();
            if json["result"].is_object() {
                return json["result"].take();
            }
            let code = json["error"]["code"].as_i64();
            assert!(
                answer.status() == 503 || code == Some(-31005),
                "{} {json}",
                answer.status()
            );
            self.pause(2_000).await;
        }
        panic!("the store is always too slow");
    }

    async fn ask(&self, service: &Service, method: &str, task_id: &str, params: Value) -> Value {
        let request = |now| self.signer.task(method, task_id, params.clone(), now);
        self.send(service, request).await
    }

    async fn get(&self, service: &Service, task_id: &str) -> Value {
        self.ask(service, "tasks/get", task_id, json!({})).await
    }

    /// Two calls at once under one callId; their one task.
    async fn create(&self, tool: &str, arguments: &Value) -> String {
        let calls = self.services.iter().map(async |service| {
            let call = |now| self.signer.call(tool, arguments.clone(), now).call_id("c1");
            let task = self.send(service, call).await;
            task["taskId"].as_str().unwrap().to_owned()
        });
        let ids = join_all(calls).await;
        assert_eq!(ids[0], ids[1], "two tasks of one call");
        ids[0].clone()
    }

    /// Runs the task whenever it likes, as a queue that delivers early, late and more than once.
    async fn run(&self, service: &Service, job: &Job) {
        while !self.is_over() {
            let now = self.runtime.now();
            let until = (self.dice.roll(4) == 0)
                .then(|| now + Duration::from_secs(40 + self.dice.roll(60)));
            match service.run_task(job, until).await {
                Ok(Ran::Busy(_)) => {
                    self.busy.fetch_add(1, Ordering::Relaxed);
                }
                Ok(_) | Err(RunTaskError::Store(_)) => {}
                Err(error) => panic!("{error}"),
            }
            self.pause(6_000).await;
        }
    }

    /// Polls until the task has ended.
    async fn poll(&self, service: &Service, task_id: &str) -> Value {
        let begun = self.runtime.now();
        loop {
            let task = self.get(service, task_id).await;
            let status = task["status"].as_str().unwrap();
            if !["working", "input_required"].contains(&status) {
                return task;
            }
            assert!(
                self.runtime.now().since(begun) < PATIENCE,
                "the task never ends: {task}"
            );
            self.pause(10_000).await;
        }
    }

    /// Answers some of what is asked, now and then twice.
    async fn answer(&self, task_id: &str) {
        let mut acknowledged = BTreeSet::new();
        while !self.is_over() {
            self.pause(20_000).await;
            let task = self.get(self.either(), task_id).await;
            let asked = task["inputRequests"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let mut responses = json!({});
            for (key, request) in asked {
                assert!(!acknowledged.contains(&key), "{key} is asked again");
                let properties = &request["params"]["requestedSchema"]["properties"];
                let content = if properties.get("amount").is_some() {
                    let amount = 1 + i64::try_from(self.dice.roll(9)).unwrap();
                    self.amounts.lock().unwrap().push(amount);
                    json!({ "amount": amount })
                } else {
                    json!({ "taste": "salty" })
                };
                if self.dice.roll(3) > 0 {
                    responses[key] = accept(&content);
                }
            }
            let answered = responses.as_object().unwrap().keys().cloned();
            let answered: Vec<String> = answered.collect();
            let params = json!({ "inputResponses": responses });
            let answers = (0..=self.dice.roll(2))
                .map(|_| self.ask(self.either(), "tasks/update", task_id, params.clone()));
            join_all(answers).await;
            acknowledged.extend(answered);
        }
    }

    /// What stands when a cancellation was acknowledged.
    async fn cancel(&self, task_id: &str, after: Duration) -> Standing {
        self.runtime.sleep(after).await;
        self.ask(self.either(), "tasks/cancel", task_id, json!({}))
            .await;
        self.standing().await
    }

    async fn standing(&self) -> Standing {
        standing(&self.store, self.runtime.now()).await
    }

    /// Lets everybody loose on one task; its end, and what stood when it was cancelled.
    async fn race(
        &self,
        tool: &str,
        arguments: &Value,
        answers: bool,
        cancel_after: Option<Duration>,
    ) -> (Value, Option<Standing>) {
        let task_id = self.create(tool, arguments).await;
        let job = Job {
            partition: Partition::installation("installation-1"),
            task_id: task_id.clone(),
        };
        let (ended, standing) = (Mutex::new(Vec::new()), Mutex::new(None));
        let polls = self.services.iter().map(|service| async {
            let task = self.poll(service, &task_id).await;
            ended.lock().unwrap().push(task);
        });
        let watch = async {
            join_all(polls).await;
            if cancel_after.is_some() {
                while standing.lock().unwrap().is_none() {
                    self.pause(1_000).await;
                }
            }
            // Whoever still works on it does so for a while.
            self.runtime.sleep(Duration::from_secs(120)).await;
            self.over.store(true, Ordering::Relaxed);
        };
        let mut all: Vec<LocalBoxFuture<'_, ()>> = vec![Box::pin(watch)];
        for service in &self.services {
            all.push(Box::pin(self.run(service, &job)));
        }
        if answers {
            all.push(Box::pin(self.answer(&task_id)));
        }
        if let Some(after) = cancel_after {
            let standing = &standing;
            let task_id = &task_id;
            all.push(Box::pin(async move {
                let stood = self.cancel(task_id, after).await;
                *standing.lock().unwrap() = Some(stood);
            }));
        }
        join_all(all).await;
        let ended = ended.into_inner().unwrap();
        assert_eq!(ended[0], ended[1], "the task ended in two ways");
        let last = self.get(self.either(), &task_id).await;
        assert_eq!(ended[0], last, "the task changed after its end");
        let names: Vec<Name> = self
            .standing()
            .await
            .into_keys()
            .filter(|name| {
                ["task/", "due/"]
                    .iter()
                    .any(|prefix| name.as_str().starts_with(prefix))
            })
            .collect();
        assert_eq!(names, [Name::of(["task", &task_id]).unwrap()]);
        (last, standing.into_inner().unwrap())
    }

    async fn look(&self) -> Value {
        let call = |now| self.signer.call("look", json!({}), now);
        self.send(self.either(), call).await["structuredContent"].take()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Taste {
    taste: String,
}

/// Questions that come up while the background runs the task, each beside a step.
async fn late(task: TaskContext) -> Result<Value, ToolError> {
    for _ in 0..3 {
        task.step("before", |step| async move {
            step.state().add("stock", 1)?;
            Ok(())
        })
        .await?;
        let (answer, beside) = join(
            task.ask::<Taste>("Sweet or salty?"),
            task.step("beside", |step| async move {
                step.sleep(Duration::from_secs(10)).await;
                step.state().add("stock", 1)?;
                Ok(())
            }),
        )
        .await;
        beside?;
        if answer?.taste != "salty" {
            return Err(ToolError::reject("that was not answered"));
        }
    }
    Ok(json!({ "rounds": 3 }))
}

fn late_extension() -> Extension {
    let look = |ctx: ToolContext| async move {
        let stock = ctx.state().get::<i64>("stock").await?.unwrap_or(0);
        Ok::<_, ToolError>(json!({ "stock": stock }))
    };
    Extension::builder("late", "Late")
        .author("Example author")
        .description("Asks late.")
        .summary("Asks late.")
        .instructions("For tests.")
        .tool(Tool::task("late", late).asks::<Taste>())
        .tool(Tool::new("look", look).read_only())
        .build()
        .unwrap()
}

/// What has to come of the tools.
fn check(tool: &str, race: &Race, result: &Value, look: &Value) {
    let stock = &look["stock"];
    match tool {
        "everything" => {
            assert_eq!(
                (&result["first"], &result["second"]),
                (&json!(1), &json!(2))
            );
            assert_eq!((stock, &look["drawn"]), (&json!(2), &result["drawn"]));
            let amounts = race.amounts.lock().unwrap();
            assert!(
                amounts.contains(&look["sum"].as_i64().unwrap()),
                "{} was never answered: {amounts:?}",
                look["sum"]
            );
        }
        "bake" => {
            assert_eq!(*result, json!({ "batches": 3, "stock": 3 }));
            assert_eq!(*stock, 3);
        }
        "collide" => assert_eq!((result, stock), (&json!({ "sum": 3 }), &json!(2))),
        "hurry" => {
            assert_eq!((&result["stock"], stock), (&json!(1), &json!(1)));
            assert!(result["answered"].is_boolean());
        }
        "ask_beside_step" => assert_eq!((result, stock), (&json!({ "stock": 1 }), &json!(1))),
        "late" => assert_eq!((result, stock), (&json!({ "rounds": 3 }), &json!(6))),
        "many" => assert_eq!((result, stock), (&json!({ "done": 12 }), &json!(12))),
        _ => panic!("no such tool"),
    }
}

const TOOLS: [&str; 7] = [
    "everything",
    "bake",
    "collide",
    "hurry",
    "ask_beside_step",
    "late",
    "many",
];

fn arguments(tool: &str) -> Value {
    match tool {
        "bake" => json!({ "batches": 3 }),
        "many" => json!({ "batches": 12 }),
        "ask_beside_step" => json!({ "seconds": 22 }),
        _ => json!({}),
    }
}

#[test]
fn in_whatever_order_two_runs_and_requests_come_each_effect_stands_once() {
    let (mut conflicts, mut lost, mut busy, mut works, mut needed) = (0, 0, 0, 0, 0);
    for seed in 0..350 {
        let tool = TOOLS[usize::try_from(seed).unwrap() % TOOLS.len()];
        let race = Race::new(seed, tool);
        race.runtime.run(async {
            let (task, _) = race.race(tool, &arguments(tool), true, None).await;
            assert_eq!(task["status"], "completed", "{tool}, seed {seed}: {task}");
            let look = race.look().await;
            check(tool, &race, &task["result"]["structuredContent"], &look);
        });
        conflicts += race.slow.conflicts.load(Ordering::Relaxed);
        lost += race.slow.lost.load(Ordering::Relaxed);
        busy += race.busy.load(Ordering::Relaxed);
        works += race.outside.works();
        needed += if tool == "many" { 12 } else { 0 };
    }
    println!(
        "{conflicts} commits in conflict, {lost} lost or their answers, {busy} runs that found another at work, {} steps worked again",
        works - needed
    );
    // Otherwise nothing was tried.
    assert!(conflicts > 300 && lost > 300 && busy > 300 && works > needed + 10);
}

#[test]
fn in_whatever_order_a_cancellation_comes_nothing_is_committed_after_it() {
    let (mut cancelled, mut during_step) = (0, 0);
    for seed in 1_000..1_300 {
        let tool = TOOLS[usize::try_from(seed).unwrap() % TOOLS.len()];
        let race = Race::new(seed, tool);
        let answers = tool != "ask_beside_step";
        let after = Duration::from_millis(race.dice.roll(40_000));
        race.runtime.run(async {
            let (task, stood) = race
                .race(tool, &arguments(tool), answers, Some(after))
                .await;
            assert_eq!(Some(race.standing().await), stood, "{tool}, seed {seed}");
            match task["status"].as_str() {
                Some("cancelled") => cancelled += 1,
                Some("completed") if answers => {
                    check(
                        tool,
                        &race,
                        &task["result"]["structuredContent"],
                        &race.look().await,
                    );
                }
                _ => panic!("{tool}, seed {seed}: {task}"),
            }
            let stock = race.look().await["stock"].as_i64().unwrap();
            during_step += i32::from(!answers && stock == 0);
        });
    }
    println!(
        "{cancelled} of 300 were cancelled, {during_step} of them in the middle of a long step"
    );
    assert!(
        cancelled >= 100 && during_step >= 10,
        "{cancelled}, {during_step}"
    );
}

/// A store that loses the answer to one commit, and takes its time with that.
#[derive(Clone)]
struct LosesOne {
    store: MemoryStore,
    runtime: SimRuntime,
    commits: Arc<AtomicU64>,
    loses: u64,
}

impl Store for LosesOne {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.store.get(key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let number = self.commits.fetch_add(1, Ordering::Relaxed);
        let outcome = self.store.commit(commit, now).await;
        if number == self.loses {
            self.runtime.sleep(Duration::from_secs(20)).await;
            return Err(StoreError::unknown(Lost));
        }
        outcome
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.store.list(query, now).await
    }
}

#[test]
fn a_cancellation_between_a_commit_and_its_lost_answer_stands() {
    let mut tried = 0;
    for loses in 1..20 {
        let runtime = SimRuntime::new();
        let store = LosesOne {
            store: MemoryStore::default(),
            runtime: runtime.clone(),
            commits: Arc::default(),
            loses,
        };
        let pup = Pup::with_store(late_extension(), &runtime, store.clone());
        let cancel = async {
            while store.commits.load(Ordering::Relaxed) <= loses {
                if runtime.now().since(Timestamp::from_secs(1_785_196_800)) > PATIENCE {
                    return None;
                }
                runtime.sleep(Duration::from_millis(100)).await;
            }
            // The task's first commit made it, and its name tells its id.
            let stood = standing(&store.store, runtime.now()).await;
            let head = stood.keys().find(|name| name.as_str().starts_with("task/"));
            let cancel = pup.task("tasks/cancel", &head.unwrap().parts()[1]);
            assert_eq!(pup.deliver(&cancel).await.status(), 200);
            Some(standing(&store.store, runtime.now()).await)
        };
        let run = async {
            let call = pup.call("late", json!({})).call_id("c1");
            assert_eq!(pup.deliver(&call).await.status(), 200);
            pup.go_on_with_tasks().await;
        };
        let (stood, ()) = runtime.run(join(cancel, run));
        let Some(stood) = stood else {
            // The task waits for its answer, and commits nothing more.
            break;
        };
        let after = runtime.run(standing(&store.store, runtime.now()));
        assert_eq!(after, stood, "the commit {loses} lost its answer");
        tried += 1;
    }
    println!("{tried} commits lost their answers, and their tasks were cancelled");
    assert!((5..19).contains(&tried), "{tried}");
}
