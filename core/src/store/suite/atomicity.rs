//! All or nothing.

use bytes::Bytes;
use futures_util::future::{try_join, try_join_all};

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, Space, name, names, text, yield_now},
};
use crate::store::{
    Change, Commit, CommitError, Expect, ITEM_OVERHEAD_BYTES, InTheWay, Item, MAX_COMMIT_BYTES,
    MAX_COMMIT_ITEMS, MAX_VALUE_BYTES, Name, Outcome, Store, Value,
};

/// A quarter each of what is put, deleted, checked and added to.
async fn hundred<S: Store>(space: &Space<'_, S>) -> Result<Vec<Change>, Failure> {
    let mut put = Vec::new();
    let names = names("item", MAX_COMMIT_ITEMS)?;
    for (number, name) in names.iter().enumerate() {
        match number % 4 {
            1 => put.push(Change::put(name.clone(), Expect::Any, text("old"), None)),
            3 => put.push(Change::add(name.clone(), 10)),
            _ => {}
        }
    }
    let revision = space.apply(put).await?;
    let changes = names
        .into_iter()
        .enumerate()
        .map(|(number, name)| match number % 4 {
            0 => Change::put(name, Expect::Absent, text("new"), None),
            1 => Change::delete(name, Expect::At(revision)),
            2 => Change::check(name, Expect::Absent),
            _ => Change::add(name, -3),
        });
    Ok(changes.collect())
}

pub(super) async fn a_hundred_items_are_applied_together<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let changes = hundred(&space).await?;
    let revision = space.apply(changes).await?;
    let items = space.list_at("", 1_000, NOW).await?;
    let expected: Vec<_> = names("item", MAX_COMMIT_ITEMS)?
        .into_iter()
        .enumerate()
        .filter_map(|(number, name)| {
            let value = match number % 4 {
                0 => text("new"),
                3 => Value::Number(7),
                _ => return None,
            };
            let item = Item {
                value,
                revision,
                expires_at: None,
            };
            Some((name, item))
        })
        .collect();
    ensure_eq!(items, expected, "after the commit");
    Ok(())
}

pub(super) async fn one_item_in_the_way_of_a_hundred_stops_them_all<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    for place in [0, MAX_COMMIT_ITEMS / 2, MAX_COMMIT_ITEMS - 1] {
        let space = harness.space();
        let mut changes = hundred(&space).await?;
        let before = space.list_at("", 1_000, NOW).await?;
        let mut failing = name("item")?;
        if let Some(change) = changes.get_mut(place) {
            change.expect = Expect::At(space.id());
            failing = change.name.clone();
        }
        let items = space.conflict(changes).await?;
        let there = space.get(&failing).await?;
        let in_the_way = InTheWay {
            name: failing,
            item: there,
        };
        ensure_eq!(items, [in_the_way], "in the way at {place}");
        let after = space.list_at("", 1_000, NOW).await?;
        ensure_eq!(after, before, "after the conflict at {place}");
    }
    Ok(())
}

pub(super) async fn a_hundred_items_in_the_way_are_all_named<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", MAX_COMMIT_ITEMS)?;
    let puts = |expect| {
        names
            .iter()
            .map(move |name| Change::put(name.clone(), expect, text("value"), None))
    };
    space.apply(puts(Expect::Absent)).await?;
    let items = space.conflict(puts(Expect::Absent)).await?;
    let named: Vec<_> = items.into_iter().map(|item| item.name).collect();
    ensure_eq!(named, names, "named in the way");
    Ok(())
}

pub(super) async fn four_megabytes_are_applied_together<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("large", MAX_COMMIT_BYTES / MAX_VALUE_BYTES)?;
    let mut commit = Commit::new(space.id(), space.partition().clone());
    let mut free = MAX_COMMIT_BYTES;
    let mut values = Vec::new();
    for (name, fill) in names.iter().zip(1..) {
        let key = space.partition().as_str().len() + name.as_str().len();
        free -= key + ITEM_OVERHEAD_BYTES;
        let size = free.min(MAX_VALUE_BYTES);
        free -= size;
        let value = Value::Bytes(Bytes::from(vec![fill; size]));
        commit.push(Change::put(
            name.clone(),
            Expect::Absent,
            value.clone(),
            None,
        ))?;
        values.push(value);
    }
    let more = commit.push(Change::check(name("one more")?, Expect::Absent));
    ensure!(
        matches!(more, Err(CommitError::TooLarge { .. })),
        "the commit is full: {more:?}"
    );
    let outcome = space.send(&commit, NOW).await?;
    ensure_eq!(outcome, Outcome::Applied, "a commit of the greatest size");
    for (name, value) in names.iter().zip(values) {
        let item = space.item(name).await?;
        ensure!(item.value == value, "{name:?} came back as something else");
        ensure_eq!(item.revision, commit.id(), "{name:?}");
    }
    Ok(())
}

/// How often the writer of the next two cases writes.
const ROUNDS: i64 = 100;

pub(super) async fn two_items_that_move_together_are_never_seen_apart<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (left, right) = (name("left")?, name("right")?);
    space.apply(both(&left, &right, 0)).await?;
    let write = async {
        for number in 1..=ROUNDS {
            space.apply(both(&left, &right, number)).await?;
            yield_now().await;
        }
        Ok::<(), Failure>(())
    };
    let read = async |first: &Name, second: &Name| {
        let reader = space.through_other();
        loop {
            let earlier = reader.number(first).await?;
            yield_now().await;
            let later = reader.number(second).await?;
            // What was read later is at least as new.
            ensure!(later >= earlier, "{second:?} is behind {first:?}");
            if later == ROUNDS {
                return Ok(());
            }
            yield_now().await;
        }
    };
    let readers = try_join(read(&left, &right), read(&right, &left));
    try_join(write, readers).await?;
    Ok(())
}

pub(super) async fn a_conflict_shows_items_of_one_moment<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (left, right) = (name("left")?, name("right")?);
    space.apply(both(&left, &right, 0)).await?;
    let write = async {
        for number in 1..=ROUNDS {
            space.apply(both(&left, &right, number)).await?;
            yield_now().await;
        }
        Ok::<(), Failure>(())
    };
    let look = async |reader: usize| {
        let reader = space.through_either(reader);
        loop {
            let items = reader
                .conflict([
                    Change::check(left.clone(), Expect::Absent),
                    Change::check(right.clone(), Expect::Absent),
                ])
                .await?;
            let values: Vec<_> = items
                .iter()
                .filter_map(|in_the_way| in_the_way.item.as_ref())
                .map(|item| (item.value.clone(), item.revision))
                .collect();
            let [a, b] = values.as_slice() else {
                return Err(Failure::new(format!("not both are in the way: {items:?}")));
            };
            ensure!(a == b, "the items in the way are of two moments");
            if a.0 == Value::Number(ROUNDS) {
                return Ok(());
            }
            yield_now().await;
        }
    };
    try_join(write, try_join_all((0..4).map(look))).await?;
    Ok(())
}

fn both(left: &Name, right: &Name, number: i64) -> [Change; 2] {
    [left, right].map(|name| Change::put(name.clone(), Expect::Any, Value::Number(number), None))
}
