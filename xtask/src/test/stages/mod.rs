//! The stages, in the order in which they run: what fails fastest comes first.

mod clippy;
mod deny;
mod docs;
mod fmt;
mod fuzz;
mod purity;
mod unit;
mod wasm;

use clap::ValueEnum;

use crate::test::stage::Stage;

/// A stage's name, as `--only` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    Fmt,
    Purity,
    Clippy,
    Unit,
    Docs,
    Wasm,
    Deny,
    Fuzz,
}

impl Name {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 8] = [
        Self::Fmt,
        Self::Purity,
        Self::Clippy,
        Self::Unit,
        Self::Docs,
        Self::Wasm,
        Self::Deny,
        Self::Fuzz,
    ];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Purity => "purity",
            Self::Clippy => "clippy",
            Self::Unit => "unit",
            Self::Docs => "docs",
            Self::Wasm => "wasm",
            Self::Deny => "deny",
            Self::Fuzz => "fuzz",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Fmt => "the code is formatted",
            Self::Purity => {
                "core gains no runtime, clock or random source; nobody depends on whom they must not"
            }
            Self::Clippy => "no lint fires",
            Self::Unit => "every package's tests and the examples in its documentation",
            Self::Docs => "the documentation builds, and its links lead somewhere",
            Self::Wasm => "core's tests, on wasm under Node",
            Self::Deny => "licences, sources and advisories of all dependencies",
            Self::Fuzz => "each fuzz target, for a bounded number of inputs",
        }
    }

    /// Runs it. An error counts as one check that failed.
    pub(crate) fn run(self, stage: &mut Stage<'_>) -> anyhow::Result<()> {
        match self {
            Self::Fmt => fmt::run(stage),
            Self::Purity => purity::run(stage),
            Self::Clippy => clippy::run(stage),
            Self::Unit => unit::run(stage),
            Self::Docs => docs::run(stage),
            Self::Wasm => wasm::run(stage),
            Self::Deny => deny::run(stage),
            Self::Fuzz => fuzz::run(stage),
        }
    }
}
