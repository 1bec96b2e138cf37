//! Deliveries of events.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Service,
    answer::{Answer, HttpRefusal, MAX_ANSWER_BYTES},
    drive::{Ended, Job, Produced},
    envelope::Envelope,
};
use crate::{
    budget::Deadline,
    context::{Caller, Event, EventContext},
    extension::Handle,
    ledger::{Admission, Admit, Begin, LedgerError, Retry, idempotency_key},
    manifest::EventKind,
    signing::Verified,
    state::Access,
    store::{Name, Partition},
};

/// What an event that concerns nobody here is answered.
const NOTHING: &[u8] = b"{}";

impl Service {
    pub(super) async fn event(&self, request: &Verified, deadline: Deadline) -> Answer {
        let envelope = match Envelope::parse(request.body(), request.id()) {
            Ok(envelope) => envelope,
            Err(why) => return Answer::refuse(HttpRefusal::BadRequest(why)),
        };
        let handler = EventKind::from_name(&envelope.kind).and_then(|kind| {
            self.inner
                .extension
                .events
                .get(&kind)
                .map(|handler| (kind, handler))
        });
        let Some((kind, handler)) = handler else {
            return Answer::ok(Bytes::from_static(NOTHING));
        };
        let Some(member_id) = envelope.member_id.clone() else {
            return Answer::refuse(HttpRefusal::BadRequest(
                "the `event` must name its member, as `memberId`",
            ));
        };
        let event = Event {
            kind,
            member_id,
            event_id: envelope.event_id.clone(),
            occurred_at: envelope.occurred_at.clone(),
            raw: Arc::clone(&envelope.raw),
        };
        match self
            .deliver(request, &envelope, event, handler, deadline)
            .await
        {
            Ok(answer) => answer,
            Err(error) => {
                super::log_ledger_error(request.id(), &error);
                Answer::refuse(HttpRefusal::Unavailable)
            }
        }
    }

    /// Once: the handler runs, or what it answered before is answered again, byte for byte.
    async fn deliver(
        &self,
        request: &Verified,
        envelope: &Envelope,
        event: Event,
        handler: &Arc<dyn Handle>,
        deadline: Deadline,
    ) -> Result<Answer, LedgerError> {
        let ports = &self.inner.ports;
        let partition = Partition::installation(&envelope.installation_id);
        let admit = Admit {
            ports,
            partition: &partition,
            record: Name::of(["delivery", request.id()])?,
            fingerprint: envelope.fingerprint,
            retry: Retry::AsNeeded,
            begin: Begin::Running,
            retention: self.inner.config.retention,
            deadline,
        };
        let job = Job {
            ports,
            partition: &partition,
            deadline,
            access: Access::ReadWrite,
            caller: Caller {
                request_id: request.id().into(),
                installation_id: envelope.installation_id.as_str().into(),
                channel_id: envelope.channel_id.as_deref().map(Into::into),
                settings: envelope.settings.clone(),
                idempotency_key: idempotency_key(&[
                    "delivery",
                    &envelope.installation_id,
                    request.id(),
                ]),
            },
            record: [String::from("delivery"), request.id().to_owned()],
            runs_again: true,
        };
        loop {
            let held = match admit.admit(&mut None).await? {
                Admission::Run(held) => held,
                Admission::Answer(answer) => return Ok(Answer::ok(answer)),
                Admission::OtherContent => return Ok(Answer::refuse(HttpRefusal::OtherContent)),
                Admission::Replayed | Admission::StillRunning | Admission::OutcomeUnknown => {
                    return Ok(Answer::refuse(HttpRefusal::StillRunning));
                }
            };
            let ended = job
                .drive(held, |run| {
                    let handled = handler.handle(EventContext::new(run), event.clone());
                    Box::pin(async move {
                        let answer = handled.await?;
                        Ok(Produced {
                            answer: Bytes::from(answer.to_string()),
                            keep_writes: true,
                        })
                    })
                })
                .await;
            return Ok(match ended {
                Ended::Answer(answer) if answer.len() <= MAX_ANSWER_BYTES => Answer::ok(answer),
                Ended::Lost => continue,
                Ended::Unavailable => Answer::refuse(HttpRefusal::Unavailable),
                Ended::Answer(_)
                | Ended::Failed
                | Ended::OutOfTime
                | Ended::TooLarge
                | Ended::Unfinished => Answer::refuse(HttpRefusal::Failed),
            });
        }
    }
}
