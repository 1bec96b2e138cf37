//! A runtime without a platform: its clock stands still until something waits for it.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use bytes::Bytes;

use crate::{
    marker::MaybeSend,
    runtime::{HttpError, HttpErrorKind, Runtime},
    time::Timestamp,
};

/// A simulated runtime. Clones share one clock.
///
/// Time passes only when every future that [`SimRuntime::run`] drives waits for it, or when the test says so:
/// a handler that sleeps for an hour takes no time to test, and nothing depends on how fast the machine is.
/// Random numbers are a fixed sequence, each drawn once.
#[derive(Clone)]
pub struct SimRuntime {
    state: Arc<Mutex<State>>,
}

struct State {
    now: Timestamp,
    timers: BTreeMap<(Timestamp, u64), Waker>,
    next_timer: u64,
    drawn: u128,
    vars: BTreeMap<String, String>,
    http: Option<HttpHandler>,
}

type HttpHandler =
    Arc<dyn Fn(http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> + Send + Sync>;

impl SimRuntime {
    /// A runtime whose clock stands at the start of 2026-07-28 (UTC).
    #[must_use]
    pub fn new() -> Self {
        Self::with_seed(0)
    }

    /// The same with random numbers of its own. Where two runtimes share a store, their seeds must differ, or
    /// one takes the other's commits for its own.
    #[must_use]
    pub fn with_seed(seed: u32) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                now: Timestamp::from_secs(1_785_196_800),
                timers: BTreeMap::new(),
                next_timer: 0,
                drawn: u128::from(seed) << 96,
                vars: BTreeMap::new(),
                http: None,
            })),
        }
    }

    /// Sets a configuration value.
    pub fn set_var(&self, name: impl Into<String>, value: impl Into<String>) {
        self.state().vars.insert(name.into(), value.into());
    }

    /// Answers outbound requests; without a handler they fail to connect.
    pub fn on_http(
        &self,
        handler: impl Fn(http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError>
        + Send
        + Sync
        + 'static,
    ) {
        self.state().http = Some(Arc::new(handler));
    }

    /// Lets time pass.
    pub fn advance(&self, duration: Duration) {
        let now = self.state().now + duration;
        self.set_time(now);
    }

    /// Sets the clock, backwards too. Timers that are due by it fire.
    pub fn set_time(&self, now: Timestamp) {
        let due = {
            let mut state = self.state();
            state.now = now;
            let later = state.timers.split_off(&(now + Duration::from_millis(1), 0));
            std::mem::replace(&mut state.timers, later)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// Drives a future to its end. When it can't go on but waits for time, the clock goes on to the next timer.
    ///
    /// # Panics
    ///
    /// When it can't go on and no timer is set: it would hang for ever.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        loop {
            while woken.0.swap(false, Ordering::AcqRel) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return output;
                }
            }
            assert!(
                self.pass(),
                "nothing can go on: every future waits, and none of them for time"
            );
        }
    }

    /// Lets time pass until the next timer fires; whether there is one.
    pub(crate) fn pass(&self) -> bool {
        let next = self.state().timers.keys().next().map(|(at, _)| *at);
        // The clock may have been set back: it never goes back by itself.
        let now = self.now();
        next.map(|at| self.set_time(at.max(now))).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SimRuntime {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SimRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimRuntime")
            .field("now", &self.state().now)
            .finish_non_exhaustive()
    }
}

impl Runtime for SimRuntime {
    fn now(&self) -> Timestamp {
        self.state().now
    }

    fn random(&self) -> u128 {
        let mut state = self.state();
        state.drawn += 1;
        // An odd multiplier permutes the range: no value comes twice.
        state
            .drawn
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + MaybeSend + 'static {
        let mut state = self.state();
        let timer = (state.now + duration, state.next_timer);
        state.next_timer += 1;
        Sleep {
            state: Arc::clone(&self.state),
            timer,
        }
    }

    fn var(&self, name: &str) -> Option<String> {
        self.state().vars.get(name).cloned()
    }

    fn http(
        &self,
        request: http::Request<Bytes>,
        _: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + MaybeSend + 'static {
        let handler = self.state().http.clone();
        async move {
            match handler {
                Some(handler) => handler(request),
                None => Err(HttpError::new(HttpErrorKind::Connect, None)),
            }
        }
    }
}

struct Sleep {
    state: Arc<Mutex<State>>,
    timer: (Timestamp, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.now >= self.timer.0 {
            state.timers.remove(&self.timer);
            return Poll::Ready(());
        }
        state.timers.insert(self.timer, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .timers
            .remove(&self.timer);
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join, pending};

    use super::*;

    #[test]
    fn sleeping_takes_virtual_time_only_and_in_order() {
        let runtime = SimRuntime::new();
        let start = runtime.now();
        let order = Mutex::new(Vec::new());
        runtime.run(join(
            async {
                runtime.sleep(Duration::from_secs(7_200)).await;
                order.lock().unwrap().push("late");
            },
            async {
                runtime.sleep(Duration::from_secs(1)).await;
                order.lock().unwrap().push("early");
            },
        ));
        assert_eq!(*order.lock().unwrap(), ["early", "late"]);
        assert_eq!(runtime.now().since(start), Duration::from_secs(7_200));
    }

    #[test]
    #[should_panic(expected = "nothing can go on")]
    fn a_future_that_can_never_end_is_named() {
        SimRuntime::new().run(pending::<()>());
    }

    #[test]
    fn no_random_number_comes_twice() {
        let runtime = SimRuntime::new();
        let drawn: std::collections::BTreeSet<u128> =
            (0..1_000).map(|_| runtime.random()).collect();
        assert_eq!(drawn.len(), 1_000);
    }
}
