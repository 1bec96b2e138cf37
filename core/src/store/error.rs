//! How a store operation fails.

use std::{error::Error, fmt};

/// Why a store operation brought no outcome. (A conflict is an outcome, not an error.)
pub struct StoreError {
    kind: StoreErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

/// What a [`StoreError`] leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// Nothing was applied, and nothing will be. All failures of reads are of this kind.
    NotApplied,
    /// The commit may have been applied, or may still be: its answer was lost. Read back its id.
    Unknown,
}

impl StoreError {
    /// Nothing was applied.
    pub fn not_applied(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::NotApplied,
            source: source.into(),
        }
    }

    /// It is not known whether the commit was applied.
    pub fn unknown(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: StoreErrorKind::Unknown,
            source: source.into(),
        }
    }

    /// What the failure leaves behind.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreError")
            .field("kind", &self.kind)
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::NotApplied => "the store did not apply the operation",
            StoreErrorKind::Unknown => "it is not known whether the store applied the commit",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_ref())
    }
}
