//! A snack for who can't decide: a task that asks.

use pup_extension::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Snack;

/// What the asker is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Taste {
    taste: Flavour,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Flavour {
    Sweet,
    Salty,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Chosen {
    /// The snack for that taste.
    snack: Snack,
}

pub(crate) async fn choose_snack(task: TaskContext) -> Result<Chosen, ToolError> {
    let answer: Taste = task.ask("Sweet or salty?").await?;
    let snack = match answer.taste {
        Flavour::Sweet => Snack::Fruit,
        Flavour::Salty => Snack::Popcorn,
    };
    Ok(Chosen { snack })
}
