//! Task tools and `tasks/*`: which answer each outcome is.

use bytes::Bytes;

use super::{Service, Trace, mcp::unavailable};
use crate::{
    budget::Deadline,
    causes::with_causes,
    extension::Prepared,
    mcp::{Context, EmptyResult, Error, Method, ResultObject},
    signing::Verified,
    task::{Created, NewTask, RequestError, Requests, TaskContext, Tasks},
};

impl Service {
    pub(super) fn tasks(&self) -> Tasks<'_> {
        Tasks {
            ports: &self.inner.ports,
            extension: &self.inner.extension,
        }
    }

    /// The task of a call, as JSON.
    pub(super) async fn create_task(
        &self,
        call: NewTask<'_>,
        first: Prepared<TaskContext>,
    ) -> Result<Bytes, Error> {
        let request_id = call.request.id();
        match self.tasks().create(call, first).await {
            Ok(Created::Answer(task)) => Ok(task),
            Ok(Created::TooLarge) => Err(Error::invalid_params(
                "the arguments are too large for a task: with the settings they may have 256 KB",
            )),
            Ok(Created::Replayed) => Err(Error::replayed()),
            Ok(Created::OtherContent) => Err(Error::call_id_reused()),
            Ok(Created::StillRunning) => Err(Error::still_running()),
            Ok(Created::OutcomeUnknown) => Err(Error::outcome_unknown()),
            Err(error) => Err(unavailable(request_id, &error)),
        }
    }

    /// The answer to a request about a task, as JSON.
    pub(super) async fn about_task(
        &self,
        request: &Verified,
        method: &Method<'_>,
        context: &Context,
        deadline: Deadline,
        trace: &mut Trace,
    ) -> Result<Bytes, Error> {
        let requests = Requests {
            tasks: self.tasks(),
            request,
            context,
            deadline,
        };
        let server = &self.inner.extension.server;
        let acknowledged = |()| ResultObject::complete(&EmptyResult::default(), server);
        let answer = match method {
            Method::GetTask { task_id } => requests
                .get(task_id)
                .await
                .map(|task| ResultObject::complete(&task, server)),
            Method::UpdateTask {
                task_id,
                input_responses,
            } => requests
                .update(task_id, input_responses)
                .await
                .map(acknowledged),
            Method::CancelTask { task_id } => requests.cancel(task_id).await.map(acknowledged),
            Method::Discover | Method::ListTools { .. } | Method::CallTool { .. } => {
                return Err(Error::method_not_found());
            }
        };
        match answer {
            Ok(result) => result.map(|result| result.as_bytes().clone()),
            Err(RequestError::Refused(error)) => Err(error),
            // The answers or the cancellation may stand.
            Err(RequestError::Ledger(error)) if error.is_unknown() => {
                tracing::error!(request_id = request.id(), error = %with_causes(&error), "it is not known whether the request about a task took effect");
                Err(Error::outcome_unknown())
            }
            Err(RequestError::Ledger(error)) => Err(unavailable(request.id(), &error)),
        }
        .inspect_err(|error| trace.outcome = super::mcp::outcome(error.kind()))
    }
}
