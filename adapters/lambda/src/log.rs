//! The function's log: JSON, a line an event, as `CloudWatch` reads it.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// Lambda's own variable, set with the function's logging configuration.
const LEVEL: &str = "AWS_LAMBDA_LOG_LEVEL";
/// What these say below `INFO` holds what people sent, and credentials: the AWS clients trace whole requests.
const TALKATIVE: [&str; 5] = ["aws_", "hyper", "lambda_runtime", "rustls", "tower"];

/// Sets up the log, unless the program has one already.
///
/// A panic is logged with its place alone: its message may quote what people sent.
pub(crate) fn init() {
    let level = std::env::var(LEVEL).unwrap_or_default();
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false);
    let set = tracing_subscriber::registry()
        .with(filter(level_of(&level)))
        .with(lines)
        .try_init();
    // Whoever logs by themselves also decides about panics.
    if set.is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic
                .location()
                .map(ToString::to_string)
                .unwrap_or_default();
            tracing::error!(place, "panicked");
        }));
    }
}

fn filter(level: LevelFilter) -> Targets {
    let capped = level.min(LevelFilter::INFO);
    Targets::new()
        .with_default(level)
        .with_targets(TALKATIVE.map(|target| (target, capped)))
}

/// Lambda's levels, of which one has no counterpart here.
fn level_of(level: &str) -> LevelFilter {
    match level.trim().to_ascii_lowercase().as_str() {
        "fatal" => LevelFilter::ERROR,
        "" => LevelFilter::INFO,
        level => level.parse().unwrap_or(LevelFilter::INFO),
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
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

    #[test]
    fn lambdas_levels_are_understood_and_info_is_the_rule() {
        for (level, expected) in [
            ("TRACE", LevelFilter::TRACE),
            ("DEBUG", LevelFilter::DEBUG),
            ("INFO", LevelFilter::INFO),
            ("WARN", LevelFilter::WARN),
            ("ERROR", LevelFilter::ERROR),
            ("FATAL", LevelFilter::ERROR),
            ("debug", LevelFilter::DEBUG),
            ("", LevelFilter::INFO),
            ("loud", LevelFilter::INFO),
        ] {
            assert_eq!(level_of(level), expected, "{level}");
        }
    }

    #[test]
    fn clients_that_would_log_whole_requests_say_no_more_than_info() {
        use tracing::Level;

        let trace = filter(LevelFilter::TRACE);
        assert!(trace.would_enable("snack_club", &Level::TRACE));
        for target in [
            "aws_sigv4::http_request::sign",
            "aws_smithy_runtime",
            "hyper_util",
        ] {
            assert!(trace.would_enable(target, &Level::INFO), "{target}");
            assert!(!trace.would_enable(target, &Level::DEBUG), "{target}");
            assert!(!filter(LevelFilter::ERROR).would_enable(target, &Level::INFO));
        }
    }
}
