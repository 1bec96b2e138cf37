//! An event's envelope, read leniently where the protocol leaves its inside open.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::object;
use crate::{
    context::Settings,
    ledger::{Fingerprint, canonical},
    manifest::EventKind,
    schema::is_date_time,
};

/// What a delivery says.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) installation_id: String,
    pub(super) channel_id: Option<String>,
    pub(super) settings: Settings,
    pub(super) event_id: String,
    pub(super) occurred_at: String,
    /// The type's name; an unknown one is no error.
    pub(super) kind: String,
    pub(super) member_id: Option<String>,
    pub(super) raw: Arc<RawValue>,
    /// Over what is the same in every retry: `eventId` and `event`. Settings may change in between.
    pub(super) fingerprint: Fingerprint,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    version: Value,
    id: String,
    event_id: String,
    occurred_at: String,
    event: Box<RawValue>,
    context: Box<RawValue>,
    // Where the event is a plain string, its data stands beside it.
    member_id: Option<Value>,
    user_id: Option<Value>,
    member: Option<Value>,
    user: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireContext {
    installation_id: String,
    channel_id: Option<String>,
    settings: Option<Value>,
}

/// The most bytes of an id. pup's are short; what is longer is no id.
const MAX_ID_BYTES: usize = 256;

impl Envelope {
    /// Reads a body that was signed under `webhook_id`.
    pub(super) fn parse(body: &[u8], webhook_id: &str) -> Result<Self, &'static str> {
        const NO_ENVELOPE: &str = "the body must be an event's envelope: `version`, `id`, `eventId`, `occurredAt`, `event` and `context`";
        let wire: Wire = object::read(body).ok_or(NO_ENVELOPE)?;
        let context: WireContext =
            object::read(wire.context.get().as_bytes()).ok_or(NO_ENVELOPE)?;
        if wire.id != webhook_id {
            return Err("the envelope's `id` must equal the `webhook-id`");
        }
        if !matches!(&wire.version, Value::Number(version) if version.as_u64() == Some(1))
            && wire.version.as_str() != Some("1")
        {
            return Err("the envelope's `version` is not supported: 1 is");
        }
        let installation_id = context.installation_id;
        if [&installation_id, &wire.event_id]
            .iter()
            .any(|id| id.is_empty() || id.len() > MAX_ID_BYTES)
        {
            return Err("an id in the envelope is empty or over 256 bytes");
        }
        if !is_date_time(&wire.occurred_at) {
            return Err(
                "the envelope's `occurredAt` must be a time as RFC 3339 has it, as in 2026-07-28T09:30:00Z",
            );
        }
        let event: Value =
            serde_json::from_str(wire.event.get()).map_err(|_| "the `event` can't be read")?;
        let kind = match &event {
            Value::String(kind) => Some(kind.as_str()),
            Value::Object(members) => {
                let text = |name: &&str| members.get(*name).and_then(Value::as_str);
                // Without a `type`, the one that is known: a `name` may be the member's.
                let others = ["name", "event", "kind"];
                text(&"type")
                    .or_else(|| {
                        let mut texts = others.iter().filter_map(text);
                        texts.find(|text| EventKind::from_name(text).is_some())
                    })
                    .or_else(|| others.iter().find_map(text))
            }
            _ => None,
        }
        .ok_or("the `event` must be an object with a string `type`")?
        .to_owned();
        let beside = [&wire.member_id, &wire.user_id, &wire.member, &wire.user];
        let member_id = member_of(&event)
            .or_else(|| event.get("data").and_then(member_of))
            .or_else(|| beside.into_iter().flatten().find_map(id_in))
            .filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES);
        let fingerprint = Fingerprint::of(&[
            wire.event_id.as_bytes(),
            &canonical(&event),
            // It may stand beside the event.
            member_id.as_deref().unwrap_or_default().as_bytes(),
        ]);
        Ok(Self {
            installation_id,
            channel_id: context.channel_id,
            settings: Settings::from_json(context.settings.unwrap_or_default()),
            event_id: wire.event_id,
            occurred_at: wire.occurred_at,
            kind,
            member_id,
            raw: Arc::from(wire.event),
            fingerprint,
        })
    }
}

