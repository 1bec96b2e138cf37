//! What a task's function is given.

use std::{
    any::TypeId,
    collections::BTreeMap,
    fmt,
    future::{Future, pending, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    entry::{Answer, StepOutcome},
    error::{AskError, SleepError, StepError},
    record::Ask,
    replay::{Move, Produced, Replay, Worked},
};
use crate::{
    causes::with_causes,
    context::{Caller, Settings, UserRequest, caller_context, working_context},
    extension::{ToolError, ToolErrorKind},
    form::Form,
    ports::Ports,
    runtime::HttpError,
    state::{Access, Scope, Session, State},
    store::{MAX_VALUE_BYTES, Partition},
    time::Timestamp,
};

/// The forms that a tool named, by their types.
pub(crate) type Forms = BTreeMap<TypeId, Form>;

/// What a task's function is given. Cheap to clone.
///
/// The function is *replayed*: after a question, a pause or a crash it runs again from the top, in whatever process
/// there is, and what it did before is not done again but recalled. So between two of these operations it must do the
/// same whenever it is given the same: take the time and random numbers from here, keep what has an effect in
/// [steps](Self::step), read nothing else that changes, and outside steps wait for nothing but these operations and
/// what its own branches hand each other (by channels, say). A deployment that changes the order of a function's
/// operations makes the tasks that are under way fail, with an error that says so.
///
/// Operations may be joined and raced (`join!`, `select!`); each future that is dropped is given up for good.
#[derive(Clone)]
pub struct TaskContext {
    run: Arc<TaskRun>,
}

/// One run of a task's function.
pub(super) struct TaskRun {
    pub(super) caller: Caller,
    pub(super) asker_id: Arc<str>,
    pub(super) call_id: Option<Arc<str>>,
    pub(super) user_request: Option<Arc<UserRequest>>,
    pub(super) task_id: Arc<str>,
    pub(super) expires: Timestamp,
    pub(super) partition: Partition,
    pub(super) access: Access,
    pub(super) forms: Arc<Forms>,
    pub(super) ports: Ports,
    pub(super) replay: Replay,
}

/// The most characters of a progress message; what is over is cut off.
pub(super) const MAX_PROGRESS_CHARS: usize = 1_000;

/// The most bytes of a question's message and form together.
pub(super) const MAX_ASK_BYTES: usize = 16 * 1024;

/// The most bytes of a step's result. A little less than a value holds, for the journal round it.
pub const MAX_STEP_BYTES: usize = MAX_VALUE_BYTES - 2 * 1024;

/// The most bytes of a step's name.
const MAX_NAME_BYTES: usize = 128;

caller_context!(TaskContext);

impl TaskContext {
    pub(super) const fn new(run: Arc<TaskRun>) -> Self {
        Self { run }
    }

    fn caller(&self) -> &Caller {
        &self.run.caller
    }

    /// The task's id, which pup polls it by.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.run.task_id
    }

    /// The member who asked, vouched for by pup. Never take an id from an argument instead.
    #[must_use]
    pub fn asker_id(&self) -> &str {
        &self.run.asker_id
    }

    /// pup's stable id of the call that made the task. Not a credential.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.run.call_id.as_deref()
    }

    /// The message that triggered the call, for a tool that declares
    /// [`user_request`](crate::extension::Tool::user_request), when the call came from a conversation.
    #[must_use]
    pub fn user_request(&self) -> Option<&UserRequest> {
        self.run.user_request.as_deref()
    }

    /// Asks whoever called the tool to fill in a form, and waits for the answer: for days, if need be, and in no
    /// process. Several questions that are asked at once (`join!`) are all shown at once.
    ///
    /// `T` must be one that the tool names with [`asks`](crate::extension::Tool::asks). The message is at most 16 KB
    /// long, the form included.
    ///
    /// # Errors
    ///
    /// When the question was declined or dismissed. `?` makes that a rejection, which ends the task with those words.
    pub fn ask<T>(&self, message: &str) -> impl Future<Output = Result<T, AskError>> + use<T>
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        let op = self.run.replay.create();
        let run = Arc::clone(&self.run);
        let message = message.to_owned();
        async move {
            let Some(op) = op.filter(|_| !run.replay.is_in_step()) else {
                return Err(AskError::InStep);
            };
            let Some(form) = run.forms.get(&TypeId::of::<T>()) else {
                return Err(AskError::Unnamed {
                    type_name: std::any::type_name::<T>(),
                });
            };
            let bytes = message.len() + form.schema().to_string().len();
            if bytes > MAX_ASK_BYTES {
                return Err(AskError::TooLarge { bytes });
            }
            run.replay.register_ask(op, || Ask {
                message,
                schema: form.schema().clone(),
                sets: form.sets(),
            });
            let operation = Operation { run: &run, op };
            let Produced::Answer(answer) = operation.result().await else {
                return operation.differs("is no question").await;
            };
            match answer {
                Answer::Declined => Err(AskError::Declined),
                Answer::Cancelled => Err(AskError::Dismissed),
                Answer::Accepted(content) => {
                    let content = serde_json::from_str(content.get()).ok();
                    match content.and_then(|content| form.read(&content).ok()) {
                        Some(answer) => Ok(answer),
                        None => {
                            operation
                                .differs("has an answer that its form no longer takes")
                                .await
                        }
                    }
                }
            }
        }
    }

    /// Does a piece of work, and remembers its result. This is where a task has effects.
    ///
    /// The result and what the work wrote to [`StepContext::state`] are committed together, before this returns: so
    /// state is written exactly once, however often the task is replayed or its process dies. Effects outside happen
    /// at least once: a step that died before its commit is done again, under the same
    /// [`StepContext::idempotency_key`].
    ///
    /// `Ok` and errors alike are remembered. To try again after a failure, call another step. Of a failure the later
    /// runs know only that it was one; its cause goes to the log.
    ///
    /// The result is at most 254 KB of JSON. The name is for people, and at most 128 bytes long.
    ///
    /// # Errors
    ///
    /// What `work` returned; a failure when the result can't be kept, or in the work of another step.
    pub fn step<T, F, W>(
        &self,
        name: &str,
        work: F,
    ) -> impl Future<Output = Result<T, ToolError>> + use<T, F, W>
    where
        T: Serialize + DeserializeOwned,
        F: FnMut(StepContext) -> W,
        W: Future<Output = Result<T, ToolError>>,
    {
        let op = self.run.replay.create();
        let run = Arc::clone(&self.run);
        let name = name.to_owned();
        async move {
            let mut work = work;
            let op = op
                .filter(|_| !run.replay.is_in_step())
                .ok_or_else(|| ToolError::failed(StepError::InStep))?;
            if name.len() > MAX_NAME_BYTES {
                return Err(ToolError::failed(StepError::Name { bytes: name.len() }));
            }
            run.replay.register_step(op, &name);
            let operation = Operation { run: &run, op };
            let produced = loop {
                match operation.next().await {
                    Move::Take(produced) => break produced,
                    Move::Start => {
                        let session = Arc::new(run.session());
                        let context = StepContext::new(Arc::clone(&run), Arc::clone(&session), op);
                        let outcome = operation.work(&mut work, context).await;
                        // A context that outlives its work would write to nobody.
                        session.close();
                        let outcome = recorded(&run, &name, outcome);
                        run.replay.worked(Worked {
                            op,
                            outcome,
                            session,
                        });
                    }
                }
            };
            match produced {
                Produced::Step(StepOutcome::Rejected(text)) => Err(ToolError::reject(text)),
                Produced::Step(StepOutcome::Failed) => Err(ToolError::failed(StepError::Failed)),
                Produced::Step(StepOutcome::Ok(result)) => match serde_json::from_str(result.get())
                {
                    Ok(result) => Ok(result),
                    Err(_) => {
                        operation
                            .differs("has a result that its type no longer takes")
                            .await
                    }
                },
                _ => operation.differs("is no step").await,
            }
        }
    }

    /// Pauses the task. No process waits meanwhile.
    ///
    /// # Errors
    ///
    /// At once, when the task is to end before.
    pub fn sleep(
        &self,
        duration: Duration,
    ) -> impl Future<Output = Result<(), SleepError>> + use<> {
        self.sleep_to(self.run.ports.now() + duration)
    }

    /// Pauses the task until a time, or not at all where that is past.
    ///
    /// # Errors
    ///
    /// At once, when the task is to end before.
    pub fn sleep_until(
        &self,
        until: Timestamp,
    ) -> impl Future<Output = Result<(), SleepError>> + use<> {
        self.sleep_to(until)
    }

    fn sleep_to(&self, until: Timestamp) -> impl Future<Output = Result<(), SleepError>> + use<> {
        let op = self.run.replay.create();
        let run = Arc::clone(&self.run);
        async move {
            let op = op
                .filter(|_| !run.replay.is_in_step())
                .ok_or(SleepError::InStep)?;
            if run.replay.refuses(op, until >= run.expires) {
                return Err(SleepError::PastEnd);
            }
            run.replay.register_sleep(op, until);
            let operation = Operation { run: &run, op };
            match operation.result().await {
                Produced::Woke => Ok(()),
                _ => operation.differs("is no pause").await,
            }
        }
    }

    /// Says how far the task is, to whoever asked. It is shown once the task next waits or steps; the same text twice
    /// is not an update. A replay doesn't show it again. Cut off after 1,000 characters.
    pub fn progress(&self, message: impl AsRef<str>) {
        let message = message.as_ref();
        let end = message
            .char_indices()
            .nth(MAX_PROGRESS_CHARS)
            .map_or(message.len(), |(at, _)| at);
        let message = message.get(..end).unwrap_or(message);
        self.run.replay.progress(message.to_owned());
    }

    /// The current time, the same in every replay: that of the run that first came here.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.run.replay.now(self.run.ports.now())
    }

    /// 128 random bits from a secure source, the same in every replay.
    #[must_use]
    pub fn random(&self) -> u128 {
        self.run.replay.random(self.run.ports.runtime.dyn_random())
    }
}

