//! A function: its code, its settings, and the queue before its instances.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::instance;

/// A function with a fixed number of instances, each of which is a process once it was needed.
#[derive(Debug)]
pub struct Function {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) vars: Vec<(String, String)>,
    pub(super) timeout: Duration,
    queue: mpsc::UnboundedSender<Invocation>,
    /// The processes, by the instances' numbers.
    processes: Mutex<Vec<Option<u32>>>,
    ended: AtomicBool,
    served: AtomicU64,
}

/// An event, and who waits for what becomes of it.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) id: String,
    pub(super) payload: Bytes,
    pub(super) answer: oneshot::Sender<Result<Bytes, Failed>>,
}

/// An invocation failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// As the function or Lambda says it, a JSON object with `errorType` and `errorMessage`.
    pub error: String,
}

impl Function {
    pub(super) fn new(
        name: &'static str,
        program: &Path,
        vars: impl IntoIterator<Item = (&'static str, String)>,
        instances: usize,
        timeout: Duration,
    ) -> Arc<Self> {
        let (queue, events) = mpsc::unbounded_channel();
        let function = Arc::new(Self {
            name,
            program: program.to_owned(),
            vars: vars
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            timeout,
            queue,
            processes: Mutex::new(vec![None; instances]),
            ended: AtomicBool::new(false),
            served: AtomicU64::new(0),
        });
        let events = Arc::new(tokio::sync::Mutex::new(events));
        for number in 0..instances {
            let (function, events) = (Arc::downgrade(&function), Arc::clone(&events));
            tokio::spawn(instance::run(function, number, events));
        }
        function
    }

    /// Invokes it with an event, and waits for its answer.
    ///
    /// # Errors
    ///
    /// When the function reports one, dies, or takes longer than its timeout.
    pub async fn invoke(&self, payload: Bytes) -> Result<Bytes, Failed> {
        let (answer, answered) = oneshot::channel();
        let number = self.served.fetch_add(1, Ordering::Relaxed);
        let invocation = Invocation {
            id: format!("00000000-0000-4000-8000-{number:012x}"),
            payload,
            answer,
        };
        let gone = || Failed::new("Runtime.Ended", "the function is no longer there");
        self.queue.send(invocation).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// The processes of its instances.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        self.lock().iter().flatten().copied().collect()
    }

    /// Kills the processes of its instances (`SIGKILL`), wherever they are. The next events start new ones.
    pub fn kill(&self) {
        for process in self.processes() {
            kill(process);
        }
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.kill();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub(super) fn started(&self, number: usize, process: Option<u32>) {
        if let Some(place) = self.lock().get_mut(number) {
            *place = process;
        }
        if let Some(process) = process.filter(|_| self.has_ended()) {
            kill(process);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Option<u32>>> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failed {
    pub(super) fn new(kind: &str, message: &str) -> Self {
        let error = serde_json::json!({ "errorType": kind, "errorMessage": message });
        Self {
            error: error.to_string(),
        }
    }
}

/// A process that is ours and was not waited for yet.
fn kill(process: u32) {
    // It may have ended by itself.
    std::process::Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .stderr(std::process::Stdio::null())
        .status()
        .ok();
}
