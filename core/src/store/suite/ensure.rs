//! How a case says what is wrong. Not by a panic, which a runtime without a test harness can't catch.

use std::{error::Error, fmt};

use crate::causes::with_causes;

/// What a store did wrong.
pub struct Failure(String);

impl Failure {
    /// A failure, in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As it is displayed, since this is what a test harness shows.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error that a case did not want, with its causes.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(with_causes(&error))
    }
}

/// Ends the case with a failure unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::store::suite::Failure::new(format!(
                "{}:{}: {}", file!(), line!(), format_args!($($message)+),
            )));
        }
    };
}

/// Ends the case with a failure unless both are equal.
macro_rules! ensure_eq {
    ($left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => ensure!(
                *left == *right,
                "{}: {left:?} instead of {right:?}",
                format_args!($($message)+)
            ),
        }
    };
}

pub(super) use {ensure, ensure_eq};
