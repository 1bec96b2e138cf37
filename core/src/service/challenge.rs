//! The challenge: a signed text, echoed.

use serde::Deserialize;
use serde_json::json;

use super::{
    Service,
    answer::{Answer, HttpRefusal},
    object,
};
use crate::{ledger::Taken, signing::Verified, store::Partition, time::Timestamp};

#[derive(Deserialize)]
struct Challenge {
    challenge: String,
}

impl Service {
    pub(super) async fn challenge(&self, request: &Verified, now: Timestamp) -> Answer {
        let Some(Challenge { challenge }) = object::read(request.body()) else {
            return Answer::refuse(HttpRefusal::BadRequest(
                "the body must be a JSON object with a string `challenge`",
            ));
        };
        // No longer than the body that it came in: what is escaped here was escaped there, as long at least.
        let body = json!({ "challenge": challenge }).to_string();
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
