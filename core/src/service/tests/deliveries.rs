//! Events.

use futures_util::future::join_all;
use serde_json::json;

use super::fixture::World;
use crate::{
    extension::Extension,
    prelude::*,
    testing::{Pup, Sent, SimRuntime},
};

#[test]
fn a_retried_delivery_has_the_same_bytes_even_when_the_settings_changed() {
    let world = World::new();
    let first = world
        .pup
        .event("member.joined", "m1")
        .setting("greeting", "Hi");
    let answer = world.send(&first);
    assert_eq!(
        answer.json(),
        json!({ "presentation": { "fields": [{ "label": "Hi", "value": "m1 is number 1" }], "actions": [] } })
    );
    let changed = first.clone().setting("greeting", "Good day");
    assert_eq!(world.send(&changed).http().body(), answer.http().body());
    assert_eq!(world.send(&first).http().body(), answer.http().body());
    assert_eq!(world.look()["greeted"], 1);
}

#[test]
fn sixty_four_copies_of_a_delivery_at_once_have_one_effect_and_the_same_bytes() {
    let world = World::new();
    let sent: Vec<Sent> = (0..64)
        .map(|_| world.pup.event("member.joined", "m1").webhook_id("d1"))
        .collect();
    let answers = world
        .runtime
        .run(join_all(sent.iter().map(|sent| world.pup.deliver(sent))));
    for answer in &answers {
        assert_eq!(
            (answer.status(), answer.http().body()),
            (answers[0].status(), answers[0].http().body())
        );
    }
    assert_eq!(answers[0].status(), 200);
    assert_eq!(world.look()["greeted"], 1);
}

#[test]
fn different_deliveries_at_once_lose_no_update() {
    let world = World::new();
    let sent: Vec<Sent> = (0..32)
        .map(|number| world.pup.event("member.joined", &format!("m{number}")))
        .collect();
    let answers = world
        .runtime
        .run(join_all(sent.iter().map(|sent| world.pup.deliver(sent))));
    assert!(answers.iter().all(|answer| answer.status() == 200));
    assert_eq!(world.look()["greeted"], 32);
}

#[test]
fn the_same_delivery_id_with_another_event_is_refused() {
    let world = World::new();
    let _ = world.send(&world.pup.event("member.joined", "m1").webhook_id("d1"));
    let answer = world.send(&world.pup.event("member.joined", "m2").webhook_id("d1"));
    assert_eq!(answer.status(), 409);
    assert_eq!(world.look()["greeted"], 1);
}

#[test]
fn an_event_that_is_unknown_or_unhandled_is_answered_and_not_failed() {
    let world = World::new();
    for kind in ["member.danced", "member.left", ""] {
        let answer = world.send(&world.pup.event(kind, "m1"));
        assert_eq!(
            (answer.status().as_u16(), answer.json()),
            (200, json!({})),
            "{kind:?}"
        );
    }
}

#[test]
fn an_envelope_that_disagrees_with_its_signature_is_refused() {
    let world = World::new();
    let mut request = world
        .pup
        .event("member.joined", "m1")
        .webhook_id("d1")
        .to_http();
    let other = world
        .pup
        .event("member.joined", "m1")
        .webhook_id("d2")
        .to_http();
    *request.body_mut() = other.body().clone();
    let now = crate::runtime::Runtime::now(&world.runtime);
    assert_eq!(
        world
            .runtime
            .run(world.pup.service().handle(request, now))
            .status(),
        401
    );
}

#[test]
fn an_envelope_that_was_signed_under_another_id_is_refused_and_runs_nothing() {
    let world = World::new();
    let (mut head, _) = world
        .pup
        .event("member.joined", "m1")
        .to_http()
        .into_parts();
    let (_, body) = world
        .pup
        .event("member.joined", "m1")
        .webhook_id("d2")
        .to_http()
        .into_parts();
    let now = crate::runtime::Runtime::now(&world.runtime);
    let secret = crate::signing::Secret::from_bytes(&[7; 32]).unwrap();
    secret
        .sign("d1", now, &body)
        .unwrap()
        .apply(&mut head.headers);
    let request = http::Request::from_parts(head, body);
    let answer = world.runtime.run(world.pup.service().handle(request, now));
    assert_eq!(answer.status(), 400);
    assert_eq!(world.look()["greeted"], 0);
}

