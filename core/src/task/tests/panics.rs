//! Functions that panic: on targets where that unwinds, since elsewhere it ends the process.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use serde_json::json;

use super::fixture::{World, of_one_tool};
use crate::{prelude::*, task::Ran};

const SECOND: Duration = Duration::from_secs(1);

/// Panics where it is dropped, as a guard of the author's may.
struct Breaks(bool);

impl Drop for Breaks {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "a guard that panics");
    }
}

#[test]
fn a_panic_while_a_suspended_function_is_dropped_breaks_nothing() {
    let world = of_one_tool(Tool::task("guarded", async |task: TaskContext| {
        let mut breaks = Breaks(true);
        task.sleep(SECOND).await?;
        breaks.0 = false;
        Ok::<_, ToolError>(json!("done"))
    }));
    let id = world.create("guarded", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!("done"));
}

#[test]
fn a_panic_in_a_step_ends_the_run_even_where_the_function_catches_it() {
    let world = of_one_tool(Tool::task("catches", async |task: TaskContext| {
        let caught = AssertUnwindSafe(task.step("panics", |_| async {
            if true {
                panic!("a step that panics");
            }
            Ok(())
        }))
        .catch_unwind()
        .await
        .is_err();
        let next = task.step("next", |_| async { Ok(()) }).await;
        Ok::<_, ToolError>(json!({ "caught": caught, "next": next.is_ok() }))
    }));
    let id = world.create("catches", json!({}), "c1");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("five times")
    );
}

#[test]
fn five_runs_that_panic_end_the_task() {
    let world = World::new();
    let id = world.create("panic", json!({}), "c1");
    let runs = world.pup.run_tasks();
    assert_eq!(world.outside.runs(), 5);
    assert!(matches!(runs.last(), Some(Ok(Ran::Ended))), "{runs:?}");
    let task = world.get(&id);
    assert_eq!(
        (&task["status"], &task["error"]["code"]),
        (&json!("failed"), &json!(-32603))
    );
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("five times")
    );
}
