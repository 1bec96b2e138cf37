//! Where an item stands: a partition, and a name in it.
//!
//! Both are made of *parts*, encoded so that no part can forge the boundary between two, and so that what one
//! part holds never reaches outside its place. In the encoded form `/` separates parts; inside a part `/`, `%`,
//! control characters and a lone dot segment are percent-encoded, an empty part is `%`, and a part that is too
//! long is replaced by `%~` and its SHA-256.

use std::{borrow::Borrow, fmt};

use sha2::{Digest, Sha256};

/// The most bytes of an encoded partition.
const MAX_PARTITION_BYTES: usize = 111;
/// The most bytes of an encoded name. With the partition and a separator: 512, what Workers KV takes.
const MAX_NAME_BYTES: usize = 400;
/// A longer encoded part is hashed where hashing is allowed.
const MAX_PART_BYTES: usize = 96;

/// The full address of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The partition: what one commit can span.
    pub partition: Partition,
    /// The name in the partition.
    pub name: Name,
}

impl Key {
    /// The key of `name` in `partition`.
    #[must_use]
    pub const fn new(partition: Partition, name: Name) -> Self {
        Self { partition, name }
    }
}

/// A group of items that one commit can span: an installation, or a fixed one for what has none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition(String);

impl Partition {
    /// The partition of an installation.
    #[must_use]
    pub fn installation(id: &str) -> Self {
        let mut text = String::from("i/");
        push_part(&mut text, id, Long::Hash);
        debug_assert!(
            text.len() <= MAX_PARTITION_BYTES,
            "a part is at most {MAX_PART_BYTES} bytes"
        );
        Self(text)
    }

    /// The partition of requests that belong to no installation: challenges, and discovery without a context.
    #[must_use]
    pub fn unscoped() -> Self {
        Self(String::from("u"))
    }

    /// The encoded form, at most 111 bytes, with no control character in it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From an encoded form that a backend kept.
    ///
    /// # Errors
    ///
    /// When it is empty, too long, or holds a control character.
    pub fn from_encoded(text: impl Into<String>) -> Result<Self, KeyError> {
        checked(text.into(), MAX_PARTITION_BYTES).map(Self)
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The name of an item in its partition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// A name of these parts. A part that is too long is hashed, so that any id can be part of a name.
    ///
    /// # Errors
    ///
    /// When there is no part, or when together they are longer than 400 bytes (which takes five).
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyError> {
        Self::join(parts, Long::Hash)
    }

    /// A name of these parts, none of them hashed, so that [`Name::parts`] gives every one of them back.
    ///
    /// # Errors
    ///
    /// When there is no part, or when together and encoded they are longer than 400 bytes.
    pub fn of_plain<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyError> {
        Self::join(parts, Long::Keep)
    }

    fn join<'a>(parts: impl IntoIterator<Item = &'a str>, long: Long) -> Result<Self, KeyError> {
        let mut text = String::new();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                text.push('/');
            }
            push_part(&mut text, part, long);
        }
        checked(text, MAX_NAME_BYTES).map(Self)
    }

    /// The encoded form, at most 400 bytes, with no control character in it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From an encoded form that a backend kept.
    ///
    /// # Errors
    ///
    /// When it is empty, too long, or holds a control character.
    pub fn from_encoded(text: impl Into<String>) -> Result<Self, KeyError> {
        checked(text.into(), MAX_NAME_BYTES).map(Self)
    }

    /// The parts, decoded. A hashed part comes back as it stands (`%~…`).
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        self.0.split('/').map(decode_part).collect()
    }
}

