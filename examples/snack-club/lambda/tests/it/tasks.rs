//! Tasks over instances that are killed.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::time::Duration;

use bytes::Bytes;
use pup_extension_cli::{
    CallOptions, DetailedTask, InputResponses, Outcome, TaskOptions, TaskState,
};
use serde_json::{Value, json};

use crate::deploy::{Deployed, options};

/// A run that was killed holds its task for 45 seconds.
const LOOKS: u32 = 600;
const LOOK: Duration = Duration::from_millis(200);

impl Deployed {
    async fn begin(&self, tool: &str, arguments: Value, call_id: &str) -> String {
        let options = CallOptions::new().call_id(call_id);
        let answer = self.pup.call(tool, arguments, options).await.unwrap();
        match answer.outcome().unwrap() {
            Outcome::Task(task) => task.id,
            other => panic!("{tool} has not become a task: {other:?}"),
        }
    }

    /// Polls until the task is so.
    async fn task(&self, id: &str, is_so: impl Fn(&DetailedTask) -> bool) -> DetailedTask {
        let mut last = None;
        for _ in 0..LOOKS {
            // An instance may have been killed under the poll.
            if let Ok(answer) = self.pup.get_task(id, TaskOptions::new()).await
                && let Ok(task) = answer.task()
            {
                if is_so(&task) {
                    return task;
                }
                last = Some(task);
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("the task is still not so: {last:?}");
    }

    async fn completed(&self, id: &str) -> Value {
        let task = self.task(id, is_over).await;
        match task.state {
            TaskState::Completed(result) => result.structured().unwrap().clone(),
            other => panic!("the task is not completed: {other:?}"),
        }
    }

    fn kill(&self) {
        self.platform.http().kill();
        self.platform.background().kill();
    }
}

fn is_over(task: &DetailedTask) -> bool {
    !matches!(task.state, TaskState::Working | TaskState::InputRequired(_))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_that_is_killed_between_an_ask_and_its_answer_goes_on() {
    let deployed = Deployed::new().await;
    let id = deployed.begin("choose_snack", json!({}), "call-1").await;
    deployed
        .task(&id, |task| {
            matches!(task.state, TaskState::InputRequired(_))
        })
        .await;
    deployed.kill();
    let salty = InputResponses::new().accept("ask-0", json!({ "taste": "salty" }));
    let answer = deployed
        .pup
        .update_task(&id, salty, TaskOptions::new())
        .await
        .unwrap();
    answer.acknowledged().unwrap();
    deployed.kill();
    assert_eq!(deployed.completed(&id).await, json!({ "snack": "popcorn" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bake_that_is_killed_over_and_over_bakes_each_batch_once() {
    const BATCHES: u64 = 6;
    let deployed = Deployed::new().await;
    let arguments = json!({ "batches": BATCHES });
    let id = deployed.begin("bake_snacks", arguments, "call-1").await;
    for pause in [100, 350, 200] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        deployed.kill();
    }
    assert_eq!(deployed.completed(&id).await, json!({ "batches": BATCHES }));
    assert_eq!(deployed.menu().await["stock"], BATCHES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_outlives_the_time_of_an_invocation() {
    let mut options = options();
    // Less than the bake takes: it is handed on to another invocation.
    options.background_timeout = Duration::from_secs(1);
    let deployed = Deployed::with(options).await;
    let id = deployed
        .begin("bake_snacks", json!({ "batches": 8 }), "call-1")
        .await;
    assert_eq!(deployed.completed(&id).await, json!({ "batches": 8 }));
    assert_eq!(deployed.menu().await["stock"], 8);
    assert_eq!(deployed.platform.dead_letters(), [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_may_not_be_handed_over_fails_and_names_the_permission() {
    let deployed = Deployed::new().await;
    deployed.platform.forbid_invoke();
    let id = deployed
        .begin("bake_snacks", json!({ "batches": 2 }), "call-1")
        .await;
    let task = deployed.task(&id, is_over).await;
    let TaskState::Failed(error) = task.state else {
        panic!("the task has not failed: {task:?}");
    };
    let said = format!("{error:?}");
    assert!(said.contains("lambda:InvokeFunction"), "{said}");
    assert!(said.contains("extension-background"), "{said}");
    assert_eq!(deployed.menu().await["stock"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_background_function_takes_jobs_alone() {
    let mut options = options();
    options.background_instances = 1;
    let deployed = Deployed::with(options).await;
    let function = deployed.platform.background();
    // Of a task that isn't there, nothing is left to do.
    let gone = json!({ "partition": "i/nobody", "task": "0123456789abcdef0123456789abcdef" });
    let gone = Bytes::from(gone.to_string());
    function.invoke(gone.clone()).await.unwrap();
    let process = function.processes();
    for event in [
        json!({ "key1": "value1" }),
        json!({ "requestContext": { "http": { "method": "GET", "path": "/manifest.json" } } }),
        json!("x"),
        json!({ "partition": "", "task": "t" }),
    ] {
        let failed = function.invoke(Bytes::from(event.to_string())).await;
        let error = failed.unwrap_err().error;
        assert!(error.contains("NoJob"), "{error}");
    }
    function.invoke(gone).await.unwrap();
    assert_eq!(function.processes(), process, "none of them ended it");
}
