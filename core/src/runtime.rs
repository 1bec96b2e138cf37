//! What a platform lends to core: time, randomness, timers, configuration and outbound HTTP.

use std::{error::Error, fmt, future::Future, time::Duration};

use bytes::Bytes;

use crate::{
    marker::{BoxFuture, MaybeSend, MaybeSync},
    time::Timestamp,
};

/// The platform's side of everything that core must not do itself. One implementation per runtime.
pub trait Runtime: MaybeSend + MaybeSync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// 128 bits from a cryptographically secure source. Commit ids, task ids and owners are made of these.
    fn random(&self) -> u128;

    /// Completes after `duration`, not earlier.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + MaybeSend + 'static;

    /// A configuration value or secret by name; `None` when it is not set.
    fn var(&self, name: &str) -> Option<String>;

    /// Sends one outbound request and reads the whole response, within `timeout`. No redirect is followed.
    fn http(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + MaybeSend + 'static;
}

/// Why an outbound request brought no response. A response of any status is not an error.
pub struct HttpError {
    kind: HttpErrorKind,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds of [`HttpError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// No response arrived in time. The request may have been acted on.
    Timeout,
    /// The connection could not be made; the request was not sent.
    Connect,
    /// The connection broke, or what came back was no HTTP. The request may have been acted on.
    Transport,
    /// The request can't be sent at all: a URL without a host, a scheme that is not http or https.
    Request,
}

impl HttpError {
    /// An error of this kind, with what the platform said.
    #[must_use]
    pub fn new(kind: HttpErrorKind, source: Option<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, source }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }
}

impl fmt::Debug for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpError")
            .field("kind", &self.kind)
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            HttpErrorKind::Timeout => "the outbound request timed out",
            HttpErrorKind::Connect => "the outbound connection could not be made",
            HttpErrorKind::Transport => "the outbound request broke on its way",
            HttpErrorKind::Request => "the outbound request can't be sent as it is",
        })
    }
}

impl Error for HttpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// The dyn-compatible twin, behind which contexts reach whatever runtime there is.
pub(crate) trait DynRuntime: MaybeSend + MaybeSync {
    fn dyn_now(&self) -> Timestamp;
    fn dyn_random(&self) -> u128;
    fn dyn_sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
    fn dyn_var(&self, name: &str) -> Option<String>;
    fn dyn_http(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> BoxFuture<'static, Result<http::Response<Bytes>, HttpError>>;
}

impl<R: Runtime> DynRuntime for R {
    fn dyn_now(&self) -> Timestamp {
        self.now()
    }

    fn dyn_random(&self) -> u128 {
        self.random()
    }

    fn dyn_sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self.sleep(duration))
    }

    fn dyn_var(&self, name: &str) -> Option<String> {
        self.var(name)
    }

    fn dyn_http(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> BoxFuture<'static, Result<http::Response<Bytes>, HttpError>> {
        Box::pin(self.http(request, timeout))
    }
}
