//! The record itself, and what meeting one means. No store in here.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD as BASE64};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::fingerprint::Fingerprint;
use crate::{store::Value, time::Timestamp};

/// What stands in the store for one call or delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// What it was made for.
    pub(crate) fingerprint: Fingerprint,
    /// How far it is.
    pub(crate) progress: Progress,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Somebody runs it, or did until the lease ran out. A release sets the lease to the epoch.
    Running {
        /// Until then nobody else may take it over. Always written.
        lease_until: Timestamp,
        /// How many have begun to run it, this one included.
        attempt: u32,
    },
    /// It was answered. Never changes again.
    Done {
        /// The answer, as JSON.
        answer: Bytes,
    },
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running {
                lease_until,
                attempt,
            } => f
                .debug_struct("Running")
                .field("lease_until", lease_until)
                .field("attempt", attempt)
                .finish(),
            Self::Done { answer } => write!(f, "Done({} B)", answer.len()),
        }
    }
}

/// What to do about a record that is there, or is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// Run it, as this attempt.
    Take {
        /// The number to write.
        attempt: u32,
    },
    /// Answer what was recorded.
    Answer(Bytes),
    /// Another runs it; its lease still stands.
    Wait,
    /// The id was used for something else.
    OtherContent,
    /// It ran once, may not run again, and left no answer.
    OutcomeUnknown,
}

/// May a second attempt be made when the first left no answer?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    AsNeeded,
    Never,
}

/// What a request for `fingerprint` is to do about the record that it meets at `now`.
pub(crate) fn meet(
    record: Option<&Record>,
    fingerprint: Fingerprint,
    retry: Retry,
    now: Timestamp,
) -> Meeting {
    let Some(record) = record else {
        return Meeting::Take { attempt: 1 };
    };
    if record.fingerprint != fingerprint {
        return Meeting::OtherContent;
    }
    match (&record.progress, retry) {
        (Progress::Done { answer }, _) => Meeting::Answer(answer.clone()),
        (Progress::Running { lease_until, .. }, _) if now < *lease_until => Meeting::Wait,
        (Progress::Running { attempt, .. }, Retry::AsNeeded) => Meeting::Take {
            attempt: attempt.saturating_add(1),
        },
        (Progress::Running { .. }, Retry::Never) => Meeting::OutcomeUnknown,
    }
}

/// The form on disk. `v` lets a later version tell what it reads.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    v: u32,
    /// The fingerprint.
    f: String,
    /// The lease's end in milliseconds, while running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "is_zero")]
    attempt: u32,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    answer: Option<&'a RawValue>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

const VERSION: u32 = 1;

/// How many bytes a record has beside its answer, at the most.
pub(crate) const OVERHEAD: usize = 128;

impl Record {
    /// The form in the store. The answer must be JSON.
    pub(crate) fn to_value(&self) -> Result<Value, Corrupt> {
        let f = BASE64.encode(self.fingerprint.as_bytes());
        let stored = match &self.progress {
            Progress::Running {
                lease_until,
                attempt,
            } => Stored {
                v: VERSION,
                f,
                lease: Some(*lease_until),
                attempt: *attempt,
                answer: None,
            },
            Progress::Done { answer } => {
                let answer = serde_json::from_slice(answer).map_err(|_| Corrupt)?;
                Stored {
                    v: VERSION,
                    f,
                    lease: None,
                    attempt: 0,
                    answer: Some(answer),
                }
            }
        };
        serde_json::to_vec(&stored)
            .map(|json| Value::Bytes(json.into()))
            .map_err(|_| Corrupt)
    }

