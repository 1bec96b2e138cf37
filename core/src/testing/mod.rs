//! Testing an extension in-process: a fake pup, and a runtime whose clock the test holds.
//!
//! ```
//! use pup_extension::{prelude::*, testing::{Pup, SimRuntime}};
//! use serde_json::json;
//!
//! async fn visit(ctx: ToolContext) -> Result<u64, ToolError> {
//!     ctx.asker_state().add("visits", 1)?;
//!     Ok(ctx.asker_state().get("visits").await?.unwrap_or_default())
//! }
//!
//! let extension = Extension::builder("visits", "Visits")
//!     .author("Example author")
//!     .description("Counts visits.")
//!     .summary("Counts visits.")
//!     .instructions("Use visit when somebody comes by.")
//!     .tool(Tool::new("visit", visit))
//!     .build()?;
//!
//! let runtime = SimRuntime::new();
//! let pup = Pup::new(extension, &runtime);
//! let first = pup.call("visit", json!({})).call_id("call-1");
//! assert_eq!(pup.send(&first).structured(), json!(1));
//! // The same call again, as pup retries it: the same answer, and no second visit.
//! assert_eq!(pup.send(&first.retry()).structured(), json!(1));
//! assert_eq!(pup.send(&pup.call("visit", json!({})).call_id("call-2")).structured(), json!(2));
//! # Ok::<(), BuildError>(())
//! ```

mod background;
mod pup;
mod runtime;

pub use self::{
    background::SimBackground,
    pup::{Answer, Pup, Sent, Signer},
    runtime::SimRuntime,
};
