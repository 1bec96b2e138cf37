//! Ids, tool names and setting keys: one grammar.

use std::{borrow::Borrow, fmt};

use serde::Serialize;

use super::violation::{Report, Rule};

/// The most characters of an extension's id, a tool's name or a setting's key.
pub const MAX_NAME_CHARS: usize = 48;
/// The most characters of `id__tool`, the name by which pup's assistant knows a tool.
pub const MAX_QUALIFIED_NAME_CHARS: usize = 64;

macro_rules! checked_name {
    ($(#[$docs:meta])* $type:ident) => {
        $(#[$docs])*
        ///
        /// A lower-case letter followed by lower-case letters, digits or single underscores; at most
        /// [`MAX_NAME_CHARS`]. One comes only from a checked [`Manifest`](super::Manifest).
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $type(String);

        impl $type {
            /// For the check alone, which gives it out only where the text is valid.
            pub(super) fn unchecked(text: &str) -> Self {
                Self(text.to_owned())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

checked_name! {
    /// The id of an extension.
    ExtensionId
}
checked_name! {
    /// The name of a tool.
    ToolName
}

/// Reports what keeps `text` from being an id, a tool's name or a setting's key.
pub(super) fn check_name(report: &mut Report, path: &str, text: &str) {
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
    if !starts || !bytes.all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        report.add(path, Rule::Name);
    }
    if text.contains("__") {
        report.add(path, Rule::DoubleUnderscore);
    }
    check_length(report, path, text, MAX_NAME_CHARS);
}

/// Reports a text over its limit.
pub(super) fn check_length(report: &mut Report, path: &str, text: &str, limit: usize) {
    let length = length(text);
    if length > limit {
        report.add(path, Rule::TooLong { length, limit });
    }
}

/// The length of a text in UTF-16 code units, as JavaScript counts it.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_lite::Regex;

    use super::*;

    fn broken(text: &str) -> Vec<Rule> {
        let mut report = Report::default();
        check_name(&mut report, "id", text);
        report
            .finish(())
            .err()
            .into_iter()
            .flatten()
            .map(|violation| violation.rule)
            .collect()
    }

    /// The grammar as the protocol's table words it, written independently of the code above.
    fn oracle(text: &str) -> bool {
        Regex::new("^[a-z](?:_?[a-z0-9])*_?$")
            .unwrap()
            .is_match(text)
            && text.chars().count() <= 48
    }

    #[test]
    fn each_part_of_the_grammar_is_named() {
        assert_eq!(broken("a"), []);
        assert_eq!(broken("a_1_"), []);
        for wrong in [
            "", "_a", "1a", "A", "aB", "a-b", "a b", "a.b", "é", "a\n", "a\0",
        ] {
            assert_eq!(broken(wrong), [Rule::Name], "{wrong:?}");
        }
        assert_eq!(broken("a__b"), [Rule::DoubleUnderscore]);
        assert_eq!(broken("a__"), [Rule::DoubleUnderscore]);
        assert_eq!(broken("__"), [Rule::Name, Rule::DoubleUnderscore]);
    }

    #[test]
    fn forty_eight_characters_fit_and_one_more_does_not() {
        assert_eq!(broken(&"a".repeat(48)), []);
        assert_eq!(
            broken(&"a".repeat(49)),
            [Rule::TooLong {
                length: 49,
                limit: 48
            }]
        );
    }

    #[test]
    fn a_length_is_counted_as_javascript_counts_it() {
        assert_eq!([length("é"), length("日本"), length("🍿")], [1, 2, 2]);
    }

    proptest! {
        #[test]
        fn every_name_of_the_grammar_is_taken(name in "[a-z](_?[a-z0-9]){0,23}_?") {
            prop_assert!(oracle(&name));
            prop_assert_eq!(broken(&name), []);
        }

        #[test]
        fn a_name_with_one_character_changed_is_judged_as_the_grammar_says(
            name in "[a-z](_?[a-z0-9]){0,24}",
            at in any::<prop::sample::Index>(),
            put in prop_oneof![any::<char>(), prop::char::range('\0', '\x7f'), Just('_')],
            insert in any::<bool>(),
        ) {
            let mut chars: Vec<char> = name.chars().collect();
            let at = at.index(chars.len());
            if insert { chars.insert(at, put) } else { chars[at] = put }
            let changed: String = chars.into_iter().collect();
            prop_assert_eq!(broken(&changed).is_empty(), oracle(&changed), "{:?}", changed);
        }

        #[test]
        fn a_name_with_a_character_outside_the_grammar_is_refused(
            name in "[a-z][a-z0-9]{0,40}",
            at in any::<prop::sample::Index>(),
            put in "[^a-z0-9_]",
        ) {
            let mut changed = name;
            changed.insert_str(at.index(changed.len() + 1), &put);
            prop_assert_eq!(broken(&changed), [Rule::Name]);
        }

        #[test]
        fn any_text_is_judged_as_the_grammar_says(text in "\\PC{0,60}|[a-z_]{0,60}") {
            prop_assert_eq!(broken(&text).is_empty(), oracle(&text));
        }
    }
}
