//! The message that triggered a call.

use pup_extension::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quote {
    /// What the asker wrote.
    content: String,
    /// The message that they wrote it in.
    message_id: String,
}

pub(crate) async fn quote_request(ctx: ToolContext) -> Result<Quote, ToolError> {
    let request = ctx.user_request().ok_or_else(|| {
        ToolError::reject(
            "There is no message to quote: the call did not come from a conversation.",
        )
    })?;
    Ok(Quote {
        content: request.content.clone(),
        message_id: request.message_id.as_str().to_owned(),
    })
}
