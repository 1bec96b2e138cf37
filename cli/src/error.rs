//! Why a request brought no answer that pup would have read.

use std::{fmt, time::Duration};

use pup_extension::signing::SignError;
use thiserror::Error;

/// Why a request was not sent, or brought nothing back that pup would have read.
///
/// An answer of any status that keeps pup's rules is an [`Answer`](crate::Answer), not an error. No text here
/// holds a secret, a body or a URL's credentials.
pub struct ClientError(Inner);

/// The kinds of [`ClientError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientErrorKind {
    /// The base URL can't be used. Nothing was sent.
    Url,
    /// The request can't be built as asked: an id that a signature can't cover, a clock before 1970. Nothing was sent.
    Request,
    /// The system lent no randomness or no certificates. Nothing was sent.
    System,
    /// No connection could be made. Nothing was acted on.
    Connect,
    /// No whole answer came within the deadline. The request may have been acted on.
    Deadline,
    /// The connection broke, or what came back was no HTTP. The request may have been acted on.
    Transport,
    /// The answer is a redirect, which pup does not follow.
    Redirect,
    /// The answer is compressed, which pup does not read.
    Compressed,
    /// The answer is larger than pup reads.
    TooLarge,
}

impl ClientError {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ClientErrorKind {
        match self.0 {
            Inner::Url(_) => ClientErrorKind::Url,
            Inner::ClockRange | Inner::Sign(_) => ClientErrorKind::Request,
            Inner::Randomness(_) | Inner::Certificates(_) | Inner::Setup(_) => {
                ClientErrorKind::System
            }
            Inner::Connect(_) => ClientErrorKind::Connect,
            Inner::Deadline(_) => ClientErrorKind::Deadline,
            Inner::Transport(_) => ClientErrorKind::Transport,
            Inner::Redirect(_) => ClientErrorKind::Redirect,
            Inner::Compressed(_) => ClientErrorKind::Compressed,
            Inner::TooLarge(_) => ClientErrorKind::TooLarge,
        }
    }

    /// Whether no whole answer came: no connection, a broken one, or none in time.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self.kind(),
            ClientErrorKind::Connect | ClientErrorKind::Deadline | ClientErrorKind::Transport
        )
    }

    /// Whether an answer came that pup refuses unread: a redirect, a compressed one, one that is too large.
    #[must_use]
    pub fn is_refused_answer(&self) -> bool {
        matches!(
            self.kind(),
            ClientErrorKind::Redirect | ClientErrorKind::Compressed | ClientErrorKind::TooLarge
        )
    }
}

impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientError").field(&self.0).finish()
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl From<Inner> for ClientError {
    fn from(inner: Inner) -> Self {
        Self(inner)
    }
}

#[derive(Debug, Error)]
pub(crate) enum Inner {
    #[error("the URL can't be used: {0}")]
    Url(UrlProblem),
    #[error("the skewed clock stands before 1970: use a smaller skew")]
    ClockRange,
    #[error("the request can't be signed")]
    Sign(#[source] SignError),
    #[error("the system gave no random bytes")]
    Randomness(#[source] getrandom::Error),
    #[error(
        "the system's certificates can't be loaded: install its CA certificates, or use http on loopback"
    )]
    Certificates(#[source] rustls::Error),
    #[error("the HTTP client can't be set up")]
    Setup(#[source] reqwest::Error),
    #[error("the extension can't be reached")]
    Connect(#[source] reqwest::Error),
    #[error("no whole answer within {}: pup gives up by then", Seconds(*.0))]
    Deadline(Duration),
    #[error("the connection broke before a whole answer came")]
    Transport(#[source] reqwest::Error),
    #[error(
        "the answer is a redirect (HTTP {0}), and pup follows none: answer under the URL that was called"
    )]
    Redirect(u16),
    #[error(
        "the answer is compressed ({0}), and pup reads none: send `cache-control: no-transform`"
    )]
    Compressed(String),
    #[error("the answer is over {0} bytes, and pup reads no more: make it smaller")]
    TooLarge(usize),
}

#[derive(Debug, Error)]
pub(crate) enum UrlProblem {
    #[error("it is not an absolute URL")]
    Syntax(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("its scheme is neither https nor http")]
    Scheme,
    #[error("it holds credentials, which pup refuses: leave them out")]
    Credentials,
    #[error("it has a query or a fragment: give the base under which /mcp stands")]
    Query,
    #[error(
        "it is plain http to another machine, and pup requires https: use https, or allow plain http"
    )]
    PlainHttp,
}

/// A duration in seconds, without a fraction where there is none.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}
