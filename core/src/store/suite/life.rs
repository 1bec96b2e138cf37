//! The life of one task where the store fails and processes die: pup calls, polls, answers and retries as it does in
//! reality, the background runs what it was handed, and time passes for all of them at once.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use futures_util::{
    future::{Either, select},
    task::AtomicWaker,
};
use serde_json::{Value, json};

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
};
use crate::{
    extension::Extension,
    runtime::Runtime as _,
    service::Service,
    store::{
        Commit, Item, Key, Name, Outcome, Page, Partition, Query, Store, StoreError,
        testing::{Fault, FaultStore},
    },
    task::RunTaskError,
    testing::{Answer, Sent, Signer, SimBackground, SimRuntime},
    time::Timestamp,
};

/// What pup wants, and what has to come of it.
pub(crate) struct Flow {
    pub(crate) name: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: fn() -> Value,
    /// What pup does when it sees the task like this.
    pub(crate) react: fn(&Value) -> React,
    /// Holds the task's end, and what the tool `look` then says, against what is right.
    pub(crate) check: fn(&Value, &Value) -> Result<(), Failure>,
}

/// What pup does about a task that it has polled.
pub(crate) enum React {
    Wait,
    Answer(Value),
    Cancel,
}

/// What ends with an operation that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dies {
    /// The request or the run that asked for it, as where each has a process of its own.
    Alone,
    /// Everything that goes on.
    All,
}

/// Whether the background runs tasks beside pup's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// One after the other, so that every life asks the store for the same in the same order, however fast it is.
    InTurn,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "core's own tests alone have time for it")
    )]
    Beside,
}

/// How long a request is given before its process counts as dead, and a run: longer than its lease.
const PATIENCE: Duration = Duration::from_secs(30);
const RUN_PATIENCE: Duration = Duration::from_secs(90);
/// How long pup waits between two polls, at first and at the most.
const POLL: Duration = Duration::from_secs(5);
const LONGEST_POLL: Duration = Duration::from_secs(20);
/// How often pup polls before the test gives up.
const MAX_POLLS: usize = 200;

/// A world over a store that can be told to fail.
pub(crate) struct Life<S> {
    runtime: SimRuntime,
    faults: FaultStore<Handles<S>>,
    at_work: Arc<AtomicUsize>,
    service: Service,
    background: SimBackground,
    signer: Signer,
    installation: String,
    requests: AtomicU64,
    dies: Dies,
    pace: Pace,
    /// What pup sent about the task, and has no acknowledgement of.
    unsettled: Mutex<Option<(&'static str, Value)>>,
}

/// Why nothing goes on.
enum Stop {
    Died,
    Wrong(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Wrong(failure)
    }
}

impl<S: Store> Life<S> {
    /// Over two handles on one store, each of which does every other operation.
    pub(crate) fn new(
        handles: [Arc<S>; 2],
        extension: Extension,
        installation: String,
        seed: u32,
        (dies, pace): (Dies, Pace),
    ) -> Result<Self, Failure> {
        let runtime = SimRuntime::with_seed(seed);
        let at_work = Arc::default();
        let faults = FaultStore::new(Handles {
            handles,
            next: AtomicUsize::new(0),
            at_work: Arc::clone(&at_work),
        });
        let (signer, background) = (Signer::new(), SimBackground::new());
        let service = Service::with_background(
            extension,
            signer.config(),
            faults.clone(),
            runtime.clone(),
            background.clone(),
        )?;
        Ok(Self {
            runtime,
            faults,
            at_work,
            service,
            background,
            signer,
            installation,
            requests: AtomicU64::new(0),
            dies,
            pace,
            unsettled: Mutex::new(None),
        })
    }

    /// The same at another time.
    pub(crate) fn at(self, now: Timestamp) -> Self {
        self.runtime.set_time(now);
        self
    }

