//! What the log of a server says, and what it never says.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
};

use pup_extension_cli::{CallOptions, Client, EventOptions, Secret, UserRequest};
use serde_json::{Value, json};

use crate::PROGRAM;

#[tokio::test]
async fn the_log_names_what_happened_and_never_what_was_said() {
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(PROGRAM)
        .current_dir(folder.path())
        .env("PUP_LISTEN", "127.0.0.1:0")
        .env("PUP_SIGNING_SECRET", &*secret.reveal())
        .env_remove("PUP_DATABASE")
        .env_remove("PUP_PUBLIC_URL")
        // Everything there is to say.
        .env("RUST_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines
        .find_map(|line| {
            line.unwrap()
                .split_once(" is listening on ")
                .map(|(_, url)| url.trim().to_owned())
        })
        .unwrap();
    let mut stderr = server.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut log = String::new();
        stderr.read_to_string(&mut log).map(|_| log)
    });

    let pup = Client::builder(url, secret.clone())
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

    server.kill().unwrap();
    server.wait().unwrap();
    let log = log.join().unwrap().unwrap();
    assert!(
        !log.contains("marker-"),
        "the log repeats what was said:\n{log}"
    );
    let revealed = secret.reveal();
    assert!(
        !log.contains(revealed.trim_start_matches("whsec_")),
        "the log has the secret"
    );

    let requests: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["message"] == "request")
        .collect();
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
