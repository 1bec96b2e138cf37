//! The whole program: an extension as a Lambda function.

use std::{io, process::ExitCode, sync::Arc};

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use pup_extension::{
    extension::Extension,
    runtime::Runtime as _,
    service::{Config, Service, ServiceError, keyring_from_vars},
    signing::{Keyring, Secret},
    time::Timestamp,
};
use serde_json::value::RawValue;

use crate::{
    DynamoStore, LambdaRuntime, SettingsError,
    aws::Aws,
    background::{BackgroundFunction, Hand, Idle},
    function::HttpFunction,
    log::{self, chain},
    settings::{BACKGROUND_FUNCTION, Role, SecretSource, TABLE, config},
    store::ProbeError,
};

/// Serves an extension as a Lambda function: the body of a `main`.
///
/// One binary is two functions. The one answers HTTP events (of a Function URL, an HTTP API, a REST API or a load
/// balancer), and refuses all others; the other runs tasks, and is invoked by the first one alone.
///
/// | variable | meaning | by default |
/// |---|---|---|
/// | `PUP_TABLE` | the DynamoDB table | required |
/// | `PUP_ROLE` | `http` or `background` | `http` |
/// | `PUP_BACKGROUND_FUNCTION` | the function that runs tasks: name or ARN | required by HTTP functions of extensions with task tools |
/// | `PUP_SIGNING_SECRET` | the secret that requests are signed with | required by HTTP functions |
/// | `PUP_SIGNING_SECRET_PREVIOUS`, `…_PREVIOUS_UNTIL` | the old secret during a rotation, and its end in Unix seconds | none |
/// | `PUP_SIGNING_SECRET_ARN` | instead of these three, a secret in Secrets Manager (feature `secrets-manager`) | none |
/// | `PUP_PUBLIC_URL` | the base of the manifest's URLs | the URL that AWS itself gave the function or API |
/// | `PUP_TIMER_ROLE_ARN`, `PUP_TIMER_GROUP` | the role and the group of the schedules that wake tasks (feature `timers`) | none: a task that sleeps for more than a minute goes on at the next poll |
/// | `AWS_LAMBDA_LOG_LEVEL` | what is logged, as JSON | `INFO` |
///
/// Settings are read, and the table is reached, in the init phase: what is missing there ends it with status 1, and a
/// line of the log that names it.
#[must_use]
pub fn run(extension: Extension) -> ExitCode {
    log::init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(Box::pin(serve(extension))),
        Err(error) => Err(RunError::Start(error)),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = chain(&error), "the function can't start");
            ExitCode::FAILURE
        }
    }
}

async fn serve(extension: Extension) -> Result<(), RunError> {
    let runtime = LambdaRuntime::new();
    let var = |name: &str| runtime.var(name);
    let role = Role::from_vars(var)?;
    let table = var(TABLE).ok_or(SettingsError::Missing { name: TABLE })?;
    let aws = Aws::from_vars(var)?;
    let store = DynamoStore::new(aws.dynamodb(var), table);
    match role {
        Role::Http => {
            let function = Box::pin(http(extension, &runtime, &aws, store)).await?;
            let function = Arc::new(function);
            let handle = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
                let function = Arc::clone(&function);
                async move {
                    let deadline = Timestamp::from_millis(event.context.deadline);
                    let answer = function.handle(event.payload.get(), deadline).await;
                    answer.map_err(Diagnostic::from)
                }
            });
            Box::pin(lambda_runtime::run(handle))
                .await
                .map_err(RunError::Runtime)
        }
        Role::Background => {
            let function = background(extension, &runtime, &aws, store).await?;
            let function = Arc::new(function);
            let handle = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
                let function = Arc::clone(&function);
                async move {
                    let deadline = Timestamp::from_millis(event.context.deadline);
                    let ran = function.handle(event.payload.get(), deadline).await;
                    ran.map_err(|error| {
                        tracing::error!(error = chain(&error), "the run failed");
                        Diagnostic::from(error)
                    })
                }
            });
            Box::pin(lambda_runtime::run(handle))
                .await
                .map_err(RunError::Runtime)
        }
    }
}

