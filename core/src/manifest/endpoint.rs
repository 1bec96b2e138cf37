//! Where pup sends requests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{Uri, uri::Authority};
use serde::{Deserialize, Serialize};

use super::{
    command::present,
    violation::{Report, Rule},
};

/// The URLs of an extension's endpoints, as plain data.
///
/// By the protocol each is https, without credentials, and on the public internet (pup connects to public
/// addresses alone). See [`EndpointRule`] for the one exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Endpoints {
    /// Where pup proves that the extension is what it claims to be.
    pub challenge: String,
    /// Where pup sends MCP requests.
    pub mcp: String,
    /// Where pup sends events. There if, and only if, the manifest declares events.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub events: Option<String>,
}

impl Endpoints {
    /// The endpoints that a service under `base` has: `/challenge`, `/mcp` and, with `events`, `/events`.
    ///
    /// ```
    /// use pup_extension::manifest::Endpoints;
    ///
    /// let endpoints = Endpoints::under("https://snacks.example.com/pup/", true)?;
    /// assert_eq!(endpoints.mcp, "https://snacks.example.com/pup/mcp");
    /// assert_eq!(endpoints.events.as_deref(), Some("https://snacks.example.com/pup/events"));
    /// # Ok::<(), pup_extension::manifest::Rule>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rule::Query`] or [`Rule::Fragment`] when `base` has one, since no path can follow it. Whatever else may
    /// be wrong with it is found by the manifest's check.
    pub fn under(base: &str, events: bool) -> Result<Self, Rule> {
        if base.contains('#') {
            return Err(Rule::Fragment);
        }
        if base.contains('?') {
            return Err(Rule::Query);
        }
        let base = base.strip_suffix('/').unwrap_or(base);
        Ok(Self {
            challenge: format!("{base}/challenge"),
            mcp: format!("{base}/mcp"),
            events: events.then(|| format!("{base}/events")),
        })
    }

    pub(super) fn check(&self, report: &mut Report, rule: EndpointRule) {
        check_url(report, "endpoints.challenge", &self.challenge, rule);
        check_url(report, "endpoints.mcp", &self.mcp, rule);
        if let Some(events) = &self.events {
            check_url(report, "endpoints.events", events, rule);
        }
    }
}

/// Which endpoints a manifest may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndpointRule {
    /// https on public hosts: what pup requires.
    #[default]
    PublicHttps,
    /// Also http or https on a loopback host. For the local server alone; pup refuses such a manifest.
    OrLoopback,
}

fn check_url(report: &mut Report, path: &str, text: &str, rule: EndpointRule) {
    let url = text.split('#').next().unwrap_or_default();
    if url != text {
        report.add(path, Rule::Fragment);
    }
    let parsed = url
        .bytes()
        .all(is_url_byte)
        .then(|| url.parse::<Uri>().ok())
        .flatten();
    let parts = parsed
        .as_ref()
        .and_then(|uri| uri.scheme_str().zip(uri.authority()));
    let Some((scheme, authority)) = parts else {
        return report.add(path, Rule::Url);
    };
    if authority.as_str().contains('@') {
        report.add(path, Rule::Credentials);
    }
    let host = valid_host(authority);
    let loopback = rule == EndpointRule::OrLoopback && host.as_ref().is_some_and(Host::is_loopback);
    if scheme != "https" && !(scheme == "http" && loopback) {
        report.add(path, Rule::Https);
    }
    match host {
        None => report.add(path, Rule::Url),
        Some(host) if !loopback && !host.is_public() => report.add(path, Rule::NotPublic),
        Some(_) => {}
    }
}

/// What RFC 3986 allows in a URL. The parser is more lenient, and other parsers read the rest differently.
fn is_url_byte(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        )
}

/// A host, as far as its spelling tells what it is. What a name resolves to is not known here.
enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

