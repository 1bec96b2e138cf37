//! The DynamoDB emulator, a process of its own for each test.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    env,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use aws_sdk_dynamodb::{
    Client,
    config::{BehaviorVersion, Credentials, Region, retry::RetryConfig},
    types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType},
};

pub(crate) const TABLE: &str = "extension";

/// The emulator, which ends with this value.
pub(crate) struct DynamoDb {
    child: Child,
    pub(crate) url: String,
}

impl DynamoDb {
    /// With an empty table in memory.
    pub(crate) async fn start() -> Self {
        for _ in 0..20 {
            // Somebody else may take the port in between.
            let port = TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port();
            let child = Command::new(program())
                .args(["serve", "--port", &port.to_string(), "--log", "quiet"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut server = Self {
                child,
                url: format!("http://127.0.0.1:{port}"),
            };
            if server.is_up(port) {
                create_table(&server.client()).await;
                return server;
            }
        }
        panic!("the DynamoDB emulator does not start");
    }

    fn is_up(&mut self, port: u16) -> bool {
        for _ in 0..500 {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// A client with connections of its own.
    pub(crate) fn client(&self) -> Client {
        client(&self.url)
    }
}

impl Drop for DynamoDb {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn client(url: &str) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(url)
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .retry_config(RetryConfig::disabled())
        .build();
    Client::from_conf(config)
}

async fn create_table(client: &Client) {
    let mut table = client
        .create_table()
        .table_name(TABLE)
        .billing_mode(BillingMode::PayPerRequest);
    for (name, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
        table = table
            .attribute_definitions(
                AttributeDefinition::builder()
                    .attribute_name(name)
                    .attribute_type(ScalarAttributeType::S)
                    .build()
                    .unwrap(),
            )
            .key_schema(
                KeySchemaElement::builder()
                    .attribute_name(name)
                    .key_type(kind)
                    .build()
                    .unwrap(),
            );
    }
    table.send().await.unwrap();
}

/// What `cargo xtask tools` installed, or what `PUP_DYNOXIDE` names.
fn program() -> PathBuf {
    if let Some(named) = env::var_os("PUP_DYNOXIDE") {
        return named.into();
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let tools = env::var_os("PUP_TOOLS").map_or_else(|| target.join("tools"), PathBuf::from);
    let program = tools.join("dynoxide-rs-3.2.0/bin/dynoxide");
    assert!(
        program.is_file(),
        "the DynamoDB emulator is not installed: run `cargo xtask tools`"
    );
    program
}
