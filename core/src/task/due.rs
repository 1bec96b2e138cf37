//! What the background has to do, and when: `due/<time>/<task>`.

use super::background::Job;
use crate::{
    store::{Key, KeyError, Name},
    time::Timestamp,
};

/// What the names of due entries start with, in every partition. An entry of a task that ended or moved on is deleted
/// with that, and expires with the task.
pub const DUE_PREFIX: &str = "due/";

/// What is due by an entry that stands under [`DUE_PREFIX`]; `None` where it is no entry of ours.
#[must_use]
pub fn due(key: &Key) -> Option<(Job, Timestamp)> {
    let parts = key.name.parts();
    let [due, at, task_id] = parts.as_slice() else {
        return None;
    };
    if due != "due" || at.len() != DIGITS {
        return None;
    }
    let job = Job {
        partition: key.partition.clone(),
        task_id: task_id.clone(),
    };
    Some((job, Timestamp::from_millis(at.parse().ok()?)))
}

/// As many digits as the latest time has, so that entries sort by time.
const DIGITS: usize = 16;

/// The name of the entry.
pub(super) fn name(task_id: &str, at: Timestamp) -> Result<Name, KeyError> {
    Name::of_plain(["due", &format!("{:0DIGITS$}", at.as_millis()), task_id])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MAX_EXPIRY, Partition};

    #[test]
    fn an_entry_says_what_is_due_and_sorts_by_time() {
        let partition = Partition::installation("i");
        let times = [
            Timestamp::EPOCH,
            Timestamp::from_secs(9),
            Timestamp::from_secs(10),
            MAX_EXPIRY,
        ];
        let names = times.map(|at| name("t1", at).unwrap());
        assert!(names.is_sorted());
        for (name, at) in names.into_iter().zip(times) {
            assert!(name.as_str().starts_with(DUE_PREFIX));
            let (job, found) = due(&Key::new(partition.clone(), name)).unwrap();
            assert_eq!(
                (job.task_id(), job.partition(), found),
                ("t1", &partition, at)
            );
        }
        for other in ["due/1/t", "due/0000000000000001", "data/0000000000000001/t"] {
            let name = Name::from_encoded(other).unwrap();
            assert_eq!(due(&Key::new(partition.clone(), name)), None, "{other}");
        }
    }
}
