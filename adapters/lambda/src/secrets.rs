//! Both secrets of a rotation, from Secrets Manager.
//!
//! `AWSCURRENT` is the current secret, and `AWSPREVIOUS` the one before it, which ends ten minutes after the current
//! one was created.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use aws_sdk_secretsmanager::{
    Client,
    error::{ProvideErrorMetadata as _, SdkError},
    operation::get_secret_value::GetSecretValueOutput,
};
use pup_extension::{
    signing::{Keyring, Secret, SecretError},
    time::Timestamp,
};

use crate::{
    log::chain,
    settings::SIGNING_SECRET_ARN,
    store::{Failure, failure},
};

/// How long the previous secret goes on after a rotation.
const OVERLAP: Duration = Duration::from_secs(10 * 60);
/// The secrets are fetched anew after this long. Less than the overlap, so that its end is known when it comes.
const REFRESH: Duration = Duration::from_secs(5 * 60);
/// At most so often they are fetched since one does not fit, or since fetching them failed.
const AGAIN: Duration = Duration::from_secs(60);

/// The secret in Secrets Manager, and when it was looked at.
#[derive(Debug)]
pub(crate) struct Secrets {
    client: Client,
    arn: String,
    looked: Mutex<Looked>,
}

#[derive(Debug)]
struct Looked {
    fetched: Timestamp,
    tried: Timestamp,
}

/// Why there are no secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretsError {
    #[error("the secret that {SIGNING_SECRET_ARN} names can't be fetched")]
    Fetch(#[source] Failure),
    #[error("the secret that {SIGNING_SECRET_ARN} names must be text: `whsec_…` and nothing else")]
    NoText,
    #[error("the secret that {SIGNING_SECRET_ARN} names is no signing secret")]
    Secret(#[from] SecretError),
}

impl Secrets {
    /// Fetches them for the first time.
    pub(crate) async fn open(
        client: Client,
        arn: String,
        now: Timestamp,
    ) -> Result<(Self, Keyring), SecretsError> {
        let keyring = fetch(&client, &arn).await?;
        let looked = Mutex::new(Looked {
            fetched: now,
            tried: now,
        });
        let secrets = Self {
            client,
            arn,
            looked,
        };
        Ok((secrets, keyring))
    }

    /// Fetches them anew when it is time to.
    pub(crate) async fn refresh(&self, now: Timestamp) -> Option<Keyring> {
        let is_due = |looked: &Looked| {
            now.since(looked.fetched) >= REFRESH && now.since(looked.tried) >= AGAIN
        };
        self.fetch_if(now, is_due).await
    }

    /// Fetches them since none fits a request; at most once a minute, since anybody can send what does not fit.
    pub(crate) async fn look_again(&self, now: Timestamp) -> Option<Keyring> {
        self.fetch_if(now, |looked| now.since(looked.tried) >= AGAIN)
            .await
    }

    async fn fetch_if(&self, now: Timestamp, is_due: impl Fn(&Looked) -> bool) -> Option<Keyring> {
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_due(&looked) {
                return None;
            }
            looked.tried = now;
        }
        match fetch(&self.client, &self.arn).await {
            Ok(keyring) => {
                let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
                looked.fetched = now;
                Some(keyring)
            }
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "the signing secrets could not be fetched anew; the ones at hand go on"
                );
                None
            }
        }
    }
}

async fn fetch(client: &Client, arn: &str) -> Result<Keyring, SecretsError> {
    let stage = |stage: &str| {
        client
            .get_secret_value()
            .secret_id(arn)
            .version_stage(stage)
            .send()
    };
    let (current, previous) = tokio::join!(stage("AWSCURRENT"), stage("AWSPREVIOUS"));
    let current = current.map_err(|error| SecretsError::Fetch(failure(&error)))?;
    let created = current
        .created_date
        .and_then(|date| date.to_millis().ok())
        .and_then(|millis| u64::try_from(millis).ok())
        .map(Timestamp::from_millis);
    let keyring = Keyring::new(secret(&current)?);
    let previous = match previous {
        Ok(previous) => previous,
        // There was no rotation yet.
        Err(SdkError::ServiceError(error))
            if error.err().code() == Some("ResourceNotFoundException") =>
        {
            return Ok(keyring);
        }
        Err(error) => return Err(SecretsError::Fetch(failure(&error))),
    };
    match (created, secret(&previous)) {
        (Some(created), Ok(previous)) => Ok(keyring.with_previous(previous, created + OVERLAP)),
        (None, _) => Ok(keyring),
        (Some(_), Err(error)) => {
            // Not worth refusing everything for.
            tracing::warn!(
                error = chain(&error),
                "the previous version of the signing secret is not used"
            );
            Ok(keyring)
        }
    }
}

fn secret(version: &GetSecretValueOutput) -> Result<Secret, SecretsError> {
    let text = version.secret_string().ok_or(SecretsError::NoText)?.trim();
    if text.starts_with('{') {
        // As the console's form of keys and values makes it.
        return Err(SecretsError::NoText);
    }
    Ok(text.parse()?)
}
