//! A fake pup: signs requests and gives them to a service.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::{SimBackground, SimRuntime};
use crate::{
    extension::Extension,
    mcp::{CONTEXT_KEY, PROTOCOL_VERSION, TASKS_EXTENSION, header},
    runtime::Runtime as _,
    service::{Config, Service},
    signing::{Keyring, Secret},
    store::{MemoryStore, Store},
    task::{Ran, RunTaskError},
    time::Timestamp,
};

/// Signs requests as pup does, and sends them to a service that runs in the same process.
#[derive(Debug)]
pub struct Pup {
    service: Service,
    runtime: SimRuntime,
    background: SimBackground,
    signer: Signer,
}

impl Pup {
    /// Puts an extension to work on an empty store in memory.
    ///
    /// # Panics
    ///
    /// Not for an extension that was built.
    #[must_use]
    pub fn new(extension: Extension, runtime: &SimRuntime) -> Self {
        Self::with_store(extension, runtime, MemoryStore::default())
    }

    /// Puts an extension to work on a store.
    ///
    /// # Panics
    ///
    /// Not for an extension that was built.
    #[must_use]
    pub fn with_store(extension: Extension, runtime: &SimRuntime, store: impl Store) -> Self {
        Self::with_config(extension, runtime, store, |config| config)
    }

    /// The same with changes to the configuration.
    ///
    /// # Panics
    ///
    /// When the configuration can't be used.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test's set-up fails loudly")]
    pub fn with_config(
        extension: Extension,
        runtime: &SimRuntime,
        store: impl Store,
        configure: impl FnOnce(Config) -> Config,
    ) -> Self {
        let signer = Signer::new();
        let config = configure(signer.config());
        let background = SimBackground::new();
        let service = Service::with_background(
            extension,
            config,
            store,
            runtime.clone(),
            background.clone(),
        )
        .expect("a valid service");
        Self {
            service,
            runtime: runtime.clone(),
            background,
            signer,
        }
    }

    /// A call of a tool, by member `asker-1` of `installation-1` in `channel-1`.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: Value) -> Sent {
        self.signer.call(tool, arguments, self.runtime.now())
    }

    /// Any MCP request. `params` gets its `_meta` when the request is sent.
    #[must_use]
    pub fn mcp(&self, method: &str, params: Value) -> Sent {
        self.signer.mcp(method, params, self.runtime.now())
    }

    /// A request about a task: `tasks/get`, `tasks/update` or `tasks/cancel`.
    #[must_use]
    pub fn task(&self, method: &str, task_id: &str) -> Sent {
        self.signer
            .task(method, task_id, json!({}), self.runtime.now())
    }

    /// Answers to what a task asks, by their keys.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "`json!(…)` is handed over as it is made"
    )]
    pub fn answer(&self, task_id: &str, responses: Value) -> Sent {
        let params = json!({ "inputResponses": responses });
        self.signer
            .task("tasks/update", task_id, params, self.runtime.now())
    }

    /// A challenge.
    #[must_use]
    pub fn challenge(&self, challenge: &str) -> Sent {
        self.signer.challenge(challenge, self.runtime.now())
    }

    /// A delivery of an event, `member.joined` or `member.left`.
    #[must_use]
    pub fn event(&self, kind: &str, member_id: &str) -> Sent {
        self.signer.event(kind, member_id, self.runtime.now())
    }

    /// Sends a request and waits for its answer, in simulated time.
    #[must_use]
    pub fn send(&self, sent: &Sent) -> Answer {
        self.runtime.run(self.deliver(sent))
    }

    /// The same as a future, so that several can be sent at once.
    pub async fn deliver(&self, sent: &Sent) -> Answer {
        let received = self.runtime.now();
        Answer::of(self.service.handle(sent.to_http(), received).await)
    }

    /// What the service handed to its background.
    #[must_use]
    pub fn background(&self) -> &SimBackground {
        &self.background
    }

    /// Runs the tasks that the background was handed, each when its time comes in simulated time, until nothing is
    /// left to do; what came of each run.
    ///
    /// # Panics
    ///
    /// After 10,000 runs.
    pub fn run_tasks(&self) -> Vec<Result<Ran, RunTaskError>> {
        self.runtime.run(self.go_on_with_tasks())
    }

    /// The same as a future, beside which others can go on.
    pub async fn go_on_with_tasks(&self) -> Vec<Result<Ran, RunTaskError>> {
        let mut runs = Vec::new();
        while let Some((at, job)) = self.background.take_next() {
            assert!(runs.len() < 10_000, "the tasks never come to an end");
            let wait = at.since(self.runtime.now());
            if !wait.is_zero() {
                self.runtime.sleep(wait).await;
            }
            runs.push(self.service.run_task(&job, None).await);
        }
        runs
    }

    /// The service, to be given requests that pup would not make.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.service
    }
}

/// Makes requests as pup does, each with a `webhook-id` of its own, for a service anywhere.
#[derive(Debug)]
pub struct Signer {
    secret: Secret,
    next_id: AtomicU64,
}