fn valid_host(authority: &Authority) -> Option<Host<'_>> {
    let host = authority.host();
    let after_user = authority.as_str().rsplit('@').next().unwrap_or_default();
    let port = after_user.strip_prefix(host)?;
    let valid_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| {
            port.bytes().all(|b| b.is_ascii_digit())
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
    if !valid_port {
        return None;
    }
    if let Some(bracketed) = host.strip_prefix('[') {
        let address = bracketed.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?;
        return Some(Host::Address(
            address.to_ipv4_mapped().map_or(address.into(), IpAddr::V4),
        ));
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return Some(Host::Address(address.into()));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let valid_name = name.split('.').all(|label| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    });
    (valid_name && !ends_in_number(name)).then_some(Host::Name(name))
}

/// Whether a browser's parser would take the name for an IPv4 address in an odd spelling, such as `0x7f.1`.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    last.bytes().all(|b| b.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

impl Host<'_> {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => {
                let last = name.rsplit('.').next().unwrap_or_default();
                last.eq_ignore_ascii_case("localhost")
            }
            Self::Address(address) => address.is_loopback(),
        }
    }

    /// Finds the plain mistakes: a local name, an address of a private range. pup itself checks the rest.
    fn is_public(&self) -> bool {
        match self {
            Self::Name(_) => !self.is_loopback(),
            Self::Address(IpAddr::V4(address)) => {
                let [a, b, ..] = address.octets();
                let shared = a == 100 && (64..128).contains(&b);
                !(a == 0
                    || shared
                    || a >= 224
                    || address.is_loopback()
                    || address.is_private()
                    || address.is_link_local())
            }
            Self::Address(IpAddr::V6(address)) => {
                !(address.is_unspecified()
                    || address.is_loopback()
                    || address.is_multicast()
                    || address.is_unique_local()
                    || address.is_unicast_link_local())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(url: &str, rule: EndpointRule) -> Vec<Rule> {
        let mut report = Report::default();
        check_url(&mut report, "endpoints.mcp", url, rule);
        report
            .finish(())
            .err()
            .into_iter()
            .flatten()
            .map(|violation| violation.rule)
            .collect()
    }

    #[test]
    fn https_on_a_public_host_is_taken() {
        for url in [
            "https://snacks.example.com/mcp",
            "https://snacks.example.com",
            "HTTPS://Snacks.Example.com:8443/a/b%20c?x=1",
            "https://xn--bcher-kva.example./mcp",
            "https://93.184.215.14/mcp",
            "https://100.63.0.1/mcp",
            "https://172.32.0.1/mcp",
            "https://[2606:2800:21f::1]:65535/mcp",
            "https://localhost.example.com/",
            "https://a.example/@x:y",
        ] {
            assert_eq!(broken(url, EndpointRule::PublicHttps), [], "{url}");
            assert_eq!(broken(url, EndpointRule::OrLoopback), [], "{url}");
        }
    }

    #[test]
    fn what_is_no_url_with_a_host_and_port_is_refused() {
        for url in [
            "",
            "/mcp",
            "snacks.example.com/mcp",
            "snacks.example.com:443",
            "https:",
            "https://",
            "https:///mcp",
            "https://:443/mcp",
            "https://a.example:/mcp",
            "https://a.example:0/mcp",
            "https://a.example:65536/mcp",
            "https://a.example:+80/mcp",
            "https://a..example/mcp",
            "https://a.example../mcp",
            "https://a%2eexample/mcp",
            "https://bücher.example/mcp",
            "https://a.example/ü",
            "https://a.example/a b",
            "https://a.example/a\n",
            " https://a.example/",
            "https://a.example\\mcp",
            "https://a.example/\\mcp",
            "https://2130706433/mcp",
            "https://127.1/mcp",
            "https://a.example.0x7F/mcp",
            "https://0X/mcp",
            "https://[::1/mcp",
            "https://[nope]/mcp",
            "https://[fe80::1%25eth0]/mcp",
        ] {
            assert_eq!(broken(url, EndpointRule::PublicHttps), [Rule::Url], "{url}");
        }
        assert_eq!(
            broken(
                &format!("https://a.example/{}", "a".repeat(70_000)),
                EndpointRule::OrLoopback
            ),
            [Rule::Url]
        );
    }

    #[test]
    fn scheme_credentials_and_fragment_are_each_named() {
        let rule = EndpointRule::PublicHttps;
        assert_eq!(broken("http://a.example/mcp", rule), [Rule::Https]);
        assert_eq!(broken("ftp://a.example/mcp", rule), [Rule::Https]);
        assert_eq!(
            broken("https://user@a.example/mcp", rule),
            [Rule::Credentials]
        );
        assert_eq!(
            broken("https://user:pw@a.example:443/mcp", rule),
            [Rule::Credentials]
        );
        assert_eq!(broken("https://@a.example/mcp", rule), [Rule::Credentials]);
        assert_eq!(broken("https://a.example/mcp#", rule), [Rule::Fragment]);
        assert_eq!(broken("https://a.example/mcp#part", rule), [Rule::Fragment]);
        assert_eq!(
            broken("http://user@10.0.0.1/#x", rule),
            [
                Rule::Fragment,
                Rule::Credentials,
                Rule::Https,
                Rule::NotPublic
            ]
        );
    }

    #[test]
    fn local_and_private_hosts_are_refused() {
        for host in [
            "localhost",
            "LOCALHOST.",
            "app.localhost",
            "127.0.0.1",
            "127.255.0.9",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            let url = format!("https://{host}:8787/mcp");
            assert_eq!(
                broken(&url, EndpointRule::PublicHttps),
                [Rule::NotPublic],
                "{url}"
            );
            assert_eq!(broken(&url, EndpointRule::OrLoopback), [], "{url}");
            let url = format!("http://{host}:8787/mcp");
            assert_eq!(
                broken(&url, EndpointRule::PublicHttps),
                [Rule::Https, Rule::NotPublic]
            );
            assert_eq!(broken(&url, EndpointRule::OrLoopback), [], "{url}");
        }
        for host in [
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::]",
            "[fd00::1]",
            "[fe80::1]",
            "[ff02::1]",
            "[::ffff:10.0.0.1]",
        ] {
            let url = format!("https://{host}/mcp");
            assert_eq!(
                broken(&url, EndpointRule::PublicHttps),
                [Rule::NotPublic],
                "{url}"
            );
            assert_eq!(
                broken(&url, EndpointRule::OrLoopback),
                [Rule::NotPublic],
                "{url}"
            );
        }
    }

    #[test]
    fn loopback_alone_may_be_http() {
        let rule = EndpointRule::OrLoopback;
        assert_eq!(broken("http://a.example/mcp", rule), [Rule::Https]);
        assert_eq!(
            broken("http://localhost.example.com/mcp", rule),
            [Rule::Https]
        );
        assert_eq!(
            broken("http://192.168.1.1/mcp", rule),
            [Rule::Https, Rule::NotPublic]
        );
        assert_eq!(broken("ws://127.0.0.1/mcp", rule), [Rule::Https]);
        assert_eq!(
            broken("http://me@127.0.0.1/mcp#x", rule),
            [Rule::Fragment, Rule::Credentials]
        );
    }

    #[test]
    fn endpoints_stand_under_a_base_without_query_and_fragment() {
        let endpoints = Endpoints::under("http://127.0.0.1:8787", false).unwrap();
        assert_eq!(endpoints.challenge, "http://127.0.0.1:8787/challenge");
        assert_eq!(endpoints.events, None);
        assert_eq!(
            Endpoints::under("https://a.example?x", false),
            Err(Rule::Query)
        );
        assert_eq!(
            Endpoints::under("https://a.example#?", false),
            Err(Rule::Fragment)
        );
    }
}
