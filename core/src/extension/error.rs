//! How a handler fails: on purpose, or not.

use std::{error::Error, fmt};

use crate::task::AskError;

/// Why a handler has no result.
///
/// There are two kinds, and the difference matters:
///
/// - A **rejection** ([`ToolError::reject`]) is an answer: the asker is told its text (as a result with
///   `isError`), it is recorded like any result, and the state that the handler wrote is dropped.
/// - A **failure** (made by `?` from any error, or by [`ToolError::failed`]) is a fault: its text goes to the log
///   and never to the asker, nothing is recorded or written, and a retry of the call runs the tool again.
///
/// ```
/// use pup_extension::extension::ToolError;
///
/// fn portions(text: &str) -> Result<u8, ToolError> {
///     let portions = text.parse()?; // a failure: nobody is told the parser's words
///     if portions > 9 {
///         return Err(ToolError::reject("at most nine portions can be ordered"));
///     }
///     Ok(portions)
/// }
/// assert!(!portions("many").unwrap_err().is_rejection());
/// assert!(portions("10").unwrap_err().is_rejection());
/// ```
pub struct ToolError(pub(crate) Kind);

pub(crate) enum Kind {
    Rejected(String),
    Failed(Box<dyn Error + Send + Sync>),
}

impl ToolError {
    /// Declines on purpose, with a text that may be shown to whoever asked.
    #[must_use]
    pub fn reject(message: impl Into<String>) -> Self {
        Self(Kind::Rejected(message.into()))
    }

    /// Fails, with a cause for the log. Don't put secrets or people's words into it.
    #[must_use]
    pub fn failed(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Kind::Failed(cause.into()))
    }

    /// Whether this is a rejection, and not a failure.
    #[must_use]
    pub fn is_rejection(&self) -> bool {
        matches!(self.0, Kind::Rejected(_))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(cause: E) -> Self {
        match (&cause as &(dyn Error + 'static)).downcast_ref::<AskError>() {
            // Somebody's no is an answer, and no fault.
            Some(refusal) if refusal.is_refusal() => Self::reject(refusal.to_string()),
            _ => Self::failed(cause),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // Written for the asker, and possibly about them.
            Kind::Rejected(_) => f.write_str("Rejected"),
            Kind::Failed(cause) => f.debug_tuple("Failed").field(cause).finish(),
        }
    }
}
