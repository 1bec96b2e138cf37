//! Events as pup delivers them.

use serde_json::{Map, Value, json};

use pup_extension::time::Timestamp;

/// What names a delivery of an event.
///
/// ```
/// use pup_extension_cli::EventOptions;
/// let options = EventOptions::new().delivery_id("delivery_1");
/// let retry = options.clone(); // the same delivery again
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventOptions {
    pub(crate) delivery_id: Option<String>,
    event_id: Option<String>,
    occurred_at: Option<Timestamp>,
}

impl EventOptions {
    /// A fresh delivery of an event that occurs now.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the delivery: its `webhook-id` and the envelope's `id`. The same id again is a retry.
    #[must_use]
    pub fn delivery_id(mut self, id: impl Into<String>) -> Self {
        self.delivery_id = Some(id.into());
        self
    }

    /// Names the event. By default the name is made of the delivery's, so that a retry names the same event.
    #[must_use]
    pub fn event_id(mut self, id: impl Into<String>) -> Self {
        self.event_id = Some(id.into());
        self
    }

    /// Says when the event occurred. By default when the request is signed.
    #[must_use]
    pub fn occurred_at(mut self, time: Timestamp) -> Self {
        self.occurred_at = Some(time);
        self
    }

    /// The signed envelope of a delivery.
    pub(crate) fn envelope(
        &self,
        delivery_id: &str,
        now: Timestamp,
        (kind, member): (&str, &str),
        context: &Map<String, Value>,
    ) -> Vec<u8> {
        let event_id = self
            .event_id
            .clone()
            .unwrap_or_else(|| format!("evt_{delivery_id}"));
        let envelope = json!({
            "version": 1,
            "id": delivery_id,
            "eventId": event_id,
            "occurredAt": self.occurred_at.unwrap_or(now).to_rfc3339(),
            "event": {"type": kind, "memberId": member},
            "context": context,
        });
        envelope.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(options: &EventOptions) -> Value {
        let now = Timestamp::from_secs(1_785_196_800);
        let bytes = options.envelope("d1", now, ("member.joined", "m1"), &Map::new());
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn an_envelope_has_every_field_of_the_protocol() {
        let expected = json!({
            "version": 1,
            "id": "d1",
            "eventId": "evt_d1",
            "occurredAt": "2026-07-28T00:00:00.000Z",
            "event": {"type": "member.joined", "memberId": "m1"},
            "context": {},
        });
        assert_eq!(envelope(&EventOptions::new()), expected);
    }

    #[test]
    fn the_event_can_be_named_and_dated() {
        let options = EventOptions::new()
            .event_id("e9")
            .occurred_at(Timestamp::EPOCH);
        assert_eq!(envelope(&options)["eventId"], "e9");
        assert_eq!(envelope(&options)["occurredAt"], "1970-01-01T00:00:00.000Z");
    }
}
