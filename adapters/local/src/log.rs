//! The process's log: one line a request on standard error, JSON where that is no terminal.

use std::io::IsTerminal as _;

use tracing_subscriber::{EnvFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Sets up the log, unless the program has one already. `RUST_LOG` filters it; `info` by default.
///
/// A panic is logged with its place alone: its message may quote what people sent.
pub(crate) fn init() {
    let filter = EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .from_env_lossy();
    let registry = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false);
    let set = if std::io::stderr().is_terminal() {
        registry.with(lines.compact()).try_init()
    } else {
        registry.with(lines.json().flatten_event(true)).try_init()
    };
    // Whoever embeds the server and logs by themselves also decides about panics.
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

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
