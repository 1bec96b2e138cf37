//! What another process left to do.

use std::{sync::Arc, time::Duration};

use super::{Shared, back_off};
use crate::{SqliteStore, log::chain, runtime::now};

/// Another process on the same file may die and leave work at any time: so it is looked for again and again.
const SCAN_AGAIN: Duration = Duration::from_secs(60);

/// Takes in everything that is due, now or later, at the start and every minute, until the background has stopped.
pub(super) async fn scan(store: SqliteStore, shared: Arc<Shared>) {
    let Some(tasks) = take_in(&store, &shared).await else {
        return;
    };
    if tasks > 0 {
        tracing::info!(tasks, "took up the tasks that are due");
    }
    loop {
        tokio::time::sleep(SCAN_AGAIN).await;
        if take_in(&store, &shared).await.is_none() {
            return;
        }
    }
}

/// Takes everything in once, page by page, until that has succeeded; how many tasks, or none where the background has
/// stopped.
async fn take_in(store: &SqliteStore, shared: &Shared) -> Option<usize> {
    let mut from = None;
    let mut failures = 0;
    let mut tasks = 0;
    loop {
        match store.due(from.clone(), now()).await {
            Ok(page) => {
                failures = 0;
                tasks += page.jobs.len();
                if !shared.add(page.jobs) {
                    return None;
                }
                from = page.next;
                if from.is_none() {
                    return Some(tasks);
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
}
