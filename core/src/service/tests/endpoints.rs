//! The endpoints themselves: what each takes, and what it says to what it does not take.

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Value, json};

use super::fixture::{Outside, World, extension};
use crate::{
    manifest::Manifest,
    mcp::CONTEXT_KEY,
    runtime::Runtime as _,
    service::{Config, Service, ServiceError},
    signing::{Keyring, Refusal, RefusalKind, Secret},
    store::MemoryStore,
    testing::{Answer, Pup, SimRuntime},
};

/// A body that pup would not send, signed as pup signs.
fn signed(world: &World, path: &str, webhook_id: &str, body: &[u8]) -> Answer {
    let mut request = Request::post(path)
        .body(Bytes::copy_from_slice(body))
        .unwrap();
    Secret::from_bytes(&[7; 32])
        .unwrap()
        .sign(webhook_id, world.runtime.now(), body)
        .unwrap()
        .apply(request.headers_mut());
    handle(&world.pup, &world.runtime, request)
}

fn handle(pup: &Pup, runtime: &SimRuntime, request: Request<Bytes>) -> Answer {
    Answer::of(runtime.run(pup.service().handle(request, runtime.now())))
}

#[test]
fn the_manifest_is_served_to_anyone_and_passes_its_own_strict_reader() {
    let world = World::new();
    let get = |method: Method| {
        let request = Request::builder().method(method).uri("/manifest.json");
        handle(
            &world.pup,
            &world.runtime,
            request.body(Bytes::new()).unwrap(),
        )
    };
    let answer = get(Method::GET);
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.http().headers()["content-type"], "application/json");
    let manifest = Manifest::parse(answer.http().body()).unwrap();
    assert_eq!(manifest.id().as_str(), "fixture");
    assert_eq!(
        manifest.endpoints().challenge,
        "https://extension.example/challenge"
    );
    let head = get(Method::HEAD);
    assert_eq!((head.status().as_u16(), head.http().body().len()), (200, 0));
}

#[test]
fn a_public_url_whose_endpoints_pup_would_refuse_stops_the_service_from_starting() {
    let start = |url: &str, config: fn(Keyring, String) -> Result<Config, _>| {
        let keyring = Keyring::new(Secret::from_bytes(&[7; 32]).unwrap());
        let config = config(keyring, url.to_owned()).unwrap();
        Service::new(
            extension(&Outside::default()),
            config,
            MemoryStore::default(),
            SimRuntime::new(),
        )
    };
    for url in [
        "http://a.example",
        "https://",
        "https://user:pw@a.example",
        "https://127.0.0.1",
        "https://localhost:8787",
    ] {
        let refused = start(url, Config::new).unwrap_err();
        assert!(matches!(refused, ServiceError::Endpoints(_)), "{url}");
    }
    assert!(start("http://127.0.0.1:8787", Config::local).is_ok());
    assert!(start("http://a.example", Config::local).is_err());
}

#[test]
fn a_challenge_is_echoed_as_json_and_nothing_else_of_its_body_is() {
    let world = World::new();
    for challenge in ["x", "", "snøw \u{1f37f} \"quoted\" \\ \n\u{0}"] {
        let answer = world.send(&world.pup.challenge(challenge));
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.http().headers()["content-type"], "application/json");
        assert_eq!(answer.json(), json!({ "challenge": challenge }));
    }
    let more = signed(
        &world,
        "/challenge",
        "more",
        br#"{"later": [1], "challenge": "x"}"#,
    );
    assert_eq!(more.json(), json!({ "challenge": "x" }));
}

#[test]
fn a_body_without_a_text_to_echo_is_refused_and_its_id_not_claimed() {
    let world = World::new();
    for body in [
        &b""[..],
        b"{}",
        b"[]",
        b"[\"x\"]",
        b"\"x\"",
        b"{\"challenge\": 7}",
        b"{\"challenge\": null}",
        b"{\"challenge\": \"a\", \"challenge\": \"b\"}",
        b"{\"challenge\": \"\xff\"}",
    ] {
        let answer = signed(&world, "/challenge", "one-id", body);
        assert_eq!(answer.status(), 400, "{body:?}");
        assert!(answer.json()["error"].is_string());
    }
    let right = signed(&world, "/challenge", "one-id", br#"{"challenge": "x"}"#);
    assert_eq!(right.status(), 200);
}

#[test]
fn what_is_not_signed_is_refused_in_plain_json_at_every_endpoint() {
    let world = World::new();
    for path in ["/mcp", "/challenge", "/events"] {
        let request = Request::post(path).body(Bytes::from("{}")).unwrap();
        let answer = handle(&world.pup, &world.runtime, request);
        assert_eq!(answer.status(), 401);
        // Who it is that asks is not known, so this is no JSON-RPC: there is one member, a text.
        let json = answer.json();
        assert!(
            json.as_object().unwrap().len() == 1 && json["error"].is_string(),
            "{json}"
        );
    }
}

#[test]
fn a_foreign_origin_is_refused_at_every_endpoint_unless_it_is_allowed() {
    let world = World::new();
    let runtime = SimRuntime::new();
    let allowing = Pup::with_config(
        extension(&Outside::default()),
        &runtime,
        MemoryStore::default(),
        |config| config.allow_origin("https://page.example"),
    );
    for sent in [
        world.pup.mcp("tools/list", json!({})),
        world.pup.challenge("x"),
        world.pup.event("member.joined", "m1"),
    ] {
        let sent = sent.header("origin", "https://page.example");
        assert_eq!(
            handle(&world.pup, &world.runtime, sent.to_http()).status(),
            403
        );
        assert_eq!(handle(&allowing, &runtime, sent.to_http()).status(), 200);
    }
}

#[test]
fn a_notification_is_accepted_and_runs_nothing() {
    let world = World::new();
    let call = world.call("next", "c1").to_http();
    let mut body: Value = serde_json::from_slice(call.body()).unwrap();
    body.as_object_mut().unwrap().remove("id");
    let answer = signed(&world, "/mcp", "notification", body.to_string().as_bytes());
    assert_eq!(answer.status(), 202);
    assert!(answer.http().body().is_empty());
    assert_eq!(world.look()["next"], 0);
}

#[test]
fn another_method_is_told_which_are_allowed_and_another_path_is_not_found() {
    let world = World::new();
    let send = |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(path);
        handle(
            &world.pup,
            &world.runtime,
            request.body(Bytes::new()).unwrap(),
        )
    };
    for (path, wrong, allowed) in [
        ("/mcp", "GET", "POST"),
        ("/mcp", "DELETE", "POST"),
        ("/challenge", "GET", "POST"),
        ("/events", "PUT", "POST"),
        ("/manifest.json", "POST", "GET, HEAD"),
    ] {
        let answer = send(wrong, path);
        assert_eq!(answer.status(), 405, "{wrong} {path}");
        assert_eq!(answer.http().headers()["allow"], allowed);
        assert!(answer.json()["error"].is_string());
    }
    let nothing = send("GET", "/");
    assert_eq!(nothing.status(), 404);
    assert!(nothing.json()["error"].is_string());
}