/// The member's id in an event, in the spellings that are usual.
fn member_of(event: &Value) -> Option<String> {
    [
        "memberId",
        "member_id",
        "userId",
        "user_id",
        "member",
        "user",
    ]
    .iter()
    .find_map(|name| event.get(*name).and_then(id_in))
}

/// An id that stands as a string, or as the `id` of an object.
fn id_in(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Object(members) => members.get("id").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn envelope(event: &Value) -> Value {
        json!({
            "version": 1, "id": "d1", "eventId": "e1", "occurredAt": "2026-07-28T00:00:00Z", "event": event,
            "context": { "installationId": "i1", "settings": { "greeting": "Hi" } },
        })
    }

    fn parse(envelope: &Value) -> Result<Envelope, &'static str> {
        Envelope::parse(envelope.to_string().as_bytes(), "d1")
    }

    #[test]
    fn the_usual_spellings_of_the_type_and_the_member_are_read() {
        for event in [
            json!({ "type": "member.joined", "memberId": "m1" }),
            json!({ "type": "member.joined", "member_id": "m1" }),
            json!({ "type": "member.joined", "userId": "m1" }),
            json!({ "type": "member.joined", "user_id": "m1" }),
            json!({ "type": "member.joined", "member": { "id": "m1", "name": "x" } }),
            json!({ "type": "member.joined", "user": { "id": "m1" } }),
            json!({ "type": "member.joined", "member": "m1" }),
            json!({ "name": "member.joined", "data": { "memberId": "m1" } }),
            json!({ "event": "member.joined", "data": { "user_id": "m1" } }),
            json!({ "kind": "member.joined", "data": { "member": { "id": "m1" } } }),
            json!({ "event": "member.joined", "name": "Somebody", "memberId": "m1" }),
        ] {
            let read = parse(&envelope(&event)).unwrap();
            assert_eq!(
                (read.kind.as_str(), read.member_id.as_deref()),
                ("member.joined", Some("m1")),
                "{event}"
            );
            assert_eq!(
                serde_json::from_str::<Value>(read.raw.get()).unwrap(),
                event
            );
        }
        for (name, value) in [
            ("memberId", json!("m2")),
            ("userId", json!("m2")),
            ("member", json!({ "id": "m2" })),
            ("user", json!("m2")),
        ] {
            let mut plain = envelope(&json!("member.left"));
            plain[name] = value;
            let read = parse(&plain).unwrap();
            assert_eq!(
                (read.kind.as_str(), read.member_id.as_deref()),
                ("member.left", Some("m2")),
                "{name}"
            );
        }
    }

    #[test]
    fn a_type_is_the_type_whatever_stands_beside_it() {
        for event in [
            json!({ "type": "member.renamed", "name": "member.joined", "memberId": "m1" }),
            json!({ "name": "member.renamed", "kind": "other", "memberId": "m1" }),
        ] {
            assert_eq!(parse(&envelope(&event)).unwrap().kind, "member.renamed");
        }
    }

    #[test]
    fn a_member_that_is_named_by_no_text_is_none() {
        for event in [
            json!({ "type": "member.joined" }),
            json!({ "type": "member.joined", "memberId": 7 }),
            json!({ "type": "member.joined", "memberId": "" }),
            json!({ "type": "member.joined", "memberId": "x".repeat(257) }),
        ] {
            assert_eq!(parse(&envelope(&event)).unwrap().member_id, None, "{event}");
        }
    }

    #[test]
    fn the_version_is_one_as_a_number_or_a_text() {
        let event = json!({ "type": "member.joined", "memberId": "m1" });
        let versioned = |version: Value| {
            let mut envelope = envelope(&event);
            envelope["version"] = version;
            parse(&envelope).is_ok()
        };
        assert!(versioned(json!(1)) && versioned(json!("1")));
        for wrong in [json!(1.0), json!(2), json!("1.0"), json!(null), json!(true)] {
            assert!(!versioned(wrong.clone()), "{wrong}");
        }
    }

    #[test]
    fn when_it_occurred_is_a_time_with_its_offset_and_is_kept_as_it_was_written() {
        let event = json!({ "type": "member.joined", "memberId": "m1" });
        let occurred = |at: &str| {
            let mut envelope = envelope(&event);
            envelope["occurredAt"] = json!(at);
            parse(&envelope).map(|read| read.occurred_at)
        };
        for at in [
            "2026-07-28T09:30:00Z",
            "2026-07-28T09:30:00.123Z",
            "2026-07-28T09:30:00.123456789+02:00",
            "2026-07-28t09:30:00-08:00",
        ] {
            assert_eq!(occurred(at).as_deref(), Ok(at));
        }
        for at in [
            "",
            "yesterday",
            "1785196800",
            "2026-07-28",
            "2026-07-28T09:30:00",
            "2026-07-28 09:30:00Z",
            "2026-02-30T09:30:00Z",
            "2026-07-28T09:30:00.Z",
            "2026-07-28T09:30:00+0200",
            "2026-07-28T09:30:00Z ",
        ] {
            assert!(occurred(at).unwrap_err().contains("`occurredAt`"), "{at}");
        }
    }

    #[test]
    fn the_fingerprint_is_of_the_event_and_not_of_the_settings() {
        let event = json!({ "type": "member.joined", "memberId": "m1" });
        let first = parse(&envelope(&event)).unwrap().fingerprint;
        let mut other = envelope(&event);
        other["context"]["settings"]["greeting"] = json!("changed");
        assert_eq!(parse(&other).unwrap().fingerprint, first);
        other["eventId"] = json!("e2");
        assert_ne!(parse(&other).unwrap().fingerprint, first);
        let other = envelope(&json!({ "type": "member.joined", "memberId": "m2" }));
        assert_ne!(parse(&other).unwrap().fingerprint, first);
        let beside = |member: &str| {
            let mut envelope = envelope(&json!("member.joined"));
            envelope["memberId"] = json!(member);
            parse(&envelope).unwrap().fingerprint
        };
        assert_eq!(beside("m1"), beside("m1"));
        assert_ne!(beside("m1"), beside("m2"));
    }

    #[test]
    fn what_is_no_envelope_is_refused_by_name() {
        let event = json!({ "type": "member.joined", "memberId": "m1" });
        let broken = |change: &dyn Fn(&mut Value)| {
            let mut envelope = envelope(&event);
            change(&mut envelope);
            parse(&envelope).map(|_| ()).unwrap_err()
        };
        assert!(broken(&|e| e["id"] = json!("d2")).contains("webhook-id"));
        assert!(broken(&|e| e["version"] = json!(2)).contains("`version`"));
        assert!(broken(&|e| e["event"] = json!(7)).contains("`type`"));
        assert!(broken(&|e| e["event"] = json!({})).contains("`type`"));
        assert!(broken(&|e| e["context"]["installationId"] = json!("")).contains("empty"));
        assert!(broken(&|e| e["context"] = json!({})).contains("envelope"));
        // The members in their order, which serde would take for the object.
        let list = json!([1, "d1", "e1", "2026-07-28T00:00:00Z", event, { "installationId": "i1" }, null, null, null, null]);
        assert!(parse(&list).unwrap_err().contains("envelope"));
        assert!(broken(&|e| e["context"] = json!(["i1", null, null])).contains("envelope"));
        assert!(Envelope::parse(b"[]", "d1").is_err());
        assert!(Envelope::parse(b"\xff", "d1").is_err());
    }
}
