//! What happens when members come.

use pup_extension::prelude::*;

use crate::preferences::WELCOMED;

const DEFAULT_GREETING: &str = "Welcome! Ask for the snack menu.";

pub(crate) async fn welcome(ctx: EventContext) -> Result<Presentation, ToolError> {
    ctx.state().add(WELCOMED, 1)?;
    let greeting = ctx
        .settings()
        .text("greeting")
        .filter(|text| !text.is_empty())
        .unwrap_or(DEFAULT_GREETING);
    Ok(Presentation::new().field("Greeting", greeting))
}
