//! Ten thousand malformed, mutated and unsigned requests: no server error, no panic, and nothing written for one
//! that is not signed.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use serde_json::{Value, json};

use super::fixture::World;
use crate::{
    runtime::Runtime as _,
    signing::Secret,
    store::{MemoryStore, testing::CountingStore},
};

/// A small generator: the same requests in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // SplitMix64: each state gives one well-mixed number.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.roll(choices.len())]
    }
}

/// Bytes that parsers trip over.
fn garbage(dice: &mut Dice) -> Vec<u8> {
    let fixed: [&[u8]; 12] = [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\"\"",
        b"0",
        b"{",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\"}",
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]",
        b"\x00",
        b"{\"id\":1e999}",
    ];
    match dice.roll(4) {
        0 => (*dice.pick(&fixed)).to_vec(),
        1 => b"[".repeat(dice.roll(5_000)),
        2 => (0..dice.roll(300))
            .map(|_| u8::try_from(dice.roll(256)).unwrap())
            .collect(),
        _ => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{}}}}",
            dice.roll(9)
        )
        .into_bytes(),
    }
}

/// A valid request's body with something done to it.
fn mutated(dice: &mut Dice, body: &[u8]) -> Vec<u8> {
    let mut bytes = body.to_vec();
    for _ in 0..=dice.roll(4) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.roll(bytes.len());
        match dice.roll(4) {
            0 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *dice.pick(b"{}[]\",:0\\\x00\xff")),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// JSON of the right shape with a value replaced by one of another type.
fn twisted(dice: &mut Dice, body: &[u8]) -> Vec<u8> {
    fn twist(dice: &mut Dice, value: &mut Value, depth: usize) {
        let odd = [
            json!(null),
            json!(0),
            json!(-1.5),
            json!(""),
            json!([]),
            json!({}),
            json!("\u{0}"),
            json!(true),
            json!("x".repeat(600)),
        ];
        match value {
            Value::Object(members) if !members.is_empty() && (depth == 0 || dice.roll(4) > 0) => {
                let names: Vec<String> = members.keys().cloned().collect();
                let name = dice.pick(&names).clone();
                if dice.roll(8) == 0 {
                    members.remove(&name);
                } else if let Some(member) = members.get_mut(&name) {
                    twist(dice, member, depth + 1);
                }
            }
            other => *other = dice.pick(&odd).clone(),
        }
    }
    let Ok(mut value) = serde_json::from_slice(body) else {
        return body.to_vec();
    };
    twist(dice, &mut value, 0);
    value.to_string().into_bytes()
}

fn headers(dice: &mut Dice, headers: &mut HeaderMap) {
    let names = [
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "content-length",
        "accept",
        "origin",
        "content-type",
    ];
    let values: [&[u8]; 11] = [
        b"",
        b"tools/call",
        b"tools/list",
        b"=?base64?!!!?=",
        b"=?base64?bmV4dA==?=",
        b"2025-11-25",
        b"v1,AAAA v2,x",
        b"99999999999999999999",
        b"\xff\xfe",
        b"https://evil.example",
        b"x",
    ];
    for _ in 0..dice.roll(3) {
        let name = HeaderName::from_static(names[dice.roll(names.len())]);
        let value = HeaderValue::from_bytes(values[dice.roll(values.len())]).unwrap();
        match dice.roll(3) {
            0 => drop(headers.remove(name)),
            1 => drop(headers.append(name, value)),
            _ => drop(headers.insert(name, value)),
        }
    }
}

#[test]
fn ten_thousand_hostile_requests_bring_no_server_error_and_unsigned_ones_no_store_operation() {
    let store = Arc::new(CountingStore::new(MemoryStore::default()));
    let world = World::over(Arc::clone(&store));
    let secret = Secret::from_bytes(&[7; 32]).unwrap();
    let mut dice = Dice(7);
    let (mut signed_count, mut refused, mut accepted) = (0, 0, 0);
    for number in 0..10_000 {
        let valid = match dice.roll(5) {
            0 => world.pup.challenge("x"),
            1 => world.pup.event("member.joined", "m1"),
            2 => world.pup.mcp("tools/list", json!({})),
            3 => world.pup.call("look", json!({})),
            _ => world
                .pup
                .call("keep", json!({ "text": "a" }))
                .call_id(&format!("call-{}", dice.roll(9))),
        }
        .to_http();
        let (mut head, body) = valid.into_parts();
        let body = match dice.roll(4) {
            0 => garbage(&mut dice),
            1 => mutated(&mut dice, &body),
            2 => twisted(&mut dice, &body),
            _ => body.to_vec(),
        };
        let signed = dice.roll(2) == 0;
        if signed {
            secret
                .sign(&format!("hostile-{number}"), world.runtime.now(), &body)
                .unwrap()
                .apply(&mut head.headers);
            signed_count += 1;
        } else {
            match dice.roll(3) {
                0 => drop(head.headers.remove("webhook-signature")),
                1 => drop(head.headers.insert(
                    "webhook-signature",
                    HeaderValue::from_static("v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
                )),
                _ => Secret::from_bytes(&[8; 32])
                    .unwrap()
                    .sign("x", world.runtime.now(), &body)
                    .unwrap()
                    .apply(&mut head.headers),
            }
        }
        headers(&mut dice, &mut head.headers);
        if dice.roll(10) == 0 {
            head.uri = (*dice.pick(&[
                "/",
                "/mcp",
                "/events",
                "/challenge",
                "/manifest.json",
                "/%00",
                "//",
                "/mcp?x=1",
                "*",
            ]))
            .parse()
            .unwrap();
        }
        if dice.roll(10) == 0 {
            head.method = dice
                .pick(&[
                    Method::GET,
                    Method::PUT,
                    Method::DELETE,
                    Method::OPTIONS,
                    Method::TRACE,
                ])
                .clone();
        }
        let still_signed = signed && {
            // What the mutation of headers left of the signature.
            let keyring = crate::signing::Keyring::new(secret.clone());
            keyring
                .verify(
                    &head.headers,
                    Bytes::from(body.clone()),
                    world.runtime.now(),
                )
                .is_ok()
        };
        store.take();
        let request = Request::from_parts(head, Bytes::from(body));
        let answer = world
            .runtime
            .run(world.pup.service().handle(request, world.runtime.now()));
        let status = answer.status();
        assert!(!status.is_server_error(), "request {number}: {status}");
        // pup follows none.
        assert!(!status.is_redirection(), "request {number}: {status}");
        if status.is_success() {
            accepted += 1;
        } else {
            refused += 1;
        }
        if !still_signed {
            assert_eq!(
                store.take().operations(),
                0,
                "request {number} was not signed, and reached the store"
            );
        }
        assert_eq!(answer.headers().get("content-encoding"), None);
        assert!(
            answer.headers()["cache-control"]
                .to_str()
                .unwrap()
                .contains("no-transform")
        );
    }
    println!("{signed_count} signed; {accepted} accepted, {refused} refused");
    assert!(signed_count > 4_000 && accepted > 500 && refused > 5_000);
}
