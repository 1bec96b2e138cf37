//! What Lambda lends to core.

use std::{
    future::Future,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use pup_extension::{
    runtime::{HttpError, Runtime},
    time::Timestamp,
};

use crate::outbound::Outbound;

/// Time, randomness and configuration of the process, and outbound HTTP. Its futures run on tokio.
///
/// Outbound requests follow no redirect, are sent once, and bring a response of 16 MiB at the most. Certificates are
/// checked against those of the system, or of the file that `SSL_CERT_FILE` names.
#[derive(Clone, Debug, Default)]
pub struct LambdaRuntime {
    outbound: Outbound,
}

impl LambdaRuntime {
    /// A runtime for this process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Runtime for LambdaRuntime {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    #[expect(
        clippy::expect_used,
        reason = "without randomness nothing here is safe to go on with"
    )]
    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has randomness");
        u128::from_be_bytes(bytes)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        tokio::time::sleep(duration)
    }

    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn http(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 'static {
        self.outbound.send(request, timeout)
    }
}
