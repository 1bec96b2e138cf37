//! How a request to AWS fails, and what that leaves behind.

use std::error::Error;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::log::chain;

/// A request that brought no answer that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    what: String,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What a [`Failure`] leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Nothing was done, and it is worth another try.
    Passing,
    /// The same transaction is still under way.
    InProgress,
    /// Nothing was done, and nothing would be.
    Refused,
    /// It may have been done.
    Lost,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            source: None,
        }
    }
}

/// Codes that say that nothing was done yet.
const PASSING: [&str; 6] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionConflictException",
    "LimitExceededException",
];
/// Codes whose message speaks of the deployment and of nothing that anybody sent.
const TELLING: [&str; 6] = [
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "ResourceNotFoundException",
    "UnrecognizedClientException",
];

/// What a client reports.
pub(crate) fn failure<E, R>(error: &SdkError<E, R>) -> Failure
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static + HasStatus,
{
    match error {
        SdkError::ConstructionFailure(_) => {
            Failure::new(FailureKind::Refused, "the request could not be made")
        }
        SdkError::TimeoutError(_) => {
            Failure::new(FailureKind::Lost, "the service did not answer in time")
        }
        SdkError::DispatchFailure(dispatch) => {
            let connect = dispatch
                .as_connector_error()
                .is_some_and(|error| is_unsent(error));
            let mut failure = if connect {
                Failure::new(FailureKind::Passing, "the service can't be reached")
            } else {
                Failure::new(FailureKind::Lost, "the connection broke")
            };
            if let Some(cause) = dispatch.as_connector_error() {
                failure.source = Some(chain(cause).into());
            }
            failure
        }
        SdkError::ResponseError(_) => {
            Failure::new(FailureKind::Lost, "the service's answer can't be read")
        }
        SdkError::ServiceError(service) => {
            of_service(service.err(), service.raw().status_of_answer())
        }
        _ => Failure::new(FailureKind::Lost, "the request failed"),
    }
}

/// The status of a raw answer.
pub(crate) trait HasStatus {
    fn status_of_answer(&self) -> u16;
}

impl HasStatus for aws_sdk_dynamodb::config::http::HttpResponse {
    fn status_of_answer(&self) -> u16 {
        self.status().as_u16()
    }
}

fn of_service(error: &impl ProvideErrorMetadata, status: u16) -> Failure {
    let code = error.code().unwrap_or("an answer that can't be read");
    let kind = if PASSING.contains(&code) {
        FailureKind::Passing
    } else if code == "TransactionInProgressException" {
        FailureKind::InProgress
    } else if error.code().is_some() && (400..500).contains(&status) {
        FailureKind::Refused
    } else {
        FailureKind::Lost
    };
    // A message may quote values. Those that tell what to do about the deployment do not.
    let what = match error.message() {
        Some(message) if TELLING.contains(&code) => format!("{code}: {message}"),
        Some(_) | None => format!("{code} (HTTP {status})"),
    };
    Failure::new(kind, what)
}

/// Whether nothing was sent: the connection was never made.
fn is_unsent(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
            return error.is_connect();
        }
        cause = error.source();
    }
    false
}
