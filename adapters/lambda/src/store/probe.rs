//! Whether the table is there.

use super::{
    DynamoStore, attributes,
    failure::{Failure, FailureKind, failure},
};
use crate::settings::TABLE;

/// Why the table can't be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "the table that {TABLE} names can't be used: it must be there, with the string keys `pk` and `sk`, and the function's role must allow to read and write it"
)]
pub(crate) struct ProbeError(#[source] Failure);

impl DynamoStore {
    /// Reads an item that isn't there. It brings the connection about, so that no request has to wait for it, and finds
    /// out what is wrong with the table.
    ///
    /// That the table can't be reached now is left for the requests to say: it may pass.
    pub(crate) async fn probe(&self) -> Result<(), ProbeError> {
        let read = self
            .client
            .get_item()
            .table_name(&self.table)
            .key(attributes::PARTITION, attributes::text("u"))
            .key(attributes::NAME, attributes::text("probe"))
            .send();
        let failed = match tokio::time::timeout(super::patience::ATTEMPT, read).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => failure(&error),
            Err(_) => Failure::new(FailureKind::Lost, "the table did not answer in time"),
        };
        if failed.kind == FailureKind::Refused {
            return Err(ProbeError(failed));
        }
        tracing::warn!(
            error = crate::log::chain(&failed),
            "the table can't be reached yet"
        );
        Ok(())
    }
}