#[test]
fn discovery_without_a_context_is_answered_and_its_replay_is_not() {
    let world = World::new();
    for method in ["server/discover", "tools/list"] {
        let request = world.pup.mcp(method, json!({})).to_http();
        let mut body: Value = serde_json::from_slice(request.body()).unwrap();
        body["params"]["_meta"]
            .as_object_mut()
            .unwrap()
            .remove(CONTEXT_KEY)
            .unwrap();
        let body = Bytes::from(body.to_string());
        let (mut head, _) = request.into_parts();
        Secret::from_bytes(&[7; 32])
            .unwrap()
            .sign(method, world.runtime.now(), &body)
            .unwrap()
            .apply(&mut head.headers);
        for status in [200, 409] {
            let request = Request::from_parts(head.clone(), body.clone());
            let answer = handle(&world.pup, &world.runtime, request);
            assert_eq!(answer.status(), status, "{method}");
        }
    }
}

#[test]
fn a_service_learns_its_public_url_later_and_has_no_manifest_until_then() {
    let runtime = SimRuntime::new();
    let keyring = Keyring::new(Secret::from_bytes(&[7; 32]).unwrap());
    let service = Service::new(
        extension(&Outside::default()),
        Config::without_public_url(keyring),
        MemoryStore::default(),
        runtime.clone(),
    )
    .unwrap();
    let manifest = |service: &Service, path: &str| {
        let request = Request::get(path).body(Bytes::new()).unwrap();
        Answer::of(runtime.run(service.handle(request, runtime.now())))
    };
    assert_eq!(manifest(&service, "/manifest.json").status(), 503);
    for (url, path) in [
        ("https://one.example", "/manifest.json"),
        ("https://two.example/prod/", "/prod/manifest.json"),
    ] {
        let placed = service.under(url).unwrap();
        let answer = manifest(&placed, path);
        assert_eq!(answer.status(), 200, "{url}");
        let endpoint = format!("{}/challenge", url.trim_end_matches('/'));
        let manifest = Manifest::parse(answer.http().body()).unwrap();
        assert_eq!(manifest.endpoints().challenge, endpoint);
    }
    for url in [
        "",
        "http://a.example",
        "https://localhost",
        "https://a.example?x",
    ] {
        assert!(service.under(url).is_err(), "{url}");
    }
}

#[test]
fn a_service_takes_on_newer_secrets_and_tells_why_it_refused() {
    let world = World::new();
    let old = world.pup.service();
    let new = Secret::from_bytes(&[8; 32]).unwrap();
    let service = old.with_keyring(Keyring::new(new.clone()));
    let challenge = |service: &Service, secret: &Secret, id: &str| {
        let body = br#"{"challenge":"c"}"#;
        let mut request = Request::post("/challenge")
            .body(Bytes::from_static(body))
            .unwrap();
        secret
            .sign(id, world.runtime.now(), body)
            .unwrap()
            .apply(request.headers_mut());
        let now = world.runtime.now();
        world.runtime.run(service.handle(request, now))
    };
    assert_eq!(challenge(&service, &new, "1").status(), 200);
    let refused = challenge(old, &new, "2");
    assert_eq!(refused.status(), 401);
    let refusal = refused.extensions().get::<Refusal>().unwrap();
    assert_eq!(refusal.kind(), RefusalKind::NoMatch);
    // The same request is taken, since nothing was made of it.
    assert_eq!(challenge(&service, &new, "2").status(), 200);
    let old_secret = Secret::from_bytes(&[7; 32]).unwrap();
    assert_eq!(challenge(&service, &old_secret, "3").status(), 401);
    assert_eq!(challenge(old, &old_secret, "3").status(), 200);
}