impl Signer {
    /// A signer with a fixed secret, which is none.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    #[expect(clippy::expect_used, reason = "32 bytes make a secret")]
    pub fn new() -> Self {
        Self {
            secret: Secret::from_bytes(&[7; 32]).expect("32 bytes make a secret"),
            next_id: AtomicU64::new(1),
        }
    }

    /// The configuration of a service that takes this signer's requests.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the URL is a constant")]
    pub fn config(&self) -> Config {
        Config::new(
            Keyring::new(self.secret.clone()),
            "https://extension.example",
        )
        .expect("a public URL")
    }

    /// A call of a tool, by member `asker-1` of `installation-1` in `channel-1`.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "`json!(…)` is handed over as it is made"
    )]
    pub fn call(&self, tool: &str, arguments: Value, now: Timestamp) -> Sent {
        self.mcp(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
            now,
        )
        .header(header::NAME.as_str(), &header::encode_value(tool))
    }

    /// A request about a task, with these parameters beside its id.
    #[must_use]
    pub fn task(&self, method: &str, task_id: &str, mut params: Value, now: Timestamp) -> Sent {
        params["taskId"] = json!(task_id);
        self.mcp(method, params, now)
            .header(header::NAME.as_str(), &header::encode_value(task_id))
    }

    /// Any MCP request. `params` gets its `_meta` when the request is sent.
    #[must_use]
    pub fn mcp(&self, method: &str, params: Value, now: Timestamp) -> Sent {
        let context = json!({
            "installationId": "installation-1", "askerId": "asker-1", "channelId": "channel-1", "settings": {},
        });
        self.sent(
            "/mcp",
            Body::Mcp {
                method: method.into(),
                params,
                context,
                tasks: true,
            },
            now,
        )
        .header(header::PROTOCOL_VERSION.as_str(), PROTOCOL_VERSION)
        .header(header::METHOD.as_str(), method)
    }

    /// A challenge.
    #[must_use]
    pub fn challenge(&self, challenge: &str, now: Timestamp) -> Sent {
        self.sent(
            "/challenge",
            Body::Raw(json!({ "challenge": challenge })),
            now,
        )
    }

    /// A delivery of an event, `member.joined` or `member.left`.
    #[must_use]
    pub fn event(&self, kind: &str, member_id: &str, now: Timestamp) -> Sent {
        let event = json!({
            "version": 1,
            "eventId": format!("event-of-{member_id}"),
            "occurredAt": now.to_rfc3339(),
            "event": { "type": kind, "memberId": member_id },
            "context": { "installationId": "installation-1", "settings": {} },
        });
        self.sent("/events", Body::Event(event), now)
    }

    fn sent(&self, path: &'static str, body: Body, now: Timestamp) -> Sent {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let webhook_id = format!("msg_{number}");
        Sent {
            path,
            webhook_id,
            timestamp: now,
            headers: Vec::new(),
            body,
            replaced: Vec::new(),
            secret: self.secret.clone(),
        }
    }
}

impl Default for Signer {
    fn default() -> Self {
        Self::new()
    }
}

/// A request of pup's, signed. It can be changed (and is then signed anew), and sent any number of times.
#[derive(Clone, Debug)]
pub struct Sent {
    path: &'static str,
    webhook_id: String,
    timestamp: Timestamp,
    headers: Vec<(String, String)>,
    body: Body,
    replaced: Vec<(String, String)>,
    secret: Secret,
}

#[derive(Clone, Debug)]
enum Body {
    Mcp {
        method: String,
        params: Value,
        context: Value,
        /// Whether the client handles tasks.
        tasks: bool,
    },
    Event(Value),
    Raw(Value),
}

