//! Answers, as every one of them leaves: JSON, never compressed, never cached, under 1 MiB.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use crate::signing::Refusal;

/// The most bytes of an answer: pup cuts off what is longer.
pub(crate) const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// An answer, before it is HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Bytes,
    header: Option<(header::HeaderName, HeaderValue)>,
    refusal: Option<Refusal>,
}

/// Refusals of plain HTTP; those of MCP are JSON-RPC errors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HttpRefusal {
    NotFound,
    MethodNotAllowed { allow: &'static str },
    TooLarge,
    Unauthorized(Refusal),
    BadRequest(&'static str),
    Replayed,
    OtherContent,
    StillRunning,
    Failed,
    Unavailable,
    NoPublicUrl,
}

impl Answer {
    pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: body.into(),
            header: None,
            refusal: None,
        }
    }

    pub(crate) fn ok(body: impl Into<Bytes>) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// A notification was taken note of.
    pub(crate) fn accepted() -> Self {
        Self::json(StatusCode::ACCEPTED, Bytes::new())
    }

    pub(crate) fn refuse(refusal: HttpRefusal) -> Self {
        let (status, message) = refusal.parts();
        let body = json!({ "error": message }).to_string();
        let header = match &refusal {
            HttpRefusal::MethodNotAllowed { allow } => {
                Some((header::ALLOW, HeaderValue::from_static(allow)))
            }
            // pup's outbox comes back; a lease lasts a few seconds.
            HttpRefusal::StillRunning | HttpRefusal::Unavailable => {
                Some((header::RETRY_AFTER, HeaderValue::from_static("5")))
            }
            _ => None,
        };
        let refusal = match refusal {
            HttpRefusal::Unauthorized(refusal) => Some(refusal),
            _ => None,
        };
        Self {
            status,
            body: Bytes::from(body),
            header,
            refusal,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Leaves out the body, for `HEAD`.
    pub(crate) fn without_body(mut self) -> Self {
        self.body = Bytes::new();
        self
    }

    pub(crate) fn into_http(self) -> Response<Bytes> {
        let empty = self.body.is_empty();
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if !empty {
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
        }
        // `no-transform`: pup refuses compressed answers, and some edges compress what they may.
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store, no-transform"),
        );
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        headers.extend(self.header);
        if let Some(refusal) = self.refusal {
            response.extensions_mut().insert(refusal);
        }
        response
    }
}

impl HttpRefusal {
    fn parts(&self) -> (StatusCode, Cow<'static, str>) {
        let (status, message) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "there is nothing at this path"),
            Self::MethodNotAllowed { .. } => (
                StatusCode::METHOD_NOT_ALLOWED,
                "this path does not take this method",
            ),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is over 1 MiB"),
            Self::Unauthorized(why) => return (StatusCode::UNAUTHORIZED, why.to_string().into()),
            Self::BadRequest(why) => (StatusCode::BAD_REQUEST, *why),
            Self::Replayed => (StatusCode::CONFLICT, "this request was seen before"),
            Self::OtherContent => (
                StatusCode::CONFLICT,
                "this delivery id was used for another event",
            ),
            Self::StillRunning => (
                StatusCode::SERVICE_UNAVAILABLE,
                "this delivery is still being worked on",
            ),
            Self::Failed => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "the handler failed; send the delivery again",
            ),
            Self::NoPublicUrl => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the extension's public URL is not known: set PUP_PUBLIC_URL",
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the store can't be reached; nothing is promised",
            ),
        };
        (status, message.into())
    }
}
