//! Events of every shape, through the runtime API: the same verdicts as over HTTP.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use pup_extension_cli::{CallOptions, SignedRequest};
use serde_json::{Map, Value, json};

use crate::deploy::{Deployed, options};

/// The shapes in which a request comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    FunctionUrl,
    HttpApi,
    RestApi,
    LoadBalancer,
    LoadBalancerMultiValue,
}

const SHAPES: [Shape; 5] = [
    Shape::FunctionUrl,
    Shape::HttpApi,
    Shape::RestApi,
    Shape::LoadBalancer,
    Shape::LoadBalancerMultiValue,
];

/// How header names are written.
#[derive(Clone, Copy, Debug)]
enum Case {
    Lower,
    Upper,
    Title,
}

impl Case {
    fn of(self, name: &str) -> String {
        match self {
            Self::Lower => name.to_owned(),
            Self::Upper => name.to_uppercase(),
            Self::Title => name
                .split('-')
                .map(|word| {
                    let (first, rest) = word.split_at(1);
                    first.to_uppercase() + rest
                })
                .collect::<Vec<_>>()
                .join("-"),
        }
    }
}

fn event(shape: Shape, case: Case, base64: bool, request: &SignedRequest, body: &[u8]) -> Value {
    let headers: Map<String, Value> = request
        .headers()
        .iter()
        .map(|(name, value)| (case.of(name.as_str()), json!(value.to_str().unwrap())))
        .collect();
    let multi: Map<String, Value> = headers
        .iter()
        .map(|(name, value)| (name.clone(), json!([value])))
        .collect();
    let body = if base64 {
        STANDARD.encode(body)
    } else {
        String::from_utf8(body.to_vec()).unwrap()
    };
    let path = request.path();
    match shape {
        Shape::FunctionUrl | Shape::HttpApi => {
            let (stage, raw_path) = if shape == Shape::HttpApi {
                ("prod", format!("/prod{path}"))
            } else {
                ("$default", path.to_owned())
            };
            json!({
                "version": "2.0", "routeKey": "$default", "rawPath": raw_path, "rawQueryString": "",
                "cookies": ["a=b"], "headers": headers,
                "requestContext": { "http": { "method": "POST", "path": raw_path }, "stage": stage },
                "body": body, "isBase64Encoded": base64,
            })
        }
        Shape::RestApi => json!({
            "resource": "/{proxy+}", "path": path, "httpMethod": "POST", "headers": headers,
            "multiValueHeaders": multi, "queryStringParameters": null, "pathParameters": { "proxy": "mcp" },
            "requestContext": { "stage": "prod", "path": format!("/prod{path}"), "httpMethod": "POST" },
            "body": body, "isBase64Encoded": base64,
        }),
        Shape::LoadBalancer => json!({
            "requestContext": { "elb": { "targetGroupArn": "arn" } }, "httpMethod": "POST", "path": path,
            "headers": headers, "body": body, "isBase64Encoded": base64,
        }),
        Shape::LoadBalancerMultiValue => json!({
            "requestContext": { "elb": { "targetGroupArn": "arn" } }, "httpMethod": "POST", "path": path,
            "multiValueHeaders": multi, "body": body, "isBase64Encoded": base64,
        }),
    }
}

async fn send(deployed: &Deployed, event: &Value) -> Value {
    let payload = Bytes::from(event.to_string());
    let answer = deployed.platform.http().invoke(payload).await.unwrap();
    serde_json::from_slice(&answer).unwrap()
}

