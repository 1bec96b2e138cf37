//! Why some bytes are no manifest.

use std::{error::Error, fmt};

use super::{check::MAX_MANIFEST_BYTES, violation::Violations};

/// Why some bytes are no valid manifest.
#[derive(Debug)]
pub struct ManifestError(Inner);

#[derive(Debug, thiserror::Error)]
pub(super) enum Inner {
    #[error("the manifest is over {MAX_MANIFEST_BYTES} bytes")]
    TooLarge,
    #[error("the manifest's JSON is not as the protocol has it: {0}")]
    Shape(serde_json::Error),
    #[error("{0}")]
    Rules(Violations),
}

/// The kinds of [`ManifestError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestErrorKind {
    /// There are more than [`MAX_MANIFEST_BYTES`].
    TooLarge,
    /// It is no JSON, or a field is unknown, doubled, missing or of another type.
    Shape,
    /// It breaks rules.
    Rules,
}

impl ManifestError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ManifestErrorKind {
        match self.0 {
            Inner::TooLarge => ManifestErrorKind::TooLarge,
            Inner::Shape(_) => ManifestErrorKind::Shape,
            Inner::Rules(_) => ManifestErrorKind::Rules,
        }
    }

    /// The rules that it breaks, for [`ManifestErrorKind::Rules`].
    #[must_use]
    pub fn violations(&self) -> Option<&Violations> {
        match &self.0 {
            Inner::Rules(violations) => Some(violations),
            Inner::TooLarge | Inner::Shape(_) => None,
        }
    }
}

impl From<Inner> for ManifestError {
    fn from(inner: Inner) -> Self {
        Self(inner)
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for ManifestError {}
