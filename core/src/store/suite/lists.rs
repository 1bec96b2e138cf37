//! Listings and their pages.

use std::time::Duration;

use bytes::Bytes;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, Space, name, names, text},
};
use crate::store::{Change, Expect, Item, MAX_PAGE, MAX_VALUE_BYTES, Name, Store, Value};

/// Encoded names, put in an order that is not theirs.
async fn fill<S: Store>(space: &Space<'_, S>, names: &[&str]) -> Result<(), Failure> {
    let (even, odd): (Vec<_>, Vec<_>) = names
        .iter()
        .enumerate()
        .partition(|(number, _)| number.is_multiple_of(2));
    for (_, name) in odd.into_iter().chain(even) {
        space.put(&Name::from_encoded(*name)?, text(name)).await?;
    }
    Ok(())
}

fn encoded(names: &[&str]) -> Result<Vec<Name>, Failure> {
    names
        .iter()
        .map(|name| Ok(Name::from_encoded(*name)?))
        .collect()
}

pub(super) async fn a_list_is_in_the_order_of_bytes<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    // Not the order of a locale, of UTF-16 (where U+10FFFF comes before U+E000) or of numbers.
    let sorted = [
        "!",
        "10",
        "2",
        "A",
        "B",
        "a",
        "a!",
        "a/",
        "a/b",
        "a0",
        "aa",
        "b",
        "~",
        "\u{e9}",
        "\u{d7ff}",
        "\u{e000}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
    ];
    fill(&space, &sorted).await?;
    let expected = encoded(&sorted)?;
    ensure_eq!(space.names("").await?, expected, "in one page");
    let paged = space.list_at("", 2, NOW).await?;
    let paged: Vec<_> = paged.into_iter().map(|(name, _)| name).collect();
    ensure_eq!(paged, expected, "in pages of two");
    Ok(())
}

pub(super) async fn a_list_holds_what_starts_with_the_prefix<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let all = ["a", "a/", "a/1", "a/2", "a0", "ab", "b", "b/1"];
    fill(&space, &all).await?;
    for (prefix, expected) in [
        ("a", &["a", "a/", "a/1", "a/2", "a0", "ab"][..]),
        ("a/", &["a/", "a/1", "a/2"]),
        ("a/2", &["a/2"]),
        ("b/", &["b/1"]),
        ("a/3", &[]),
        ("c", &[]),
        ("a/1/", &[]),
    ] {
        ensure_eq!(space.names(prefix).await?, encoded(expected)?, "{prefix:?}");
    }
    Ok(())
}

pub(super) async fn a_prefix_has_no_wildcards<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let all = [
        "%",
        "%2F",
        "*",
        "*a",
        "?",
        "?a",
        "[a]",
        "\\",
        "\\%",
        "_",
        "_a",
        "a",
        "a%",
        "a%2F",
        "a_",
        "a_b",
        "ab",
        "aXb",
        "\u{10ffff}",
        "\u{10ffff}a",
        "\u{10ffff}\u{10ffff}",
        "a\u{10ffff}",
        "a\u{10ffff}b",
        "b",
        "\u{d7ff}",
        "\u{d7ff}a",
        "\u{e000}",
    ];
    fill(&space, &all).await?;
    let mut sorted = all;
    sorted.sort_unstable();
    // Every name as the prefix, and some that are no name.
    for prefix in all.into_iter().chain(["a%2", "[", "(", "'", "a\0", "\n"]) {
        let expected: Vec<_> = sorted
            .into_iter()
            .filter(|name| name.starts_with(prefix))
            .collect();
        ensure_eq!(
            space.names(prefix).await?,
            encoded(&expected)?,
            "{prefix:?}"
        );
        let paged = space.list_at(prefix, 1, NOW).await?.len();
        ensure_eq!(paged, expected.len(), "{prefix:?} in pages of one");
    }
    Ok(())
}

pub(super) async fn an_empty_prefix_lists_its_partition_alone<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let (one, other, empty) = (harness.space(), harness.space(), harness.space());
    let names = names("item", 5)?;
    for name in &names {
        one.put(name, text("one")).await?;
    }
    other.put(&name("item001")?, text("other")).await?;
    other.put(&name("zzz")?, text("other")).await?;
    ensure_eq!(one.names("").await?, names, "the one");
    let listed = other.list_at("", 10, NOW).await?;
    ensure!(
        listed.len() == 2 && listed.iter().all(|(_, item)| item.value == text("other")),
        "the other: {listed:?}"
    );
    ensure_eq!(empty.names("").await?, [], "one with nothing in it");
    Ok(())
}

pub(super) async fn a_list_shows_items_whole<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let expires_at = Some(NOW + Duration::from_millis(12_345));
    let mut expected = Vec::new();
    for (name, value, expires_at) in [
        (name("a")?, text("bytes"), None),
        (name("b")?, Value::Number(i64::MIN), None),
        (name("c")?, text(""), expires_at),
    ] {
        let put = Change::put(name.clone(), Expect::Any, value.clone(), expires_at);
        let revision = space.apply([put]).await?;
        let item = Item {
            value,
            revision,
            expires_at,
        };
        expected.push((name, item));
    }
    ensure_eq!(space.list_at("", 10, NOW).await?, expected, "the listing");
    Ok(())
}

