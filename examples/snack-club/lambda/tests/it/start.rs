//! How the function starts, and how it does not.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use pup_extension_cli::{CallOptions, Client, Secret};
use pup_extension_tests::dynamodb::{DynamoDb, TABLE};
use serde_json::{Map, Value, json};

use crate::PROGRAM;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The function with all its settings, but for those that are changed; `None` takes one away.
fn function(database: &str, runtime_api: &str, changes: &[(&str, Option<&str>)]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .env_clear()
        .env("PUP_TABLE", TABLE)
        .env("PUP_SIGNING_SECRET", SECRET)
        .env("PUP_PUBLIC_URL", "https://snacks.example.com")
        .env("PUP_BACKGROUND_FUNCTION", "extension-background")
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_ENDPOINT_URL_DYNAMODB", database)
        .env("AWS_LAMBDA_RUNTIME_API", runtime_api)
        .env("AWS_LAMBDA_FUNCTION_NAME", "extension")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", "g")
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "s")
        .stdin(Stdio::null());
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_that_is_missing_or_malformed_ends_the_start_and_is_named() {
    let database = DynamoDb::start(None).await.unwrap();
    for (name, value, said) in [
        ("PUP_TABLE", None, "PUP_TABLE is not set"),
        ("PUP_TABLE", Some("another"), "PUP_TABLE"),
        ("PUP_SIGNING_SECRET", None, "PUP_SIGNING_SECRET is not set"),
        (
            "PUP_SIGNING_SECRET",
            Some("whsec_short"),
            "PUP_SIGNING_SECRET",
        ),
        (
            "PUP_SIGNING_SECRET_PREVIOUS",
            Some(SECRET),
            "PUP_SIGNING_SECRET_PREVIOUS_UNTIL",
        ),
        (
            "PUP_SIGNING_SECRET_ARN",
            Some("arn:x"),
            "PUP_SIGNING_SECRET_ARN",
        ),
        ("PUP_BACKGROUND_FUNCTION", None, "PUP_BACKGROUND_FUNCTION"),
        (
            "PUP_PUBLIC_URL",
            Some("http://snacks.example.com"),
            "PUP_PUBLIC_URL",
        ),
        ("PUP_PUBLIC_URL", Some("snacks"), "PUP_PUBLIC_URL"),
        ("PUP_ROLE", Some("both"), "PUP_ROLE"),
        ("PUP_TIMER_GROUP", Some("g"), "PUP_TIMER_ROLE_ARN"),
        ("AWS_REGION", None, "AWS_REGION"),
        ("AWS_ACCESS_KEY_ID", None, "AWS_ACCESS_KEY_ID"),
    ] {
        let mut function = function(database.url(), "127.0.0.1:1", &[(name, value)]);
        let output = function.output().unwrap();
        let log = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name} {value:?}: {log}");
        assert!(log.contains(said), "{name} {value:?}: {log}");
        assert!(!log.contains("whsec_short"), "{log}");
        // A line of JSON, as every line of the log.
        let line: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(line["level"], "ERROR", "{log}");
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What the function did while it started and answered one event, and what it logged.
struct Served {
    /// Everything that it does to the outside comes by one of two sockets, whose order is kept.
    seen: Vec<&'static str>,
    answer: String,
    log: String,
}

/// A call that saves a fruit, as an event of a Function URL.
fn event() -> String {
    let secret: Secret = SECRET.parse().unwrap();
    let pup = Client::new("https://snacks.example.com", secret).unwrap();
    let arguments = json!({ "snack": "fruit" });
    let signed = pup
        .call_request("save_snack", arguments, CallOptions::new())
        .unwrap();
    let headers: Map<_, _> = signed
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), json!(value.to_str().unwrap())))
        .collect();
    json!({
        "version": "2.0", "rawPath": signed.path(), "headers": headers,
        "requestContext": { "http": { "method": "POST", "path": signed.path() }, "stage": "$default" },
        "body": std::str::from_utf8(signed.body()).unwrap(), "isBase64Encoded": false,
    })
    .to_string()
}

