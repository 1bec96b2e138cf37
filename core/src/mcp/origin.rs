//! Which web pages may call: none, unless one is named.

use http::{HeaderMap, header, uri::Authority};

use super::{Error, header::trim};

/// The origins whose `Origin` header is let through. pup calls from a server and sends none.
///
/// MCP has servers refuse foreign origins, so that a page can't reach a server on the reader's own machine by
/// giving its name that machine's address (Streamable HTTP, "Security & Endpoint"). In such an attack `Host` and
/// `Origin` agree, so their agreement proves nothing, and only what is named here is let through.
///
/// ```
/// use http::{HeaderMap, header::ORIGIN};
/// use pup_extension::mcp::AllowedOrigins;
///
/// let allowed = AllowedOrigins::parse(["http://localhost:8787"]).unwrap();
/// let mut headers = HeaderMap::new();
/// assert!(allowed.check(&headers).is_ok());
/// headers.insert(ORIGIN, "http://localhost:8787".parse().unwrap());
/// assert!(allowed.check(&headers).is_ok());
/// headers.insert(ORIGIN, "https://localhost:8787".parse().unwrap());
/// assert_eq!(allowed.check(&headers).unwrap_err().status(), 403);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedOrigins(Vec<Origin>);

impl AllowedOrigins {
    /// No origin at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// These origins, each a scheme, a host and maybe a port: `https://pup.example`, `http://localhost:8787`.
    ///
    /// # Errors
    ///
    /// When one is something else: has a path, a user, a wildcard, or is `null`.
    pub fn parse<'a>(origins: impl IntoIterator<Item = &'a str>) -> Result<Self, OriginError> {
        origins
            .into_iter()
            .map(|origin| Origin::parse(origin).ok_or_else(|| OriginError(origin.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Lets a request through that has no `Origin`, or one that is allowed: the same scheme, host and port.
    ///
    /// # Errors
    ///
    /// [`Error::foreign_origin`], for an origin that can't be read and for several of them too.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Error> {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(first) = origins.next() else {
            return Ok(());
        };
        let origin = first.to_str().ok().map(trim).and_then(Origin::parse);
        match (origin, origins.next()) {
            (Some(origin), None) if self.0.contains(&origin) => Ok(()),
            _ => Err(Error::foreign_origin()),
        }
    }
}

/// An allowed origin that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no origin: name a scheme, a host and maybe a port, as in https://pup.example")]
pub struct OriginError(String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// `None` for a scheme without a port of its own, where none is named.
    port: Option<u16>,
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let named = scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        if scheme.is_empty() || !named || rest.contains(['@', '*']) {
            return None;
        }
        let authority: Authority = rest.parse().ok()?;
        let host = authority.host().to_ascii_lowercase();
        let port = match authority.port_u16() {
            Some(port) => Some(port),
            // A colon with nothing, or with no port, behind it.
            None if authority.as_str().len() != authority.host().len() => return None,
            None => match scheme.as_str() {
                "http" => Some(80),
                "https" => Some(443),
                _ => None,
            },
        };
        (!host.is_empty()).then_some(Self { scheme, host, port })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(allowed: &AllowedOrigins, origins: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "evil.example".parse().unwrap());
        for origin in origins {
            headers.append(header::ORIGIN, origin.parse().unwrap());
        }
        allowed.check(&headers).is_ok()
    }

    #[test]
    fn only_the_same_scheme_host_and_port_is_let_through() {
        let allowed = AllowedOrigins::parse(["https://pup.example", "http://[::1]:8787"]).unwrap();
        for origin in [
            "https://pup.example",
            "https://PUP.example:443",
            "http://[::1]:8787",
        ] {
            assert!(check(&allowed, &[origin]), "{origin}");
        }
        for origin in [
            "http://pup.example",
            "https://pup.example:8443",
            "https://pup.example.evil.example",
            "https://evil.example",
            "https://pup.example@evil.example",
            "https://pup.example/",
            "https://pup.example:",
            "pup.example",
            "null",
            "",
        ] {
            assert!(!check(&allowed, &[origin]), "{origin}");
        }
        assert!(!check(
            &allowed,
            &["https://pup.example", "https://pup.example"]
        ));
    }

    #[test]
    fn an_origin_that_equals_the_host_is_still_foreign() {
        assert!(!check(&AllowedOrigins::none(), &["http://evil.example"]));
        assert!(check(&AllowedOrigins::none(), &[]));
    }

    #[test]
    fn what_is_no_origin_can_not_be_allowed() {
        for origin in [
            "*",
            "https://*.pup.example",
            "null",
            "https://pup.example/path",
            "https://",
            "://x",
            "",
        ] {
            assert!(AllowedOrigins::parse([origin]).is_err(), "{origin}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_the_check_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = http::HeaderValue::from_bytes(&bytes) {
                headers.insert(header::ORIGIN, value);
                prop_assert!(AllowedOrigins::none().check(&headers).is_err());
            }
        }
    }
}
