//! Header values: reading them strictly, and the Base64 sentinel for what a header can't hold.
//!
//! A value that is no plain visible ASCII travels as `=?base64?…?=` around the Base64 of its UTF-8
//! (Streamable HTTP, "Value Encoding").

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName};

use super::Error;

/// `MCP-Protocol-Version`.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the name of a header for a tool's parameter starts with, in lower case.
pub const PARAM_PREFIX: &str = "mcp-param-";

const SENTINEL_START: &str = "=?base64?";
const SENTINEL_END: &str = "?=";

/// Encodes a value for `Mcp-Name` or `Mcp-Param-*`: as it stands where that is safe, else in the sentinel form.
///
/// ```
/// use pup_extension::mcp::header::encode_value;
///
/// assert_eq!(encode_value("us-west1"), "us-west1");
/// assert_eq!(encode_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
/// assert_eq!(encode_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
/// ```
#[must_use]
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let looks_encoded = value.starts_with(SENTINEL_START) && value.ends_with(SENTINEL_END);
    if value.bytes().all(is_plain) && trim(value).len() == value.len() && !looks_encoded {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!(
            "{SENTINEL_START}{}{SENTINEL_END}",
            STANDARD.encode(value)
        ))
    }
}

/// Decodes a value of `Mcp-Name` or `Mcp-Param-*`; spaces and tabs around it don't count.
///
/// Without the whole sentinel, a value is what it says.
///
/// # Errors
///
/// When it holds a character that no header value may, or has the sentinel around what is no Base64 of UTF-8.
///
/// ```
/// use pup_extension::mcp::header::decode_value;
///
/// assert_eq!(decode_value("=?base64?SGVsbG8sIOS4lueVjA==?=").unwrap(), "Hello, 世界");
/// assert_eq!(decode_value("  SGVsbG8=  ").unwrap(), "SGVsbG8=");
/// assert!(decode_value("=?base64?SGVsbG8?=").is_err());
/// ```
pub fn decode_value(value: &str) -> Result<Cow<'_, str>, HeaderValueError> {
    let value = trim(value);
    if !value.bytes().all(is_plain) {
        return Err(HeaderValueError::Character);
    }
    if !(value.starts_with(SENTINEL_START) && value.ends_with(SENTINEL_END)) {
        return Ok(Cow::Borrowed(value));
    }
    // In `=?base64?=` the two ends overlap: it has the sentinel's look and nothing in it.
    let inner = value
        .strip_prefix(SENTINEL_START)
        .and_then(|rest| rest.strip_suffix(SENTINEL_END));
    inner
        .and_then(|inner| STANDARD.decode(inner).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(Cow::Owned)
        .ok_or(HeaderValueError::Sentinel)
}

/// Why a header value can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderValueError {
    /// It holds something other than visible ASCII, space and tab.
    #[error(
        "a header value holds visible ASCII, spaces and tabs only: encode it in the base64 sentinel form"
    )]
    Character,
    /// It has the sentinel's look.
    #[error("what stands in the base64 sentinel must be padded base64 of UTF-8 text")]
    Sentinel,
}

/// The one value of a header, trimmed; `None` when it is absent.
///
/// # Errors
///
/// [`Error::header_mismatch`] when it is there twice, or holds an invalid character.
pub(super) fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    shown: &str,
) -> Result<Option<&'h str>, Error> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Error::header_mismatch(format!(
            "the {shown} header is there twice: send it once"
        )));
    }
    match value.to_str() {
        Ok(value) if value.bytes().all(is_plain) => Ok(Some(trim(value))),
        _ => Err(Error::header_mismatch(format!(
            "the {shown} header holds an invalid character: {HINT}"
        ))),
    }
}

const HINT: &str = "use visible ASCII, or the base64 sentinel form where that is allowed";

/// What RFC 9110 allows in a field value, and MCP in a plain one.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~')
}

/// RFC 9110, 5.5: whitespace around a field value is no part of it.
pub(super) fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_specifications_examples_encode_as_it_shows() {
        for (value, encoded) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("", ""),
            ("a\tb", "a\tb"),
        ] {
            assert_eq!(encode_value(value), encoded);
            assert_eq!(decode_value(encoded).unwrap(), value);
        }
    }

    #[test]
    fn half_a_sentinel_is_a_literal() {
        for value in [
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
            "=?BASE64?SGVsbG8=?=",
            "x=?base64?SGVsbG8=?=",
        ] {
            assert_eq!(decode_value(value).unwrap(), value);
        }
        assert_eq!(decode_value("=?base64??=").unwrap(), "");
    }

    #[test]
    fn a_broken_sentinel_is_refused() {
        for value in [
            "=?base64?=",
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?SGVsbG8=\t?=",
            "=?base64?SGVsbG9=?=",
            "=?base64?_-8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(
                decode_value(value),
                Err(HeaderValueError::Sentinel),
                "{value}"
            );
        }
    }

    #[test]
    fn characters_that_no_header_holds_are_refused() {
        for value in ["a\u{0}", "a\r\nb", "\u{7f}", "é"] {
            assert_eq!(
                decode_value(value),
                Err(HeaderValueError::Character),
                "{value:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_round_trips_as_a_valid_header(text in any::<String>()) {
            let encoded = encode_value(&text);
            prop_assert!(http::HeaderValue::from_str(&encoded).is_ok());
            prop_assert_eq!(decode_value(&encoded).unwrap(), text.as_str());
        }

        #[test]
        fn text_that_looks_encoded_round_trips(text in "[ \t]?=\\?base64\\?[A-Za-z0-9+/=?]{0,12}(\\?=)?[ \t]?") {
            let encoded = encode_value(&text);
            prop_assert_eq!(decode_value(&encoded).unwrap(), text.as_str());
        }

        #[test]
        fn no_text_makes_decoding_panic(text in any::<String>()) {
            let _outcome = decode_value(&text);
        }
    }
}
