//! The signature header: its entries, however a proxy left them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue};

use super::{SIGNATURE_HEADER, error::Reason};

/// The most entries that a request's signature headers may hold together. Text that is no entry counts as one.
pub const MAX_SIGNATURES: usize = 16;
/// The most bytes that a request's signature headers may have together.
pub const MAX_SIGNATURE_BYTES: usize = 8 * 1024;

/// The bytes of an HMAC-SHA256.
pub(super) const TAG_BYTES: usize = 32;
/// The same in base64, padded.
const ENCODED_TAG_BYTES: usize = 44;
/// The one version that is verified here.
const VERSION: &[u8] = b"v1";
/// The most bytes of a version, known or not. Shorter than any signature, so that none passes for one.
const MAX_VERSION_BYTES: usize = 8;

/// Every well-formed `v1` signature of a request, at most [`MAX_SIGNATURES`].
pub(super) fn signatures(headers: &HeaderMap) -> Result<Vec<[u8; TAG_BYTES]>, Reason> {
    let lines = || {
        headers
            .get_all(SIGNATURE_HEADER)
            .iter()
            .map(HeaderValue::as_bytes)
    };
    if lines().next().is_none() {
        return Err(Reason::Missing(SIGNATURE_HEADER));
    }
    // Each line counts for one byte more, so that empty ones are bounded too.
    if lines().map(|line| line.len() + 1).sum::<usize>() > MAX_SIGNATURE_BYTES + 1 {
        return Err(Reason::TooManySignatures);
    }

    let mut entries = Entries::default();
    for line in lines() {
        entries.line(line)?;
    }
    if entries.found.is_empty() {
        return Err(Reason::NoSignature);
    }
    Ok(entries.found)
}

#[derive(Default)]
struct Entries {
    found: Vec<[u8; TAG_BYTES]>,
    /// How many entries began so far.
    count: usize,
    /// The version that still waits for its signature: whether it is ours.
    version: Option<bool>,
    /// Whether a comma, or what may have been one, stands between the last piece and the next.
    comma: bool,
}

