//! What is wrong with a manifest: every broken rule, and where.

use std::{collections::BTreeMap, error::Error, fmt};

/// Every violation that a check found; never empty.
///
/// Prints one a line, in the order of the manifest's fields: `tools[3].name: must not be …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// The violations, in the order of the manifest's fields.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            fmt::Display::fmt(violation, f)?;
        }
        Ok(())
    }
}

impl Error for Violations {}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = std::vec::IntoIter<Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: a path in the manifest's JSON, such as `tools[3].name`; empty for the manifest as a whole.
    pub path: String,
    /// What does not hold there.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "manifest"
        } else {
            &self.path
        };
        write!(f, "{path}: {}", self.rule)
    }
}

/// The rules of a manifest. Each prints what must hold, without repeating the value that breaks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A version other than the one that this crate knows.
    #[error("must be {supported}, the version that is supported")]
    Version {
        /// The version that is supported.
        supported: &'static str,
    },
    /// Nothing but white space where a text is needed.
    #[error("must not be empty")]
    Empty,
    /// A text over its limit.
    #[error("has {length} characters; at most {limit} are allowed")]
    TooLong {
        /// How many UTF-16 code units it has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A line break in a text that must be one line.
    #[error("must be one line")]
    OneLine,
    /// The grammar of ids, tool names and setting keys.
    #[error("must be a lower-case letter followed by lower-case letters, digits or underscores")]
    Name,
    /// `__` joins an id and a tool's name, so neither holds it.
    #[error("must not hold a double underscore, which is reserved")]
    DoubleUnderscore,
    /// The tool's name is too long for the extension's id.
    #[error(
        "is too long for the id: `id__tool` has {length} characters; at most {limit} are allowed"
    )]
    QualifiedTooLong {
        /// How many characters the combined name has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// Too few or too many entries in a list.
    #[error("has {found} entries; {min} to {max} are allowed")]
    Count {
        /// How many there are.
        found: usize,
        /// The fewest that are allowed.
        min: usize,
        /// The most that are allowed.
        max: usize,
    },
    /// What must be unique stands in an earlier entry of the same list too.
    #[error("must be unique; entry {first} has it already")]
    Duplicate {
        /// The index of the first entry that has it.
        first: usize,
    },
    /// `alwaysAsk` marks an irreversible write, and the tool says that it writes nothing.
    #[error("marks an irreversible write, but the tool is read only")]
    AlwaysAskReadOnly,
    /// A command for a tool that does not exist.
    #[error("must be the name of one of the manifest's tools")]
    UnknownTool,
    /// The grammar of command names.
    #[error("must be lower-case letters, digits, hyphens or underscores")]
    CommandName,
    /// A JSON value that must be an object is none.
    #[error("must be a JSON object")]
    NotAnObject,
    /// A JSON value that must be a string is none.
    #[error("must be a string")]
    NotAString,
    /// The length that a text setting allows is over its kind's cap, or is no length.
    #[error("must be a whole number from 1 to {limit}")]
    MaxLength {
        /// The kind's cap.
        limit: usize,
    },
    /// An event that pup does not send.
    #[error("must be `member.joined` or `member.left`")]
    UnknownEvent,
    /// Events are declared, but there is nowhere to send them.
    #[error("is required, since events are declared")]
    EventsEndpointMissing,
    /// There is an endpoint for events, but none is declared.
    #[error("must be left out, since no events are declared")]
    EventsEndpointUnused,
    /// Not an absolute URL with a valid host and port, all in ASCII.
    #[error("must be an absolute URL with a host, percent-encoded and in ASCII")]
    Url,
    /// A scheme other than https (or http on loopback where that is allowed).
    #[error("must be an https URL")]
    Https,
    /// A URL that carries a user name or password.
    #[error("must not carry credentials")]
    Credentials,
    /// A URL with a `#` part, which no request carries.
    #[error("must not have a fragment")]
    Fragment,
    /// A base URL with a query, to which no path can be appended.
    #[error("must not have a query")]
    Query,
    /// A host that pup can't reach: a private or local address.
    #[error("must be a host on the public internet")]
    NotPublic,
    /// The manifest as JSON is over the limit of a response to pup.
    #[error("has {bytes} bytes as JSON; at most {limit} are allowed")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
}

/// Collects violations, and gives out a value only where there are none.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<Violation>);

impl Report {
    pub(super) fn add(&mut self, path: impl Into<String>, rule: Rule) {
        self.0.push(Violation {
            path: path.into(),
            rule,
        });
    }

    pub(super) fn finish<T>(self, value: T) -> Result<T, Violations> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(Violations(self.0))
        }
    }
}

/// Finds what stands twice in a list.
#[derive(Debug, Default)]
pub(super) struct Unique<'a>(BTreeMap<&'a str, usize>);

impl<'a> Unique<'a> {
    /// Reports `text` at `path` where an earlier entry of the list has it already.
    pub(super) fn check(&mut self, report: &mut Report, path: &str, index: usize, text: &'a str) {
        let first = *self.0.entry(text).or_insert(index);
        if first != index {
            report.add(path, Rule::Duplicate { first });
        }
    }
}
