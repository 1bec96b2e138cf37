//! The tables, and how an older file gets them.

use rusqlite::{Connection, TransactionBehavior};

use super::error::Reason;

/// Marks a file as ours, in its header.
const APPLICATION_ID: i64 = 0x7075_7078;

/// Each step takes a database from the version that is its index to the next one. A step that was released
/// is never changed.
///
/// A table with row ids, since values can be large: in a table without, they would stand between the keys.
/// The value stands last, so that what precedes it is read without it.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE item (
        partition  TEXT NOT NULL,
        name       TEXT NOT NULL,
        revision   BLOB NOT NULL CHECK (length(revision) = 16),
        expires_at INTEGER CHECK (expires_at >= 0),
        value      ANY NOT NULL CHECK (typeof(value) IN ('integer', 'blob')),
        PRIMARY KEY (partition, name)
    ) STRICT;
    CREATE INDEX item_expires_at ON item (expires_at) WHERE expires_at IS NOT NULL;
"];

/// Brings the database to the current version. Refuses, and changes nothing in, a file that is newer or not
/// ours.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Reason> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been quicker.
    let found = version(&transaction)?;
    let done = usize::try_from(found).unwrap_or(usize::MAX);
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if found < known {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", known)?;
    }
    transaction.commit()?;
    Ok(())
}

/// The version of a database that is ours or still empty.
pub(super) fn version(connection: &Connection) -> Result<i64, Reason> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let (application, found, tables): (i64, i64, i64) = connection
        .query_row(
            "SELECT
                (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version),
                (SELECT count(*) FROM sqlite_schema)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => Reason::Foreign,
            _ => Reason::from(error),
        })?;
    let empty = application == 0 && found == 0 && tables == 0;
    if !empty && (application != APPLICATION_ID || found < 1) {
        return Err(Reason::Foreign);
    }
    if found > known {
        return Err(Reason::Newer { found, known });
    }
    Ok(found)
}
