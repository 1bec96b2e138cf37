//! `format`: a closed list, every one of which is checked.
//!
//! JSON Schema leaves it open whether a format is an assertion. Here it is one: what an author's types advertise is
//! what arrives. A format that is not in the list is an error when the schema is compiled.

mod net;
mod time;

pub(crate) use self::time::is_date_time;

/// The formats that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    DateTime,
    Date,
    Time,
    Duration,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Uuid,
}

impl Format {
    /// The names of all formats, for a message.
    pub(super) const NAMES: &str =
        "date-time, date, time, duration, email, hostname, ipv4, ipv6, uri, uri-reference, uuid";

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uri-reference" => Self::UriReference,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub(super) fn is_match(self, text: &str) -> bool {
        match self {
            Self::DateTime => is_date_time(text),
            Self::Date => time::is_date(text),
            Self::Time => time::is_time(text),
            Self::Duration => time::is_duration(text),
            Self::Email => net::is_email(text),
            Self::Hostname => net::is_hostname(text),
            Self::Ipv4 => text.parse::<std::net::Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<std::net::Ipv6Addr>().is_ok(),
            Self::Uri => net::is_uri(text, true),
            Self::UriReference => net::is_uri(text, false),
            Self::Uuid => is_uuid(text),
        }
    }

    /// What a value must be, after "must be".
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::DateTime => "a date and time with its offset, as in 2026-07-28T09:30:00Z",
            Self::Date => "a date, as in 2026-07-28",
            Self::Time => "a time with its offset, as in 09:30:00Z",
            Self::Duration => "an ISO 8601 duration, as in PT1H30M",
            Self::Email => "an e-mail address",
            Self::Hostname => "a host name",
            Self::Ipv4 => "an IPv4 address",
            Self::Ipv6 => "an IPv6 address",
            Self::Uri => "a URI with its scheme",
            Self::UriReference => "a URI or a relative reference",
            Self::Uuid => "a UUID in its hyphenated form",
        }
    }
}

/// RFC 4122, section 3: 8-4-4-4-12 hexadecimal digits. Any version and variant.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_the_list_is_known_by_its_name() {
        for name in Format::NAMES.split(", ") {
            assert!(Format::from_name(name).is_some(), "{name}");
        }
        assert_eq!(Format::from_name("uint32"), None);
        assert_eq!(Format::from_name("Email"), None);
    }

    #[test]
    fn a_uuid_is_hyphenated_hexadecimal() {
        assert!(is_uuid("2EB8AA08-aa98-11ea-b4aa-73b441d16380"));
        assert!(is_uuid("00000000-0000-0000-0000-000000000000"));
        for text in [
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08aa98-11ea-b4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
            "{2eb8aa08-aa98-11ea-b4aa-73b441d1638}",
            "2eb8aa08aa9811eab4aa73b441d16380----",
        ] {
            assert!(!is_uuid(text), "{text}");
        }
    }

    #[test]
    fn addresses_are_plain() {
        for text in ["127.0.0.1", "255.255.255.255"] {
            assert!(Format::Ipv4.is_match(text), "{text}");
        }
        for text in [
            "127.0.0",
            "256.0.0.1",
            "01.0.0.1",
            "1.2.3.4 ",
            "0x7f000001",
            "1.2.3.4/8",
        ] {
            assert!(!Format::Ipv4.is_match(text), "{text}");
        }
        for text in ["::", "::1", "1:2::8", "::ffff:1.2.3.4"] {
            assert!(Format::Ipv6.is_match(text), "{text}");
        }
        for text in [
            "",
            ":",
            "1::2::3",
            "12345::",
            "fe80::1%eth0",
            "::1/64",
            "[::1]",
        ] {
            assert!(!Format::Ipv6.is_match(text), "{text}");
        }
    }
}
