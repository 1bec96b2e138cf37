//! From the author's parts to an extension that is known to be whole.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value};

use super::{
    event::{EventArgs, EventResult, Handle, handle},
    handler::Handler,
    tool::{HowToRun, Prepare, TaskDraft, Tool},
};
use crate::{
    context::ToolContext,
    form::FormError,
    manifest::{
        Command, Endpoints, EventKind, Manifest, ManifestDraft, Setting, ToolDraft, Violations,
    },
    marker::MaybeSend,
    mcp::{ServerInfo, ToolAnnotations, ToolDefinition},
    schema::Schema,
    task::{Forms, TaskContext},
};

/// An extension: what it is called, and what it can do.
///
/// One that exists is valid: its manifest keeps every limit of the protocol, and its tools' schemas can be
/// checked. An adapter runs it.
pub struct Extension {
    pub(crate) manifest: Manifest,
    pub(crate) server: ServerInfo,
    pub(crate) tools: BTreeMap<String, BuiltTool>,
    pub(crate) definitions: Vec<ToolDefinition>,
    pub(crate) events: BTreeMap<EventKind, Arc<dyn Handle>>,
}

/// A tool, ready to be called.
pub(crate) struct BuiltTool {
    pub(crate) schema: Schema,
    pub(crate) read_only: bool,
    pub(crate) user_request: bool,
    pub(crate) at_most_once: bool,
    pub(crate) run: BuiltRun,
}

/// How a tool is run.
pub(crate) enum BuiltRun {
    /// Within the request.
    Call(Arc<dyn Prepare<ToolContext>>),
    /// As a task.
    Task(BuiltTask),
}

/// A task tool, ready to be called.
pub(crate) struct BuiltTask {
    pub(crate) handler: Arc<dyn Prepare<TaskContext>>,
    pub(crate) ttl: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) forms: Arc<Forms>,
}

impl BuiltTool {
    fn is_task(&self) -> bool {
        matches!(self.run, BuiltRun::Task(_))
    }
}

impl Extension {
    /// Whether calls of some tool become tasks.
    #[must_use]
    pub fn has_tasks(&self) -> bool {
        self.tools.values().any(BuiltTool::is_task)
    }

    /// Whether calls of this tool do.
    pub(crate) fn is_task_tool(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(BuiltTool::is_task)
    }

    /// Begins an extension of this id and name.
    ///
    /// ```
    /// use pup_extension::prelude::*;
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct Choices { choices: Vec<&'static str> }
    ///
    /// async fn snack_menu() -> Result<Choices, ToolError> {
    ///     Ok(Choices { choices: vec!["popcorn", "fruit"] })
    /// }
    ///
    /// let extension = Extension::builder("snack_club", "Snack Club")
    ///     .author("Example author")
    ///     .description("List available snacks.")
    ///     .summary("Read the available snack choices.")
    ///     .instructions("Use snack_menu when asked for the available snacks.")
    ///     .tool(Tool::new("snack_menu", snack_menu).read_only())
    ///     .command(Command::new("snacks", "See available snacks").tool("snack_menu"))
    ///     .build()?;
    /// assert_eq!(extension.manifest().id().as_str(), "snack_club");
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn builder(id: impl Into<String>, name: impl Into<String>) -> ExtensionBuilder {
        ExtensionBuilder {
            draft: ManifestDraft {
                id: id.into(),
                name: name.into(),
                ..ManifestDraft::default()
            },
            version: String::from("0.0.0"),
            tools: Vec::new(),
            events: BTreeMap::new(),
            doubled_events: Vec::new(),
        }
    }

    /// The manifest. Its endpoints stand under a placeholder until a service knows its public URL.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension")
            .field("id", self.manifest.id())
            .finish_non_exhaustive()
    }
}

/// An extension in the making. [`build`](Self::build) checks it.
#[derive(Debug)]
#[must_use = "an extension exists only once it is built"]
pub struct ExtensionBuilder {
    draft: ManifestDraft,
    version: String,
    tools: Vec<Tool>,
    events: BTreeMap<EventKind, Registered>,
    doubled_events: Vec<EventKind>,
}

struct Registered(Arc<dyn Handle>);

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("handler")
    }
}

/// What stands for the public URL while there is none. (`.invalid` is reserved: it never resolves.)
const PLACEHOLDER_URL: &str = "https://extension.invalid";

