//! Random schedules against a simple model: two instances over one store, clocks that disagree and jump, requests
//! that overlap, crash at any store operation, are dropped halfway, and are sent again.
//!
//! The model: each call takes effect once, and so has one number, which no other call has. The clocks stay within
//! an hour of each other and of the past: that is how long a claim is kept beyond its window.

use std::{collections::BTreeMap, pin::Pin, time::Duration};

use futures_util::future::{Either, select};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::World;
use crate::{
    runtime::Runtime as _,
    store::{
        MemoryStore,
        testing::{Fault, FaultStore},
    },
    testing::{Answer, Sent},
    time::Timestamp,
};

const CALLS: usize = 4;

#[derive(Clone, Debug)]
enum Action {
    /// Sends a call to an instance, and waits for the answer or the death of the process.
    Send {
        instance: usize,
        call: usize,
        fault: Option<(usize, Fault)>,
    },
    /// Begins one, and leaves it in the middle.
    Begin {
        instance: usize,
        call: usize,
        millis: u64,
        fault: Option<(usize, Fault)>,
    },
    /// Goes on with one that was left.
    Resume { which: usize },
    /// The process of one that was left dies.
    Die { which: usize },
    /// Sends what was answered before, byte for byte.
    Replay { which: usize },
    /// Time passes for one instance.
    Pass { instance: usize, millis: u64 },
    /// An instance's clock is set, a little beside the other's.
    Drift { instance: usize, seconds: i64 },
    /// Both clocks are set.
    Jump { seconds: i64 },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let fault =
        || proptest::option::of((0_usize..5, proptest::sample::select(Fault::ALL.to_vec())));
    let action = prop_oneof![
        4 => (0_usize..2, 0..CALLS, fault()).prop_map(|(instance, call, fault)| Action::Send { instance, call, fault }),
        4 => (0_usize..2, 0..CALLS, 0_u64..4_000, fault())
            .prop_map(|(instance, call, millis, fault)| Action::Begin { instance, call, millis, fault }),
        3 => (0_usize..4).prop_map(|which| Action::Resume { which }),
        1 => (0_usize..4).prop_map(|which| Action::Die { which }),
        1 => (0_usize..8).prop_map(|which| Action::Replay { which }),
        2 => (0_usize..2, 0_u64..15_000).prop_map(|(instance, millis)| Action::Pass { instance, millis }),
        1 => (0_usize..2, -60_i64..60).prop_map(|(instance, seconds)| Action::Drift { instance, seconds }),
        1 => (-200_i64..3_600).prop_map(|seconds| Action::Jump { seconds }),
    ];
    proptest::collection::vec(action, 1..24)
}

type Running<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;

/// What is known so far, and what must hold of it.
struct Model<'a> {
    instances: &'a [World; 2],
    faults: &'a FaultStore<MemoryStore>,
    running: Vec<(usize, Sent, Running<'a>)>,
    answered: Vec<(usize, Sent)>,
    numbers: BTreeMap<usize, Value>,
    sent: u32,
}

impl<'a> Model<'a> {
    fn request(&mut self, instance: usize, call: usize) -> Sent {
        self.sent += 1;
        let world = &self.instances[instance];
        // A pause of a second, so that requests overlap.
        world
            .pup
            .call("next_after", json!({ "seconds": 1 }))
            .call_id(&format!("call-{call}"))
            .webhook_id(format!("request-{}", self.sent))
    }

    fn arm(&self, fault: Option<(usize, Fault)>) {
        if let Some((after, fault)) = fault {
            self.faults
                .fail_at(self.faults.operations().len() + after, fault);
        }
    }

    fn learn(
        &mut self,
        sent: &Sent,
        instance: usize,
        answer: &Answer,
    ) -> Result<(), TestCaseError> {
        // Where the store could not be reached before the claim, nothing ran, and the same request may come again.
        if answer.status() != 503 {
            self.answered.push((instance, sent.clone()));
        }
        let call = sent
            .context_member("callId")
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let call: usize = call.trim_start_matches("call-").parse().unwrap();
        let json = answer.json();
        if answer.status() == 200 && json.get("result").is_some() {
            let number = json["result"]["structuredContent"]["number"].clone();
            let known = self.numbers.entry(call).or_insert_with(|| number.clone());
            prop_assert_eq!(&*known, &number, "one call had two answers");
        }
        Ok(())
    }

    /// Drives a request for a time; keeps it where it is not done by then.
    fn drive(
        &mut self,
        instance: usize,
        sent: Sent,
        mut running: Running<'a>,
        time: Duration,
    ) -> Result<bool, TestCaseError> {
        let runtime = &self.instances[instance].runtime;
        let done = match runtime.run(select(&mut running, Box::pin(runtime.sleep(time)))) {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        };
        match done {
            Some(answer) => {
                drop(running);
                self.learn(&sent, instance, &answer)?;
                Ok(true)
            }
            None => {
                self.running.push((instance, sent, running));
                Ok(false)
            }
        }
    }

