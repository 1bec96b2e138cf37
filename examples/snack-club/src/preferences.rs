//! The menu, and what each member prefers.

use std::collections::BTreeMap;

use pup_extension::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Snack;

/// Where a member's preference stands, in the member's own state.
const PREFERENCE: &str = "preference";
/// How many have saved a snack, by snack.
const COUNT: &str = "count";
/// How many members were welcomed.
pub(crate) const WELCOMED: &str = "welcomed";
/// How many snacks are baked.
pub(crate) const STOCK: &str = "stock";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Menu {
    /// The snacks there are.
    choices: [Snack; 3],
    /// How often each was saved.
    counts: BTreeMap<Snack, u64>,
    /// How many members were welcomed.
    welcomed: u64,
    /// How many snacks are in stock.
    stock: u64,
    /// What the asker prefers; null when they have not said.
    preference: Option<Snack>,
    /// The installation's greeting, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    greeting: Option<String>,
    /// The installation's note on the menu, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    menu_note: Option<String>,
}

pub(crate) async fn snack_menu(ctx: ToolContext) -> Result<Reply<Menu>, ToolError> {
    let state = ctx.state();
    let mut counts = BTreeMap::new();
    for snack in Snack::ALL {
        counts.insert(snack, state.get((COUNT, snack)).await?.unwrap_or(0));
    }
    let setting = |key| {
        ctx.settings()
            .text(key)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let menu = Menu {
        choices: Snack::ALL,
        counts,
        welcomed: state.get(WELCOMED).await?.unwrap_or(0),
        stock: state.get(STOCK).await?.unwrap_or(0),
        preference: ctx.asker_state().get(PREFERENCE).await?,
        greeting: setting("greeting"),
        menu_note: setting("menu_note"),
    };
    let names = Snack::ALL.map(Snack::name).join(", ");
    let save = Action::new("save_fruit", "Save fruit", "save_snack").arguments(&SaveSnack {
        snack: Snack::Fruit,
    });
    Ok(Reply::new(menu).pup(Presentation::new().field("Choices", names).action(save)))
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveSnack {
    /// The snack to save.
    snack: Snack,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Saved {
    /// The snack that was saved.
    saved: Snack,
}

pub(crate) async fn save_snack(ctx: ToolContext, input: SaveSnack) -> Result<Saved, ToolError> {
    ctx.asker_state().put(PREFERENCE, &input.snack)?;
    ctx.state().add((COUNT, input.snack), 1)?;
    Ok(Saved { saved: input.snack })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Forgotten {
    /// Whether there was a preference to forget.
    forgotten: bool,
}

pub(crate) async fn forget_snack(ctx: ToolContext) -> Result<Forgotten, ToolError> {
    let mine = ctx.asker_state();
    let forgotten = mine.get::<Snack>(PREFERENCE).await?.is_some();
    mine.delete(PREFERENCE)?;
    Ok(Forgotten { forgotten })
}
