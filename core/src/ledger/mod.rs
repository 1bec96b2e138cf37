//! Once: what makes a call or a delivery take effect one time, however often it is sent.
//!
//! A record stands in the store for each call (by installation and `callId`) and each delivery (by
//! `webhook-id`): *running*, with a lease, or *done*, with the answer. It moves only by a commit that expects
//! the revision that its owner wrote, and *done* is written together with the handler's own state. So where two
//! run at once, one of them finishes, and its effects are the only ones.

mod admit;
mod fingerprint;
mod record;

pub(crate) use self::{
    admit::{
        Admission, Admit, Begin, Claim, Claimed, Finish, FinishError, Held, LedgerError, Taken,
    },
    fingerprint::{Fingerprint, canonical, idempotency_key},
    record::{Corrupt, OVERHEAD, Retry},
};
