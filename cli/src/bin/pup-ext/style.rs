//! Colours, and texts that are safe to show. (Where the output is no terminal, the colours are left out on
//! the way there.)

use std::fmt;

use clap::builder::styling::{AnsiColor, Style};

pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const NOTE: Style = Style::new().dimmed();

/// A text in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> impl fmt::Display {
    Styled(style, text)
}

struct Styled<T>(Style, T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.0.render(), self.1, self.0.render_reset())
    }
}

/// A text from outside, without what could steer a terminal: control characters other than line ends and tabs,
/// and marks that turn the writing direction, are shown as `\u{…}`.
pub(crate) fn safe(text: &str) -> String {
    let steers = |char: char| {
        (char.is_control() && char != '\n' && char != '\t')
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for char in text.replace("\r\n", "\n").chars() {
        if steers(char) {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_steers_the_terminal() {
        assert_eq!(safe("a\tb\nc ü"), "a\tb\nc ü");
        assert_eq!(safe("a\r\nb"), "a\nb");
        assert_eq!(
            safe("\u{1b}[31m\u{7}\u{9b}\u{202e}"),
            r"\u{1b}[31m\u{7}\u{9b}\u{202e}"
        );
    }
}
