//! What stands under a key.

use std::fmt;

use bytes::Bytes;

use crate::time::Timestamp;

/// The most bytes that one value may have, on every backend.
pub const MAX_VALUE_BYTES: usize = 256 * 1024;

/// An item as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// The id of the commit that wrote it.
    pub revision: Revision,
    /// From this time on the item is absent; `None` for never.
    pub expires_at: Option<Timestamp>,
}

impl Item {
    /// Whether the item counts as absent at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// A value: bytes, or a number that [`Operation::Add`](super::Operation::Add) can count on.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// Any bytes, up to [`MAX_VALUE_BYTES`].
    Bytes(Bytes),
    /// A whole number. It saturates at the ends of its range.
    Number(i64),
}

impl Value {
    /// How many bytes count towards the limits.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Number(_) => size_of::<i64>(),
        }
    }
}

impl fmt::Debug for Value {
    /// Values are people's data: only their size is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} B)", bytes.len()),
            Self::Number(_) => f.write_str("Number"),
        }
    }
}

/// The id of a commit, and the revision of every item that it wrote: 128 random bits, never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u128);

impl Revision {
    /// From bits that the caller drew at random.
    #[must_use]
    pub const fn new(random: u128) -> Self {
        Self(random)
    }

    /// The bits.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Big-endian bytes, for backends that keep a blob.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// From what [`Revision::to_bytes`] gave.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// From the text form; `None` when it is not 32 lowercase hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits =
            text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits
            .then(|| u128::from_str_radix(text, 16).ok())
            .flatten()
            .map(Self)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_survives_both_of_its_forms() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
            let revision = Revision::new(bits);
            assert_eq!(Revision::parse(&revision.to_string()), Some(revision));
            assert_eq!(Revision::from_bytes(revision.to_bytes()), revision);
        }
        for text in [
            "",
            "0",
            "+0000000000000000000000000000000",
            &"g".repeat(32),
            &"A".repeat(32),
            &"0".repeat(33),
        ] {
            assert_eq!(Revision::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_value_does_not_print_what_it_holds() {
        let value = Value::Bytes(Bytes::from_static(b"private"));
        assert_eq!(format!("{value:?}"), "Bytes(7 B)");
    }

    #[test]
    fn an_item_expires_at_its_time_and_not_a_millisecond_earlier() {
        let item = Item {
            value: Value::Number(1),
            revision: Revision::new(1),
            expires_at: Some(Timestamp::from_millis(1_000)),
        };
        assert!(!item.is_expired(Timestamp::from_millis(999)));
        assert!(item.is_expired(Timestamp::from_millis(1_000)));
    }
}
