//! Signature headers: whatever arrives, nothing panics, and a request is accepted only if it was signed.
//!
//! A fuzzer can't guess an HMAC. So inputs are made of pieces, some of which are right signatures, and laid out at
//! will. What is right is computed here once more, from the hash alone, and compared with what the keyring says.

#![no_main]

use arbitrary::Arbitrary;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::{Corpus, fuzz_target};
use pup_extension::{
    signing::{
        ID_HEADER, Keyring, MAX_ID_BYTES, MAX_SIGNATURES, RefusalKind, SIGNATURE_HEADER, Secret,
        TIMESTAMP_HEADER,
    },
    time::Timestamp,
};
use sha2::{Digest, Sha256};

const NOW: u64 = 1_785_196_800_123;

#[derive(Arbitrary, Debug)]
struct Input {
    id: Id,
    timestamp: Time,
    signatures: Vec<Vec<Piece>>,
    /// Further lines of the other headers.
    more: Vec<(Header, Vec<u8>)>,
    body: Vec<u8>,
    current: [u8; 24],
    previous: Option<([u8; 64], i32)>,
}

#[derive(Arbitrary, Debug)]
enum Id {
    Plain(u32),
    Dotted(u32, u64),
    Raw(Vec<u8>),
}

#[derive(Arbitrary, Debug)]
enum Time {
    /// Seconds from now, printed with as many leading zeros.
    Near {
        offset: i16,
        zeros: u8,
    },
    Millis,
    Raw(Vec<u8>),
}

#[derive(Arbitrary, Debug)]
enum Piece {
    Version,
    OtherVersion(u8),
    Comma,
    Space,
    Signed(Key),
    /// A right signature with one bit of its text changed.
    Bent(Key, u16),
    /// Well formed, and of nothing.
    Random([u8; 32]),
    Raw(Vec<u8>),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Key {
    Current,
    Previous,
    Stranger,
}

#[derive(Arbitrary, Debug)]
enum Header {
    Id,
    Timestamp,
}

fuzz_target!(|input: Input| -> Corpus {
    let Some(request) = Request::new(&input) else {
        return Corpus::Reject;
    };
    let body = Bytes::from(input.body.clone());
    let outcome = request
        .keyring
        .verify(&request.headers, body.clone(), millis(NOW));

    match outcome {
        Ok(verified) => {
            // Accepted: so every rule must hold, each checked without the code under test.
            assert_eq!(request.headers.get_all(ID_HEADER).iter().count(), 1);
            assert_eq!(request.headers.get_all(TIMESTAMP_HEADER).iter().count(), 1);
            assert!((1..=MAX_ID_BYTES).contains(&request.id.len()));
            assert!(request.id.iter().all(u8::is_ascii_graphic));
            let seconds: u64 = std::str::from_utf8(&request.timestamp)
                .unwrap()
                .parse()
                .unwrap();
            assert!(request.timestamp.iter().all(u8::is_ascii_digit));
            assert!((NOW / 1_000).abs_diff(seconds) <= 300);

            let text = request.signature_text();
            let found = |signature: &str| text.contains(&format!("v1,{signature}"));
            assert!(
                request.accepted.iter().any(|signature| found(signature)),
                "accepted, but no right signature was sent",
            );

            assert_eq!(verified.id().as_bytes(), request.id);
            assert_eq!(verified.timestamp().as_secs(), seconds);
            assert_eq!(verified.body(), &body);
            assert_eq!(
                verified.accepted_until().as_millis(),
                (seconds + 300) * 1_000 + 999
            );

            // And what was accepted once is accepted to its last millisecond and not longer, with the secret that
            // does not end; and never with one byte more or less, or with the keys of strangers.
            let current = Keyring::new(request.current.clone());
            let forever = if found(&request.accepted[0]) {
                &current
            } else {
                return Corpus::Keep;
            };
            let until = verified.accepted_until().as_millis();
            assert!(
                forever
                    .verify(&request.headers, body.clone(), millis(until))
                    .is_ok()
            );
            let late = forever.verify(&request.headers, body.clone(), millis(until + 1));
            assert_eq!(late.unwrap_err().kind(), RefusalKind::TooOld);
            let longer = [&body[..], b"\0"].concat();
            assert!(
                forever
                    .verify(&request.headers, longer.into(), millis(NOW))
                    .is_err()
            );
            let stranger = Keyring::new(Secret::from_bytes(&[0xa5; 32]).unwrap());
            if !found(&request.strangers) {
                assert!(
                    stranger
                        .verify(&request.headers, body, millis(NOW))
                        .is_err()
                );
            }
        }
        Err(refusal) => {
            // Nothing of what was sent is in the message.
            let message = format!("{refusal} {refusal:?}");
            let stamp = String::from_utf8_lossy(&request.timestamp);
            assert!(stamp.len() < 8 || !message.contains(&*stamp));

            // A plain request is never refused: one clean line of few entries with a right one among them.
            let kind = refusal.kind();
            if kind == RefusalKind::NoMatch || kind == RefusalKind::NoSignature {
                assert!(
                    !request.plainly_signed(),
                    "a right signature was refused: {message}"
                );
            }
        }
    }
    Corpus::Keep
});

struct Request {
    headers: HeaderMap,
    keyring: Keyring,
    current: Secret,
    /// The first value of each.
    id: Vec<u8>,
    timestamp: Vec<u8>,
    /// What counts as right now: under the current secret first, under the previous one if it still counts.
    accepted: Vec<String>,
    strangers: String,
}

impl Request {
    /// `None` when a part can't be a header at all.
    fn new(input: &Input) -> Option<Self> {
        let id = match &input.id {
            Id::Plain(number) => format!("msg_{number}").into_bytes(),
            Id::Dotted(number, tail) => format!("msg_{number}.{tail}").into_bytes(),
            Id::Raw(bytes) => bytes.clone(),
        };
        let timestamp = match &input.timestamp {
            Time::Near { offset, zeros } => {
                let seconds = (NOW / 1_000).saturating_add_signed(i64::from(*offset));
                format!("{}{seconds}", "0".repeat(usize::from(*zeros % 8))).into_bytes()
            }
            Time::Millis => NOW.to_string().into_bytes(),
            Time::Raw(bytes) => bytes.clone(),
        };

        let content = [&id[..], b".", &timestamp, b".", &input.body].concat();
        let key = |key: Key| match (key, &input.previous) {
            (Key::Current, _) => &input.current[..],
            (Key::Previous, Some((bytes, _))) => &bytes[..],
            (Key::Previous, None) | (Key::Stranger, _) => &[0xa5; 32],
        };
        let sign = |which: Key| STANDARD.encode(hmac_sha256(key(which), &content));

        let current = Secret::from_bytes(&input.current).unwrap();
        let mut keyring = Keyring::new(current.clone());
        let mut accepted = vec![sign(Key::Current)];
        if let Some((bytes, until)) = &input.previous {
            let until = NOW.saturating_add_signed(i64::from(*until));
            keyring = keyring.with_previous(Secret::from_bytes(bytes).unwrap(), millis(until));
            if NOW <= until {
                accepted.push(sign(Key::Previous));
            }
        }

        let mut headers = HeaderMap::new();
        headers.append(ID_HEADER, HeaderValue::from_bytes(&id).ok()?);
        headers.append(TIMESTAMP_HEADER, HeaderValue::from_bytes(&timestamp).ok()?);
        for (name, value) in &input.more {
            let name = match name {
                Header::Id => ID_HEADER,
                Header::Timestamp => TIMESTAMP_HEADER,
            };
            headers.append(name, HeaderValue::from_bytes(value).ok()?);
        }
        for line in &input.signatures {
            let mut text = Vec::new();
            for piece in line {
                match piece {
                    Piece::Version => text.extend(b"v1"),
                    Piece::OtherVersion(number) => text.extend(format!("v{number}a").bytes()),
                    Piece::Comma => text.push(b','),
                    Piece::Space => text.push(b' '),
                    Piece::Signed(which) => text.extend(sign(*which).bytes()),
                    Piece::Bent(which, bit) => {
                        let mut signature = sign(*which).into_bytes();
                        let bit = usize::from(*bit) % (signature.len() * 8);
                        signature[bit / 8] ^= 1 << (bit % 8);
                        text.extend(signature);
                    }
                    Piece::Random(bytes) => text.extend(STANDARD.encode(bytes).bytes()),
                    Piece::Raw(bytes) => text.extend(bytes),
                }
            }
            headers.append(SIGNATURE_HEADER, HeaderValue::from_bytes(&text).ok()?);
        }
        let strangers = sign(Key::Stranger);
        Some(Self {
            headers,
            keyring,
            current,
            id,
            timestamp,
            accepted,
            strangers,
        })
    }

