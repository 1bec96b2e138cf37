//! What a change expects, as DynamoDB checks it.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use pup_extension::{
    store::{Expect, Revision},
    time::Timestamp,
};

use super::attributes::{blob, number};

/// A condition, and the values that it names. TTL removes items late, so expiry is part of each.
#[derive(Debug, Default)]
pub(super) struct Condition {
    expression: String,
    values: HashMap<String, AttributeValue>,
}

impl Condition {
    /// What a change expects of its item at `now`.
    pub(super) fn expecting(expect: Expect, now: Timestamp) -> Self {
        let mut condition = Self::default();
        match expect {
            Expect::Any => {}
            Expect::Absent => {
                condition.and("attribute_not_exists(pk) OR x <= :now");
                condition.value(":now", number(now.as_millis()));
            }
            Expect::At(revision) => {
                condition.and("r = :at");
                condition.value(":at", blob(revision));
                condition.alive(now);
            }
        }
        condition
    }

    /// That what stands there is this, expired or not.
    pub(super) fn seeing(revision: Option<Revision>) -> Self {
        let mut condition = Self::default();
        match revision {
            None => condition.and("attribute_not_exists(pk)"),
            Some(revision) => {
                condition.and("r = :seen");
                condition.value(":seen", blob(revision));
            }
        }
        condition
    }

    /// Also, that `delta` can be added to what is there, and the sum is in range.
    pub(super) fn can_add(&mut self, delta: i64, now: Timestamp) {
        let (least, most) = if delta < 0 {
            (i64::MIN - delta, i64::MAX)
        } else {
            (i64::MIN, i64::MAX - delta)
        };
        self.and("attribute_not_exists(v)");
        self.and("attribute_not_exists(n) OR n BETWEEN :least AND :most");
        self.value(":least", number(least));
        self.value(":most", number(most));
        self.alive(now);
    }

    fn alive(&mut self, now: Timestamp) {
        self.and("attribute_not_exists(x) OR x > :now");
        self.value(":now", number(now.as_millis()));
    }

    fn and(&mut self, clause: &str) {
        if !self.expression.is_empty() {
            self.expression.push_str(" AND ");
        }
        self.expression.push('(');
        self.expression.push_str(clause);
        self.expression.push(')');
    }

    /// Adds a value that is named.
    pub(super) fn value(&mut self, name: &str, value: AttributeValue) {
        self.values.insert(name.to_owned(), value);
    }

    /// The expression and its values, each `None` where there is none: DynamoDB takes no empty ones.
    pub(super) fn into_parts(self) -> (Option<String>, Option<HashMap<String, AttributeValue>>) {
        (
            (!self.expression.is_empty()).then_some(self.expression),
            (!self.values.is_empty()).then_some(self.values),
        )
    }
}
