//! Which requests go on to the service: headers and body agree, and what must be there is there.

use http::HeaderMap;

use super::{
    ClientCapabilities, Context, Error, Id, Method, PROTOCOL_VERSION, Request, SUPPORTED_VERSIONS,
    header::{self, single},
    method::Kind,
    object::Object,
};

/// A request that follows the rules of the protocol.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Admitted<'a> {
    /// The id, to be echoed.
    pub id: &'a Id,
    /// What is asked for.
    pub method: Method<'a>,
    /// What came with it.
    pub meta: Meta,
}

/// What `params._meta` says, as far as it matters here. `clientInfo`, `progressToken` and `logLevel` don't.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meta {
    /// What the client declares.
    pub capabilities: ClientCapabilities,
    /// pup's context: always there for `tools/call` and `tasks/*`, maybe for discovery.
    pub context: Option<Context>,
}

impl Meta {
    /// The context of a request that acts for someone.
    ///
    /// # Errors
    ///
    /// [`Error::invalid_params`] when there is none. Never after [`admit`] let a `tools/call` or `tasks/*` through.
    pub fn required_context(&self) -> Result<&Context, Error> {
        self.context
            .as_ref()
            .ok_or_else(|| Error::invalid_params("params._meta[\"io.puphq/context\"] is missing"))
    }
}

/// Checks a request against its headers and the rules for `_meta`.
///
/// The signature must have been verified before, or the context in the result means nothing. The order decides
/// which error a request with several faults gets, and is this:
///
/// 1. The `MCP-Protocol-Version` header is there, once, and equals `_meta`'s where that has one: else `-32020`. An
///    `initialize` without it comes from a legacy client, for whom the message names the version that we speak.
/// 2. The version is ours: else `-32022`. What another version asks of a request is not ours to judge, so this
///    comes before the checks of `_meta` and of the other headers.
/// 3. `Mcp-Method` is there, once, and equals the method: else `-32020`.
/// 4. The method exists: else `-32601` with 404, whatever its parameters look like.
/// 5. `_meta` has the version and the capabilities: else `-32602`.
/// 6. The method's own parameters, and `Mcp-Name` where they have a name.
/// 7. pup's context, required where someone is acted for: else `-32602`.
///
/// # Errors
///
/// As above; the error carries the request's id.
///
/// ```
/// use http::HeaderMap;
/// use pup_extension::mcp::{Message, Method, admit};
///
/// let body = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
///     "io.modelcontextprotocol/protocolVersion": "2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities": {}
/// }}}"#;
/// let mut headers = HeaderMap::new();
/// headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
/// headers.insert("mcp-method", "tools/list".parse().unwrap());
///
/// let Ok(Message::Request(request)) = Message::parse(body) else { panic!("a request") };
/// assert_eq!(admit(&headers, &request).unwrap().method, Method::ListTools { cursor: None });
///
/// headers.insert("mcp-method", "tools/call".parse().unwrap());
/// assert_eq!(admit(&headers, &request).unwrap_err().code(), -32020);
/// ```
pub fn admit<'a>(headers: &HeaderMap, request: &'a Request<'a>) -> Result<Admitted<'a>, Error> {
    check(headers, request).map_err(|error| {
        let error = if request.method == "initialize" {
            error.naming_versions()
        } else {
            error
        };
        error.with_id(request.id.clone())
    })
}

fn check<'a>(headers: &HeaderMap, request: &'a Request<'a>) -> Result<Admitted<'a>, Error> {
    let Some(version) = single(headers, &header::PROTOCOL_VERSION, "MCP-Protocol-Version")? else {
        return Err(missing(
            request,
            "MCP-Protocol-Version",
            "the version that _meta has",
        ));
    };
    let params = request
        .params
        .map(|params| Object::read(params, "params"))
        .transpose()?;
    let meta = params
        .as_ref()
        .map(|params| params.required_object("_meta", "params._meta"));
    let declared = meta
        .as_ref()
        .and_then(|meta| meta.as_ref().ok()?.text(VERSION_KEY).ok()?);
    if declared.is_some_and(|declared| declared != version) {
        return Err(Error::header_mismatch(format!(
            "the MCP-Protocol-Version header does not match params._meta[\"{VERSION_KEY}\"]"
        )));
    }
    if !SUPPORTED_VERSIONS.contains(&version) {
        return Err(Error::unsupported_version(version));
    }

    match single(headers, &header::METHOD, "Mcp-Method")? {
        Some(method) if method == request.method => {}
        Some(_) => {
            return Err(Error::header_mismatch(
                "the Mcp-Method header does not match the method",
            ));
        }
        None => return Err(missing(request, "Mcp-Method", "the method")),
    }
    let kind = Kind::of(&request.method).ok_or_else(Error::method_not_found)?;

    let (Some(params), Some(meta)) = (params, meta) else {
        return Err(Error::invalid_params(
            "params._meta is missing: every request carries it",
        ));
    };
    let meta = meta?;
    meta.required_text(VERSION_KEY)?;
    let capabilities = match meta.member(CAPABILITIES_KEY) {
        Some(capabilities) => ClientCapabilities::read(capabilities)?,
        None => return Err(meta.error(CAPABILITIES_KEY, "is missing: an empty object will do")),
    };

    let method = kind.read(&params, headers)?;
    let meta = Meta {
        capabilities,
        context: Context::find(&meta)?,
    };
    if kind.needs_context() {
        meta.required_context()?;
    }
    Ok(Admitted {
        id: &request.id,
        method,
        meta,
    })
}

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

fn missing(request: &Request<'_>, header: &str, value: &str) -> Error {
    Error::header_mismatch(if request.method == "initialize" {
        format!(
            "this server speaks MCP {PROTOCOL_VERSION} only, which has no initialize: use a client of that version"
        )
    } else {
        format!("the {header} header is missing: send it with {value}")
    })
}
