//! Every crash point of every flow: each store operation fails in each way that there is, the request is dropped
//! where it hangs, and the delivery is sent again as pup would, until it is answered. Then the effect stands
//! exactly once, and every answer that came is the same.

use std::time::Duration;

use futures_util::future::{Either, join, select};
use serde_json::{Value, json};

use super::fixture::World;
use crate::{
    runtime::Runtime as _,
    store::{
        MemoryStore,
        testing::{Fault, FaultStore},
    },
    testing::{Answer, Sent},
};

/// A world over a store that can be told to fail.
struct Crash {
    world: World,
    faults: FaultStore<MemoryStore>,
}

/// How long a process is given before it counts as dead: longer than any request takes.
const PATIENCE: Duration = Duration::from_secs(30);

impl Crash {
    fn new() -> Self {
        let faults = FaultStore::new(MemoryStore::default());
        Self {
            world: World::over(faults.clone()),
            faults,
        }
    }

    /// The answer; `None` where the process died on it.
    async fn deliver(&self, sent: &Sent) -> Option<Answer> {
        let request = Box::pin(self.world.pup.deliver(sent));
        match select(request, Box::pin(self.world.runtime.sleep(PATIENCE))).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(((), request)) => {
                drop(request);
                None
            }
        }
    }

    fn send(&self, sent: &Sent) -> Option<Answer> {
        self.world.runtime.run(self.deliver(sent))
    }

    /// Sends it again until it has a final answer: pup's side of the bargain.
    fn until_answered(&self, sent: &Sent) -> Value {
        let mut again = sent.clone();
        for _ in 0..6 {
            if let Some(answer) = self.send(&again).as_ref().and_then(finished) {
                return answer;
            }
            self.world.runtime.advance(Duration::from_secs(10));
            again = again.retry().signed_at(self.world.runtime.now());
        }
        panic!("the retries were never answered");
    }

    /// The same for an event, whose retries keep their id.
    fn until_delivered(&self, sent: &Sent) -> Value {
        for _ in 0..6 {
            let again = sent.clone().signed_at(self.world.runtime.now());
            if let Some(answer) = self.send(&again).filter(|answer| answer.status() == 200) {
                return answer.json();
            }
            self.world.runtime.advance(Duration::from_secs(10));
        }
        panic!("the delivery was never answered");
    }
}

/// A result that is final: not an error that asks for a retry.
fn finished(answer: &Answer) -> Option<Value> {
    let json = answer.json();
    (answer.status() == 200)
        .then(|| json["result"].get("structuredContent").cloned())
        .flatten()
}

/// A flow: what goes before without faults, the requests whose operations fail, and what must hold in the end.
struct Flow {
    name: &'static str,
    /// Runs under faults, and gives the answers that came.
    run: fn(&Crash) -> Vec<Value>,
    /// Before the faults begin.
    prepare: fn(&Crash),
    /// Retries until everything is answered, and checks what stands.
    check: fn(&Crash, &[Value]),
}

/// Tries every operation of a flow with every fault; how many points that were.
fn try_every_point(flow: &Flow) -> usize {
    let begin = || {
        let crash = Crash::new();
        (flow.prepare)(&crash);
        let before = crash.faults.operations().len();
        (crash, before)
    };
    let (crash, before) = begin();
    let answers = (flow.run)(&crash);
    let operations = crash.faults.operations().len() - before;
    assert!(operations > 0, "{} asks the store for nothing", flow.name);
    (flow.check)(&crash, &answers);

    let mut points = 0;
    for operation in 0..operations {
        for fault in Fault::ALL {
            let (crash, before) = begin();
            crash.faults.fail_at(before + operation, fault);
            let answers = (flow.run)(&crash);
            let tried = crash.faults.operations();
            assert_eq!(
                tried
                    .get(before + operation)
                    .and_then(|recorded| recorded.fault),
                Some(fault),
                "{}: the operation {operation} was to fail by {fault:?}",
                flow.name
            );
            (flow.check)(&crash, &answers);
            points += 1;
        }
    }
    points
}

