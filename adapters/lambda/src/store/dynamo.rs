//! The three operations.

use std::{fmt, time::Duration};

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::{
        delete_item::DeleteItemError, put_item::PutItemError,
        transact_write_items::TransactWriteItemsError, update_item::UpdateItemError,
    },
    types::{
        CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
        TransactWriteItem, Update,
    },
};
use pup_extension::{
    store::{
        Change, Commit, Cursor, Expect, Item, Key, Operation, Outcome, Page, Query, Store,
        StoreError,
    },
    time::Timestamp,
};

use super::{
    attributes::{self, Attributes, Malformed},
    failure::{Failure, FailureKind, failure},
    patience::{Limits, Patience},
    plan::{Act, Failed, Plan, Write},
};

/// A store on one DynamoDB table. A clone is another handle on the same.
///
/// The table has the string keys `pk` (hash) and `sk` (range), and its TTL attribute is `ttl`. Reads are consistent;
/// what has expired is absent from then on, although DynamoDB removes it hours later.
///
/// A commit of one change is one conditional write; of several, one transaction. Where DynamoDB throttles, or another
/// transaction holds an item, the operation is tried again after a short random pause, until the request's time is
/// over, or for four seconds outside of one. So the client should do no retries of its own: one of a lost answer, of a
/// commit that adds, could add twice.
#[derive(Clone)]
pub struct DynamoStore {
    pub(super) client: Client,
    pub(super) table: String,
    limits: Limits,
}

/// What became of one attempt to commit.
enum Attempt {
    Applied,
    /// Nothing was applied: the conditions of these writes failed.
    Conditions(Vec<Failed>),
    Failed(Failure),
}

