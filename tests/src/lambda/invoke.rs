//! Lambda's `Invoke`, and its queue of asynchronous events.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, Response, StatusCode},
    routing::post,
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::function::Function;
use crate::place::Result;

/// The most bytes of an asynchronous event.
const MAX_EVENT_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Invoke {
    url: String,
    retries: [Duration; 2],
    listener: Mutex<Option<TcpListener>>,
    forbidden: AtomicBool,
    dead: Mutex<Vec<Value>>,
}

/// What a request is answered by.
#[derive(Clone)]
struct Desk {
    invoke: Arc<Invoke>,
    function: Weak<Function>,
}

impl Invoke {
    pub(super) async fn bind(retries: [Duration; 2]) -> Result<Arc<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        Ok(Arc::new(Self {
            url: format!("http://{}", listener.local_addr()?),
            retries,
            listener: Mutex::new(Some(listener)),
            forbidden: AtomicBool::new(false),
            dead: Mutex::default(),
        }))
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn forbid(&self) {
        self.forbidden.store(true, Ordering::SeqCst);
    }

    pub(super) fn dead_letters(&self) -> Vec<Value> {
        lock(&self.dead).clone()
    }

    /// Takes events for a function. It ends with the runtime.
    pub(super) fn serve(self: &Arc<Self>, function: &Arc<Function>) {
        let Some(listener) = lock(&self.listener).take() else {
            return;
        };
        let desk = Desk {
            invoke: Arc::clone(self),
            function: Arc::downgrade(function),
        };
        let api = Router::new()
            .route("/2015-03-31/functions/{name}/invocations", post(invoke))
            .with_state(desk);
        tokio::spawn(async move { axum::serve(listener, api).await.ok() });
    }

    /// Delivers an event, at least once.
    async fn deliver(&self, function: &Weak<Function>, payload: Bytes) {
        let waits = self.retries.iter().copied().map(Some).chain([None]);
        for wait in waits {
            let Some(function) = function.upgrade() else {
                return;
            };
            match function.invoke(payload.clone()).await {
                Ok(_) => return,
                Err(_) if function.has_ended() => return,
                Err(_) => drop(function),
            }
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => break,
            }
        }
        let letter = serde_json::from_slice(&payload).unwrap_or_default();
        lock(&self.dead).push(letter);
    }
}

async fn invoke(
    State(desk): State<Desk>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    if desk.invoke.forbidden.load(Ordering::SeqCst) {
        let message = "User is not authorized to perform: lambda:InvokeFunction";
        return refuse(StatusCode::FORBIDDEN, "AccessDeniedException", message);
    }
    let function = desk
        .function
        .upgrade()
        .filter(|function| name.rsplit(':').next() == Some(function.name));
    let Some(function) = function else {
        let message = "Function not found";
        return refuse(StatusCode::NOT_FOUND, "ResourceNotFoundException", message);
    };
    let Ok(payload) = to_bytes(body, MAX_EVENT_BYTES).await else {
        let message = "The event is too large";
        return refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestTooLargeException",
            message,
        );
    };
    if headers
        .get("x-amz-invocation-type")
        .is_some_and(|kind| kind == "Event")
    {
        let (invoke, function) = (Arc::clone(&desk.invoke), desk.function.clone());
        tokio::spawn(async move { invoke.deliver(&function, payload).await });
        return with_status(StatusCode::ACCEPTED, Bytes::new());
    }
    match function.invoke(payload).await {
        Ok(answer) => with_status(StatusCode::OK, answer),
        Err(failed) => {
            let mut response = with_status(StatusCode::OK, Bytes::from(failed.error));
            let error = HeaderValue::from_static("Unhandled");
            response.headers_mut().insert("x-amz-function-error", error);
            response
        }
    }
}

fn refuse(status: StatusCode, kind: &'static str, message: &str) -> Response<Body> {
    let body = json!({ "Type": "User", "message": message }).to_string();
    let mut response = with_status(status, Bytes::from(body));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert("x-amzn-errortype", kind);
    response
}

fn with_status(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
