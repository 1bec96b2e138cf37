//! HTTP to core and back. It converts, and does nothing else.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
    serve::ListenerExt as _,
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use pup_extension::{
    service::{MAX_BODY_BYTES, Service},
    time::Timestamp,
};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::runtime::now;

/// How long a client may take to send a body: as long as pup waits for an answer.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a shutdown waits for requests and tasks that are still at work.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that listens, and answers once [`serve`](Self::serve) runs.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

struct Shared {
    service: Service,
    running: TaskTracker,
}

impl Server {
    /// Listens at an address; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// When the address is in use or not this machine's.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `shutdown` completes, then ends the ones that are at work (for ten seconds at the
    /// most).
    ///
    /// A request that has begun is worked on to its end even when its client hangs up.
    ///
    /// # Errors
    ///
    /// When the listener fails.
    pub async fn serve(
        self,
        service: Service,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let running = TaskTracker::new();
        let shared = Arc::new(Shared {
            service,
            running: running.clone(),
        });
        let router = Router::new().fallback(answer).with_state(shared);
        // Without it, small answers wait for the client's acknowledgement of the one before.
        let listener = self.listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "the connection keeps Nagle's algorithm");
            }
        });
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serve = axum::serve(listener, router).with_graceful_shutdown(async move {
            shutdown.await;
            // The receiver is there until the server has ended.
            stop.send(()).ok();
        });
        let patience = async {
            // An error means that the server ended by itself.
            if stopped.await.is_ok() {
                tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
                tracing::warn!("connections were still open at the end of the shutdown");
            } else {
                std::future::pending::<()>().await;
            }
        };
        let served = tokio::select! {
            served = serve.into_future() => served,
            () = patience => Ok(()),
        };
        running.close();
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, running.wait())
            .await
            .is_err()
        {
            tracing::warn!("requests were still at work at the end of the shutdown");
        }
        served
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let received = now();
    let (head, body) = request.into_parts();
    if let Some(refusal) = shared
        .service
        .refuse_early(&head.method, head.uri.path(), &head.headers)
    {
        return refuse(refusal, received);
    }
    let body = match read(body, BODY_TIMEOUT).await {
        Ok(body) => body,
        Err(refusal) => return refuse(refusal, received),
    };
    let service = shared.service.clone();
    let request = Request::from_parts(head, body);
    // A task of its own: hyper drops this future when the client hangs up, and a commit must not be dropped.
    let task = shared
        .running
        .spawn(async move { service.handle(request, received).await });
    match task.await {
        Ok(response) => response.map(Body::from),
        Err(error) => {
            tracing::error!(panicked = error.is_panic(), "a request was not answered");
            let failed = refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
            refuse(failed, received)
        }
    }
}

/// Reads a body, or says why it is refused.
async fn read(body: Body, patience: Duration) -> Result<Bytes, http::Response<Bytes>> {
    let whole = Limited::new(body, MAX_BODY_BYTES).collect();
    match tokio::time::timeout(patience, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Service::too_large()),
        Ok(Err(_)) => Err(refusal(
            StatusCode::BAD_REQUEST,
            "the body broke off, or is not framed as HTTP has it",
        )),
        Err(_) => Err(refusal(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time",
        )),
    }
}

/// A refusal in the form of core's own.
fn refusal(status: StatusCode, error: &str) -> http::Response<Bytes> {
    // Of the texts here none needs an escape.
    let mut response = http::Response::new(Bytes::from(format!(r#"{{"error":"{error}"}}"#)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store, no-transform"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses what never came to [`Service::handle`], with the line in the log that this would have written. Nothing
/// in it is the sender's.
fn refuse(refusal: http::Response<Bytes>, received: Timestamp) -> Response {
    let outcome = match refusal.status() {
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "no such endpoint",
        StatusCode::PAYLOAD_TOO_LARGE => "too large",
        StatusCode::BAD_REQUEST => "broken body",
        StatusCode::REQUEST_TIMEOUT => "late body",
        _ => "failed",
    };
    tracing::info!(
        endpoint = "",
        outcome,
        status = refusal.status().as_u16(),
        duration_ms = u64::try_from(now().since(received).as_millis()).unwrap_or(u64::MAX),
        "request"
    );
    refusal.map(Body::from)
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_refused_in_json_like_one_that_is_too_large() {
        let too_large = Service::too_large();
        let broken: io::Result<Bytes> = Err(io::ErrorKind::UnexpectedEof.into());
        let broken = Body::from_stream(stream::iter([broken]));
        let late = Body::from_stream(stream::pending::<io::Result<Bytes>>());
        for (body, patience, status) in [
            (broken, Duration::from_secs(60), StatusCode::BAD_REQUEST),
            (late, Duration::ZERO, StatusCode::REQUEST_TIMEOUT),
        ] {
            let refused = read(body, patience).await.unwrap_err();
            assert_eq!(refused.status(), status);
            assert_eq!(refused.headers(), too_large.headers());
            let said: Value = serde_json::from_slice(refused.body()).unwrap();
            assert!(said["error"].is_string(), "{said}");
        }
    }
}
