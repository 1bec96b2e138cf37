//! Types, fixed values, numbers and strings.

use std::{cmp::Ordering, fmt::Write as _};

use serde_json::{Number, Value};

use super::{
    super::{
        decimal::is_multiple_of,
        mismatch::Path,
        node::{Node, NumberRules, StringRules},
        number::{compare, equal},
    },
    Run,
};

/// The most characters of a list of choices in a message.
const MAX_LISTED: usize = 300;

impl Run<'_> {
    pub(super) fn check_type(&mut self, node: &Node, value: &Value, path: &Path<'_>) -> bool {
        node.types.contains(value)
            || self.mismatch(path, || {
                let names: Vec<_> = node.types.names().collect();
                match names.as_slice() {
                    [] => String::from("is not allowed"),
                    names => format!("must be {}", names.join(" or ")),
                }
            })
    }

    pub(super) fn check_choice(&mut self, node: &Node, value: &Value, path: &Path<'_>) -> bool {
        let constant_fits = node.constant.as_ref().is_none_or(|constant| {
            equal(constant, value)
                || self.mismatch(path, || format!("must be {}", listed([constant])))
        });
        constant_fits
            && node.choices.as_ref().is_none_or(|choices| {
                self.spend(u64::try_from(choices.len()).unwrap_or(u64::MAX) / 16)
                    && (choices.iter().any(|choice| equal(choice, value))
                        || self.mismatch(path, || format!("must be one of {}", listed(choices))))
            })
    }

    pub(super) fn check_number(
        &mut self,
        rules: &NumberRules,
        number: &Number,
        path: &Path<'_>,
    ) -> bool {
        let limits = [
            (
                &rules.minimum,
                "at least",
                Ordering::is_ge as fn(Ordering) -> bool,
            ),
            (&rules.maximum, "at most", Ordering::is_le),
            (&rules.above, "more than", Ordering::is_gt),
            (&rules.below, "less than", Ordering::is_lt),
        ];
        let mut fits = true;
        for (limit, words, allows) in limits {
            let Some(limit) = limit else { continue };
            if !compare(number, limit).is_some_and(allows) {
                fits = self.mismatch(path, || format!("must be {words} {limit}"));
            }
        }
        if let Some(step) = &rules.multiple_of
            && !is_multiple_of(number, step)
        {
            fits = self.mismatch(path, || format!("must be a multiple of {}", step.0));
        }
        fits
    }

    pub(super) fn check_string(
        &mut self,
        rules: &StringRules,
        text: &str,
        path: &Path<'_>,
    ) -> bool {
        let mut fits = self.check_length(rules, text, path);
        if !fits && self.enough() {
            return false;
        }
        if let Some(format) = rules.format
            && !format.is_match(text)
        {
            fits = self.mismatch(path, || format!("must be {}", format.expected()));
        }
        if let Some(pattern) = &rules.pattern {
            // A text that is too long is not searched as well: the limit may be there to keep the search short.
            let too_long = rules.max_length.is_some() && !fits;
            if !too_long {
                if !self.spend(cost(text, pattern.cost())) {
                    return false;
                }
                if !pattern.is_match(text) {
                    fits = self.mismatch(path, || {
                        format!("must match the pattern {}", pattern.source())
                    });
                }
            }
        }
        fits
    }

    fn check_length(&mut self, rules: &StringRules, text: &str, path: &Path<'_>) -> bool {
        if rules.min_length == 0 && rules.max_length.is_none() {
            return true;
        }
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if length < rules.min_length {
            return self.mismatch(path, || {
                format!("must have {} or more", count(rules.min_length, "character"))
            });
        }
        match rules.max_length {
            Some(most) if length > most => self.mismatch(path, || {
                format!("must have at most {}", count(most, "character"))
            }),
            _ => true,
        }
    }
}

/// How many steps a search takes. A step is about what sixteen comparisons in the engine take.
fn cost(text: &str, per_character: u32) -> u64 {
    let characters = u64::try_from(text.len()).unwrap_or(u64::MAX);
    characters.saturating_mul(u64::from(per_character)) / 16
}

/// `1 item`, `2 items`
pub(super) fn count(count: u64, of: &str) -> String {
    let plural = match (count, of) {
        (1, _) => "",
        (_, "property") => return format!("{count} properties"),
        _ => "s",
    };
    format!("{count} {of}{plural}")
}

/// Values of the schema, as JSON, as many as fit a message.
pub(super) fn listed<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut text = String::new();
    for (at, value) in values.into_iter().enumerate() {
        let separator = if at == 0 { "" } else { ", " };
        let value = value.to_string();
        if text.len() + value.len() > MAX_LISTED {
            text.push_str(separator);
            text.push('…');
            break;
        }
        // Writing to a string can't fail.
        write!(text, "{separator}{value}").unwrap_or_default();
    }
    text
}