impl fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskContext")
            .field("task_id", &self.run.task_id)
            .field("caller", &self.run.caller)
            .finish_non_exhaustive()
    }
}

impl TaskRun {
    fn session(&self) -> Session {
        Session::new(self.ports.clone(), self.partition.clone(), self.access)
    }
}

/// An operation that is registered, until it is dropped.
struct Operation<'a> {
    run: &'a TaskRun,
    op: u32,
}

impl Operation<'_> {
    async fn next(&self) -> Move {
        poll_fn(|context| self.run.replay.poll(self.op, context.waker())).await
    }

    /// The result of an operation that has no work of its own.
    async fn result(&self) -> Produced {
        loop {
            if let Move::Take(produced) = self.next().await {
                return produced;
            }
        }
    }

    /// Does the work of a step, during which the task's other operations can't be called.
    async fn work<T, F, W>(&self, work: &mut F, context: StepContext) -> Result<T, ToolError>
    where
        F: FnMut(StepContext) -> W,
        W: Future<Output = Result<T, ToolError>>,
    {
        let replay = &self.run.replay;
        let mut work = pin!(replay.in_step(|| work(context)));
        poll_fn(|context| -> Poll<_> { replay.in_step(|| work.as_mut().poll(context)) }).await
    }

    /// Never returns: the run is ended for what differs.
    async fn differs<T>(&self, what: &str) -> T {
        self.run.replay.mismatch(self.op, what);
        pending().await
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        self.run.replay.drop_op(self.op);
    }
}

