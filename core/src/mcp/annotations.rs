//! Hints about content: for whom it is, how much it matters, how old it is.

use serde::Serialize;

use crate::time::Timestamp;

/// Optional hints that go with a piece of content.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// For whom the content is; empty when that is not said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// How much it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_rfc3339")]
    pub last_modified: Option<Timestamp>,
}

/// Who takes part in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// How much a piece of content matters: from 0, entirely optional, to 1, effectively required.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Priority(f64);

impl Priority {
    /// Effectively required.
    pub const REQUIRED: Self = Self(1.0);
    /// Entirely optional.
    pub const OPTIONAL: Self = Self(0.0);

    /// From a number; `None` when it is not from 0 to 1.
    #[must_use]
    pub fn new(priority: f64) -> Option<Self> {
        (0.0..=1.0).contains(&priority).then_some(Self(priority))
    }
}

#[expect(
    clippy::ref_option,
    reason = "serde's `serialize_with` hands over a reference to the field"
)]
fn as_rfc3339<S: serde::Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.serialize_str(&at.to_rfc3339()),
        None => serializer.serialize_none(),
    }
}
