//! What a change expects, and what is said when it is not so.

use std::time::Duration;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, Space, name, text},
};
use crate::store::{
    Change, Expect, InTheWay, Item, Name, Operation, Outcome, Revision, Store, Value,
};

/// The states that an item can be in.
#[derive(Clone, Copy, Debug)]
enum State {
    Absent,
    Bytes,
    Number,
    Expired,
    ExpiredNumber,
}

impl State {
    const ALL: [Self; 5] = [
        Self::Absent,
        Self::Bytes,
        Self::Number,
        Self::Expired,
        Self::ExpiredNumber,
    ];

    /// Brings about the state; the last revision that was written there.
    async fn make<S: Store>(self, space: &Space<'_, S>, item: &Name) -> Result<Revision, Failure> {
        let (value, expires_at) = match self {
            Self::Absent => {
                let revision = space.put(item, text("earlier")).await?;
                let delete = Change::delete(item.clone(), Expect::Any);
                space.apply([delete]).await?;
                return Ok(revision);
            }
            Self::Bytes => (text("there"), None),
            Self::Number => (Value::Number(40), None),
            Self::Expired => (text("earlier"), Some(NOW)),
            Self::ExpiredNumber => (Value::Number(1_000), Some(NOW)),
        };
        let put = Change::put(item.clone(), Expect::Any, value, expires_at);
        space.apply([put]).await
    }
}

/// The whole table, against the rules as the port states them.
pub(super) async fn every_expectation_of_every_operation_on_every_state<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let expires_at = Some(NOW + Duration::from_secs(1));
    let operations = [
        Operation::Put {
            value: text("new"),
            expires_at,
        },
        Operation::Delete,
        Operation::Check,
        Operation::Add { delta: 2 },
    ];
    let mut number = 0;
    for state in State::ALL {
        for operation in &operations {
            for which in 0..4 {
                number += 1;
                let item = name(&format!("item{number}"))?;
                let revision = state.make(&space, &item).await?;
                let expect = match which {
                    0 => Expect::Any,
                    1 => Expect::Absent,
                    2 => Expect::At(revision),
                    _ => Expect::At(space.id()),
                };
                let case = format!("{state:?}, {operation:?}, {expect:?}");
                let before = space.get(&item).await?;
                let change = Change {
                    name: item.clone(),
                    expect,
                    operation: operation.clone(),
                };
                let commit = space.build([change])?;
                let outcome = space.send(&commit, NOW).await?;
                let after = space.get(&item).await?;
                if expect.holds(before.as_ref()) && operation.fits(before.as_ref()) {
                    ensure_eq!(outcome, Outcome::Applied, "{case}");
                    let expected = result(before.as_ref(), operation, commit.id());
                    ensure_eq!(after, expected, "{case}");
                } else {
                    let in_the_way = InTheWay {
                        name: item,
                        item: before.clone(),
                    };
                    ensure_eq!(outcome, Outcome::Conflict(vec![in_the_way]), "{case}");
                    ensure_eq!(after, before, "{case}");
                }
            }
        }
    }
    Ok(())
}

/// What an operation makes of an item.
fn result(before: Option<&Item>, operation: &Operation, revision: Revision) -> Option<Item> {
    let (value, expires_at) = match operation {
        Operation::Check => return before.cloned(),
        Operation::Delete => return None,
        Operation::Put { value, expires_at } => (value.clone(), *expires_at),
        Operation::Add { delta } => match before.map(|item| &item.value) {
            Some(Value::Number(number)) => (Value::Number(number.saturating_add(*delta)), None),
            _ => (Value::Number(*delta), None),
        },
    };
    Some(Item {
        value,
        revision,
        expires_at,
    })
}

pub(super) async fn an_item_that_stands_is_in_the_way_of_absent<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let put = |value| Change::put(item.clone(), Expect::Absent, value, None);
    space.apply([put(text("first"))]).await?;
    let there = space.get(&item).await?;
    let items = space.conflict([put(text("second"))]).await?;
    let in_the_way = InTheWay {
        name: item.clone(),
        item: there.clone(),
    };
    ensure_eq!(items, [in_the_way], "in the way");
    ensure_eq!(space.get(&item).await?, there, "after the conflict");
    Ok(())
}

