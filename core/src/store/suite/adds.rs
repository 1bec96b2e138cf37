//! Counters.

use std::time::Duration;

use futures_util::future::try_join_all;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, name, text, yield_now},
};
use crate::store::{Change, Expect, InTheWay, Item, Store, Value};

pub(super) async fn an_add_counts_from_zero<S: Store>(harness: &Harness<S>) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    for (delta, expected) in [(3, 3), (0, 3), (4, 7)] {
        space.apply([Change::add(count.clone(), delta)]).await?;
        ensure_eq!(
            space.number(&count).await?,
            expected,
            "after adding {delta}"
        );
    }
    // An add of nothing makes the item, too.
    space.apply([Change::add(name("zero")?, 0)]).await?;
    ensure_eq!(space.number(&name("zero")?).await?, 0, "after adding 0");
    Ok(())
}

pub(super) async fn an_add_takes_a_negative_number<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    for (delta, expected) in [(-5, -5), (2, -3), (-1, -4), (10, 6)] {
        space.apply([Change::add(count.clone(), delta)]).await?;
        ensure_eq!(
            space.number(&count).await?,
            expected,
            "after adding {delta}"
        );
    }
    Ok(())
}

pub(super) async fn an_add_saturates_at_both_ends<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for (from, delta, expected) in [
        (i64::MAX - 1, 1, i64::MAX),
        (i64::MAX, 1, i64::MAX),
        (i64::MAX, i64::MAX, i64::MAX),
        (1, i64::MAX, i64::MAX),
        (i64::MIN + 1, -1, i64::MIN),
        (i64::MIN, -1, i64::MIN),
        (i64::MIN, i64::MIN, i64::MIN),
        (-1, i64::MIN, i64::MIN),
        (i64::MAX, i64::MIN, -1),
        (0, i64::MIN, i64::MIN),
        (0, i64::MAX, i64::MAX),
    ] {
        let count = name("count")?;
        space.put(&count, Value::Number(from)).await?;
        space.apply([Change::add(count.clone(), delta)]).await?;
        ensure_eq!(space.number(&count).await?, expected, "{from} and {delta}");
    }
    for delta in [i64::MIN, i64::MAX] {
        let count = name(&format!("from nothing {delta}"))?;
        space.apply([Change::add(count.clone(), delta)]).await?;
        ensure_eq!(space.number(&count).await?, delta, "{delta} from nothing");
    }
    Ok(())
}

pub(super) async fn an_add_is_exact_beyond_floating_point<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    let start = (1 << 53) - 2;
    space.put(&count, Value::Number(start)).await?;
    for step in 1..=6 {
        space.apply([Change::add(count.clone(), 1)]).await?;
        ensure_eq!(space.number(&count).await?, start + step, "step {step}");
    }
    space
        .apply([Change::add(count.clone(), (1 << 62) + 1)])
        .await?;
    let expected = start + 6 + (1 << 62) + 1;
    ensure_eq!(space.number(&count).await?, expected, "a large step");
    Ok(())
}

pub(super) async fn an_add_gives_a_new_revision_and_no_expiry<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    let expires_at = Some(NOW + Duration::from_secs(60));
    let put = Change::put(count.clone(), Expect::Any, Value::Number(1), expires_at);
    let mut last = space.apply([put]).await?;
    for delta in [1, 0] {
        let revision = space.apply([Change::add(count.clone(), delta)]).await?;
        let expected = Item {
            value: Value::Number(2),
            revision,
            expires_at: None,
        };
        ensure_eq!(space.item(&count).await?, expected, "after adding {delta}");
        let stale = Change::check(count.clone(), Expect::At(last));
        space.conflict([stale]).await?;
        last = revision;
    }
    Ok(())
}

pub(super) async fn bytes_are_in_the_way_of_an_add<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    // Bytes that read like a number are bytes all the same.
    for bytes in ["", "7", "popcorn", "\0\0\0\0\0\0\0\u{1}"] {
        let count = name("count")?;
        space.put(&count, text(bytes)).await?;
        let there = space.get(&count).await?;
        let items = space.conflict([Change::add(count.clone(), 1)]).await?;
        let in_the_way = InTheWay {
            name: count.clone(),
            item: there.clone(),
        };
        ensure_eq!(items, [in_the_way], "in the way");
        ensure_eq!(space.get(&count).await?, there, "after the conflict");
    }
    Ok(())
}

pub(super) async fn an_add_with_an_expectation_keeps_it<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    let add = |expect| Change {
        expect,
        ..Change::add(count.clone(), 1)
    };
    let first = space.apply([add(Expect::Absent)]).await?;
    let second = space.apply([add(Expect::At(first))]).await?;
    space.conflict([add(Expect::Absent)]).await?;
    space.conflict([add(Expect::At(first))]).await?;
    let item = space.item(&count).await?;
    ensure_eq!(item.value, Value::Number(2), "after two that were met");
    ensure_eq!(item.revision, second, "after two that were met");
    Ok(())
}

pub(super) async fn adds_at_once_lose_nothing_and_never_conflict<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    let writers = (0..64_usize).map(|writer| {
        let space = space.through_either(writer);
        let count = count.clone();
        async move {
            for _ in 0..8 {
                // Fails the case on a conflict.
                space.apply([Change::add(count.clone(), 3)]).await?;
                yield_now().await;
            }
            Ok::<(), Failure>(())
        }
    });
    try_join_all(writers).await?;
    ensure_eq!(space.number(&count).await?, 64 * 8 * 3, "after 64 writers");
    Ok(())
}

pub(super) async fn adds_beside_other_changes_apply_with_them<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (count, entry) = (name("count")?, name("entry")?);
    let changes = || {
        [
            Change::put(entry.clone(), Expect::Absent, text("1"), None),
            Change::add(count.clone(), 1),
        ]
    };
    space.apply(changes()).await?;
    let items = space.conflict(changes()).await?;
    ensure!(
        items.iter().all(|in_the_way| in_the_way.name == entry) && items.len() == 1,
        "the entry alone is in the way: {items:?}"
    );
    ensure_eq!(space.number(&count).await?, 1, "after one that was applied");
    Ok(())
}
