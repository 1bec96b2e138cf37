//! The client.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use pup_extension::{
    mcp::{
        code::HEADER_MISMATCH,
        header::{METHOD, PARAM_PREFIX},
    },
    signing::Secret,
};
use serde_json::Value;

use crate::{
    answer::{Answer, Reply},
    base_url::BaseUrl,
    builder::{ClientBuilder, Config},
    error::ClientError,
    event::EventOptions,
    ids,
    input_request::InputResponses,
    mcp::CallOptions,
    param_headers::ParamHeaders,
    persona::Persona,
    signed::{Endpoint, SignedRequest},
    task_options::TaskOptions,
    transport::Transport,
};

/// The pages of a tool list that are asked for at most: more than the 100 tools of a manifest can fill.
const MAX_PAGES: usize = 100;

/// Acts as pup against one extension. Cheap to clone; clones share connections and what was learned about tools.
///
/// Every method that sends returns the [`Answer`], whatever its status, and fails with a [`ClientError`] when
/// there is none that pup would have read. Futures must run on tokio.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    base: BaseUrl,
    transport: Transport,
    next_rpc_id: AtomicU64,
    /// What the tool lists that passed by said about each tool.
    param_headers: Mutex<BTreeMap<String, ParamHeaders>>,
}

impl Client {
    /// A client for the extension under a base URL, for [`Persona::default`]. The manifest's URL is taken too.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    pub fn new(base_url: impl Into<String>, secret: Secret) -> Result<Self, ClientError> {
        Self::builder(base_url, secret).build()
    }

    /// Sets up a client.
    #[must_use]
    pub fn builder(base_url: impl Into<String>, secret: Secret) -> ClientBuilder {
        ClientBuilder::new(base_url.into(), secret)
    }

    /// Sets up another client, starting from how this one is set up.
    #[must_use]
    pub fn to_builder(&self) -> ClientBuilder {
        ClientBuilder::from_config(self.shared.config.clone())
    }

    pub(crate) fn from_parts(config: Config, base: BaseUrl, transport: Transport) -> Self {
        let shared = Shared {
            config,
            base,
            transport,
            next_rpc_id: AtomicU64::new(1),
            param_headers: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The base URL, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.shared.base.as_str()
    }

    /// Whom the client speaks for.
    #[must_use]
    pub fn persona(&self) -> &Persona {
        &self.shared.config.persona
    }

    /// Gets the manifest, which is not signed.
    ///
    /// # Errors
    ///
    /// When no answer came that pup would have read.
    pub async fn manifest(&self) -> Result<Answer, ClientError> {
        let mut request =
            SignedRequest::unsigned(Method::GET, Endpoint::Manifest.path(), Bytes::new());
        request
            .headers
            .insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        self.send(&request).await
    }

    /// Challenges the extension to send a text back.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn challenge(&self, text: &str) -> Result<Answer, ClientError> {
        self.send(&self.challenge_request(text)?).await
    }

    /// Asks `server/discover`.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn discover(&self) -> Result<Answer, ClientError> {
        self.send(&self.discover_request()?).await
    }

    /// Asks for the first page of `tools/list`, which [`Answer::tool_list`] reads.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn list_tools(&self) -> Result<Answer, ClientError> {
        self.send(&self.list_tools_request(None)?).await
    }

    /// Asks for `tools/list` page by page, and returns every answer: the last one has no further page, is no
    /// list, or is the hundredth.
    ///
    /// # Errors
    ///
    /// When a request can't be made, or no answer came that pup would have read.
    pub async fn list_all_tools(&self) -> Result<Vec<Answer>, ClientError> {
        let first = self.list_tools().await?;
        self.list_on(first).await
    }

    /// Calls a tool.
    ///
    /// Arguments that the tool's definition annotates are mirrored into headers when the definition is known
    /// from a list that this client saw. Where it is not, and the extension refuses the call for the lack of
    /// headers (`-32020`), the list is fetched and the call sent once more, as MCP asks of its clients: under
    /// the same `callId`, with a fresh `webhook-id` unless one was named. Nothing ran in between.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn call(
        &self,
        tool: &str,
        arguments: impl Into<Value>,
        options: CallOptions,
    ) -> Result<Answer, ClientError> {
        let arguments = arguments.into();
        let request = self.call_request(tool, arguments.clone(), options.clone())?;
        let answer = self.send(&request).await?;
        if !is_header_mismatch(&answer) {
            return Ok(answer);
        }
        let first = self
            .send(&self.list_page_request(None, Some(&ids::fresh("msg")?))?)
            .await?;
        self.list_on(first).await?;
        let options = match request.call_id() {
            Some(id) => options.call_id(id),
            None => options,
        };
        let retry = self.call_request(tool, arguments, options)?;
        if param_headers(&retry) == param_headers(&request) {
            return Ok(answer);
        }
        self.send(&retry).await
    }

    /// Asks how a task stands (`tasks/get`), which [`Answer::task`] reads.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn get_task(
        &self,
        task_id: &str,
        options: TaskOptions,
    ) -> Result<Answer, ClientError> {
        self.send(&self.get_task_request(task_id, options)?).await
    }

    /// Answers what a task asks (`tasks/update`). [`Answer::acknowledged`] tells whether the answers were taken.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn update_task(
        &self,
        task_id: &str,
        responses: InputResponses,
        options: TaskOptions,
    ) -> Result<Answer, ClientError> {
        self.send(&self.update_task_request(task_id, responses, options)?)
            .await
    }

    /// Asks for a task to end (`tasks/cancel`), which pup itself never does. The extension need only acknowledge
    /// it ([`Answer::acknowledged`]): the task may still end in another way.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn cancel_task(
        &self,
        task_id: &str,
        options: TaskOptions,
    ) -> Result<Answer, ClientError> {
        self.send(&self.cancel_task_request(task_id, options)?)
            .await
    }

    /// Delivers an event about a member. Nothing is retried; the same delivery id again is a retry.
    ///
    /// # Errors
    ///
    /// When the request can't be made, or no answer came that pup would have read.
    pub async fn event(
        &self,
        kind: &str,
        member: &str,
        options: EventOptions,
    ) -> Result<Answer, ClientError> {
        self.send(&self.event_request(kind, member, &options)?)
            .await
    }

    /// Sends a request as it is, byte for byte; as often as asked.
    ///
    /// # Errors
    ///
    /// When no answer came that pup would have read.
    pub async fn send(&self, request: &SignedRequest) -> Result<Answer, ClientError> {
        let url = self.shared.base.join(&request.path);
        let parts = self.shared.transport.exchange(url, request).await?;
        let answer = Answer::new(request.clone(), parts);
        self.learn(&answer);
        Ok(answer)
    }

    /// The rest of a list whose first page is there. Each page is a request of its own, with an id of its own.
    async fn list_on(&self, first: Answer) -> Result<Vec<Answer>, ClientError> {
        let mut answers = vec![first];
        while let Some(cursor) = answers.last().and_then(next_cursor) {
            if answers.len() == MAX_PAGES {
                break;
            }
            let request = self.list_page_request(Some(&cursor), Some(&ids::fresh("msg")?))?;
            answers.push(self.send(&request).await?);
        }
        Ok(answers)
    }

    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    /// The JSON-RPC id of the next request.
    pub(crate) fn next_rpc_id(&self) -> u64 {
        self.shared.next_rpc_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Keeps what a tool list says about headers, if the answer is one.
    fn learn(&self, answer: &Answer) {
        if answer
            .request()
            .headers()
            .get(METHOD)
            .is_none_or(|method| method != "tools/list")
        {
            return;
        }
        if let Ok(list) = answer.tool_list() {
            let mut known = self.known_tools();
            known.extend(
                list.tools
                    .into_iter()
                    .map(|tool| (tool.name().to_owned(), tool.param_headers)),
            );
        }
    }

    pub(crate) fn known_tools(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, ParamHeaders>> {
        self.shared
            .param_headers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.base_url())
            .finish_non_exhaustive()
    }
}

fn next_cursor(answer: &Answer) -> Option<String> {
    answer.tool_list().ok()?.next_cursor
}

fn is_header_mismatch(answer: &Answer) -> bool {
    matches!(answer.reply(), Ok(Reply::Error(error)) if error.code == HEADER_MISMATCH)
}

/// The `Mcp-Param-*` headers of a request.
fn param_headers(request: &SignedRequest) -> Vec<(&str, &HeaderValue)> {
    let headers = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value));
    headers
        .filter(|(name, _)| name.starts_with(PARAM_PREFIX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallOptions;

    #[test]
    fn requests_can_be_made_from_any_thread() {
        fn send<T: Send>(_: &T) {}
        let secret = Secret::from_bytes(&[7; 32]).unwrap();
        let client = Client::new("http://127.0.0.1:1", secret).unwrap();
        send(&client.call("t", serde_json::json!({}), CallOptions::new()));
        send(&client.list_all_tools());
        send(&client.get_task("t1", TaskOptions::new()));
        send(&client.update_task("t1", InputResponses::new(), TaskOptions::new()));
        send(&client.event("member.joined", "m1", EventOptions::new()));
    }
}
