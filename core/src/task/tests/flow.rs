//! What tasks do when nothing goes wrong.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{World, accept};
use crate::runtime::Runtime as _;

#[test]
fn a_task_asks_and_completes_with_the_answer() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let task = world.get(&id);
    assert_eq!(task["status"], "input_required");
    assert_eq!(task["resultType"], "complete");
    assert_eq!(
        task["inputRequests"],
        json!({ "ask-0": { "method": "elicitation/create", "params": {
            "mode": "form",
            "message": "Sweet or salty?",
            "requestedSchema": {
                "type": "object",
                "properties": { "taste": { "type": "string", "enum": ["sweet", "salty"] } },
                "required": ["taste"],
            },
        }}})
    );
    // Nobody has anything to do until the answer comes.
    assert_eq!(world.pup.background().jobs(), []);
    let answer = world.answer(
        &id,
        json!({ "ask-0": accept(&json!({ "taste": "sweet" })) }),
    );
    assert_eq!(answer.result()["resultType"], "complete");
    assert_eq!(world.get(&id)["status"], "working");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "snack": "fruit" }));
}

#[test]
fn steps_sleeps_and_progress_go_on_until_the_end() {
    let world = World::new();
    let begun = world.runtime.now();
    let id = world.create("bake", json!({ "batches": 3 }), "c1");
    assert_eq!(world.look()["stock"], 0, "steps run in the background");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "batches": 3, "stock": 3 }));
    assert_eq!(world.get(&id)["statusMessage"], "3 of 3");
    assert_eq!(world.runtime.now().since(begun), Duration::from_millis(500));
    assert_eq!(world.look()["stock"], 3);
}

#[test]
fn everything_at_once_is_recalled_as_it_was() {
    let world = World::new();
    let id = world.create("everything", json!({}), "c1");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(task["status"], "input_required");
    assert_eq!(task["statusMessage"], "asking");
    assert_eq!(world.look()["stock"], 1);
    let asks: Vec<&String> = task["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(asks, ["ask-3", "ask-4"]);
    // One answer leaves the other open.
    world.answer(
        &id,
        json!({ "ask-4": accept(&json!({ "amount": 7 })), "ask-9": 1, "other": {} }),
    );
    world.pup.run_tasks();
    assert_eq!(
        world.get(&id)["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["ask-3"]
    );
    world.answer(
        &id,
        json!({ "ask-3": accept(&json!({ "taste": "salty" })) }),
    );
    world.pup.run_tasks();
    let result = world.completed(&id);
    assert_eq!(
        (&result["first"], &result["second"], &result["slept"]),
        (&json!(1), &json!(2), &json!(60))
    );
    let look = world.look();
    assert_eq!((&look["stock"], &look["sum"]), (&json!(2), &json!(7)));
    assert_eq!(look["drawn"], result["drawn"]);
}

#[test]
fn steps_at_once_on_one_key_lose_no_update() {
    let world = World::new();
    let id = world.create("collide", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "sum": 3 }));
    assert_eq!(world.look()["stock"], 2);
}

#[test]
fn the_loser_of_a_race_is_given_up() {
    let world = World::new();
    let id = world.create("hurry", json!({}), "c1");
    assert_eq!(world.get(&id)["status"], "input_required");
    world.pup.run_tasks();
    assert_eq!(
        world.completed(&id),
        json!({ "answered": false, "stock": 1 })
    );

    let id = world.create("hurry", json!({}), "c2");
    world.answer(
        &id,
        json!({ "ask-0": accept(&json!({ "taste": "sweet" })) }),
    );
    world.pup.run_tasks();
    assert_eq!(
        world.completed(&id),
        json!({ "answered": true, "stock": 2 })
    );
}

#[test]
fn a_pause_ends_while_a_step_is_at_work_so_that_a_step_can_be_timed_out() {
    for (seconds, in_time, stock, took) in [(5, true, 1, 5), (60, false, 0, 10)] {
        let world = World::new();
        let begun = world.runtime.now();
        let id = world.create("time_out", json!({ "seconds": seconds }), "c1");
        world.pup.run_tasks();
        assert_eq!(
            world.completed(&id),
            json!({ "in_time": in_time, "after": 1 })
        );
        assert_eq!(world.look()["stock"], stock);
        assert_eq!(world.runtime.now().since(begun).as_secs(), took);
    }
}

