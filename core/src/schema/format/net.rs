//! Host names, e-mail addresses and URIs.

use std::net::{Ipv4Addr, Ipv6Addr};

/// RFC 1123, section 2.1: labels of up to 63 letters, digits and inner hyphens, 253 characters in all.
///
/// An internationalised label is checked no further than its `xn--`; any other label with hyphens in the third and
/// fourth place is reserved (RFC 5891, section 4.2.3.1).
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    let reserved = matches!(bytes, [_, _, b'-', b'-', ..]);
    let international = matches!(bytes, [b'x' | b'X', b'n' | b'N', b'-', b'-', _, ..]);
    (1..=63).contains(&bytes.len())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && !matches!(bytes, [b'-', ..] | [.., b'-'])
        && (!reserved || international)
}

/// RFC 5321's `Mailbox`, section 4.1.2: a dotted atom or a quoted string, and a host name or a literal address.
pub(super) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let domain_fits = match domain
        .strip_prefix('[')
        .and_then(|literal| literal.strip_suffix(']'))
    {
        None => is_hostname(domain),
        Some(literal) => match literal.split_at_checked(5) {
            Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => {
                address.parse::<Ipv6Addr>().is_ok()
            }
            _ => literal.parse::<Ipv4Addr>().is_ok(),
        },
    };
    // Section 4.5.3.1.1 limits the local part to 64 octets.
    domain_fits && local.len() <= 64 && (is_quoted(local) || local.split('.').all(is_atom))
}

fn is_atom(text: &str) -> bool {
    let is_atext =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_atext)
}

fn is_quoted(text: &str) -> bool {
    let [b'"', inner @ .., b'"'] = text.as_bytes() else {
        return false;
    };
    let mut bytes = inner.iter();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'\\' => matches!(bytes.next(), Some(b' '..=b'~')),
            b'"' => false,
            _ => (b' '..=b'~').contains(byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// RFC 3986's `URI`, or its `URI-reference`.
pub(super) fn is_uri(text: &str, absolute: bool) -> bool {
    let (text, fragment) = text
        .split_once('#')
        .map_or((text, ""), |(before, after)| (before, after));
    let (text, query) = text
        .split_once('?')
        .map_or((text, ""), |(before, after)| (before, after));
    if !is_made_of(fragment, b"!$&'()*+,;=:@/?") || !is_made_of(query, b"!$&'()*+,;=:@/?") {
        return false;
    }
    let (hierarchy, has_scheme) = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (rest, true),
        // A colon in the first segment of a relative path would read as the end of a scheme.
        Some((before, _)) if !before.contains('/') => return false,
        _ => (text, false),
    };
    if absolute && !has_scheme {
        return false;
    }
    let (authority_fits, path) = match hierarchy.strip_prefix("//") {
        None => (true, hierarchy),
        Some(rest) => {
            let (authority, path) = rest
                .split_at_checked(rest.find('/').unwrap_or(rest.len()))
                .unwrap_or((rest, ""));
            (is_authority(authority), path)
        }
    };
    authority_fits && is_made_of(path, b"!$&'()*+,;=:@/")
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_authority(text: &str) -> bool {
    let (user, host_and_port) = text.rsplit_once('@').unwrap_or(("", text));
    if !is_made_of(user, b"!$&'()*+,;=:") {
        return false;
    }
    let (host_fits, port) = match host_and_port.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, port)) => (is_ip_literal(address), port),
            None => return false,
        },
        None => {
            let (host, port) = host_and_port
                .split_at_checked(host_and_port.find(':').unwrap_or(host_and_port.len()))
                .unwrap_or_default();
            (is_made_of(host, b"!$&'()*+,;="), port)
        }
    };
    let port_fits = match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => port.is_empty(),
    };
    host_fits && port_fits
}

