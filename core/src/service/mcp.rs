//! MCP: what each method is answered.

use bytes::Bytes;
use http::HeaderMap;

use super::{Service, Trace, answer::Answer};
use crate::{
    budget::Deadline,
    extension::Extension,
    ledger::{LedgerError, Taken},
    mcp::{
        Admitted, CacheHint, CacheScope, CompleteResult, Context, DiscoverResult, Error, ErrorKind,
        Id, ListToolsResult, Message, Method, ResultObject, admit, respond,
    },
    signing::Verified,
    store::Partition,
    time::Timestamp,
};

/// How long clients may keep what changes only with a deployment.
const FRESH_FOR: std::time::Duration = std::time::Duration::from_secs(300);

impl Service {
    pub(super) async fn mcp(
        &self,
        headers: &HeaderMap,
        request: &Verified,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Answer {
        let message = match Message::parse(request.body()) {
            Ok(Message::Request(message)) => message,
            Ok(Message::Notification(_)) => {
                // Nobody waits for a result, so nothing runs.
                trace.outcome = "notification";
                return Answer::accepted();
            }
            Err(error) => return refuse(&error, None),
        };
        let admitted = match admit(headers, &message) {
            Ok(admitted) => admitted,
            Err(error) => return refuse(&error, Some(&message.id)),
        };
        trace.method = Some(admitted.method.name());
        let id = admitted.id;
        match self
            .dispatch(headers, request, &admitted, deadline, trace)
            .await
        {
            Ok(result) => match ResultObject::from_recorded(result) {
                Some(result) => Answer::ok(respond(id, &result)),
                None => refuse(&Error::internal(), Some(id)),
            },
            Err(error) => refuse(&error, Some(id)),
        }
    }

    /// The result object of a request, as JSON.
    async fn dispatch(
        &self,
        headers: &HeaderMap,
        request: &Verified,
        admitted: &Admitted<'_>,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Bytes, Error> {
        let now = deadline.received;
        let context = admitted.meta.context.as_ref();
        match &admitted.method {
            Method::Discover => {
                self.claim_discovery(request, context, now).await?;
                Ok(self.inner.discovery.clone())
            }
            Method::ListTools { cursor } => {
                if cursor.is_some() {
                    return Err(Error::invalid_params(
                        "params.cursor is none of ours: the list has one page",
                    ));
                }
                self.claim_discovery(request, context, now).await?;
                Ok(self.inner.tools.clone())
            }
            Method::CallTool { name, arguments } => {
                let context = admitted.meta.required_context()?;
                if self.inner.extension.is_task_tool(name) {
                    admitted.meta.capabilities.require_tasks()?;
                }
                self.call(headers, request, name, arguments, context, deadline, trace)
                    .await
            }
            // An extension without task tools has no tasks.
            Method::GetTask { .. } | Method::UpdateTask { .. } | Method::CancelTask { .. }
                if !self.inner.extension.has_tasks() =>
            {
                Err(Error::method_not_found())
            }
            method @ (Method::GetTask { .. }
            | Method::UpdateTask { .. }
            | Method::CancelTask { .. }) => {
                admitted.meta.capabilities.require_tasks()?;
                let context = admitted.meta.required_context()?;
                self.about_task(request, method, context, deadline, trace)
                    .await
            }
        }
    }

    /// Claims a request that reads nothing but what was deployed.
    async fn claim_discovery(
        &self,
        request: &Verified,
        context: Option<&Context>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let partition = context.map_or_else(Partition::unscoped, |context| {
            Partition::installation(context.installation_id.as_str())
        });
        match self.claim(request, &partition, now).await {
            Ok(Taken::Fresh(_)) => Ok(()),
            Ok(Taken::Replayed) => Err(Error::replayed()),
            Err(error) => Err(unavailable(request.id(), &error)),
        }
    }
}

pub(super) fn unavailable(request_id: &str, error: &LedgerError) -> Error {
    super::log_ledger_error(request_id, error);
    Error::unavailable()
}

/// An error as an answer.
pub(super) fn refuse(error: &Error, id: Option<&Id>) -> Answer {
    Answer::json(error.status(), error.to_body(id))
}

/// The result of `server/discover`, which is the same for everybody.
pub(super) fn discovery(extension: &Extension) -> Result<Bytes, Error> {
    let instructions =
        Some(extension.manifest.instructions().to_owned()).filter(|text| !text.is_empty());
    whole(
        &DiscoverResult::new(extension.has_tasks(), instructions, hint()),
        extension,
    )
}

/// The result of `tools/list`, likewise.
pub(super) fn tool_list(extension: &Extension) -> Result<Bytes, Error> {
    let tools = extension.definitions.clone();
    whole(
        &ListToolsResult {
            tools,
            next_cursor: None,
            cache: hint(),
        },
        extension,
    )
}

fn whole(result: &impl CompleteResult, extension: &Extension) -> Result<Bytes, Error> {
    ResultObject::complete(result, &extension.server).map(|result| result.as_bytes().clone())
}

/// What the log calls a refusal.
pub(super) const fn outcome(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Replayed => "replayed",
        ErrorKind::StillRunning => "still running",
        ErrorKind::CallIdReused => "other content",
        ErrorKind::OutcomeUnknown => "outcome unknown",
        ErrorKind::OutOfTime => "out of time",
        ErrorKind::AnswerTooLarge => "answer too large",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Internal => "failed",
        _ => "refused",
    }
}

fn hint() -> CacheHint {
    CacheHint {
        ttl: FRESH_FOR,
        scope: CacheScope::Public,
    }
}
