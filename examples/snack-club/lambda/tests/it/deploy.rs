//! A deployment, and a pup that talks to it.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::time::Duration;

use pup_extension_cli::{CallOptions, Client, Secret};
use pup_extension_tests::{
    Secrets,
    lambda::{Lambda, Options, Platform},
};
use serde_json::{Value, json};

use crate::PROGRAM;

/// A table, and what is deployed before it.
pub(crate) struct Deployed {
    pub(crate) platform: Platform,
    pub(crate) pup: Client,
    /// Goes last.
    _table: Lambda,
}

impl Deployed {
    pub(crate) async fn new() -> Self {
        Self::with(options()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let lambda = Lambda::new(PROGRAM, options).await.unwrap();
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        let platform = lambda.deploy(&Secrets::new(secret.clone())).await.unwrap();
        let pup = Client::new(platform.url(), secret).unwrap();
        Self {
            platform,
            pup,
            _table: lambda,
        }
    }

    pub(crate) async fn menu(&self) -> Value {
        let menu = self.pup.call("snack_menu", json!({}), CallOptions::new());
        menu.await.unwrap().json().unwrap()["result"]["structuredContent"].clone()
    }
}

pub(crate) fn options() -> Options {
    Options {
        retries: [Duration::from_millis(200), Duration::from_millis(400)],
        ..Options::default()
    }
}