pub(super) async fn a_list_leaves_out_expired_and_deleted_items<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 12)?;
    let at = NOW + Duration::from_millis(500);
    let puts: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let expires_at = (number % 3 == 0).then_some(at);
            Change::put(name.clone(), Expect::Any, text("1"), expires_at)
        })
        .collect();
    space.apply(puts).await?;
    let deletes: Vec<_> = names
        .iter()
        .skip(1)
        .step_by(3)
        .map(|name| Change::delete(name.clone(), Expect::Any))
        .collect();
    space.apply(deletes).await?;
    for (now, rest) in [(NOW, &[0, 2][..]), (at, &[2])] {
        let expected: Vec<_> = names
            .iter()
            .enumerate()
            .filter(|(number, _)| rest.contains(&(number % 3)))
            .map(|(_, name)| name.clone())
            .collect();
        for limit in [1, 2, 100] {
            let listed = space.list_at("", limit, now).await?;
            let listed: Vec<_> = listed.into_iter().map(|(name, _)| name).collect();
            ensure_eq!(listed, expected, "at {now:?} in pages of {limit}");
        }
    }
    Ok(())
}

pub(super) async fn pages_of_every_size_hold_each_item_once<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 10)?;
    let puts = names.iter().cloned();
    let puts: Vec<_> = puts.map(|name| Change::add(name, 1)).collect();
    space.apply(puts).await?;
    space
        .put(&name("jtem")?, text("outside the prefix"))
        .await?;
    for limit in 1..=names.len() + 2 {
        let listed = space.list_at("item", limit, NOW).await?;
        let listed: Vec<_> = listed.into_iter().map(|(name, _)| name).collect();
        ensure_eq!(listed, names, "in pages of {limit}");
    }
    Ok(())
}

pub(super) async fn a_limit_out_of_range_is_brought_into_it<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 5)?;
    let puts: Vec<_> = names
        .iter()
        .map(|name| Change::add(name.clone(), 1))
        .collect();
    space.apply(puts).await?;
    for limit in [0, MAX_PAGE + 1, usize::MAX] {
        let listed = space.list_at("item", limit, NOW).await?;
        ensure_eq!(listed.len(), names.len(), "with a limit of {limit}");
    }
    Ok(())
}

/// Reads a page of three, changes the partition, and reads the rest.
async fn changed_between_pages<S: Store>(
    space: &Space<'_, S>,
    change: impl Fn(&Name) -> Result<Vec<Change>, Failure>,
) -> Result<(Vec<Name>, Vec<Name>), Failure> {
    let mut query = space.query("item", 3);
    let mut first = Vec::new();
    // A page may be shorter than its limit: read until there is something to go on from.
    while first.is_empty() {
        let page = space.store().list(&query, NOW).await?;
        first.extend(page.items.into_iter().map(|(name, _)| name));
        ensure!(page.next.is_some(), "the first page is not the last");
        query.after = page.next;
    }
    let Some(last) = first.last() else {
        return Err(Failure::new("there is no first page"));
    };
    space.apply(change(last)?).await?;
    let mut rest = Vec::new();
    loop {
        let page = space.store().list(&query, NOW).await?;
        rest.extend(page.items.into_iter().map(|(name, _)| name));
        match page.next {
            None => return Ok((first, rest)),
            next => query.after = next,
        }
    }
}

pub(super) async fn pages_go_on_when_items_are_deleted_between_them<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 9)?;
    let puts: Vec<_> = names
        .iter()
        .map(|name| Change::add(name.clone(), 1))
        .collect();
    space.apply(puts).await?;
    // What was listed is deleted, the item that the cursor may name with it, and one that is to come.
    let gone = name("item007")?;
    let (first, rest) = changed_between_pages(&space, |last| {
        Ok(names
            .iter()
            .filter(|name| *name <= last || **name == gone)
            .map(|name| Change::delete(name.clone(), Expect::Any))
            .collect())
    })
    .await?;
    let expected: Vec<_> = names
        .iter()
        .filter(|name| !first.contains(name) && **name != gone)
        .cloned()
        .collect();
    ensure_eq!(rest, expected, "the other pages");
    Ok(())
}

pub(super) async fn pages_go_on_when_items_are_inserted_between_them<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("item", 9)?;
    let puts: Vec<_> = names
        .iter()
        .map(|name| Change::add(name.clone(), 1))
        .collect();
    space.apply(puts).await?;
    let (first, rest) = changed_between_pages(&space, |last| {
        Ok(vec![
            Change::add(name("item")?, 1),
            Change::add(name(&format!("{}!", last.as_str()))?, 1),
            Change::add(name("item999")?, 1),
        ])
    })
    .await?;
    // What came in may or may not appear; what was there appears once, and all in order.
    ensure!(rest.is_sorted(), "the other pages are in order: {rest:?}");
    let before: Vec<_> = rest
        .iter()
        .filter(|name| names.contains(name))
        .cloned()
        .collect();
    let expected: Vec<_> = names
        .iter()
        .filter(|name| !first.contains(name))
        .cloned()
        .collect();
    ensure_eq!(before, expected, "what was there before");
    Ok(())
}

pub(super) async fn a_list_of_large_values_is_complete<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let names = names("large", 12)?;
    let value = |number| Value::Bytes(Bytes::from(vec![number; MAX_VALUE_BYTES]));
    for (name, number) in names.iter().zip(0..) {
        space.put(name, value(number)).await?;
    }
    let listed = space.list_at("", MAX_PAGE, NOW).await?;
    ensure_eq!(listed.len(), names.len(), "how many are listed");
    for ((listed, item), (name, number)) in listed.iter().zip(names.iter().zip(0..)) {
        ensure_eq!(listed, name, "the order");
        ensure!(item.value == value(number), "{name:?} is something else");
    }
    Ok(())
}
