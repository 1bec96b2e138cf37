//! What stands in for AWS Lambda around a function's real binary.
//!
//! It does what Lambda does with functions, by Lambda's own interfaces: several instances of each, an event at a time
//! in each, started when they are needed and again after they died; timeouts that kill; asynchronous invocations with
//! retries and dead letters; a Function URL. What the binary says and hears is what it would on AWS. It is no measure
//! of time, and it checks no permissions but the one that can be taken away.

mod front;
mod function;
mod instance;
mod invoke;
mod place;

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::Value;

use self::{front::Front, invoke::Invoke};
pub use self::{
    function::{Failed, Function},
    place::Lambda,
};
use crate::{
    dynamodb::TABLE,
    place::{Result, Secrets},
};

/// The functions' names.
const HTTP: &str = "extension";
const BACKGROUND: &str = "extension-background";

/// How it is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port of the Function URL; 0 for a free one.
    pub port: u16,
    /// How many instances the HTTP function may have at once.
    pub instances: usize,
    /// How many the background function may.
    pub background_instances: usize,
    /// The timeout of the background function.
    pub background_timeout: Duration,
    /// What the first and the second retry of an asynchronous invocation wait for: on AWS one minute and two.
    pub retries: [Duration; 2],
    /// What is logged.
    pub log_level: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            instances: 8,
            background_instances: 4,
            background_timeout: Duration::from_secs(900),
            retries: [Duration::from_secs(5), Duration::from_secs(10)],
            log_level: String::from("WARN"),
        }
    }
}

/// Both functions of an extension, running. Their processes end with this value.
#[derive(Debug)]
pub struct Platform {
    url: String,
    http: Arc<Function>,
    background: Arc<Function>,
    invoke: Arc<Invoke>,
}

impl Platform {
    /// Deploys a binary, with a table at this endpoint. Within a tokio runtime.
    ///
    /// # Errors
    ///
    /// When a port can't be had.
    pub async fn start(
        program: &Path,
        database: &str,
        secrets: &Secrets,
        options: &Options,
    ) -> Result<Self> {
        let invoke = Invoke::bind(options.retries).await?;
        let common = [
            ("PUP_TABLE", TABLE.to_owned()),
            ("AWS_REGION", String::from("eu-central-1")),
            ("AWS_ACCESS_KEY_ID", String::from("test")),
            ("AWS_SECRET_ACCESS_KEY", String::from("test")),
            ("AWS_ENDPOINT_URL_DYNAMODB", database.to_owned()),
            ("AWS_ENDPOINT_URL_LAMBDA", invoke.url().to_owned()),
            ("AWS_LAMBDA_LOG_LEVEL", options.log_level.clone()),
        ];
        let front = Front::bind(options.port).await?;
        let url = front.url().to_owned();
        let own = [
            ("PUP_BACKGROUND_FUNCTION", BACKGROUND.to_owned()),
            ("PUP_PUBLIC_URL", url.clone()),
        ];
        let vars = common.iter().cloned().chain(own).chain(secrets.vars());
        let http = Function::new(
            HTTP,
            program,
            vars,
            options.instances,
            Duration::from_secs(10),
        );
        let role = [("PUP_ROLE", String::from("background"))];
        let background = Function::new(
            BACKGROUND,
            program,
            common.iter().cloned().chain(role),
            options.background_instances,
            options.background_timeout,
        );
        front.serve(&http);
        invoke.serve(&background);
        Ok(Self {
            url,
            http,
            background,
            invoke,
        })
    }

    /// The Function URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The function that answers HTTP events.
    #[must_use]
    pub fn http(&self) -> &Function {
        &self.http
    }

    /// The function that runs tasks.
    #[must_use]
    pub fn background(&self) -> &Function {
        &self.background
    }

    /// Takes the HTTP function's permission to invoke the background function away.
    pub fn forbid_invoke(&self) {
        self.invoke.forbid();
    }

    /// The asynchronous events that failed three times.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<Value> {
        self.invoke.dead_letters()
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.http.end();
        self.background.end();
    }
}