impl ExtensionBuilder {
    /// Who made it.
    pub fn author(mut self, author: impl Into<String>) -> Self {
        self.draft.author = author.into();
        self
    }

    /// What it is for.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.draft.description = description.into();
        self
    }

    /// One line, at most 150 characters, that the assistant always has.
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.draft.summary = summary.into();
        self
    }

    /// At most 2,000 characters, loaded with the tools' details when they are needed.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.draft.instructions = instructions.into();
        self
    }

    /// The version that MCP clients are told; `env!("CARGO_PKG_VERSION")` is a good one. `0.0.0` by default.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Adds a tool. An extension has 1 to 100.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a command, a shortcut to a tool.
    pub fn command(mut self, command: Command) -> Self {
        self.draft.commands.push(command);
        self
    }

    /// Adds a setting, at most 25, which pup shows to an installation's people.
    pub fn setting(mut self, setting: Setting) -> Self {
        self.draft.settings.push(setting);
        self
    }

    /// Runs when a member joined: `async fn(EventContext, Event) -> Result<T, ToolError>`, where either argument
    /// may be left out, and `T` is `()`, `Presentation` or `Option<Presentation>`.
    ///
    /// An error of any kind makes pup deliver the event again. An event without a handler is answered `{}`: so is
    /// a delivery that is retried after a deployment has taken its handler away.
    pub fn on_member_joined<M, H>(self, handler: H) -> Self
    where
        H: Handler<M>,
        M: EventArgs,
        H::Output: EventResult,
        H::Future: MaybeSend,
    {
        self.on(EventKind::MemberJoined, handler)
    }

    /// Runs when a member left; see [`on_member_joined`](Self::on_member_joined).
    pub fn on_member_left<M, H>(self, handler: H) -> Self
    where
        H: Handler<M>,
        M: EventArgs,
        H::Output: EventResult,
        H::Future: MaybeSend,
    {
        self.on(EventKind::MemberLeft, handler)
    }

    fn on<M, H>(mut self, kind: EventKind, handler: H) -> Self
    where
        H: Handler<M>,
        M: EventArgs,
        H::Output: EventResult,
        H::Future: MaybeSend,
    {
        if self
            .events
            .insert(kind, Registered(handle(handler)))
            .is_some()
        {
            self.doubled_events.push(kind);
        }
        self
    }

    /// Checks everything that the protocol limits.
    ///
    /// # Errors
    ///
    /// All that is wrong, at once, each with its path.
    pub fn build(self) -> Result<Extension, BuildError> {
        let Self {
            mut draft,
            version,
            tools,
            events,
            doubled_events,
        } = self;
        draft.tools = tools.iter().map(listed).collect();
        draft.events = events.keys().map(|kind| kind.as_str().to_owned()).collect();
        // Without a query or a fragment, this can't fail.
        draft.endpoints = Endpoints::under(PLACEHOLDER_URL, !events.is_empty()).unwrap_or_default();
        let server = ServerInfo {
            name: draft.id.clone(),
            title: Some(draft.name.clone()),
            version,
        };

        let mut problems = Vec::new();
        problems.extend(
            doubled_events
                .iter()
                .map(|kind| Problem::DoubledEvent(*kind)),
        );
        let mut built = BTreeMap::new();
        let mut definitions = Vec::with_capacity(tools.len());
        for (index, tool) in tools.into_iter().enumerate() {
            let name = tool.name.clone();
            problems.extend(misplaced(index, &tool));
            match build_tool(index, tool) {
                Ok((definition, tool)) => {
                    definitions.push(definition);
                    built.insert(name, tool);
                }
                Err(found) => problems.extend(found),
            }
        }
        match draft.check() {
            Ok(manifest) if problems.is_empty() => Ok(Extension {
                manifest,
                server,
                tools: built,
                definitions,
                events: events
                    .into_iter()
                    .map(|(kind, Registered(handler))| (kind, handler))
                    .collect(),
            }),
            Ok(_) => Err(BuildError(problems)),
            Err(violations) => {
                problems.insert(0, Problem::Manifest(violations));
                Err(BuildError(problems))
            }
        }
    }
}

fn listed(tool: &Tool) -> ToolDraft {
    ToolDraft {
        name: tool.name.clone(),
        read_only: tool.read_only,
        always_ask: tool.always_ask,
        thread: tool.thread,
        user_request: tool.user_request,
    }
}

