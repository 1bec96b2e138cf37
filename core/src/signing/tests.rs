//! The whole of signing, from outside: published vectors, properties, rotation, and what is never shown.

mod properties;
mod rotation;
mod vectors;
mod window;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::{
    ID_HEADER, Keyring, Refusal, RefusalKind, SIGNATURE_HEADER, Secret, TIMESTAMP_HEADER, Verified,
};
use crate::time::Timestamp;

/// A time with milliseconds in it.
const NOW: Timestamp = Timestamp::from_millis(1_785_196_800_123);

fn secret(byte: u8) -> Secret {
    Secret::from_bytes(&[byte; 32]).unwrap()
}

fn signed(secret: &Secret, id: &str, at: Timestamp, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    secret.sign(id, at, body).unwrap().apply(&mut headers);
    headers
}

fn signature(headers: &HeaderMap) -> String {
    headers
        .get(SIGNATURE_HEADER)
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

/// The headers with one of them replaced by these lines.
fn with<L: AsRef<[u8]>>(headers: &HeaderMap, name: &'static str, lines: &[L]) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(name);
    for line in lines {
        headers.append(name, HeaderValue::from_bytes(line.as_ref()).unwrap());
    }
    headers
}

fn verify(keyring: &Keyring, headers: &HeaderMap, body: &[u8]) -> Result<Verified, Refusal> {
    keyring.verify(headers, Bytes::copy_from_slice(body), NOW)
}

fn refusal(keyring: &Keyring, headers: &HeaderMap, body: &[u8]) -> RefusalKind {
    verify(keyring, headers, body).unwrap_err().kind()
}

#[test]
fn what_was_verified_is_what_was_sent() {
    let keyring = Keyring::new(secret(1));
    let body = Bytes::from_static(b"{\"a\":\"\xff\xfe\0\"}");
    let headers = signed(&secret(1), "msg_1", NOW, &body);
    let verified = keyring.verify(&headers, body.clone(), NOW).unwrap();
    assert_eq!(verified.id(), "msg_1");
    assert_eq!(verified.timestamp(), Timestamp::from_secs(NOW.as_secs()));
    assert_eq!(verified.body(), &body);
    assert_eq!(
        verified.into_body().as_ptr(),
        body.as_ptr(),
        "the body is not copied"
    );
}

#[test]
fn each_header_is_needed() {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    for name in [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER] {
        let error = verify(&keyring, &with::<&str>(&headers, name, &[]), b"").unwrap_err();
        assert_eq!(error.kind(), RefusalKind::MissingHeader);
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(
        refusal(&keyring, &HeaderMap::new(), b""),
        RefusalKind::MissingHeader
    );
}

#[test]
fn the_id_and_the_timestamp_come_exactly_once() {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    for name in [ID_HEADER, TIMESTAMP_HEADER] {
        let value = headers.get(name).unwrap();
        // The same value twice is still two.
        let error = verify(&keyring, &with(&headers, name, &[value, value]), b"").unwrap_err();
        assert_eq!(error.kind(), RefusalKind::DuplicateHeader);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_malformed_header_is_refused_by_its_own_name() {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    for (name, value, kind, message) in [
        (
            ID_HEADER,
            "",
            RefusalKind::MalformedId,
            "webhook-id must have 1 to 256 characters",
        ),
        (ID_HEADER, "a b", RefusalKind::MalformedId, "visible ASCII"),
        (
            ID_HEADER,
            "a.1785196800",
            RefusalKind::MalformedId,
            "pass for the timestamp",
        ),
        (
            TIMESTAMP_HEADER,
            "",
            RefusalKind::MalformedTimestamp,
            "digits only",
        ),
        (
            TIMESTAMP_HEADER,
            "+1785196800",
            RefusalKind::MalformedTimestamp,
            "digits only",
        ),
        (
            TIMESTAMP_HEADER,
            "1785196800123",
            RefusalKind::MalformedTimestamp,
            "not milliseconds",
        ),
        (
            SIGNATURE_HEADER,
            "",
            RefusalKind::NoSignature,
            "no acceptable entry",
        ),
        (
            SIGNATURE_HEADER,
            "v1a,AAAA",
            RefusalKind::NoSignature,
            "no acceptable entry",
        ),
        (
            SIGNATURE_HEADER,
            &"x ".repeat(17),
            RefusalKind::TooManySignatures,
            "more than 16 entries",
        ),
    ] {
        let error = verify(&keyring, &with(&headers, name, &[value]), b"").unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {value}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn the_timestamp_is_signed_as_it_stands_in_the_header() {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    let padded = with(
        &headers,
        TIMESTAMP_HEADER,
        &[format!("00{}", NOW.as_secs())],
    );
    assert_eq!(refusal(&keyring, &padded, b""), RefusalKind::NoMatch);
}

#[test]
fn a_signed_content_cannot_be_cut_elsewhere() {
    let keyring = Keyring::new(secret(1));
    let seconds = NOW.as_secs();
    // Signed as ("msg_1", now, "<now>.{}"): the same bytes as ("msg_1.<now>", now, "{}").
    let headers = signed(
        &secret(1),
        "msg_1",
        NOW,
        format!("{seconds}.{{}}").as_bytes(),
    );
    let cut = with(&headers, ID_HEADER, &[format!("msg_1.{seconds}")]);
    assert_eq!(refusal(&keyring, &cut, b"{}"), RefusalKind::MalformedId);
}

#[test]
fn nothing_shows_a_secret_a_body_or_what_was_sent() {
    let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let secret: Secret = text.parse().unwrap();
    let keyring = Keyring::new(secret.clone()).with_previous(secret.clone(), NOW);
    assert_eq!(format!("{secret:?}"), "Secret(..)");
    assert_eq!(
        format!("{keyring:?}"),
        "Keyring { previous_until: Some(1785196800.123), .. }"
    );

    let headers = signed(&secret, "msg_1", NOW, b"private");
    let verified = verify(&keyring, &headers, b"private").unwrap();
    assert_eq!(
        format!("{verified:?}"),
        "Verified { id: \"msg_1\", timestamp: 1785196800.000, body: 7 B }"
    );
}
