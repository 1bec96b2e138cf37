//! What the local server is told by its environment.

use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use pup_extension::{
    service::{Config, ConfigError, PUBLIC_URL, SIGNING_SECRET, keyring_from_vars},
    signing::{Keyring, Secret, SecretError},
};

/// The variable of the database's path.
pub const DATABASE: &str = "PUP_DATABASE";
/// The variable of the address to listen at.
pub const LISTEN: &str = "PUP_LISTEN";

const DEFAULT_LISTEN: &str = "127.0.0.1:8787";
/// Where the database and the development secret stand, relative to where the server is started.
const FOLDER: &str = ".pup";

/// Where to listen and where to keep data; the rest is [`Config`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where to listen. `PUP_LISTEN`, by default `127.0.0.1:8787`.
    pub listen: SocketAddr,
    /// The SQLite file. `PUP_DATABASE`, by default `.pup/<extension id>.sqlite`.
    pub database: PathBuf,
}

impl Settings {
    /// From variables.
    ///
    /// # Errors
    ///
    /// When `PUP_LISTEN` is no address.
    pub fn from_vars(
        var: impl Fn(&str) -> Option<String>,
        extension_id: &str,
    ) -> Result<Self, SettingsError> {
        let listen = var(LISTEN).unwrap_or_else(|| DEFAULT_LISTEN.into());
        Ok(Self {
            listen: listen.trim().parse().map_err(|_| SettingsError::Listen)?,
            database: var(DATABASE).map_or_else(
                || Path::new(FOLDER).join(format!("{extension_id}.sqlite")),
                PathBuf::from,
            ),
        })
    }
}

/// The keyring of a server, and whether its secret was made for development.
#[derive(Debug)]
pub(crate) struct Secrets {
    pub(crate) keyring: Keyring,
    /// The development secret and where it stands, where none was configured.
    pub(crate) development: Option<(Secret, PathBuf)>,
}

impl Secrets {
    /// The configured secrets; or, on loopback alone, one that is made once and kept beside the database.
    pub(crate) fn from_vars(
        var: impl Fn(&str) -> Option<String>,
        listen: SocketAddr,
        folder: &Path,
    ) -> Result<Self, SettingsError> {
        if var(SIGNING_SECRET).is_none() && !listen.ip().is_loopback() {
            return Err(SettingsError::SecretNeeded { listen });
        }
        if var(SIGNING_SECRET).is_some() {
            return Ok(Self {
                keyring: keyring_from_vars(var)?,
                development: None,
            });
        }
        let path = folder.join("development-secret");
        let secret = development_secret(&path).map_err(|source| SettingsError::Development {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            keyring: Keyring::new(secret.clone()),
            development: Some((secret, path)),
        })
    }
}

/// The configuration of a server that listens at `address`: its own address is the public URL unless one is set.
pub(crate) fn config(
    var: impl Fn(&str) -> Option<String>,
    keyring: Keyring,
    address: SocketAddr,
) -> Result<Config, SettingsError> {
    Ok(Config::local(
        keyring,
        var(PUBLIC_URL).unwrap_or_else(|| format!("http://{address}")),
    )?)
}

fn development_secret(path: &Path) -> Result<Secret, DevelopmentError> {
    match fs::read_to_string(path) {
        Ok(text) => return Ok(text.parse()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|_| io::Error::other("the operating system has no randomness"))?;
    let secret = Secret::from_bytes(&bytes)?;
    // Whole or not at all, and readable by its owner alone: another process may start at the same moment.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", *secret.reveal())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(secret),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(fs::read_to_string(path)?.parse()?)
        }
        Err(error) => Err(error.error.into()),
    }
}

/// Why the local server can't start as it is set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No address.
    #[error("PUP_LISTEN must be an address and a port, such as 127.0.0.1:8787")]
    Listen,
    /// A setting that all runtimes have.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Others can reach the address, and no secret is set.
    #[error(
        "{SIGNING_SECRET} must be set, since {LISTEN} is {listen}, where others can reach the server: make a secret with `pup-ext secret`, or listen on 127.0.0.1"
    )]
    SecretNeeded {
        /// The address.
        listen: SocketAddr,
    },
    /// The development secret.
    #[error(
        "the development secret in {path} can't be used: set PUP_SIGNING_SECRET, or remove the file"
    )]
    Development {
        /// Where it stands.
        path: PathBuf,
        /// Why not.
        source: DevelopmentError,
    },
}

/// Why there is no development secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DevelopmentError {
    /// The file system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What stands in the file is none.
    #[error(transparent)]
    Secret(#[from] SecretError),
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

    fn loopback() -> SocketAddr {
        ([127, 0, 0, 1], 8787).into()
    }

    #[test]
    fn without_variables_it_listens_on_loopback_and_keeps_its_data_beside() {
        let settings = Settings::from_vars(vars(&[]), "snack_club").unwrap();
        assert_eq!(settings.listen, loopback());
        assert_eq!(settings.database, Path::new(".pup/snack_club.sqlite"));
    }

    #[test]
    fn what_is_no_address_is_named() {
        for listen in ["8787", "localhost", "127.0.0.1", "127.0.0.1:99999"] {
            let error = Settings::from_vars(vars(&[(LISTEN, listen)]), "a").unwrap_err();
            assert!(matches!(error, SettingsError::Listen), "{listen}");
            assert!(error.to_string().contains(LISTEN));
        }
    }

    #[test]
    fn the_development_secret_is_made_once_and_readable_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("not/yet/there");
        let first = Secrets::from_vars(vars(&[]), loopback(), &folder).unwrap();
        let again = Secrets::from_vars(vars(&[]), loopback(), &folder).unwrap();
        let (first, path) = first.development.unwrap();
        assert_eq!(*first.reveal(), *again.development.unwrap().0.reveal());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{mode:o}");
        }
        fs::write(&path, "no secret").unwrap();
        let error = Secrets::from_vars(vars(&[]), loopback(), &folder).unwrap_err();
        assert!(error.to_string().contains("PUP_SIGNING_SECRET"), "{error}");
    }

    #[test]
    fn two_that_start_at_once_have_one_development_secret() {
        let folder = tempfile::tempdir().unwrap();
        let secrets: Vec<String> = std::thread::scope(|scope| {
            let start = || {
                let secrets = Secrets::from_vars(vars(&[]), loopback(), folder.path()).unwrap();
                secrets.development.unwrap().0.reveal().to_string()
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(start)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    }

    #[test]
    fn beyond_loopback_a_secret_must_be_configured() {
        let folder = tempfile::tempdir().unwrap();
        let all = ([0, 0, 0, 0], 8787).into();
        let error = Secrets::from_vars(vars(&[]), all, folder.path()).unwrap_err();
        for said in [SIGNING_SECRET, LISTEN, "0.0.0.0:8787", "pup-ext secret"] {
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let set = [(SIGNING_SECRET, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let secrets = Secrets::from_vars(vars(&set), all, folder.path()).unwrap();
        assert!(secrets.development.is_none());
    }
}
