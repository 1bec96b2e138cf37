//! How reading a secret, signing and verifying fail. No message quotes what was given.

use std::fmt;

use super::{
    entries::{MAX_SIGNATURE_BYTES, MAX_SIGNATURES},
    fields::MAX_ID_BYTES,
    keyring::TOLERANCE,
    secret::{MAX_SECRET_BYTES, MIN_SECRET_BYTES},
};

/// Why a text or some bytes can't be a [`Secret`](super::Secret).
///
/// The message says as which form the secret was read and what to do; it never holds any of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signing secret, read as {form}, {problem}")]
pub struct SecretError {
    form: SecretForm,
    problem: SecretProblem,
}

/// The kinds of [`SecretError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretErrorKind {
    /// There is nothing in it, or nothing after the prefix.
    Empty,
    /// It is one half of an asymmetric key pair (`whsk_…`, `whpk_…`).
    Asymmetric,
    /// It starts with something other than `whsec_` or `v1,whsec_`, and is not bare base64.
    Prefix,
    /// What should be base64 in the standard alphabet is not.
    Encoding,
    /// It has fewer than 24 or more than 64 bytes.
    Length,
}

impl SecretError {
    pub(super) const fn new(form: SecretForm, problem: SecretProblem) -> Self {
        Self { form, problem }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> SecretErrorKind {
        match self.problem {
            SecretProblem::Empty => SecretErrorKind::Empty,
            SecretProblem::Asymmetric => SecretErrorKind::Asymmetric,
            SecretProblem::Prefix => SecretErrorKind::Prefix,
            SecretProblem::UrlSafe | SecretProblem::Encoding => SecretErrorKind::Encoding,
            SecretProblem::TooShort { .. } | SecretProblem::TooLong => SecretErrorKind::Length,
        }
    }
}

/// As what a secret was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretForm {
    Versioned,
    Prefixed,
    Bare,
    Bytes,
}

impl fmt::Display for SecretForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Versioned => "`v1,whsec_…`",
            Self::Prefixed => "`whsec_…`",
            Self::Bare => "bare base64",
            Self::Bytes => "raw bytes",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SecretProblem {
    #[error("is empty: give the whole text, `whsec_` and what follows it")]
    Empty,
    #[error("is an asymmetric key: give the symmetric secret, which starts with `whsec_`")]
    Asymmetric,
    #[error(
        "has an unknown prefix: give one secret, which starts with `whsec_` (in lower case), and nothing else"
    )]
    Prefix,
    #[error(
        "is in the URL-safe alphabet: write `+` for `-` and `/` for `_`, or copy the secret again"
    )]
    UrlSafe,
    #[error("is not base64: copy the whole secret again, without quotes or spaces in it")]
    Encoding,
    #[error(
        "has {bytes} bytes when decoded: take one of {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} random bytes"
    )]
    TooShort { bytes: usize },
    #[error(
        "has more than {MAX_SECRET_BYTES} bytes when decoded: take one of {MIN_SECRET_BYTES} to \
         {MAX_SECRET_BYTES} random bytes"
    )]
    TooLong,
}

/// Why a message can't be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SignError {
    kind: SignErrorKind,
    reason: Reason,
}

/// The kinds of [`SignError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignErrorKind {
    /// The id is empty, longer than [`MAX_ID_BYTES`], or holds more than visible ASCII.
    /// Nobody would verify it.
    Id,
    /// The time has more than twelve digits in seconds: it is after the year 33658, or was no time at all.
    Timestamp,
}

impl SignError {
    pub(super) const fn id(reason: Reason) -> Self {
        Self {
            kind: SignErrorKind::Id,
            reason,
        }
    }

    pub(super) const fn timestamp(reason: Reason) -> Self {
        Self {
            kind: SignErrorKind::Timestamp,
            reason,
        }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> SignErrorKind {
        self.kind
    }
}

/// Why [`Keyring::verify`](super::Keyring::verify) refused a request. It was not authenticated; answer 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    reason: Reason,
}

/// The kinds of [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalKind {
    /// One of the three headers is missing.
    MissingHeader,
    /// The id or the timestamp came more than once.
    DuplicateHeader,
    /// The id is empty, too long, or not visible ASCII.
    MalformedId,
    /// The timestamp is not 1 to 12 digits.
    MalformedTimestamp,
    /// The timestamp is more than [`TOLERANCE`] ago.
    TooOld,
    /// The timestamp is more than [`TOLERANCE`] ahead.
    TooFarAhead,
    /// There are more signatures than anyone needs: over [`MAX_SIGNATURES`] entries or
    /// [`MAX_SIGNATURE_BYTES`] bytes.
    TooManySignatures,
    /// No entry is a well-formed signature of version `v1`.
    NoSignature,
    /// No signature is one of these bytes, this id and this timestamp under any accepted secret.
    NoMatch,
}

impl Refusal {
    /// Why.
    #[must_use]
    pub const fn kind(&self) -> RefusalKind {
        match self.reason {
            Reason::Missing(_) => RefusalKind::MissingHeader,
            Reason::Duplicate(_) => RefusalKind::DuplicateHeader,
            Reason::IdLength | Reason::IdCharacters => RefusalKind::MalformedId,
            Reason::TimestampDigits | Reason::TimestampTooLong => RefusalKind::MalformedTimestamp,
            Reason::TooOld => RefusalKind::TooOld,
            Reason::TooFarAhead => RefusalKind::TooFarAhead,
            Reason::TooManySignatures => RefusalKind::TooManySignatures,
            Reason::NoSignature => RefusalKind::NoSignature,
            Reason::NoMatch => RefusalKind::NoMatch,
        }
    }
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self { reason }
    }
}

/// What the signed headers can be refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    #[error("the header {0} is missing: sign every request as Standard Webhooks says")]
    Missing(&'static str),
    #[error("the header {0} came more than once: send it exactly once")]
    Duplicate(&'static str),
    #[error("webhook-id must have 1 to {MAX_ID_BYTES} characters")]
    IdLength,
    #[error("webhook-id must be visible ASCII, without spaces")]
    IdCharacters,
    #[error(
        "webhook-timestamp must be digits only: whole seconds since 1970, without a sign or spaces"
    )]
    TimestampDigits,
    #[error(
        "webhook-timestamp has too many digits: send whole seconds since 1970, not milliseconds"
    )]
    TimestampTooLong,
    #[error(
        "webhook-timestamp is more than {} seconds ago: check both clocks and sign anew",
        TOLERANCE.as_secs()
    )]
    TooOld,
    #[error(
        "webhook-timestamp is more than {} seconds ahead: check both clocks and sign anew",
        TOLERANCE.as_secs()
    )]
    TooFarAhead,
    #[error(
        "webhook-signature has more than {MAX_SIGNATURES} entries or {MAX_SIGNATURE_BYTES} bytes: send fewer"
    )]
    TooManySignatures,
    #[error("webhook-signature has no acceptable entry: send `v1,` and 32 bytes in padded base64")]
    NoSignature,
    #[error(
        "no signature matches: check the secret, and that the body arrives byte for byte as it was signed"
    )]
    NoMatch,
}
