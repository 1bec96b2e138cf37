//! One item at a time.

use std::time::Duration;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, name, text},
};
use crate::store::{Change, Expect, Item, Outcome, Store, Value};

pub(super) async fn a_commit_without_changes_is_applied<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let outcome = space.send(&space.build([])?, NOW).await?;
    ensure_eq!(outcome, Outcome::Applied, "an empty commit");
    ensure_eq!(space.names("").await?, [], "what it left");
    Ok(())
}

pub(super) async fn a_put_item_is_read_back_whole<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let expires_at = Some(NOW + Duration::from_millis(86_400_123));
    for (item, value, expires_at) in [
        (name("bytes")?, text("popcorn"), None),
        (name("number")?, Value::Number(-7), None),
        (name("expiring")?, text("fruit"), expires_at),
    ] {
        let put = Change::put(item.clone(), Expect::Any, value.clone(), expires_at);
        let revision = space.apply([put]).await?;
        let expected = Item {
            value,
            revision,
            expires_at,
        };
        ensure_eq!(space.item(&item).await?, expected, "{item:?}");
    }
    Ok(())
}

pub(super) async fn an_absent_item_is_none<S: Store>(harness: &Harness<S>) -> Result<(), Failure> {
    let space = harness.space();
    space.put(&name("a")?, Value::Number(1)).await?;
    ensure_eq!(space.get(&name("b")?).await?, None, "what was never put");
    Ok(())
}

pub(super) async fn a_put_replaces_value_revision_and_expiry<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let item = name("a")?;
    let expires_at = Some(NOW + Duration::from_secs(60));
    let put = Change::put(
        item.clone(),
        Expect::Any,
        text("a longer value"),
        expires_at,
    );
    let first = space.apply([put]).await?;
    for value in [text("short"), Value::Number(3), text("")] {
        let revision = space.put(&item, value.clone()).await?;
        ensure!(revision != first, "a commit gives a new revision");
        let expected = Item {
            value,
            revision,
            expires_at: None,
        };
        ensure_eq!(space.item(&item).await?, expected, "what replaced it");
    }
    Ok(())
}

pub(super) async fn a_deleted_item_is_absent<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let (gone, kept) = (name("gone")?, name("kept")?);
    let revision = space.put(&gone, text("1")).await?;
    space.put(&kept, text("2")).await?;
    space
        .apply([Change::delete(gone.clone(), Expect::At(revision))])
        .await?;
    ensure_eq!(space.get(&gone).await?, None, "the deleted item");
    ensure_eq!(space.item(&kept).await?.value, text("2"), "another item");
    Ok(())
}

pub(super) async fn deleting_an_absent_item_is_applied<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    for expect in [Expect::Any, Expect::Absent] {
        space.apply([Change::delete(name("a")?, expect)]).await?;
    }
    ensure_eq!(space.get(&name("a")?).await?, None, "after deleting it");
    Ok(())
}

pub(super) async fn a_check_changes_nothing<S: Store>(harness: &Harness<S>) -> Result<(), Failure> {
    let space = harness.space();
    let (there, absent) = (name("there")?, name("absent")?);
    let revision = space.put(&there, text("1")).await?;
    let before = space.item(&there).await?;
    space
        .apply([
            Change::check(there.clone(), Expect::At(revision)),
            Change::check(absent.clone(), Expect::Absent),
            Change::check(name("any")?, Expect::Any),
        ])
        .await?;
    ensure_eq!(space.item(&there).await?, before, "the checked item");
    ensure_eq!(space.names("").await?, [there], "what is there");
    Ok(())
}

pub(super) async fn an_acknowledged_commit_is_seen_through_another_handle<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let here = harness.space();
    let there = here.through_other();
    let item = name("a")?;
    // An absence that was read must not be remembered.
    ensure_eq!(there.get(&item).await?, None, "before");
    for number in 0..20 {
        let (writer, reader) = if number % 2 == 0 {
            (&here, &there)
        } else {
            (&there, &here)
        };
        let revision = writer.put(&item, Value::Number(number)).await?;
        let read = reader.item(&item).await?;
        ensure_eq!(read.value, Value::Number(number), "right after the commit");
        ensure_eq!(read.revision, revision, "right after the commit");
        let listed = reader.list_at("", 10, NOW).await?;
        ensure_eq!(listed, [(item.clone(), read)], "the list after the commit");
    }
    there
        .apply([Change::delete(item.clone(), Expect::Any)])
        .await?;
    ensure_eq!(here.get(&item).await?, None, "right after the deletion");
    Ok(())
}
