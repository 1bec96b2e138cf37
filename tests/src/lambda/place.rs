//! Lambda as a place: a table that outlives what is deployed.

use std::path::PathBuf;

use super::{Options, Platform};
use crate::{
    dynamodb::DynamoDb,
    place::{Place, Result, Secrets, Server},
};

/// A fresh table, which goes with this value, and the binary that is deployed before it.
#[derive(Debug)]
pub struct Lambda {
    program: PathBuf,
    database: DynamoDb,
    options: Options,
}

impl Lambda {
    /// For deployments of this binary.
    ///
    /// # Errors
    ///
    /// When the DynamoDB emulator does not start.
    pub async fn new(program: impl Into<PathBuf>, options: Options) -> Result<Self> {
        Ok(Self {
            program: program.into(),
            database: DynamoDb::start(None).await?,
            options,
        })
    }

    /// Deploys it.
    ///
    /// # Errors
    ///
    /// As [`Platform::start`].
    pub async fn deploy(&self, secrets: &Secrets) -> Result<Platform> {
        Platform::start(&self.program, self.database.url(), secrets, &self.options).await
    }
}

impl Place for Lambda {
    async fn serve(&self, secrets: &Secrets) -> Result<Server> {
        let platform = self.deploy(secrets).await?;
        Ok(Server::new(platform.url().to_owned(), platform))
    }
}
