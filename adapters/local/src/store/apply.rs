//! One commit, inside of a transaction that holds the write lock.

use pup_extension::{
    store::{Commit, Expect, InTheWay, Item, Name, Operation, Outcome, Partition, Value},
    time::Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Result, params};

use super::rows;

const FIND: &str = "SELECT revision, expires_at, value FROM item
    WHERE partition = ?1 AND name = ?2 AND (expires_at IS NULL OR expires_at > ?3)";

const PUT: &str = "INSERT INTO item (partition, name, revision, expires_at, value)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (partition, name) DO UPDATE SET
        revision = excluded.revision, expires_at = excluded.expires_at, value = excluded.value";

const DELETE: &str = "DELETE FROM item WHERE partition = ?1 AND name = ?2";

const PURGE: &str = "DELETE FROM item WHERE rowid IN (
    SELECT rowid FROM item WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";

/// The item at a key; an expired one is absent.
pub(super) fn find(
    connection: &Connection,
    partition: &Partition,
    name: &Name,
    now: Timestamp,
) -> Result<Option<Item>> {
    connection
        .prepare_cached(FIND)?
        .query_row(
            params![partition.as_str(), name.as_str(), rows::millis(now)],
            |row| rows::item(row, 0),
        )
        .optional()
}

/// Evaluates every condition, and makes the changes if all of them hold. A conflict changes nothing; after an
/// error the transaction must be rolled back.
pub(super) fn apply(connection: &Connection, commit: &Commit, now: Timestamp) -> Result<Outcome> {
    let mut in_the_way = Vec::new();
    let mut numbers = Vec::with_capacity(commit.changes().len());
    for change in commit.changes() {
        let adds = matches!(change.operation, Operation::Add { .. });
        let item = if adds || change.expect != Expect::Any {
            find(connection, commit.partition(), &change.name, now)?
        } else {
            // Nothing can be in the way.
            None
        };
        numbers.push(match &item {
            Some(Item {
                value: Value::Number(number),
                ..
            }) => *number,
            _ => 0,
        });
        if !(change.expect.holds(item.as_ref()) && change.operation.fits(item.as_ref())) {
            in_the_way.push(InTheWay {
                name: change.name.clone(),
                item,
            });
        }
    }
    if !in_the_way.is_empty() {
        return Ok(Outcome::Conflict(in_the_way));
    }
    for (change, number) in commit.changes().iter().zip(numbers) {
        match &change.operation {
            Operation::Check => {}
            Operation::Delete => delete(connection, commit, &change.name)?,
            Operation::Put { value, expires_at } => {
                put(connection, commit, &change.name, value, *expires_at)?;
            }
            // Not in SQL, which would go on in floating point at the ends of the range.
            Operation::Add { delta } => {
                let sum = Value::Number(number.saturating_add(*delta));
                put(connection, commit, &change.name, &sum, None)?;
            }
        }
    }
    Ok(Outcome::Applied)
}

/// Removes at most this many expired items.
pub(super) fn purge(connection: &Connection, now: Timestamp, most: usize) -> Result<()> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    connection
        .prepare_cached(PURGE)?
        .execute(params![rows::millis(now), most])?;
    Ok(())
}

fn put(
    connection: &Connection,
    commit: &Commit,
    name: &Name,
    value: &Value,
    expires_at: Option<Timestamp>,
) -> Result<()> {
    connection.prepare_cached(PUT)?.execute(params![
        commit.partition().as_str(),
        name.as_str(),
        commit.id().to_bytes(),
        expires_at.map(rows::millis),
        rows::parameter(value),
    ])?;
    Ok(())
}

fn delete(connection: &Connection, commit: &Commit, name: &Name) -> Result<()> {
    connection
        .prepare_cached(DELETE)?
        .execute(params![commit.partition().as_str(), name.as_str()])?;
    Ok(())
}
