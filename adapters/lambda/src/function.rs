//! The HTTP function: an event in, an answer out.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use lambda_runtime::Diagnostic;
use pup_extension::{
    runtime::Runtime as _,
    service::{Service, ServiceError},
    time::Timestamp,
};
use tokio::time::Instant;

use crate::{
    LambdaRuntime,
    answer::Answer,
    event::{Event, EventError},
    store::within,
};

/// How long the store may be tried for one request. pup gives it five seconds.
const STORE: Duration = Duration::from_millis(4_750);
/// What a function with a shorter timeout keeps of it for its answer.
const RESERVE: Duration = Duration::from_millis(250);

/// Answers HTTP events.
#[derive(Debug)]
pub(crate) struct HttpFunction {
    runtime: LambdaRuntime,
    services: Mutex<Services>,
    #[cfg(feature = "secrets-manager")]
    secrets: Option<crate::secrets::Secrets>,
}

#[derive(Debug)]
struct Services {
    service: Service,
    /// Whether the service's public URL is set; otherwise the requests tell it.
    is_placed: bool,
    /// The service under the URL of the last request that told one.
    under: Option<(String, Service)>,
}

/// The event is no HTTP request.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Refused(EventError);

impl HttpFunction {
    pub(crate) fn new(runtime: LambdaRuntime, service: Service, is_placed: bool) -> Self {
        Self {
            runtime,
            services: Mutex::new(Services {
                service,
                is_placed,
                under: None,
            }),
            #[cfg(feature = "secrets-manager")]
            secrets: None,
        }
    }

    #[cfg(feature = "secrets-manager")]
    pub(crate) fn with_secrets(mut self, secrets: Option<crate::secrets::Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// Answers an event; `deadline` is when Lambda ends the invocation.
    pub(crate) async fn handle(&self, event: &str, deadline: Timestamp) -> Result<Answer, Refused> {
        let now = self.runtime.now();
        let left = if deadline > now {
            deadline.since(now).saturating_sub(RESERVE)
        } else {
            // `cargo lambda watch` gives one that is long over.
            STORE
        };
        let end = Instant::now() + STORE.min(left);
        match Event::read(event) {
            Ok(event) => {
                let family = event.family;
                let response = within(end, Box::pin(self.respond(event, now))).await;
                Ok(Answer::new(family, &response))
            }
            Err(EventError::Bad { family, what }) => {
                tracing::info!(outcome = what, status = 400, "request");
                Ok(Answer::refusal(family, StatusCode::BAD_REQUEST, what))
            }
            Err(error @ EventError::NotHttp) => Err(Refused(error)),
        }
    }

    #[cfg(not(feature = "secrets-manager"))]
    async fn respond(&self, event: Event, now: Timestamp) -> Response<Bytes> {
        self.send(event.request, event.public_url, now).await
    }

    /// With newer secrets, where none of those at hand fits.
    #[cfg(feature = "secrets-manager")]
    async fn respond(&self, event: Event, now: Timestamp) -> Response<Bytes> {
        use pup_extension::signing::{Refusal, RefusalKind};

        let Some(secrets) = &self.secrets else {
            return self.send(event.request, event.public_url, now).await;
        };
        if let Some(keyring) = secrets.refresh(now).await {
            self.services().take_on(keyring);
        }
        let response = self
            .send(event.request.clone(), event.public_url.clone(), now)
            .await;
        let refusal = response.extensions().get::<Refusal>();
        if refusal.is_none_or(|refusal| refusal.kind() != RefusalKind::NoMatch) {
            return response;
        }
        match secrets.look_again(now).await {
            None => response,
            Some(keyring) => {
                self.services().take_on(keyring);
                self.send(event.request, event.public_url, now).await
            }
        }
    }

    async fn send(
        &self,
        request: Request<Bytes>,
        url: Option<String>,
        now: Timestamp,
    ) -> Response<Bytes> {
        let service = self.services().of(url);
        service.handle(request, now).await
    }

    fn services(&self) -> MutexGuard<'_, Services> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Services {
    /// The service for a request that came by this URL.
    fn of(&mut self, url: Option<String>) -> Service {
        let Some(url) = url.filter(|_| !self.is_placed) else {
            return self.service.clone();
        };
        if let Some((known, service)) = &self.under
            && *known == url
        {
            return service.clone();
        }
        match self.service.under(&url) {
            Ok(service) => {
                self.under = Some((url, service.clone()));
                service
            }
            Err(error) => {
                let error: ServiceError = error;
                tracing::error!(
                    error = crate::log::chain(&error),
                    "the function's own URL can't be the extension's: set PUP_PUBLIC_URL"
                );
                self.service.clone()
            }
        }
    }

    #[cfg(feature = "secrets-manager")]
    fn take_on(&mut self, keyring: pup_extension::signing::Keyring) {
        self.service = self.service.with_keyring(keyring);
        self.under = None;
    }
}

impl From<Refused> for Diagnostic {
    fn from(error: Refused) -> Self {
        Self {
            error_type: String::from("NotAnHttpRequest"),
            error_message: error.to_string(),
        }
    }
}
