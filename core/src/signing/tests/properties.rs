//! What holds for every message.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

/// Every way to change one bit.
fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

fn config(cases: u32) -> ProptestConfig {
    // Nothing is kept in files, so that the tests run where there are none.
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn any_id() -> impl Strategy<Value = String> {
    "[!-~]{1,40}".prop_filter("an id that can be signed", |id| {
        secret(1).sign(id, NOW, b"").is_ok()
    })
}

/// A signature header's entries, one of them ours.
fn entries() -> impl Strategy<Value = (Vec<(String, String)>, usize)> {
    let foreign = (
        select(vec!["v1", "v1a", "v2", "v10"]),
        vec(any::<u8>(), 1..70),
    )
        .prop_map(|(version, bytes)| (version.to_owned(), STANDARD.encode(bytes)));
    vec(foreign, 0..15).prop_flat_map(|foreign| {
        let places = 0..=foreign.len();
        (Just(foreign), places)
    })
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn every_single_bit_change_is_refused(
        id in any_id(),
        body in vec(any::<u8>(), 0..48),
        key in vec(any::<u8>(), 24..=64),
    ) {
        let secret = Secret::from_bytes(&key).unwrap();
        let keyring = Keyring::new(secret.clone());
        let headers = signed(&secret, &id, NOW, &body);
        prop_assert!(verify(&keyring, &headers, &body).is_ok());

        for flipped in flips(&body) {
            prop_assert_eq!(refusal(&keyring, &headers, &flipped), RefusalKind::NoMatch);
        }
        for name in [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER] {
            for flipped in flips(headers.get(name).unwrap().as_bytes()) {
                // What can't be a header never arrives.
                let Ok(value) = HeaderValue::from_bytes(&flipped) else { continue };
                let mut headers = headers.clone();
                headers.insert(name, value);
                prop_assert!(verify(&keyring, &headers, &body).is_err(), "{}: {:?}", name, flipped);
            }
        }
        for flipped in flips(&key) {
            let other = Keyring::new(Secret::from_bytes(&flipped).unwrap());
            prop_assert_eq!(refusal(&other, &headers, &body), RefusalKind::NoMatch);
        }
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn what_is_signed_verifies(
        id in any_id(),
        body in vec(any::<u8>(), 0..2_000),
        key in vec(any::<u8>(), 24..=64),
        signed_at in 0..1_000_000_000_000_u64,
        age in -300_000..=300_999_i64,
    ) {
        let secret = Secret::from_bytes(&key).unwrap();
        let headers = signed(&secret, &id, Timestamp::from_secs(signed_at), &body);
        let now = Timestamp::from_millis((signed_at * 1_000).saturating_add_signed(age));
        let again: Secret = secret.reveal().parse().unwrap();
        let verified = Keyring::new(again).verify(&headers, body.clone().into(), now).unwrap();
        prop_assert_eq!(verified.id(), id);
        prop_assert_eq!(verified.timestamp().as_secs(), signed_at);
        prop_assert_eq!(verified.body().as_ref(), body);
    }

    #[test]
    fn the_window_is_five_minutes_of_whole_seconds(
        signed_at in 0..1_000_000_000_000_u64,
        offset in -400_000..=400_000_i64,
    ) {
        let headers = signed(&secret(1), "msg_1", Timestamp::from_secs(signed_at), b"");
        let now = Timestamp::from_millis((signed_at * 1_000).saturating_add_signed(offset));
        let outcome = Keyring::new(secret(1)).verify(&headers, Bytes::new(), now);
        prop_assert_eq!(outcome.is_ok(), now.as_secs().abs_diff(signed_at) <= 300);
        if let Ok(verified) = outcome {
            prop_assert!(now <= verified.accepted_until());
        }
    }

    #[test]
    fn a_proxy_may_lay_out_the_entries_anew(
        (foreign, place) in entries(),
        layout in 0..6_usize,
    ) {
        let headers = signed(&secret(1), "msg_1", NOW, b"body");
        let own = signature(&headers);
        let mut entries: Vec<String> =
            foreign.iter().map(|(version, text)| format!("{version},{text}")).collect();
        entries.insert(place, own);
        let lines: Vec<String> = match layout {
            0 => vec![entries.join(" ")],
            1 => entries,
            2 => vec![entries.join(", ")],
            3 => vec![entries.join(",")],
            // Split at every comma, the whole header and line by line; then combined again.
            4 => entries.join(" ").split(',').map(str::to_owned).collect(),
            _ => vec![entries.join(" ").replace(',', ", ")],
        };
        let laid_out = with(&headers, SIGNATURE_HEADER, &lines);
        prop_assert!(verify(&Keyring::new(secret(1)), &laid_out, b"body").is_ok(), "{lines:?}");
        prop_assert!(verify(&Keyring::new(secret(2)), &laid_out, b"body").is_err(), "{lines:?}");
    }

    #[test]
    fn random_headers_never_panic_and_never_verify(
        ids in vec(header(), 0..3),
        timestamps in vec(header(), 0..3),
        signatures in vec(header(), 0..20),
        body in vec(any::<u8>(), 0..20),
        now in any::<u64>(),
    ) {
        let mut headers = HeaderMap::new();
        for (name, values) in
            [(ID_HEADER, ids), (TIMESTAMP_HEADER, timestamps), (SIGNATURE_HEADER, signatures)]
        {
            for value in values {
                headers.append(name, value);
            }
        }
        let keyring = Keyring::new(secret(1)).with_previous(secret(2), NOW);
        for now in [NOW, Timestamp::from_millis(now)] {
            prop_assert!(keyring.verify(&headers, body.clone().into(), now).is_err());
        }
    }

    #[test]
    fn random_text_is_no_secret_or_one_of_24_to_64_bytes(
        text in prop_oneof![".{0,120}", "(v1,)?(whsec_)?[A-Za-z0-9+/]{0,100}={0,3}"],
    ) {
        if let Ok(secret) = text.parse::<Secret>() {
            let revealed = secret.reveal();
            let again: Secret = revealed.parse().unwrap();
            prop_assert!((38..=94).contains(&revealed.len()));
            prop_assert_eq!(again.reveal(), revealed);
        }
    }

    #[test]
    fn no_error_and_no_debug_text_holds_any_of_the_secret(
        key in vec(any::<u8>(), 0..100),
        prefix in select(vec!["", "whsec_", "v1,whsec_", "v2,", "whsk_", "WHSEC_", "\""]),
        blemish in select(vec!["", " ", "-", "_", "\"", "\u{e4}", "=", "\0"]),
        place in any::<proptest::sample::Index>(),
    ) {
        let mut encoded = STANDARD.encode(&key);
        let parts: Vec<String> =
            encoded.as_bytes().windows(6).map(|part| String::from_utf8_lossy(part).into()).collect();
        encoded.insert_str(place.index(encoded.len() + 1), blemish);
        let shown = match format!("{prefix}{encoded}").parse::<Secret>() {
            Ok(secret) => format!("{secret:?} {:?}", Keyring::new(secret.clone())),
            Err(error) => format!("{error} {error:?} {:?}", error.kind()),
        };
        for part in parts {
            prop_assert!(!shown.contains(&part), "{shown}");
        }
    }
}

/// Anything that can be a header's value, and often nearly what is expected.
fn header() -> impl Strategy<Value = HeaderValue> {
    let piece = prop_oneof![
        Just(Vec::from(b"v1")),
        Just(Vec::from(b",")),
        Just(Vec::from(b" ")),
        Just(NOW.as_secs().to_string().into_bytes()),
        vec(any::<u8>(), 32).prop_map(|bytes| STANDARD.encode(bytes).into_bytes()),
        vec(any::<u8>(), 0..300),
        vec(b' '..=b'~', 0..50),
    ];
    vec(piece, 0..8).prop_filter_map("what can be a header", |pieces| {
        let bytes: Vec<u8> = pieces
            .concat()
            .into_iter()
            .filter(|byte| *byte >= b' ' && *byte != 0x7f)
            .collect();
        HeaderValue::from_bytes(&bytes).ok()
    })
}
