//! What a deployment sets, by the same names everywhere.

use std::time::Duration;

use http::Uri;

use crate::{
    budget::Budget,
    manifest::EndpointRule,
    signing::{Keyring, Secret, SecretError},
    time::Timestamp,
};

/// The variable of the signing secret. Required.
pub const SIGNING_SECRET: &str = "PUP_SIGNING_SECRET";
/// The variable of the previous secret, during a rotation.
pub const SIGNING_SECRET_PREVIOUS: &str = "PUP_SIGNING_SECRET_PREVIOUS";
/// The variable of the end of a rotation, in Unix seconds. Required with the previous secret.
pub const SIGNING_SECRET_PREVIOUS_UNTIL: &str = "PUP_SIGNING_SECRET_PREVIOUS_UNTIL";
/// The variable of the base of the manifest's endpoint URLs.
pub const PUBLIC_URL: &str = "PUP_PUBLIC_URL";

/// How a service is set up.
///
/// ```
/// use pup_extension::service::Config;
///
/// let var = |name: &str| match name {
///     "PUP_SIGNING_SECRET" => Some("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".to_owned()),
///     "PUP_PUBLIC_URL" => Some("https://snacks.example.com".to_owned()),
///     _ => None,
/// };
/// let config = Config::from_vars(var)?;
/// assert_eq!(config.public_url(), Some("https://snacks.example.com"));
///
/// let missing = Config::from_vars(|_| None).unwrap_err();
/// assert!(missing.to_string().starts_with("PUP_SIGNING_SECRET is not set"));
/// # Ok::<(), pup_extension::service::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) keyring: Keyring,
    /// `None` where it isn't known yet.
    pub(crate) public_url: Option<String>,
    pub(crate) endpoint_rule: EndpointRule,
    pub(crate) budget: Budget,
    pub(crate) retention: Duration,
    pub(crate) allowed_origins: Vec<String>,
}

/// How long answers are kept for retries: senders retry for days, and an approval can wait longer.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3_600);

impl Config {
    /// A service under this public URL that verifies with these secrets, and defaults for the rest.
    ///
    /// # Errors
    ///
    /// When the URL has no host, or has a query or a fragment. That it is https, public and without credentials
    /// is checked with the manifest, by [`Service::new`](super::Service::new).
    pub fn new(keyring: Keyring, public_url: impl Into<String>) -> Result<Self, ConfigError> {
        Self::with_rule(keyring, &public_url.into(), EndpointRule::PublicHttps)
    }

    /// The same for a server on this machine: the URL may also be plain http on loopback.
    ///
    /// # Errors
    ///
    /// As [`Config::new`].
    pub fn local(keyring: Keyring, public_url: impl Into<String>) -> Result<Self, ConfigError> {
        Self::with_rule(keyring, &public_url.into(), EndpointRule::OrLoopback)
    }

    /// From a deployment's variables: `PUP_SIGNING_SECRET` and `PUP_PUBLIC_URL`, and during a rotation
    /// `PUP_SIGNING_SECRET_PREVIOUS` and `PUP_SIGNING_SECRET_PREVIOUS_UNTIL`.
    ///
    /// # Errors
    ///
    /// When one is missing or malformed: the error names it.
    pub fn from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let keyring = keyring_from_vars(&var)?;
        let url = var(PUBLIC_URL).ok_or(ConfigError::Missing { name: PUBLIC_URL })?;
        Self::new(keyring, url)
    }

    /// A service whose public URL isn't known yet, as on a platform that gives it only with a request. It is given
    /// with [`Service::under`](super::Service::under); until then the service has no manifest.
    #[must_use]
    pub fn without_public_url(keyring: Keyring) -> Self {
        Self::over(keyring, None, EndpointRule::PublicHttps)
    }

    fn with_rule(
        keyring: Keyring,
        public_url: &str,
        endpoint_rule: EndpointRule,
    ) -> Result<Self, ConfigError> {
        let public_url = base_url(public_url)?;
        Ok(Self::over(keyring, Some(public_url), endpoint_rule))
    }

    fn over(keyring: Keyring, public_url: Option<String>, endpoint_rule: EndpointRule) -> Self {
        Self {
            keyring,
            public_url,
            endpoint_rule,
            budget: Budget::default(),
            retention: RETENTION,
            allowed_origins: Vec::new(),
        }
    }

    /// Replaces the time budget of a request (five seconds, one of them in reserve).
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Replaces how long answers are kept for retries (30 days).
    ///
    /// A retry that comes later runs anew, so keep them longer than anybody retries. pup's outbox retries for
    /// days, and a call that waited for a member's approval may come back late.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// Lets browsers at this origin (`scheme://host[:port]`) send requests. pup sends no `Origin`; without this
    /// every request that carries one is refused.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.allowed_origins.push(origin.into());
        self
    }

    /// The base of the endpoints' URLs, without a slash at its end; `None` where it isn't known yet.
    #[must_use]
    pub fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }
}

/// A base of URLs, without a slash at its end.
pub(super) fn base_url(text: &str) -> Result<String, ConfigError> {
    let url = text.trim().trim_end_matches('/').to_owned();
    let uri: Uri = url.parse().map_err(|_| ConfigError::PublicUrl)?;
    if uri.host().is_none() || uri.query().is_some() || url.contains('#') {
        return Err(ConfigError::PublicUrl);
    }
    Ok(url)
}

