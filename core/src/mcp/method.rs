//! The methods that there are, and what each wants.

use std::{borrow::Cow, fmt};

use http::HeaderMap;
use serde_json::{Map, Value};

use super::{
    Error,
    header::{self, decode_value},
    object::Object,
};

/// A method with its parameters.
///
/// Parameters that MCP or its extensions define for other purposes are ignored: `inputResponses` and
/// `requestState` of `tools/call` (no tool call here is ever answered with a request for input), and `task` of
/// earlier revisions. Whether the `tasks/*` methods exist is for the service to say, which knows the tools.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Method<'a> {
    /// `server/discover`.
    Discover,
    /// `tools/list`.
    ListTools {
        /// Where to go on, as an earlier page said.
        cursor: Option<String>,
    },
    /// `tools/call`.
    CallTool {
        /// The tool.
        name: Cow<'a, str>,
        /// Its arguments: always an object, an empty one where the request has none.
        arguments: Value,
    },
    /// `tasks/get`.
    GetTask {
        /// The task.
        task_id: Cow<'a, str>,
    },
    /// `tasks/update`.
    UpdateTask {
        /// The task.
        task_id: Cow<'a, str>,
        /// The answers, by the key of the request that each is for.
        input_responses: Map<String, Value>,
    },
    /// `tasks/cancel`.
    CancelTask {
        /// The task.
        task_id: Cow<'a, str>,
    },
}

impl Method<'_> {
    /// The method's name on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Discover => Kind::Discover.name(),
            Self::ListTools { .. } => Kind::ListTools.name(),
            Self::CallTool { .. } => Kind::CallTool.name(),
            Self::GetTask { .. } => Kind::GetTask.name(),
            Self::UpdateTask { .. } => Kind::UpdateTask.name(),
            Self::CancelTask { .. } => Kind::CancelTask.name(),
        }
    }
}

/// Arguments and answers are people's data, and not shown.
impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(self.name());
        match self {
            Self::Discover | Self::ListTools { .. } => {}
            Self::CallTool { name, .. } => {
                shown.field("name", name);
            }
            Self::GetTask { task_id }
            | Self::UpdateTask { task_id, .. }
            | Self::CancelTask { task_id } => {
                shown.field("task_id", task_id);
            }
        }
        shown.finish_non_exhaustive()
    }
}

/// A method without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Discover,
    ListTools,
    CallTool,
    GetTask,
    UpdateTask,
    CancelTask,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Discover,
        Self::ListTools,
        Self::CallTool,
        Self::GetTask,
        Self::UpdateTask,
        Self::CancelTask,
    ];

    pub(super) fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == method)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Discover => "server/discover",
            Self::ListTools => "tools/list",
            Self::CallTool => "tools/call",
            Self::GetTask => "tasks/get",
            Self::UpdateTask => "tasks/update",
            Self::CancelTask => "tasks/cancel",
        }
    }

    /// Whether the method acts for someone, so that pup's context must be there.
    pub(super) const fn needs_context(self) -> bool {
        !matches!(self, Self::Discover | Self::ListTools)
    }

    /// The method's own parameters, with `Mcp-Name` checked against the one that it mirrors.
    pub(super) fn read<'a>(
        self,
        params: &Object<'a>,
        headers: &HeaderMap,
    ) -> Result<Method<'a>, Error> {
        Ok(match self {
            Self::Discover => Method::Discover,
            Self::ListTools => Method::ListTools {
                cursor: params.text("cursor")?.map(Cow::into_owned),
            },
            Self::CallTool => Method::CallTool {
                name: mirrored_name(params, "name", headers)?,
                arguments: Value::Object(params.map("arguments")?.unwrap_or_default()),
            },
            Self::GetTask => Method::GetTask {
                task_id: mirrored_name(params, "taskId", headers)?,
            },
            Self::UpdateTask => Method::UpdateTask {
                task_id: mirrored_name(params, "taskId", headers)?,
                input_responses: responses(params)?,
            },
            Self::CancelTask => Method::CancelTask {
                task_id: mirrored_name(params, "taskId", headers)?,
            },
        })
    }
}

/// The answers of `tasks/update`. What somebody answered must not depend on which parser reads it.
fn responses(params: &Object<'_>) -> Result<Map<String, Value>, Error> {
    const PATH: &str = "params.inputResponses";
    let responses = params.required_object("inputResponses", PATH)?;
    for answer in responses.objects() {
        let answer = Object::read(answer, "an answer in params.inputResponses")?;
        for content in answer.objects() {
            Object::read(content, "the content of an answer in params.inputResponses")?;
        }
    }
    params.required_map("inputResponses")
}

/// The parameter that `Mcp-Name` mirrors: a tool's name (Streamable HTTP, "Standard Request Headers"), a task's id
/// (the tasks extension, "Routing Headers").
fn mirrored_name<'a>(
    params: &Object<'a>,
    member: &str,
    headers: &HeaderMap,
) -> Result<Cow<'a, str>, Error> {
    let value = params.required_text(member)?;
    let Some(header) = header::single(headers, &header::NAME, "Mcp-Name")? else {
        return Err(Error::header_mismatch(format!(
            "the Mcp-Name header is missing: send it with params.{member}"
        )));
    };
    match decode_value(header) {
        Ok(name) if name == value => Ok(value),
        Ok(_) => Err(Error::header_mismatch(format!(
            "the Mcp-Name header does not match params.{member}"
        ))),
        Err(error) => Err(Error::header_mismatch(format!(
            "the Mcp-Name header can't be decoded: {error}"
        ))),
    }
}
