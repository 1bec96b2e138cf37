//! A signing secret: read from any of its written forms, never shown, wiped when it goes.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use hmac::{
    EagerHash, Hmac, KeyInit as _, Mac as _,
    block_api::HmacCore,
    digest::{CtOutput, block_api::Buffer},
};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::error::{SecretError, SecretForm, SecretProblem};

/// The fewest bytes of a secret (the specification's 192 bits).
pub(super) const MIN_SECRET_BYTES: usize = 24;
/// The most bytes of a secret (the specification's 512 bits).
pub(super) const MAX_SECRET_BYTES: usize = 64;

const PREFIX: &str = "whsec_";
const VERSIONED_PREFIX: &str = "v1,whsec_";
const ASYMMETRIC_PREFIXES: [&str; 2] = ["whsk_", "whpk_"];

pub(super) type HmacSha256 = Hmac<Sha256>;

/// A signature as bytes, to be compared in constant time only.
pub(super) type Tag = CtOutput<HmacSha256>;

/// A Standard Webhooks secret: 24 to 64 bytes that both sides hold.
///
/// It is parsed from `whsec_…`, `v1,whsec_…` or bare base64 (the standard alphabet, with or without padding; unused
/// bits at the end may be anything, as other libraries have it; whitespace around it is ignored).
///
/// A secret has no `Display`, its `Debug` shows nothing, and errors never quote it. Clones share one copy of it. That
/// copy, and the HMAC key that is prepared from it once, are wiped from memory when the last clone goes. What cannot
/// be reached is what the compiler and the HMAC implementation leave on the stack while they prepare the key, and the
/// text that the secret was parsed from, which is the caller's.
///
/// ```
/// use pup_extension::signing::{Secret, SecretErrorKind};
///
/// let secret: Secret = "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse()?;
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// assert_eq!(secret.reveal().as_str(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
///
/// let error = "whsec_dG9vIHNob3J0".parse::<Secret>().unwrap_err();
/// assert_eq!(error.kind(), SecretErrorKind::Length);
/// assert_eq!(
///     error.to_string(),
///     "the signing secret, read as `whsec_…`, has 9 bytes when decoded: take one of 24 to 64 random bytes",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Secret(Arc<Inner>);

// Behind one pointer, so that moving a secret leaves no copy of it behind.
struct Inner {
    bytes: Zeroizing<Vec<u8>>,
    // Wipes itself: see `wiped` below.
    key: HmacSha256,
}

impl Secret {
    /// A secret of these bytes, which should be random.
    ///
    /// # Errors
    ///
    /// When there are fewer than 24 or more than 64.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SecretError> {
        Self::new(bytes, SecretForm::Bytes)
    }

    /// The secret in the form `whsec_…`, padded, to be handed to the other side. The text is wiped when dropped.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        // Room for the whole, so that it never moves: 64 bytes are 88 characters.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 96));
        text.push_str(PREFIX);
        BASE64.encode_string(self.0.bytes.as_slice(), &mut text);
        text
    }

    /// The tag of `id.timestamp.body`, from the headers' own bytes.
    pub(super) fn tag(&self, id: &[u8], timestamp: &[u8], body: &[u8]) -> Tag {
        let mut mac = self.0.key.clone();
        for part in [id, b".", timestamp, b".", body] {
            mac.update(part);
        }
        mac.finalize()
    }

    fn new(bytes: &[u8], form: SecretForm) -> Result<Self, SecretError> {
        let problem = match bytes.len() {
            0 => SecretProblem::Empty,
            short @ 1..MIN_SECRET_BYTES => SecretProblem::TooShort { bytes: short },
            MIN_SECRET_BYTES..=MAX_SECRET_BYTES => {
                return Ok(Self(Arc::new(Inner {
                    bytes: Zeroizing::new(bytes.to_vec()),
                    key: HmacSha256::new_from_slice(bytes)
                        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length")),
                })));
            }
            _ => SecretProblem::TooLong,
        };
        Err(SecretError::new(form, problem))
    }
}

impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let (form, encoded) = match text.trim() {
            text if text.starts_with(VERSIONED_PREFIX) => (
                SecretForm::Versioned,
                text.strip_prefix(VERSIONED_PREFIX).unwrap_or_default(),
            ),
            text if text.starts_with(PREFIX) => (
                SecretForm::Prefixed,
                text.strip_prefix(PREFIX).unwrap_or_default(),
            ),
            text => (SecretForm::Bare, text),
        };
        let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(encoded.len())]);
        let length = BASE64
            .decode_slice(encoded, &mut bytes)
            .map_err(|_| SecretError::new(form, undecodable(form, encoded)))?;
        Self::new(bytes.get(..length).unwrap_or_default(), form)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// What may have gone wrong with a text that is not base64.
