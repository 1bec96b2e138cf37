//! What a deployment sets.

use pup_extension::{
    service::{Config, ConfigError, PUBLIC_URL, SIGNING_SECRET},
    signing::Keyring,
};

/// The variable of the table.
pub const TABLE: &str = "PUP_TABLE";
/// The variable of the function's role: `http` or `background`.
pub const ROLE: &str = "PUP_ROLE";
/// The variable of the function that runs tasks: its name or ARN.
pub const BACKGROUND_FUNCTION: &str = "PUP_BACKGROUND_FUNCTION";
/// The variable of the secret in Secrets Manager, instead of one in the environment.
pub const SIGNING_SECRET_ARN: &str = "PUP_SIGNING_SECRET_ARN";
/// The variable of the role that `EventBridge` Scheduler takes on to wake a task.
pub const TIMER_ROLE_ARN: &str = "PUP_TIMER_ROLE_ARN";
/// The variable of the group of those schedules.
pub const TIMER_GROUP: &str = "PUP_TIMER_GROUP";

/// What a function is there for. One binary is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Answers HTTP events, and refuses all others.
    Http,
    /// Runs tasks, and refuses all else.
    Background,
}

impl Role {
    pub(crate) fn from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        match var(ROLE).as_deref() {
            None | Some("http") => Ok(Self::Http),
            Some("background") => Ok(Self::Background),
            Some(_) => Err(SettingsError::Role),
        }
    }
}

/// Where the signing secrets come from.
#[derive(Debug)]
pub(crate) enum SecretSource {
    Environment,
    #[cfg_attr(
        not(feature = "secrets-manager"),
        expect(dead_code, reason = "named in the error alone")
    )]
    SecretsManager(String),
}

impl SecretSource {
    pub(crate) fn from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        match (var(SIGNING_SECRET), var(SIGNING_SECRET_ARN)) {
            (Some(_), Some(_)) => Err(SettingsError::TwoSecrets),
            (None, Some(arn)) => Ok(Self::SecretsManager(arn)),
            (_, None) => Ok(Self::Environment),
        }
    }
}

/// The service's configuration. The public URL is an emulator's where it is http on loopback; and where it isn't set,
/// requests tell it.
pub(crate) fn config(
    var: impl Fn(&str) -> Option<String>,
    keyring: Keyring,
) -> Result<Config, SettingsError> {
    match var(PUBLIC_URL) {
        Some(url) if url.trim().starts_with("http://") => Ok(Config::local(keyring, url)?),
        Some(url) => Ok(Config::new(keyring, url)?),
        None => Ok(Config::without_public_url(keyring)),
    }
}

/// Which setting is missing or malformed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// It is required.
    #[error("{name} is not set")]
    Missing {
        /// Which.
        name: &'static str,
    },
    /// It is no role.
    #[error("{ROLE} must be `http` or `background`")]
    Role,
    /// The signing secret is set in two ways.
    #[error("{SIGNING_SECRET} and {SIGNING_SECRET_ARN} are both set: set one of them")]
    TwoSecrets,
    /// A feature is needed for it.
    #[error(
        "{name} is set, but the function was built without the feature `{feature}` of pup-extension-lambda"
    )]
    Feature {
        /// What is set.
        name: &'static str,
        /// What is missing.
        feature: &'static str,
    },
    /// The extension has task tools, and nobody would run their tasks.
    #[error(
        "{BACKGROUND_FUNCTION} is not set, and the extension has task tools: name the function that runs their tasks"
    )]
    NoBackground,
    /// A setting that all runtimes have.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn a_function_answers_http_unless_it_is_told_to_run_tasks() {
        assert_eq!(Role::from_vars(vars(&[])).unwrap(), Role::Http);
        assert_eq!(
            Role::from_vars(vars(&[(ROLE, "http")])).unwrap(),
            Role::Http
        );
        let background = Role::from_vars(vars(&[(ROLE, "background")])).unwrap();
        assert_eq!(background, Role::Background);
        let error = Role::from_vars(vars(&[(ROLE, "both")])).unwrap_err();
        assert!(error.to_string().starts_with(ROLE), "{error}");
    }

    #[test]
    fn the_secret_comes_from_one_place() {
        let error = SecretSource::from_vars(vars(&[
            (SIGNING_SECRET, "whsec_x"),
            (SIGNING_SECRET_ARN, "arn:x"),
        ]))
        .unwrap_err();
        assert!(matches!(error, SettingsError::TwoSecrets), "{error}");
        let source = SecretSource::from_vars(vars(&[])).unwrap();
        assert!(matches!(source, SecretSource::Environment));
    }
}
