//! Verifying: the secrets that are accepted now, and what a request needs to be taken for the platform's.

use std::{fmt, iter, time::Duration};

use bytes::Bytes;
use http::HeaderMap;

use super::{
    ID_HEADER, Refusal, Secret, TIMESTAMP_HEADER, entries, error::Reason, fields, secret::Tag,
};
use crate::time::Timestamp;

/// How far the signed timestamp may be from the time of receipt, on either side.
///
/// Five minutes, inclusive. Both are compared in whole seconds (the time of receipt rounded down), as the reference
/// libraries do: a request that was signed at second 0 is accepted until 300.999 and refused at 301.000.
pub const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The secrets that are accepted: the current one and, during a rotation, the one before it.
///
/// ```
/// use std::time::Duration;
/// use pup_extension::{signing::{Keyring, Secret}, time::Timestamp};
///
/// let rotated_at = Timestamp::from_secs(1_785_196_800);
/// let new: Secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".parse()?;
/// let old: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse()?;
/// let keyring = Keyring::new(new).with_previous(old, rotated_at + Duration::from_secs(600));
/// # let _ = keyring;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    current: Secret,
    previous: Option<(Secret, Timestamp)>,
}

impl Keyring {
    /// A keyring that accepts one secret.
    #[must_use]
    pub const fn new(current: Secret) -> Self {
        Self {
            current,
            previous: None,
        }
    }

    /// Accepts the secret before the current one too, up to `until` and at that very millisecond, not after it.
    ///
    /// What counts is when a request is received, not when it says that it was signed: else whoever has the old
    /// secret could go on for as long as the window allows. A previous secret that was set before is replaced.
    #[must_use]
    pub fn with_previous(mut self, previous: Secret, until: Timestamp) -> Self {
        self.previous = Some((previous, until));
        self
    }

    /// Verifies a request that was received at `now`, by the rules that [the module](super) lists.
    ///
    /// The headers are checked first, the cheapest check first; only then is the body read, once for every accepted
    /// secret. Every signature is compared with that of every accepted secret, in constant time and to the end. The
    /// body is not copied; what is allocated is bounded by the limits of the headers.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when a header is missing, repeated or malformed, the timestamp is outside of the window, or no
    /// signature matches.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: Bytes,
        now: Timestamp,
    ) -> Result<Verified, Refusal> {
        let id = fields::id(the_only(headers, ID_HEADER)?)?;
        let signed_at = the_only(headers, TIMESTAMP_HEADER)?;
        let seconds = fields::seconds(signed_at)?;
        check_window(seconds, now)?;
        let signatures = entries::signatures(headers)?;

        let mut matches = false;
        for secret in self.accepted(now) {
            let expected = secret.tag(id.as_bytes(), signed_at, &body);
            for signature in &signatures {
                matches |= expected == Tag::new((*signature).into());
            }
        }
        if !matches {
            return Err(Reason::NoMatch.into());
        }
        Ok(Verified {
            id: id.into(),
            timestamp: Timestamp::from_secs(seconds),
            body,
        })
    }

    fn accepted(&self, now: Timestamp) -> impl Iterator<Item = &Secret> {
        let previous = self.previous.iter().filter(move |(_, until)| now <= *until);
        iter::once(&self.current).chain(previous.map(|(secret, _)| secret))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = self.previous.as_ref().map(|(_, until)| until);
        f.debug_struct("Keyring")
            .field("previous_until", &until)
            .finish_non_exhaustive()
    }
}

/// A request whose signature was verified. Only [`Keyring::verify`] makes one.
#[derive(Clone)]
pub struct Verified {
    id: Box<str>,
    timestamp: Timestamp,
    body: Bytes,
}

impl Verified {
    /// The `webhook-id`, as it stands in the header.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When the request was signed, in whole seconds.
    #[must_use]
    pub const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The last millisecond at which this signature is accepted: [`TOLERANCE`] after the timestamp, to the end of
    /// that second. A claim of the id has to hold up to here and at this very time.
    #[must_use]
    pub fn accepted_until(&self) -> Timestamp {
        self.timestamp + TOLERANCE + Duration::from_millis(999)
    }

    /// The body, byte for byte as it was signed.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body, and nothing else.
    #[must_use]
    pub fn into_body(self) -> Bytes {
        self.body
    }
}

impl fmt::Debug for Verified {
    /// The body is somebody's data: only its size is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("id", &self.id)
            .field("timestamp", &self.timestamp)
            .field("body", &format_args!("{} B", self.body.len()))
            .finish()
    }
}

fn the_only<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a [u8], Reason> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value.as_bytes()),
        (None, _) => Err(Reason::Missing(name)),
        (Some(_), Some(_)) => Err(Reason::Duplicate(name)),
    }
}

fn check_window(seconds: u64, now: Timestamp) -> Result<(), Reason> {
    let now = now.as_secs();
    if now.saturating_sub(seconds) > TOLERANCE.as_secs() {
        Err(Reason::TooOld)
    } else if seconds.saturating_sub(now) > TOLERANCE.as_secs() {
        Err(Reason::TooFarAhead)
    } else {
        Ok(())
    }
}