fn all_equal(answers: &[Value], expected: &Value, what: &str) {
    for answer in answers {
        assert_eq!(answer, expected, "{what}");
    }
}

fn write(crash: &Crash) -> Sent {
    crash.world.call("next", "c1").webhook_id("write-1")
}

/// The effect of one write stands once, whatever was answered before.
fn wrote_once(crash: &Crash, answers: &[Value]) {
    let last = crash.until_answered(
        &write(crash)
            .webhook_id("write-final")
            .signed_at(crash.world.runtime.now()),
    );
    assert_eq!(last, json!({ "number": 1 }));
    all_equal(answers, &last, "an earlier answer");
    assert_eq!(crash.world.look()["next"], 1);
}

fn event(crash: &Crash) -> Sent {
    crash
        .world
        .pup
        .event("member.joined", "m1")
        .webhook_id("delivery-1")
}

fn greeted_once(crash: &Crash, answers: &[Value]) {
    let last = crash.until_delivered(&event(crash));
    assert_eq!(
        last,
        json!({ "presentation": { "fields": [{ "label": "Hello", "value": "m1 is number 1" }], "actions": [] } })
    );
    all_equal(answers, &last, "an earlier answer");
    assert_eq!(crash.world.look()["greeted"], 1);
}

const FLOWS: [Flow; 9] = [
    Flow {
        name: "a write",
        prepare: |_| {},
        run: |crash| {
            crash
                .send(&write(crash))
                .as_ref()
                .and_then(finished)
                .into_iter()
                .collect()
        },
        check: wrote_once,
    },
    Flow {
        name: "a duplicate of a finished write",
        prepare: |crash| {
            let _ = crash.send(&write(crash).webhook_id("write-0"));
        },
        run: |crash| {
            crash
                .send(&write(crash))
                .as_ref()
                .and_then(finished)
                .into_iter()
                .collect()
        },
        check: wrote_once,
    },
    Flow {
        name: "a duplicate beside a running write",
        prepare: |_| {},
        run: |crash| {
            let (first, second) = (write(crash), write(crash).webhook_id("write-2"));
            let (first, second) = crash
                .world
                .runtime
                .run(join(crash.deliver(&first), crash.deliver(&second)));
            [first, second]
                .iter()
                .flatten()
                .filter_map(finished)
                .collect()
        },
        check: wrote_once,
    },
    Flow {
        name: "a takeover of a write that died",
        prepare: |crash| {
            let next = crash.faults.operations().len();
            // Its claim and its read went well; the commit of its result hangs.
            crash.faults.fail_at(next + 2, Fault::HangBefore);
            assert!(crash.send(&write(crash).webhook_id("write-0")).is_none());
        },
        run: |crash| {
            let taker = write(crash).signed_at(crash.world.runtime.now());
            crash
                .send(&taker)
                .as_ref()
                .and_then(finished)
                .into_iter()
                .collect()
        },
        check: wrote_once,
    },
    Flow {
        name: "a takeover of a write whose result was committed as it died",
        prepare: |crash| {
            let next = crash.faults.operations().len();
            crash.faults.fail_at(next + 2, Fault::HangAfter);
            assert!(crash.send(&write(crash).webhook_id("write-0")).is_none());
        },
        run: |crash| {
            let taker = write(crash).signed_at(crash.world.runtime.now());
            crash
                .send(&taker)
                .as_ref()
                .and_then(finished)
                .into_iter()
                .collect()
        },
        check: wrote_once,
    },
    Flow {
        name: "an event",
        prepare: |_| {},
        run: |crash| {
            let answer = crash
                .send(&event(crash))
                .filter(|answer| answer.status() == 200);
            answer.iter().map(Answer::json).collect()
        },
        check: greeted_once,
    },
    Flow {
        name: "a retry of an event",
        prepare: |crash| {
            let _ = crash.send(&event(crash));
        },
        run: |crash| {
            let answer = crash
                .send(&event(crash))
                .filter(|answer| answer.status() == 200);
            answer.iter().map(Answer::json).collect()
        },
        check: greeted_once,
    },
    Flow {
        name: "two writes in conflict over state",
        prepare: |_| {},
        run: |crash| {
            let (first, second) = (
                write(crash),
                crash.world.call("next", "c2").webhook_id("write-2"),
            );
            let (first, second) = crash
                .world
                .runtime
                .run(join(crash.deliver(&first), crash.deliver(&second)));
            [first, second]
                .iter()
                .flatten()
                .filter_map(finished)
                .collect()
        },
        check: |crash, answers| {
            let now = crash.world.runtime.now();
            let first = crash.until_answered(&write(crash).webhook_id("final-1").signed_at(now));
            let now = crash.world.runtime.now();
            let second = crash.until_answered(
                &crash
                    .world
                    .call("next", "c2")
                    .webhook_id("final-2")
                    .signed_at(now),
            );
            let mut numbers = [first["number"].as_i64(), second["number"].as_i64()];
            numbers.sort_unstable();
            assert_eq!(numbers, [Some(1), Some(2)], "each counted once");
            for answer in answers {
                assert!(
                    *answer == first || *answer == second,
                    "{answer} was answered, and is neither call's"
                );
            }
            assert_eq!(crash.world.look()["next"], 2);
        },
    },
    Flow {
        name: "a write with a step",
        prepare: |_| {},
        run: |crash| {
            let sent = crash.world.call("step", "c1").webhook_id("write-1");
            crash
                .send(&sent)
                .as_ref()
                .and_then(finished)
                .into_iter()
                .collect()
        },
        check: |crash, answers| {
            let now = crash.world.runtime.now();
            let last = crash.until_answered(
                &crash
                    .world
                    .call("step", "c1")
                    .webhook_id("final")
                    .signed_at(now),
            );
            all_equal(answers, &last, "an earlier answer");
            assert_eq!(
                (&last["number"], crash.world.look()["next"].clone()),
                (&json!(1), json!(1))
            );
            // Outside, a step is done at least once: twice at the most here, where its record was lost.
            assert!(
                (1..=2).contains(&crash.world.outside.payments()),
                "{}",
                crash.world.outside.payments()
            );
        },
    },
];