impl DynamoStore {
    /// The store on this table, by a client that does no retries of its own.
    #[must_use]
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self {
            client,
            table: table.into(),
            limits: Limits::DEFAULT,
        }
    }

    /// Tries each operation for as long as this (four seconds), and each time for as long as it takes (a second and a
    /// half). In a request of [`run`](crate::run()) the request's end comes first.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.limits = Limits::up_to(patience);
        self
    }

    async fn read(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let key = attributes::key(&key.partition, &key.name);
        let read = || {
            self.client
                .get_item()
                .table_name(&self.table)
                .set_key(Some(key.clone()))
                .consistent_read(true)
                .send()
        };
        let found = patiently(self.limits, read).await?.item;
        found
            .map(attributes::item)
            .transpose()
            .map_err(StoreError::not_applied)
    }

    async fn attempt(&self, plan: &Plan<'_>) -> Attempt {
        let mut writes: Vec<Write> = plan.writes().collect();
        match writes.pop() {
            None => Attempt::Applied,
            Some(write) if writes.is_empty() => self.one(write).await,
            Some(write) => {
                writes.push(write);
                self.several(writes).await
            }
        }
    }

    /// A single write, which needs no transaction. (A single check is a read.)
    async fn one(&self, write: Write) -> Attempt {
        let all_old = ReturnValuesOnConditionCheckFailure::AllOld;
        match write.act {
            Act::Put(item) => {
                let sent = self
                    .client
                    .put_item()
                    .table_name(&self.table)
                    .set_item(Some(item))
                    .set_condition_expression(write.condition)
                    .set_expression_attribute_values(write.values)
                    .return_values_on_condition_check_failure(all_old)
                    .send()
                    .await;
                match sent {
                    Ok(_) => Attempt::Applied,
                    Err(SdkError::ServiceError(error)) => match error.err() {
                        PutItemError::ConditionalCheckFailedException(found) => {
                            Attempt::Conditions(vec![(0, found.item.clone())])
                        }
                        _ => Attempt::Failed(failure(&SdkError::ServiceError(error))),
                    },
                    Err(error) => Attempt::Failed(failure(&error)),
                }
            }
            Act::Update { expression, names } => {
                let sent = self
                    .client
                    .update_item()
                    .table_name(&self.table)
                    .set_key(Some(write.key))
                    .update_expression(expression)
                    .set_expression_attribute_names(Some(names))
                    .set_condition_expression(write.condition)
                    .set_expression_attribute_values(write.values)
                    .return_values_on_condition_check_failure(all_old)
                    .send()
                    .await;
                match sent {
                    Ok(_) => Attempt::Applied,
                    Err(SdkError::ServiceError(error)) => match error.err() {
                        UpdateItemError::ConditionalCheckFailedException(found) => {
                            Attempt::Conditions(vec![(0, found.item.clone())])
                        }
                        _ => Attempt::Failed(failure(&SdkError::ServiceError(error))),
                    },
                    Err(error) => Attempt::Failed(failure(&error)),
                }
            }
            Act::Delete => {
                let sent = self
                    .client
                    .delete_item()
                    .table_name(&self.table)
                    .set_key(Some(write.key))
                    .set_condition_expression(write.condition)
                    .set_expression_attribute_values(write.values)
                    .return_values_on_condition_check_failure(all_old)
                    .send()
                    .await;
                match sent {
                    Ok(_) => Attempt::Applied,
                    Err(SdkError::ServiceError(error)) => match error.err() {
                        DeleteItemError::ConditionalCheckFailedException(found) => {
                            Attempt::Conditions(vec![(0, found.item.clone())])
                        }
                        _ => Attempt::Failed(failure(&SdkError::ServiceError(error))),
                    },
                    Err(error) => Attempt::Failed(failure(&error)),
                }
            }
            Act::Check => self.several(vec![write]).await,
        }
    }

    async fn several(&self, writes: Vec<Write>) -> Attempt {
        let mut items = Vec::with_capacity(writes.len());
        for write in writes {
            match self.transacted(write) {
                Ok(item) => items.push(item),
                Err(error) => {
                    let what = error.to_string();
                    return Attempt::Failed(Failure::new(FailureKind::Refused, what));
                }
            }
        }
        let sent = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .send()
            .await;
        match sent {
            Ok(_) => Attempt::Applied,
            Err(SdkError::ServiceError(error)) => match error.err() {
                TransactWriteItemsError::TransactionCanceledException(cancelled) => {
                    reasons(cancelled.cancellation_reasons())
                }
                _ => Attempt::Failed(failure(&SdkError::ServiceError(error))),
            },
            Err(error) => Attempt::Failed(failure(&error)),
        }
    }

    fn transacted(
        &self,
        write: Write,
    ) -> Result<TransactWriteItem, aws_sdk_dynamodb::error::BuildError> {
        let all_old = ReturnValuesOnConditionCheckFailure::AllOld;
        let item = TransactWriteItem::builder();
        let Write {
            key,
            act,
            condition,
            values,
        } = write;
        let item = match act {
            Act::Put(attributes) => item.put(
                Put::builder()
                    .table_name(&self.table)
                    .set_item(Some(attributes))
                    .set_condition_expression(condition)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(all_old)
                    .build()?,
            ),
            Act::Update { expression, names } => item.update(
                Update::builder()
                    .table_name(&self.table)
                    .set_key(Some(key))
                    .update_expression(expression)
                    .set_expression_attribute_names(Some(names))
                    .set_condition_expression(condition)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(all_old)
                    .build()?,
            ),
            Act::Delete => item.delete(
                Delete::builder()
                    .table_name(&self.table)
                    .set_key(Some(key))
                    .set_condition_expression(condition)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(all_old)
                    .build()?,
            ),
            Act::Check => item.condition_check(
                ConditionCheck::builder()
                    .table_name(&self.table)
                    .set_key(Some(key))
                    .condition_expression(
                        // One that expects nothing still has to say something.
                        condition.unwrap_or_else(|| {
                            "attribute_exists(pk) OR attribute_not_exists(pk)".to_owned()
                        }),
                    )
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(all_old)
                    .build()?,
            ),
        };
        Ok(item.build())
    }
}

