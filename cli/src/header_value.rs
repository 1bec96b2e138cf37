//! Values from a body in a header: as they are, or in MCP's base64 form.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;

/// The header form of a text (MCP 2026-07-28, Streamable HTTP, "Value Encoding"): the text itself where it is
/// visible ASCII, spaces and tabs within included; else `=?base64?…?=`, and so too for a text that looks like
/// that form.
pub(crate) fn encode(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e | b'\t'))
        && text.trim_matches([' ', '\t']) == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match HeaderValue::from_str(text) {
        Ok(value) if plain => value,
        _ => HeaderValue::try_from(format!("=?base64?{}?=", STANDARD.encode(text)))
            .unwrap_or_else(|_| HeaderValue::from_static("")),
    }
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