#[test]
fn a_sleep_past_the_end_is_refused_and_one_in_the_past_is_none() {
    let world = World::new();
    let id = world.create("sleep_long", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "refused": true }));
}

#[test]
fn a_refused_question_ends_the_task_as_a_rejection() {
    for (action, text) in [
        ("decline", "the question was declined"),
        ("cancel", "the question was dismissed"),
    ] {
        let world = World::new();
        let id = world.create("choose", json!({}), "c1");
        world.answer(&id, json!({ "ask-0": { "action": action } }));
        world.pup.run_tasks();
        let task = world.get(&id);
        assert_eq!(
            (&task["status"], &task["result"]["isError"]),
            (&json!("completed"), &json!(true))
        );
        assert_eq!(task["result"]["content"][0]["text"], text);
        assert_eq!(task["result"]["resultType"], "complete");
    }
}

#[test]
fn a_wrong_answer_is_refused_whole_and_the_questions_stay_open() {
    let world = World::new();
    let id = world.create("everything", json!({}), "c1");
    world.pup.run_tasks();
    for (responses, at) in [
        (
            json!({ "ask-3": accept(&json!({ "taste": "sweet" })), "ask-4": accept(&json!({ "amount": 10 })) }),
            "params.inputResponses[\"ask-4\"] doesn't fit its form: answer.amount",
        ),
        (
            json!({ "ask-3": accept(&json!({ "taste": "sour" })) }),
            "answer.taste",
        ),
        (
            json!({ "ask-3": accept(&json!({ "taste": "sweet", "more": 1 })) }),
            "answer.more",
        ),
        (
            json!({ "ask-3": { "action": "accept" } }),
            ".content must be an object",
        ),
        (json!({ "ask-3": { "action": "maybe" } }), ".action must be"),
        (json!({ "ask-3": "sweet" }), " must be an object"),
    ] {
        let answer = world.answer(&id, responses);
        assert_eq!(
            (answer.status().as_u16(), answer.error_code()),
            (400, Some(-32602))
        );
        let json = answer.json();
        let message = json["error"]["message"].as_str().unwrap();
        assert!(message.contains(at), "{message}");
        assert!(!message.contains("sour"), "{message}");
    }
    let open = world.get(&id)["inputRequests"].as_object().unwrap().len();
    assert_eq!(open, 2);
}

#[test]
fn failures_in_steps_are_remembered_and_the_function_decides() {
    let world = World::new();
    let id = world.create("fail_in_step", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "failed": true }));
    assert_eq!(
        (world.outside.works(), world.look()["stock"].clone()),
        (2, json!(1))
    );

    let id = world.create("fail", json!({}), "c2");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(
        (&task["status"], &task["error"]["code"]),
        (&json!("failed"), &json!(-32603))
    );
    assert!(!task.to_string().contains("secret"), "{task}");

    let id = world.create("reject", json!({}), "c3");
    world.pup.run_tasks();
    let task = world.get(&id);
    assert_eq!(
        (&task["status"], &task["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    assert_eq!(world.look()["stock"], 1, "a rejected step writes nothing");
}

#[test]
fn a_cancelled_task_stays_so() {
    let world = World::new();
    let id = world.create("choose", json!({}), "c1");
    let answer = world.send(&world.pup.task("tasks/cancel", &id));
    assert_eq!(answer.result()["resultType"], "complete");
    let task = world.get(&id);
    assert_eq!(task["status"], "cancelled");
    assert_eq!(task.get("inputRequests"), None::<&Value>);
    // Later answers and cancels are acknowledged, and change nothing.
    assert_eq!(
        world
            .answer(&id, json!({ "ask-0": { "action": "decline" } }))
            .status(),
        200
    );
    assert_eq!(
        world.send(&world.pup.task("tasks/cancel", &id)).status(),
        200
    );
    world.pup.run_tasks();
    assert_eq!(world.get(&id)["status"], "cancelled");
}
