//! Outbound HTTP, by the client that the AWS clients are built on, too: so it adds next to nothing to the binary.

use std::{
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use pup_extension::runtime::{HttpError, HttpErrorKind};

/// The most bytes of a response that are read into memory.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;
/// A connection that was idle for longer may be gone, above all where the process was frozen meanwhile.
const IDLE: Duration = Duration::from_secs(20);

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// One client with its pool of connections, made when it is first used: most extensions send nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbound {
    client: Arc<OnceLock<HttpClient>>,
}

impl Outbound {
    fn client(&self) -> Result<HttpClient, HttpError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| HttpError::new(HttpErrorKind::Connect, Some(error.into())))?
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        // Another request may have been faster.
        Ok(self.client.get_or_init(|| client).clone())
    }

    pub(crate) fn send(
        &self,
        request: Request<Bytes>,
        timeout: Duration,
    ) -> impl Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'static {
        let client = self.client();
        async move {
            let client = client?;
            let uri = request.uri();
            if uri.host().is_none() || !matches!(uri.scheme_str(), Some("http" | "https")) {
                let what = "the URL must be http or https, with a host";
                return Err(HttpError::new(HttpErrorKind::Request, Some(what.into())));
            }
            tokio::time::timeout(timeout, exchange(&client, request))
                .await
                .unwrap_or_else(|_| Err(HttpError::new(HttpErrorKind::Timeout, None)))
        }
    }
}

async fn exchange(
    client: &HttpClient,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let response = client
        .request(request.map(Full::new))
        .await
        .map_err(|error| {
            let kind = if error.is_connect() {
                HttpErrorKind::Connect
            } else {
                HttpErrorKind::Transport
            };
            HttpError::new(kind, Some(error.into()))
        })?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES)
        .collect()
        .await
        .map_err(|error| {
            let error: Box<dyn Error + Send + Sync> = if error.is::<LengthLimitError>() {
                "the response is over 16 MiB".into()
            } else {
                error
            };
            HttpError::new(HttpErrorKind::Transport, Some(error))
        })?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// Answers one request with these bytes, or with nothing and an open connection.
    async fn server(answer: Option<Vec<u8>>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"POST /x HTTP/1.1\r\n"));
            match answer {
                Some(answer) => stream.write_all(&answer).await.unwrap(),
                None => std::future::pending().await,
            }
        });
        url
    }

    async fn send(url: &str) -> Result<Response<Bytes>, HttpErrorKind> {
        let request = Request::post(url).body(Bytes::from_static(b"{}")).unwrap();
        let timeout = Duration::from_millis(500);
        let sent = Outbound::default().send(request, timeout).await;
        sent.map_err(|error| error.kind())
    }

    #[tokio::test]
    async fn a_response_of_any_status_is_one_and_no_redirect_is_followed() {
        let answer =
            b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nok";
        let response = send(&server(Some(answer.to_vec())).await).await.unwrap();
        assert_eq!(response.status(), 302);
        assert_eq!(&response.body()[..], b"ok");
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_apart() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nowhere = format!("http://{}/", closed.local_addr().unwrap());
        drop(closed);
        assert_eq!(send(&nowhere).await.unwrap_err(), HttpErrorKind::Connect);
        let silent = server(None).await;
        assert_eq!(send(&silent).await.unwrap_err(), HttpErrorKind::Timeout);
        let broken = server(Some(b"no http\r\n\r\n".to_vec())).await;
        assert_eq!(send(&broken).await.unwrap_err(), HttpErrorKind::Transport);
        let large = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 17 << 20);
        let large = server(Some(large.into_bytes())).await;
        assert_eq!(send(&large).await.unwrap_err(), HttpErrorKind::Transport);
        for url in ["/x", "ftp://127.0.0.1/x"] {
            assert_eq!(send(url).await.unwrap_err(), HttpErrorKind::Request);
        }
    }
}
