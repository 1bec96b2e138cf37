//! Core is told the time and the randomness, and runs anywhere. Here that is proven from four sides: what its
//! dependencies are, what its own code may call, who depends on whom, and that these checks can fail at all. (A fifth
//! is the `wasm` stage: there a clock panics, and a random source does not link.)

mod bans;
mod floats;
mod layers;
mod tree;

use crate::test::stage::Stage;

pub(super) fn run(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    tree::run(stage)?;
    layers::run(stage);
    floats::run(stage)?;
    bans::run(stage)
}
