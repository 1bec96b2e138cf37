//! Values and revisions come back as they were put.

use bytes::Bytes;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, name, text},
};
use crate::store::{Change, Commit, Expect, MAX_VALUE_BYTES, Outcome, Revision, Store, Value};

pub(super) async fn bytes_of_every_kind_come_back<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let all: Vec<u8> = (0..=u8::MAX).collect();
    for (bytes, number) in [
        all.as_slice(),
        &[],
        &[0],
        &[0; 1_000],
        &[0xff; 3],
        b"\xf0\x28\x8c\x28",
        b"\0text\0",
        b"'); DROP TABLE item; --",
        "\u{1F36A}".as_bytes(),
        b"123",
    ]
    .iter()
    .zip(0..)
    {
        let item = name(&format!("item{number}"))?;
        let value = Value::Bytes(Bytes::copy_from_slice(bytes));
        space.put(&item, value.clone()).await?;
        let read = space.item(&item).await?.value;
        ensure!(read == value, "{bytes:?} came back as something else");
        let listed = space.list_at(item.as_str(), 1, NOW).await?;
        ensure!(
            matches!(listed.as_slice(), [(_, item)] if item.value == value),
            "{bytes:?} is listed as something else"
        );
    }
    Ok(())
}

pub(super) async fn empty_bytes_are_not_absent_and_not_a_number<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let put = Change::put(item.clone(), Expect::Absent, text(""), None);
    let revision = space.apply([put.clone()]).await?;
    ensure_eq!(space.item(&item).await?.value, text(""), "what was put");
    space.conflict([put]).await?;
    space.conflict([Change::add(item.clone(), 1)]).await?;
    space
        .apply([Change::check(item.clone(), Expect::At(revision))])
        .await?;
    ensure_eq!(space.names("").await?, [item], "what is listed");
    Ok(())
}

pub(super) async fn a_value_of_256_kilobytes_comes_back<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("large")?;
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(MAX_VALUE_BYTES).collect();
    let value = Value::Bytes(Bytes::from(bytes));
    let put = Change::put(item.clone(), Expect::Absent, value.clone(), None);
    space.apply([put.clone()]).await?;
    let read = space.item(&item).await?.value;
    ensure!(read == value, "it came back as something else");
    let items = space.conflict([put]).await?;
    let shown = items.into_iter().find_map(|in_the_way| in_the_way.item);
    ensure!(
        shown.is_some_and(|item| item.value == value),
        "it is in the way as something else"
    );
    Ok(())
}

pub(super) async fn numbers_come_back_exactly<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for number in [
        0,
        1,
        -1,
        255,
        i64::from(i32::MAX) + 1,
        i64::from(i32::MIN) - 1,
        (1 << 53) - 1,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
        i64::MAX - 1,
        i64::MAX,
        i64::MIN + 1,
        i64::MIN,
    ] {
        let item = name(&number.to_string())?;
        space.put(&item, Value::Number(number)).await?;
        ensure_eq!(space.number(&item).await?, number, "{number}");
        let listed = space.list_at(item.as_str(), 1, NOW).await?;
        ensure!(
            matches!(listed.as_slice(), [(_, item)] if item.value == Value::Number(number)),
            "{number} is listed as something else"
        );
    }
    Ok(())
}

pub(super) async fn revisions_come_back_to_the_last_bit<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    // The ends of the range and of what a floating point number holds; no more than one item has each.
    for bits in [
        0,
        1,
        0x7f,
        (1 << 53) + 1,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) + 1,
        1 << 127,
        (1 << 127) - 1,
        u128::MAX - 1,
        u128::MAX,
        0x0123_4567_89ab_cdef_fedc_ba98_7654_3210,
        0x00ff_0000_0000_0000_0000_0000_0000_ff00,
    ] {
        let revision = Revision::new(bits);
        let item = name(&revision.to_string())?;
        let commit =
            Commit::new(revision, space.partition().clone()).with(Change::add(item.clone(), 1))?;
        let outcome = space.send(&commit, NOW).await?;
        ensure_eq!(outcome, Outcome::Applied, "{revision}");
        ensure_eq!(space.item(&item).await?.revision, revision, "as it is read");
        for other in [bits ^ 1, bits ^ (1 << 64), bits ^ (1 << 127)] {
            let check = Change::check(item.clone(), Expect::At(Revision::new(other)));
            let items = space.conflict([check]).await?;
            ensure!(
                matches!(
                    items.as_slice(),
                    [in_the_way] if in_the_way.item.as_ref().is_some_and(|item| item.revision == revision)
                ),
                "as it is in the way: {items:?}"
            );
        }
        space
            .apply([Change::check(item, Expect::At(revision))])
            .await?;
    }
    Ok(())
}
