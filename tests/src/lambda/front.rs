//! A Function URL: HTTP in, an event of payload 2.0 to the function, its answer as HTTP out.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Response, StatusCode, header},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

use super::function::Function;
use crate::place::Result;

/// As Lambda's own limit of a request.
const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Front {
    url: String,
    listener: TcpListener,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status_code: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    is_base64_encoded: bool,
}

impl Front {
    pub(super) async fn bind(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        Ok(Self {
            url: format!("http://{}", listener.local_addr()?),
            listener,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Answers by a function, until its runtime ends.
    pub(super) fn serve(self, function: &Arc<Function>) {
        let function = Arc::downgrade(function);
        let app = Router::new().fallback(answer).with_state(function);
        tokio::spawn(async move { axum::serve(self.listener, app).await.ok() });
    }
}

async fn answer(
    State(function): State<std::sync::Weak<Function>>,
    request: Request,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let Some(function) = function.upgrade() else {
        return plain(StatusCode::SERVICE_UNAVAILABLE);
    };
    let (text, is_base64) = encode(&head.headers, &body);
    let event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": head.uri.path(),
        "rawQueryString": head.uri.query().unwrap_or_default(),
        "headers": headers(&head.headers),
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "local",
            "domainName": "127.0.0.1",
            "domainPrefix": "127",
            "http": {
                "method": head.method.as_str(),
                "path": head.uri.path(),
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "",
            },
            "requestId": "local",
            "routeKey": "$default",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": text,
        "isBase64Encoded": is_base64,
    });
    match function.invoke(Bytes::from(event.to_string())).await {
        Ok(answer) => respond(&answer).unwrap_or_else(|| plain(StatusCode::BAD_GATEWAY)),
        // As a Function URL says that its function failed.
        Err(_) => plain(StatusCode::BAD_GATEWAY),
    }
}

/// In lower case, with those that came several times joined by commas.
fn headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut joined: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        joined
            .entry(name.as_str().to_owned())
            .and_modify(|joined| {
                joined.push(',');
                joined.push_str(&value);
            })
            .or_insert_with(|| value.clone().into_owned());
    }
    joined
}

/// Text where the type is one of text, and base64 otherwise.
fn encode(headers: &HeaderMap, body: &Bytes) -> (String, bool) {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let is_text = ["text/", "application/json", "application/xml"]
        .iter()
        .any(|text| kind.starts_with(text));
    match std::str::from_utf8(body) {
        Ok(text) if is_text => (text.to_owned(), false),
        Ok(_) | Err(_) => (STANDARD.encode(body), true),
    }
}

fn respond(answer: &Bytes) -> Option<Response<Body>> {
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    let body = if answer.is_base64_encoded {
        Bytes::from(STANDARD.decode(answer.body).ok()?)
    } else {
        Bytes::from(answer.body)
    };
    let mut response = Response::builder().status(answer.status_code);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).ok()
}

fn plain(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
