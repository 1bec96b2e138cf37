//! Values from a body in a header: as they are, or in MCP's base64 form.

use http::HeaderValue;
use pup_extension::mcp::header::encode_value;

/// The header form of a text (MCP 2026-07-28, Streamable HTTP, "Value Encoding").
pub(crate) fn encode(text: &str) -> HeaderValue {
    // Either form is visible ASCII, spaces and tabs, all of which a header can hold.
    HeaderValue::from_str(&encode_value(text)).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_examples_hold() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("a b\tc", "a b\tc"),
            ("", ""),
            ("\u{7f}", "=?base64?fw==?="),
        ] {
            assert_eq!(encode(text), header, "{text:?}");
        }
    }
}
