//! Where the extension runs, whatever that is.

use std::error::Error;

use pup_extension_cli::{Client, Secret};

/// With any error: a scenario says what it is.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A runtime with a store that outlives its servers.
pub trait Place {
    /// Starts the extension on this place's store.
    ///
    /// # Errors
    ///
    /// When it does not start.
    fn serve(&self, secrets: &Secrets) -> impl Future<Output = Result<Server>>;
}

/// The secrets of a server: the current one, and during a rotation the previous one with its end in Unix seconds.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// The secret that requests are signed with.
    pub current: Secret,
    /// The one before it, and until when it is accepted.
    pub previous: Option<(Secret, u64)>,
}

impl Secrets {
    /// One secret.
    #[must_use]
    pub const fn new(current: Secret) -> Self {
        Self {
            current,
            previous: None,
        }
    }

    /// The variables by which every runtime is told of them.
    #[must_use]
    pub fn vars(&self) -> Vec<(&'static str, String)> {
        let mut vars = vec![("PUP_SIGNING_SECRET", self.current.reveal().to_string())];
        if let Some((previous, until)) = &self.previous {
            vars.push(("PUP_SIGNING_SECRET_PREVIOUS", previous.reveal().to_string()));
            vars.push(("PUP_SIGNING_SECRET_PREVIOUS_UNTIL", until.to_string()));
        }
        vars
    }
}

/// The extension, running. It is killed, not stopped, when this value goes.
pub struct Server {
    url: String,
    /// What kills it when it goes.
    running: Box<dyn Send>,
}

impl Server {
    /// One that is reached at this URL, and ends with `running`.
    #[must_use]
    pub fn new(url: String, running: impl Send + 'static) -> Self {
        Self {
            url,
            running: Box::new(running),
        }
    }

    /// Where it is reached.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A pup that signs with this secret.
    ///
    /// # Errors
    ///
    /// When there can be none.
    pub fn client(&self, secret: &Secret) -> Result<Client> {
        Ok(Client::new(self.url.as_str(), secret.clone())?)
    }

    /// Ends its processes at once (`SIGKILL`), wherever they are.
    pub fn kill(self) {
        drop(self.running);
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
