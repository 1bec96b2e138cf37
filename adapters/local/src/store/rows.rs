//! Items as rows.

use bytes::Bytes;
use pup_extension::{
    store::{Item, KeyError, Name, Partition, Revision, Value},
    time::Timestamp,
};
use rusqlite::{Error, Result, Row, types::ToSql, types::Type, types::ValueRef};

/// A time as the database keeps it. A later one than it can keep is later than every expiry: core bounds
/// those ([`MAX_EXPIRY`](pup_extension::store::MAX_EXPIRY)).
pub(super) fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The item in the columns `revision, expires_at, value`, which start at this one.
///
/// # Errors
///
/// When a column holds what this crate never writes.
pub(super) fn item(row: &Row<'_>, from: usize) -> Result<Item> {
    let expires_at = match row.get::<_, Option<i64>>(from + 1)? {
        None => None,
        Some(at) => {
            let millis =
                u64::try_from(at).map_err(|_| Error::IntegralValueOutOfRange(from + 1, at))?;
            Some(Timestamp::from_millis(millis))
        }
    };
    let value = match row.get_ref(from + 2)? {
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Blob(bytes) => Value::Bytes(Bytes::copy_from_slice(bytes)),
        other => {
            let column = String::from("value");
            return Err(Error::InvalidColumnType(
                from + 2,
                column,
                other.data_type(),
            ));
        }
    };
    Ok(Item {
        value,
        revision: Revision::from_bytes(row.get(from)?),
        expires_at,
    })
}

/// The name in this column.
///
/// # Errors
///
/// When it holds what this crate never writes.
pub(super) fn name(row: &Row<'_>, column: usize) -> Result<Name> {
    Name::from_encoded(row.get::<_, String>(column)?).map_err(|error| no_key(column, error))
}

/// The partition in this column.
///
/// # Errors
///
/// When it holds what this crate never writes.
pub(super) fn partition(row: &Row<'_>, column: usize) -> Result<Partition> {
    Partition::from_encoded(row.get::<_, String>(column)?).map_err(|error| no_key(column, error))
}

fn no_key(column: usize, error: KeyError) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// A value as a parameter.
pub(super) fn parameter(value: &Value) -> Box<dyn ToSql + '_> {
    match value {
        Value::Bytes(bytes) => Box::new(bytes.as_ref()),
        Value::Number(number) => Box::new(*number),
    }
}