    fn begin(&mut self, instance: usize, call: usize) -> (Sent, Running<'a>) {
        let sent = self.request(instance, call);
        let world: &'a World = &self.instances[instance];
        let request = sent.clone();
        (
            sent,
            Box::pin(async move { world.pup.deliver(&request).await }),
        )
    }

    fn apply(&mut self, action: &Action) -> Result<(), TestCaseError> {
        match *action {
            Action::Send {
                instance,
                call,
                fault,
            } => {
                let (sent, running) = self.begin(instance, call);
                self.arm(fault);
                if !self.drive(instance, sent, running, Duration::from_secs(30))? {
                    self.running.pop();
                }
            }
            Action::Begin {
                instance,
                call,
                millis,
                fault,
            } => {
                let (sent, running) = self.begin(instance, call);
                self.arm(fault);
                self.drive(instance, sent, running, Duration::from_millis(millis))?;
            }
            Action::Resume { which } => {
                if which < self.running.len() {
                    let (instance, sent, running) = self.running.remove(which);
                    if !self.drive(instance, sent, running, Duration::from_secs(30))? {
                        self.running.pop();
                    }
                }
            }
            Action::Die { which } => {
                if which < self.running.len() {
                    drop(self.running.remove(which));
                }
            }
            Action::Replay { which } => {
                let Some((instance, sent)) = self.answered.get(which).cloned() else {
                    return Ok(());
                };
                let instance_of = &self.instances[instance];
                let (runtime, deliver) = (&instance_of.runtime, instance_of.pup.deliver(&sent));
                let patience = runtime.sleep(Duration::from_secs(30));
                // Where an armed fault hangs, nothing is answered, and nothing is shown.
                if let Either::Left((answer, _)) =
                    runtime.run(select(Box::pin(deliver), Box::pin(patience)))
                {
                    let status = answer.status();
                    // By a clock that jumped it may be outside of its window: then nothing was looked up.
                    prop_assert!(
                        status == 409 || status == 401 || status == 503,
                        "{}",
                        status
                    );
                }
            }
            Action::Pass { instance, millis } => self.instances[instance]
                .runtime
                .advance(Duration::from_millis(millis)),
            Action::Drift { instance, seconds } => self.set(instance, seconds),
            Action::Jump { seconds } => (0..2).for_each(|instance| self.set(instance, seconds)),
        }
        Ok(())
    }

    fn set(&self, instance: usize, seconds: i64) {
        let runtime = &self.instances[instance].runtime;
        let then = runtime.now().as_secs().saturating_add_signed(seconds);
        runtime.set_time(Timestamp::from_secs(then));
    }

    /// Retries every call until it is answered, as pup would, and holds the store against the model.
    fn settle(mut self) -> Result<(), TestCaseError> {
        self.running.clear();
        // A fault that is still armed would hit the retries, which is as well; but there is an end to them.
        for call in 0..CALLS {
            let mut tries = 0;
            while !self.numbers.contains_key(&call) {
                tries += 1;
                prop_assert!(tries < 20, "call {call} was never answered");
                // Past every lease, whichever clock it was written by.
                self.instances[0]
                    .runtime
                    .advance(Duration::from_secs(3_600));
                let (sent, running) = self.begin(0, call);
                if !self.drive(0, sent, running, Duration::from_secs(30))? {
                    self.running.pop();
                }
            }
        }
        let mut numbers: Vec<i64> = self.numbers.values().filter_map(Value::as_i64).collect();
        numbers.sort_unstable();
        prop_assert_eq!(
            numbers,
            (1..=CALLS as i64).collect::<Vec<_>>(),
            "each call has its own number"
        );
        self.faults.heal();
        let world = &self.instances[0];
        let look = world.pup.call("look", json!({})).webhook_id("last-look");
        prop_assert_eq!(
            world.send(&look).structured()["next"].as_i64(),
            Some(CALLS as i64)
        );
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_call_takes_effect_once(actions in actions(), skew in 0_u64..8) {
        let faults = FaultStore::new(MemoryStore::default());
        let instances = [World::instance(faults.clone(), 1), World::instance(faults.clone(), 2)];
        instances[1].runtime.advance(Duration::from_secs(skew));
        let mut model = Model {
            instances: &instances,
            faults: &faults,
            running: Vec::new(),
            answered: Vec::new(),
            numbers: BTreeMap::new(),
            sent: 0,
        };
        for action in &actions {
            model.apply(action)?;
        }
        model.settle()?;
    }
}
