//! Items that count as absent from a time on.

use std::{slice, time::Duration};

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, name, names, text},
};
use crate::{
    store::{Change, Expect, InTheWay, Item, MAX_EXPIRY, Store, Value},
    time::Timestamp,
};

const MILLISECOND: Duration = Duration::from_millis(1);

fn before(time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp::EPOCH + time.since(Timestamp::EPOCH).saturating_sub(duration)
}

pub(super) async fn an_item_expires_at_its_millisecond<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    // On a whole second, right before and right after one.
    for millis in [1_000, 999, 1_001, 1] {
        let item = name(&format!("after {millis}"))?;
        let at = NOW + Duration::from_millis(millis);
        let put = Change::put(item.clone(), Expect::Any, text("1"), Some(at));
        space.apply([put]).await?;
        for (time, there) in [
            (NOW, true),
            (before(at, MILLISECOND), true),
            (at, false),
            (at + MILLISECOND, false),
            (at + Duration::from_secs(1_000_000), false),
        ] {
            let item = space.get_at(&item, time).await?;
            ensure_eq!(item.is_some(), there, "after {millis} ms, at {time:?}");
        }
    }
    Ok(())
}

pub(super) async fn an_expired_item_meets_absent_and_no_revision<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let at = NOW + Duration::from_millis(1_500);
    let put = Change::put(item.clone(), Expect::Any, text("old"), Some(at));
    let revision = space.apply([put]).await?;

    let last = before(at, MILLISECOND);
    let again = |expect| Change::put(item.clone(), expect, text("new"), None);
    let items = space.conflict_at([again(Expect::Absent)], last).await?;
    ensure!(
        matches!(items.as_slice(), [in_the_way] if in_the_way.item.is_some()),
        "it is in the way to the last millisecond: {items:?}"
    );
    let check = Change::check(item.clone(), Expect::At(revision));
    space.apply_at([check.clone()], last).await?;

    let absent = InTheWay {
        name: item.clone(),
        item: None,
    };
    let items = space.conflict_at([check], at).await?;
    ensure_eq!(
        items,
        slice::from_ref(&absent),
        "an expired item shows as absent"
    );
    let items = space.conflict_at([again(Expect::At(revision))], at).await?;
    ensure_eq!(items, [absent], "an expired item shows as absent");
    let new = space.apply_at([again(Expect::Absent)], at).await?;
    let expected = Item {
        value: text("new"),
        revision: new,
        expires_at: None,
    };
    let there = space.get_at(&item, at).await?;
    ensure_eq!(there, Some(expected), "what replaced the expired item");
    Ok(())
}

pub(super) async fn an_add_to_an_expired_item_counts_from_zero<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let at = NOW + Duration::from_secs(1);
    for (number, value) in [Value::Number(100), text("bytes")].into_iter().enumerate() {
        let count = name(&format!("count{number}"))?;
        let put = Change::put(count.clone(), Expect::Any, value, Some(at));
        space.apply([put]).await?;
        let add = Change::add(count.clone(), 2);
        let revision = space.apply_at([add], at).await?;
        let expected = Item {
            value: Value::Number(2),
            revision,
            expires_at: None,
        };
        ensure_eq!(space.get_at(&count, at).await?, Some(expected), "{count:?}");
    }
    Ok(())
}

pub(super) async fn an_item_written_expired_is_absent<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for (part, at) in [("now", NOW), ("epoch", Timestamp::EPOCH)] {
        let item = name(part)?;
        let put = Change::put(item.clone(), Expect::Any, text("1"), Some(at));
        space.apply([put]).await?;
        ensure_eq!(space.get(&item).await?, None, "{part}");
        let put = Change::put(item.clone(), Expect::Absent, text("2"), None);
        space.apply([put]).await?;
        ensure_eq!(space.item(&item).await?.value, text("2"), "{part}");
    }
    Ok(())
}

pub(super) async fn an_item_put_without_expiry_stays<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let at = NOW + Duration::from_secs(1);
    let put = |expires_at| Change::put(item.clone(), Expect::Any, text("1"), expires_at);
    space.apply([put(Some(at))]).await?;
    space.apply([put(None)]).await?;
    // The old expiry must not come back by way of a purge.
    space
        .apply_at([Change::add(name("other")?, 1)], at + MILLISECOND)
        .await?;
    for time in [at, at + MILLISECOND, MAX_EXPIRY] {
        ensure!(
            space.get_at(&item, time).await?.is_some(),
            "gone at {time:?}"
        );
    }
    Ok(())
}