pub(super) async fn another_revision_is_in_the_way_of_a_revision<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let old = space.put(&item, text("old")).await?;
    // The same value: it is the revision that counts.
    space.put(&item, text("old")).await?;
    let there = space.get(&item).await?;
    for change in [
        Change::put(item.clone(), Expect::At(old), text("new"), None),
        Change::delete(item.clone(), Expect::At(old)),
        Change::check(item.clone(), Expect::At(old)),
    ] {
        let items = space.conflict([change]).await?;
        let in_the_way = InTheWay {
            name: item.clone(),
            item: there.clone(),
        };
        ensure_eq!(items, [in_the_way], "in the way");
        ensure_eq!(space.get(&item).await?, there, "after the conflict");
    }
    Ok(())
}

pub(super) async fn an_absent_item_is_in_the_way_of_a_revision<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let put = Change::put(item.clone(), Expect::At(space.id()), text("new"), None);
    let items = space.conflict([put]).await?;
    let in_the_way = InTheWay {
        name: item.clone(),
        item: None,
    };
    ensure_eq!(items, [in_the_way], "in the way");
    ensure_eq!(space.get(&item).await?, None, "after the conflict");
    Ok(())
}

/// What stands beside a mixed commit whose second, fourth, fifth and seventh changes can't be.
async fn mixed<S: Store>(space: &Space<'_, S>) -> Result<(Vec<Change>, Vec<Name>), Failure> {
    let name = |part| name(part);
    let there = space.put(&name("z-there")?, text("there")).await?;
    space.put(&name("y-other")?, text("other")).await?;
    space.put(&name("x-bytes")?, text("bytes")).await?;
    space.put(&name("w-kept")?, Value::Number(5)).await?;
    let changes = vec![
        Change::check(name("z-there")?, Expect::At(there)),
        Change::put(name("y-other")?, Expect::Absent, text("new"), None),
        Change::put(name("new")?, Expect::Absent, text("new"), None),
        Change::add(name("x-bytes")?, 1),
        Change::delete(name("missing")?, Expect::At(there)),
        Change::add(name("w-kept")?, 1),
        Change::check(name("a-missing")?, Expect::At(there)),
        Change::delete(name("absent")?, Expect::Any),
    ];
    let in_the_way = vec![
        name("y-other")?,
        name("x-bytes")?,
        name("missing")?,
        name("a-missing")?,
    ];
    Ok((changes, in_the_way))
}

pub(super) async fn every_item_in_the_way_is_named_in_order<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (changes, expected) = mixed(&space).await?;
    let items = space.conflict(changes).await?;
    let named: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
    ensure_eq!(named, expected, "named in the way");
    for in_the_way in items {
        let there = space.get(&in_the_way.name).await?;
        ensure_eq!(in_the_way.item, there, "{:?}", in_the_way.name);
    }
    Ok(())
}

pub(super) async fn a_conflict_applies_nothing<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (changes, _) = mixed(&space).await?;
    let before = space.list_at("", 100, NOW).await?;
    ensure_eq!(before.len(), 4, "what was put first");
    space.conflict(changes).await?;
    let after = space.list_at("", 100, NOW).await?;
    ensure_eq!(after, before, "after the conflict");
    Ok(())
}

pub(super) async fn an_item_deleted_and_written_again_has_a_new_revision<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let mut seen: Vec<Revision> = Vec::new();
    for _ in 0..10 {
        let put = Change::put(item.clone(), Expect::Absent, text("same"), None);
        let revision = space.apply([put]).await?;
        ensure_eq!(space.item(&item).await?.revision, revision, "as it was put");
        ensure!(!seen.contains(&revision), "a revision came back");
        for stale in &seen {
            let put = Change::put(item.clone(), Expect::At(*stale), text("new"), None);
            space.conflict([put]).await?;
        }
        let delete = Change::delete(item.clone(), Expect::At(revision));
        space.apply([delete]).await?;
        seen.push(revision);
    }
    Ok(())
}
