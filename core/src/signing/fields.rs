//! The two signed headers: the grammar of an id and of a timestamp.

use super::error::Reason;

/// The most bytes of a `webhook-id`.
pub const MAX_ID_BYTES: usize = 256;

/// The most digits of a timestamp. Seconds have ten until the year 2286; milliseconds have thirteen since 2001.
const MAX_DIGITS: usize = 12;

/// Reads an id: 1 to [`MAX_ID_BYTES`] visible ASCII characters.
///
/// The signed content is `id.timestamp.body`, so an id with full stops and digits could be cut in another place.
/// It is accepted all the same: ids are the sender's to choose, and what another cut leaves as the body begins
/// with the end of the id, or with digits, and a full stop. That is no JSON object, unless the id itself begins
/// one, as no sender's does; so it is refused before anything is claimed.
pub(super) fn id(bytes: &[u8]) -> Result<&str, Reason> {
    let text = std::str::from_utf8(bytes).map_err(|_| Reason::IdCharacters)?;
    if text.is_empty() || text.len() > MAX_ID_BYTES {
        return Err(Reason::IdLength);
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Reason::IdCharacters);
    }
    Ok(text)
}

/// Reads a timestamp: digits only, as seconds since the epoch.
pub(super) fn seconds(bytes: &[u8]) -> Result<u64, Reason> {
    if bytes.is_empty() || !bytes.iter().all(u8::is_ascii_digit) {
        return Err(Reason::TimestampDigits);
    }
    if bytes.len() > MAX_DIGITS {
        return Err(Reason::TimestampTooLong);
    }
    Ok(bytes
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_visible_ascii_of_bounded_length() {
        for good in [
            "a",
            "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
            "a/b,c;d\"e\\",
            "~!",
            "a.1785196800",
            &"x".repeat(256),
        ] {
            assert_eq!(id(good.as_bytes()), Ok(good));
        }
        assert_eq!(id(b""), Err(Reason::IdLength));
        assert_eq!(id(&[b'x'; 257]), Err(Reason::IdLength));
        for bad in [
            &b" a"[..],
            b"a ",
            b"a b",
            b"a\tb",
            b"a\x7f",
            b"\xc3\xa4",
            b"\xff",
        ] {
            assert_eq!(id(bad), Err(Reason::IdCharacters), "{bad:?}");
        }
    }

    #[test]
    fn a_timestamp_is_digits_only() {
        assert_eq!(seconds(b"0"), Ok(0));
        assert_eq!(seconds(b"001785196800"), Ok(1_785_196_800));
        assert_eq!(seconds(b"999999999999"), Ok(999_999_999_999));
        for bad in [
            &b""[..],
            b"+1785196800",
            b"-1785196800",
            b" 1785196800",
            b"1785196800 ",
            b"1785196800.0",
            b"1e9",
            b"0x6A67F680",
            b"hello",
            b"NaN",
            b"1_785_196_800",
            b"1785196800,1785196800",
            b"\xd9\xa1",
            b"\xff",
        ] {
            assert_eq!(seconds(bad), Err(Reason::TimestampDigits), "{bad:?}");
        }
    }

    #[test]
    fn milliseconds_are_told_apart_from_a_timestamp() {
        for bad in [&b"1785196800123"[..], b"0000000000000", &[b'9'; 400]] {
            assert_eq!(seconds(bad), Err(Reason::TimestampTooLong));
        }
    }
}
