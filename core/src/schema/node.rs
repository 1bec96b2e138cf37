//! A compiled schema: what every keyword has become.

use serde_json::{Number, Value};

use super::{decimal::Decimal, format::Format, number, pattern::Pattern};

/// A sub-schema, by its place in the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) u32);

impl Id {
    pub(super) fn at(self) -> usize {
        // No target that this crate is built for has less than 32 bits.
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// One sub-schema. A boolean schema allows all types or none, and has no rules.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) constant: Option<Value>,
    pub(super) choices: Option<Vec<Value>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) string: Option<Box<StringRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    /// What applies other sub-schemas to the same value.
    pub(super) in_place: Vec<InPlace>,
    /// `unevaluatedProperties`.
    pub(super) unevaluated: Option<Id>,
}

#[derive(Debug)]
pub(super) enum InPlace {
    Ref(Id),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id),
    If {
        condition: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
}

impl InPlace {
    /// Every sub-schema that it applies.
    pub(super) fn targets(&self) -> impl Iterator<Item = Id> {
        let (list, single, then, otherwise) = match self {
            Self::AllOf(ids) | Self::AnyOf(ids) | Self::OneOf(ids) => {
                (ids.as_slice(), None, None, None)
            }
            Self::Ref(id) | Self::Not(id) => (&[][..], Some(*id), None, None),
            Self::If {
                condition,
                then,
                otherwise,
            } => (&[][..], Some(*condition), *then, *otherwise),
        };
        list.iter()
            .copied()
            .chain(single)
            .chain(then)
            .chain(otherwise)
    }
}

#[derive(Debug, Default)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) above: Option<Number>,
    pub(super) below: Option<Number>,
    pub(super) multiple_of: Option<(Number, Decimal)>,
}

/// Lengths are in code points.
#[derive(Debug, Default)]
pub(super) struct StringRules {
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) format: Option<Format>,
    pub(super) pattern: Option<Pattern>,
}

#[derive(Debug, Default)]
pub(super) struct ArrayRules {
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) unique: bool,
    pub(super) prefix: Vec<Id>,
    /// The items after the prefix.
    pub(super) items: Option<Id>,
    pub(super) contains: Option<Id>,
    pub(super) min_contains: Option<u64>,
    pub(super) max_contains: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    pub(super) required: Vec<Box<str>>,
    /// Sorted by name.
    pub(super) properties: Vec<(Box<str>, Id)>,
    pub(super) patterns: Vec<(Pattern, Id)>,
    pub(super) additional: Option<Id>,
    pub(super) names: Option<Id>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
}

impl ObjectRules {
    pub(super) fn property(&self, name: &str) -> Option<Id> {
        let at = self
            .properties
            .binary_search_by(|(other, _)| (**other).cmp(name))
            .ok()?;
        self.properties.get(at).map(|(_, id)| *id)
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    const NULL: u8 = 1;
    const BOOLEAN: u8 = 2;
    pub(super) const INTEGER: Self = Self(4);
    /// Numbers with a fraction; `number` is these and the integers.
    const FRACTION: u8 = 8;
    pub(super) const STRING: Self = Self(16);
    const ARRAY: u8 = 32;
    pub(super) const OBJECT: Self = Self(64);
    const ALL: u8 = 127;

    /// The type of this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(Self(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER.0,
            "number" => Self::INTEGER.0 | Self::FRACTION,
            "string" => Self::STRING.0,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT.0,
            _ => return None,
        }))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn contains(self, value: &Value) -> bool {
        let bit = match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            // No look at the number where it does not matter.
            Value::Number(_) if self.0 & Self::FRACTION != 0 => Self::FRACTION,
            Value::Number(number) if number::is_integer(number) => Self::INTEGER.0,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING.0,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT.0,
        };
        self.0 & bit != 0
    }

    /// The names of the types, for a message.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let number = if self.0 & Self::FRACTION == 0 {
            "an integer"
        } else {
            "a number"
        };
        [
            (Self::STRING.0, "a string"),
            (Self::INTEGER.0 | Self::FRACTION, number),
            (Self::BOOLEAN, "true or false"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT.0, "an object"),
            (Self::NULL, "null"),
        ]
        .into_iter()
        .filter_map(move |(bit, name)| (self.0 & bit != 0).then_some(name))
    }
}

impl Default for Types {
    fn default() -> Self {
        Self(Self::ALL)
    }
}
