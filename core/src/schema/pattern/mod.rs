//! `pattern`: regular expressions that mean the same on both sides.
//!
//! JSON Schema takes its expressions from ECMA-262, and a caller checks an advertised pattern with a JavaScript
//! engine; here they run on `regex-lite`, which has another syntax, other classes and no lookaround. So a pattern
//! is parsed by ECMA-262's grammar (with the `u` flag, as JSON Schema recommends) and written anew for
//! `regex-lite`. What can't be carried over is refused when the schema is compiled, with the reason; it is never
//! given another meaning: lookaround, backreferences, `\p{…}`, inline flags, empty classes.
//!
//! Matching takes time linear in the text; [`Pattern::cost`] says how much a character may cost.

mod class;
mod translate;

use regex_lite::Regex;

/// The most atoms of a pattern once counted repetitions are written out.
const MAX_COST: u32 = 4_096;
/// The deepest nesting of groups.
const MAX_GROUPS: u32 = 10;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    source: Box<str>,
    cost: u32,
}

impl Pattern {
    /// Compiles an ECMA-262 expression.
    pub(super) fn new(source: &str) -> Result<Self, PatternError> {
        let (translated, cost) = translate::translate(source)?;
        let regex = Regex::new(&translated).map_err(|_| PatternError::Engine)?;
        Ok(Self {
            regex,
            source: source.into(),
            cost,
        })
    }

    /// Whether it matches anywhere in `text`: patterns are not anchored.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The pattern as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// How many atoms a single character of the text may have to be compared with, at most [`MAX_COST`].
    pub(super) fn cost(&self) -> u32 {
        self.cost
    }
}

/// Why a pattern can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PatternError {
    #[error("a group is not closed, or was never opened")]
    Unbalanced,
    #[error("a character class is not closed")]
    OpenClass,
    #[error("an empty character class matches nothing or anything: say it otherwise")]
    EmptyClass,
    #[error("a range in a character class goes backwards, or does not end in single characters")]
    Range,
    #[error("a quantifier follows nothing that can be repeated")]
    Quantifier,
    #[error("`{0}` stands for itself only when it is escaped: write `\\{0}`")]
    Unescaped(char),
    #[error("lookaround, backreferences, inline flags and `\\p` classes are not supported")]
    Unsupported,
    #[error("`\\{0}` is no escape of ECMA-262 with the `u` flag")]
    Escape(char),
    #[error("an escape is not complete, or names no character")]
    Incomplete,
    #[error(
        "the pattern is too large: write repetitions with smaller counts, and limit the length with `maxLength`"
    )]
    TooLarge,
    #[error("the pattern nests too deeply")]
    Engine,
}

