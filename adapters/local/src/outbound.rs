//! Outbound HTTP.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use pup_extension::runtime::{HttpError, HttpErrorKind};
use rustls_platform_verifier::BuilderVerifierExt;

/// The most bytes of a response that are read into memory.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// One client with its pool of connections.
#[derive(Clone, Debug)]
pub(crate) struct Outbound(reqwest::Client);

impl Outbound {
    pub(crate) fn new() -> Result<Self, HttpError> {
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
            rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| HttpError::new(HttpErrorKind::Connect, Some(error.into())))?
        .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            // An author who is sent elsewhere decides whether to go there.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                HttpError::new(HttpErrorKind::Connect, Some(error.without_url().into()))
            })?;
        Ok(Self(client))
    }

    pub(crate) fn send(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 'static {
        let client = self.0.clone();
        async move {
            let mut request = reqwest::Request::try_from(request)
                .map_err(|error| failed(HttpErrorKind::Request, error))?;
            *request.timeout_mut() = Some(timeout);
            let mut response = client.execute(request).await.map_err(classify)?;
            let mut head = http::Response::new(());
            *head.status_mut() = response.status();
            *head.version_mut() = response.version();
            *head.headers_mut() = std::mem::take(response.headers_mut());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(classify)? {
                if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                    return Err(HttpError::new(
                        HttpErrorKind::Transport,
                        Some("the response is over 16 MiB".into()),
                    ));
                }
                body.extend_from_slice(&chunk);
            }
            Ok(head.map(|()| Bytes::from(body)))
        }
    }
}

fn classify(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_builder() {
        HttpErrorKind::Request
    } else {
        HttpErrorKind::Transport
    };
    failed(kind, error)
}

/// Without the URL, which may carry secrets.
fn failed(kind: HttpErrorKind, error: reqwest::Error) -> HttpError {
    HttpError::new(kind, Some(error.without_url().into()))
}