/// What is recorded of what a step's work returned.
fn recorded<T: Serialize + DeserializeOwned>(
    run: &TaskRun,
    name: &str,
    outcome: Result<T, ToolError>,
) -> StepOutcome {
    let outcome = outcome.and_then(|result| {
        let result = serde_json::value::to_raw_value(&result)
            .map_err(|_| ToolError::failed(StepError::NotJson))?;
        within(result.get().len())?;
        // Otherwise it would count as code that has changed.
        serde_json::from_str::<T>(result.get())
            .map_err(|_| ToolError::failed(StepError::NotReadBack))?;
        Ok(result)
    });
    match outcome {
        Ok(result) => StepOutcome::Ok(result),
        Err(error) => match error.0 {
            ToolErrorKind::Rejected(text) if text.len() <= MAX_STEP_BYTES / 6 => {
                StepOutcome::Rejected(text)
            }
            ToolErrorKind::Rejected(text) => {
                log_failure(run, name, &StepError::TooLarge { bytes: text.len() });
                StepOutcome::Failed
            }
            ToolErrorKind::Failed(cause) => {
                log_failure(run, name, &*cause);
                StepOutcome::Failed
            }
        },
    }
}

fn within(bytes: usize) -> Result<(), ToolError> {
    if bytes > MAX_STEP_BYTES {
        Err(ToolError::failed(StepError::TooLarge { bytes }))
    } else {
        Ok(())
    }
}

fn log_failure(run: &TaskRun, name: &str, cause: &(dyn std::error::Error + 'static)) {
    tracing::error!(task_id = %run.task_id, step = name, error = %with_causes(cause), "the step failed");
}

/// What the work of a step is given.
#[derive(Clone)]
pub struct StepContext {
    run: Arc<TaskRun>,
    session: Arc<Session>,
    idempotency_key: Arc<str>,
}

/// How long an outbound request may take.
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

caller_context!(StepContext);
working_context!(StepContext);

impl StepContext {
    fn new(run: Arc<TaskRun>, session: Arc<Session>, op: u32) -> Self {
        let idempotency_key = crate::ledger::idempotency_key(&[
            "task",
            run.partition.as_str(),
            &run.task_id,
            &op.to_string(),
        ]);
        Self {
            run,
            session,
            idempotency_key,
        }
    }

    fn caller(&self) -> &Caller {
        &self.run.caller
    }

    fn session(&self) -> &Arc<Session> {
        &self.session
    }

    fn ports(&self) -> &Ports {
        &self.run.ports
    }

    /// The member who asked, vouched for by pup.
    #[must_use]
    pub fn asker_id(&self) -> &str {
        &self.run.asker_id
    }

    /// State of the member who asked, and of no one else.
    #[must_use]
    pub fn asker_state(&self) -> State {
        self.member_state(self.asker_id())
    }

    /// A key for outside services that take one: the same whenever this step is done again, and that of no other.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// Waits in the process, which keeps the task alive meanwhile. For a longer pause end the step, and use
    /// [`TaskContext::sleep`].
    pub async fn sleep(&self, duration: Duration) {
        self.run.ports.runtime.dyn_sleep(duration).await;
    }

    /// Sends an outbound request, and waits for the response for a minute at the most.
    ///
    /// A response of any status is `Ok`; no redirect is followed.
    ///
    /// # Errors
    ///
    /// When no response arrived; [`HttpError::kind`] tells whether the request may have been acted on.
    pub async fn http(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        self.run.ports.runtime.dyn_http(request, HTTP_TIMEOUT).await
    }
}

impl fmt::Debug for StepContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepContext")
            .field("task_id", &self.run.task_id)
            .finish_non_exhaustive()
    }
}
