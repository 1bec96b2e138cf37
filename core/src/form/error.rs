//! Why a type can't be a form, and why an answer can't be read.

use std::{error::Error, fmt};

use super::field::FORMATS;
use crate::schema::Mismatches;

/// The most problems that are listed; more are counted out.
const MAX_PROBLEMS: usize = 16;

/// Everything in a type that a form can't ask for, each with the field where it is.
///
/// The text is meant for the author of the type.
#[derive(Clone, PartialEq, Eq)]
pub struct FormError {
    name: String,
    problems: Vec<Problem>,
    more: bool,
}

/// One thing that a form can't ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// `portions`, `snacks[]` for the items of a list, empty for the type itself.
    path: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    #[error("is {0}; a form is a struct with named fields")]
    Root(&'static str),
    #[error("takes fields of any name, as a map does; a form lists its fields")]
    AnyField,
    #[error("has a flattened enum; a form always has the same fields")]
    Flattened,
    #[error("`{0}` can't be said of a form as a whole")]
    RootKeyword(String),
    #[error("is required, but there is no such field")]
    NoSuchField,
    #[error(
        "is {0}; a field is a string, a number, a boolean, an enum of unit variants, or a list or set of such an enum"
    )]
    Field(&'static str),
    #[error("is {0}; a list in a form holds an enum of unit variants")]
    Item(&'static str),
    #[error("can be null and can't be left out; for an optional field use an `Option`, directly")]
    RequiredNull,
    #[error(
        "`{keyword}` can't be said of {what} in a form; what can: {}",
        Listed(allowed)
    )]
    Keyword {
        keyword: String,
        what: &'static str,
        allowed: &'static [&'static str],
    },
    #[error(
        "the format `{format}` can't be asked for; what can: {}",
        Listed(FORMATS)
    )]
    Format { format: String },
    #[error("`{0}` is above `{1}`: no answer could fit")]
    Bounds(&'static str, &'static str),
    #[error("has the choice `{0}` more than once")]
    Twice(String),
    #[error("the default does not fit: {0}")]
    Default(String),
    #[error("the schema is not valid: {0}")]
    Schema(String),
}

impl Problem {
    pub(super) fn new(path: impl Into<String>, reason: Reason) -> Self {
        Self {
            path: path.into(),
            reason,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "the type itself: {}", self.reason)
        } else {
            write!(f, "{}: {}", self.path, self.reason)
        }
    }
}

/// `a`, `b`, `c`
struct Listed<'a>(&'a [&'a str]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl FormError {
    pub(super) fn new(name: &str, problems: Vec<Problem>) -> Self {
        let more = problems.len() > MAX_PROBLEMS;
        Self {
            name: name.into(),
            problems: problems.into_iter().take(MAX_PROBLEMS).collect(),
            more,
        }
    }

    /// The name of the type in schemas, which is mostly its Rust name.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.name
    }

    /// Each problem as a text of its own, at most 16: the field, and what is wrong there.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(ToString::to_string)
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` can't be a form: ", self.name)?;
        for (at, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if at == 0 { "" } else { "; " })?;
        }
        f.write_str(if self.more { "; and more" } else { "" })
    }
}

impl fmt::Debug for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name)?;
        f.debug_list().entries(self.problems()).finish()
    }
}

impl Error for FormError {}

/// Why an answer can't be read. No text quotes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It does not fit the form.
    #[error(transparent)]
    Mismatches(#[from] Mismatches),
    /// It fits the form, and its type is narrower than that.
    #[error("the answer fits the form, but not its type")]
    Refused,
}
