//! How a job reaches the background function.

use std::time::Duration;

use aws_sdk_lambda::{
    Client,
    error::{ProvideErrorMetadata as _, SdkError},
    primitives::Blob,
    types::InvocationType,
};
use pup_extension::{
    runtime::Runtime as _,
    task::{Background, BackgroundError, Job},
    time::Timestamp,
};

use crate::LambdaRuntime;

/// A job that is due so soon is handed over at once: the background function waits for its time. What is due later is a
/// timer's, whose times are minutes.
pub(super) const SOON: Duration = Duration::from_secs(60);

/// Hands jobs to the background function, through Lambda's own queue.
#[derive(Clone, Debug)]
pub(crate) struct Hand {
    lambda: Client,
    function: String,
    runtime: LambdaRuntime,
    #[cfg(feature = "timers")]
    timers: Option<super::timers::Timers>,
}

impl Hand {
    pub(crate) fn new(lambda: Client, function: String, runtime: LambdaRuntime) -> Self {
        Self {
            lambda,
            function,
            runtime,
            #[cfg(feature = "timers")]
            timers: None,
        }
    }

    /// With timers for what is due later.
    #[cfg(feature = "timers")]
    pub(crate) fn with_timers(
        mut self,
        scheduler: aws_sdk_scheduler::Client,
        role: String,
        group: String,
    ) -> Self {
        let function = self.function.clone();
        self.timers = Some(super::timers::Timers {
            scheduler,
            role,
            group,
            function,
        });
        self
    }

    async fn invoke(&self, job: &Job) -> Result<(), BackgroundError> {
        let payload = serde_json::to_vec(job).map_err(BackgroundError::new)?;
        let sent = self
            .lambda
            .invoke()
            .function_name(&self.function)
            .invocation_type(InvocationType::Event)
            .payload(Blob::new(payload))
            .send()
            .await;
        let Err(error) = sent else { return Ok(()) };
        let code = match &error {
            SdkError::ServiceError(service) => service.err().code(),
            _ => None,
        };
        let name = short_name(&self.function);
        match code {
            Some("AccessDeniedException") => Err(BackgroundError::forbidden(
                format!(
                    "the extension can't run tasks: its role lacks the permission lambda:InvokeFunction on its background function {name}"
                ),
                crate::store::failure(&error),
            )),
            Some("ResourceNotFoundException") => Err(BackgroundError::forbidden(
                format!(
                    "the extension can't run tasks: its background function {name} does not exist"
                ),
                crate::store::failure(&error),
            )),
            _ => Err(BackgroundError::new(crate::store::failure(&error))),
        }
    }
}

impl Background for Hand {
    /// Invokes the background function, or sets a timer for it. Without timers, what is due in more than a minute goes
    /// on at the next poll after that.
    async fn schedule(&self, job: Job, at: Timestamp) -> Result<(), BackgroundError> {
        if at.since(self.runtime.now()) <= SOON {
            return self.invoke(&job).await;
        }
        #[cfg(feature = "timers")]
        if let Some(timers) = &self.timers {
            return timers.set(&job, at).await;
        }
        Ok(())
    }
}

/// The background of the background function itself, which is told what comes next by what its run returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle;

impl Background for Idle {
    async fn schedule(&self, _: Job, _: Timestamp) -> Result<(), BackgroundError> {
        Ok(())
    }
}

/// The name in an ARN: what people know a function by, without the account's number.
fn short_name(function: &str) -> &str {
    function
        .split_once(":function:")
        .map_or(function, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_by_its_name() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:snacks-background";
        assert_eq!(short_name(arn), "snacks-background");
        assert_eq!(short_name("snacks-background"), "snacks-background");
    }
}
