//! An error and what led to it.

use std::error::Error;

/// An error's text and those of its causes, on one line. A cause that was just said is not said again, as some
/// libraries' errors show their source in their own text too.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        extension::{Extension, Tool, ToolError},
        form::ReadError,
        schema::Schema,
        service::{Config, PUBLIC_URL, SIGNING_SECRET, Service},
        state::StateError,
        store::{MemoryStore, Name},
        testing::SimRuntime,
    };

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Said {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    fn said(texts: &[&'static str]) -> Option<Box<Said>> {
        let (text, rest) = texts.split_first()?;
        let source = said(rest);
        Some(Box::new(Said { text, source }))
    }

    #[test]
    fn causes_follow_in_their_order_and_are_said_once() {
        for (texts, line) in [
            (&["one"][..], "one"),
            (&["one", "two", "three"], "one: two: three"),
            (&["one: two", "two", "three"], "one: two: three"),
        ] {
            assert_eq!(with_causes(&*said(texts).unwrap()), line);
        }
    }

    /// No error of ours shows its source in its own text: whoever prints both would say it twice.
    #[test]
    fn an_error_says_what_its_source_says_or_names_it_as_its_source() {
        let secret = Config::from_vars(|_| Some("whsec_short".into())).unwrap_err();
        let extension = Extension::builder("a", "A")
            .author("a")
            .description("a")
            .summary("a")
            .tool(Tool::new("a", async || Ok::<_, ToolError>(())))
            .build()
            .unwrap();
        let public = Config::from_vars(|name| match name {
            SIGNING_SECRET => Some(format!("whsec_{}", "A".repeat(32))),
            PUBLIC_URL => Some("http://example.com".into()),
            _ => None,
        });
        let endpoints = Service::new(
            extension,
            public.unwrap(),
            MemoryStore::default(),
            SimRuntime::new(),
        )
        .unwrap_err();
        let key = StateError::from(Name::of_plain(["x".repeat(600).as_str()]).unwrap_err());
        let schema = Schema::compile(&serde_json::json!({ "type": "string" })).unwrap();
        let answer = ReadError::from(schema.validate(&serde_json::json!(7)).unwrap_err());
        let errors: [&dyn Error; 4] = [&secret, &endpoints, &key, &answer];
        for error in errors {
            if let Some(source) = error.source() {
                let (text, cause) = (error.to_string(), source.to_string());
                assert!(!text.contains(&cause), "{text:?} and {cause:?}");
            }
        }
    }
}
