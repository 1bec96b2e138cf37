//! What the specification and its reference libraries' own tests state as facts.

use std::time::Duration;

use super::*;

/// The secret, id, second, body and signature of the reference libraries' tests.
const VECTORS: [(&str, &str, u64, &str, &str); 4] = [
    // Go, Python, JavaScript, PHP, Ruby, Java, C#.
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        r#"{"test": 2432232314}"#,
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
    // Rust.
    (
        "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
        1_649_367_553,
        r#"{"email":"test@example.com","username":"test_user"}"#,
        "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
    ),
    // The specification's two contents. It publishes no secret for them; these signatures are what Python's `hmac`
    // makes of the contents under the first secret above.
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
        1_674_087_231,
        r#"{"type":"contact.created","timestamp":"2022-11-03T20:26:10.344522Z","data":{"id":"1f81eb52-5198-4599-803e-771906343485"}}"#,
        "v1,ARw42xaAApl/nxRo+iPGYwSaMQaOwMo2eyH5JBRA+bQ=",
    ),
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
        1_674_087_231,
        "{\n  \"type\": \"contact.created\",\n  \"timestamp\": \"2022-11-03T20:26:10.344522Z\",\n  \"data\": {\n    \"id\": \"1f81eb52-5198-4599-803e-771906343485\"\n  }\n}",
        "v1,4HuEea/oaF3+OtFX8BvqJIZzpuCJaLMrICSrGHc6fhg=",
    ),
];

fn headers(id: &str, second: u64, signature: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ID_HEADER, id.parse().unwrap());
    headers.insert(TIMESTAMP_HEADER, second.into());
    headers.insert(SIGNATURE_HEADER, signature.parse().unwrap());
    headers
}

#[test]
fn every_vector_is_signed_alike_and_verifies() {
    for (text, id, second, body, signature) in VECTORS {
        let secret: Secret = text.parse().unwrap();
        let at = Timestamp::from_secs(second);
        let signed = secret.sign(id, at, body.as_bytes()).unwrap();
        assert_eq!(signed.signature(), signature);
        assert_eq!(signed.timestamp(), second.to_string().as_str());
        assert_eq!(signed.id(), id);

        let bare: Secret = text.strip_prefix("whsec_").unwrap().parse().unwrap();
        for secret in [secret, bare] {
            let headers = headers(id, second, signature);
            let verified = Keyring::new(secret)
                .verify(&headers, Bytes::from(body), at)
                .unwrap();
            assert_eq!(verified.id(), id);
        }
    }
}

#[test]
fn the_specifications_header_is_read_and_its_asymmetric_entry_ignored() {
    let (text, id, second, body, signature) = VECTORS[2];
    let example = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
    let keyring = Keyring::new(text.parse().unwrap());
    let verify = |signature: &str| {
        let at = Timestamp::from_secs(second);
        keyring.verify(&headers(id, second, signature), Bytes::from(body), at)
    };
    // Well formed, but under a secret that nobody knows.
    assert_eq!(verify(example).unwrap_err().kind(), RefusalKind::NoMatch);
    assert!(verify(&format!("{example} {signature}")).is_ok());
    let (_, asymmetric) = example.split_once(' ').unwrap();
    assert_eq!(
        verify(asymmetric).unwrap_err().kind(),
        RefusalKind::NoSignature
    );
}

#[test]
fn several_signatures_of_which_one_is_ours() {
    let (text, id, second, body, signature) = VECTORS[0];
    let keyring = Keyring::new(text.parse().unwrap());
    let verify = |signature: &str| {
        let at = Timestamp::from_secs(second);
        keyring.verify(&headers(id, second, signature), Bytes::from(body), at)
    };
    let other = "Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";
    assert!(verify(&format!("v1,{other} v2,{other} {signature} v1,{other}")).is_ok());
    let foreign = format!("v1,{other} v2,{other} v1,{other}");
    assert_eq!(verify(&foreign).unwrap_err().kind(), RefusalKind::NoMatch);
}

#[test]
fn wrong_and_partial_signatures() {
    let (text, id, second, body, signature) = VECTORS[0];
    let keyring = Keyring::new(text.parse().unwrap());
    for (signature, kind) in [
        (
            "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=",
            RefusalKind::NoMatch,
        ),
        (
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=",
            RefusalKind::NoMatch,
        ),
        (
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLawdd",
            RefusalKind::NoSignature,
        ),
        ("v1,dawfeoifkpqwoekfpqoekf", RefusalKind::NoSignature),
        ("v1,", RefusalKind::NoSignature),
        ("v1,g0hM9", RefusalKind::NoSignature),
        (
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            RefusalKind::NoSignature,
        ),
        (&signature.replace("v1", "v2"), RefusalKind::NoSignature),
        ("invalid signature", RefusalKind::NoSignature),
    ] {
        let at = Timestamp::from_secs(second);
        let refused = keyring.verify(&headers(id, second, signature), Bytes::from(body), at);
        assert_eq!(refused.unwrap_err().kind(), kind, "{signature}");
    }
}

#[test]
fn a_second_past_the_tolerance_on_either_side() {
    let (text, id, second, body, signature) = VECTORS[0];
    let keyring = Keyring::new(text.parse().unwrap());
    let verify = |at: Timestamp| keyring.verify(&headers(id, second, signature), body.into(), at);
    let late = Timestamp::from_secs(second) + super::super::TOLERANCE + Duration::from_secs(1);
    assert_eq!(verify(late).unwrap_err().kind(), RefusalKind::TooOld);
    let early = Timestamp::from_secs(second - 301);
    assert_eq!(verify(early).unwrap_err().kind(), RefusalKind::TooFarAhead);
}

#[test]
fn timestamps_that_are_none() {
    let (text, id, second, body, signature) = VECTORS[0];
    let keyring = Keyring::new(text.parse().unwrap());
    for timestamp in ["hello", "1614265330.0", "-1614265330"] {
        let mut headers = headers(id, second, signature);
        headers.insert(TIMESTAMP_HEADER, timestamp.parse().unwrap());
        let refused = keyring.verify(&headers, Bytes::from(body), Timestamp::from_secs(second));
        assert_eq!(
            refused.unwrap_err().kind(),
            RefusalKind::MalformedTimestamp,
            "{timestamp}"
        );
    }
}

#[test]
fn an_empty_body_is_a_body() {
    let keyring = Keyring::new(VECTORS[0].0.parse().unwrap());
    let headers = signed(&keyring_secret(), VECTORS[0].1, NOW, b"");
    assert!(verify(&keyring, &headers, b"").is_ok());
    assert_eq!(refusal(&keyring, &headers, b" "), RefusalKind::NoMatch);
}

#[test]
fn unpadded_secrets_whose_last_bits_say_nothing() {
    // From the Python library's tests, which pad `…Br` to 25 bytes, whatever its last four bits are.
    let unpadded: Secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr".parse().unwrap();
    let padded: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr=="
        .parse()
        .unwrap();
    assert_eq!(unpadded.reveal(), padded.reveal());
    assert_eq!(
        unpadded.reveal().as_str(),
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBg=="
    );
    // Theirs of 23 bytes is below the specification's minimum, which they don't check.
    assert!("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS".parse::<Secret>().is_err());
}

fn keyring_secret() -> Secret {
    VECTORS[0].0.parse().unwrap()
}
