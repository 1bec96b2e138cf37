//! A server that is killed under load, over and over.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use pup_extension_cli::{Answer, CallOptions, Client, EventOptions, Secret};
use serde_json::json;
use tokio::task::JoinSet;

use pup_extension_tests::{Local, Place as _, Secrets};

use crate::PROGRAM;

const ROUNDS: u64 = 6;
const CALLS: u64 = 32;
const DELIVERIES: u64 = 16;
/// A retry waits for the lease of the process that was killed; that many retries are far beyond it.
const TRIES: u32 = 12;

/// One thing that pup wants done once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Load {
    Call(String),
    Delivery(String),
}

impl Load {
    fn of_round(round: u64) -> Vec<Self> {
        let calls = (0..CALLS).map(|number| Self::Call(format!("call-{round}-{number}")));
        let deliveries =
            (0..DELIVERIES).map(|number| Self::Delivery(format!("delivery-{round}-{number}")));
        calls.chain(deliveries).collect()
    }

    /// Sends it once; what came back if it is an answer to keep.
    async fn send(&self, pup: &Client) -> Option<Bytes> {
        let answer: Answer = match self {
            Self::Call(id) => {
                let options = CallOptions::new().call_id(id.as_str());
                pup.call("save_snack", json!({ "snack": "popcorn" }), options)
                    .await
            }
            Self::Delivery(id) => {
                let options = EventOptions::new().delivery_id(id.as_str());
                pup.event("member.joined", "member-1", options).await
            }
        }
        .ok()?;
        let json = answer.json().ok()?;
        match self {
            // The id of the request is another each time; the result is not.
            Self::Call(_) => json
                .get("result")
                .map(|result| Bytes::from(result.to_string())),
            Self::Delivery(_) => (answer.status() == 200).then(|| answer.body().clone()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_has_counted_everything_once_after_the_retries() {
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    let secrets = Secrets::new(secret.clone());
    let place = Local::new(PROGRAM).unwrap();
    let mut cut_short = 0;
    for round in 0..ROUNDS {
        let server = place.serve(&secrets).await.unwrap();
        let pup = server.client(&secret).unwrap();
        let mut load = JoinSet::new();
        for item in Load::of_round(round) {
            let pup = pup.clone();
            load.spawn(async move {
                let answer = item.send(&pup).await;
                (item, answer)
            });
        }
        let mut moment = [0];
        getrandom::fill(&mut moment).unwrap();
        tokio::time::sleep(Duration::from_millis(u64::from(moment[0]) / 4)).await;
        server.kill();
        let before: BTreeMap<Load, Option<Bytes>> = load.join_all().await.into_iter().collect();
        cut_short += before.values().filter(|answer| answer.is_none()).count();

        let server = place.serve(&secrets).await.unwrap();
        let pup = server.client(&secret).unwrap();
        let mut retries = JoinSet::new();
        for (item, known) in before {
            let pup = pup.clone();
            retries.spawn(async move {
                for _ in 0..TRIES {
                    if let Some(answer) = item.send(&pup).await {
                        let known = known.unwrap_or_else(|| answer.clone());
                        assert_eq!(answer, known, "{item:?} was answered in two ways");
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                panic!("{item:?} was never answered");
            });
        }
        retries.join_all().await;
        let menu = pup
            .call("snack_menu", json!({}), CallOptions::new())
            .await
            .unwrap();
        let menu = menu.json().unwrap()["result"]["structuredContent"].clone();
        assert_eq!(
            menu["counts"]["popcorn"],
            CALLS * (round + 1),
            "after round {round}"
        );
        assert_eq!(
            menu["welcomed"],
            DELIVERIES * (round + 1),
            "after round {round}"
        );
    }
    println!(
        "{cut_short} of {} were without an answer when the server was killed",
        ROUNDS * (CALLS + DELIVERIES)
    );
    assert!(cut_short > 0, "no kill came between");
}
