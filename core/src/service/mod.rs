//! A request in, an answer out: the one path that everything takes.
//!
//! The order is fixed, and each step does no more than it needs:
//!
//! 1. **Route** by method and path.
//! 2. **Bound** the body.
//! 3. **Verify** the signature over the exact bytes. Up to here nothing is read from or written to the store, and
//!    no JSON is parsed.
//! 4. **Parse**: the challenge, the event's envelope, or MCP.
//! 5. **Claim** the request's id, so that its replay is known.
//! 6. **Dispatch** to the handler, within a budget.
//! 7. **Commit** its effects together with its answer, and answer.

mod answer;
mod call;
mod challenge;
mod config;
mod drive;
mod envelope;
mod events;
mod mcp;
mod object;
mod route;
mod tasks;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};

use self::{
    answer::{Answer, HttpRefusal},
    config::{base_url, path_of},
    route::{Route, declared_too_large, route},
};
pub use self::{
    config::{
        Config, ConfigError, PUBLIC_URL, SIGNING_SECRET, SIGNING_SECRET_PREVIOUS,
        SIGNING_SECRET_PREVIOUS_UNTIL, keyring_from_vars,
    },
    route::MAX_BODY_BYTES,
};
use crate::{
    budget::Deadline,
    causes::with_causes,
    extension::Extension,
    ledger::{Claim, LedgerError, Taken},
    manifest::{EndpointRule, Endpoints, Violations},
    mcp::AllowedOrigins,
    ports::Ports,
    runtime::Runtime,
    signing::{Keyring, Verified},
    store::{Partition, Store},
    task::{Background, Job, Ran, RunTaskError},
    time::Timestamp,
};

/// An extension that answers requests. Cheap to clone; an adapter makes one and gives it every request.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
    keyring: Arc<Keyring>,
    /// Where it is reached; `None` where that isn't known yet.
    place: Option<Arc<Place>>,
}

struct Inner {
    extension: Extension,
    config: Config,
    origins: AllowedOrigins,
    discovery: Bytes,
    tools: Bytes,
    ports: Ports,
}

/// What depends on the public URL.
struct Place {
    path_prefix: String,
    manifest: Bytes,
}

impl Service {
    /// Puts an extension to work on a store and a runtime.
    ///
    /// # Errors
    ///
    /// When the extension has task tools, which need [a background](Self::with_background); when the public URL makes
    /// no endpoints that the protocol allows, or an allowed origin is none.
    pub fn new(
        extension: Extension,
        config: Config,
        store: impl Store,
        runtime: impl Runtime,
    ) -> Result<Self, ServiceError> {
        Self::over(extension, config, Ports::new(store, runtime))
    }

    /// Puts an extension to work that may have task tools, whose tasks the background runs when no request is open.
    ///
    /// # Errors
    ///
    /// When the public URL makes no endpoints that the protocol allows, or an allowed origin is none.
    pub fn with_background(
        extension: Extension,
        config: Config,
        store: impl Store,
        runtime: impl Runtime,
        background: impl Background,
    ) -> Result<Self, ServiceError> {
        let ports = Ports::new(store, runtime).with_background(background);
        Self::over(extension, config, ports)
    }

    fn over(extension: Extension, config: Config, ports: Ports) -> Result<Self, ServiceError> {
        if extension.has_tasks() && ports.background.is_none() {
            return Err(ServiceError::NoBackground);
        }
        let place = config
            .public_url()
            .map(|url| Place::new(&extension, config.endpoint_rule, url))
            .transpose()?
            .map(Arc::new);
        let origins = AllowedOrigins::parse(config.allowed_origins.iter().map(String::as_str))
            .map_err(|_| ServiceError::Origin)?;
        let discovery = mcp::discovery(&extension).map_err(|_| ServiceError::Listing)?;
        let tools = mcp::tool_list(&extension).map_err(|_| ServiceError::Listing)?;
        Ok(Self {
            keyring: Arc::new(config.keyring.clone()),
            inner: Arc::new(Inner {
                discovery,
                tools,
                extension,
                config,
                origins,
                ports,
            }),
            place,
        })
    }

