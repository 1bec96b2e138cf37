//! The wire layer as a client sees it.

mod acceptance;
#[cfg(not(target_arch = "wasm32"))]
mod answers;
mod mirrored;
mod parsing;
mod properties;
mod rejections;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{Admitted, Error, Message, admit, header::encode_value};

const VERSION_POINTER: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const CAPABILITIES_POINTER: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
const CONTEXT_POINTER: &str = "/params/_meta/io.puphq~1context";

/// A POST that is right in every way, to be spoiled.
#[derive(Clone)]
struct Post {
    headers: HeaderMap,
    body: Value,
}

impl Post {
    /// A request of `method` with id 7, pup's context, and the headers that belong to it.
    fn new(method: &str, params: Value) -> Self {
        let mut body = json!({ "jsonrpc": "2.0", "id": 7, "method": method });
        body["params"] = params;
        body["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "pup", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {},
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
            "io.puphq/context": {
                "installationId": "i-1",
                "askerId": "a-1",
                "channelId": "c-1",
                "settings": { "greeting": "hello" },
                "callId": "call-1",
            },
        });
        let name = match method {
            "tools/call" => body["params"]["name"].as_str(),
            "tasks/get" | "tasks/update" | "tasks/cancel" => body["params"]["taskId"].as_str(),
            _ => None,
        };
        let mut headers = HeaderMap::new();
        headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
        headers.insert("mcp-method", method.parse().unwrap());
        if let Some(name) = name {
            headers.insert("mcp-name", encode_value(name).parse().unwrap());
        }
        Self { headers, body }
    }

    fn call() -> Self {
        Self::new(
            "tools/call",
            json!({ "name": "save_snack", "arguments": { "snack": "fruit" } }),
        )
    }

    fn list() -> Self {
        Self::new("tools/list", json!({}))
    }

    /// With this value for a header, and no other.
    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
        self
    }

    /// With this value for a header too.
    fn also(mut self, name: &'static str, value: &str) -> Self {
        self.headers
            .append(HeaderName::from_static(name), value.parse().unwrap());
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// With this at a place of the body that is there.
    fn with(mut self, pointer: &str, value: Value) -> Self {
        *self.body.pointer_mut(pointer).unwrap() = value;
        self
    }

    /// With this member of pup's context.
    fn context(mut self, name: &str, value: Value) -> Self {
        self.body.pointer_mut(CONTEXT_POINTER).unwrap()[name] = value;
        self
    }

    /// Without a place of the body that is there.
    fn removing(mut self, pointer: &str) -> Self {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let name = name.replace("~1", "/");
        self.body
            .pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(&name)
            .unwrap();
        self
    }

    fn admitted<T>(&self, then: impl FnOnce(Result<Admitted<'_>, Error>) -> T) -> T {
        let body = serde_json::to_vec(&self.body).unwrap();
        match Message::parse(&body) {
            Ok(Message::Request(request)) => then(admit(&self.headers, &request)),
            Ok(Message::Notification(_)) => panic!("a notification"),
            Err(error) => then(Err(error)),
        }
    }

    fn error(&self) -> Error {
        self.admitted(|outcome| outcome.map(|admitted| format!("{admitted:?}")).unwrap_err())
    }
}
