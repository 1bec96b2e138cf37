//! Texts that have a format, and some that have almost.

use serde_json::{Value, json};

use super::super::{differences, random::Random};

/// A format's name, texts that have it, and characters that may spoil them.
pub(crate) type Format = (&'static str, &'static [&'static str], &'static str);

pub(crate) const FORMATS: [Format; 11] = [
    (
        "date",
        &[
            "2026-07-28",
            "2024-02-29",
            "1999-12-31",
            "2000-01-01",
            "2023-04-30",
        ],
        "0123459-T",
    ),
    (
        "time",
        &[
            "09:30:00Z",
            "23:59:60Z",
            "00:00:00.5+02:00",
            "15:59:60-08:00",
            "12:00:00z",
            "01:29:60+01:30",
        ],
        "0123569:.Zz+- ",
    ),
    (
        "date-time",
        &[
            "2026-07-28T09:30:00Z",
            "2016-12-31T23:59:60Z",
            "2026-02-28t00:00:00.123+23:59",
            "1985-04-12T23:20:50.52-04:00",
        ],
        "01234569:.TtZz+- ",
    ),
    (
        "duration",
        &[
            "P1Y2M3DT4H5M6S",
            "P2W",
            "PT36H",
            "P3D",
            "PT0S",
            "P1M",
            "P1Y2M",
            "PT1H2M",
        ],
        "0123PTYMDHSW.",
    ),
    (
        "email",
        &[
            "joe@example.com",
            "a.b+c@x.org",
            "\"a b\"@example.com",
            "joe@[127.0.0.1]",
            "joe@[IPv6:::1]",
            "a@b",
        ],
        "ab.@\"\\[]1: +-é",
    ),
    (
        "hostname",
        &["example.com", "localhost", "a-b.c", "1a.2b", "a.b.c.d"],
        "ab1.-_é",
    ),
    (
        "ipv4",
        &["127.0.0.1", "255.255.255.255", "10.0.0.8", "1.2.3.4"],
        "0125.a",
    ),
    (
        "ipv6",
        &[
            "::1",
            "2001:db8::8:800:200c:417a",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:7:8",
            "fe80::",
        ],
        "0128af:.%",
    ),
    (
        "uri",
        &[
            "https://example.com/a?b=c#d",
            "mailto:a@b.c",
            "urn:a:b",
            "http://[::1]:80/",
            "file:///x",
            "a://b@c:1/%20",
        ],
        "ab1:/?#[]@%. é\\\"",
    ),
    (
        "uri-reference",
        &[
            "/a/b?c#d", "a/b", "//h:1/x", "#f", "?q", "a:b", "../%2F", "x@y",
        ],
        "ab1:/?#[]@%. é\\\"",
    ),
    (
        "uuid",
        &[
            "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "00000000-0000-0000-0000-000000000000",
        ],
        "0aF-g{",
    ),
];

/// A text of the format, changed in up to three places.
pub(crate) fn format_text(random: &mut Random, (name, texts, alphabet): Format) -> Value {
    loop {
        let mut text: Vec<char> = random.pick(texts).chars().collect();
        let alphabet: Vec<char> = alphabet.chars().collect();
        for _ in 0..random.below(4) {
            let at = random.below(text.len());
            match random.below(3) {
                0 if !text.is_empty() => {
                    text.remove(at);
                }
                1 if !text.is_empty() => text[at] = random.choose(&alphabet),
                _ => text.insert(at, random.choose(&alphabet)),
            }
        }
        let text: String = text.into_iter().collect();
        if !differences::of_format(name, &text) {
            return json!(text);
        }
    }
}
