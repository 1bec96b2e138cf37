//! A tool: a typed function, and what pup and its model are told of it.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{args::ToolArgs, error::ToolError, handler::Handler, output::ToolResult};
use crate::{
    context::ToolContext,
    marker::{BoxFuture, MaybeSend},
    mcp::CallToolResult,
};

/// A tool of an extension.
///
/// ```
/// use pup_extension::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Greet { name: String }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Greeting { text: String }
///
/// async fn greet(input: Greet) -> Result<Greeting, ToolError> {
///     Ok(Greeting { text: format!("Hello, {}!", input.name) })
/// }
///
/// let tool = Tool::new("greet", greet).title("Greet somebody").description("Says hello.").read_only();
/// ```
pub struct Tool {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) read_only: bool,
    pub(crate) always_ask: bool,
    pub(crate) thread: bool,
    pub(crate) user_request: bool,
    pub(crate) at_most_once: bool,
    pub(crate) input_schema: Value,
    pub(crate) output_schema: Option<Value>,
    pub(crate) handler: Arc<dyn Prepare>,
}

impl Tool {
    /// A tool of this name, answered by this function. It is a *write* unless [`read_only`](Self::read_only) is
    /// called.
    ///
    /// The schemas that the model is shown come from the types of the function.
    #[must_use]
    pub fn new<M, H>(name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<M>,
        M: ToolArgs,
        M::Input: MaybeSend,
        H::Output: ToolResult,
        H::Future: MaybeSend,
    {
        Self {
            name: name.into(),
            title: None,
            description: None,
            read_only: false,
            always_ask: false,
            thread: false,
            user_request: false,
            at_most_once: false,
            input_schema: M::input_schema(),
            output_schema: H::Output::output_schema(),
            handler: Arc::new(Typed {
                handler: Arc::new(handler),
                args: std::marker::PhantomData::<fn(M)>,
            }),
        }
    }

    /// What a person sees, on the approval card among others.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What tells the model when to use the tool. Be specific.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The tool changes nothing. It may run any number of times, and writing state from it is an error.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The tool does something that can't be undone, such as deleting or paying: pup always asks first.
    #[must_use]
    pub fn always_ask(mut self) -> Self {
        self.always_ask = true;
        self
    }

    /// Ask pup for a Discord thread.
    #[must_use]
    pub fn thread(mut self) -> Self {
        self.thread = true;
        self
    }

    /// The tool needs the message that triggered the call
    /// ([`ToolContext::user_request`](crate::context::ToolContext::user_request)). Others never get it.
    #[must_use]
    pub fn user_request(mut self) -> Self {
        self.user_request = true;
        self
    }

    /// For one `callId` the handler never begins twice, not even when the first run left no answer: then a retry
    /// is told that the outcome is unknown. For effects that are worse done twice than not at all.
    ///
    /// So it isn't run again for a conflict on state either: its writes are dropped, and the outcome is unknown.
    /// Count with [`State::add`](crate::state::State::add), which never conflicts, or read nothing that others
    /// write.
    ///
    /// A run that failed keeps its record: duplicates hear that the call still runs until its lease ends (six
    /// seconds after it was received), and from then on that the outcome is unknown. The same holds
    /// where a call's time was up before its handler began.
    ///
    /// Without it a retry runs the tool again, which is right for all that goes through state and steps.
    #[must_use]
    pub fn at_most_once(mut self) -> Self {
        self.at_most_once = true;
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A handler behind its types: arguments are read first, and the run begins with the context.
pub(crate) trait Prepare: Send + Sync {
    fn prepare(&self, arguments: &Value) -> Result<Prepared, serde_json::Error>;
}

/// A run that is ready to begin.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) type Prepared =
    Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Result<CallToolResult, ToolError>> + Send>;
/// A run that is ready to begin.
#[cfg(target_arch = "wasm32")]
pub(crate) type Prepared =
    Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Result<CallToolResult, ToolError>>>;

struct Typed<H, M> {
    handler: Arc<H>,
    args: std::marker::PhantomData<fn(M)>,
}

impl<H, M> Prepare for Typed<H, M>
where
    H: Handler<M>,
    M: ToolArgs,
    M::Input: MaybeSend,
    H::Output: ToolResult,
    H::Future: MaybeSend,
{
    fn prepare(&self, arguments: &Value) -> Result<Prepared, serde_json::Error> {
        let input = M::parse(arguments)?;
        let handler = Arc::clone(&self.handler);
        Ok(Box::new(move |context| {
            // Begun inside the future, so that a panic of the function itself is caught like any other.
            Box::pin(async move {
                handler
                    .call(M::assemble(context, input))
                    .await
                    .into_result()
            })
        }))
    }
}
