//! Why a value does not fit a schema, in words for whoever sent it.

use std::{error::Error, fmt};

/// Everything in a value that does not fit its schema, at most 16 entries.
///
/// The texts name places and quote the *schema*; never a string or a number of the value, which may be anybody's
/// data. The name of a property that the schema does not list is shown only where it reads like an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatches {
    found: Vec<Mismatch>,
}

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    path: String,
    message: String,
}

impl Mismatches {
    pub(super) fn new(found: Vec<Mismatch>) -> Self {
        Self { found }
    }

    /// Each mismatch, in the order of the checks. There is at least one.
    pub fn iter(&self) -> std::slice::Iter<'_, Mismatch> {
        self.found.iter()
    }
}

impl<'a> IntoIterator for &'a Mismatches {
    type Item = &'a Mismatch;
    type IntoIter = std::slice::Iter<'a, Mismatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// All of them, separated by semicolons.
impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mismatch) in self.found.iter().enumerate() {
            write!(f, "{}{mismatch}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl Error for Mismatches {}

impl Mismatch {
    /// Where in the value: `arguments.batches`, `arguments.tags[2]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What must be otherwise: `must be at most 10`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// `arguments.batches: must be at most 10`
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Where in a value the evaluation is: kept on the stack, written down only for a mismatch.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Root(&'a str),
    /// A property that the schema lists by name.
    Listed {
        parent: &'a Self,
        name: &'a str,
    },
    /// Any other property.
    Other {
        parent: &'a Self,
        name: &'a str,
    },
    Item {
        parent: &'a Self,
        index: usize,
    },
}

impl Path<'_> {
    pub(super) fn mismatch(&self, message: String) -> Mismatch {
        Mismatch {
            path: self.to_string(),
            message,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(name) => f.write_str(name),
            Path::Listed { parent, name } | Path::Other { parent, name } if is_identifier(name) => {
                write!(f, "{parent}.{name}")
            }
            Path::Listed { parent, name } => write!(f, "{parent}[{name:?}]"),
            Path::Other { parent, .. } => write!(f, "{parent}[…]"),
            Path::Item { parent, index } => write!(f, "{parent}[{index}]"),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    (1..=48).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_the_argument_and_hides_what_may_be_data() {
        let root = Path::Root("arguments");
        let list = Path::Listed {
            parent: &root,
            name: "snacks",
        };
        let item = Path::Item {
            parent: &list,
            index: 3,
        };
        assert_eq!(
            Path::Other {
                parent: &item,
                name: "kind"
            }
            .to_string(),
            "arguments.snacks[3].kind"
        );
        assert_eq!(
            Path::Listed {
                parent: &item,
                name: "a b"
            }
            .to_string(),
            "arguments.snacks[3][\"a b\"]"
        );
        let long = "a".repeat(49);
        for name in ["a b", "joe@example.com", "", "é", long.as_str()] {
            assert_eq!(
                Path::Other {
                    parent: &root,
                    name
                }
                .to_string(),
                "arguments[…]"
            );
        }
    }
}
