//! Tasks over processes that are killed.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::time::Duration;

use pup_extension_cli::{
    CallOptions, Client, DetailedTask, InputResponses, Outcome, Secret, Task, TaskOptions,
    TaskState, TaskStatus,
};
use serde_json::{Value, json};

use crate::logged::{Logged, lines};

const LEVEL: &str = "info";
/// How long an end may take to be told. A run that is killed between two commits holds its task for 45 seconds.
const PATIENCE: Duration = Duration::from_secs(75);
/// A kill may come too late, once in a while.
const ROUNDS: u32 = 20;

async fn begin(pup: &Client, tool: &str, arguments: Value, call_id: &str) -> Task {
    let options = CallOptions::new().call_id(call_id);
    let answer = pup.call(tool, arguments, options).await.unwrap();
    match answer.outcome().unwrap() {
        Outcome::Task(task) => task,
        other => panic!("{tool} has not become a task: {other:?}"),
    }
}

async fn get(pup: &Client, id: &str) -> DetailedTask {
    let answer = pup.get_task(id, TaskOptions::new()).await.unwrap();
    answer.task().unwrap()
}

/// The structured content of a task that must be completed.
async fn completed(pup: &Client, id: &str) -> Value {
    let detailed = get(pup, id).await;
    match detailed.state {
        TaskState::Completed(result) => result.structured().unwrap().clone(),
        other => panic!("the task is not completed: {other:?}"),
    }
}

async fn stock(pup: &Client) -> Value {
    let menu = pup
        .call("snack_menu", json!({}), CallOptions::new())
        .await
        .unwrap();
    menu.json().unwrap()["result"]["structuredContent"]["stock"].clone()
}

/// Whether a line of the log says that a run ended this task.
fn is_end_of(id: &str) -> impl Fn(&Value) -> bool {
    move |line| line["message"] == "task run" && line["task_id"] == id && line["outcome"] == "ended"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_begun_in_one_process_is_answered_in_a_second_and_finished_in_a_third() {
    let folder = tempfile::tempdir().unwrap();
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    for round in 0..ROUNDS {
        let first = Logged::start(folder.path(), &secret, LEVEL);
        let pup = first.client(&secret);
        let id = begin(&pup, "choose_snack", json!({}), &format!("call-{round}"))
            .await
            .id;
        first.end();

        let second = Logged::start(folder.path(), &secret, LEVEL);
        let pup = second.client(&secret);
        let salty = InputResponses::new().accept("ask-0", json!({ "taste": "salty" }));
        let answer = pup
            .update_task(&id, salty, TaskOptions::new())
            .await
            .unwrap();
        let log = second.end();
        answer.acknowledged().unwrap();
        let too_late = lines(&log).any(|line| is_end_of(&id)(&line));

        let mut third = Logged::start(folder.path(), &secret, LEVEL);
        // Nobody asks about the task until its end is told. The second may have come to the end and not to telling it;
        // then there is nothing to wait for, and another round.
        let finished = !too_late && third.waits_for(PATIENCE, is_end_of(&id));
        let pup = third.client(&secret);
        assert_eq!(completed(&pup, &id).await, json!({ "snack": "popcorn" }));
        if finished {
            return;
        }
    }
    panic!("no kill came between the acknowledgement and the end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bake_that_is_killed_over_and_over_bakes_each_batch_once() {
    const BATCHES: u64 = 10;
    const KILLS: u64 = 4;
    let folder = tempfile::tempdir().unwrap();
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    let mut server = Logged::start(folder.path(), &secret, LEVEL);
    let pup = server.client(&secret);
    let task = begin(&pup, "bake_snacks", json!({ "batches": BATCHES }), "call-1").await;
    for _ in 0..KILLS {
        let mut moment = [0];
        getrandom::fill(&mut moment).unwrap();
        // All of them together are shorter than the pauses, of which one may pass between two processes.
        tokio::time::sleep(Duration::from_millis(moment[0].into())).await;
        let log = server.end();
        assert!(!lines(&log).any(|line| is_end_of(&task.id)(&line)), "{log}");
        server = Logged::start(folder.path(), &secret, LEVEL);
    }
    assert!(server.waits_for(PATIENCE, is_end_of(&task.id)));
    let pup = server.client(&secret);
    assert_eq!(
        completed(&pup, &task.id).await,
        json!({ "batches": BATCHES })
    );
    assert_eq!(stock(&pup).await, BATCHES);
    // Nor does another process find anything left to do.
    server.end();
    let server = Logged::start(folder.path(), &secret, LEVEL);
    let pup = server.client(&secret);
    assert_eq!(get(&pup, &task.id).await.task.status, TaskStatus::Completed);
    assert_eq!(stock(&pup).await, BATCHES);
}
