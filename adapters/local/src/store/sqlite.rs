//! [`SqliteStore`], the port's three operations.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use pup_extension::{
    store::{Commit, Item, Key, Outcome, Page, Query, Store, StoreError},
    time::Timestamp,
};
use rusqlite::Connection;

use super::{
    apply,
    due::{self, DuePage, Place},
    error::{OpenError, Reason},
    file::{self, Database},
    readers::{self, Readers},
    schema,
    writer::Writer,
};

/// A store in an SQLite database file: strict, and what it acknowledged survives a crash and a power loss.
///
/// A clone is another handle on the same connections. With the last handle the file is closed; dropping that
/// one waits until what was queued is written. Several processes, and several stores in one process, can have
/// the same file open.
///
/// Its futures run on a tokio runtime. A commit that was begun is carried out even if its future is dropped.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// use pup_extension::{
///     store::{Change, Commit, Key, Name, Outcome, Partition, Revision, Store, Value},
///     time::Timestamp,
/// };
/// use pup_extension_local::SqliteStore;
///
/// let path = folder.path().join("data/extension.sqlite");
/// let now = Timestamp::from_secs(1_785_196_800);
/// let count = Key::new(Partition::installation("guild-1"), Name::of(["count", "popcorn"])?);
/// let commit = Commit::new(Revision::new(0x5eed), count.partition.clone())
///     .with(Change::add(count.name.clone(), 2))?;
///
/// let runtime = tokio::runtime::Runtime::new()?;
/// let store = SqliteStore::open(&path)?;
/// assert_eq!(runtime.block_on(store.commit(&commit, now))?, Outcome::Applied);
/// drop(store);
///
/// let store = SqliteStore::open(&path)?;
/// let item = runtime.block_on(store.get(&count, now))?.expect("was committed");
/// assert_eq!(item.value, Value::Number(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

impl SqliteStore {
    /// Opens the database with [`SqliteOptions::default`].
    ///
    /// # Errors
    ///
    /// As [`SqliteOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        SqliteOptions::default().open(path)
    }

    /// A page of what the background has to do, over all partitions: what stands under
    /// [`DUE_PREFIX`](pup_extension::task::DUE_PREFIX) and has not expired.
    pub(crate) async fn due(
        &self,
        from: Option<Place>,
        now: Timestamp,
    ) -> Result<DuePage, StoreError> {
        self.read(move |connection| due::page(connection, from, due::PAGE, now))
            .await
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(read).await
    }
}

/// How long opening waits where another process is opening the same file.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    busy_timeout: Duration,
    readers: usize,
}

impl Default for SqliteOptions {
    /// A busy timeout of two seconds, which leaves time within the five that a request has; four readers.
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(2),
            readers: 4,
        }
    }
}

impl SqliteOptions {
    /// How long to wait while another process has the database locked.
    #[must_use]
    pub const fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many reads go on at once; at least one.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Opens the database, and makes the file (mode 0600) and its folder (0700) where they are not there.
    /// Blocks while it does so.
    ///
    /// # Errors
    ///
    /// When the file or its folder can't be made; when the file is no database of an extension, or of a newer
    /// version of this crate, either of which it leaves alone; when the database is damaged or busy for too
    /// long.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, OpenError> {
        let path = path.as_ref();
        let begun = Instant::now();
        loop {
            match self.try_open(path) {
                // SQLite does not wait where two switch one file to WAL at once: one of them is told so.
                Err(reason) if reason.is_busy() && begun.elapsed() < self.busy_timeout => {
                    thread::sleep(BETWEEN_TRIES);
                }
                opened => {
                    return opened.map_err(|reason| OpenError::new(path.to_owned(), reason));
                }
            }
        }
    }

    fn try_open(&self, path: &Path) -> Result<SqliteStore, Reason> {
        let database = Database::create(path, self.busy_timeout)?;
        let mut connection = database.connect()?;
        // Before anything is written: a file that is not ours keeps its journal mode, too.
        schema::version(&connection)?;
        file::make_durable(&connection)?;
        schema::migrate(&mut connection)?;
        Ok(SqliteStore {
            writer: Arc::new(Writer::start(connection)?),
            readers: Readers::new(database, self.readers),
        })
    }
}

impl Store for SqliteStore {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        let Key { partition, name } = key.clone();
        self.read(move |connection| apply::find(connection, &partition, &name, now))
            .await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        if commit.changes().is_empty() {
            return Ok(Outcome::Applied);
        }
        self.writer.commit(commit, now).await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        let query = query.clone();
        self.read(move |connection| readers::list(connection, &query, now))
            .await
    }
}
