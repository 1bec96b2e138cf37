//! Calls of tools.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use super::{
    Service, Trace,
    drive::{Ended, Job, Produced},
    mcp::unavailable,
};
use crate::{
    budget::Deadline,
    causes::with_causes,
    context::{Caller, Settings, ToolContext},
    extension::{BuiltRun, BuiltTool, Prepare, Prepared, ToolError, ToolErrorKind},
    ledger::{
        Admission, Admit, Begin, Claim, Fingerprint, Held, LedgerError, Retry, Taken, canonical,
        idempotency_key,
    },
    marker::BoxFuture,
    mcp::{
        CallToolResult, Context, Error, ResultObject, ServerInfo, UserRequest, check_param_headers,
    },
    schema::unify_numbers,
    signing::Verified,
    state::Access,
    store::{Name, Partition},
    task::NewTask,
};

impl Service {
    #[expect(
        clippy::too_many_arguments,
        reason = "what a call is made of, each of its own source"
    )]
    pub(super) async fn call(
        &self,
        headers: &HeaderMap,
        request: &Verified,
        name: &str,
        arguments: &Value,
        context: &Context,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Bytes, Error> {
        let tool = self.inner.extension.tools.get(name).ok_or_else(|| {
            Error::invalid_params(
                "params.name is no tool of this extension: ask tools/list for the tools",
            )
        })?;
        trace.tool = Some(name.to_owned());
        check_param_headers(headers, tool.schema.header_params(), arguments)?;
        tool.schema.validate(arguments).map_err(|mismatches| {
            Error::invalid_params(format!(
                "the arguments don't fit the tool's input schema: {mismatches}"
            ))
        })?;
        // To JSON Schema `1.0` is a whole number; to serde, and to a comparison of two calls, it has to be `1`.
        let mut arguments = arguments.clone();
        unify_numbers(&mut arguments);
        let arguments = &arguments;
        let handler = match &tool.run {
            BuiltRun::Call(handler) => handler,
            BuiltRun::Task(task) => {
                let first = task.handler.prepare(arguments).map_err(not_the_type)?;
                let new = NewTask {
                    request,
                    context,
                    name,
                    tool,
                    task,
                    arguments,
                    deadline,
                    retention: self.inner.config.retention,
                };
                return self
                    .create_task(new, first)
                    .await
                    .inspect_err(|error| trace.outcome = super::mcp::outcome(error.kind()));
            }
        };
        let first = handler.prepare(arguments).map_err(not_the_type)?;

        let call = Call {
            service: self,
            request,
            name,
            tool,
            handler: &**handler,
            arguments,
            context,
            deadline,
            first: Some(first),
        };
        match call.run().await {
            Ok(Called::Ended(Ended::Answer(result)) | Called::Answer(result)) => Ok(result),
            Ok(Called::Ended(Ended::Failed)) => Err(Error::internal()),
            Ok(Called::Ended(Ended::OutOfTime)) => Err(Error::out_of_time()),
            Ok(Called::Ended(Ended::TooLarge)) => Err(Error::answer_too_large()),
            Ok(
                Called::Ended(Ended::Unavailable | Ended::Unfinished | Ended::Lost)
                | Called::OutcomeUnknown,
            ) => Err(Error::outcome_unknown()),
            Ok(Called::Replayed) => Err(Error::replayed()),
            Ok(Called::OtherContent) => Err(Error::call_id_reused()),
            Ok(Called::StillRunning) => Err(Error::still_running()),
            Err(error) => Err(unavailable(request.id(), &error)),
        }
        .inspect_err(|error| trace.outcome = super::mcp::outcome(error.kind()))
    }
}

/// Where the type is stricter than its schema. serde's text may quote what was sent.
fn not_the_type(_: serde_json::Error) -> Error {
    Error::invalid_params("the arguments fit the tool's input schema, but not its input type")
}

/// What came of a call.
enum Called {
    Ended(Ended),
    Answer(Bytes),
    Replayed,
    OtherContent,
    StillRunning,
    OutcomeUnknown,
}

/// One call of one tool, its arguments checked.
struct Call<'a> {
    service: &'a Service,
    request: &'a Verified,
    name: &'a str,
    tool: &'a BuiltTool,
    handler: &'a dyn Prepare<ToolContext>,
    arguments: &'a Value,
    context: &'a Context,
    deadline: Deadline,
    /// The first run, whose arguments are read already.
    first: Option<Prepared<ToolContext>>,
}