pub(super) async fn a_read_at_a_later_time_removes_nothing<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let at = NOW + Duration::from_secs(1);
    let put = Change::put(item.clone(), Expect::Any, text("1"), Some(at));
    let revision = space.apply([put]).await?;
    // Two clocks some seconds apart take turns.
    for _ in 0..3 {
        let later = at + Duration::from_secs(5);
        ensure_eq!(space.get_at(&item, later).await?, None, "ahead");
        let listed = space.list_at("", 10, later).await?;
        ensure_eq!(listed, [], "listed ahead");
        let check = Change::check(item.clone(), Expect::At(revision));
        space.conflict_at([check.clone()], later).await?;
        ensure!(space.get(&item).await?.is_some(), "gone for a clock behind");
        ensure_eq!(space.list_at("", 10, NOW).await?.len(), 1, "listed behind");
        space.apply([check]).await?;
    }
    Ok(())
}

pub(super) async fn a_clock_behind_sees_what_a_clock_ahead_wrote<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let at = NOW + Duration::from_secs(1);
    let put = Change::put(item.clone(), Expect::Any, text("old"), Some(at));
    let old = space.apply([put]).await?;
    let later = at + Duration::from_secs(5);
    let until = later + Duration::from_secs(60);
    let put = Change::put(item.clone(), Expect::Absent, text("new"), Some(until));
    let new = space.apply_at([put], later).await?;
    // For the clock behind, the first item would not have expired yet: but it was replaced.
    let there = space.item(&item).await?;
    ensure_eq!(there.revision, new, "the item that the clock ahead put");
    let stale = Change::put(item.clone(), Expect::At(old), text("stale"), None);
    space.conflict([stale]).await?;
    let absent = Change::put(item.clone(), Expect::Absent, text("second"), None);
    space.conflict([absent]).await?;
    Ok(())
}

pub(super) async fn many_expired_items_go_and_the_others_stay<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 90)?;
    let at = NOW + Duration::from_secs(1);
    let expiries = [Some(at), Some(at + MILLISECOND), None];
    let puts = names.iter().zip(expiries.iter().cycle());
    let puts: Vec<_> = puts
        .map(|(name, at)| Change::put(name.clone(), Expect::Any, Value::Number(1), *at))
        .collect();
    space.apply(puts).await?;
    // Commits give the backend its chance to remove; at this time only the first third may go.
    for number in 0..20 {
        let other = name(&format!("other{number}"))?;
        space.apply_at([Change::add(other, 1)], at).await?;
    }
    for (name, expires_at) in names.iter().zip(expiries.iter().cycle()) {
        let there = space.get_at(name, at).await?.is_some();
        ensure_eq!(there, *expires_at != Some(at), "{name:?} at its time");
    }
    let listed = space.list_at("item", 7, at).await?.len();
    ensure_eq!(listed, 60, "listed at the time");
    let listed = space.list_at("item", 7, at + MILLISECOND).await?.len();
    ensure_eq!(listed, 30, "listed a millisecond later");
    Ok(())
}

pub(super) async fn the_latest_expiry_is_kept_exactly<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for at in [before(MAX_EXPIRY, MILLISECOND), MAX_EXPIRY] {
        let item = name(&format!("{at:?}"))?;
        let put = Change::put(item.clone(), Expect::Any, text("1"), Some(at));
        space.apply([put]).await?;
        ensure_eq!(space.item(&item).await?.expires_at, Some(at), "{at:?}");
        let last = space.get_at(&item, before(at, MILLISECOND)).await?;
        ensure!(last.is_some(), "gone before {at:?}");
        ensure_eq!(space.get_at(&item, at).await?, None, "{at:?}");
        // No clock is too far ahead to be asked.
        let end = Timestamp::from_millis(u64::MAX);
        ensure_eq!(space.get_at(&item, end).await?, None, "at the end of time");
    }
    Ok(())
}
