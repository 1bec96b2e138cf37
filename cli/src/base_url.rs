//! The base under which an extension's endpoints stand.

use reqwest::Url;

use crate::error::{ClientError, Inner, UrlProblem};

/// A base URL that pup would call, or http on this machine. Its path, if any, is a prefix of every endpoint's.
#[derive(Clone, Debug)]
pub(crate) struct BaseUrl(Url);

impl BaseUrl {
    /// Reads a base URL. The manifest's own URL is taken too, since that is what a server prints.
    pub(crate) fn parse(text: &str, plain_http: bool) -> Result<Self, ClientError> {
        let mut url =
            Url::parse(text).map_err(|error| Inner::Url(UrlProblem::Syntax(Box::new(error))))?;
        let problem = if !matches!(url.scheme(), "http" | "https") {
            Some(UrlProblem::Scheme)
        } else if !url.username().is_empty() || url.password().is_some() {
            Some(UrlProblem::Credentials)
        } else if url.query().is_some() || url.fragment().is_some() {
            Some(UrlProblem::Query)
        } else if url.scheme() == "http" && !plain_http && !is_loopback(&url) {
            Some(UrlProblem::PlainHttp)
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(Inner::Url(problem).into());
        }
        let path = url.path().trim_end_matches('/');
        let prefix = path
            .strip_suffix("/manifest.json")
            .unwrap_or(path)
            .to_owned();
        url.set_path(&prefix);
        Ok(Self(url))
    }

    /// The URL of a path below the base. The path starts with a slash, and may carry a query.
    pub(crate) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// Whether it names this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// Whether TLS is spoken.
    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The URL as text, without a slash at its end.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientErrorKind;

    fn joined(base: &str, path: &str) -> String {
        BaseUrl::parse(base, false).unwrap().join(path).to_string()
    }

    #[test]
    fn an_endpoint_stands_below_the_whole_path_of_the_base() {
        assert_eq!(
            joined("http://127.0.0.1:8787", "/mcp"),
            "http://127.0.0.1:8787/mcp"
        );
        assert_eq!(
            joined("https://x.example/", "/mcp"),
            "https://x.example/mcp"
        );
        assert_eq!(
            joined("https://x.example/prod/", "/mcp"),
            "https://x.example/prod/mcp"
        );
        assert_eq!(
            joined("https://x.example/prod", "/mcp?a=1"),
            "https://x.example/prod/mcp?a=1"
        );
    }

    #[test]
    fn the_manifests_own_url_names_its_base() {
        assert_eq!(
            joined("https://x.example/manifest.json", "/mcp"),
            "https://x.example/mcp"
        );
        assert_eq!(
            joined("https://x.example/prod/manifest.json", "/mcp"),
            "https://x.example/prod/mcp"
        );
    }

    #[test]
    fn plain_http_is_for_this_machine_alone_unless_allowed() {
        for local in [
            "http://127.0.0.1",
            "http://127.9.9.9",
            "http://[::1]:80",
            "http://localhost:1",
            "http://a.localhost",
        ] {
            assert!(
                BaseUrl::parse(local, false).unwrap().is_loopback(),
                "{local}"
            );
        }
        for foreign in [
            "http://x.example",
            "http://10.0.0.1",
            "http://localhost.example",
            "http://[::2]",
        ] {
            let error = BaseUrl::parse(foreign, false).unwrap_err();
            assert_eq!(error.kind(), ClientErrorKind::Url);
            assert!(
                error.to_string().contains("requires https"),
                "{foreign}: {error}"
            );
            assert!(BaseUrl::parse(foreign, true).is_ok());
        }
    }

    #[test]
    fn what_pup_would_refuse_is_refused_by_name() {
        for (text, word) in [
            ("localhost:8787", "scheme"),
            ("127.0.0.1:8787", "absolute"),
            ("ftp://x.example", "scheme"),
            ("https://user:pass@x.example", "credentials"),
            ("https://user@x.example", "credentials"),
            ("https://x.example?x=1", "query"),
            ("https://x.example#x", "fragment"),
        ] {
            let error = BaseUrl::parse(text, false).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
            assert!(!error.contains("pass@"), "{error}");
        }
    }
}
