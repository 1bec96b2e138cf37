//! Snacks for the stock: a task that takes its time, and says how far it is.

use std::time::Duration;

use pup_extension::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::preferences::STOCK;

/// From one batch to the next. The oven bakes while no process has to run.
const OVEN: Duration = Duration::from_millis(250);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// How many batches to bake.
    #[schemars(range(min = 1, max = 10))]
    batches: u8,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Baked {
    /// How many batches were baked.
    batches: u8,
}

pub(crate) async fn bake_snacks(task: TaskContext, order: Order) -> Result<Baked, ToolError> {
    let Order { batches } = order;
    for batch in 1..=batches {
        if batch > 1 {
            task.sleep(OVEN).await?;
        }
        // Counted once, however often this function begins again.
        task.step("bake", |step| async move {
            step.state().add(STOCK, 1)?;
            Ok(())
        })
        .await?;
        task.progress(format!("batch {batch} of {batches}"));
    }
    Ok(Baked { batches })
}
