//! A runtime whose time stands still.

use std::{
    future::ready,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;

use crate::{
    runtime::{HttpError, HttpErrorKind, Runtime},
    time::Timestamp,
};

/// A runtime whose time stands still: it remembers how long it was to sleep and does not wait. It lends
/// nothing else.
#[derive(Debug, Default)]
pub(crate) struct Still {
    slept: Mutex<Vec<Duration>>,
}

impl Still {
    /// Every sleep so far, in order.
    #[cfg(test)]
    pub(crate) fn slept(&self) -> Vec<Duration> {
        self.slept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Runtime for Still {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH
    }

    fn random(&self) -> u128 {
        0
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + 'static {
        self.slept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(duration);
        ready(())
    }

    fn var(&self, _: &str) -> Option<String> {
        None
    }

    fn http(
        &self,
        _: http::Request<Bytes>,
        _: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + 'static {
        ready(Err(HttpError::new(HttpErrorKind::Connect, None)))
    }
}