/// The path of a base of URLs: empty, or with a slash at its start and none at its end.
pub(super) fn path_of(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    after_scheme
        .find('/')
        .and_then(|slash| after_scheme.get(slash..))
        .unwrap_or("")
}

/// The secrets from a deployment's variables; see [`Config::from_vars`].
///
/// # Errors
///
/// When one is missing or malformed: the error names it, and never quotes it.
pub fn keyring_from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Keyring, ConfigError> {
    let current = var(SIGNING_SECRET).ok_or(ConfigError::Missing {
        name: SIGNING_SECRET,
    })?;
    let keyring = Keyring::new(secret(SIGNING_SECRET, &current)?);
    match (
        var(SIGNING_SECRET_PREVIOUS),
        var(SIGNING_SECRET_PREVIOUS_UNTIL),
    ) {
        (None, None) => Ok(keyring),
        (None, Some(_)) => Err(ConfigError::Missing {
            name: SIGNING_SECRET_PREVIOUS,
        }),
        (Some(_), None) => Err(ConfigError::Missing {
            name: SIGNING_SECRET_PREVIOUS_UNTIL,
        }),
        (Some(previous), Some(until)) => {
            let until = until.trim().parse().map_err(|_| ConfigError::Until)?;
            Ok(keyring.with_previous(
                secret(SIGNING_SECRET_PREVIOUS, &previous)?,
                Timestamp::from_secs(until),
            ))
        }
    }
}

fn secret(name: &'static str, text: &str) -> Result<Secret, ConfigError> {
    text.parse()
        .map_err(|source| ConfigError::Secret { name, source })
}

/// Which setting is missing or malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is required.
    #[error("{name} is not set")]
    Missing {
        /// Which.
        name: &'static str,
    },
    /// It is no signing secret.
    #[error("{name} is no signing secret")]
    Secret {
        /// Which.
        name: &'static str,
        /// Why not.
        source: SecretError,
    },
    /// The end of the rotation is no time.
    #[error("PUP_SIGNING_SECRET_PREVIOUS_UNTIL must be Unix seconds: digits only")]
    Until,
    /// The public URL can't be one.
    #[error(
        "PUP_PUBLIC_URL must be an https URL with a host, and without credentials, query or fragment"
    )]
    PublicUrl,
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;

    const CURRENT: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const PREVIOUS: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn config(vars: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_vars(|name| {
            vars.iter()
                .find(|(set, _)| *set == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_rotation_accepts_both_secrets_up_to_its_end_and_then_the_new_one_alone() {
        let config = config(&[
            (PUBLIC_URL, "https://snacks.example.com"),
            (SIGNING_SECRET, CURRENT),
            (SIGNING_SECRET_PREVIOUS, PREVIOUS),
            (SIGNING_SECRET_PREVIOUS_UNTIL, "1000"),
        ])
        .unwrap();
        let accepts = |secret: &str, now: Timestamp| {
            let secret: Secret = secret.parse().unwrap();
            let mut headers = HeaderMap::new();
            secret
                .sign("msg_1", now, b"{}")
                .unwrap()
                .apply(&mut headers);
            let body = Bytes::from_static(b"{}");
            config.keyring.verify(&headers, body, now).is_ok()
        };
        let end = Timestamp::from_secs(1_000);
        let after = Timestamp::from_millis(1_000_001);
        assert!(accepts(CURRENT, end) && accepts(PREVIOUS, end));
        assert!(accepts(CURRENT, after) && !accepts(PREVIOUS, after));
    }

    #[test]
    fn a_variable_that_is_missing_or_malformed_is_named_and_never_quoted() {
        let url = (PUBLIC_URL, "https://snacks.example.com");
        let current = (SIGNING_SECRET, CURRENT);
        let previous = (SIGNING_SECRET_PREVIOUS, PREVIOUS);
        let until = SIGNING_SECRET_PREVIOUS_UNTIL;
        for (vars, name) in [
            (vec![url], SIGNING_SECRET),
            (vec![url, (SIGNING_SECRET, "hunter2!")], SIGNING_SECRET),
            (vec![url, (SIGNING_SECRET, "")], SIGNING_SECRET),
            (vec![current], PUBLIC_URL),
            (vec![url, current, previous], until),
            (vec![url, current, (until, "1000")], SIGNING_SECRET_PREVIOUS),
            (
                vec![
                    url,
                    current,
                    (SIGNING_SECRET_PREVIOUS, "hunter2!"),
                    (until, "1000"),
                ],
                SIGNING_SECRET_PREVIOUS,
            ),
            (vec![url, current, previous, (until, "hunter2!")], until),
            (vec![url, current, previous, (until, "-1")], until),
        ] {
            let error = config(&vars).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_public_url_is_a_base_without_query_or_fragment() {
        for (url, base, prefix) in [
            ("https://a.example", "https://a.example", ""),
            ("https://a.example/", "https://a.example", ""),
            (
                "https://a.example/pup/v1/",
                "https://a.example/pup/v1",
                "/pup/v1",
            ),
        ] {
            let config = config(&[(SIGNING_SECRET, CURRENT), (PUBLIC_URL, url)]).unwrap();
            let url = config.public_url().unwrap();
            assert_eq!((url, path_of(url)), (base, prefix));
        }
        for url in ["", "/pup", "https://a.example?x", "https://a.example#x"] {
            let error = config(&[(SIGNING_SECRET, CURRENT), (PUBLIC_URL, url)]).unwrap_err();
            assert_eq!(error, ConfigError::PublicUrl, "{url:?}");
        }
    }
}
