//! Races between instances.

use std::collections::BTreeSet;

use pup_extension_cli::CallOptions;
use serde_json::json;
use tokio::task::JoinSet;

use crate::deploy::Deployed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_duplicates_at_once_one_takes_effect() {
    let deployed = Deployed::new().await;
    let mut duplicates = JoinSet::new();
    for _ in 0..64 {
        let pup = deployed.pup.clone();
        duplicates.spawn(async move {
            for _ in 0..20 {
                let options = CallOptions::new().call_id("call-1");
                let answer = pup.call("save_snack", json!({ "snack": "fruit" }), options);
                // One that came too late to be answered in time is sent again, as pup does.
                if let Ok(answer) = answer.await
                    && let Ok(answer) = answer.json()
                    && let Some(result) = answer.get("result")
                {
                    return result["structuredContent"].to_string();
                }
            }
            panic!("a duplicate was never answered");
        });
    }
    let answers: BTreeSet<String> = duplicates.join_all().await.into_iter().collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(deployed.menu().await["counts"]["fruit"], 1);
    let instances = deployed.platform.http().processes().len();
    assert!(instances > 1, "all of them met one instance");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_all_count() {
    let deployed = Deployed::new().await;
    let mut calls = JoinSet::new();
    for number in 0..32 {
        let pup = deployed.pup.clone();
        calls.spawn(async move {
            for _ in 0..20 {
                let options = CallOptions::new().call_id(format!("call-{number}"));
                let answer = pup.call("save_snack", json!({ "snack": "fruit" }), options);
                if let Ok(answer) = answer.await
                    && answer
                        .json()
                        .is_ok_and(|answer| answer.get("result").is_some())
                {
                    return;
                }
            }
            panic!("a call was never answered");
        });
    }
    calls.join_all().await;
    assert_eq!(deployed.menu().await["counts"]["fruit"], 32);
}
