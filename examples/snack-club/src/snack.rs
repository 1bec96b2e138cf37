//! The snacks there are.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A snack.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Snack {
    /// Salty.
    Popcorn,
    /// Sweet.
    Fruit,
    /// Salty too.
    Pretzels,
}

impl Snack {
    /// All of them, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::Popcorn, Self::Fruit, Self::Pretzels];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Popcorn => "popcorn",
            Self::Fruit => "fruit",
            Self::Pretzels => "pretzels",
        }
    }
}

impl fmt::Display for Snack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
