//! A commit as the writes that DynamoDB does, and what its refusals mean.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use pup_extension::{
    store::{Change, Commit, Expect, InTheWay, Item, Operation, Outcome, Value},
    time::Timestamp,
};

use super::{
    attributes::{self, Attributes, Malformed},
    condition::Condition,
};

/// The most common sum is done by DynamoDB, under the condition that it is in range.
const ADD: &str = "SET n = if_not_exists(n, :zero) + :delta, r = :id REMOVE x, #ttl";

/// The writes of a commit. It changes as it learns what it adds to.
pub(super) struct Plan<'a> {
    commit: &'a Commit,
    now: Timestamp,
    /// By its place in the commit, what an add that DynamoDB can't do by itself met: an item that has expired, or a sum
    /// out of range.
    met: HashMap<usize, Option<Item>>,
}

/// One write, under a condition.
pub(super) struct Write {
    pub(super) key: Attributes,
    pub(super) act: Act,
    pub(super) condition: Option<String>,
    pub(super) values: Option<HashMap<String, AttributeValue>>,
}

pub(super) enum Act {
    Put(Attributes),
    Update {
        expression: &'static str,
        names: HashMap<String, String>,
    },
    Delete,
    Check,
}

/// A write whose condition failed, by its place, with what stands there.
pub(super) type Failed = (usize, Option<Attributes>);

impl<'a> Plan<'a> {
    pub(super) fn new(commit: &'a Commit, now: Timestamp) -> Self {
        Self {
            commit,
            now,
            met: HashMap::new(),
        }
    }

    /// Every write, in the order of the changes.
    pub(super) fn writes(&self) -> impl Iterator<Item = Write> + '_ {
        let changes = self.commit.changes().iter().enumerate();
        changes.map(|(place, change)| self.write(place, change))
    }

    fn write(&self, place: usize, change: &Change) -> Write {
        let (partition, id) = (self.commit.partition(), self.commit.id());
        let mut condition = Condition::expecting(change.expect, self.now);
        let put = |value: &Value, expires_at| {
            Act::Put(attributes::whole(
                partition,
                &change.name,
                id,
                value,
                expires_at,
            ))
        };
        let act = match &change.operation {
            Operation::Put { value, expires_at } => put(value, *expires_at),
            Operation::Delete => Act::Delete,
            Operation::Check => Act::Check,
            Operation::Add { delta } => match self.met.get(&place) {
                Some(met) => {
                    condition = Condition::seeing(met.as_ref().map(|item| item.revision));
                    let met = met.as_ref().filter(|item| !item.is_expired(self.now));
                    put(&Value::Number(sum(met, *delta)), None)
                }
                None => {
                    condition.can_add(*delta, self.now);
                    condition.value(":zero", attributes::number(0));
                    condition.value(":delta", attributes::number(delta));
                    condition.value(":id", attributes::blob(id));
                    Act::Update {
                        expression: ADD,
                        names: HashMap::from([("#ttl".to_owned(), attributes::TTL.to_owned())]),
                    }
                }
            },
        };
        let (condition, values) = condition.into_parts();
        Write {
            key: attributes::key(partition, &change.name),
            act,
            condition,
            values,
        }
    }

    /// What the writes whose condition failed mean: an outcome, or `None` where the commit is to be sent again, with
    /// what was learned. An item at the commit's own id is in the way like any: whoever sent it recognises it.
    pub(super) fn judge(&mut self, failed: Vec<Failed>) -> Result<Option<Outcome>, Malformed> {
        let mut in_the_way = Vec::new();
        for (place, found) in failed {
            let Some(change) = self.commit.changes().get(place) else {
                continue;
            };
            let found = found.map(attributes::item).transpose()?;
            let alive = found.clone().filter(|item| !item.is_expired(self.now));
            if change.expect.holds(alive.as_ref()) && change.operation.fits(alive.as_ref()) {
                // Only an add is refused for other reasons than those.
                self.met.insert(place, found);
            } else {
                in_the_way.push(InTheWay {
                    name: change.name.clone(),
                    item: alive,
                });
            }
        }
        Ok((!in_the_way.is_empty()).then_some(Outcome::Conflict(in_the_way)))
    }

    /// Whether a check holds of what was read.
    pub(super) fn check(&self, expect: Expect, found: Option<Item>) -> Outcome {
        let alive = found.filter(|item| !item.is_expired(self.now));
        if expect.holds(alive.as_ref()) {
            return Outcome::Applied;
        }
        let changes = self.commit.changes().iter();
        Outcome::Conflict(
            changes
                .map(|change| InTheWay {
                    name: change.name.clone(),
                    item: alive.clone(),
                })
                .collect(),
        )
    }
}

fn sum(item: Option<&Item>, delta: i64) -> i64 {
    match item.map(|item| &item.value) {
        Some(Value::Number(value)) => value.saturating_add(delta),
        // Bytes are in the way, and never get here.
        Some(Value::Bytes(_)) | None => delta,
    }
}
