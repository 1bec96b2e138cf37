//! A runtime for the cases that drive whole services over the store.

use std::{
    future::pending,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;

use super::harness::{Draws, NOW, yield_now};
use crate::{
    runtime::{HttpError, HttpErrorKind, Runtime},
    time::Timestamp,
};

/// From here on a sleep is a deadline; below it is a pause between two tries.
const DEADLINE: Duration = Duration::from_secs(1);
/// Far more pauses than any case has. Beyond them the clock goes on, so that what waits in vain runs out of time.
const MANY: u64 = 1_000_000;

/// A runtime whose clock stands still: a pause gives the others their turn, and no deadline comes, however slow
/// the store is. It needs no timer, and so runs wherever a store does.
#[derive(Debug)]
pub(super) struct Turns {
    draws: Draws,
    pauses: AtomicU64,
}

impl Turns {
    /// `seed` makes its random numbers its own.
    pub(super) const fn new(seed: [u8; 16]) -> Self {
        Self {
            draws: Draws::new(seed),
            pauses: AtomicU64::new(0),
        }
    }
}

impl Runtime for Turns {
    fn now(&self) -> Timestamp {
        let over = self.pauses.load(Ordering::Relaxed).saturating_sub(MANY);
        NOW + Duration::from_secs(over)
    }

    fn random(&self) -> u128 {
        u128::from_be_bytes(self.draws.next())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + 'static {
        let deadline = duration >= DEADLINE;
        if !deadline {
            self.pauses.fetch_add(1, Ordering::Relaxed);
        }
        async move {
            if deadline {
                pending::<()>().await;
            } else {
                yield_now().await;
            }
        }
    }

    fn var(&self, _: &str) -> Option<String> {
        None
    }

    fn http(
        &self,
        _: http::Request<Bytes>,
        _: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + 'static {
        std::future::ready(Err(HttpError::new(HttpErrorKind::Connect, None)))
    }
}