    /// The signature headers as one, without what a proxy may have put round its commas.
    fn signature_text(&self) -> String {
        let lines = self.headers.get_all(SIGNATURE_HEADER).iter();
        let lines: Vec<_> = lines
            .map(|line| String::from_utf8_lossy(line.as_bytes()))
            .collect();
        let mut text = lines.join(",").replace('\t', " ");
        for (from, to) in [(" ,", ","), (", ", ","), (",,", ",")] {
            while text.contains(from) {
                text = text.replace(from, to);
            }
        }
        text
    }

    /// Whether the header is, by the letter of the specification, a list of entries with a right one among them.
    fn plainly_signed(&self) -> bool {
        let mut lines = self.headers.get_all(SIGNATURE_HEADER).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return false;
        };
        let Ok(line) = line.to_str() else {
            return false;
        };
        let entries: Vec<_> = line.split(' ').map(|entry| entry.split_once(',')).collect();
        let clean = entries.iter().all(|entry| {
            entry.is_some_and(|(version, signature)| {
                version.starts_with('v') && !signature.is_empty() && !signature.contains(',')
            })
        });
        clean
            && entries.len() <= MAX_SIGNATURES
            && entries.iter().flatten().any(|(version, signature)| {
                *version == "v1" && self.accepted.iter().any(|right| right == signature)
            })
    }
}

/// RFC 2104, for keys of up to 64 bytes.
fn hmac_sha256(key: &[u8], content: &[u8]) -> [u8; 32] {
    let pad = |byte: u8| {
        let mut block = [byte; 64];
        block.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(content)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

fn millis(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}
