//! The clients of AWS, made once, in the init phase.
//!
//! Everything is in the environment that Lambda sets, so nothing has to be looked for, as the SDK's own loader would.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Region, SharedHttpClient, StalledStreamProtectionConfig, retry::RetryConfig,
    timeout::TimeoutConfig,
};

use crate::settings::SettingsError;

/// What all clients share.
#[derive(Clone, Debug)]
pub(crate) struct Aws {
    region: Region,
    credentials: Credentials,
    http: SharedHttpClient,
    /// The endpoint of every service, where it isn't AWS itself.
    endpoint: Option<String>,
}

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(1);
/// How long one attempt to invoke, or to fetch a secret, may take.
const ATTEMPT: Duration = Duration::from_millis(1_500);

impl Aws {
    pub(crate) fn from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| var(name).ok_or(SettingsError::Missing { name });
        let region = var("AWS_REGION")
            .or_else(|| var("AWS_DEFAULT_REGION"))
            .ok_or(SettingsError::Missing { name: "AWS_REGION" })?;
        Ok(Self {
            region: Region::new(region),
            credentials: Credentials::new(
                required("AWS_ACCESS_KEY_ID")?,
                required("AWS_SECRET_ACCESS_KEY")?,
                var("AWS_SESSION_TOKEN"),
                None,
                "environment",
            ),
            http: http_client(),
            endpoint: var("AWS_ENDPOINT_URL"),
        })
    }

    /// The endpoint of one service: AWS's own, unless a variable names another.
    fn endpoint(&self, var: impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
        var(name).or_else(|| self.endpoint.clone())
    }

    pub(crate) fn dynamodb(
        &self,
        var: impl Fn(&str) -> Option<String>,
    ) -> aws_sdk_dynamodb::Client {
        let mut config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region.clone())
            .credentials_provider(self.credentials.clone())
            .http_client(self.http.clone())
            // The store does its own, within a request's time, and knows what must not be sent again.
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT).build())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        config.set_endpoint_url(self.endpoint(var, "AWS_ENDPOINT_URL_DYNAMODB"));
        aws_sdk_dynamodb::Client::from_conf(config.build())
    }

    pub(crate) fn lambda(&self, var: impl Fn(&str) -> Option<String>) -> aws_sdk_lambda::Client {
        let mut config = aws_sdk_lambda::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region.clone())
            .credentials_provider(self.credentials.clone())
            .http_client(self.http.clone())
            .retry_config(brief())
            .timeout_config(timeouts());
        config.set_endpoint_url(self.endpoint(var, "AWS_ENDPOINT_URL_LAMBDA"));
        aws_sdk_lambda::Client::from_conf(config.build())
    }

    #[cfg(feature = "timers")]
    pub(crate) fn scheduler(
        &self,
        var: impl Fn(&str) -> Option<String>,
    ) -> aws_sdk_scheduler::Client {
        let mut config = aws_sdk_scheduler::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region.clone())
            .credentials_provider(self.credentials.clone())
            .http_client(self.http.clone())
            .retry_config(brief())
            .timeout_config(timeouts());
        config.set_endpoint_url(self.endpoint(var, "AWS_ENDPOINT_URL_SCHEDULER"));
        aws_sdk_scheduler::Client::from_conf(config.build())
    }

    #[cfg(feature = "secrets-manager")]
    pub(crate) fn secrets_manager(
        &self,
        var: impl Fn(&str) -> Option<String>,
    ) -> aws_sdk_secretsmanager::Client {
        let mut config = aws_sdk_secretsmanager::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region.clone())
            .credentials_provider(self.credentials.clone())
            .http_client(self.http.clone())
            .retry_config(brief())
            .timeout_config(timeouts());
        config.set_endpoint_url(self.endpoint(var, "AWS_ENDPOINT_URL_SECRETS_MANAGER"));
        aws_sdk_secretsmanager::Client::from_conf(config.build())
    }
}

/// Connections over TLS by rustls, with the system's certificates; plain ones to an emulator.
fn http_client() -> SharedHttpClient {
    use aws_smithy_http_client::{
        Builder,
        tls::{Provider, rustls_provider::CryptoMode},
    };
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https()
}

/// Somebody waits for the answer, in which an AWS call may have failed once.
fn brief() -> RetryConfig {
    RetryConfig::standard()
        .with_max_attempts(3)
        .with_initial_backoff(Duration::from_millis(50))
        .with_max_backoff(Duration::from_millis(300))
}

fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT)
        .operation_attempt_timeout(ATTEMPT)
        .operation_timeout(ATTEMPT * 2)
        .build()
}