async fn serve_one(changes: &[(&str, Option<&str>)]) -> Served {
    serve_one_until("99999999999999", changes).await
}

async fn serve_one_until(deadline: &str, changes: &[(&str, Option<&str>)]) -> Served {
    let database = DynamoDb::start(None).await.unwrap();
    let seen: Arc<Mutex<Vec<&str>>> = Arc::default();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", proxy.local_addr().unwrap());
    let emulator = database.url().strip_prefix("http://").unwrap().to_owned();
    let connected = Arc::clone(&seen);
    // It ends with the test's process, as the connections do.
    thread::spawn(move || {
        for stream in proxy.incoming() {
            let mut near = stream.unwrap();
            connected.lock().unwrap().push("connection to the table");
            let mut far = TcpStream::connect(&emulator).unwrap();
            let mut back_near = near.try_clone().unwrap();
            let mut back_far = far.try_clone().unwrap();
            thread::spawn(move || std::io::copy(&mut near, &mut far).ok());
            thread::spawn(move || std::io::copy(&mut back_far, &mut back_near).ok());
        }
    });
    let api = TcpListener::bind("127.0.0.1:0").unwrap();
    let runtime_api = api.local_addr().unwrap().to_string();
    let mut function = function(&url, &runtime_api, changes);
    let mut function = Killed(function.stdout(Stdio::piped()).spawn().unwrap());
    let mut stdout = function.0.stdout.take().unwrap();
    let log = thread::spawn(move || {
        let mut log = String::new();
        stdout.read_to_string(&mut log).unwrap();
        log
    });

    let event = event();
    let (mut stream, _) = api.accept().unwrap();
    seen.lock().unwrap().push("asks for an event");
    let mut chunk = [0; 4096];
    assert!(stream.read(&mut chunk).unwrap() > 0);
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nlambda-runtime-aws-request-id: 1\r\nlambda-runtime-deadline-ms: {deadline}\r\n\
         lambda-runtime-invoked-function-arn: arn\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{event}",
        event.len()
    )
    .unwrap();
    let mut answer = String::new();
    while !answer.contains("\"isBase64Encoded\"") {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "the function closed its connection: {answer}");
        answer.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
    drop(function);
    let seen = seen.lock().unwrap().clone();
    Served {
        seen,
        answer,
        log: log.join().unwrap(),
    }
}

/// A connection that is made before the function asks for its first event, and none after, means that no request waits
/// for a handshake.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connection_to_the_table_is_there_before_the_first_event() {
    let served = serve_one(&[]).await;
    assert!(
        served.answer.contains("\"statusCode\":200"),
        "{}",
        served.answer
    );
    assert_eq!(
        served.seen,
        ["connection to the table", "asks for an event"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_level_of_the_log_tells_what_was_sent_or_any_secret() {
    let served = serve_one(&[
        ("AWS_LAMBDA_LOG_LEVEL", Some("TRACE")),
        ("AWS_SESSION_TOKEN", Some("private-session")),
        ("AWS_SECRET_ACCESS_KEY", Some("private-key")),
    ])
    .await;
    assert!(
        served.answer.contains("\"statusCode\":200"),
        "{}",
        served.answer
    );
    let log = served.log;
    assert!(log.contains("tools/call"), "nothing was logged: {log}");
    for private in ["fruit", "private-", "MfKQ9r8", "local-asker", "arguments"] {
        assert!(!log.contains(private), "{private}: {log}");
    }
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(
            line["level"].is_string() && line["timestamp"].is_string(),
            "{line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_is_long_over_as_an_emulator_gives_it_is_none() {
    let served = serve_one_until("600000", &[]).await;
    assert!(
        served.answer.contains("\"statusCode\":200"),
        "{}",
        served.answer
    );
}