#[test]
fn at_every_crash_point_of_every_flow_the_effect_stands_once_and_the_answer_is_the_same() {
    let mut all = 0;
    for flow in &FLOWS {
        let points = try_every_point(flow);
        println!("{}: {points} crash points", flow.name);
        all += points;
    }
    println!("{all} crash points in all, none of them skipped");
    assert!(all >= 150, "{all}");
}

#[test]
fn a_step_whose_result_was_kept_is_not_done_again() {
    let crash = Crash::new();
    let next = crash.faults.operations().len();
    // Claim, read, the step's record; then the result's commit hangs.
    crash.faults.fail_at(next + 3, Fault::HangBefore);
    let sent = crash.world.call("step", "c1");
    assert!(crash.send(&sent).is_none());
    let answer = crash.until_answered(&sent.retry().signed_at(crash.world.runtime.now()));
    assert_eq!(answer["paid"], 1);
    assert_eq!(
        (crash.world.outside.runs(), crash.world.outside.payments()),
        (2, 1)
    );
}

#[test]
fn what_may_not_run_twice_is_never_begun_twice_at_any_crash_point() {
    let mut points = 0;
    for operation in 0..2 {
        for fault in Fault::ALL {
            let crash = Crash::new();
            crash.faults.fail_at(operation, fault);
            let sent = crash.world.call("pay", "c1");
            let mut again = sent.clone();
            for _ in 0..4 {
                let _ = crash.send(&again);
                crash.world.runtime.advance(Duration::from_secs(10));
                again = again.retry().signed_at(crash.world.runtime.now());
            }
            assert!(
                crash.world.outside.payments() <= 1,
                "operation {operation}, {fault:?}"
            );
            let sum = crash.world.look()["sum"].as_i64().unwrap();
            assert!(
                sum <= i64::from(crash.world.outside.payments()),
                "operation {operation}, {fault:?}"
            );
            points += 1;
        }
    }
    assert_eq!(points, 12);
}
