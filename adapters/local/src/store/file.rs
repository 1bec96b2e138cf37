//! The database file, and connections to it.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use super::error::Reason;

/// The write-ahead log is cut back to this many bytes after it was larger.
const LOG_BYTES: i64 = 64 * 1024 * 1024;

/// A file that is there, and how connections to it behave.
#[derive(Clone, Debug)]
pub(super) struct Database {
    path: PathBuf,
    busy_timeout: Duration,
}

impl Database {
    /// Makes the file if it is not there: readable by its owner alone, since it holds people's data. SQLite
    /// gives its log and index the same mode.
    pub(super) fn create(path: &Path, busy_timeout: Duration) -> io::Result<Self> {
        // Absolute, so that no name (`:memory:`, an empty one) means anything else to SQLite, and that it is
        // the same file after the process changed its folder.
        let path = std::path::absolute(path)?;
        let folder = path.parent();
        if let Some(folder) = folder {
            create_folder(folder)?;
        }
        match create_file(&path) {
            Ok(_) => {
                // Else a power loss could take the file with everything in it.
                if let Some(folder) = folder {
                    sync_folder(folder)?;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(Self { path, busy_timeout })
    }

    /// A connection as it comes; nothing in the file is changed.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.busy_timeout)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        Ok(connection)
    }

    /// A connection that only reads.
    pub(super) fn reader(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

/// Makes what is committed over the connection durable.
pub(super) fn make_durable(connection: &Connection) -> Result<(), Reason> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Reason::NoWal);
    }
    connection.pragma_update(None, "synchronous", "full")?;
    // On macOS a plain sync stops at the drive's cache. Elsewhere these change nothing.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    Ok(())
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder can't be opened; its file system sees to it.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_synced_before_a_commit_is_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let database = Database::create(&path, Duration::from_secs(1)).unwrap();
        let connection = database.connect().unwrap();
        make_durable(&connection).unwrap();
        let pragma = |name: &str| -> String {
            let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal");
        // 2 is FULL.
        assert_eq!(pragma("synchronous"), "2");
        assert_eq!(pragma("fullfsync"), "1");
        assert_eq!(pragma("checkpoint_fullfsync"), "1");
        assert_eq!(pragma("journal_size_limit"), LOG_BYTES.to_string());
    }

    #[test]
    fn a_reader_can_not_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let database = Database::create(&path, Duration::from_secs(1)).unwrap();
        let reader = database.reader().unwrap();
        assert!(reader.execute_batch("CREATE TABLE t (x)").is_err());
    }
}