fn undecodable(form: SecretForm, text: &str) -> SecretProblem {
    if form == SecretForm::Bare {
        let unversioned = text.split_once(',').map_or(text, |(_, rest)| rest);
        if ASYMMETRIC_PREFIXES
            .iter()
            .any(|prefix| unversioned.starts_with(prefix))
        {
            return SecretProblem::Asymmetric;
        }
        if text.contains(',') || text.to_ascii_lowercase().starts_with("whsec") {
            return SecretProblem::Prefix;
        }
    }
    let url_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
    if text.contains(['-', '_']) && text.bytes().all(url_safe) {
        SecretProblem::UrlSafe
    } else {
        SecretProblem::Encoding
    }
}

/// Fails to compile where a feature that wipes is lost.
const _: () = {
    const fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<Zeroizing<Vec<u8>>>();
    // The prepared key is two states of the hash, and a buffer.
    wiped::<<Sha256 as EagerHash>::Core>();
    wiped::<Buffer<HmacCore<Sha256>>>();
    wiped::<Tag>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signing::SecretErrorKind;

    const TEXT: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn error(text: &str) -> SecretError {
        text.parse::<Secret>().expect_err(text)
    }

    #[test]
    fn every_written_form_is_the_same_secret() {
        for text in [
            format!("whsec_{TEXT}"),
            format!("v1,whsec_{TEXT}"),
            TEXT.to_owned(),
            format!("  whsec_{TEXT}\n"),
            format!("\t{TEXT}\r\n"),
        ] {
            let secret: Secret = text.parse().unwrap();
            assert_eq!(secret.reveal().as_str(), format!("whsec_{TEXT}"));
        }
    }

    #[test]
    fn padding_may_be_left_out() {
        for length in 24..=64 {
            let secret = Secret::from_bytes(&vec![0x5a; length]).unwrap();
            let padded = secret.reveal();
            let read: Secret = padded.parse().unwrap();
            let bare: Secret = padded.trim_end_matches('=').parse().unwrap();
            assert_eq!(read.0.bytes.len(), length);
            assert_eq!(read.reveal(), padded);
            assert_eq!(bare.reveal(), padded);
        }
    }

    #[test]
    fn a_secret_has_24_to_64_bytes() {
        for (length, message) in [
            (0, "the signing secret, read as raw bytes, is empty"),
            (1, "the signing secret, read as raw bytes, has 1 bytes"),
            (23, "the signing secret, read as raw bytes, has 23 bytes"),
            (
                65,
                "the signing secret, read as raw bytes, has more than 64 bytes",
            ),
        ] {
            let error = Secret::from_bytes(&vec![7; length]).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
        for length in [24, 64] {
            assert!(Secret::from_bytes(&vec![7; length]).is_ok());
        }
        assert_eq!(error(&"A".repeat(31)).kind(), SecretErrorKind::Length);
        assert_eq!(error(&"A".repeat(88)).kind(), SecretErrorKind::Length);
        assert_eq!(error(&"A".repeat(10_000)).kind(), SecretErrorKind::Length);
    }

    #[test]
    fn an_error_names_the_form_and_what_is_wrong() {
        for (text, form, kind) in [
            ("", "bare base64", SecretErrorKind::Empty),
            (" \n", "bare base64", SecretErrorKind::Empty),
            ("whsec_", "`whsec_…`", SecretErrorKind::Empty),
            ("v1,whsec_", "`v1,whsec_…`", SecretErrorKind::Empty),
            ("whsec_dG9vIHNob3J0", "`whsec_…`", SecretErrorKind::Length),
            (
                "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Asymmetric,
            ),
            (
                "v1a,whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Asymmetric,
            ),
            (
                "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Prefix,
            ),
            (
                "whsec-MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Prefix,
            ),
            (
                "v2,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Prefix,
            ),
            (
                "v1,MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "bare base64",
                SecretErrorKind::Prefix,
            ),
            (
                "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"",
                "bare base64",
                SecretErrorKind::Encoding,
            ),
            (
                "whsec_MfKQ9r8GKYqrTwjU PD8ILPZIo2LaLaSw",
                "`whsec_…`",
                SecretErrorKind::Encoding,
            ),
            (
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_",
                "`whsec_…`",
                SecretErrorKind::Encoding,
            ),
            (
                "whsec_whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "`whsec_…`",
                SecretErrorKind::Encoding,
            ),
            ("whsec_ä", "`whsec_…`", SecretErrorKind::Encoding),
            (
                "whsec_=MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "`whsec_…`",
                SecretErrorKind::Encoding,
            ),
            ("hello world", "bare base64", SecretErrorKind::Encoding),
        ] {
            let error = error(text);
            assert_eq!(error.kind(), kind, "{text}");
            assert!(
                error.to_string().contains(&format!("read as {form}, ")),
                "{text}: {error}"
            );
        }
        assert!(
            error("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_")
                .to_string()
                .contains("URL-safe")
        );
        assert!(
            error("whsec_hello world")
                .to_string()
                .contains("without quotes or spaces")
        );
    }

    #[test]
    fn clones_share_the_one_copy() {
        let secret: Secret = TEXT.parse().unwrap();
        let clone = secret.clone();
        assert!(Arc::ptr_eq(&secret.0, &clone.0));
    }
}
