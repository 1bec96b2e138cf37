//! One deadline from receipt.

use std::time::Duration;

use crate::time::Timestamp;

/// How long a request may take, and what of that its handler gets.
///
/// pup gives each request five seconds. The handler gets that less a reserve, which is for the commit and the
/// way back.
///
/// ```
/// use std::time::Duration;
/// use pup_extension::budget::Budget;
///
/// let budget = Budget::default();
/// assert_eq!(budget.total(), Duration::from_secs(5));
/// assert_eq!(budget.handler(), Duration::from_secs(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    total: Duration,
    reserve: Duration,
}

impl Budget {
    /// A budget of `total` from receipt to answer, `reserve` of it kept from the handler.
    ///
    /// A reserve over the total leaves the handler nothing.
    #[must_use]
    pub const fn new(total: Duration, reserve: Duration) -> Self {
        Self { total, reserve }
    }

    /// From receipt to answer.
    #[must_use]
    pub const fn total(self) -> Duration {
        self.total
    }

    /// What the handler gets of it.
    #[must_use]
    pub const fn handler(self) -> Duration {
        self.total.saturating_sub(self.reserve)
    }
}

impl Default for Budget {
    /// Five seconds, of which one is the reserve.
    fn default() -> Self {
        Self::new(Duration::from_secs(5), Duration::from_secs(1))
    }
}

/// When one request's time is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// When the request was received.
    pub(crate) received: Timestamp,
    budget: Budget,
}

impl Deadline {
    pub(crate) const fn new(received: Timestamp, budget: Budget) -> Self {
        Self { received, budget }
    }

    /// What the handler gets in all, and who waits for another's.
    pub(crate) const fn handler(&self) -> Duration {
        self.budget.handler()
    }

    /// What is left for the handler. A clock that went back gives no more than there was.
    pub(crate) fn handler_remaining(&self, now: Timestamp) -> Duration {
        self.budget
            .handler()
            .saturating_sub(now.since(self.received))
    }

    /// A second after the answer must be out: nobody who keeps the deadline still works on it then.
    pub(crate) fn lease_end(&self) -> Timestamp {
        self.received + self.budget.total() + Duration::from_secs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handler_gets_what_the_reserve_leaves_and_never_more() {
        let received = Timestamp::from_secs(100);
        let deadline = Deadline::new(received, Budget::default());
        assert_eq!(deadline.handler_remaining(received), Duration::from_secs(4));
        assert_eq!(
            deadline.handler_remaining(Timestamp::from_millis(101_500)),
            Duration::from_millis(2_500)
        );
        assert_eq!(
            deadline.handler_remaining(Timestamp::from_secs(200)),
            Duration::ZERO
        );
        assert_eq!(
            deadline.handler_remaining(Timestamp::from_secs(1)),
            Duration::from_secs(4)
        );
        assert_eq!(deadline.lease_end(), Timestamp::from_secs(106));
    }
}
