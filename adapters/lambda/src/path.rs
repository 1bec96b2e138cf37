//! Paths and URLs as API Gateway and Function URLs make them.

/// The stage of a Function URL, and of an HTTP API that has only one: it stands in no path.
const DEFAULT_STAGE: &str = "$default";

/// The path without the API's stage, which some kinds of event put before it, some of them twice.
pub(crate) fn without_stage<'a>(path: &'a str, stage: Option<&str>) -> &'a str {
    let Some(stage) = stage.filter(|stage| !stage.is_empty() && *stage != DEFAULT_STAGE) else {
        return path;
    };
    let mut path = path;
    for _ in 0..2 {
        let rest = path
            .strip_prefix('/')
            .and_then(|rest| rest.strip_prefix(stage))
            // An endpoint may have the stage's name.
            .filter(|rest| rest.starts_with('/'));
        match rest {
            Some(rest) => path = rest,
            None => break,
        }
    }
    path
}

/// The URL under which AWS reaches a function, by the domain that it says itself: not one that the sender could choose.
/// `None` for a domain of somebody's own, whose paths are mapped in ways that no event tells.
pub(crate) fn public_url(domain: &str, stage: Option<&str>) -> Option<String> {
    if domain.contains(".lambda-url.") {
        return Some(format!("https://{domain}"));
    }
    if !domain.contains(".execute-api.") {
        return None;
    }
    match stage {
        None | Some("" | DEFAULT_STAGE) => Some(format!("https://{domain}")),
        Some(stage) => Some(format!("https://{domain}/{stage}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_taken_off_once_or_twice_and_nothing_else() {
        for (path, stage, expected) in [
            ("/mcp", Some("$default"), "/mcp"),
            ("/mcp", None, "/mcp"),
            ("/prod/mcp", Some("prod"), "/mcp"),
            ("/prod/prod/mcp", Some("prod"), "/mcp"),
            ("/mcp", Some("prod"), "/mcp"),
            ("/mcp", Some("mcp"), "/mcp"),
            ("/mcp/mcp", Some("mcp"), "/mcp"),
            ("/production/mcp", Some("prod"), "/production/mcp"),
            ("/other/mcp", Some("prod"), "/other/mcp"),
            ("prod/mcp", Some("prod"), "prod/mcp"),
            ("/mcp", Some(""), "/mcp"),
        ] {
            assert_eq!(without_stage(path, stage), expected, "{path} {stage:?}");
        }
    }

    #[test]
    fn the_public_url_is_known_of_the_domains_that_aws_gives() {
        let url = |domain, stage| public_url(domain, stage);
        assert_eq!(
            url("abc.lambda-url.eu-central-1.on.aws", Some("$default")).as_deref(),
            Some("https://abc.lambda-url.eu-central-1.on.aws")
        );
        assert_eq!(
            url("abc.execute-api.eu-central-1.amazonaws.com", Some("prod")).as_deref(),
            Some("https://abc.execute-api.eu-central-1.amazonaws.com/prod")
        );
        assert_eq!(
            url(
                "abc.execute-api.eu-central-1.amazonaws.com",
                Some("$default")
            )
            .as_deref(),
            Some("https://abc.execute-api.eu-central-1.amazonaws.com")
        );
        assert_eq!(url("snacks.example.com", Some("$default")), None);
    }
}
