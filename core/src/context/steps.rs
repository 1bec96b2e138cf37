//! Remembered outside effects.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{FutureExt, future::Shared};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    extension::ToolError,
    ledger::Held,
    marker::BoxFuture,
    ports::Ports,
    state::Session,
    store::{MAX_VALUE_BYTES, Name, Outcome, Partition, StoreError, Value},
};

/// What the steps of one request brought, over all runs of its handler.
#[derive(Debug)]
pub(crate) struct StepMemory {
    partition: Partition,
    /// Where results are kept beyond this request: the parts that name its record.
    record: [String; 2],
    held: Held,
    results: Mutex<BTreeMap<String, Bytes>>,
    /// Commits of results that have begun. They outlive the handler, which may be dropped at any time.
    under_way: Mutex<Vec<Keeping>>,
}

/// A result whose record is being committed.
#[derive(Clone, Debug)]
struct Keeping {
    step: String,
    result: Bytes,
    commit: Shared<BoxFuture<'static, Kept>>,
}

/// What came of such a commit: whether the run is still ours, or that this can't be told.
type Kept = Result<bool, Arc<StoreError>>;

/// The steps of one run: the memory, and how often each name was used.
#[derive(Debug)]
pub(crate) struct Steps {
    memory: Arc<StepMemory>,
    used: Mutex<BTreeMap<String, u32>>,
    lost: Mutex<bool>,
}

impl StepMemory {
    pub(crate) fn new(partition: Partition, record: [String; 2], held: Held) -> Self {
        Self {
            partition,
            record,
            held,
            results: Mutex::default(),
            under_way: Mutex::default(),
        }
    }

    /// Waits for commits that the handler left behind when it was dropped or went on without them: what they
    /// record has been done outside.
    pub(crate) async fn settle(&self) {
        let under_way = std::mem::take(
            &mut *self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for keeping in under_way {
            if matches!(keeping.commit.await, Ok(true)) {
                self.remember(&keeping.step, keeping.result);
            }
        }
    }

    /// Begins the commit of a result, which then comes to its end whatever becomes of the handler.
    fn begin_keeping(
        &self,
        ports: &Ports,
        step: &str,
        result: &Bytes,
    ) -> Result<Keeping, ToolError> {
        let mut commit = ports.commit(
            &self.partition,
            self.name(step)?,
            None,
            Value::Bytes(result.clone()),
            Some(self.held.expires_at()),
        )?;
        commit.push(self.held.check())?;
        let ports = ports.clone();
        let commit: BoxFuture<'static, Kept> = Box::pin(async move {
            match ports.send(&commit, ports.now()).await {
                Ok(Outcome::Applied) => Ok(true),
                Ok(Outcome::Conflict(_)) => Ok(false),
                Err(error) => Err(Arc::new(error)),
            }
        });
        let keeping = Keeping {
            step: step.to_owned(),
            result: result.clone(),
            commit: commit.shared(),
        };
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(keeping.clone());
        Ok(keeping)
    }

    fn name(&self, step: &str) -> Result<Name, ToolError> {
        let [kind, id] = &self.record;
        Name::of(["step", kind, id, step]).map_err(ToolError::failed)
    }

    fn remembered(&self, step: &str) -> Option<Bytes> {
        self.results
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(step)
            .cloned()
    }

    fn remember(&self, step: &str, result: Bytes) {
        self.results
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(step.to_owned(), result);
    }
}

impl Steps {
    pub(crate) fn new(memory: Arc<StepMemory>) -> Self {
        Self {
            memory,
            used: Mutex::default(),
            lost: Mutex::default(),
        }
    }

    /// Whether a step found that another request has taken the run over.
    pub(crate) fn found_lost(&self) -> bool {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn run<T, F, W>(
        &self,
        ports: &Ports,
        session: &Session,
        name: &str,
        work: F,
    ) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> W,
        W: Future<Output = Result<T, ToolError>>,
    {
        let step = self.numbered(name);
        if let Some(result) = self.recall(ports, &step).await? {
            return serde_json::from_slice(&result)
                .map_err(|_| ToolError::failed(StepError::WrongType));
        }
        let value = {
            let mut work = pin!(session.in_step(work));
            poll_fn(|context| session.in_step(|| work.as_mut().poll(context))).await?
        };
        let result =
            serde_json::to_vec(&value).map_err(|_| ToolError::failed(StepError::NotJson))?;
        if result.len() > MAX_VALUE_BYTES {
            return Err(ToolError::failed(StepError::TooLarge {
                bytes: result.len(),
            }));
        }
        self.keep(ports, &step, result.into()).await?;
        Ok(value)
    }

    /// `name`, and from its second use on its number. A name can't be mistaken for another's number: the
    /// separator is counted too.
    fn numbered(&self, name: &str) -> String {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let count = used.entry(name.to_owned()).or_insert(0);
        *count += 1;
        format!("{count}.{name}")
    }

    async fn recall(&self, ports: &Ports, step: &str) -> Result<Option<Bytes>, ToolError> {
        if let Some(result) = self.memory.remembered(step) {
            return Ok(Some(result));
        }
        // A first attempt has left nothing behind: no need to look.
        if !self.memory.held.has_history() {
            return Ok(None);
        }
        let item = ports
            .read(&self.memory.partition, &self.memory.name(step)?)
            .await
            .map_err(ToolError::failed)?;
        match item.map(|item| item.value) {
            None => Ok(None),
            Some(Value::Bytes(result)) => {
                self.memory.remember(step, result.clone());
                Ok(Some(result))
            }
            Some(Value::Number(_)) => Err(ToolError::failed(StepError::WrongType)),
        }
    }

    async fn keep(&self, ports: &Ports, step: &str, result: Bytes) -> Result<(), ToolError> {
        let memory = &self.memory;
        if memory.held.is_recorded() {
            let keeping = memory.begin_keeping(ports, step, &result)?;
            if !keeping.commit.await.map_err(ToolError::failed)? {
                *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = true;
                return Err(ToolError::failed(StepError::Lost));
            }
        }
        memory.remember(step, result);
        Ok(())
    }
}

/// Why a step's result could not be kept or recalled.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error("another request has taken this run over; nothing more of it will be kept")]
    Lost,
    #[error("the step's result can't be written as JSON")]
    NotJson,
    #[error("the remembered result of the step is not of the type that was asked for")]
    WrongType,
    #[error("the step's result has {bytes} bytes; {MAX_VALUE_BYTES} are allowed")]
    TooLarge { bytes: usize },
}
