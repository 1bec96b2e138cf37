//! An endpoint that answers as AWS does when things go wrong, and otherwise lets the emulator answer.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What becomes of one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// This status and body.
    Answer(u16, Value),
    /// Nothing, for ever.
    Silence,
    /// The connection is closed instead.
    Cut,
    /// The emulator does it, and then the connection is closed.
    DoneThenCut,
}

/// The endpoint: each request has the next reply, and the emulator's where there is none.
pub(crate) struct Scripted {
    pub(crate) url: String,
    script: Arc<Mutex<VecDeque<Reply>>>,
    /// The operations that were asked for, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    pub(crate) async fn before(emulator: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let emulator: SocketAddr = emulator.strip_prefix("http://").unwrap().parse().unwrap();
        let scripted = Self {
            url,
            script: Arc::default(),
            asked: Arc::default(),
        };
        let (script, asked) = (Arc::clone(&scripted.script), Arc::clone(&scripted.asked));
        // It ends with the test's runtime.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, asked) = (Arc::clone(&script), Arc::clone(&asked));
                tokio::spawn(async move { serve(stream, emulator, &script, &asked).await });
            }
        });
        scripted
    }

    pub(crate) fn next(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().extend(replies);
    }

    /// What was asked since the last look.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// An error as DynamoDB words it.
pub(crate) fn error(status: u16, code: &str) -> Reply {
    let code = format!("com.amazonaws.dynamodb.v20120810#{code}");
    Reply::Answer(
        status,
        json!({ "__type": code, "message": "quoted: private" }),
    )
}

/// A transaction that was cancelled, with the code of each of its items.
pub(crate) fn cancelled(codes: &[&str]) -> Reply {
    let reasons: Vec<_> = codes.iter().map(|code| json!({ "Code": code })).collect();
    Reply::Answer(
        400,
        json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": "Transaction cancelled",
            "CancellationReasons": reasons,
        }),
    )
}

async fn serve(
    mut stream: TcpStream,
    emulator: SocketAddr,
    script: &Mutex<VecDeque<Reply>>,
    asked: &Mutex<Vec<String>>,
) {
    while let Some(request) = read_message(&mut stream).await {
        asked.lock().unwrap().push(operation(&request));
        let reply = script.lock().unwrap().pop_front();
        match reply {
            Some(Reply::Answer(status, body)) => {
                let body = body.to_string();
                let head = format!(
                    "HTTP/1.1 {status} Scripted\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.ok();
            }
            Some(Reply::Silence) => std::future::pending().await,
            Some(Reply::Cut) => return,
            Some(Reply::DoneThenCut) => {
                forward(&request, emulator).await;
                return;
            }
            None => {
                let answer = forward(&request, emulator).await;
                stream.write_all(&answer).await.ok();
            }
        }
    }
}

async fn forward(request: &[u8], emulator: SocketAddr) -> Vec<u8> {
    let mut stream = TcpStream::connect(emulator).await.unwrap();
    stream.write_all(request).await.unwrap();
    read_message(&mut stream).await.unwrap()
}

/// A whole HTTP message whose length is declared; `None` where the connection ended.
async fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        if let Some(end) = message.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&message[..end]).to_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |length| length.trim().parse().unwrap());
            if message.len() >= end + 4 + length {
                return Some(message);
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => message.extend_from_slice(&chunk[..read]),
        }
    }
}

fn operation(request: &[u8]) -> String {
    let head = String::from_utf8_lossy(request);
    head.lines()
        .find(|line| line.to_lowercase().starts_with("x-amz-target:"))
        .and_then(|line| line.rsplit('.').next())
        .unwrap_or_default()
        .to_owned()
}