fn call(deployed: &Deployed, snack: &str, call_id: &str) -> SignedRequest {
    let options = CallOptions::new().call_id(call_id);
    deployed
        .pup
        .call_request("save_snack", json!({ "snack": snack }), options)
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_shape_has_the_same_verdicts_text_and_base64_in_every_case() {
    let deployed = Deployed::new().await;
    let mut number = 0;
    for shape in SHAPES {
        for case in [Case::Lower, Case::Upper, Case::Title] {
            for base64 in [false, true] {
                number += 1;
                let call_id = format!("call-{number}");
                let signed = call(&deployed, "fruit", &call_id);
                let sent = event(shape, case, base64, &signed, signed.body());
                let what = format!("{shape:?} {case:?} {base64}");
                let answer = send(&deployed, &sent).await;
                assert_eq!(answer["statusCode"], 200, "{what}: {answer}");
                assert_eq!(answer["isBase64Encoded"], false, "{what}");
                let kind = match shape {
                    Shape::LoadBalancerMultiValue => {
                        &answer["multiValueHeaders"]["content-type"][0]
                    }
                    _ => &answer["headers"]["content-type"],
                };
                assert_eq!(kind, "application/json", "{what}");
                let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
                assert_eq!(
                    body["result"]["structuredContent"],
                    json!({ "saved": "fruit" })
                );
                // The same event again is a replay; with a byte changed, a forgery.
                assert_eq!(send(&deployed, &sent).await["statusCode"], 409, "{what}");
                let mut changed = signed.body().to_vec();
                changed.push(b' ');
                let forged = event(shape, case, base64, &signed, &changed);
                assert_eq!(send(&deployed, &forged).await["statusCode"], 401, "{what}");
            }
        }
    }
    assert_eq!(deployed.menu().await["counts"]["fruit"], number);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_is_an_error_and_the_process_lives() {
    let mut options = options();
    options.instances = 1;
    let deployed = Deployed::with(options).await;
    deployed.menu().await;
    let function = deployed.platform.http();
    let process = function.processes();
    assert_eq!(process.len(), 1);
    for other in [
        json!({ "key1": "value1", "key2": "value2", "key3": "value3" }),
        json!({ "Records": [{ "eventSource": "aws:sqs" }] }),
        json!({ "partition": "i/x", "task": "0123456789abcdef0123456789abcdef" }),
        json!("text"),
        json!(null),
        json!({ "headers": 5 }),
    ] {
        let failed = function.invoke(Bytes::from(other.to_string())).await;
        let error = failed.unwrap_err().error;
        assert!(error.contains("NotAnHttpRequest"), "{other}: {error}");
    }
    let signed = call(&deployed, "fruit", "call-1");
    let mut broken = event(Shape::RestApi, Case::Lower, true, &signed, signed.body());
    broken["body"] = json!("no base64!");
    let answer = send(&deployed, &broken).await;
    assert_eq!(answer["statusCode"], 400, "{answer}");
    assert!(
        answer["body"].as_str().unwrap().contains("base64"),
        "{answer}"
    );
    let sent = event(Shape::RestApi, Case::Lower, true, &signed, signed.body());
    assert_eq!(send(&deployed, &sent).await["statusCode"], 200);
    assert_eq!(function.processes(), process);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signature_that_was_split_on_its_way_is_put_together_again() {
    let deployed = Deployed::new().await;
    let signed = call(&deployed, "fruit", "call-1");
    let mut sent = event(Shape::RestApi, Case::Title, false, &signed, signed.body());
    let whole = sent["headers"]["Webhook-Signature"]
        .as_str()
        .unwrap()
        .to_owned();
    let (version, signature) = whole.split_once(',').unwrap();
    sent["multiValueHeaders"]["Webhook-Signature"] = json!([version, signature]);
    assert_eq!(send(&deployed, &sent).await["statusCode"], 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_over_the_limit_and_one_that_is_not_utf_8_are_refused_as_over_http() {
    let deployed = Deployed::new().await;
    let signed = call(&deployed, "fruit", "call-1");
    let large = vec![b' '; 1024 * 1024 + 1];
    let sent = event(Shape::FunctionUrl, Case::Lower, true, &signed, &large);
    assert_eq!(send(&deployed, &sent).await["statusCode"], 413);
    let sent = event(
        Shape::FunctionUrl,
        Case::Lower,
        true,
        &signed,
        &[0xff, 0xfe],
    );
    assert_eq!(send(&deployed, &sent).await["statusCode"], 401);
}