#[test]
fn a_handler_with_nothing_to_show_is_answered_with_an_empty_object() {
    async fn nothing(_: Event) -> Result<(), ToolError> {
        Ok(())
    }
    async fn perhaps(event: Event) -> Result<Option<Presentation>, ToolError> {
        Ok((event.member_id == "m2").then(|| Presentation::new().field("Left", "m2")))
    }
    async fn tool() -> Result<(), ToolError> {
        Ok(())
    }
    let extension = Extension::builder("quiet", "Quiet")
        .author("Example author")
        .description("Quiet.")
        .summary("Quiet.")
        .instructions("For tests.")
        .tool(Tool::new("tool", tool))
        .on_member_joined(nothing)
        .on_member_left(perhaps)
        .build()
        .unwrap();
    let runtime = SimRuntime::new();
    let pup = Pup::new(extension, &runtime);
    for (kind, member, expected) in [
        ("member.joined", "m1", json!({})),
        ("member.left", "m1", json!({})),
        (
            "member.left",
            "m2",
            json!({ "presentation": { "fields": [{ "label": "Left", "value": "m2" }], "actions": [] } }),
        ),
    ] {
        let answer = pup.send(&pup.event(kind, member));
        assert_eq!((answer.status().as_u16(), answer.json()), (200, expected));
    }
}

#[test]
fn a_handler_that_fails_in_any_way_is_a_server_error_and_is_run_again() {
    let attempts = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = std::sync::Arc::clone(&attempts);
    let handler = move |ctx: EventContext| {
        let attempt = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            ctx.state().add("greeted", 1)?;
            match attempt {
                0 => Err(ToolError::reject("a rejection is no answer to an event")),
                1 => Err(ToolError::failed("nor is a failure")),
                2 => {
                    ctx.sleep(std::time::Duration::from_secs(60)).await;
                    Ok(())
                }
                _ => Ok(()),
            }
        }
    };
    async fn look(ctx: ToolContext) -> Result<i64, ToolError> {
        Ok(ctx.state().get("greeted").await?.unwrap_or(0))
    }
    let extension = Extension::builder("failing", "Failing")
        .author("Example author")
        .description("Fails.")
        .summary("Fails.")
        .instructions("For tests.")
        .tool(Tool::new("look", look).read_only())
        .on_member_left(handler)
        .build()
        .unwrap();
    let runtime = SimRuntime::new();
    let pup = Pup::new(extension, &runtime);
    let sent = pup.event("member.left", "m1");
    for expected in [500, 500, 500, 200, 200] {
        let answer = pup.send(
            &sent
                .clone()
                .signed_at(crate::runtime::Runtime::now(&runtime)),
        );
        assert_eq!(answer.status().as_u16(), expected);
    }
    assert_eq!(attempts.load(std::sync::atomic::Ordering::SeqCst), 4);
    assert_eq!(
        pup.send(&pup.call("look", json!({}))).structured(),
        json!(1)
    );
}

#[test]
fn a_delivery_that_still_runs_asks_to_come_back() {
    use crate::store::{
        MemoryStore,
        testing::{Fault, FaultStore},
    };
    let faults = FaultStore::new(MemoryStore::default());
    let world = World::over(faults.clone());
    let sent = world.pup.event("member.joined", "m1").webhook_id("d1");
    faults.fail_at(2, Fault::HangBefore);
    let request = Box::pin(world.pup.deliver(&sent));
    let soon = Box::pin(crate::runtime::Runtime::sleep(
        &world.runtime,
        std::time::Duration::from_millis(1),
    ));
    world
        .runtime
        .run(futures_util::future::select(request, soon));
    let answer = world.send(&sent);
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.http().headers()["retry-after"], "5");
}

#[test]
fn the_manifest_declares_events_when_there_are_handlers_and_only_then() {
    let world = World::new();
    let manifest = |pup: &Pup, runtime: &SimRuntime| {
        let request = http::Request::get("/manifest.json")
            .body(bytes::Bytes::new())
            .unwrap();
        let now = crate::runtime::Runtime::now(runtime);
        crate::testing::Answer::of(runtime.run(pup.service().handle(request, now))).json()
    };
    let with = manifest(&world.pup, &world.runtime);
    assert_eq!(with["events"], json!(["member.joined"]));
    assert_eq!(
        with["endpoints"]["events"],
        "https://extension.example/events"
    );

    async fn nothing() -> Result<(), ToolError> {
        Ok(())
    }
    let quiet = Extension::builder("quiet", "Quiet")
        .author("Example author")
        .description("Quiet.")
        .summary("Quiet.")
        .instructions("For tests.")
        .tool(Tool::new("nothing", nothing))
        .build()
        .unwrap();
    let runtime = SimRuntime::new();
    let without = manifest(&Pup::new(quiet, &runtime), &runtime);
    assert_eq!(
        (&without["events"], without["endpoints"].get("events")),
        (&json!([]), None)
    );
}
