//! Acts as [pup](https://docs.pup.run) against an extension: a client that signs and sends what pup would
//! send, and takes only the answers that pup would take.
//!
//! [`Client`] sends challenges, MCP requests (calls, and what follows the tasks that calls become) and events. Each has a second form that only builds the
//! [`SignedRequest`], so that a test can keep one, send the same bytes again, or tamper with it. An
//! [`Answer`] is what came back, whatever its status; a [`ClientError`] says that nothing came back that pup
//! would have read: no connection, no answer within five seconds, a redirect, a compressed body, a body over
//! 1 MiB.
//!
//! ```no_run
//! use pup_extension_cli::{CallOptions, Client, Outcome, Secret};
//! use serde_json::json;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let secret: Secret = std::env::var("PUP_SIGNING_SECRET")?.parse()?;
//! let client = Client::new("http://127.0.0.1:8787", secret)?;
//!
//! assert_eq!(client.challenge("hello").await?.challenge()?, "hello");
//! let saved = client.call("save_snack", json!({"snack": "fruit"}), CallOptions::new()).await?;
//! let Outcome::Complete(result) = saved.outcome()? else { panic!("save_snack answers at once") };
//! assert_eq!(result.structured(), Some(&json!({"saved": "fruit"})));
//!
//! // The same bytes again are a replay.
//! let request = client.challenge_request("hello")?;
//! assert_eq!(client.send(&request).await?.status(), 200);
//! assert_eq!(client.send(&request).await?.status(), 409);
//! # Ok(())
//! # }
//! ```
//!
//! The package's binary, `pup-ext`, is the same client on the command line.

mod answer;
mod answer_error;
mod base_url;
mod builder;
mod client;
mod clock;
mod error;
mod event;
mod header_value;
mod ids;
mod input_request;
mod mcp;
mod outcome;
mod param_headers;
mod persona;
mod requests;
mod signed;
mod sse;
mod task;
mod task_options;
mod tool_list;
mod transport;

pub use answer::{Answer, Reply};
pub use answer_error::{AnswerError, AnswerErrorKind, RpcError};
pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ClientError, ClientErrorKind};
pub use event::EventOptions;
pub use input_request::{Form, InputRequest, InputResponses};
pub use mcp::{CallOptions, PROTOCOL_VERSION, UserRequest};
pub use outcome::{Fields, Outcome, ToolResult};
pub use persona::Persona;
pub use signed::{Endpoint, SignedRequest};
pub use task::{DetailedTask, Task, TaskState, TaskStatus};
pub use task_options::TaskOptions;
pub use tool_list::{ExcludedTool, ToolDefinition, ToolList};
pub use transport::{DEADLINE, RESPONSE_CAP};

#[doc(no_inline)]
pub use pup_extension::{signing::Secret, time::Timestamp};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
