//! The window, to the millisecond.

use super::*;
use crate::signing::TOLERANCE;

fn kind_at(signed_at: u64, now_millis: u64) -> Option<RefusalKind> {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", Timestamp::from_secs(signed_at), b"");
    let now = Timestamp::from_millis(now_millis);
    keyring
        .verify(&headers, Bytes::new(), now)
        .err()
        .map(|refusal| refusal.kind())
}

#[test]
fn five_minutes_on_both_sides_inclusive_in_whole_seconds() {
    assert_eq!(TOLERANCE.as_secs(), 300);
    assert_eq!(kind_at(1_000, 1_300_000), None);
    assert_eq!(kind_at(1_000, 1_300_999), None);
    assert_eq!(kind_at(1_000, 1_301_000), Some(RefusalKind::TooOld));
    assert_eq!(kind_at(1_000, 700_000), None);
    assert_eq!(kind_at(1_000, 700_999), None);
    assert_eq!(kind_at(1_000, 699_999), Some(RefusalKind::TooFarAhead));
}

#[test]
fn the_ends_of_time_do_not_wrap() {
    assert_eq!(kind_at(0, 0), None);
    assert_eq!(kind_at(999_999_999_999, 0), Some(RefusalKind::TooFarAhead));
    assert_eq!(kind_at(0, u64::MAX), Some(RefusalKind::TooOld));
    assert_eq!(
        kind_at(999_999_999_999, u64::MAX),
        Some(RefusalKind::TooOld)
    );
}

#[test]
fn accepted_until_is_the_last_millisecond() {
    let keyring = Keyring::new(secret(1));
    let headers = signed(&secret(1), "msg_1", NOW, b"");
    let verify_at = |millis| keyring.verify(&headers, Bytes::new(), Timestamp::from_millis(millis));
    let until = verify(&keyring, &headers, b"")
        .unwrap()
        .accepted_until()
        .as_millis();
    assert_eq!(until, (NOW.as_secs() + 300) * 1_000 + 999);
    assert_eq!(
        verify_at(until).unwrap().accepted_until().as_millis(),
        until
    );
    assert_eq!(
        verify_at(until + 1).unwrap_err().kind(),
        RefusalKind::TooOld
    );
}