    /// Lives a flow with these faults, each at an operation; how many operations it took, and which faults came.
    pub(crate) async fn live(
        &self,
        flow: &Flow,
        faults: &[(usize, Fault)],
    ) -> Result<(usize, Vec<usize>), Failure> {
        for (operation, fault) in faults {
            self.faults.fail_at(*operation, *fault);
        }
        let lived = self
            .drive(Box::pin(self.fulfil(flow)))
            .await
            .and_then(|lived| lived);
        let operations = self.faults.operations();
        let failed: Vec<usize> = (0..operations.len())
            .filter(|number| {
                operations
                    .get(*number)
                    .is_some_and(|seen| seen.fault.is_some())
            })
            .collect();
        self.faults.heal();
        let of = |failure: Failure| {
            Failure::new(format!(
                "{} ({:?}, {:?}), with the faults {faults:?} of {} operations: {failure}",
                flow.name,
                self.dies,
                self.pace,
                operations.len()
            ))
        };
        let (task_id, task) = lived.map_err(of)?;
        self.drive(Box::pin(self.judge(flow, &task_id, &task)))
            .await
            .and_then(|judged| judged)
            .map_err(of)?;
        Ok((operations.len(), failed))
    }

    /// Calls the tool and sees to its task until that has ended.
    async fn fulfil(&self, flow: &Flow) -> Result<(String, Value), Failure> {
        let task_id = self.create(flow).await?;
        for _ in 0..5 {
            match self.attend(flow, &task_id).await {
                Ok(task) => return Ok((task_id, task)),
                Err(Stop::Died) => {}
                Err(Stop::Wrong(failure)) => return Err(failure),
            }
        }
        Err(Failure::new("the processes keep dying"))
    }

    /// Calls the tool until there is a task.
    async fn create(&self, flow: &Flow) -> Result<String, Failure> {
        for _ in 0..6 {
            match self.send(&self.call(flow)).await {
                Ok(Some(answer)) => match finished(&answer)? {
                    Some(task) => return id_of(&task),
                    None => self.runtime.sleep(Duration::from_secs(2)).await,
                },
                Ok(None) | Err(Stop::Died) => {}
                Err(Stop::Wrong(failure)) => return Err(failure),
            }
        }
        Err(Failure::new("the call was never answered"))
    }

    fn call(&self, flow: &Flow) -> Sent {
        let now = self.runtime.now();
        self.signer
            .call(flow.tool, (flow.arguments)(), now)
            .call_id("call-1")
    }

    /// Runs and polls the task until it has ended, or the process has.
    async fn attend(&self, flow: &Flow, task_id: &str) -> Result<Value, Stop> {
        let poller = Box::pin(self.look_after(flow, task_id));
        if self.pace == Pace::InTurn {
            return poller.await;
        }
        match select(poller, Box::pin(self.run_for_ever())).await {
            Either::Left((task, _)) => task,
            Either::Right((stop, _)) => Err(stop),
        }
    }

    /// pup's side: polls, answers, and sends again what was not acknowledged.
    async fn look_after(&self, flow: &Flow, task_id: &str) -> Result<Value, Stop> {
        let mut poll = POLL;
        for _ in 0..MAX_POLLS {
            if self.pace == Pace::InTurn {
                self.run_what_is_due().await?;
            }
            let unsettled = self.unsettled().clone();
            if let Some((method, params)) = unsettled {
                if self.ask_of_task(method, task_id, params).await?.is_some() {
                    *self.unsettled() = None;
                }
            } else if let Some(task) = self.ask_of_task("tasks/get", task_id, json!({})).await? {
                match task["status"].as_str() {
                    Some("completed" | "failed" | "cancelled") => return Ok(task),
                    Some("working" | "input_required") => {}
                    _ => return Err(Failure::new(format!("what is this? {task}")).into()),
                }
                let next = match (flow.react)(&task) {
                    React::Wait => None,
                    React::Answer(responses) => {
                        Some(("tasks/update", json!({ "inputResponses": responses })))
                    }
                    React::Cancel => Some(("tasks/cancel", json!({}))),
                };
                if next.is_some() {
                    *self.unsettled() = next;
                    poll = POLL;
                    continue;
                }
            }
            let pause = match (self.pace, self.next_job()) {
                (Pace::InTurn, Some(at)) => at.since(self.runtime.now()).min(poll),
                _ => poll,
            };
            poll = (poll * 2).min(LONGEST_POLL);
            self.runtime.sleep(pause).await;
        }
        Err(Failure::new("the task never ended").into())
    }

