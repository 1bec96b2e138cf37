//! Two secrets, and the moment from which there is one.

use std::time::Duration;

use super::*;

const UNTIL: Timestamp = Timestamp::from_millis(1_785_197_400_000);

fn rotating() -> Keyring {
    Keyring::new(secret(2)).with_previous(secret(1), UNTIL)
}

fn kind_at(keyring: &Keyring, headers: &HeaderMap, now: Timestamp) -> Option<RefusalKind> {
    keyring
        .verify(headers, Bytes::new(), now)
        .err()
        .map(|refusal| refusal.kind())
}

#[test]
fn both_secrets_are_accepted_during_a_rotation_and_no_third() {
    for (byte, expected) in [(1, None), (2, None), (3, Some(RefusalKind::NoMatch))] {
        let headers = signed(&secret(byte), "msg_1", NOW, b"");
        assert_eq!(
            kind_at(&rotating(), &headers, NOW),
            expected,
            "secret {byte}"
        );
    }
}

#[test]
fn the_previous_secret_ends_after_its_last_millisecond() {
    let before = Timestamp::from_millis(UNTIL.as_millis() - 1);
    let after = Timestamp::from_millis(UNTIL.as_millis() + 1);
    let old = signed(&secret(1), "msg_1", UNTIL, b"");
    let new = signed(&secret(2), "msg_1", UNTIL, b"");
    for (now, refused) in [
        (before, None),
        (UNTIL, None),
        (after, Some(RefusalKind::NoMatch)),
    ] {
        assert_eq!(
            kind_at(&rotating(), &old, now),
            refused,
            "the old secret at {now:?}"
        );
        assert_eq!(
            kind_at(&rotating(), &new, now),
            None,
            "the new secret at {now:?}"
        );
    }
}

#[test]
fn an_earlier_timestamp_does_not_prolong_the_previous_secret() {
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    let after = UNTIL + Duration::from_secs(1);
    let early = signed(
        &secret(1),
        "msg_1",
        Timestamp::from_secs(UNTIL.as_secs() - 60),
        b"",
    );
    assert_eq!(kind_at(&rotating(), &headers, NOW), None);
    assert_eq!(
        kind_at(&rotating(), &early, after),
        Some(RefusalKind::NoMatch)
    );
}

#[test]
fn a_message_signed_with_both_secrets_verifies_with_either() {
    let (old, new) = (
        signed(&secret(1), "m", NOW, b""),
        signed(&secret(2), "m", NOW, b""),
    );
    for lines in [
        vec![format!("{} {}", signature(&old), signature(&new))],
        vec![format!("{} {}", signature(&new), signature(&old))],
        vec![signature(&new), signature(&old)],
    ] {
        let both = with(&old, SIGNATURE_HEADER, &lines);
        for byte in [1, 2] {
            assert_eq!(kind_at(&Keyring::new(secret(byte)), &both, NOW), None);
        }
        assert_eq!(
            kind_at(&Keyring::new(secret(3)), &both, NOW),
            Some(RefusalKind::NoMatch)
        );
    }
}

#[test]
fn another_previous_secret_replaces_the_first() {
    let keyring = rotating().with_previous(secret(3), UNTIL);
    for (byte, expected) in [(1, Some(RefusalKind::NoMatch)), (2, None), (3, None)] {
        let headers = signed(&secret(byte), "msg_1", NOW, b"");
        assert_eq!(kind_at(&keyring, &headers, NOW), expected, "secret {byte}");
    }
}
