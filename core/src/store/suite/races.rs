//! Many writers at once.

use futures_util::future::{join_all, try_join, try_join_all};

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, Space, applied, name, names, text, yield_now},
};
use crate::{
    store::{Change, Expect, Name, Outcome, Store, Value},
    time::Timestamp,
};

const WRITERS: usize = 64;

/// Lets 64 writers put one item under one expectation: one wins, and all others meet it.
async fn one_wins<S: Store>(
    space: &Space<'_, S>,
    item: &Name,
    expect: Expect,
    now: Timestamp,
) -> Result<(), Failure> {
    let writers = (0..WRITERS).map(|writer| {
        let space = space.through_either(writer);
        let value = text(&writer.to_string());
        async move {
            let commit = space.build([Change::put(item.clone(), expect, value.clone(), None)])?;
            let outcome = space.store().commit(&commit, now).await;
            Ok::<_, Failure>((commit.id(), value, outcome))
        }
    });
    let outcomes = try_join_all(writers).await?;
    let mut winners = Vec::new();
    for (id, value, outcome) in &outcomes {
        if applied(outcome)? {
            winners.push((*id, value.clone()));
        }
    }
    let [(id, value)] = winners.as_slice() else {
        return Err(Failure::new(format!(
            "{} writers won: {winners:?}",
            winners.len()
        )));
    };
    let there = space.get_at(item, now).await?;
    ensure!(
        there
            .as_ref()
            .is_some_and(|item| item.revision == *id && item.value == *value),
        "the winner's item does not stand: {there:?}"
    );
    for (_, _, outcome) in outcomes {
        if let Ok(Outcome::Conflict(items)) = outcome {
            let [in_the_way] = items.as_slice() else {
                return Err(Failure::new(format!("one is in the way: {items:?}")));
            };
            ensure_eq!(in_the_way.name, *item, "the item in the way");
            ensure_eq!(in_the_way.item, there, "a loser sees the winner");
        }
    }
    Ok(())
}

pub(super) async fn one_of_64_writers_of_an_absent_item_wins<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for item in names("item", 5)? {
        one_wins(&space, &item, Expect::Absent, NOW).await?;
    }
    Ok(())
}

pub(super) async fn one_of_64_writers_at_a_revision_wins<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("item")?;
    space.put(&item, text("first")).await?;
    for _ in 0..5 {
        let revision = space.item(&item).await?.revision;
        one_wins(&space, &item, Expect::At(revision), NOW).await?;
    }
    Ok(())
}

pub(super) async fn one_of_64_writers_of_an_expired_item_wins<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("item")?;
    let put = Change::put(item.clone(), Expect::Any, text("expired"), Some(NOW));
    space.apply([put]).await?;
    one_wins(&space, &item, Expect::Absent, NOW).await
}

pub(super) async fn a_counter_by_reading_and_writing_loses_no_update<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let count = name("count")?;
    space.put(&count, Value::Number(0)).await?;
    let writers = (0..WRITERS).map(|writer| {
        let space = space.through_either(writer);
        let count = &count;
        async move {
            loop {
                let item = space.item(count).await?;
                let Value::Number(number) = item.value else {
                    return Err(Failure::new("the counter holds bytes"));
                };
                yield_now().await;
                let expect = Expect::At(item.revision);
                let put = Change::put(count.clone(), expect, Value::Number(number + 1), None);
                if space.send(&space.build([put])?, NOW).await? == Outcome::Applied {
                    return Ok(());
                }
            }
        }
    });
    try_join_all(writers).await?;
    let expected = i64::try_from(WRITERS)?;
    ensure_eq!(space.number(&count).await?, expected, "after 64 writers");
    Ok(())
}

pub(super) async fn transfers_between_items_keep_the_sum<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    const ACCOUNTS: usize = 4;
    let space = harness.space();
    let accounts = names("account", ACCOUNTS)?;
    for account in &accounts {
        space.put(account, Value::Number(100)).await?;
    }
    let transfers = (0..32_usize).map(|transfer| {
        let space = space.through_either(transfer);
        let accounts = &accounts;
        async move {
            // Every ordered pair of two different accounts has its turn.
            let from = transfer % ACCOUNTS;
            let to = (from + 1 + transfer / ACCOUNTS % (ACCOUNTS - 1)) % ACCOUNTS;
            let (Some(from), Some(to)) = (accounts.get(from), accounts.get(to)) else {
                return Err(Failure::new("no such account"));
            };
            loop {
                let (debit, credit) = try_join(space.item(from), space.item(to)).await?;
                let (Value::Number(left), Value::Number(right)) = (debit.value, credit.value)
                else {
                    return Err(Failure::new("an account holds bytes"));
                };
                yield_now().await;
                let put = |name: &Name, revision, number| {
                    let value = Value::Number(number);
                    Change::put(name.clone(), Expect::At(revision), value, None)
                };
                let commit = space.build([
                    put(from, debit.revision, left - 1),
                    put(to, credit.revision, right + 1),
                ])?;
                if space.send(&commit, NOW).await? == Outcome::Applied {
                    return Ok(());
                }
            }
        }
    });
    try_join_all(transfers).await?;
    let mut sum = 0;
    for account in &accounts {
        sum += space.number(account).await?;
    }
    ensure_eq!(sum, 400, "the sum over all accounts");
    Ok(())
}

/// Write skew: what each of two commits only checks is what the other one writes.
pub(super) async fn writers_that_check_each_others_item_do_not_both_apply<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for round in 0..32 {
        let (left, right) = (
            name(&format!("left{round}"))?,
            name(&format!("right{round}"))?,
        );
        let writer = |number, write: &Name, check: &Name| {
            let space = space.through_either(number);
            let changes = [
                Change::put(write.clone(), Expect::Absent, text("mine"), None),
                Change::check(check.clone(), Expect::Absent),
            ];
            async move {
                let commit = space.build(changes)?;
                space.send(&commit, NOW).await
            }
        };
        let outcomes = try_join(writer(0, &left, &right), writer(1, &right, &left)).await?;
        let both = [&outcomes.0, &outcomes.1].map(|outcome| *outcome == Outcome::Applied);
        ensure!(both != [true, true], "both were applied in round {round}");
        // A backend may let both fail, but not by a conflict with something that is not there.
        ensure!(
            both != [false, false],
            "neither was applied in round {round}"
        );
    }
    Ok(())
}

pub(super) async fn deleting_and_creating_at_once_keeps_one_owner<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let lock = name("lock")?;
    let owned = name("owned")?;
    // Each of them takes the lock, counts by reading and writing, and gives it back: where two had it at
    // once, a count would be lost.
    let owners = (0..16_usize).map(|owner| {
        let space = space.through_either(owner);
        let (lock, owned) = (&lock, &owned);
        async move {
            loop {
                let take = Change::put(lock.clone(), Expect::Absent, text("taken"), None);
                let take = space.build([take])?;
                if space.send(&take, NOW).await? == Outcome::Applied {
                    let number = match space.get(owned).await? {
                        Some(_) => space.number(owned).await?,
                        None => 0,
                    };
                    yield_now().await;
                    space.put(owned, Value::Number(number + 1)).await?;
                    let back = Change::delete(lock.clone(), Expect::At(take.id()));
                    space.apply([back]).await?;
                    return Ok::<(), Failure>(());
                }
                yield_now().await;
            }
        }
    });
    for owner in join_all(owners).await {
        owner?;
    }
    ensure_eq!(space.number(&owned).await?, 16, "after 16 owners");
    ensure_eq!(space.get(&lock).await?, None, "the lock at the end");
    Ok(())
}