    /// The same service, reached at another public URL: its manifest names that.
    ///
    /// # Errors
    ///
    /// When the URL makes no endpoints that the protocol allows.
    ///
    /// ```
    /// # use pup_extension::{prelude::*, service::{Config, Service}, signing::{Keyring, Secret}};
    /// # use pup_extension::{store::MemoryStore, testing::SimRuntime};
    /// # let extension = Extension::builder("snack_club", "Snack club")
    /// #     .author("Example author")
    /// #     .description("Snacks.")
    /// #     .summary("Snacks.")
    /// #     .instructions("For snacks.")
    /// #     .tool(Tool::new("bite", async |_: ToolContext| Ok::<_, ToolError>(())))
    /// #     .build()?;
    /// let config = Config::without_public_url(Keyring::new(Secret::from_bytes(&[7; 32])?));
    /// let service = Service::new(extension, config, MemoryStore::default(), SimRuntime::new())?;
    /// let service = service.under("https://snacks.example.com")?;
    /// # let _ = service;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn under(&self, public_url: &str) -> Result<Self, ServiceError> {
        let url = base_url(public_url).map_err(|_| ServiceError::PublicUrl)?;
        let rule = self.inner.config.endpoint_rule;
        let place = Place::new(&self.inner.extension, rule, &url)?;
        Ok(Self {
            place: Some(Arc::new(place)),
            ..self.clone()
        })
    }

    /// The same service, with other secrets: for a platform that learns of a rotation while it runs.
    #[must_use]
    pub fn with_keyring(&self, keyring: Keyring) -> Self {
        Self {
            keyring: Arc::new(keyring),
            ..self.clone()
        }
    }

    /// The path of the public URL, which a proxy may or may not strip.
    fn path_prefix(&self) -> &str {
        self.place.as_ref().map_or("", |place| &place.path_prefix)
    }

    /// Goes on with a task: what a [background](Background) does with a job when its time has come.
    ///
    /// It returns when the task has ended or waits, or a little after `until`, if that is given: for a platform that
    /// ends the process at some time. What a run has not recorded by then is done again by the next one, and five runs
    /// that get nowhere end the task, so leave a run minutes. The future must be driven to its end.
    ///
    /// # Errors
    ///
    /// When the store fails, or the task can't be read. Nothing is lost: the task goes on when somebody runs it again,
    /// which the platform's queue should do after a while, and a poll will.
    pub async fn run_task(&self, job: &Job, until: Option<Timestamp>) -> Result<Ran, RunTaskError> {
        let began = self.inner.ports.now();
        let ran = self.tasks().run(job, until).await;
        let duration = self.inner.ports.now().since(began);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let task_id = job.task_id();
        let outcome = match &ran {
            Ok(Ran::Ended) => "ended",
            Ok(Ran::Waiting) => "waiting",
            Ok(Ran::Later(_)) => "later",
            Ok(Ran::Early(_)) => "early",
            Ok(Ran::Busy(_)) => "busy",
            Err(_) => "failed",
        };
        match &ran {
            Ok(Ran::Early(_) | Ran::Busy(_)) => {
                tracing::debug!(task_id, outcome, duration_ms, "task run");
            }
            Ok(_) => tracing::info!(task_id, outcome, duration_ms, "task run"),
            Err(error) => {
                let error = with_causes(error);
                tracing::error!(task_id, outcome, duration_ms, error, "task run");
            }
        }
        ran
    }

    /// Whether a request can be refused before its body is read. Call it with the head, so that nobody can make
    /// the server read what it will not use; [`handle`](Self::handle) refuses the same.
    ///
    /// An adapter that meets more than [`MAX_BODY_BYTES`] while it reads gives [`Service::too_large`].
    #[must_use]
    pub fn refuse_early(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Response<Bytes>> {
        match route(method, path, self.path_prefix()) {
            Err(refusal) => Some(Answer::refuse(refusal).into_http()),
            Ok(_) if declared_too_large(headers) => Some(Self::too_large()),
            Ok(_) => None,
        }
    }

    /// The answer to a body that is over the limit.
    #[must_use]
    pub fn too_large() -> Response<Bytes> {
        Answer::refuse(HttpRefusal::TooLarge).into_http()
    }

    /// Answers a request.
    ///
    /// `now` is read once, when the request is received, and decides over its signature and its claims alike. The
    /// future must be driven to its end even when the client hangs up: a commit that has begun is not to be
    /// dropped. It takes no longer than the budget allows, if the store keeps to its own bounds.
    ///
    /// An answer to a request whose signature was refused carries the [`Refusal`](crate::signing::Refusal) among its
    /// [extensions](http::Extensions): a platform that can fetch newer secrets tells by it when to.
    pub async fn handle(&self, request: Request<Bytes>, now: Timestamp) -> Response<Bytes> {
        let mut trace = Trace::default();
        let answer = self.answer(request, now, &mut trace).await;
        let status = answer.status().as_u16();
        let duration = self.inner.ports.now().since(now);
        tracing::info!(
            request_id = trace.request_id.as_deref(),
            endpoint = trace.endpoint,
            method = trace.method,
            tool = trace.tool.as_deref(),
            outcome = trace.outcome,
            status,
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            "request"
        );
        answer.into_http()
    }

    async fn answer(&self, request: Request<Bytes>, now: Timestamp, trace: &mut Trace) -> Answer {
        let (head, body) = request.into_parts();
        let route = match route(&head.method, head.uri.path(), self.path_prefix()) {
            Ok(route) => route,
            Err(refusal) => {
                trace.outcome = "no such endpoint";
                return Answer::refuse(refusal);
            }
        };
        trace.endpoint = route.name();
        if route == Route::Manifest {
            let Some(place) = &self.place else {
                trace.outcome = "no public url";
                return Answer::refuse(HttpRefusal::NoPublicUrl);
            };
            trace.outcome = "ok";
            let answer = Answer::ok(place.manifest.clone());
            return if head.method == Method::HEAD {
                answer.without_body()
            } else {
                answer
            };
        }
        if body.len() > MAX_BODY_BYTES || declared_too_large(&head.headers) {
            trace.outcome = "too large";
            return Answer::refuse(HttpRefusal::TooLarge);
        }
        if let Err(error) = self.inner.origins.check(&head.headers) {
            trace.outcome = "foreign origin";
            return mcp::refuse(&error, None);
        }
        let verified = match self.keyring.verify(&head.headers, body, now) {
            Ok(verified) => verified,
            Err(refusal) => {
                trace.outcome = "unverified";
                return Answer::refuse(HttpRefusal::Unauthorized(refusal));
            }
        };
        trace.request_id = Some(verified.id().to_owned());
        let answer = self
            .verified(route, &head.headers, verified, now, trace)
            .await;
        if trace.outcome.is_empty() {
            trace.outcome = if answer.status().is_success() {
                "ok"
            } else {
                "refused"
            };
        }
        answer
    }

    async fn verified(
        &self,
        route: Route,
        headers: &HeaderMap,
        request: Verified,
        now: Timestamp,
        trace: &mut Trace,
    ) -> Answer {
        let deadline = Deadline::new(now, self.inner.config.budget);
        match route {
            Route::Manifest | Route::Challenge => self.challenge(&request, now).await,
            Route::Mcp => self.mcp(headers, &request, deadline, trace).await,
            Route::Events => self.event(&request, deadline).await,
        }
    }

    /// Claims a request that runs nothing.
    async fn claim(
        &self,
        request: &Verified,
        partition: &Partition,
        now: Timestamp,
    ) -> Result<Taken, LedgerError> {
        Claim::of(request)?
            .take(&self.inner.ports, partition, now)
            .await
    }
}