/// What a tool was said to be that it can't be.
fn misplaced(index: usize, tool: &Tool) -> Vec<Problem> {
    let mut reasons: Vec<String> = tool
        .misplaced
        .iter()
        .map(|what| format!("`{what}` is for tasks: make the tool with `Tool::task`"))
        .collect();
    if let HowToRun::Task(task) = &tool.run {
        if tool.at_most_once {
            reasons.push(
                "`at_most_once` is not for tasks, whose functions are replayed: use steps".into(),
            );
        }
        if !(MIN_TTL..=MAX_TTL).contains(&task.ttl) {
            reasons.push("`ttl` must be at least a second and at most ten years".into());
        }
        if task.poll_interval > MAX_POLL_INTERVAL {
            reasons.push("`poll_interval` must be at most a day".into());
        }
    }
    let problem = |text| Problem::Tool {
        index,
        name: tool.name.clone(),
        text,
    };
    reasons.into_iter().map(problem).collect()
}

const MIN_TTL: Duration = Duration::from_secs(1);
const MAX_TTL: Duration = Duration::from_secs(10 * 366 * 24 * 3_600);
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(24 * 3_600);

fn build_tool(index: usize, tool: Tool) -> Result<(ToolDefinition, BuiltTool), Vec<Problem>> {
    let name = tool.name.clone();
    let schema = Schema::compile_input(&tool.input_schema);
    let run = match tool.run {
        HowToRun::Call(handler) => Ok(BuiltRun::Call(handler)),
        HowToRun::Task(task) => build_task(task).map(BuiltRun::Task),
    };
    let (schema, run) = match (schema, run) {
        (Ok(schema), Ok(run)) => (schema, run),
        (schema, run) => {
            let schema = schema.err().map(|error| Problem::Schema {
                index,
                name: name.clone(),
                text: error.to_string(),
            });
            let forms = run.err().into_iter().flatten().map(|error| Problem::Form {
                index,
                name: name.clone(),
                text: error.to_string(),
            });
            return Err(schema.into_iter().chain(forms).collect());
        }
    };
    let definition = ToolDefinition {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        input_schema: object(tool.input_schema).unwrap_or_default(),
        output_schema: tool.output_schema.and_then(object),
        annotations: ToolAnnotations {
            read_only_hint: Some(tool.read_only),
            destructive_hint: (!tool.read_only).then_some(tool.always_ask),
            ..ToolAnnotations::default()
        },
        meta: Map::new(),
    };
    let built = BuiltTool {
        schema,
        read_only: tool.read_only,
        user_request: tool.user_request,
        at_most_once: tool.at_most_once,
        run,
    };
    Ok((definition, built))
}

fn build_task(draft: TaskDraft) -> Result<BuiltTask, Vec<FormError>> {
    let (mut forms, mut errors) = (Forms::new(), Vec::new());
    for (id, form) in draft.forms {
        match form {
            Ok(form) => {
                forms.insert(id, form);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(BuiltTask {
            handler: draft.handler,
            ttl: draft.ttl,
            poll_interval: draft.poll_interval,
            forms: Arc::new(forms),
        })
    } else {
        Err(errors)
    }
}

/// The keywords of a schema; `None` for `true`, which allows everything.
fn object(schema: Value) -> Option<Map<String, Value>> {
    match schema {
        Value::Object(keywords) => Some(keywords),
        _ => None,
    }
}

/// Everything that is wrong with an extension, one problem a line, each with its path.
#[derive(Debug)]
pub struct BuildError(Vec<Problem>);

#[derive(Debug)]
enum Problem {
    Manifest(Violations),
    Schema {
        index: usize,
        name: String,
        text: String,
    },
    Form {
        index: usize,
        name: String,
        text: String,
    },
    Tool {
        index: usize,
        name: String,
        text: String,
    },
    DoubledEvent(EventKind),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match problem {
                Problem::Manifest(violations) => write!(f, "{violations}")?,
                Problem::Schema { index, name, text } => {
                    write!(
                        f,
                        "tools[{index}].inputSchema: of the tool `{name}`: {text}"
                    )?;
                }
                Problem::Form { index, name, text } => {
                    write!(f, "tools[{index}].asks: of the tool `{name}`: {text}")?;
                }
                Problem::Tool { index, name, text } => {
                    write!(f, "tools[{index}]: of the tool `{name}`: {text}")?;
                }
                Problem::DoubledEvent(kind) => {
                    write!(f, "events: `{kind}` has two handlers; one is allowed")?;
                }
            }
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}
