//! The challenge: a signed text, echoed.

use serde::Deserialize;
use serde_json::json;

use super::{
    Service,
    answer::{Answer, HttpRefusal},
};
use crate::{ledger::Taken, signing::Verified, store::Partition, time::Timestamp};

#[derive(Deserialize)]
struct Challenge {
    challenge: String,
}

impl Service {
    pub(super) async fn challenge(&self, request: &Verified, now: Timestamp) -> Answer {
        let Ok(Challenge { challenge }) = serde_json::from_slice(request.body()) else {
            return Answer::refuse(HttpRefusal::BadRequest(
                "the body must be a JSON object with a string `challenge`",
            ));
        };
        let body = json!({ "challenge": challenge }).to_string();
        // Escaping can make it longer than it came.
        if body.len() > super::answer::MAX_ANSWER_BYTES {
            return Answer::refuse(HttpRefusal::BadRequest(
                "the challenge is too long to be echoed",
            ));
        }
        match self.claim(request, &Partition::unscoped(), now).await {
            Ok(Taken::Fresh(_)) => Answer::ok(body),
            Ok(Taken::Replayed) => Answer::refuse(HttpRefusal::Replayed),
            Err(error) => {
                super::log_ledger_error(request.id(), &error);
                Answer::refuse(HttpRefusal::Unavailable)
            }
        }
    }
}