impl Entries {
    fn line(&mut self, line: &[u8]) -> Result<(), Reason> {
        // The end of a line is what a proxy makes of a comma.
        self.comma = true;
        for word in line.split(|byte| matches!(byte, b' ' | b'\t')) {
            for (index, piece) in word.split(|byte| *byte == b',').enumerate() {
                self.comma |= index > 0;
                if !piece.is_empty() {
                    self.piece(piece)?;
                    self.comma = false;
                }
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: &[u8]) -> Result<(), Reason> {
        let version = self.version.take();
        if is_version(piece) {
            self.version = Some(piece == VERSION);
        } else if let Some(ours) = version.filter(|_| self.comma) {
            if ours {
                self.found.extend(decode(piece));
            }
            return Ok(());
        }
        self.count += 1;
        if self.count > MAX_SIGNATURES {
            return Err(Reason::TooManySignatures);
        }
        Ok(())
    }
}

/// Whether it has the form of a version: `v`, digits, perhaps a lowercase suffix (`v1`, `v1a`).
fn is_version(piece: &[u8]) -> bool {
    let Some(rest) = piece.strip_prefix(b"v") else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0
        && piece.len() <= MAX_VERSION_BYTES
        && rest.iter().skip(digits).all(u8::is_ascii_lowercase)
}

/// Decodes strictly: padded, and without bits that say nothing, so that a signature has one form only.
fn decode(piece: &[u8]) -> Option<[u8; TAG_BYTES]> {
    if piece.len() != ENCODED_TAG_BYTES {
        return None;
    }
    let mut bytes = [0; TAG_BYTES + 1];
    let length = STANDARD.decode_slice(piece, &mut bytes).ok()?;
    bytes.get(..length)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [u8; 32] = [b'a'; 32];
    const B: [u8; 32] = [b'b'; 32];

    fn text(tag: [u8; 32]) -> String {
        STANDARD.encode(tag)
    }

    fn read<L: AsRef<[u8]>>(lines: &[L]) -> Result<Vec<[u8; 32]>, Reason> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                SIGNATURE_HEADER,
                HeaderValue::from_bytes(line.as_ref()).unwrap(),
            );
        }
        signatures(&headers)
    }

    #[test]
    fn one_line_may_hold_several_entries() {
        let (a, b) = (text(A), text(B));
        assert_eq!(read(&[format!("v1,{a}")]), Ok(vec![A]));
        assert_eq!(read(&[format!("v1,{a} v1,{b}")]), Ok(vec![A, B]));
        assert_eq!(read(&[format!("  v1,{a}   v1,{b}\t")]), Ok(vec![A, B]));
    }

    #[test]
    fn several_lines_may_hold_an_entry_each() {
        let (a, b) = (text(A), text(B));
        assert_eq!(
            read(&[format!("v1,{a}"), format!("v1,{b}")]),
            Ok(vec![A, B])
        );
        assert_eq!(
            read(&[format!("v1,{a} v2,x"), String::new(), format!("v1,{b}")]),
            Ok(vec![A, B])
        );
    }

    #[test]
    fn lines_that_a_proxy_combined_are_told_apart() {
        let (a, b) = (text(A), text(B));
        assert_eq!(read(&[format!("v1,{a}, v1,{b}")]), Ok(vec![A, B]));
        assert_eq!(read(&[format!("v1,{a},v1,{b}")]), Ok(vec![A, B]));
        assert_eq!(read(&[format!("v1, {a}, v1, {b}")]), Ok(vec![A, B]));
    }

    #[test]
    fn entries_that_a_proxy_split_at_the_comma_are_joined_again() {
        let (a, b) = (text(A), text(B));
        assert_eq!(read(&["v1", &a]), Ok(vec![A]));
        assert_eq!(read(&["v1", &format!("{a} v1"), &b]), Ok(vec![A, B]));
        assert_eq!(read(&["v1", &a, "v1", &b]), Ok(vec![A, B]));
        assert_eq!(read(&["v1", &a, &format!("v1,{b}")]), Ok(vec![A, B]));
        assert_eq!(read(&["v1a", &"c".repeat(88), "v1", &b]), Ok(vec![B]));
    }

    #[test]
    fn only_a_comma_joins_a_version_and_a_signature() {
        assert_eq!(read(&[format!("v1 {}", text(A))]), Err(Reason::NoSignature));
        assert_eq!(read(&[format!("v1{}", text(A))]), Err(Reason::NoSignature));
        assert_eq!(read(&[text(A)]), Err(Reason::NoSignature));
    }

    #[test]
    fn other_versions_are_ignored() {
        let (a, b) = (text(A), text(B));
        for version in ["v1a", "v2", "v11", "v99beta", "v0"] {
            assert_eq!(
                read(&[format!("{version},{a} v1,{b}")]),
                Ok(vec![B]),
                "{version}"
            );
            assert_eq!(
                read(&[format!("v1,{b} {version},{a}")]),
                Ok(vec![B]),
                "{version}"
            );
            assert_eq!(
                read(&[format!("{version},{a}")]),
                Err(Reason::NoSignature),
                "{version}"
            );
        }
        for version in ["V1", "1", "v", "v1_", "sha256", "v1=", "\u{e4}"] {
            assert_eq!(
                read(&[format!("{version},{a}")]),
                Err(Reason::NoSignature),
                "{version}"
            );
        }
    }

    #[test]
    fn junk_between_entries_does_not_hide_them() {
        let a = text(A);
        for junk in [
            "",
            ",",
            ",,,",
            "garbage",
            "garbage,",
            "v1,",
            "v1",
            "v1,AAAA",
            "v1,\u{e4}",
        ] {
            assert_eq!(
                read(&[junk, &format!("v1,{a}")]),
                Ok(vec![A]),
                "{junk:?} before"
            );
            assert_eq!(
                read(&[&format!("v1,{a}"), junk]),
                Ok(vec![A]),
                "{junk:?} after"
            );
            assert_eq!(
                read(&[format!("{junk} v1,{a} {junk}")]),
                Ok(vec![A]),
                "{junk:?} around"
            );
        }
    }

    #[test]
    fn a_signature_has_one_form_only() {
        // 32 bytes leave two bits of the last character unused: `E=` and `F=` end the same bytes.
        let canonical = text(A);
        let unpadded = canonical.trim_end_matches('=');
        let same_bytes = format!("{}F=", unpadded.strip_suffix('E').unwrap());
        let url_safe = text([0xff; 32]).replace('/', "_");
        for bad in [
            unpadded,
            &same_bytes,
            &url_safe,
            &format!("{canonical}="),
            &STANDARD.encode([0; 29]),
            "",
        ] {
            assert_eq!(
                read(&[format!("v1,{bad}")]),
                Err(Reason::NoSignature),
                "{bad}"
            );
        }
        assert_eq!(
            read(&[format!("v1,{}", STANDARD.encode([0; 31]))]),
            Err(Reason::NoSignature)
        );
        assert_eq!(
            read(&[format!("v1,{}", STANDARD.encode([0; 33]))]),
            Err(Reason::NoSignature)
        );
    }

    #[test]
    fn no_header_and_an_empty_header_differ() {
        assert_eq!(read::<&str>(&[]), Err(Reason::Missing(SIGNATURE_HEADER)));
        assert_eq!(read(&[""]), Err(Reason::NoSignature));
    }

    #[test]
    fn entries_are_bounded_however_they_are_spread() {
        let entry = format!("v1,{}", text(A));
        let full = vec![entry.as_str(); MAX_SIGNATURES];
        let over = vec![entry.as_str(); MAX_SIGNATURES + 1];
        assert_eq!(read(&full).map(|found| found.len()), Ok(MAX_SIGNATURES));
        assert_eq!(
            read(&[full.join(" ")]).map(|found| found.len()),
            Ok(MAX_SIGNATURES)
        );
        assert_eq!(read(&over), Err(Reason::TooManySignatures));
        assert_eq!(read(&[over.join(" ")]), Err(Reason::TooManySignatures));
        for filler in ["v2,x ", "x ", "x,", "v1 "] {
            assert_eq!(
                read(&[filler.repeat(17)]),
                Err(Reason::TooManySignatures),
                "{filler}"
            );
        }
    }

    #[test]
    fn bytes_are_bounded_however_they_are_spread() {
        let entry = format!("v1,{}", text(A));
        let padded = |bytes: usize| format!("{entry}{}", " ".repeat(bytes - entry.len()));
        assert_eq!(read(&[padded(MAX_SIGNATURE_BYTES)]), Ok(vec![A]));
        assert_eq!(
            read(&[padded(MAX_SIGNATURE_BYTES + 1)]),
            Err(Reason::TooManySignatures)
        );
        let halves = [
            padded(MAX_SIGNATURE_BYTES / 2),
            padded(MAX_SIGNATURE_BYTES / 2),
        ];
        assert_eq!(read(&halves), Err(Reason::TooManySignatures));
        assert_eq!(
            read(&vec![""; MAX_SIGNATURE_BYTES + 2]),
            Err(Reason::TooManySignatures)
        );
    }
}
