//! Where a request goes, by method and path alone.

use http::{HeaderMap, Method, header};

use super::answer::HttpRefusal;

/// The most bytes of a request's body. Adapters must not read more than this and one byte.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Manifest,
    Challenge,
    Mcp,
    Events,
}

impl Route {
    /// The name in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Challenge => "challenge",
            Self::Mcp => "mcp",
            Self::Events => "events",
        }
    }
}

/// The endpoint of a method and path; `prefix` is the path of the public URL, which a proxy may or may not strip.
pub(crate) fn route(method: &Method, path: &str, prefix: &str) -> Result<Route, HttpRefusal> {
    let path = path
        .strip_prefix(prefix)
        .filter(|rest| rest.starts_with('/'))
        .unwrap_or(path);
    let (route, allowed, allow): (Route, &[Method], &'static str) = match path {
        "/manifest.json" => (Route::Manifest, &[Method::GET, Method::HEAD], "GET, HEAD"),
        "/challenge" => (Route::Challenge, &[Method::POST], "POST"),
        "/mcp" => (Route::Mcp, &[Method::POST], "POST"),
        "/events" => (Route::Events, &[Method::POST], "POST"),
        _ => return Err(HttpRefusal::NotFound),
    };
    if allowed.contains(method) {
        Ok(route)
    } else {
        Err(HttpRefusal::MethodNotAllowed { allow })
    }
}

/// Whether the body is declared to be over the limit.
pub(crate) fn declared_too_large(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        // Digits that don't fit are too large as well; what is no number is left to the HTTP server.
        .filter(|length| !length.is_empty() && length.bytes().all(|digit| digit.is_ascii_digit()))
        .is_some_and(|length| {
            length
                .parse::<usize>()
                .map_or(true, |length| length > MAX_BODY_BYTES)
        })
}

#[cfg(test)]
mod tests {
    use super::{super::answer::Answer, *};

    fn status(method: &Method, path: &str, prefix: &str) -> u16 {
        route(method, path, prefix)
            .map_or_else(|refusal| Answer::refuse(refusal).status().as_u16(), |_| 200)
    }

    #[test]
    fn each_endpoint_has_its_method() {
        for (path, right, wrong) in [
            ("/manifest.json", Method::GET, Method::POST),
            ("/challenge", Method::POST, Method::GET),
            ("/mcp", Method::POST, Method::DELETE),
            ("/mcp", Method::POST, Method::GET),
            ("/events", Method::POST, Method::PUT),
        ] {
            assert_eq!(status(&right, path, ""), 200, "{path}");
            assert_eq!(status(&wrong, path, ""), 405, "{path}");
        }
        assert_eq!(status(&Method::HEAD, "/manifest.json", ""), 200);
    }

    #[test]
    fn other_paths_are_not_found() {
        for path in [
            "",
            "/",
            "/mcp/",
            "/MCP",
            "/mcp/x",
            "//mcp",
            "/manifest",
            "/prod/mcp",
        ] {
            assert_eq!(status(&Method::POST, path, ""), 404, "{path}");
        }
    }

    #[test]
    fn the_public_prefix_may_be_there_or_stripped() {
        assert_eq!(status(&Method::POST, "/snacks/mcp", "/snacks"), 200);
        assert_eq!(status(&Method::POST, "/mcp", "/snacks"), 200);
        assert_eq!(status(&Method::POST, "/snacksmcp", "/snacks"), 404);
        assert_eq!(status(&Method::POST, "/snacks/snacks/mcp", "/snacks"), 404);
    }

    #[test]
    fn a_declared_length_over_the_limit_is_seen() {
        let declared = |length: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_LENGTH, length.parse().unwrap());
            declared_too_large(&headers)
        };
        assert!(!declared("1048576"));
        assert!(declared("1048577"));
        assert!(declared("99999999999999999999999999"));
        assert!(!declared("nonsense"));
        assert!(!declared_too_large(&HeaderMap::new()));
    }
}
