//! Reads, over a small pool of connections.

use std::sync::{Arc, Mutex, PoisonError};

use pup_extension::{
    store::{Page, Query, StoreError},
    time::Timestamp,
};
use rusqlite::{Connection, types::ToSql};
use tokio::{runtime::Handle, sync::Semaphore};

use super::{error::Failure, file::Database, rows};

const LIST: &str = "SELECT name, revision, expires_at, value FROM item
    WHERE partition = ?1 AND name >= ?2 AND (expires_at IS NULL OR expires_at > ?3)
    ORDER BY name LIMIT ?4";

const LIST_TO: &str = "SELECT name, revision, expires_at, value FROM item
    WHERE partition = ?1 AND name >= ?2 AND (expires_at IS NULL OR expires_at > ?3) AND name < ?5
    ORDER BY name LIMIT ?4";

/// Connections that only read. Each read sees the last commit that was acknowledged before it began.
#[derive(Debug)]
pub(super) struct Readers {
    database: Database,
    idle: Mutex<Vec<Connection>>,
    /// As many reads at once; others wait, first come, first served.
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(database: Database, most: usize) -> Arc<Self> {
        Arc::new(Self {
            database,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(most)),
        })
    }

    /// Runs a read on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let no_runtime = || Failure::NoRuntime.not_applied();
        let runtime = Handle::try_current().map_err(|_| no_runtime())?;
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| no_runtime())?;
        let readers = Arc::clone(self);
        let read = move || {
            let connection = match readers.idle().pop() {
                Some(connection) => connection,
                None => readers.database.reader()?,
            };
            let found = read(&connection);
            readers.idle().push(connection);
            drop(permit);
            found
        };
        runtime
            .spawn_blocking(read)
            .await
            .map_err(|_| no_runtime())?
            .map_err(|error| Failure::from(error).not_applied())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page of a listing.
pub(super) fn list(
    connection: &Connection,
    query: &Query,
    now: Timestamp,
) -> rusqlite::Result<Page> {
    let (from, to) = query.range();
    let partition = query.partition.as_str();
    let now = rows::millis(now);
    // One more, to know whether there is another page.
    let most = i64::try_from(query.page_size() + 1).unwrap_or(i64::MAX);
    let mut parameters: Vec<&dyn ToSql> = vec![&partition, &from, &now, &most];
    let mut sql = LIST;
    if let Some(to) = &to {
        sql = LIST_TO;
        parameters.push(to);
    }
    let mut statement = connection.prepare_cached(sql)?;
    let items = statement.query_map(parameters.as_slice(), |row| {
        Ok((rows::name(row, 0)?, rows::item(row, 1)?))
    })?;
    Page::collect(query, items)
}