    fn unsettled(&self) -> std::sync::MutexGuard<'_, Option<(&'static str, Value)>> {
        self.unsettled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A request about the task; its result if it came to one.
    async fn ask_of_task(
        &self,
        method: &str,
        task_id: &str,
        params: Value,
    ) -> Result<Option<Value>, Stop> {
        let now = self.runtime.now();
        let sent = self.signer.task(method, task_id, params, now);
        match self.send(&sent).await? {
            Some(answer) => Ok(finished(&answer)?),
            None => Ok(None),
        }
    }

    /// Sends a request under an id that no other has; `None` where it hung, and died alone.
    async fn send(&self, sent: &Sent) -> Result<Option<Answer>, Stop> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let sent = sent
            .clone()
            .installation(&self.installation)
            .webhook_id(format!("{}-{number}", self.installation));
        let received = self.runtime.now();
        let request = self.service.handle(sent.to_http(), received);
        self.within(PATIENCE, async { Answer::of(request.await) })
            .await
    }

    /// The background's side.
    async fn run_for_ever(&self) -> Stop {
        loop {
            if let Err(stop) = self.run_what_is_due().await {
                return stop;
            }
            let pause = self
                .next_job()
                .map_or(POLL, |at| at.since(self.runtime.now()));
            // Something earlier may be handed over meanwhile.
            let pause = pause.clamp(Duration::from_millis(1), Duration::from_millis(500));
            self.runtime.sleep(pause).await;
        }
    }

    fn next_job(&self) -> Option<Timestamp> {
        self.background.jobs().first().map(|(at, _)| *at)
    }

    async fn run_what_is_due(&self) -> Result<(), Stop> {
        for _ in 0..MAX_POLLS {
            if self.next_job().is_none_or(|at| at > self.runtime.now()) {
                return Ok(());
            }
            let Some((_, job)) = self.background.take_next() else {
                return Ok(());
            };
            let run = self.service.run_task(&job, None);
            match self.within(RUN_PATIENCE, run).await? {
                None | Some(Ok(_) | Err(RunTaskError::Store(_))) => {}
                Some(Err(error)) => return Err(Failure::from(error).into()),
            }
        }
        Err(Failure::new("the task is run again and again").into())
    }

    /// Does something in a process that dies when it takes too long, and forgets what it was to do.
    async fn within<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, Stop> {
        match select(Box::pin(work), Box::pin(self.runtime.sleep(patience))).await {
            Either::Left((done, _)) => Ok(Some(done)),
            Either::Right(((), hung)) => {
                drop(hung);
                self.background.forget();
                match self.dies {
                    Dies::Alone => Ok(None),
                    Dies::All => Err(Stop::Died),
                }
            }
        }
    }

    /// Whatever happened, what stands in the end is right, and it stays so.
    async fn judge(&self, flow: &Flow, task_id: &str, task: &Value) -> Result<(), Failure> {
        // Whoever is still to run the task, or to run it again, finds nothing to do.
        self.runtime.advance(Duration::from_secs(120));
        for _ in 0..10 {
            let Some((at, job)) = self.background.take_next() else {
                break;
            };
            let wait = at.since(self.runtime.now());
            self.runtime.sleep(wait).await;
            self.service.run_task(&job, None).await?;
        }
        ensure_eq!(self.background.jobs(), [], "what is left to do");
        let again = self.result(self.call(flow)).await?;
        ensure_eq!(id_of(&again)?, task_id, "the task of the call's retry");
        let now = self.runtime.now();
        let get = self.signer.task("tasks/get", task_id, json!({}), now);
        ensure_eq!(self.result(get).await?, *task, "the task later");
        let look = self.signer.call("look", json!({}), now);
        let look = self.result(look).await?["structuredContent"].take();
        (flow.check)(task, &look)?;
        self.ensure_nothing_is_left(task_id).await
    }

    async fn result(&self, sent: Sent) -> Result<Value, Failure> {
        match self.send(&sent).await {
            Ok(Some(answer)) => finished(&answer)?
                .ok_or_else(|| Failure::new(format!("refused in the end: {}", answer.json()))),
            Ok(None) | Err(Stop::Died) => Err(Failure::new("it hangs in the end")),
            Err(Stop::Wrong(failure)) => Err(failure),
        }
    }

    /// Of a task that has ended its head alone is left.
    async fn ensure_nothing_is_left(&self, task_id: &str) -> Result<(), Failure> {
        let mut of_tasks: Vec<Name> = Vec::new();
        let mut query = Query {
            partition: Partition::installation(&self.installation),
            prefix: String::new(),
            after: None,
            limit: 100,
        };
        for _ in 0..100 {
            let page = self.faults.inner().list(&query, self.runtime.now()).await?;
            let names = page.items.into_iter().map(|(name, _)| name);
            of_tasks.extend(names.filter(|name| {
                ["task/", "due/", "call/"]
                    .iter()
                    .any(|prefix| name.as_str().starts_with(prefix))
            }));
            query.after = page.next;
            if query.after.is_none() {
                let expected = [Name::of(["call", "call-1"])?, Name::of(["task", task_id])?];
                ensure_eq!(of_tasks, expected, "what is left in the store");
                return Ok(());
            }
        }
        Err(Failure::new("the listing does not come to its end"))
    }

