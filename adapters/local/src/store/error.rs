//! How the database fails.

use std::{fmt, io, path::PathBuf, sync::Arc};

use pup_extension::store::StoreError;

/// Why a database can't be opened. Its sources say more.
pub struct OpenError {
    path: PathBuf,
    reason: Reason,
}

/// The kinds of [`OpenError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// The file was written by a newer version of this crate.
    Newer,
    /// The file is no database of an extension.
    Foreign,
    /// The file or its folder can't be made, read or written.
    Io,
    /// The database refused: it is damaged, busy, or on a file system that it can't use.
    Database,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Reason {
    #[error("its version is {found}, and this program knows {known} at most: run a newer program")]
    Newer { found: i64, known: i64 },
    #[error("it is not the database of a pup extension: name another file")]
    Foreign,
    #[error("its file system does not allow write-ahead logging: put it on a local disk")]
    NoWal,
    #[error("the file can't be made")]
    Io(#[from] io::Error),
    #[error("the database refused")]
    Database(#[source] Refused),
}

impl From<rusqlite::Error> for Reason {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

/// What SQLite said. The text of some of rusqlite's errors repeats that of their sources, so this has none.
#[derive(Clone, Debug)]
pub(super) struct Refused(Arc<rusqlite::Error>);

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            rusqlite::Error::SqliteFailure(error, Some(message)) => {
                write!(f, "{message} (SQLite's code {})", error.extended_code)
            }
            other => other.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl Reason {
    /// Whether somebody else had the file locked, so that the same may succeed a moment later.
    pub(super) fn is_busy(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        matches!(
            error.0.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
        )
    }
}

impl OpenError {
    pub(super) const fn new(path: PathBuf, reason: Reason) -> Self {
        Self { path, reason }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> OpenErrorKind {
        match &self.reason {
            Reason::Newer { .. } => OpenErrorKind::Newer,
            Reason::Foreign => OpenErrorKind::Foreign,
            Reason::Io(_) => OpenErrorKind::Io,
            Reason::NoWal | Reason::Database(_) => OpenErrorKind::Database,
        }
    }
}

impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenError")
            .field("path", &self.path)
            .field("reason", &self.reason)
            .finish()
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the database {} can't be opened: {}",
            self.path.display(),
            self.reason
        )
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The reason itself is shown already.
        std::error::Error::source(&self.reason)
    }
}

/// Why an operation on an open database brought no outcome.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the database refused")]
    Database(#[source] Refused),
    #[error("the transaction that this commit was part of was not applied")]
    Together(#[source] Refused),
    #[error("the thread that writes has stopped")]
    WriterStopped,
    #[error("there is no tokio runtime, or it is shutting down")]
    NoRuntime,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Failure {
    pub(super) fn not_applied(self) -> StoreError {
        StoreError::not_applied(self)
    }

    pub(super) fn unknown(self) -> StoreError {
        StoreError::unknown(self)
    }
}
