//! An error and what led to it.

use std::error::Error;

/// An error's text and those of its causes, on one line. A cause that was just said is not said again, as some
/// libraries' errors show their source in their own text too.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
