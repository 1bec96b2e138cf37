//! Outbound HTTP.

use std::{
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use pup_extension::runtime::{HttpError, HttpErrorKind};
use rustls_platform_verifier::BuilderVerifierExt;

/// The most bytes of a response that are read into memory.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// One client with its pool of connections, made when it is first used: most extensions send nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbound {
    client: Arc<OnceLock<reqwest::Client>>,
}

impl Outbound {
    fn client(&self) -> Result<reqwest::Client, HttpError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = new_client()?;
        // Another request may have been faster.
        Ok(self.client.get_or_init(|| client).clone())
    }

    pub(crate) fn send(
        &self,
        request: http::Request<Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 'static {
        let client = self.client();
        async move {
            let client = client?;
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

fn new_client() -> Result<reqwest::Client, HttpError> {
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(unusable)?;
    let tls = match BuilderVerifierExt::with_platform_verifier(tls.clone()) {
        Ok(tls) => tls,
        Err(error) => {
            tracing::warn!(%error, "the system has no TLS certificates: outbound https will fail");
            tls.with_root_certificates(rustls::RootCertStore::empty())
        }
    };
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.with_no_client_auth())
        // An author who is sent elsewhere decides whether to go there.
        .redirect(reqwest::redirect::Policy::none())
        // What an author sends is sent once; whether again is theirs to decide, too.
        .retry(reqwest::retry::never())
        .build()
        .map_err(|error| failed(HttpErrorKind::Connect, error))
}

fn unusable(error: rustls::Error) -> HttpError {
    HttpError::new(HttpErrorKind::Connect, Some(error.into()))
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
