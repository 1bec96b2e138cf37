//! Signing, for whoever acts as the platform: tests, and the command line.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue};

use super::{ID_HEADER, SIGNATURE_HEADER, Secret, SignError, TIMESTAMP_HEADER, fields};
use crate::time::Timestamp;

impl Secret {
    /// Signs a message: its id, the whole seconds of its time, and the exact bytes of its body.
    ///
    /// # Errors
    ///
    /// When the id is one that [`Keyring::verify`](super::Keyring::verify) refuses, or the time one that can't be
    /// written in twelve digits of seconds.
    ///
    /// ```
    /// use pup_extension::{signing::Secret, time::Timestamp};
    ///
    /// let secret: Secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".parse()?;
    /// let body = br#"{"email":"test@example.com","username":"test_user"}"#;
    /// let at = Timestamp::from_secs(1_649_367_553);
    /// let headers = secret.sign("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", at, body)?;
    /// assert_eq!(headers.signature(), "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sign(
        &self,
        id: &str,
        timestamp: Timestamp,
        body: &[u8],
    ) -> Result<SignatureHeaders, SignError> {
        let id = fields::id(id.as_bytes()).map_err(SignError::id)?;
        let seconds = timestamp.as_secs().to_string();
        fields::seconds(seconds.as_bytes()).map_err(SignError::timestamp)?;

        let tag = self.tag(id.as_bytes(), seconds.as_bytes(), body);
        let signature = format!("v1,{}", STANDARD.encode(tag.as_bytes()));
        let mut signature = visible(&signature);
        signature.set_sensitive(true);
        Ok(SignatureHeaders {
            id: visible(id),
            timestamp: visible(&seconds),
            signature,
        })
    }
}

/// The three headers of one signed message. Whoever has them can send it, so `Debug` does not show the signature.
#[derive(Clone, Debug)]
pub struct SignatureHeaders {
    id: HeaderValue,
    timestamp: HeaderValue,
    signature: HeaderValue,
}

impl SignatureHeaders {
    /// The value of [`ID_HEADER`].
    #[must_use]
    pub const fn id(&self) -> &HeaderValue {
        &self.id
    }

    /// The value of [`TIMESTAMP_HEADER`].
    #[must_use]
    pub const fn timestamp(&self) -> &HeaderValue {
        &self.timestamp
    }

    /// The value of [`SIGNATURE_HEADER`], marked as sensitive.
    #[must_use]
    pub const fn signature(&self) -> &HeaderValue {
        &self.signature
    }

    /// Sets the three headers, replacing those that are there.
    pub fn apply(&self, headers: &mut HeaderMap) {
        headers.insert(ID_HEADER, self.id.clone());
        headers.insert(TIMESTAMP_HEADER, self.timestamp.clone());
        headers.insert(SIGNATURE_HEADER, self.signature.clone());
    }
}

fn visible(text: &str) -> HeaderValue {
    HeaderValue::from_str(text)
        .unwrap_or_else(|_| unreachable!("visible ASCII is always a header value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signing::SignErrorKind;

    fn secret() -> Secret {
        Secret::from_bytes(&[7; 32]).unwrap()
    }

    #[test]
    fn whole_seconds_are_signed() {
        let early = secret()
            .sign("a", Timestamp::from_millis(1_999), b"")
            .unwrap();
        let late = secret()
            .sign("a", Timestamp::from_millis(1_000), b"")
            .unwrap();
        assert_eq!(early.timestamp(), "1");
        assert_eq!(early.signature(), late.signature());
    }

    #[test]
    fn what_nobody_would_verify_is_not_signed() {
        for id in ["", " ", "a\n", "a\u{e4}", &"a".repeat(257), "a.1785196800"] {
            let error = secret().sign(id, Timestamp::EPOCH, b"").unwrap_err();
            assert_eq!(error.kind(), SignErrorKind::Id, "{id:?}");
        }
        let error = secret()
            .sign("a", Timestamp::from_millis(u64::MAX), b"")
            .unwrap_err();
        assert_eq!(error.kind(), SignErrorKind::Timestamp);
    }

    #[test]
    fn applying_replaces_what_is_there() {
        let mut headers = HeaderMap::new();
        for name in [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER] {
            headers.append(name, HeaderValue::from_static("stale"));
            headers.append(name, HeaderValue::from_static("stale too"));
        }
        let signed = secret().sign("a", Timestamp::from_secs(5), b"").unwrap();
        signed.apply(&mut headers);
        assert_eq!(headers.len(), 3);
        assert_eq!(headers.get(ID_HEADER), Some(signed.id()));
        assert_eq!(headers.get(TIMESTAMP_HEADER), Some(signed.timestamp()));
        assert_eq!(headers.get(SIGNATURE_HEADER), Some(signed.signature()));
    }

    #[test]
    fn the_signature_is_not_printed() {
        let signed = secret().sign("a", Timestamp::from_secs(5), b"").unwrap();
        let text = signed.signature().to_str().unwrap();
        assert!(!format!("{signed:?}").contains(text));
        let mut headers = HeaderMap::new();
        signed.apply(&mut headers);
        assert!(!format!("{headers:?}").contains(text));
    }
}
