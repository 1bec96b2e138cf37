//! A request that is ready to be sent: once, again, or tampered with.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method};

/// The endpoints of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `GET /manifest.json`, the one that is not signed.
    Manifest,
    /// `POST /challenge`.
    Challenge,
    /// `POST /mcp`.
    Mcp,
    /// `POST /events`.
    Events,
}

impl Endpoint {
    /// The path below the base URL.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Manifest => "/manifest.json",
            Self::Challenge => "/challenge",
            Self::Mcp => "/mcp",
            Self::Events => "/events",
        }
    }
}

/// A request whose every byte is settled: the method, the path below the base URL, the headers with the
/// signature, and the body.
///
/// [`Client::send`](crate::Client::send) sends it as it is, as often as asked. The signature is not made
/// again when something is changed here, so a changed request shows what the extension does with a forged one.
#[derive(Clone)]
pub struct SignedRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The JSON-RPC id, where the body is an MCP request that this client made.
    pub(crate) rpc_id: Option<u64>,
    /// The call that the request belongs to, where it names one.
    pub(crate) call_id: Option<String>,
    /// The task that the request is about, where it is about one.
    pub(crate) task_id: Option<String>,
}

impl SignedRequest {
    /// A request that was not signed, and bears only the headers that are put in. The path starts with a slash.
    #[must_use]
    pub fn unsigned(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: body.into(),
            rpc_id: None,
            call_id: None,
            task_id: None,
        }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path below the base URL.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The headers, without those that the connection adds (`host`, `content-length`).
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The `webhook-id`; `None` when the request has none that is text.
    #[must_use]
    pub fn webhook_id(&self) -> Option<&str> {
        self.headers
            .get("webhook-id")
            .and_then(|value| value.to_str().ok())
    }

    /// The `callId` that the request was built with.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// Sends it by another method. The signature does not cover the method.
    pub fn set_method(&mut self, method: Method) {
        self.method = method;
    }

    /// Sends it to another path, which starts with a slash. The signature does not cover the path.
    pub fn set_path(&mut self, path: impl Into<String>) {
        self.path = path.into();
    }

    /// The headers, to be changed.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    /// Replaces the body, and leaves the signature as it was.
    pub fn set_body(&mut self, body: impl Into<Bytes>) {
        self.body = body.into();
    }
}

impl fmt::Debug for SignedRequest {
    /// The shape alone: bodies and signatures stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("webhook_id", &self.webhook_id())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_the_body_nor_the_signature() {
        let mut request = SignedRequest::unsigned(Method::POST, "/mcp", "a private message");
        request
            .headers_mut()
            .insert("webhook-signature", "v1,c2ln".parse().unwrap());
        request
            .headers_mut()
            .insert("webhook-id", "msg_1".parse().unwrap());
        let text = format!("{request:?}");
        assert!(text.contains("msg_1") && text.contains("17"), "{text}");
        assert!(
            !text.contains("private") && !text.contains("c2ln"),
            "{text}"
        );
    }
}