    /// From the form in the store: the one way in which every record is read.
    pub(crate) fn from_value(value: &Value) -> Result<Self, Corrupt> {
        let Value::Bytes(json) = value else {
            return Err(Corrupt);
        };
        let stored: Stored<'_> = serde_json::from_slice(json).map_err(|_| Corrupt)?;
        let fingerprint = BASE64
            .decode(&stored.f)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(Corrupt)?;
        let progress = match (stored.v, stored.lease, stored.answer) {
            (VERSION, Some(lease_until), None) => Progress::Running {
                lease_until,
                attempt: stored.attempt,
            },
            (VERSION, None, Some(answer)) => Progress::Done {
                answer: json.slice_ref(answer.get().as_bytes()),
            },
            _ => return Err(Corrupt),
        };
        Ok(Self {
            fingerprint: Fingerprint::from_bytes(fingerprint),
            progress,
        })
    }
}

/// A record can't be read, or not by this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger's record can't be read by this version")]
pub(crate) struct Corrupt;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000);

    fn print(text: &str) -> Fingerprint {
        Fingerprint::of(&[text.as_bytes()])
    }

    fn running(lease_until: Timestamp, attempt: u32) -> Record {
        Record {
            fingerprint: print("a"),
            progress: Progress::Running {
                lease_until,
                attempt,
            },
        }
    }

    fn done(answer: &'static str) -> Record {
        Record {
            fingerprint: print("a"),
            progress: Progress::Done {
                answer: Bytes::from_static(answer.as_bytes()),
            },
        }
    }

    #[test]
    fn the_first_takes_it() {
        assert_eq!(
            meet(None, print("a"), Retry::Never, NOW),
            Meeting::Take { attempt: 1 }
        );
    }

    #[test]
    fn a_live_lease_is_waited_for_and_a_dead_one_taken_over() {
        let ends = NOW;
        let before = Timestamp::from_millis(NOW.as_millis() - 1);
        assert_eq!(
            meet(Some(&running(ends, 1)), print("a"), Retry::AsNeeded, before),
            Meeting::Wait
        );
        assert_eq!(
            meet(Some(&running(ends, 1)), print("a"), Retry::AsNeeded, NOW),
            Meeting::Take { attempt: 2 }
        );
    }

    #[test]
    fn what_may_not_run_twice_is_not_taken_over() {
        assert_eq!(
            meet(Some(&running(NOW, 1)), print("a"), Retry::Never, NOW),
            Meeting::OutcomeUnknown
        );
    }

    #[test]
    fn other_content_learns_nothing_of_the_answer_or_the_lease() {
        for record in [running(NOW, 1), done("{}")] {
            assert_eq!(
                meet(Some(&record), print("b"), Retry::AsNeeded, NOW),
                Meeting::OtherContent
            );
        }
    }

    #[test]
    fn a_record_survives_the_store_and_the_answer_keeps_its_bytes() {
        for record in [running(NOW, 7), done(r#"{ "b" : 1.50, "a":"\u00e9" }"#)] {
            assert_eq!(Record::from_value(&record.to_value().unwrap()), Ok(record));
        }
    }

    #[test]
    fn a_record_of_another_version_or_shape_is_refused() {
        let f = BASE64.encode([0; 32]);
        for json in [
            String::from("{}"),
            format!(r#"{{"v":2,"f":"{f}","lease":1}}"#),
            format!(r#"{{"v":1,"f":"{f}"}}"#),
            format!(r#"{{"v":1,"f":"{f}","lease":1,"answer":{{}}}}"#),
            String::from(r#"{"v":1,"f":"AAAA","lease":1}"#),
        ] {
            assert_eq!(Record::from_value(&Value::Bytes(json.into())), Err(Corrupt));
        }
        assert_eq!(Record::from_value(&Value::Number(1)), Err(Corrupt));
    }

    #[test]
    fn the_overhead_bounds_what_a_record_adds_to_its_answer() {
        let Value::Bytes(json) = done("0").to_value().unwrap() else {
            panic!("a record is bytes")
        };
        assert!(json.len() <= OVERHEAD);
        let Value::Bytes(json) = running(Timestamp::from_millis(u64::MAX), u32::MAX)
            .to_value()
            .unwrap()
        else {
            panic!("a record is bytes")
        };
        assert!(json.len() <= OVERHEAD + 1);
    }
}
