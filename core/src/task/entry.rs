//! What a task's journal holds: for each operation of its function, what it produced.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::time::Timestamp;

/// One line of the journal. Names are short, since a journal can be long.
///
/// Steps, answers and wake-ups are *results*: a replay delivers them in this order, one a poll. The others may stand
/// anywhere, since the function has them as soon as it asks.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Entry {
    #[serde(rename = "s")]
    Step {
        #[serde(rename = "o")]
        op: u32,
        #[serde(rename = "n")]
        name: String,
        #[serde(rename = "r")]
        outcome: StepOutcome,
    },
    #[serde(rename = "a")]
    Answer {
        #[serde(rename = "o")]
        op: u32,
        #[serde(rename = "r")]
        answer: Answer,
    },
    #[serde(rename = "w")]
    Woke {
        #[serde(rename = "o")]
        op: u32,
    },
    #[serde(rename = "t")]
    Now {
        #[serde(rename = "o")]
        op: u32,
        #[serde(rename = "t")]
        at: Timestamp,
    },
    #[serde(rename = "x")]
    Random {
        #[serde(rename = "o")]
        op: u32,
        #[serde(rename = "x")]
        bits: String,
    },
    #[serde(rename = "p")]
    Progress {
        #[serde(rename = "o")]
        op: u32,
    },
    /// A pause was refused, since it would have lasted until after the task's end.
    #[serde(rename = "e")]
    PastEnd {
        #[serde(rename = "o")]
        op: u32,
    },
    /// The function gave the operation up before it had its result.
    #[serde(rename = "d")]
    Dropped {
        #[serde(rename = "o")]
        op: u32,
    },
}

/// What a step came to.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum StepOutcome {
    #[serde(rename = "ok")]
    Ok(Box<RawValue>),
    /// With the text for the asker.
    #[serde(rename = "no")]
    Rejected(String),
    /// The cause went to the log, where it belongs.
    #[serde(rename = "err")]
    Failed,
}

/// What somebody answered.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Answer {
    #[serde(rename = "ok")]
    Accepted(Box<RawValue>),
    #[serde(rename = "no")]
    Declined,
    #[serde(rename = "cancel")]
    Cancelled,
}

impl Entry {
    /// Whether a replay delivers it.
    pub(super) const fn is_result(&self) -> bool {
        matches!(
            self,
            Self::Step { .. } | Self::Answer { .. } | Self::Woke { .. }
        )
    }

    /// The operation.
    pub(super) const fn op(&self) -> u32 {
        match self {
            Self::Step { op, .. }
            | Self::Answer { op, .. }
            | Self::Woke { op }
            | Self::Now { op, .. }
            | Self::Random { op, .. }
            | Self::Progress { op }
            | Self::PastEnd { op }
            | Self::Dropped { op } => *op,
        }
    }

    /// About how many bytes it takes in the journal, and never fewer.
    pub(super) fn size(&self) -> usize {
        // The frame, with all names and the longest number.
        48 + match self {
            Self::Step { name, outcome, .. } => 6 * name.len() + outcome.size(),
            Self::Answer {
                answer: Answer::Accepted(content),
                ..
            } => content.get().len(),
            Self::Random { bits, .. } => bits.len(),
            _ => 0,
        }
    }
}

impl StepOutcome {
    fn size(&self) -> usize {
        match self {
            Self::Ok(result) => result.get().len(),
            // As JSON writes a control character.
            Self::Rejected(text) => 6 * text.len(),
            Self::Failed => 0,
        }
    }
}
