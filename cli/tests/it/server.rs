//! A small HTTP/1.1 server: it keeps every request as it came over the wire, and answers by script.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// The secret that the tests share, and its bytes.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SECRET_BASE64: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What the server does about a request.
pub(crate) enum Script {
    /// An answer of this status, with these further headers and this body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// These bytes, and then the end of the connection.
    Bytes(Vec<u8>),
    /// The bytes after a time, unless the other side is gone by then.
    Late(Duration, Vec<u8>),
}

impl Server {
    pub(crate) fn start(script: impl Fn(&Received) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&requests), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                thread::spawn(move || serve(&stream, &kept, script.as_ref()));
            }
        });
        Self { url, requests }
    }

    /// Answers every request with a result of its JSON-RPC id.
    pub(crate) fn with_result(result: Value) -> Self {
        Self::start(move |request| Script::result(request, &result))
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    /// The one request that came.
    pub(crate) fn request(&self) -> Received {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "one request comes");
        requests.remove(0)
    }
}

impl Script {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Answer(status, headers, body.to_string().into_bytes())
    }

    pub(crate) fn result(request: &Received, result: &Value) -> Self {
        Self::json(
            200,
            &json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}),
        )
    }

    pub(crate) fn error(request: &Received, status: u16, error: &Value) -> Self {
        Self::json(
            status,
            &json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error}),
        )
    }
}

impl Received {
    /// The value of a header that stands there once; `None` when it is not there.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} stands there once");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn meta(&self) -> Value {
        self.json()["params"]["_meta"].clone()
    }

    pub(crate) fn context(&self) -> Value {
        self.meta()["io.puphq/context"].clone()
    }

    /// Checks the signature, and that the timestamp is the current one.
    pub(crate) fn assert_signed(&self) {
        self.assert_signed_at(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_secs(),
        );
    }

    pub(crate) fn assert_signed_at(&self, now: u64) {
        assert!(self.is_signed(), "the signature matches");
        let age = now.abs_diff(self.header("webhook-timestamp").unwrap().parse().unwrap());
        assert!(age <= 5, "the timestamp is {age} s off");
    }

    /// Whether the signature is right, computed here from the headers' text and the body's bytes alone.
    pub(crate) fn is_signed(&self) -> bool {
        let id = self.header("webhook-id").unwrap();
        let timestamp = self.header("webhook-timestamp").unwrap();
        let key = STANDARD.decode(SECRET_BASE64).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(&[id.as_bytes(), b".", timestamp.as_bytes(), b".", &self.body].concat());
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature") == Some(expected.as_str())
    }
}

/// A task named `t1`, to be asked about every millisecond, with these fields beside or instead.
pub(crate) fn task(status: &str, fields: &Value) -> Value {
    let mut task = json!({
        "taskId": "t1",
        "status": status,
        "createdAt": "2026-07-28T00:00:00.000Z",
        "lastUpdatedAt": "2026-07-28T00:00:01.000Z",
        "ttlMs": 86_400_000,
        "pollIntervalMs": 1,
    });
    for (name, value) in fields.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

fn serve(stream: &TcpStream, kept: &Mutex<Vec<Received>>, script: &dyn Fn(&Received) -> Script) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        kept.lock().unwrap().push(request.clone());
        let mut out = stream;
        let (bytes, keep) = match script(&request) {
            Script::Answer(status, headers, body) => (answer(status, &headers, &body), true),
            Script::Bytes(bytes) => (bytes, false),
            Script::Late(delay, bytes) => {
                thread::sleep(delay);
                (bytes, false)
            }
        };
        if out.write_all(&bytes).and_then(|()| out.flush()).is_err() || !keep {
            return;
        }
    }
}

/// An answer's bytes; its length is announced unless the headers say how it is to be told.
pub(crate) fn answer(status: u16, headers: &[(&'static str, String)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Scripted\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    if !headers.iter().any(|(name, _)| *name == "transfer-encoding") {
        bytes.extend(format!("content-length: {}\r\n", body.len()).into_bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let line = read_line(reader)?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        line,
        headers,
        body,
    })
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(line.trim_end().to_owned())
}
