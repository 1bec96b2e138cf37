//! Timers: one-time schedules of `EventBridge` Scheduler, which delete themselves.

use aws_sdk_scheduler::{
    Client,
    error::{ProvideErrorMetadata as _, SdkError},
    types::{ActionAfterCompletion, FlexibleTimeWindow, FlexibleTimeWindowMode, Target},
};
use pup_extension::{
    task::{BackgroundError, Job},
    time::Timestamp,
};

/// Sets timers that invoke the background function.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    pub(super) scheduler: Client,
    /// What the scheduler takes on.
    pub(super) role: String,
    pub(super) group: String,
    /// The function's ARN.
    pub(super) function: String,
}

impl Timers {
    pub(super) async fn set(&self, job: &Job, at: Timestamp) -> Result<(), BackgroundError> {
        let input = serde_json::to_string(job).map_err(BackgroundError::new)?;
        let target = Target::builder()
            .arn(&self.function)
            .role_arn(&self.role)
            .input(input)
            .build()
            .map_err(BackgroundError::new)?;
        let exactly = FlexibleTimeWindow::builder()
            .mode(FlexibleTimeWindowMode::Off)
            .build()
            .map_err(BackgroundError::new)?;
        let at = Timestamp::from_secs(at.as_millis().div_ceil(1_000));
        let sent = self
            .scheduler
            .create_schedule()
            .name(name(job, at))
            .group_name(&self.group)
            .schedule_expression(expression(at))
            .schedule_expression_timezone("UTC")
            .flexible_time_window(exactly)
            .action_after_completion(ActionAfterCompletion::Delete)
            .target(target)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(()),
            // Set already: by an earlier run that slept until the same time.
            Err(SdkError::ServiceError(service))
                if service.err().code() == Some("ConflictException") =>
            {
                Ok(())
            }
            Err(error) => Err(BackgroundError::new(crate::store::failure(&error))),
        }
    }
}

/// One for each task and time. A name has 64 characters at the most.
fn name(job: &Job, at: Timestamp) -> String {
    format!("{}-{}", job.task_id(), at.as_secs())
}

fn expression(at: Timestamp) -> String {
    let time = at.to_rfc3339();
    let seconds = time.split('.').next().unwrap_or(&time);
    format!("at({seconds})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_named_after_its_task_and_time() {
        let task = "0123456789abcdef0123456789abcdef";
        let job = format!(r#"{{"partition":"i/1","task":"{task}"}}"#);
        let job: Job = serde_json::from_str(&job).unwrap();
        let at = Timestamp::from_secs(1_785_196_800);
        let name = name(&job, at);
        assert_eq!(name, format!("{task}-1785196800"));
        assert!(name.len() <= 64);
        assert_eq!(expression(at), "at(2026-07-28T00:00:00)");
    }
}
