//! Schemas and values from small vocabularies, so that they meet often.

mod format;
mod nested;
mod pattern;
mod scalar;
mod value;

pub(crate) use self::{
    format::{FORMATS, format_text},
    nested::{any, array, combination, object, recursive, unevaluated},
    pattern::{pattern, pattern_text},
    scalar::{fixed, length, number, number_value, text_value},
    value::value_near,
};

const NAMES: [&str; 5] = ["a", "b", "ab", "c1", "é"];
const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];
