//! An instance of a function: a process, and the runtime API that it asks for events.

use std::{
    process::Stdio,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, State},
    http::{Response, StatusCode},
    routing::{get, post},
};
use bytes::Bytes;
use tokio::{
    net::TcpListener,
    process::{Child, Command},
    sync::{Notify, mpsc, oneshot},
};

use super::function::{Failed, Function, Invocation};

/// As Lambda's own limit of an answer.
const MAX_ANSWER_BYTES: usize = 6 * 1024 * 1024;

/// What the process is to do, and what it said.
#[derive(Default)]
struct Desk {
    current: Mutex<Option<Event>>,
    arrived: Notify,
    answered: Mutex<Option<oneshot::Sender<Result<Bytes, Failed>>>>,
}

struct Event {
    id: String,
    payload: Bytes,
    deadline: u128,
    function: &'static str,
}

/// Takes events, one at a time, for as long as the function is there.
pub(super) async fn run(
    function: Weak<Function>,
    number: usize,
    events: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Invocation>>>,
) {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0").await else {
        return;
    };
    let Ok(address) = listener.local_addr() else {
        return;
    };
    let desk = Arc::new(Desk::default());
    let api = Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route(
            "/2018-06-01/runtime/invocation/{id}/response",
            post(response),
        )
        .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/2018-06-01/runtime/init/error", post(StatusCode::ACCEPTED))
        .with_state(Arc::clone(&desk));
    let server = tokio::spawn(async move { axum::serve(listener, api).await.ok() });
    let mut process: Option<Child> = None;
    loop {
        let invocation = { events.lock().await.recv().await };
        let (Some(invocation), Some(function)) = (invocation, function.upgrade()) else {
            break;
        };
        if function.has_ended() {
            break;
        }
        // One that died between two events is not missed until the next.
        let has_died = match &mut process {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => true,
        };
        if has_died {
            process = start(&function, &address.to_string()).ok();
            function.started(number, process.as_ref().and_then(Child::id));
        }
        let outcome = match &mut process {
            Some(child) => serve(&function, &desk, child, &invocation).await,
            None => Err(Failed::new(
                "Runtime.InvalidEntrypoint",
                "the binary can't be started",
            )),
        };
        let is_over = matches!(&outcome, Err(failed) if failed.ends_the_process());
        if is_over && let Some(mut child) = process.take() {
            child.kill().await.ok();
            function.started(number, None);
        }
        // Who asked may be gone.
        invocation.answer.send(outcome).ok();
    }
    server.abort();
    if let Some(mut child) = process {
        child.kill().await.ok();
    }
}

async fn serve(
    function: &Function,
    desk: &Desk,
    child: &mut Child,
    invocation: &Invocation,
) -> Result<Bytes, Failed> {
    let (answer, answered) = oneshot::channel();
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    *lock(&desk.answered) = Some(answer);
    *lock(&desk.current) = Some(Event {
        id: invocation.id.clone(),
        payload: invocation.payload.clone(),
        deadline: (now + function.timeout).as_millis(),
        function: function.name,
    });
    desk.arrived.notify_one();
    let outcome = tokio::select! {
        answered = answered => answered.unwrap_or_else(|_| Err(Failed::new("Runtime.Unknown", "no answer"))),
        _ = child.wait() => Err(Failed::new("Runtime.ExitError", "the process ended")),
        () = tokio::time::sleep(function.timeout) => Err(Failed::new("Sandbox.Timedout", "the function timed out")),
    };
    lock(&desk.current).take();
    lock(&desk.answered).take();
    outcome
}

fn start(function: &Function, runtime_api: &str) -> std::io::Result<Child> {
    // No variable but the function's own, as on Lambda.
    let mut command = Command::new(&function.program);
    command
        .env_clear()
        .envs(function.vars.iter().cloned())
        .env("AWS_LAMBDA_RUNTIME_API", runtime_api)
        .env("AWS_LAMBDA_FUNCTION_NAME", function.name)
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/extension")
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "local")
        .env("_HANDLER", "bootstrap")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command.spawn()
}

async fn next(State(desk): State<Arc<Desk>>) -> Response<Body> {
    let event = loop {
        if let Some(event) = lock(&desk.current).take() {
            break event;
        }
        desk.arrived.notified().await;
    };
    let arn = format!(
        "arn:aws:lambda:eu-central-1:000000000000:function:{}",
        event.function
    );
    let mut response = Response::new(Body::from(event.payload));
    for (name, value) in [
        ("lambda-runtime-aws-request-id", event.id),
        ("lambda-runtime-deadline-ms", event.deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", arn),
        (
            "lambda-runtime-trace-id",
            String::from("Root=1-00000000-000000000000000000000000;Sampled=0"),
        ),
        ("content-type", String::from("application/json")),
    ] {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn response(State(desk): State<Arc<Desk>>, Path(_): Path<String>, body: Body) -> StatusCode {
    let Ok(body) = to_bytes(body, MAX_ANSWER_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE;
    };
    answer(&desk, Ok(body))
}

async fn error(State(desk): State<Arc<Desk>>, Path(_): Path<String>, body: Body) -> StatusCode {
    let body = to_bytes(body, MAX_ANSWER_BYTES).await.unwrap_or_default();
    let error = String::from_utf8_lossy(&body).into_owned();
    answer(&desk, Err(Failed { error }))
}

fn answer(desk: &Desk, outcome: Result<Bytes, Failed>) -> StatusCode {
    match lock(&desk.answered).take() {
        // Who asked may be gone.
        Some(answered) => {
            answered.send(outcome).ok();
            StatusCode::ACCEPTED
        }
        None => StatusCode::BAD_REQUEST,
    }
}

impl Failed {
    /// Whether the process is of no more use.
    fn ends_the_process(&self) -> bool {
        ["Runtime.", "Sandbox."]
            .iter()
            .any(|kind| self.error.contains(&format!("\"errorType\":\"{kind}")))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
