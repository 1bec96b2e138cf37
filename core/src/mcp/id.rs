//! The id of a JSON-RPC request.

use std::fmt;

use serde_json::value::RawValue;

use super::object::Text;

/// The most bytes that the JSON text of a request id may have. It is echoed in every answer.
pub const MAX_REQUEST_ID_BYTES: usize = 1_024;

/// The id of a JSON-RPC request: a string or an integer, kept and echoed as the JSON text that came.
///
/// So an integer that no machine type holds survives, and so does the way a string was escaped. MCP allows
/// neither `null` nor numbers with a fraction or an exponent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Box<str>);

impl Id {
    /// From the member's JSON text; `None` when it is neither a string nor an integer, or too long.
    pub(super) fn from_raw(raw: &RawValue) -> Option<Self> {
        let json = raw.get();
        let valid = json.len() <= MAX_REQUEST_ID_BYTES
            && if json.starts_with('"') {
                Text::parse(raw).is_some()
            } else {
                is_integer(json)
            };
        valid.then(|| Self(json.into()))
    }

    /// The JSON text, as it came.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

/// Shows the JSON text. It holds no control characters, since JSON escapes them.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

/// Whether JSON text is a number without fraction and exponent.
fn is_integer(json: &str) -> bool {
    let digits = json.strip_prefix('-').unwrap_or(json);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(json: &str) -> Option<Id> {
        Id::from_raw(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn strings_and_integers_come_back_as_they_came() {
        let digits = "9".repeat(MAX_REQUEST_ID_BYTES);
        for json in [
            "0",
            "-0",
            "-7",
            "9007199254740993",
            &digits,
            r#""""#,
            r#""a\u0062\/\n""#,
            "\"\u{e9}\"",
        ] {
            assert_eq!(id(json).unwrap().as_json(), json);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let long = "9".repeat(MAX_REQUEST_ID_BYTES + 1);
        for json in [
            "1.0",
            "1e3",
            "1E3",
            "-1.5",
            "null",
            "true",
            "false",
            "{}",
            "[]",
            r#""\ud800""#,
            &long,
        ] {
            assert_eq!(id(json), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_string_and_any_integer_round_trips(text in ".{0,100}", number: i128) {
            for json in [serde_json::to_string(&text).unwrap(), number.to_string()] {
                let id = id(&json).unwrap();
                prop_assert_eq!(id.as_json(), json);
            }
        }
    }
}