    /// Drives a future in simulated time, which passes while the store is at rest and everything waits for it.
    async fn drive<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let mut future = pin!(future);
        let relay = Arc::new(Relay::default());
        let waker = Waker::from(Arc::clone(&relay));
        poll_fn(move |context| {
            relay.outer.register(context.waker());
            relay.woken.store(false, Ordering::Release);
            if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Poll::Ready(Ok(done));
            }
            while !relay.woken.load(Ordering::Acquire) && self.at_work.load(Ordering::Acquire) == 0
            {
                if !self.runtime.pass() {
                    return Poll::Ready(Err(Failure::new("nothing can go on")));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Tries every operation of a flow with every fault, and with every extent of a death; how many points that were.
/// `begin` makes a new world over a store that holds nothing of its installation.
pub(crate) async fn every_point<S: Store>(
    flow: &Flow,
    paces: &[Pace],
    extents: &[Dies],
    begin: impl Fn(Dies, Pace) -> Result<Life<S>, Failure>,
) -> Result<usize, Failure> {
    let mut points = 0;
    for pace in paces {
        let (operations, _) = begin(Dies::All, *pace)?.live(flow, &[]).await?;
        ensure!(operations > 0, "{} asks the store for nothing", flow.name);
        for operation in 0..operations {
            for fault in Fault::ALL {
                for dies in extents {
                    if fault.completes() && *dies == Dies::Alone && extents.len() > 1 {
                        // Nothing dies.
                        continue;
                    }
                    let life = begin(*dies, *pace)?;
                    let (_, failed) = life.live(flow, &[(operation, fault)]).await?;
                    ensure_eq!(failed, [operation], "the operations that failed");
                    points += 1;
                }
            }
        }
    }
    Ok(points)
}

/// The result of an answer; `None` for an error that may pass.
fn finished(answer: &Answer) -> Result<Option<Value>, Failure> {
    let mut json = answer.json();
    if answer.status().is_success() {
        return Ok(Some(json["result"].take()));
    }
    ensure!(
        answer.status().is_server_error(),
        "refused: {} {json}",
        answer.status()
    );
    Ok(None)
}

fn id_of(task: &Value) -> Result<String, Failure> {
    let id = task["taskId"].as_str();
    id.map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("no task, but {task}")))
}

/// Answers the first of the open questions, as each of the forms here wants it.
pub(crate) fn answer_first(task: &Value) -> React {
    let first = task["inputRequests"]
        .as_object()
        .and_then(|requests| requests.iter().next());
    let Some((key, request)) = first else {
        return React::Wait;
    };
    let asked = &request["params"]["requestedSchema"]["properties"];
    let content = if asked.get("amount").is_some() {
        json!({ "amount": 7 })
    } else {
        json!({ "taste": "sweet" })
    };
    React::Answer(json!({ key: { "action": "accept", "content": content } }))
}

/// Two handles on one store, in turn, and how many operations are at work in them.
pub(crate) struct Handles<S> {
    handles: [Arc<S>; 2],
    next: AtomicUsize,
    at_work: Arc<AtomicUsize>,
}

impl<S> Handles<S> {
    async fn work<T>(&self, work: impl AsyncFnOnce(&S) -> T) -> T {
        let [one, other] = &self.handles;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let handle = if number.is_multiple_of(2) { one } else { other };
        self.at_work.fetch_add(1, Ordering::AcqRel);
        let _at_work = AtWork(&self.at_work);
        work(handle).await
    }
}

struct AtWork<'a>(&'a AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<S: Store> Store for Handles<S> {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        self.work(async |store: &S| store.get(key, now).await).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        self.work(async |store: &S| store.commit(commit, now).await)
            .await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.work(async |store: &S| store.list(query, now).await)
            .await
    }
}

/// Notes that the driven future was woken, and has its driver polled.
#[derive(Default)]
struct Relay {
    woken: AtomicBool,
    outer: AtomicWaker,
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.outer.wake();
    }
}
