//! The one list of cases, and the ways to run them.

use super::{
    Failure, Harness, adds, atomicity, basics, expectations, expiry, keys, lists, lost_answers,
    once, races, tasks, values,
};
use crate::store::Store;

/// Calls the macro whose path stands in the first parentheses with the second ones and the list of cases.
#[doc(hidden)]
#[macro_export]
macro_rules! store_suite_cases {
    (($($callback:tt)+) $arguments:tt) => {
        $($callback)+! { $arguments [
            basics: [
                a_commit_without_changes_is_applied
                a_put_item_is_read_back_whole
                an_absent_item_is_none
                a_put_replaces_value_revision_and_expiry
                a_deleted_item_is_absent
                deleting_an_absent_item_is_applied
                a_check_changes_nothing
                an_acknowledged_commit_is_seen_through_another_handle
            ]
            expectations: [
                every_expectation_of_every_operation_on_every_state
                an_item_that_stands_is_in_the_way_of_absent
                another_revision_is_in_the_way_of_a_revision
                an_absent_item_is_in_the_way_of_a_revision
                every_item_in_the_way_is_named_in_order
                a_conflict_applies_nothing
                an_item_deleted_and_written_again_has_a_new_revision
            ]
            atomicity: [
                a_hundred_items_are_applied_together
                one_item_in_the_way_of_a_hundred_stops_them_all
                a_hundred_items_in_the_way_are_all_named
                four_megabytes_are_applied_together
                two_items_that_move_together_are_never_seen_apart
                a_conflict_shows_items_of_one_moment
            ]
            adds: [
                an_add_counts_from_zero
                an_add_takes_a_negative_number
                an_add_saturates_at_both_ends
                an_add_is_exact_beyond_floating_point
                an_add_gives_a_new_revision_and_no_expiry
                bytes_are_in_the_way_of_an_add
                an_add_with_an_expectation_keeps_it
                adds_at_once_lose_nothing_and_never_conflict
                adds_beside_other_changes_apply_with_them
            ]
            expiry: [
                an_item_expires_at_its_millisecond
                an_expired_item_meets_absent_and_no_revision
                an_add_to_an_expired_item_counts_from_zero
                an_item_written_expired_is_absent
                an_item_put_without_expiry_stays
                a_read_at_a_later_time_removes_nothing
                a_clock_behind_sees_what_a_clock_ahead_wrote
                many_expired_items_go_and_the_others_stay
                the_latest_expiry_is_kept_exactly
            ]
            races: [
                one_of_64_writers_of_an_absent_item_wins
                one_of_64_writers_at_a_revision_wins
                one_of_64_writers_of_an_expired_item_wins
                a_counter_by_reading_and_writing_loses_no_update
                transfers_between_items_keep_the_sum
                writers_that_check_each_others_item_do_not_both_apply
                deleting_and_creating_at_once_keeps_one_owner
            ]
            lost_answers: [
                a_commit_sent_again_meets_itself
                a_commit_sent_twice_at_once_is_applied_once
                an_applied_commit_whose_answer_was_lost_is_applied
                a_commit_that_was_lost_is_sent_again
                a_late_copy_and_its_second_are_applied_once
                a_lost_commit_whose_anchor_was_taken_is_in_conflict
            ]
            once: [
                of_64_duplicates_of_a_call_one_takes_effect
                of_64_copies_of_a_delivery_one_takes_effect
                of_64_replays_of_a_request_one_is_answered
                of_64_calls_at_once_each_takes_effect
            ]
            tasks: [
                a_task_takes_effect_once_whatever_fails_on_its_way
                a_task_stays_cancelled_whatever_fails_on_its_way
            ]
            keys: [
                hostile_names_do_not_collide
                hostile_partitions_do_not_leak
                partitions_are_apart
                the_longest_keys_are_kept_apart_by_their_last_byte
                names_are_not_folded_or_normalized
            ]
            lists: [
                a_list_is_in_the_order_of_bytes
                a_list_holds_what_starts_with_the_prefix
                a_prefix_has_no_wildcards
                an_empty_prefix_lists_its_partition_alone
                a_list_shows_items_whole
                a_list_leaves_out_expired_and_deleted_items
                pages_of_every_size_hold_each_item_once
                a_limit_out_of_range_is_brought_into_it
                pages_go_on_when_items_are_deleted_between_them
                pages_go_on_when_items_are_inserted_between_them
                a_list_of_large_values_is_complete
            ]
            values: [
                bytes_of_every_kind_come_back
                empty_bytes_are_not_absent_and_not_a_number
                a_value_of_256_kilobytes_comes_back
                numbers_come_back_exactly
                revisions_come_back_to_the_last_bit
            ]
        ] }
    };
}

