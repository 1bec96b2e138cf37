//! An item as DynamoDB keeps it.

use std::collections::HashMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use bytes::Bytes;
use pup_extension::{
    store::{Item, Name, Partition, Revision, Value},
    time::Timestamp,
};

pub(crate) const PARTITION: &str = "pk";
pub(crate) const NAME: &str = "sk";
pub(super) const REVISION: &str = "r";
pub(super) const BYTES: &str = "v";
pub(super) const NUMBER: &str = "n";
pub(super) const EXPIRES: &str = "x";
pub(super) const TTL: &str = "ttl";

/// What DynamoDB calls an item.
pub(super) type Attributes = HashMap<String, AttributeValue>;

/// What is under a key is not what this store writes.
#[derive(Debug, thiserror::Error)]
#[error(
    "the table holds an item that this program did not write: its attribute `{0}` is not as it should be"
)]
pub(super) struct Malformed(&'static str);

/// The key's attributes.
pub(super) fn key(partition: &Partition, name: &Name) -> Attributes {
    HashMap::from([
        (PARTITION.to_owned(), text(partition.as_str())),
        (NAME.to_owned(), text(name.as_str())),
    ])
}

/// A whole item.
pub(super) fn whole(
    partition: &Partition,
    name: &Name,
    revision: Revision,
    value: &Value,
    expires_at: Option<Timestamp>,
) -> Attributes {
    let mut attributes = key(partition, name);
    attributes.insert(REVISION.to_owned(), blob(revision));
    match value {
        Value::Bytes(bytes) => attributes.insert(
            BYTES.to_owned(),
            AttributeValue::B(Blob::new(bytes.as_ref())),
        ),
        Value::Number(value) => attributes.insert(NUMBER.to_owned(), number(value)),
    };
    if let Some(at) = expires_at {
        attributes.insert(EXPIRES.to_owned(), number(at.as_millis()));
        attributes.insert(TTL.to_owned(), number(at.as_millis().div_ceil(1_000)));
    }
    attributes
}

/// The item, whether or not it has expired.
pub(super) fn item(mut attributes: Attributes) -> Result<Item, Malformed> {
    let value = match (attributes.remove(BYTES), attributes.remove(NUMBER)) {
        (Some(AttributeValue::B(bytes)), None) => Value::Bytes(Bytes::from(bytes.into_inner())),
        (None, Some(AttributeValue::N(value))) => {
            Value::Number(value.parse().map_err(|_| Malformed(NUMBER))?)
        }
        (None, _) => return Err(Malformed(NUMBER)),
        (Some(_), _) => return Err(Malformed(BYTES)),
    };
    let revision = match attributes.get(REVISION) {
        Some(AttributeValue::B(bytes)) => <[u8; 16]>::try_from(bytes.as_ref())
            .map(Revision::from_bytes)
            .map_err(|_| Malformed(REVISION))?,
        _ => return Err(Malformed(REVISION)),
    };
    let expires_at = match attributes.get(EXPIRES) {
        None => None,
        Some(AttributeValue::N(millis)) => Some(Timestamp::from_millis(
            millis.parse().map_err(|_| Malformed(EXPIRES))?,
        )),
        Some(_) => return Err(Malformed(EXPIRES)),
    };
    Ok(Item {
        value,
        revision,
        expires_at,
    })
}

/// The name of an item that was read.
pub(super) fn name(attributes: &Attributes) -> Result<Name, Malformed> {
    match attributes.get(NAME) {
        Some(AttributeValue::S(name)) => {
            Name::from_encoded(name.as_str()).map_err(|_| Malformed(NAME))
        }
        _ => Err(Malformed(NAME)),
    }
}

pub(super) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(super) fn number(number: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(format!("{number}"))
}

pub(super) fn blob(revision: Revision) -> AttributeValue {
    AttributeValue::B(Blob::new(revision.to_bytes()))
}
