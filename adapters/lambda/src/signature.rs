//! Signatures that were split on their way.

use http::{HeaderMap, HeaderValue};

const SIGNATURE: &str = "webhook-signature";

/// Puts a signature header together again. An entry is `version,signature`, and entries are separated by spaces; but
/// a comma separates the values of a header, too, so proxies split it there, and others join what came in several
/// headers with commas. Neither part of an entry holds a comma or a space, so they are told apart by their order.
pub(crate) fn rejoin(headers: &mut HeaderMap) {
    let parts: Vec<&str> = headers
        .get_all(SIGNATURE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split([',', ' ', '\t']))
        .filter(|part| !part.is_empty())
        .collect();
    let (entries, rest) = parts.as_chunks::<2>();
    if entries.is_empty() || !rest.is_empty() {
        // Not as these come: left to be refused.
        return;
    }
    let entries: Vec<String> = entries.iter().map(|entry| entry.join(",")).collect();
    if let Ok(joined) = HeaderValue::from_str(&entries.join(" ")) {
        headers.insert(SIGNATURE, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejoined(values: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(SIGNATURE, value.parse().unwrap());
        }
        rejoin(&mut headers);
        let values = headers.get_all(SIGNATURE).iter();
        values
            .map(|value| value.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_signature_is_whole_however_it_was_cut_or_joined() {
        for values in [
            &["v1,AAA= v1a,BBB="][..],
            &["v1", "AAA= v1a", "BBB="],
            &["v1,AAA=", "v1a,BBB="],
            &["v1,AAA=,v1a,BBB="],
            &["v1,AAA=, v1a,BBB="],
            &["v1", "AAA=", "v1a", "BBB="],
            &["v1, AAA= v1a, BBB="],
        ] {
            assert_eq!(rejoined(values), ["v1,AAA= v1a,BBB="], "{values:?}");
        }
    }

    #[test]
    fn what_is_no_signature_is_left_as_it_is() {
        for values in [&["v1"][..], &["v1,AAA=", "v1"], &[""], &[]] {
            assert_eq!(rejoined(values), values);
        }
    }
}