impl Borrow<str> for Name {
    /// The encoded form, by which names compare.
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Why a key can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is nothing in it.
    #[error("a key needs at least one part")]
    Empty,
    /// It is over the limit.
    #[error("the encoded key has {bytes} bytes; {limit} are allowed")]
    TooLong {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
    /// An encoded form holds a control character.
    #[error("an encoded key holds no control characters")]
    Control,
}

#[derive(Clone, Copy, PartialEq)]
enum Long {
    Hash,
    Keep,
}

fn checked(text: String, limit: usize) -> Result<String, KeyError> {
    if text.is_empty() {
        Err(KeyError::Empty)
    } else if text.len() > limit {
        Err(KeyError::TooLong {
            bytes: text.len(),
            limit,
        })
    } else if text.chars().any(char::is_control) {
        Err(KeyError::Control)
    } else {
        Ok(text)
    }
}

fn push_part(text: &mut String, part: &str, long: Long) {
    use fmt::Write as _;

    let start = text.len();
    match part {
        "" => text.push('%'),
        // Some backends read these as path segments.
        "." => text.push_str("%2E"),
        ".." => text.push_str("%2E%2E"),
        _ => {
            for c in part.chars() {
                if c == '/' || c == '%' || c.is_control() {
                    let mut utf8 = [0; 4];
                    for byte in c.encode_utf8(&mut utf8).bytes() {
                        write!(text, "%{byte:02X}")
                            .unwrap_or_else(|_| unreachable!("a string takes any text"));
                    }
                } else {
                    text.push(c);
                }
            }
        }
    }
    if long == Long::Hash && text.len() - start > MAX_PART_BYTES {
        text.truncate(start);
        text.push_str("%~");
        for byte in Sha256::digest(part.as_bytes()) {
            write!(text, "{byte:02x}").unwrap_or_else(|_| unreachable!("a string takes any text"));
        }
    }
}

fn decode_part(part: &str) -> String {
    if part == "%" {
        return String::new();
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(parts: &[&str]) -> Name {
        Name::of(parts.iter().copied()).unwrap()
    }

    #[test]
    fn a_part_cannot_forge_a_boundary() {
        assert_ne!(name(&["a", "b"]), name(&["a/b"]));
        assert_ne!(name(&["a", ""]), name(&["a"]));
        assert_ne!(name(&["a", ""]), name(&["a", "%"]));
        assert_ne!(name(&["%2F"]), name(&["/"]));
        assert_eq!(
            name(&["a/b", "", "..", "\n"]).as_str(),
            "a%2Fb/%/%2E%2E/%0A"
        );
    }

    #[test]
    fn a_long_part_is_hashed_and_cannot_be_spelled_out() {
        let long = "x".repeat(97);
        let hashed = name(&[&long]);
        assert_eq!(hashed.as_str().len(), 66);
        assert_ne!(name(&[hashed.as_str()]), hashed);
        assert_eq!(Name::of_plain([long.as_str()]).unwrap().parts(), [long]);
    }

    #[test]
    fn limits_hold() {
        assert_eq!(Name::of([]), Err(KeyError::Empty));
        assert_eq!(
            Name::of_plain(["y".repeat(401).as_str()]),
            Err(KeyError::TooLong {
                bytes: 401,
                limit: 400
            })
        );
        assert!(Partition::installation(&"/".repeat(1_000)).as_str().len() <= MAX_PARTITION_BYTES);
        assert_eq!(Name::from_encoded("a\nb"), Err(KeyError::Control));
    }

    proptest! {
        #[test]
        fn parts_come_back_and_different_parts_differ(
            a in proptest::collection::vec(".{0,20}", 1..4),
            b in proptest::collection::vec("[a/%.\u{0}-\u{1f}~]{0,3}", 1..4),
        ) {
            let of = |parts: &[String]| Name::of_plain(parts.iter().map(String::as_str));
            if let (Ok(left), Ok(right)) = (of(&a), of(&b)) {
                prop_assert_eq!(left.parts(), a.clone());
                prop_assert_eq!(right.parts(), b.clone());
                prop_assert_eq!(left == right, a == b);
                prop_assert!(!left.as_str().chars().any(char::is_control));
            }
        }
    }
}
