//! A future that is polled when it was woken, and otherwise left alone: so that its driver can look round between two
//! polls.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;

pub(super) struct Wakeful<F> {
    future: F,
    woken: Arc<Woken>,
}

struct Woken {
    flag: AtomicBool,
    driver: AtomicWaker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        self.driver.wake();
    }
}

impl<F: Future + Unpin> Wakeful<F> {
    pub(super) fn new(future: F) -> Self {
        Self {
            future,
            woken: Arc::new(Woken {
                flag: AtomicBool::new(false),
                driver: AtomicWaker::new(),
            }),
        }
    }

    /// Polls it once; the output when it is there.
    pub(super) fn poll(&mut self) -> Option<F::Output> {
        let waker = Waker::from(Arc::clone(&self.woken));
        self.woken.flag.store(false, Ordering::Release);
        match Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    /// Whether it was woken since it was last polled, perhaps by itself.
    pub(super) fn is_woken(&self) -> bool {
        self.woken.flag.load(Ordering::Acquire)
    }

    /// Completes when it is woken.
    pub(super) fn woken(&self) -> impl Future<Output = ()> + Send + Unpin + use<F> {
        let woken = Arc::clone(&self.woken);
        poll_fn(move |context| {
            woken.driver.register(context.waker());
            if woken.flag.load(Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }
}