macro_rules! define {
    (() [$($module:ident: [$($case:ident)*])*]) => {
        /// The name of every case.
        pub const CASES: &[&str] = &[$($(stringify!($case)),*),*];

        /// Runs one case. Cases can share a harness, one after the other.
        ///
        /// # Errors
        ///
        /// What the store did wrong, or that there is no such case.
        pub async fn run<S: Store>(case: &str, harness: &Harness<S>) -> Result<(), Failure> {
            match case {
                $($(stringify!($case) => Box::pin($module::$case(harness)).await,)*)*
                _ => Err(Failure::new("there is no case of this name")),
            }
        }
    };
}

store_suite_cases!((define)());

/// The verdict over a case, where a case that is not promised has to fail.
///
/// # Errors
///
/// The case failed; or it passed although it is not promised; or there is no case of a name in
/// `not_promised`.
pub fn judge(
    case: &str,
    not_promised: &[&str],
    result: Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(unknown) = not_promised.iter().find(|name| !CASES.contains(name)) {
        return Err(Failure::new(format!(
            "there is no case {unknown}, which is listed as not promised"
        )));
    }
    match (not_promised.contains(&case), result) {
        (false, result) => result,
        (true, Err(_)) => Ok(()),
        (true, Ok(())) => Err(Failure::new(format!(
            "{case} passes: take it off the list of what is not promised"
        ))),
    }
}

/// Mounts every case of the store suite as a test of its own name.
///
/// - First the attribute that makes a function a test.
/// - `block_on` runs a future to its end (such as [`block_on`](crate::store::suite::block_on), or one that
///   makes a tokio runtime).
/// - `harness` is evaluated for each case, inside of the future: a fresh
///   [`Harness`].
/// - `not_promised` names the cases that this backend does not promise. They run, and have to fail.
///
/// ```
/// # // A test harness is not there in here: a plain attribute shows that it compiles.
/// pup_extension::store_suite! {
///     #[expect(dead_code, reason = "an example; yours is `#[test]`")]
///     block_on = pup_extension::store::suite::block_on,
///     harness = {
///         let store = pup_extension::store::MemoryStore::default();
///         pup_extension::store::suite::Harness::new(store.clone(), store, 0)
///     },
///     not_promised = [],
/// }
/// ```
#[macro_export]
macro_rules! store_suite {
    (
        #[$attribute:meta]
        block_on = $block_on:expr,
        harness = $harness:expr,
        not_promised = [$($not_promised:ident),* $(,)?] $(,)?
    ) => {
        $crate::store_suite_cases! {
            ($crate::store_suite_mount)
            ([$attribute] [$block_on] [$harness] [&[$(stringify!($not_promised)),*]])
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! store_suite_mount {
    (
        ([$attribute:meta] [$block_on:expr] [$harness:expr] [$not_promised:expr])
        [$($module:ident: [$($case:ident)*])*]
    ) => {
        $($(
            #[$attribute]
            fn $case() -> ::core::result::Result<(), $crate::store::suite::Failure> {
                let result = $block_on(async {
                    let harness = $harness;
                    $crate::store::suite::run(stringify!($case), &harness).await
                });
                $crate::store::suite::judge(stringify!($case), $not_promised, result)
            }
        )*)*
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::{MemoryStore, suite::block_on};

    #[test]
    fn every_case_has_a_name_of_its_own_and_is_found_by_it() {
        let names: BTreeSet<_> = CASES.iter().collect();
        assert_eq!(names.len(), CASES.len());
        let store = MemoryStore::default();
        let harness = Harness::new(store.clone(), store, 0);
        // All over one harness, as a runtime without a test harness runs them.
        for case in CASES {
            block_on(run(case, &harness)).unwrap();
        }
        assert!(block_on(run("no_such_case", &harness)).is_err());
    }

    #[test]
    fn a_case_that_is_not_promised_has_to_fail_and_to_exist() {
        let case = CASES[0];
        let failed = || Err(Failure::new("it failed"));
        assert!(judge(case, &[], Ok(())).is_ok());
        assert!(judge(case, &[], failed()).is_err());
        assert!(judge(case, &[case], failed()).is_ok());
        assert!(judge(case, &[case], Ok(())).is_err());
        assert!(judge(case, &["no_such_case"], Ok(())).is_err());
    }
}
