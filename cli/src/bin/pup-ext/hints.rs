//! What to do about common failures.

use pup_extension::mcp::CONTEXT_KEY;
use pup_extension_cli::{Answer, ClientErrorKind, Endpoint};

/// What to do when nothing came back that pup would have read.
pub(crate) fn of_client_error(kind: ClientErrorKind) -> Option<&'static str> {
    match kind {
        ClientErrorKind::Connect => Some("is it running? --url (or PUP_URL) says where to look"),
        ClientErrorKind::Deadline => {
            Some("long work belongs in a task; --deadline waits longer than pup would")
        }
        ClientErrorKind::Transport => {
            Some("check that --url names an extension, and that http and https are not mixed up")
        }
        _ => None,
    }
}

/// What to do about a JSON-RPC error, where its code and what it names say enough.
pub(crate) fn of_code(code: i64, message: &str, answer: &Answer) -> Option<&'static str> {
    let method = answer.request().headers().get("mcp-method");
    let about_task =
        method.is_some_and(|method| method.to_str().is_ok_and(|name| name.starts_with("tasks/")));
    match code {
        // The tool and its arguments are not what is wrong.
        -32602 if message.contains(CONTEXT_KEY) => Some(
            "that is what pup says of the call beside its arguments: check --asker, --installation, --channel, \
             --call-id and --user-request (an id has 1 to 256 bytes)",
        ),
        -32602 if about_task && message.starts_with("params.inputResponses") => {
            Some("the questions stay open; `pup-ext task get` shows each with its form")
        }
        -32602 if about_task => Some(
            "a task is there for the asker and the installation that made it (--asker, --installation), for as \
             long as it is kept; `pup-ext task get` shows what it asks",
        ),
        -32602 => Some("`pup-ext tools` shows the tools and the arguments that they take"),
        -32601 => Some("the extension does not know this method"),
        -32020 => Some(
            "a header does not match the body; a proxy in between may have changed or dropped it",
        ),
        -32021 => Some("the extension needs a capability that was not declared"),
        -32022 => Some("the extension speaks another revision of MCP than pup does"),
        _ => None,
    }
}

/// What to do about an HTTP status.
pub(crate) fn of_status(answer: &Answer) -> Option<String> {
    let hint = match answer.status().as_u16() {
        401 => {
            "check that the secret is the extension's own (PUP_SIGNING_SECRET), and that both clocks agree within \
             five minutes"
        }
        403 => {
            "something before the extension may be refusing: a firewall, or missing permissions for its URL"
        }
        404 | 405 => return Some(of_missing(answer)),
        409 => "this webhook-id was used before: leave --webhook-id out to get a fresh one",
        413 => "the request is larger than the extension reads (1 MiB)",
        429 | 503 => return Some(of_busy(answer)),
        500..=599 => "the extension failed: its log says why",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn of_missing(answer: &Answer) -> String {
    let path = answer.request().path();
    if path == Endpoint::Events.path() {
        return format!(
            "nothing answers at {path}: an extension without event handlers takes no events"
        );
    }
    format!(
        "nothing answers at {path} there: check --url, with the stage or prefix that stands before {path}"
    )
}

fn of_busy(answer: &Answer) -> String {
    match answer
        .header("retry-after")
        .and_then(|value| value.parse::<u32>().ok())
    {
        Some(seconds) => format!("try again in {seconds} s, under the same call or delivery id"),
        None => "try again in a moment, under the same call or delivery id".to_owned(),
    }
}
