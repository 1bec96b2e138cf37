//! A tool: a typed function, and what pup and its model are told of it.

use std::{any::TypeId, collections::BTreeMap, fmt, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    args::{TaskArgs, ToolArgs},
    error::ToolError,
    handler::Handler,
    output::ToolResult,
};
use crate::{
    context::ToolContext,
    form::{Form, FormError},
    marker::{BoxFuture, MaybeSend},
    mcp::CallToolResult,
    task::TaskContext,
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
    pub(crate) run: HowToRun,
    /// What was said of it that can be said only of task tools.
    pub(crate) misplaced: Vec<&'static str>,
}

/// How a tool is run.
pub(crate) enum HowToRun {
    /// Within the request.
    Call(Arc<dyn Prepare<ToolContext>>),
    /// As a task.
    Task(TaskDraft),
}

/// A task tool as its author describes it.
pub(crate) struct TaskDraft {
    pub(crate) handler: Arc<dyn Prepare<TaskContext>>,
    pub(crate) ttl: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) forms: BTreeMap<TypeId, Result<Form, FormError>>,
}

/// How long a task may take, unless its tool says otherwise.
const TTL: Duration = Duration::from_secs(24 * 3_600);
/// How long pup is asked to leave between polls, unless the tool says otherwise.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

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
        let run = HowToRun::Call(Arc::new(Typed {
            handler: Arc::new(handler),
            parse: M::parse,
            assemble: M::assemble,
        }));
        Self::of(
            name.into(),
            M::input_schema(),
            H::Output::output_schema(),
            run,
        )
    }

    /// A tool whose call becomes a task: work that takes longer than a request may, asks people, waits for days. The
    /// function is `async fn(TaskContext)` or `async fn(TaskContext, Input)`, and returns what a tool's does.
    ///
    /// It survives its process: see [`TaskContext`]. One call (one `callId`) makes one task.
    ///
    /// ```
    /// use std::time::Duration;
    /// use pup_extension::prelude::*;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Order { portions: u8 }
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Confirmed { sure: bool }
    ///
    /// async fn order(task: TaskContext, order: Order) -> Result<String, ToolError> {
    ///     let answer: Confirmed = task.ask("Are you sure?").await?;
    ///     if !answer.sure {
    ///         return Err(ToolError::reject("nothing was ordered"));
    ///     }
    ///     task.step("order", |step| async move { step.state().add("ordered", order.portions.into()).map_err(Into::into) })
    ///         .await?;
    ///     task.progress("It is in the oven");
    ///     task.sleep(Duration::from_secs(600)).await?;
    ///     Ok(String::from("It is ready"))
    /// }
    ///
    /// let tool = Tool::task("order", order).asks::<Confirmed>().description("Orders a snack.");
    /// ```
    #[must_use]
    pub fn task<M, H>(name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<M>,
        M: TaskArgs,
        M::Input: MaybeSend,
        H::Output: ToolResult,
        H::Future: MaybeSend,
    {
        let run = HowToRun::Task(TaskDraft {
            handler: Arc::new(Typed {
                handler: Arc::new(handler),
                parse: M::parse,
                assemble: M::assemble,
            }),
            ttl: TTL,
            poll_interval: POLL_INTERVAL,
            forms: BTreeMap::new(),
        });
        Self::of(
            name.into(),
            M::input_schema(),
            H::Output::output_schema(),
            run,
        )
    }

    fn of(name: String, input_schema: Value, output_schema: Option<Value>, run: HowToRun) -> Self {
        Self {
            name,
            title: None,
            description: None,
            read_only: false,
            always_ask: false,
            thread: false,
            user_request: false,
            at_most_once: false,
            input_schema,
            output_schema,
            run,
            misplaced: Vec::new(),
        }
    }

    /// For a task tool: its task asks for a `T`, with [`TaskContext::ask`]. Say it once for each type.
    ///
    /// A type that can't be a [form](crate::form) is refused by
    /// [`build`](crate::extension::ExtensionBuilder::build), which names what is wrong with it.
    #[must_use]
    pub fn asks<T: JsonSchema + DeserializeOwned + 'static>(mut self) -> Self {
        match &mut self.run {
            HowToRun::Task(task) => {
                task.forms.insert(TypeId::of::<T>(), Form::of::<T>());
            }
            HowToRun::Call(_) => self.misplaced.push("asks"),
        }
        self
    }

    /// For a task tool: how long a task may take from its creation, and is kept. A day by default, at least a second
    /// and at most ten years. What has not ended by then is gone.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        match &mut self.run {
            HowToRun::Task(task) => task.ttl = ttl,
            HowToRun::Call(_) => self.misplaced.push("ttl"),
        }
        self
    }

    /// For a task tool: how long pup is asked to leave between polls. A second by default.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        match &mut self.run {
            HowToRun::Task(task) => task.poll_interval = interval,
            HowToRun::Call(_) => self.misplaced.push("poll_interval"),
        }
        self
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
pub(crate) trait Prepare<C>: Send + Sync {
    fn prepare(&self, arguments: &Value) -> Result<Prepared<C>, serde_json::Error>;
}

/// A run that is ready to begin.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) type Prepared<C> =
    Box<dyn FnOnce(C) -> BoxFuture<'static, Result<CallToolResult, ToolError>> + Send>;
/// A run that is ready to begin.
#[cfg(target_arch = "wasm32")]
pub(crate) type Prepared<C> =
    Box<dyn FnOnce(C) -> BoxFuture<'static, Result<CallToolResult, ToolError>>>;

struct Typed<H, C, I, M> {
    handler: Arc<H>,
    parse: fn(&Value) -> Result<I, serde_json::Error>,
    assemble: fn(C, I) -> M,
}

impl<H, C, I, M> Prepare<C> for Typed<H, C, I, M>
where
    H: Handler<M>,
    C: MaybeSend + 'static,
    I: MaybeSend + 'static,
    M: 'static,
    H::Output: ToolResult,
    H::Future: MaybeSend,
{
    fn prepare(&self, arguments: &Value) -> Result<Prepared<C>, serde_json::Error> {
        let input = (self.parse)(arguments)?;
        let (handler, assemble) = (Arc::clone(&self.handler), self.assemble);
        Ok(Box::new(move |context| {
            // Begun inside the future, so that a panic of the function itself is caught like any other.
            Box::pin(async move { handler.call(assemble(context, input)).await.into_result() })
        }))
    }
}
