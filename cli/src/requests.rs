//! Building requests: what the client sends, without sending it.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Map, Value, json};

use crate::{
    client::Client,
    error::{ClientError, Inner},
    event::EventOptions,
    ids,
    input_request::InputResponses,
    mcp::{self, CallId, CallOptions},
    signed::{Endpoint, SignedRequest},
    task_options::TaskOptions,
};

impl Client {
    /// Builds a challenge.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn challenge_request(&self, text: &str) -> Result<SignedRequest, ClientError> {
        self.sign(
            Endpoint::Challenge,
            json!({"challenge": text}).to_string(),
            None,
        )
    }

    /// Builds a `server/discover`.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn discover_request(&self) -> Result<SignedRequest, ClientError> {
        self.mcp(
            "server/discover",
            Map::new(),
            &self.persona().discovery_context(),
            None,
        )
    }

    /// Builds a `tools/list`, for the page that the cursor names.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn list_tools_request(&self, cursor: Option<&str>) -> Result<SignedRequest, ClientError> {
        self.list_page_request(cursor, None)
    }

    pub(crate) fn list_page_request(
        &self,
        cursor: Option<&str>,
        webhook_id: Option<&str>,
    ) -> Result<SignedRequest, ClientError> {
        let mut params = Map::new();
        if let Some(cursor) = cursor {
            params.insert("cursor".to_owned(), json!(cursor));
        }
        self.mcp(
            "tools/list",
            params,
            &self.persona().discovery_context(),
            webhook_id,
        )
    }

    /// Builds a `tools/call`. Arguments that are not an object are sent as they are, for the extension to refuse.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn call_request(
        &self,
        tool: &str,
        arguments: impl Into<Value>,
        mut options: CallOptions,
    ) -> Result<SignedRequest, ClientError> {
        let arguments = arguments.into();
        if let CallId::Fresh = options.call_id {
            options.call_id = CallId::Given(ids::fresh("call")?);
        }
        let mut mirrored = HeaderMap::new();
        if let Some(headers) = self.known_tools().get(tool) {
            headers.apply(&arguments, &mut mirrored);
        }
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(tool));
        params.insert("arguments".to_owned(), arguments);
        let mut request = self.mcp_request("tools/call", params, &options)?;
        request.headers.extend(mirrored);
        Ok(request)
    }

    /// Builds a `tasks/get`.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn get_task_request(
        &self,
        task_id: &str,
        options: TaskOptions,
    ) -> Result<SignedRequest, ClientError> {
        self.task_request("tasks/get", task_id, Map::new(), options)
    }

    /// Builds a `tasks/update`, which answers what a task asks.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn update_task_request(
        &self,
        task_id: &str,
        responses: InputResponses,
        options: TaskOptions,
    ) -> Result<SignedRequest, ClientError> {
        let mut params = Map::new();
        params.insert("inputResponses".to_owned(), responses.into_value());
        self.task_request("tasks/update", task_id, params, options)
    }

    /// Builds a `tasks/cancel`. Pup itself cancels no tasks.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn cancel_task_request(
        &self,
        task_id: &str,
        options: TaskOptions,
    ) -> Result<SignedRequest, ClientError> {
        self.task_request("tasks/cancel", task_id, Map::new(), options)
    }

    /// Builds a request for any MCP method, in the context of a call: with the channel, and with what the
    /// options name. A `callId` is sent only when they name one. `params._meta` is the client's.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn mcp_request(
        &self,
        method: &str,
        params: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<SignedRequest, ClientError> {
        let call_id = match &options.call_id {
            CallId::Given(id) => Some(id.as_str()),
            CallId::Fresh | CallId::Absent => None,
        };
        let mut context = self.persona().call_context();
        mcp::add_call(&mut context, call_id, options.user_request.as_ref());
        let mut request = self.mcp(method, params, &context, options.webhook_id.as_deref())?;
        request.call_id = call_id.map(str::to_owned);
        Ok(request)
    }

    /// Builds the delivery of an event about a member.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn event_request(
        &self,
        kind: &str,
        member: &str,
        options: &EventOptions,
    ) -> Result<SignedRequest, ClientError> {
        let id = self.webhook_id(options.delivery_id.as_deref())?;
        let now = self.config().clock.now()?;
        let envelope = options.envelope(&id, now, (kind, member), &self.persona().event_context());
        self.sign(Endpoint::Events, envelope, Some(&id))
    }

    /// Signs any bytes for an endpoint, as JSON; with a fresh `webhook-id` unless one is named. MCP's own
    /// headers are the caller's to add.
    ///
    /// # Errors
    ///
    /// When the request can't be signed.
    pub fn sign(
        &self,
        endpoint: Endpoint,
        body: impl Into<Bytes>,
        webhook_id: Option<&str>,
    ) -> Result<SignedRequest, ClientError> {
        let method = if endpoint == Endpoint::Manifest {
            Method::GET
        } else {
            Method::POST
        };
        let mut request = SignedRequest::unsigned(method, endpoint.path(), body);
        request.headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        request
            .headers
            .insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let id = self.webhook_id(webhook_id)?;
        let config = &self.config();
        let signature = config.secret.sign(&id, config.clock.now()?, &request.body);
        signature.map_err(Inner::Sign)?.apply(&mut request.headers);
        Ok(request)
    }

    fn mcp(
        &self,
        method: &str,
        params: Map<String, Value>,
        context: &Map<String, Value>,
        webhook_id: Option<&str>,
    ) -> Result<SignedRequest, ClientError> {
        let rpc_id = self.next_rpc_id();
        let headers = mcp::headers(method, &params);
        let body = mcp::body(rpc_id, method, params, &self.config().capabilities, context);
        let mut request = self.sign(Endpoint::Mcp, body, webhook_id)?;
        request.headers.extend(headers);
        request.rpc_id = Some(rpc_id);
        Ok(request)
    }

    fn task_request(
        &self,
        method: &str,
        task_id: &str,
        mut params: Map<String, Value>,
        options: TaskOptions,
    ) -> Result<SignedRequest, ClientError> {
        params.insert("taskId".to_owned(), json!(task_id));
        let mut request = self.mcp_request(method, params, &options.into_call_options())?;
        request.task_id = Some(task_id.to_owned());
        Ok(request)
    }

    fn webhook_id(&self, named: Option<&str>) -> Result<String, ClientError> {
        match named.or(self.config().webhook_id.as_deref()) {
            Some(id) => Ok(id.to_owned()),
            None => ids::fresh("msg"),
        }
    }
}
