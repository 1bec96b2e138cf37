//! Pup's way of making one HTTP exchange: no redirect, no compression, one deadline, one cap.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::{Url, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::{
    base_url::BaseUrl,
    error::{ClientError, Inner},
    signed::SignedRequest,
};

/// How long pup waits for the whole of an answer, from the first byte that it sends: five seconds.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// The largest body that pup reads: 1 MiB.
pub const RESPONSE_CAP: usize = 1024 * 1024;

const USER_AGENT: &str = concat!("pup-ext/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(crate) struct Transport {
    http: reqwest::Client,
    deadline: Duration,
}

impl Transport {
    pub(crate) fn new(base: &BaseUrl, deadline: Duration) -> Result<Self, ClientError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(base)?)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(USER_AGENT);
        if base.is_loopback() {
            builder = builder.no_proxy();
        }
        Ok(Self {
            http: builder.build().map_err(Inner::Setup)?,
            deadline,
        })
    }

    /// Sends the request as it is, and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        url: Url,
        request: &SignedRequest,
    ) -> Result<(StatusCode, HeaderMap, Bytes), ClientError> {
        let mut headers = request.headers.clone();
        headers
            .entry(header::ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static("identity"));
        let sending = self
            .http
            .request(request.method.clone(), url)
            .headers(headers)
            .body(request.body.clone())
            .send();
        let exchange = async {
            let response = sending.await.map_err(broken)?;
            refuse_unread(&response)?;
            let (status, headers) = (response.status(), response.headers().clone());
            Ok((status, headers, read(response).await?))
        };
        match tokio::time::timeout(self.deadline, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Inner::Deadline(self.deadline).into()),
        }
    }
}

/// What pup refuses by the head of an answer.
fn refuse_unread(response: &reqwest::Response) -> Result<(), ClientError> {
    if response.status().is_redirection() {
        return Err(Inner::Redirect(response.status().as_u16()).into());
    }
    let encodings = response.headers().get_all(header::CONTENT_ENCODING);
    if let Some(encoding) = encodings
        .iter()
        .find(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let name = encoding
            .to_str()
            .unwrap_or("unknown")
            .chars()
            .take(40)
            .collect();
        return Err(Inner::Compressed(name).into());
    }
    Ok(())
}

async fn read(mut response: reqwest::Response) -> Result<Bytes, ClientError> {
    let announced = response.content_length().unwrap_or_default();
    if usize::try_from(announced).map_or(true, |announced| announced > RESPONSE_CAP) {
        return Err(Inner::TooLarge(RESPONSE_CAP).into());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > RESPONSE_CAP {
            return Err(Inner::TooLarge(RESPONSE_CAP).into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn broken(error: reqwest::Error) -> ClientError {
    let error = error.without_url();
    if error.is_connect() {
        Inner::Connect(error).into()
    } else {
        Inner::Transport(error).into()
    }
}

/// TLS by rustls with ring, checked against the system's certificates. Where only http is spoken, none are
/// loaded, so that a machine without any can still try an extension of its own.
fn tls(base: &BaseUrl) -> Result<ClientConfig, ClientError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(Inner::Certificates)?;
    let verified = if base.is_https() {
        builder
            .with_platform_verifier()
            .map_err(Inner::Certificates)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(verified.with_no_client_auth())
}