impl Sent {
    /// Its `webhook-id`, which is the JSON-RPC id too.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.webhook_id
    }

    /// Under this `webhook-id`.
    #[must_use]
    pub fn webhook_id(mut self, id: impl Into<String>) -> Self {
        self.webhook_id = id.into();
        self
    }

    /// Signed at this time.
    #[must_use]
    pub fn signed_at(mut self, timestamp: Timestamp) -> Self {
        self.timestamp = timestamp;
        self
    }

    /// The same content under a new `webhook-id`, as pup retries a call.
    #[must_use]
    pub fn retry(&self) -> Self {
        let id = format!("{}_again", self.webhook_id);
        self.clone().webhook_id(id)
    }

    /// With this `callId`.
    #[must_use]
    pub fn call_id(self, id: &str) -> Self {
        self.context("callId", json!(id))
    }

    /// By this member.
    #[must_use]
    pub fn asker(self, id: &str) -> Self {
        self.context("askerId", json!(id))
    }

    /// In this installation.
    #[must_use]
    pub fn installation(self, id: &str) -> Self {
        self.context("installationId", json!(id))
    }

    /// From a client that does not handle tasks.
    #[must_use]
    pub fn without_tasks(mut self) -> Self {
        if let Body::Mcp { tasks, .. } = &mut self.body {
            *tasks = false;
        }
        self
    }

    /// With this setting.
    #[must_use]
    pub fn setting(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Some(settings) = self
            .context_mut()
            .get_mut("settings")
            .and_then(Value::as_object_mut)
        {
            settings.insert(key.into(), value.into());
        }
        self
    }

    /// With the message that triggered the call.
    #[must_use]
    pub fn user_request(self, message_id: &str, content: &str) -> Self {
        let request =
            json!({ "messageId": message_id, "channelId": "channel-2", "content": content });
        self.context("userRequest", request)
    }

    /// Of this event, which then has another `eventId` than the one that was made for the member.
    #[must_use]
    pub fn event_id(mut self, id: &str) -> Self {
        if let Body::Event(event) = &mut self.body {
            event["eventId"] = json!(id);
        }
        self
    }

    /// With this member of the invocation context.
    #[must_use]
    pub fn context(mut self, name: &str, value: Value) -> Self {
        self.context_mut().insert(name.into(), value);
        self
    }

    /// A member of the invocation context; null when there is none.
    #[must_use]
    pub fn context_member(&self, name: &str) -> Value {
        let context = match &self.body {
            Body::Mcp { context, .. } => Some(context),
            Body::Event(event) => event.get("context"),
            Body::Raw(_) => None,
        };
        context
            .and_then(|context| context.get(name))
            .cloned()
            .unwrap_or_default()
    }

    /// The MCP method; `None` for challenges and events.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.body {
            Body::Mcp { method, .. } => Some(method),
            Body::Event(_) | Body::Raw(_) => None,
        }
    }

    /// With this header, in addition to those that are there.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With a text of the body replaced by another before it is signed, for JSON that no serializer writes.
    #[must_use]
    pub fn with_raw(mut self, text: &str, by: &str) -> Self {
        self.replaced.push((text.into(), by.into()));
        self
    }

    /// As HTTP, signed over the bytes of the body.
    ///
    /// # Panics
    ///
    /// When a header can't be one.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "a test's request that can't be made fails loudly"
    )]
    pub fn to_http(&self) -> Request<Bytes> {
        let mut body = self.body.to_json(&self.webhook_id).to_string();
        for (text, by) in &self.replaced {
            body = body.replace(text, by);
        }
        let body = Bytes::from(body);
        let mut request = Request::post(self.path)
            .body(body.clone())
            .expect("a path makes a request");
        let headers = request.headers_mut();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        for (name, value) in &self.headers {
            let name: http::HeaderName = name.parse().expect("a header's name");
            headers.append(name, value.parse().expect("a header's value"));
        }
        let signature = self.secret.sign(&self.webhook_id, self.timestamp, &body);
        signature.expect("the id can be signed").apply(headers);
        request
    }

    #[expect(
        clippy::panic,
        reason = "a test that asks for what can't be fails loudly"
    )]
    fn context_mut(&mut self) -> &mut Map<String, Value> {
        let context = match &mut self.body {
            Body::Mcp { context, .. } => context.as_object_mut(),
            Body::Event(event) => event.get_mut("context").and_then(Value::as_object_mut),
            Body::Raw(_) => None,
        };
        context.unwrap_or_else(|| panic!("this request has no context"))
    }
}

impl Body {
    fn to_json(&self, webhook_id: &str) -> Value {
        match self {
            Self::Raw(body) => body.clone(),
            Self::Event(event) => {
                let mut event = event.clone();
                event["id"] = json!(webhook_id);
                event
            }
            Self::Mcp {
                method,
                params,
                context,
                tasks,
            } => {
                let extensions = if *tasks {
                    json!({ TASKS_EXTENSION: {} })
                } else {
                    json!({})
                };
                let mut params = params.clone();
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
                    "io.modelcontextprotocol/clientInfo": { "name": "pup", "version": "1.0.0" },
                    "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions },
                    CONTEXT_KEY: context,
                });
                json!({ "jsonrpc": "2.0", "id": webhook_id, "method": method, "params": params })
            }
        }
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer(Response<Bytes>);

impl Answer {
    /// A response, to be looked into.
    #[must_use]
    pub fn of(response: Response<Bytes>) -> Self {
        Self(response)
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// The response as it came.
    #[must_use]
    pub fn http(&self) -> &Response<Bytes> {
        &self.0
    }

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// When it is none.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "an answer that is no JSON fails the test"
    )]
    pub fn json(&self) -> Value {
        serde_json::from_slice(self.0.body()).expect("the answer is JSON")
    }

    /// The result of an MCP request.
    ///
    /// # Panics
    ///
    /// When it was answered with an error.
    #[must_use]
    #[expect(clippy::panic, reason = "an answer without a result fails the test")]
    pub fn result(&self) -> Value {
        let mut json = self.json();
        match json.get_mut("result") {
            Some(result) => result.take(),
            None => panic!("no result, but {json}"),
        }
    }

    /// The structured content of a tool's result.
    ///
    /// # Panics
    ///
    /// When there is no result.
    #[must_use]
    pub fn structured(&self) -> Value {
        self.result()["structuredContent"].take()
    }

    /// The code of a JSON-RPC error, if it is one.
    #[must_use]
    pub fn error_code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }
}
