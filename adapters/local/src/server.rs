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
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use pup_extension::service::{MAX_BODY_BYTES, Service};
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
        return refusal.map(Body::from);
    }
    let body = match tokio::time::timeout(
        BODY_TIMEOUT,
        Limited::new(body, MAX_BODY_BYTES).collect(),
    )
    .await
    {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Service::too_large().map(Body::from);
        }
        Ok(Err(_)) => return status(StatusCode::BAD_REQUEST),
        Err(_) => return status(StatusCode::REQUEST_TIMEOUT),
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
            status(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = status;
    response
}
