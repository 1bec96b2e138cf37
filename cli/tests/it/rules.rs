//! Pup's rules for answers: each broken one is an error that says so.

use std::time::{Duration, Instant};

use pup_extension_cli::{Client, ClientError, ClientErrorKind, RESPONSE_CAP};
use serde_json::json;

use crate::server::{SECRET, Script, Server, answer};

async fn manifest(server: &Server) -> Result<pup_extension_cli::Answer, ClientError> {
    let builder = Client::builder(&server.url, SECRET.parse().unwrap());
    builder
        .deadline(Duration::from_millis(400))
        .build()
        .unwrap()
        .manifest()
        .await
}

async fn error(server: &Server, kind: ClientErrorKind) -> String {
    let error = manifest(server).await.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    error.to_string()
}

fn always(status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> Server {
    Server::start(move |_| Script::Answer(status, headers.clone(), body.clone()))
}

#[tokio::test]
async fn a_redirect_is_refused_and_not_followed() {
    for status in [301, 302, 303, 304, 307, 308] {
        let server = always(status, vec![("location", "/other".to_owned())], Vec::new());
        let text = error(&server, ClientErrorKind::Redirect).await;
        assert!(
            text.contains(&status.to_string()) && text.contains("redirect"),
            "{text}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_compressed_answer_is_refused_unread() {
    for encoding in ["gzip", "br", "zstd", "identity, gzip"] {
        let server = always(
            200,
            vec![("content-encoding", encoding.to_owned())],
            b"{}".to_vec(),
        );
        let text = error(&server, ClientErrorKind::Compressed).await;
        assert!(text.contains(encoding), "{text}");
    }
    let server = always(
        200,
        vec![("content-encoding", "Identity".to_owned())],
        b"{}".to_vec(),
    );
    assert!(manifest(&server).await.is_ok());
}

#[tokio::test]
async fn an_answer_of_1_mib_is_read_and_one_byte_more_is_not() {
    let server = always(200, Vec::new(), vec![b' '; RESPONSE_CAP]);
    assert_eq!(manifest(&server).await.unwrap().body().len(), 1_048_576);
    let server = always(200, Vec::new(), vec![b' '; RESPONSE_CAP + 1]);
    assert!(
        error(&server, ClientErrorKind::TooLarge)
            .await
            .contains("1048576")
    );
}

#[tokio::test]
async fn an_answer_of_untold_length_is_read_up_to_the_cap_only() {
    let chunked = |size: usize| {
        let mut body = format!("{size:x}\r\n").into_bytes();
        body.extend(vec![b' '; size]);
        body.extend(b"\r\n0\r\n\r\n");
        always(200, vec![("transfer-encoding", "chunked".to_owned())], body)
    };
    assert!(manifest(&chunked(RESPONSE_CAP)).await.is_ok());
    error(&chunked(RESPONSE_CAP + 1), ClientErrorKind::TooLarge).await;
}

#[tokio::test]
async fn an_answer_past_the_deadline_is_given_up_on() {
    let late = |bytes: Vec<u8>| {
        Server::start(move |_| Script::Late(Duration::from_secs(30), bytes.clone()))
    };
    let started = Instant::now();
    let text = error(&late(answer(200, &[], b"{}")), ClientErrorKind::Deadline).await;
    assert!(text.contains("0.4 s"), "{text}");
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn the_deadline_covers_the_body_too() {
    // A head that promises more than ever comes, on a connection that stays open.
    let server = Server::start(|_| {
        Script::Answer(
            200,
            vec![("transfer-encoding", "chunked".to_owned())],
            b"2\r\n{}\r\n".to_vec(),
        )
    });
    error(&server, ClientErrorKind::Deadline).await;
}

#[tokio::test]
async fn a_broken_or_foreign_answer_is_told_apart_from_silence() {
    for bytes in [
        Vec::new(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}".to_vec(),
        b"\x00\xff\x00".to_vec(),
    ] {
        let server = Server::start(move |_| Script::Bytes(bytes.clone()));
        error(&server, ClientErrorKind::Transport).await;
    }
}

#[tokio::test]
async fn nothing_at_the_address_is_no_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(url, SECRET.parse().unwrap()).unwrap();
    let error = client.manifest().await.unwrap_err();
    assert_eq!(error.kind(), ClientErrorKind::Connect);
    assert!(error.is_unreachable());
}

#[tokio::test]
async fn tls_is_spoken_to_an_https_url() {
    let server = Server::start(|_| Script::json(200, &json!({})));
    let url = server.url.replace("http://", "https://");
    let builder = Client::builder(url, SECRET.parse().unwrap()).deadline(Duration::from_secs(2));
    // The other side speaks plain http, so the handshake can't succeed.
    let error = builder.build().unwrap().manifest().await.unwrap_err();
    assert!(error.is_unreachable(), "{error:?}");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| !request.line.starts_with("GET"))
    );
}

#[tokio::test]
async fn errors_of_the_extension_are_answers() {
    for status in [400, 401, 404, 409, 500, 503] {
        let server = always(status, Vec::new(), b"no".to_vec());
        assert_eq!(manifest(&server).await.unwrap().status(), status);
    }
}
