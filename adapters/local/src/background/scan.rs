//! What an earlier process left to do.

use std::sync::Arc;

use super::{Shared, back_off};
use crate::{SqliteStore, log::chain, runtime::now};

/// Takes in everything that is due, now or later, page by page; until it has succeeded, or the background has stopped.
/// What becomes due meanwhile is scheduled by whoever makes it so.
pub(super) async fn scan(store: SqliteStore, shared: Arc<Shared>) {
    let mut from = None;
    let mut failures = 0;
    let mut tasks = 0;
    loop {
        match store.due(from.clone(), now()).await {
            Ok(page) => {
                failures = 0;
                tasks += page.jobs.len();
                if !shared.add(page.jobs) {
                    return;
                }
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
            Err(error) => {
                failures += 1;
                let pause = back_off(failures);
                tracing::error!(
                    error = chain(&error),
                    again_in_secs = pause.as_secs(),
                    "the tasks that are due could not be listed"
                );
                tokio::time::sleep(pause).await;
            }
        }
    }
    if tasks > 0 {
        tracing::info!(tasks, "took up the tasks that are due");
    }
}
