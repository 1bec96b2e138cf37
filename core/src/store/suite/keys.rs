//! Partitions and names that try to reach outside their place.

use std::slice;

use super::{
    Failure,
    ensure::{ensure, ensure_eq},
    harness::{Harness, NOW, name, text},
};
use crate::store::{Change, Expect, Item, Name, Partition, Revision, Store, Value};

/// Parts that some backend could take for something else: separators, paths, patterns, quotes, nothing.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "a",
    "a ",
    " a",
    "a/b",
    "a//b",
    "/",
    "//",
    "/a",
    "a/",
    ".",
    "..",
    "../a",
    "./a",
    "%",
    "%2F",
    "%2f",
    "%%",
    "%~",
    "a%",
    "_",
    "*",
    "?",
    "#",
    "a#b",
    "a:b",
    "a|b",
    "a\\b",
    "\\",
    "'",
    "''",
    "\"",
    "`",
    ";--",
    "a\0",
    "\0",
    "a\0b",
    "\n",
    "\t",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "\u{200b}",
    "\u{feff}",
    "\u{fffd}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{10ffff}",
    "null",
    "NULL",
    "undefined",
    "0",
    "00",
    "0.0",
    "-0",
    "1e3",
    "true",
    "{}",
    "[]",
    "$ne",
    "__proto__",
    "constructor",
    "seen",
    "call",
    "data",
    "due",
];

pub(super) async fn hostile_names_do_not_collide<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    let mut all: Vec<Name> = Vec::new();
    for part in HOSTILE {
        all.push(Name::of([*part])?);
        all.push(Name::of(["under", part])?);
        all.push(Name::of([*part, "under"])?);
    }
    let mut puts: Vec<(Name, Value)> = Vec::new();
    for (name, number) in all.into_iter().zip(0..) {
        let value = Value::Number(number);
        let put = Change::put(name.clone(), Expect::Absent, value.clone(), None);
        space.apply([put]).await?;
        puts.push((name, value));
    }
    for (name, value) in &puts {
        ensure_eq!(space.item(name).await?.value, *value, "{name:?}");
    }
    // One under each of them is listed under itself alone.
    for part in HOSTILE {
        let prefix = format!("{}/", Name::of([*part])?.as_str());
        let mut expected: Vec<_> = puts
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| name.as_str().starts_with(&prefix))
            .collect();
        expected.sort();
        ensure!(!expected.is_empty(), "nothing to be found under {prefix:?}");
        ensure_eq!(space.names(&prefix).await?, expected, "under {prefix:?}");
    }
    Ok(())
}

pub(super) async fn hostile_partitions_do_not_leak<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let item = name("item")?;
    let own = harness.unique();
    let mut spaces = Vec::new();
    for part in HOSTILE {
        // Before and after what is this run's own.
        for id in [format!("{part}{own}"), format!("{own}{part}")] {
            spaces.push(harness.space_in(Partition::installation(&id)));
        }
    }
    let mut seen: Vec<(&Partition, Revision)> = Vec::new();
    for space in &spaces {
        if seen
            .iter()
            .any(|(partition, _)| *partition == space.partition())
        {
            continue;
        }
        let put = Change::put(item.clone(), Expect::Absent, text("1"), None);
        seen.push((space.partition(), space.apply([put]).await?));
    }
    ensure_eq!(
        seen.len(),
        spaces.len() - 1,
        "partitions (an empty part is on both sides)"
    );
    for (partition, revision) in seen {
        let space = harness.space_in(partition.clone());
        let expected = Item {
            value: text("1"),
            revision,
            expires_at: None,
        };
        ensure_eq!(space.item(&item).await?, expected, "{partition:?}");
        let listed = space.list_at("", 10, NOW).await?;
        ensure_eq!(listed, [(item.clone(), expected)], "all of {partition:?}");
    }
    Ok(())
}

pub(super) async fn partitions_are_apart<S: Store>(harness: &Harness<S>) -> Result<(), Failure> {
    let item = name(&harness.unique())?;
    let spaces = [
        harness.space(),
        harness.space(),
        harness.space_in(Partition::unscoped()),
    ];
    for space in &spaces {
        let put = Change::put(item.clone(), Expect::Absent, text("first"), None);
        space.apply([put]).await?;
    }
    let [first, second, unscoped] = &spaces;
    first
        .apply([Change::delete(item.clone(), Expect::Any)])
        .await?;
    second.put(&item, text("second")).await?;
    ensure_eq!(first.get(&item).await?, None, "the first");
    ensure_eq!(
        second.item(&item).await?.value,
        text("second"),
        "the second"
    );
    ensure_eq!(
        unscoped.item(&item).await?.value,
        text("first"),
        "the fixed one"
    );
    Ok(())
}

pub(super) async fn the_longest_keys_are_kept_apart_by_their_last_byte<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let own = harness.unique();
    let partition = |last: &str| {
        let filled = format!("i/{own}{}", "p".repeat(111 - 2 - own.len() - last.len()));
        Partition::from_encoded(format!("{filled}{last}"))
    };
    let name = |last: &str| Name::from_encoded(format!("{}{last}", "n".repeat(400 - last.len())));
    // Of one byte, and of four.
    let ends = ["x", "y", "\u{1F36A}", "\u{1F36B}"];
    let mut keys = Vec::new();
    for end in ends {
        for last in ends {
            keys.push((harness.space_in(partition(end)?), name(last)?));
        }
    }
    for ((space, name), number) in keys.iter().zip(0..) {
        let put = Change::put(name.clone(), Expect::Absent, Value::Number(number), None);
        space.apply([put]).await?;
    }
    for ((space, name), number) in keys.iter().zip(0..) {
        ensure_eq!(space.number(name).await?, number, "key {number}");
        let listed = space.names(name.as_str()).await?;
        ensure_eq!(listed, slice::from_ref(name), "key {number} as a prefix");
        ensure_eq!(
            space.names("n").await?.len(),
            4,
            "the partition of key {number}"
        );
    }
    Ok(())
}

pub(super) async fn names_are_not_folded_or_normalized<S: Store>(
    harness: &Harness<S>,
) -> Result<(), Failure> {
    let space = harness.space();
    // Case, composed and decomposed accents, ligatures, wide forms, trailing spaces, numbers.
    let parts = [
        "snack",
        "Snack",
        "SNACK",
        "stra\u{df}e",
        "strasse",
        "\u{e9}",
        "e\u{301}",
        "\u{212b}",
        "\u{c5}",
        "\u{fb01}",
        "fi",
        "\u{ff41}",
        "a",
        "a ",
        "a  ",
        "1",
        "01",
        "1.0",
        "+1",
        "I",
        "\u{131}",
        "\u{130}",
        "i",
    ];
    for (part, number) in parts.iter().zip(0..) {
        let put = Change::put(name(part)?, Expect::Absent, Value::Number(number), None);
        space.apply([put]).await?;
    }
    for (part, number) in parts.iter().zip(0..) {
        ensure_eq!(space.number(&name(part)?).await?, number, "{part:?}");
    }
    ensure_eq!(
        space.names("").await?.len(),
        parts.len(),
        "how many there are"
    );
    Ok(())
}
