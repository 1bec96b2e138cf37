//! What a record was made for, so that one id can't stand for two things.

use std::{fmt, sync::Arc};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// A SHA-256 over parts, each with its length, so that no part can run into the next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

/// A key for outside services: of these parts, stable, and telling nothing of them.
pub(crate) fn idempotency_key(parts: &[&str]) -> Arc<str> {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    Fingerprint::of(&parts)
        .as_bytes()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        .into()
}

/// JSON with its members in the order of their names and no white space: equal for equal values, however a
/// sender printed them. (Numbers stay as they parse: `1` and `1.0` differ, as they may to a tool.)
pub(crate) fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            // Sorted here: the map keeps the sender's order when some crate asks serde_json for that.
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            out.push(b'{');
            for (index, name) in names.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                text(name, out);
                out.push(b':');
                write(members.get(name).unwrap_or(&Value::Null), out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::String(string) => text(string, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
    }
}

/// A length and the bytes: canonical without escapes.
fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.len().to_string().as_bytes());
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_members_and_white_space_do_not_matter() {
        let a: Value =
            serde_json::from_str(r#"{"b": [1, {"y": null, "x": "é"}], "a": true}"#).unwrap();
        let b: Value =
            serde_json::from_str(r#"{"a":true,"b":[1,{"x":"\u00e9","y":null}]}"#).unwrap();
        assert_eq!(canonical(&a), canonical(&b));
    }

    #[test]
    fn values_that_a_tool_can_tell_apart_differ() {
        let values = [
            json!(null),
            json!("null"),
            json!(1),
            json!(1.0),
            json!("1"),
            json!([]),
            json!({}),
            json!([[]]),
            json!(["a", "b"]),
            json!(["a\",1\"b"]),
            json!(["ab"]),
            json!({"a": null}),
            json!({"a": {"b": 1}}),
        ];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(canonical(a) == canonical(b), i == j, "{a} {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn parts_of_a_fingerprint_cannot_run_into_each_other(a in ".{0,6}", b in ".{0,6}", c in ".{0,6}", d in ".{0,6}") {
            let left = Fingerprint::of(&[a.as_bytes(), b.as_bytes()]);
            let right = Fingerprint::of(&[c.as_bytes(), d.as_bytes()]);
            prop_assert_eq!(left == right, a == c && b == d);
        }
    }
}
