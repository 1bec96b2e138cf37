//! What is due, over all partitions.

use pup_extension::{
    store::{Cursor, Key, Partition, Query},
    task::{DUE_PREFIX, Job, due},
    time::Timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Result};

use super::{readers, rows};

/// How many entries and partitions one page takes, together: it bounds the memory and the time of one read.
pub(super) const PAGE: usize = 1_000;

/// The partition behind this one. Each is found by one search of the index, whatever the partitions hold.
const NEXT: &str = "SELECT partition FROM item WHERE partition > ?1 ORDER BY partition LIMIT 1";

/// A page of the jobs that are due, each with its time.
#[derive(Debug)]
pub(crate) struct DuePage {
    /// By partition, and in each by time.
    pub(crate) jobs: Vec<(Job, Timestamp)>,
    /// Where to go on; `None` when this was the last page.
    pub(crate) next: Option<Place>,
}

/// A place between two pages.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    partition: Partition,
    after: Option<Cursor>,
}

/// The page that starts at a place, or at the start. It may be empty and still not be the last.
pub(super) fn page(
    connection: &Connection,
    from: Option<Place>,
    most: usize,
    now: Timestamp,
) -> Result<DuePage> {
    let mut next = match from {
        Some(place) => Some(place),
        None => behind(connection, "")?,
    };
    let mut jobs = Vec::new();
    let mut left = most;
    while left > 0
        && let Some(Place { partition, after }) = next
    {
        let query = Query {
            partition,
            prefix: String::from(DUE_PREFIX),
            after,
            limit: left,
        };
        let found = readers::list(connection, &query, now)?;
        let partition = query.partition;
        left = left.saturating_sub(found.items.len() + 1);
        for (name, _) in found.items {
            // What a later version wrote is for a later version to run.
            jobs.extend(due(&Key::new(partition.clone(), name)));
        }
        next = match found.next {
            after @ Some(_) => Some(Place { partition, after }),
            None => behind(connection, partition.as_str())?,
        };
    }
    Ok(DuePage { jobs, next })
}

/// The start of the partition behind this one.
fn behind(connection: &Connection, partition: &str) -> Result<Option<Place>> {
    connection
        .prepare_cached(NEXT)?
        .query_row([partition], |row| rows::partition(row, 0))
        .optional()
        .map(|found| {
            found.map(|partition| Place {
                partition,
                after: None,
            })
        })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use pup_extension::store::{
        Change, Commit, Expect, Name, Outcome, Revision, Store as _, Value,
    };

    use super::*;
    use crate::SqliteStore;

    const NOW: Timestamp = Timestamp::from_secs(1_785_196_800);

    async fn put(store: &SqliteStore, partition: &Partition, name: &str, expires_in: Option<u64>) {
        let expires_at = expires_in.map(|secs| NOW + Duration::from_secs(secs));
        let name = Name::from_encoded(name).unwrap();
        let put = Change::put(name, Expect::Absent, Value::Number(1), expires_at);
        let commit = Commit::new(Revision::new(1), partition.clone())
            .with(put)
            .unwrap();
        // Before the earliest expiry, so that each is written.
        let outcome = store.commit(&commit, Timestamp::EPOCH).await.unwrap();
        assert_eq!(outcome, Outcome::Applied);
    }

    fn entry(task: &str, secs: u64) -> String {
        format!("due/{:016}/{task}", secs * 1_000)
    }

    /// All pages of this size: what is due, as the partition, the task and the second.
    async fn all(store: &SqliteStore, most: usize) -> Vec<(String, String, u64)> {
        let mut found = Vec::new();
        let mut from = None;
        for _ in 0..100 {
            let place = from.take();
            let page = store
                .read(move |connection| page(connection, place, most, NOW))
                .await
                .unwrap();
            assert!(page.jobs.len() <= most, "a page of {}", page.jobs.len());
            found.extend(page.jobs.into_iter().map(|(job, at)| {
                let partition = job.partition().as_str().to_owned();
                (partition, job.task_id().to_owned(), at.as_secs())
            }));
            from = page.next;
            if from.is_none() {
                return found;
            }
        }
        panic!("the listing has no end");
    }

    #[tokio::test]
    async fn what_is_due_is_found_in_every_partition_in_pages_of_any_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let store = SqliteStore::open(&path).unwrap();
        assert!(all(&store, PAGE).await.is_empty());

        let past = NOW.as_secs() - 60;
        let future = NOW.as_secs() + 60;
        let mut expected = BTreeSet::new();
        for installation in ["a", "b/c", "z"] {
            let partition = Partition::installation(installation);
            for (task, at) in [("one", past), ("two", future), ("three", 0)] {
                put(&store, &partition, &entry(task, at), Some(3_600)).await;
                expected.insert((partition.as_str().to_owned(), task.to_owned(), at));
            }
            put(&store, &partition, &entry("gone", past), Some(0)).await;
            put(&store, &partition, "data/x", None).await;
            put(&store, &partition, "due", None).await;
            put(&store, &partition, "due0", None).await;
            put(&store, &partition, "due/9/of-another-version", None).await;
        }
        // Partitions in which nothing is due stand between, and last.
        for installation in ["b", "zz"] {
            let partition = Partition::installation(installation);
            put(&store, &partition, "data/x", None).await;
            put(&store, &partition, &entry("gone", past), Some(0)).await;
        }
        put(&store, &Partition::unscoped(), &entry("one", past), None).await;
        expected.insert((String::from("u"), String::from("one"), past));
        drop(store);

        let store = SqliteStore::open(&path).unwrap();
        for most in [1, 2, 3, 4, 5, PAGE] {
            let found = all(&store, most).await;
            assert_eq!(found.len(), expected.len(), "pages of {most}");
            assert_eq!(BTreeSet::from_iter(found), expected, "pages of {most}");
        }
    }

    #[test]
    fn a_partition_is_found_without_reading_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        drop(SqliteStore::open(&path).unwrap());
        let plan: String = Connection::open(&path)
            .unwrap()
            .query_row(&format!("EXPLAIN QUERY PLAN {NEXT}"), ["a"], |row| {
                row.get("detail")
            })
            .unwrap();
        assert!(
            plan.starts_with("SEARCH item USING COVERING INDEX"),
            "{plan}"
        );
    }
}