impl Store for DynamoStore {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        let found = self.read(key).await?;
        Ok(found.filter(|item| !item.is_expired(now)))
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        let mut plan = Plan::new(commit, now);
        if let [
            Change {
                name,
                expect,
                operation: Operation::Check,
            },
        ] = commit.changes()
        {
            let key = Key::new(commit.partition().clone(), name.clone());
            return Ok(plan.check(*expect, self.read(&key).await?));
        }
        let mut patience = Patience::new(self.limits);
        loop {
            let failure = match patience.attempt(Box::pin(self.attempt(&plan))).await {
                Some(Attempt::Applied) => return Ok(Outcome::Applied),
                Some(Attempt::Conditions(failed)) => {
                    match plan.judge(failed).map_err(StoreError::not_applied)? {
                        Some(outcome) => return Ok(outcome),
                        None => Failure::new(
                            FailureKind::Passing,
                            "others kept changing what was to be added to",
                        ),
                    }
                }
                Some(Attempt::Failed(failure)) => failure,
                None => Failure::new(FailureKind::Lost, "the table did not answer in time"),
            };
            match failure.kind {
                FailureKind::Refused => return Err(StoreError::not_applied(failure)),
                FailureKind::Lost => return Err(StoreError::unknown(failure)),
                FailureKind::Passing => {
                    if !patience.pause().await {
                        return Err(StoreError::not_applied(failure));
                    }
                }
                FailureKind::InProgress => {
                    // An earlier copy. Another one meets it, if the commit can tell itself.
                    if !is_anchored(commit) || !patience.pause().await {
                        return Err(StoreError::unknown(failure));
                    }
                }
            }
        }
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        let after = match &query.after {
            // DynamoDB refuses to start outside of what is asked for.
            Some(Cursor(after)) if !after.starts_with(&query.prefix) => {
                if *after > query.prefix {
                    return Ok(Page::default());
                }
                None
            }
            after => after.as_ref(),
        };
        let start = after.map(|Cursor(after)| {
            Attributes::from([
                (
                    attributes::PARTITION.to_owned(),
                    attributes::text(query.partition.as_str()),
                ),
                (
                    attributes::NAME.to_owned(),
                    attributes::text(after.as_str()),
                ),
            ])
        });
        let keys = if query.prefix.is_empty() {
            "pk = :pk"
        } else {
            "pk = :pk AND begins_with(sk, :prefix)"
        };
        let limit = i32::try_from(query.page_size()).unwrap_or(i32::MAX);
        let read = || {
            let mut read = self
                .client
                .query()
                .table_name(&self.table)
                .consistent_read(true)
                .key_condition_expression(keys)
                .filter_expression("attribute_not_exists(x) OR x > :now")
                .expression_attribute_values(":pk", attributes::text(query.partition.as_str()))
                .expression_attribute_values(":now", attributes::number(now.as_millis()))
                .limit(limit)
                .set_exclusive_start_key(start.clone());
            if !query.prefix.is_empty() {
                read = read.expression_attribute_values(
                    ":prefix",
                    attributes::text(query.prefix.as_str()),
                );
            }
            read.send()
        };
        let answer = patiently(self.limits, read).await?;
        let mut page = Page::default();
        for found in answer.items.unwrap_or_default() {
            let name = attributes::name(&found).map_err(StoreError::not_applied)?;
            let item = attributes::item(found).map_err(StoreError::not_applied)?;
            page.items.push((name, item));
        }
        page.next = answer
            .last_evaluated_key
            .as_ref()
            .map(|last| attributes::name(last).map(|name| Cursor::past(&name)))
            .transpose()
            .map_err(|error: Malformed| StoreError::not_applied(error))?;
        Ok(page)
    }
}

/// Reads, and reads again as long as that is worth it.
async fn patiently<T, E, F>(limits: Limits, read: impl Fn() -> F) -> Result<T, StoreError>
where
    E: aws_sdk_dynamodb::error::ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    F: Future<Output = Result<T, SdkError<E>>>,
{
    let mut patience = Patience::new(limits);
    loop {
        let failure = match patience.attempt(read()).await {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(error)) => failure(&error),
            None => Failure::new(FailureKind::Lost, "the table did not answer in time"),
        };
        if failure.kind == FailureKind::Refused || !patience.pause().await {
            return Err(StoreError::not_applied(failure));
        }
    }
}

/// Why a transaction was cancelled. Each write has a reason, `None` among them.
fn reasons(reasons: &[CancellationReason]) -> Attempt {
    let mut failed = Vec::new();
    let mut passing = false;
    for (place, reason) in reasons.iter().enumerate() {
        match reason.code() {
            None | Some("None") => {}
            Some("ConditionalCheckFailed") => failed.push((place, reason.item.clone())),
            // What these writes would have met is not known, so the transaction is sent again.
            Some("TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError") => {
                passing = true;
            }
            Some(code) => {
                let what = format!("the transaction was refused: {code}");
                return Attempt::Failed(Failure::new(FailureKind::Refused, what));
            }
        }
    }
    if passing {
        Attempt::Failed(Failure::new(
            FailureKind::Passing,
            "other transactions held the items, or the table was throttled",
        ))
    } else if failed.is_empty() {
        let what = "the transaction was cancelled without a reason";
        Attempt::Failed(Failure::new(FailureKind::Refused, what))
    } else {
        Attempt::Conditions(failed)
    }
}

/// Whether a second copy of a commit meets the first.
fn is_anchored(commit: &Commit) -> bool {
    commit.changes().first().is_some_and(|first| {
        matches!(first.operation, Operation::Put { .. }) && first.expect != Expect::Any
    })
}

impl fmt::Debug for DynamoStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoStore")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}
