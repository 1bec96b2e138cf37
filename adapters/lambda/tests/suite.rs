//! The shared store suite on DynamoDB.

mod common;

use std::time::Duration;

use pup_extension::store::suite::Harness;
use pup_extension_lambda::DynamoStore;

use pup_extension_tests::dynamodb::{DynamoDb, TABLE};

use crate::common::client;

#[expect(
    clippy::unwrap_used,
    reason = "a test helper; the lint exempts test functions alone"
)]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

const PATIENCE: Duration = Duration::from_secs(120);

/// Two clients with connections of their own, as two instances of a function have.
#[expect(clippy::unwrap_used, reason = "a test helper")]
async fn harness() -> Harness<DynamoStore> {
    let database = DynamoDb::start(None).await.unwrap();
    // A slow machine is no fault of the store's.
    let store = || DynamoStore::new(client(database.url()), TABLE).patience(PATIENCE);
    let (store, other) = (store(), store());
    Harness::new(store, other, 0).keeping(database)
}

mod one_table {
    use super::*;

    pup_extension::store_suite! {
        #[test]
        block_on = block_on,
        harness = harness().await,
        not_promised = [],
    }
}