impl Call<'_> {
    async fn run(mut self) -> Result<Called, LedgerError> {
        let claim = Claim::of(self.request)?;
        match (self.tool.read_only, &self.context.call_id) {
            (false, Some(call_id)) => self.run_recorded(claim, call_id.as_str()).await,
            _ => self.run_unrecorded(&claim).await,
        }
    }

    /// A read, or a write that pup gave no id: claimed, but not deduplicated.
    async fn run_unrecorded(&mut self, claim: &Claim) -> Result<Called, LedgerError> {
        let partition = self.partition();
        let ports = &self.service.inner.ports;
        match claim
            .take(ports, &partition, self.deadline.received)
            .await?
        {
            Taken::Replayed => Ok(Called::Replayed),
            Taken::Fresh(held) => Ok(Called::Ended(self.drive(&partition, held, ["", ""]).await)),
        }
    }

    /// A write with an id: once, whoever retries it.
    async fn run_recorded(&mut self, claim: Claim, call_id: &str) -> Result<Called, LedgerError> {
        let partition = self.partition();
        let admit = Admit {
            ports: &self.service.inner.ports,
            partition: &partition,
            record: Name::of(["call", call_id])?,
            fingerprint: Fingerprint::of(&[
                self.context.asker_id.as_str().as_bytes(),
                self.name.as_bytes(),
                &canonical(self.arguments),
            ]),
            retry: if self.tool.at_most_once {
                Retry::Never
            } else {
                Retry::AsNeeded
            },
            begin: Begin::Running,
            retention: self.service.inner.config.retention,
            deadline: self.deadline,
        };
        let mut claim = Some(claim);
        loop {
            let admission = match admit.admit(&mut claim).await {
                Ok(admission) => admission,
                // The claim stands, so somebody has begun to run the call, if not this request.
                Err(error) if claim.is_none() => {
                    tracing::error!(request_id = self.request.id(), error = %with_causes(&error), "the call's record could not be followed; its outcome is not known");
                    return Ok(Called::OutcomeUnknown);
                }
                Err(error) => return Err(error),
            };
            let held = match admission {
                Admission::Run(held) => held,
                Admission::Answer(result) => return Ok(Called::Answer(result)),
                Admission::Replayed => return Ok(Called::Replayed),
                Admission::OtherContent => return Ok(Called::OtherContent),
                Admission::StillRunning => return Ok(Called::StillRunning),
                Admission::OutcomeUnknown => return Ok(Called::OutcomeUnknown),
            };
            match self.drive(&partition, held, ["call", call_id]).await {
                // Whoever took it over has the answer, or will.
                Ended::Lost => {}
                ended => return Ok(Called::Ended(ended)),
            }
        }
    }

    async fn drive(&mut self, partition: &Partition, held: Held, record: [&str; 2]) -> Ended {
        let service = &self.service.inner;
        let context = self.context;
        let installation_id = context.installation_id.as_str();
        let stable = context
            .call_id
            .as_ref()
            .filter(|_| held.is_recorded() || self.tool.read_only);
        let idempotency_key = match stable {
            Some(call_id) => idempotency_key(&["call", installation_id, call_id.as_str()]),
            None => idempotency_key(&["request", installation_id, self.request.id()]),
        };
        let job = Job {
            ports: &service.ports,
            partition,
            deadline: self.deadline,
            access: if self.tool.read_only {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            },
            caller: Caller {
                request_id: self.request.id().into(),
                installation_id: installation_id.into(),
                channel_id: context.channel_id.as_ref().map(|id| id.as_str().into()),
                settings: Settings::from_json(Value::Object(context.settings.clone())),
                idempotency_key,
            },
            record: record.map(str::to_owned),
            runs_again: !self.tool.at_most_once,
        };
        let asker_id: Arc<str> = context.asker_id.as_str().into();
        let call_id: Option<Arc<str>> = context.call_id.as_ref().map(|id| id.as_str().into());
        let user_request: Option<Arc<UserRequest>> = context
            .user_request
            .clone()
            .filter(|_| self.tool.user_request)
            .map(Arc::new);
        let (handler, arguments, first) = (self.handler, self.arguments, &mut self.first);
        job.drive(held, |run| {
            let context = ToolContext::new(
                run,
                Arc::clone(&asker_id),
                call_id.clone(),
                user_request.clone(),
            );
            let prepared = first.take().map_or_else(|| handler.prepare(arguments), Ok);
            begin(prepared, context, service.extension.server.clone())
        })
        .await
    }

    fn partition(&self) -> Partition {
        Partition::installation(self.context.installation_id.as_str())
    }
}

/// Begins one run; what comes of it is the result object as JSON. A rejection is a result like others, but its
/// writes are dropped.
fn begin(
    prepared: Result<Prepared<ToolContext>, serde_json::Error>,
    context: ToolContext,
    server: ServerInfo,
) -> BoxFuture<'static, Result<Produced, ToolError>> {
    Box::pin(async move {
        let (result, keep_writes) = match prepared?(context).await {
            Ok(result) => (result, true),
            Err(error) => match error.0 {
                ToolErrorKind::Rejected(message) => (CallToolResult::rejected(message), false),
                ToolErrorKind::Failed(_) => return Err(error),
            },
        };
        let result =
            ResultObject::complete(&result, &server).map_err(|_| ToolError::failed(NotJson))?;
        Ok(Produced {
            answer: result.as_bytes().clone(),
            keep_writes,
        })
    })
}

#[derive(Debug, thiserror::Error)]
#[error("the tool's result can't be written as JSON")]
struct NotJson;
