//! The server over real sockets: limits, clients that go away, and a shutdown with requests at work.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::StatusCode;
use pup_extension::{
    prelude::*,
    service::{Config, MAX_BODY_BYTES, Service},
    signing::{Keyring, Secret},
};
use pup_extension_cli::{CallOptions, Client, Outcome};
use pup_extension_local::{LocalRuntime, Server, SqliteStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::{Notify, oneshot},
    task::JoinHandle,
};

/// Counts, and on the way waits until the test lets it go on.
fn extension(entered: std::sync::Arc<Notify>, go_on: std::sync::Arc<Notify>) -> Extension {
    Extension::builder("gate", "Gate")
        .author("Example author")
        .description("Waits at a gate.")
        .summary("Waits at a gate.")
        .instructions("For tests.")
        .tool(Tool::new("pass", move |ctx: ToolContext| {
            let (entered, go_on) = (entered.clone(), go_on.clone());
            async move {
                entered.notify_one();
                go_on.notified().await;
                ctx.state().add("passed", 1)?;
                Ok::<_, ToolError>(())
            }
        }))
        .tool(
            Tool::new("passed", async |ctx: ToolContext| {
                Ok::<u64, ToolError>(ctx.state().get("passed").await?.unwrap_or(0))
            })
            .read_only(),
        )
        .build()
        .unwrap()
}

struct Running {
    address: SocketAddr,
    pup: Client,
    entered: std::sync::Arc<Notify>,
    go_on: std::sync::Arc<Notify>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<std::io::Result<()>>,
    _folder: TempDir,
}