async fn http(
    extension: Extension,
    runtime: &LambdaRuntime,
    aws: &Aws,
    store: DynamoStore,
) -> Result<HttpFunction, RunError> {
    let var = |name: &str| runtime.var(name);
    let background = var(BACKGROUND_FUNCTION);
    if background.is_none() && extension.has_tasks() {
        return Err(SettingsError::NoBackground.into());
    }
    // The secrets and the connection at the same time: each is a handshake.
    let (secrets, probed) = tokio::join!(secrets(runtime, aws), store.probe());
    probed?;
    let (keyring, kept) = secrets?;
    let config = config(var, keyring)?;
    let is_placed = config.public_url().is_some();
    let service = match background {
        Some(function) => Service::with_background(
            extension,
            config,
            store,
            runtime.clone(),
            hand(runtime, aws, function)?,
        )?,
        None => Service::new(extension, config, store, runtime.clone())?,
    };
    let function = HttpFunction::new(runtime.clone(), service, is_placed);
    #[cfg(feature = "secrets-manager")]
    let function = function.with_secrets(kept);
    #[cfg(not(feature = "secrets-manager"))]
    let () = kept;
    Ok(function)
}

#[cfg(feature = "secrets-manager")]
type Kept = Option<crate::secrets::Secrets>;
#[cfg(not(feature = "secrets-manager"))]
type Kept = ();

#[cfg_attr(
    not(feature = "secrets-manager"),
    expect(
        clippy::unused_async,
        unused_variables,
        reason = "only secrets that are fetched take time, and a client"
    )
)]
async fn secrets(runtime: &LambdaRuntime, aws: &Aws) -> Result<(Keyring, Kept), RunError> {
    let var = |name: &str| runtime.var(name);
    match SecretSource::from_vars(var)? {
        SecretSource::Environment => {
            let keyring = keyring_from_vars(var).map_err(SettingsError::from)?;
            Ok((keyring, Kept::default()))
        }
        #[cfg(feature = "secrets-manager")]
        SecretSource::SecretsManager(arn) => {
            let client = aws.secrets_manager(var);
            let opened = crate::secrets::Secrets::open(client, arn, runtime.now()).await;
            let (secrets, keyring) = opened.map_err(RunError::Secrets)?;
            Ok((keyring, Some(secrets)))
        }
        #[cfg(not(feature = "secrets-manager"))]
        SecretSource::SecretsManager(_) => Err(SettingsError::Feature {
            name: crate::settings::SIGNING_SECRET_ARN,
            feature: "secrets-manager",
        }
        .into()),
    }
}

async fn background(
    extension: Extension,
    runtime: &LambdaRuntime,
    aws: &Aws,
    store: DynamoStore,
) -> Result<BackgroundFunction, RunError> {
    let var = |name: &str| runtime.var(name);
    let own = "AWS_LAMBDA_FUNCTION_NAME";
    let function = var(BACKGROUND_FUNCTION)
        .or_else(|| var(own))
        .ok_or(SettingsError::Missing { name: own })?;
    let hand = hand(runtime, aws, function)?;
    store.probe().await?;
    // Nobody sends it requests, so its secret is nobody's.
    let secret = Secret::from_bytes(
        &[runtime.random(), runtime.random()]
            .map(u128::to_be_bytes)
            .concat(),
    );
    let keyring = Keyring::new(secret.map_err(RunError::Secret)?);
    let config = Config::without_public_url(keyring);
    Ok(BackgroundFunction {
        service: Service::with_background(extension, config, store, runtime.clone(), Idle)?,
        runtime: runtime.clone(),
        hand,
    })
}

fn hand(runtime: &LambdaRuntime, aws: &Aws, function: String) -> Result<Hand, SettingsError> {
    use crate::settings::{TIMER_GROUP, TIMER_ROLE_ARN};

    let var = |name: &str| runtime.var(name);
    let hand = Hand::new(aws.lambda(var), function, runtime.clone());
    match (var(TIMER_ROLE_ARN), var(TIMER_GROUP)) {
        (None, None) => Ok(hand),
        (None, Some(_)) => Err(SettingsError::Missing {
            name: TIMER_ROLE_ARN,
        }),
        (Some(_), None) => Err(SettingsError::Missing { name: TIMER_GROUP }),
        #[cfg(feature = "timers")]
        (Some(role), Some(group)) => Ok(hand.with_timers(aws.scheduler(var), role, group)),
        #[cfg(not(feature = "timers"))]
        (Some(_), Some(_)) => Err(SettingsError::Feature {
            name: TIMER_ROLE_ARN,
            feature: "timers",
        }),
    }
}

/// Why the function could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Table(#[from] ProbeError),
    #[cfg(feature = "secrets-manager")]
    #[error(transparent)]
    Secrets(crate::secrets::SecretsError),
    #[error("a secret can't be made")]
    Secret(#[source] pup_extension::signing::SecretError),
    #[error("the extension can't be served")]
    Service(#[from] ServiceError),
    #[error("the process can't start its threads")]
    Start(#[source] io::Error),
    #[error("Lambda's runtime interface failed")]
    Runtime(#[source] lambda_runtime::Error),
}
