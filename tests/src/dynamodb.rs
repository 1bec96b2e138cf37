//! The DynamoDB emulator: a process of its own, which ends with the value that holds it.

use std::{
    env,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::json;

use crate::place::Result;

/// The table that it has.
pub const TABLE: &str = "extension";

/// The emulator, running.
#[derive(Debug)]
pub struct DynamoDb {
    child: Child,
    url: String,
}

impl DynamoDb {
    /// With what is in this file, or in memory, and a table for an extension.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not start.
    pub async fn start(file: Option<&Path>) -> Result<Self> {
        let program = program()?;
        for _ in 0..20 {
            // Somebody else may take the port in between.
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut command = Command::new(&program);
            command.args(["serve", "--port", &port.to_string(), "--log", "quiet"]);
            if let Some(file) = file {
                command.arg("--db-path").arg(file);
            }
            let child = command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            let mut server = Self {
                child,
                url: format!("http://127.0.0.1:{port}"),
            };
            if server.is_up(port).await? {
                server.create_table().await?;
                return Ok(server);
            }
        }
        Err("the DynamoDB emulator does not start".into())
    }

    /// Where it is reached.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    async fn is_up(&mut self, port: u16) -> Result<bool> {
        for _ in 0..1_000 {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(true);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(false)
    }

    async fn create_table(&self) -> Result<()> {
        let key = |name, kind| json!({ "AttributeName": name, "KeyType": kind });
        let text = |name| json!({ "AttributeName": name, "AttributeType": "S" });
        let table = json!({
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [text("pk"), text("sk")],
            "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
        });
        let request = Request::post(&self.url)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", "DynamoDB_20120810.CreateTable")
            .header(
                "authorization",
                "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
            )
            .header("x-amz-date", "20260101T000000Z")
            .body(Full::new(Bytes::from(table.to_string())))?;
        let client = Client::builder(TokioExecutor::new()).build_http();
        let answer = client.request(request).await?;
        let is_made = answer.status().is_success();
        let said = answer.into_body().collect().await?.to_bytes();
        let said = String::from_utf8_lossy(&said);
        // A file may have it already.
        if is_made || said.contains("ResourceInUseException") {
            Ok(())
        } else {
            Err(format!("the table can't be made: {said}").into())
        }
    }
}

impl Drop for DynamoDb {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What `PUP_DYNOXIDE` names, or `cargo xtask tools` installed.
fn program() -> Result<PathBuf> {
    if let Some(named) = env::var_os("PUP_DYNOXIDE") {
        return Ok(named.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let tools = env::var_os("PUP_TOOLS").map_or_else(|| target.join("tools"), PathBuf::from);
    let program = tools.join("dynoxide-rs-3.2.0/bin/dynoxide");
    if program.is_file() {
        Ok(program)
    } else {
        Err("the DynamoDB emulator is not installed: run `cargo xtask tools`".into())
    }
}
