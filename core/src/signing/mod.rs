//! [Standard Webhooks](https://www.standardwebhooks.com/): proof that a request is the platform's.
//!
//! A request carries three headers: [`ID_HEADER`], [`TIMESTAMP_HEADER`] and [`SIGNATURE_HEADER`]. The signature is
//! HMAC-SHA256, under a secret that both sides hold, over `id.timestamp.body`: the two headers' own text and the
//! exact bytes of the body. [`Keyring::verify`] checks one and gives a [`Verified`], which can be made nowhere else;
//! [`Secret::sign`] makes one.
//!
//! ```
//! use bytes::Bytes;
//! use http::HeaderMap;
//! use pup_extension::{
//!     signing::{Keyring, RefusalKind, Secret},
//!     time::Timestamp,
//! };
//!
//! let secret: Secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".parse()?;
//! let now = Timestamp::from_secs(1_785_196_800);
//!
//! let mut headers = HeaderMap::new();
//! secret.sign("msg_1", now, b"{}")?.apply(&mut headers);
//!
//! let keyring = Keyring::new(secret);
//! let verified = keyring.verify(&headers, Bytes::from_static(b"{}"), now)?;
//! assert_eq!(verified.id(), "msg_1");
//!
//! let refusal = keyring.verify(&headers, Bytes::from_static(b"{ }"), now).unwrap_err();
//! assert_eq!(refusal.kind(), RefusalKind::NoMatch);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is accepted
//!
//! - `webhook-id`, exactly once: 1 to [`MAX_ID_BYTES`] visible ASCII characters. One that could be confused with an
//!   id *and* a timestamp (`a.1785196800`, a part of 10 to 12 digits after a full stop) is refused: the signed
//!   content could be cut in two places, and a request that was signed once could be sent again under another id.
//! - `webhook-timestamp`, exactly once: 1 to 12 digits and nothing else, whole seconds since 1970, at most
//!   [`TOLERANCE`] before or after the time of receipt.
//! - `webhook-signature`, one or more times, [`MAX_SIGNATURES`] entries and [`MAX_SIGNATURE_BYTES`] bytes in all:
//!   entries of a version, a comma and a signature, separated by spaces. Entries of other versions than `v1` are
//!   ignored. Some proxies take the comma for the one that separates list members; so entries may also be separated
//!   by commas, and a version that stands alone is joined with the signature that follows it after a comma or on
//!   the next header line. One entry must match one secret.
//!
//! A refusal never says which secret or entry came close, and quotes nothing of what was sent. The window bounds a
//! request's age; it does not stop a replay inside it, which is what a claim of the id is for.

mod entries;
mod error;
mod fields;
mod keyring;
mod secret;
mod sign;
#[cfg(test)]
mod tests;

pub use self::{
    entries::{MAX_SIGNATURE_BYTES, MAX_SIGNATURES},
    error::{Refusal, RefusalKind, SecretError, SecretErrorKind, SignError, SignErrorKind},
    fields::MAX_ID_BYTES,
    keyring::{Keyring, TOLERANCE, Verified},
    secret::Secret,
    sign::SignatureHeaders,
};

/// The header of the request's id: the same on every retry of a delivery.
pub const ID_HEADER: &str = "webhook-id";
/// The header of the time of signing, in whole seconds since the Unix epoch.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header of the signatures.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