fn is_ip_literal(text: &str) -> bool {
    match text.strip_prefix(['v', 'V']) {
        Some(future) => future.split_once('.').is_some_and(|(version, address)| {
            let is_address =
                |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(&byte);
            !version.is_empty()
                && version.bytes().all(|byte| byte.is_ascii_hexdigit())
                && !address.is_empty()
                && address.bytes().all(is_address)
        }),
        None => text.parse::<Ipv6Addr>().is_ok(),
    }
}

/// Whether it is made of unreserved characters, these others, and percent-encoded bytes.
fn is_made_of(text: &str, others: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                bytes.next().is_some_and(|high| high.is_ascii_hexdigit())
                    && bytes.next().is_some_and(|low| low.is_ascii_hexdigit())
            }
            b'-' | b'.' | b'_' | b'~' => true,
            _ => byte.is_ascii_alphanumeric() || others.contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_is_made_of_labels() {
        for text in [
            "localhost",
            "snacks.example.com",
            "a-b.c1",
            "1a",
            "xn--4gbwdl.xn--wgbh1c",
            &"a".repeat(63),
        ] {
            assert!(is_hostname(text), "{text}");
        }
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "-a",
            "a-",
            "a_b",
            "a b",
            "é",
            "xn--",
            "ab--c",
            &"a".repeat(64),
            &["a".repeat(63).as_str(); 4].join("."),
        ] {
            assert!(!is_hostname(text), "{text}");
        }
    }

    #[test]
    fn an_email_address_is_a_mailbox() {
        for text in [
            "joe@example.com",
            "te~st+tag@example",
            r#""joe \"b\" @ home"@example.com"#,
            r#"""@example.com"#,
            "joe@[127.0.0.1]",
            "joe@[ipv6:::1]",
        ] {
            assert!(is_email(text), "{text}");
        }
        for text in [
            "",
            "@",
            "joe",
            "joe@",
            "@example.com",
            ".joe@example.com",
            "joe.@example.com",
            "a..b@example.com",
            "joe b@example.com",
            "jöe@example.com",
            "joe@exämple.com",
            "Joe <joe@example.com>",
            "joe@[127.0.0.300]",
            "joe@[::1]",
            "joe@example.com ",
            "\"joe@example.com",
            "\"jo\"e\"@example.com",
            "a@b@c.com",
            "joe@[é]",
            "joe@-a.com",
            &format!("{}@example.com", "a".repeat(65)),
            "\"\\\"@example.com",
            "\"\n\"@example.com",
        ] {
            assert!(!is_email(text), "{text}");
        }
    }

    #[test]
    fn a_uri_has_a_scheme_and_a_reference_need_not() {
        for text in [
            "https://example.com",
            "https://joe:secret@example.com:8080/a/b;c?d=%20#e?/",
            "mailto:joe@example.com",
            "urn:isbn:0451450523",
            "http://[::1]:80/",
            "http://[v1.a:b]/",
            "http://",
            "x:",
            "file:///etc",
            "http://example.com:",
            "tel:+1-816-555-1212",
            "a:b@c:d//e",
        ] {
            assert!(is_uri(text, true), "{text}");
            assert!(is_uri(text, false), "{text}");
        }
        for text in [
            "",
            "/a",
            "//example.com/a",
            "a/b:c",
            "?q",
            "#f",
            "../a",
            "%20",
        ] {
            assert!(!is_uri(text, true), "{text}");
            assert!(is_uri(text, false), "{text}");
        }
        for text in [
            "1a:b",
            ":a",
            "http://example.com/a b",
            "http://exa mple",
            "http://é",
            "http://[::1",
            "http://::1]/",
            "http://[::1]a",
            "http://a:b/",
            "http://a:1:2/",
            "http://a@b@c",
            "x:%2",
            "x:%zz",
            "x:#a#b",
            "x:[",
            "x:a\\b",
            "http://[v.a]/",
            "http://[v1.]/",
            "http://[fe80::1%25eth0]/",
            "x:\"",
            "x:^",
        ] {
            assert!(!is_uri(text, true), "{text}");
            assert!(!is_uri(text, false), "{text}");
        }
    }
}