impl Running {
    async fn start() -> Self {
        let (entered, go_on) = <(std::sync::Arc<Notify>, std::sync::Arc<Notify>)>::default();
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("gate.sqlite")).unwrap();
        let server = Server::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = server.address();
        let url = format!("http://{address}");
        let config = Config::local(Keyring::new(secret.clone()), url.as_str()).unwrap();
        let service = Service::new(
            extension(entered.clone(), go_on.clone()),
            config,
            store,
            LocalRuntime::new(),
        )
        .unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.serve(service, async {
            stopped.await.ok();
        }));
        Self {
            address,
            pup: Client::new(url, secret).unwrap(),
            entered,
            go_on,
            stop: Some(stop),
            serving,
            _folder: folder,
        }
    }

    async fn passed(&self) -> Value {
        let answer = self.pup.call("passed", json!({}), CallOptions::new()).await;
        match answer.unwrap().outcome().unwrap() {
            Outcome::Complete(result) => result.structured().cloned().unwrap(),
            _ => Value::Null,
        }
    }

    /// Sends raw bytes, and reads the head of the answer (the connection may stay open).
    async fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may answer and close before all is sent.
        stream.write_all(request).await.ok();
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut part).await {
                Ok(0) | Err(_) => break,
                Ok(read) => answer.extend_from_slice(&part[..read]),
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_before_it_is_sent() {
    let running = Running::start().await;
    let length = MAX_BODY_BYTES + 1;
    let request = format!("POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    // Not a byte of the body follows.
    let answer = running.raw(request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn a_body_that_grows_too_large_is_refused_though_it_announced_nothing() {
    let running = Running::start().await;
    let mut request =
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let chunk = [b'x'; 65_536];
    for _ in 0..=MAX_BODY_BYTES / chunk.len() {
        request.extend_from_slice(b"10000\r\n");
        request.extend_from_slice(&chunk);
        request.extend_from_slice(b"\r\n");
    }
    let answer = running.raw(&request).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_the_server_goes_on() {
    let running = Running::start().await;
    let answer = running
        .raw(b"\x16\x03\x01 this is no request\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(running.passed().await, 0);
}

#[tokio::test]
async fn a_client_that_hangs_up_does_not_stop_its_call() {
    let running = Running::start().await;
    let pup = running.pup.clone();
    let options = CallOptions::new().call_id("call-1");
    let call = tokio::spawn({
        let options = options.clone();
        async move { pup.call("pass", json!({}), options).await }
    });
    running.entered.notified().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    running.go_on.notify_one();
    // The retry is given what the first recorded, or waits for it; were the first gone, it would wait at the gate.
    let again = running.pup.call("pass", json!({}), options).await.unwrap();
    assert_eq!(again.status(), StatusCode::OK);
    assert!(matches!(again.outcome(), Ok(Outcome::Complete(_))));
    assert_eq!(running.passed().await, 1);
}

#[tokio::test]
async fn a_shutdown_answers_what_is_at_work_and_takes_nothing_new() {
    let mut running = Running::start().await;
    let pup = running.pup.clone();
    let call = tokio::spawn(async move { pup.call("pass", json!({}), CallOptions::new()).await });
    running.entered.notified().await;
    running.stop.take().unwrap().send(()).unwrap();
    // The listener is closed once the server has seen it.
    let closed = async {
        while TcpStream::connect(running.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), closed)
        .await
        .unwrap();
    assert!(!running.serving.is_finished());
    running.go_on.notify_one();
    let answer = call.await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    running.serving.await.unwrap().unwrap();
}

mod outbound {
    use super::*;
    use http::{Request, header};
    use pup_extension::runtime::{HttpErrorKind, Runtime as _};

    /// Answers one connection with these bytes, and keeps it open.
    async fn answering(answer: Vec<u8>) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = [0; 1024];
            let read = stream.read(&mut head).await.unwrap();
            assert!(read > 0);
            stream.write_all(&answer).await.ok();
            // Until the client is done.
            tokio::io::copy(&mut stream, &mut tokio::io::sink())
                .await
                .ok();
        });
        address
    }

    async fn get(
        address: SocketAddr,
        timeout: Duration,
    ) -> Result<http::Response<Bytes>, HttpErrorKind> {
        let request = Request::get(format!("http://{address}/secret-path"))
            .body(Bytes::new())
            .unwrap();
        LocalRuntime::new()
            .http(request, timeout)
            .await
            .map_err(|error| {
                let shown = format!("{error} {error:?}");
                assert!(
                    !shown.contains("secret-path"),
                    "an error names the URL: {shown}"
                );
                error.kind()
            })
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_response_of_any_status_comes_back_whole() {
        let address =
            answering(b"HTTP/1.1 503 No\r\nX-A: b\r\nContent-Length: 4\r\n\r\nbody".to_vec()).await;
        let response = get(address, LONG).await.unwrap();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["x-a"], "b");
        assert_eq!(response.body(), "body");
    }

    #[tokio::test]
    async fn no_redirect_is_followed() {
        let address =
            answering(b"HTTP/1.1 302 Go\r\nLocation: /on\r\nContent-Length: 0\r\n\r\n".to_vec())
                .await;
        let response = get(address, LONG).await.unwrap();
        assert_eq!(
            (
                response.status().as_u16(),
                &response.headers()[header::LOCATION]
            ),
            (302, &"/on".parse().unwrap())
        );
    }

    #[tokio::test]
    async fn each_failure_has_its_kind() {
        let silent = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec()).await;
        assert_eq!(
            get(silent, Duration::from_millis(200)).await.unwrap_err(),
            HttpErrorKind::Timeout
        );

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closed = listener.local_addr().unwrap();
        drop(listener);
        assert_eq!(get(closed, LONG).await.unwrap_err(), HttpErrorKind::Connect);

        let garbage = answering(b"this is no HTTP\r\n\r\n".to_vec()).await;
        assert_eq!(
            get(garbage, LONG).await.unwrap_err(),
            HttpErrorKind::Transport
        );

        let request = Request::get("/only-a-path").body(Bytes::new()).unwrap();
        let error = LocalRuntime::new().http(request, LONG).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Request);
    }

    #[tokio::test]
    async fn a_response_without_end_is_cut_off_with_an_error() {
        let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 17000000\r\n\r\n".to_vec();
        answer.resize(answer.len() + 17_000_000, b'x');
        let address = answering(answer).await;
        assert_eq!(
            get(address, LONG).await.unwrap_err(),
            HttpErrorKind::Transport
        );
    }
}