/// Takes away the escapes that ECMA-262's `u` flag forbids, from punctuation that stands for itself anyway.
///
/// `schemars` writes such escapes for `contains`; a JavaScript engine would refuse the whole pattern.
pub(super) fn without_needless_escapes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('#' | '&' | '~')) => out.push(escaped),
                Some('-') if !in_class => out.push('-'),
                Some(escaped) => out.extend(['\\', escaped]),
                None => out.push('\\'),
            },
            '[' | ']' => {
                in_class = c == '[';
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().is_match(text)
    }

    fn refused(pattern: &str) -> PatternError {
        Pattern::new(pattern).unwrap_err()
    }

    #[test]
    fn a_pattern_is_a_search_unless_it_is_anchored() {
        assert!(matches("b", "abc"));
        assert!(!matches("^b", "abc"));
        assert!(!matches("b$", "abc"));
        assert!(matches("", ""));
    }

    #[test]
    fn the_end_is_the_end_and_not_a_line_feed_before_it() {
        assert!(!matches("^a$", "a\n"));
        assert!(!matches("^a$", "b\na"));
    }

    #[test]
    fn the_dot_excludes_every_line_terminator() {
        for text in ["\n", "\r", "\u{2028}", "\u{2029}"] {
            assert!(!matches("^.$", text), "{text:?}");
        }
        assert!(matches("^.$", "\u{85}"));
        assert!(matches("^.$", "😀"), "a code point, not two halves");
    }

    #[test]
    fn classes_are_those_of_javascript() {
        assert!(matches(r"^\s$", "\u{a0}"));
        assert!(matches(r"^\s$", "\u{feff}"));
        assert!(!matches(r"^\s$", "\u{85}"));
        assert!(!matches(r"^\d$", "٣"), "digits are ASCII");
        assert!(!matches(r"^\w$", "é"), "and so are words");
        assert!(matches(r"^\W$", "é"));
        assert!(matches(r"^[\S]$", "é"));
        assert!(!matches(r"^[\S]$", "\u{2003}"));
        assert!(matches(r"^[^\S]$", "\u{2003}"));
        assert!(matches(r"^[\D\d]$", "\u{10ffff}"));
        assert!(matches(r"^[a\-z]$", "-"));
        assert!(!matches(r"^[a\-z]$", "b"));
        assert!(matches(r"^[\b]$", "\u{8}"));
        assert!(matches(r"^[a-]$", "-"));
        assert!(matches(r"^[&&~~[]$", "["), "no set operations");
    }

    #[test]
    fn escapes_and_quantifiers_mean_what_they_mean_in_javascript() {
        assert!(matches(r"^\/\.\x41\u0042\u{1F600}\cJ\0$", "/.AB😀\n\0"));
        assert!(matches(r"^(?<year>\d{4})-(?:0[1-9]|1[0-2])$", "2026-07"));
        assert!(!matches(r"^\d{2,3}?$", "1"));
        assert!(!matches(r"^\d{2,}$", "1"));
        assert!(matches(r"^(ab)*?c$", "ababc"));
        assert!(matches(r"^a{0}$", ""));
        assert!(matches(r"\bcat\b", "a cat."));
        assert!(!matches(r"\bcat\b", "concat"));
        assert!(matches("^a|b$", "xb"));
    }

    #[test]
    fn what_would_mean_something_else_is_refused() {
        use PatternError::*;
        for pattern in [
            "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"(a)\1", r"\p{L}", "(?i)a", "(?i:a)", r"\k<a>",
        ] {
            assert_eq!(refused(pattern), Unsupported, "{pattern}");
        }
        for pattern in [r"\A", r"\z", r"\a", r"\-", r"\<", r"\é", r"[\B]"] {
            assert!(matches!(refused(pattern), Escape(_)), "{pattern}");
        }
        for pattern in [
            "*", "a**", "a{2}{3}", "^*", r"\b+", "a{,3}", "a{3,2}", "a{x}", "|+", "a{1",
        ] {
            assert_eq!(refused(pattern), Quantifier, "{pattern}");
        }
        for pattern in ["(", "a)", "(a", "(?:a"] {
            assert_eq!(refused(pattern), Unbalanced, "{pattern}");
        }
        assert_eq!(refused("(?P<n>a)"), Unsupported);
        assert_eq!(refused("(?<>a)"), Incomplete);
        assert_eq!(refused("]"), Unescaped(']'));
        assert_eq!(refused("a}"), Unescaped('}'));
        assert_eq!(refused("[]"), EmptyClass);
        assert_eq!(refused("[^]"), EmptyClass);
        assert_eq!(refused("[a"), OpenClass);
        assert_eq!(refused("[a-"), OpenClass);
        assert_eq!(refused("[z-a]"), Range);
        assert_eq!(refused(r"[\d-z]"), Range);
        for pattern in [
            r"\",
            r"\x4",
            r"\u12",
            r"\ud800",
            r"\u{}",
            r"\u{110000}",
            r"\c1",
        ] {
            assert_eq!(refused(pattern), Incomplete, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_would_be_slow_is_refused() {
        assert_eq!(refused(r"^(\w{1,100}){1,100}$"), PatternError::TooLarge);
        assert_eq!(refused("a{99999999999}"), PatternError::TooLarge);
        assert_eq!(refused(&"(".repeat(100)), PatternError::TooLarge);
        assert_eq!(Pattern::new(r"^\w{1,100}$").unwrap().cost(), 100);
        assert_eq!(Pattern::new("^(a|bc)+$").unwrap().cost(), 6);
    }

    #[test]
    fn needless_escapes_go_and_needed_ones_stay() {
        assert_eq!(
            without_needless_escapes(r"a\-b\#\&\~\.\\\-[\-\&]"),
            r"a-b#&~\.\\-[\-&]"
        );
        assert!(matches(&without_needless_escapes(r"a\-b"), "xa-by"));
    }
}