impl Place {
    fn new(extension: &Extension, rule: EndpointRule, url: &str) -> Result<Self, ServiceError> {
        let has_events = !extension.events.is_empty();
        let endpoints = Endpoints::under(url, has_events).map_err(|_| ServiceError::PublicUrl)?;
        let manifest = extension.manifest.with_endpoints(endpoints, rule)?;
        Ok(Self {
            path_prefix: path_of(url).to_owned(),
            manifest: manifest.to_json(),
        })
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("extension", &self.inner.extension)
            .finish_non_exhaustive()
    }
}

/// What the log says of a request: names that the extension itself gave, and never what was sent.
#[derive(Default)]
struct Trace {
    request_id: Option<String>,
    endpoint: &'static str,
    method: Option<&'static str>,
    tool: Option<String>,
    outcome: &'static str,
}

/// Why an extension can't be put to work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No endpoint can stand under the public URL.
    #[error("{PUBLIC_URL} can't have a query or a fragment")]
    PublicUrl,
    /// The endpoints under the public URL are not what the protocol allows.
    #[error("the endpoints under {PUBLIC_URL} are refused")]
    Endpoints(#[from] Violations),
    /// An allowed origin is none.
    #[error("an allowed origin must be `scheme://host` or `scheme://host:port`, without a path")]
    Origin,
    /// The extension has task tools, and nobody would run their tasks.
    #[error(
        "the extension has task tools: make its service with a background that runs their tasks"
    )]
    NoBackground,
    /// The tools can't be listed as JSON.
    #[error("the tools can't be listed as JSON")]
    Listing,
}

fn log_ledger_error(request_id: &str, error: &LedgerError) {
    tracing::error!(request_id, error = %with_causes(error), "the request could not be claimed; nothing of it ran");
}
