//! What the log of a server says, and what it never says.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use pup_extension_cli::{CallOptions, Client, EventOptions, Secret, UserRequest};
use serde_json::{Value, json};

use crate::logged::{Logged, lines};

/// Everything there is to say.
const LEVEL: &str = "trace";

/// The lines about requests.
fn requests(log: &str) -> Vec<Value> {
    lines(log)
        .filter(|line| line["message"] == "request")
        .collect()
}

#[test]
fn what_is_refused_before_it_is_read_is_logged_and_answered_like_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let server = Logged::start(folder.path(), &Secret::from_bytes(&[7; 32]).unwrap(), LEVEL);
    let address = server.url.strip_prefix("http://").unwrap();
    for (request, status) in [
        (
            "GET /marker-path?marker=query HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            404,
        ),
        (
            "MARKER /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            405,
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1048577\r\n\r\n",
            413,
        ),
        (
            "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nmarker-chunk\r\n",
            400,
        ),
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains("\r\ncache-control: no-store, no-transform"),
            "{head}"
        );
        let body: Value = serde_json::from_str(body).unwrap();
        assert!(body["error"].is_string(), "{body}");
    }
    let log = server.end();
    assert!(!log.to_lowercase().contains("marker"), "{log}");
    let told: Vec<_> = requests(&log)
        .iter()
        .map(|line| {
            assert!(line["duration_ms"].is_u64(), "{line}");
            (
                line["outcome"].as_str().unwrap().to_owned(),
                line["status"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("no such endpoint", 404),
        ("no such endpoint", 405),
        ("too large", 413),
        ("broken body", 400),
    ]
    .map(|(outcome, status)| (outcome.to_owned(), status));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn the_log_names_what_happened_and_never_what_was_said() {
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = Logged::start(folder.path(), &secret, LEVEL);
    let pup = Client::builder(&server.url, secret.clone())
        .setting("greeting", "marker-setting")
        .build()
        .unwrap();
    let request = UserRequest {
        message_id: "message-1".into(),
        channel_id: "channel-1".into(),
        content: "marker-message".into(),
    };
    pup.challenge("marker-challenge").await.unwrap();
    pup.call("snack_menu", json!({}), CallOptions::new())
        .await
        .unwrap();
    pup.call(
        "save_snack",
        json!({ "snack": "marker-argument" }),
        CallOptions::new(),
    )
    .await
    .unwrap();
    pup.call(
        "quote_request",
        json!({}),
        CallOptions::new().user_request(request),
    )
    .await
    .unwrap();
    pup.event("member.joined", "member-1", EventOptions::new())
        .await
        .unwrap();
    let stranger = Client::new(pup.base_url(), Secret::from_bytes(&[8; 32]).unwrap()).unwrap();
    stranger.challenge("marker-stranger").await.unwrap();

    let log = server.end();
    assert!(
        !log.contains("marker-"),
        "the log repeats what was said:\n{log}"
    );
    let revealed = secret.reveal();
    assert!(
        !log.contains(revealed.trim_start_matches("whsec_")),
        "the log has the secret"
    );

    let requests = requests(&log);
    let told: Vec<_> = requests
        .iter()
        .map(|line| {
            (
                line["endpoint"].as_str().unwrap(),
                line["tool"].as_str(),
                line["status"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("challenge", None, 200),
            ("mcp", Some("snack_menu"), 200),
            ("mcp", Some("save_snack"), 400),
            ("mcp", Some("quote_request"), 200),
            ("events", None, 200),
            ("challenge", None, 401),
        ]
    );
    for line in &requests {
        assert!(
            line["duration_ms"].is_u64() && line["outcome"].is_string(),
            "{line}"
        );
        assert_eq!(
            line["request_id"].is_string(),
            line["status"] != 401,
            "{line}"
        );
    }
}
