//! Every answer of every test here is valid against the schema that MCP publishes: `World::send` checks it.

use std::{collections::BTreeMap, sync::OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::fixture::World;
use crate::testing::{Answer, Sent};

const MCP: &str = include_str!("../../../../tests/fixtures/mcp-2026-07-28.schema.json");

/// The definitions that answers are held against, compiled once.
fn validators() -> &'static BTreeMap<&'static str, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<&'static str, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        [
            "DiscoverResultResponse",
            "ListToolsResultResponse",
            "CallToolResultResponse",
            "JSONRPCErrorResponse",
            "HeaderMismatchError",
            "UnsupportedProtocolVersionError",
            "MissingRequiredClientCapabilityError",
            "InvalidParamsError",
            "MethodNotFoundError",
            "InvalidRequestError",
            "ParseError",
            "InternalError",
        ]
        .map(|definition| {
            let mut schema: Value = serde_json::from_str(MCP).unwrap();
            assert!(schema["$defs"].get(definition).is_some(), "no {definition}");
            schema["$ref"] = json!(format!("#/$defs/{definition}"));
            (definition, jsonschema::draft202012::new(&schema).unwrap())
        })
        .into()
    })
}

/// Panics where an MCP answer is not what the schema wants for its method or its error code.
pub(super) fn check(sent: &Sent, answer: &Answer) {
    let Some(method) = sent.method() else { return };
    // What is not signed is refused before anyone reads it as MCP.
    if answer.status() == 401 {
        return;
    }
    let json = answer.json();
    let definition = match (json["error"]["code"].as_i64(), method) {
        (Some(-32700), _) => "ParseError",
        (Some(-32600), _) => "InvalidRequestError",
        (Some(-32601), _) => "MethodNotFoundError",
        (Some(-32602), _) => "InvalidParamsError",
        (Some(-32603), _) => "InternalError",
        (Some(-32020), _) => "HeaderMismatchError",
        (Some(-32021), _) => "MissingRequiredClientCapabilityError",
        (Some(-32022), _) => "UnsupportedProtocolVersionError",
        (Some(_), _) => "JSONRPCErrorResponse",
        (None, "server/discover") => "DiscoverResultResponse",
        (None, "tools/list") => "ListToolsResultResponse",
        (None, _) => "CallToolResultResponse",
    };
    for definition in [
        definition,
        if json.get("error").is_some() {
            "JSONRPCErrorResponse"
        } else {
            definition
        },
    ] {
        let whole = if definition.ends_with("Error")
            && definition != "JSONRPCErrorResponse"
            && is_bare(definition)
        {
            json["error"].clone()
        } else {
            json.clone()
        };
        if let Err(error) = validators()[definition].validate(&whole) {
            panic!(
                "{error} at {} of {json}, as a {definition}",
                error.instance_path()
            );
        }
    }
}

/// Whether a definition is of the `error` member alone, and not of the whole response.
fn is_bare(definition: &str) -> bool {
    matches!(
        definition,
        "ParseError"
            | "InvalidRequestError"
            | "MethodNotFoundError"
            | "InvalidParamsError"
            | "InternalError"
    )
}

#[test]
fn discovery_names_the_version_and_how_long_it_may_be_kept() {
    let world = World::new();
    let result = world
        .send(&world.pup.mcp("server/discover", json!({})))
        .result();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["instructions"], "For tests.");
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(300_000), &json!("public"))
    );
}

#[test]
fn the_list_has_every_tool_in_the_order_of_the_manifest() {
    let world = World::new();
    let result = world.send(&world.pup.mcp("tools/list", json!({}))).result();
    let names: Vec<&str> = result["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let request = http::Request::get("/manifest.json")
        .body(bytes::Bytes::new())
        .unwrap();
    let now = crate::runtime::Runtime::now(&world.runtime);
    let manifest = Answer::of(world.runtime.run(world.pup.service().handle(request, now))).json();
    let listed: Vec<&str> = manifest["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, listed);
    assert_eq!(names.len(), 19);
    assert!(
        result["tools"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["inputSchema"]["type"] == "object")
    );
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(300_000), &json!("public"))
    );
    // A cursor that nobody gave out is refused.
    assert_eq!(
        world
            .send(&world.pup.mcp("tools/list", json!({ "cursor": "x" })))
            .error_code(),
        Some(-32602)
    );
}

#[test]
fn unknown_methods_and_legacy_clients_are_told_the_version() {
    let world = World::new();
    let unknown = world.send(&world.pup.mcp("tasks/result", json!({})));
    assert_eq!(
        (unknown.status().as_u16(), unknown.error_code()),
        (404, Some(-32601))
    );
    assert!(unknown.json()["error"].to_string().contains("2026-07-28"));

    let mut legacy = world
        .pup
        .mcp("initialize", json!({ "protocolVersion": "2025-06-18" }))
        .to_http();
    legacy.headers_mut().remove("mcp-protocol-version");
    legacy.headers_mut().remove("mcp-method");
    let now = crate::runtime::Runtime::now(&world.runtime);
    let answer = Answer::of(world.runtime.run(world.pup.service().handle(legacy, now)));
    assert_eq!(answer.status(), 400);
    assert!(answer.json()["error"].to_string().contains("2026-07-28"));
}

#[test]
fn another_version_is_refused_with_those_that_are_supported() {
    let world = World::new();
    let mut request = world.pup.mcp("tools/list", json!({})).to_http();
    let body = String::from_utf8(request.body().to_vec())
        .unwrap()
        .replace("2026-07-28", "2025-11-25");
    let body = bytes::Bytes::from(body);
    request
        .headers_mut()
        .insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
    let secret = crate::signing::Secret::from_bytes(&[7; 32]).unwrap();
    secret
        .sign(
            "another-version",
            crate::runtime::Runtime::now(&world.runtime),
            &body,
        )
        .unwrap()
        .apply(request.headers_mut());
    *request.body_mut() = body;
    let now = crate::runtime::Runtime::now(&world.runtime);
    let answer = Answer::of(world.runtime.run(world.pup.service().handle(request, now)));
    assert_eq!(
        (answer.status().as_u16(), answer.error_code()),
        (400, Some(-32022))
    );
    assert_eq!(
        answer.json()["error"]["data"],
        json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" })
    );
}

#[test]
fn a_tool_is_listed_with_its_words_its_types_and_hints_that_agree_with_the_manifest() {
    use crate::{
        prelude::*,
        testing::{Pup, SimRuntime},
    };

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Pay {
        cents: u8,
    }
    async fn pay(input: Pay) -> Result<u8, ToolError> {
        Ok(input.cents)
    }
    async fn look() -> Result<(), ToolError> {
        Ok(())
    }
    let extension = Extension::builder("shop", "Shop")
        .author("Example author")
        .description("Sells.")
        .summary("Sells.")
        .instructions("For tests.")
        .tool(
            Tool::new("pay", pay)
                .title("Pay")
                .description("Pays what is asked.")
                .always_ask(),
        )
        .tool(Tool::new("look", look).read_only().thread().user_request())
        .build()
        .unwrap();
    assert_eq!(
        serde_json::to_value(extension.manifest()).unwrap()["tools"],
        json!([
            { "name": "pay", "alwaysAsk": true },
            { "name": "look", "readOnly": true, "thread": true, "userRequest": true },
        ])
    );
    let runtime = SimRuntime::new();
    let pup = Pup::new(extension, &runtime);
    let sent = pup.mcp("tools/list", json!({}));
    let answer = pup.send(&sent);
    check(&sent, &answer);
    let tools = answer.result()["tools"].take();
    assert_eq!(
        tools[0],
        json!({
            "name": "pay",
            "title": "Pay",
            "description": "Pays what is asked.",
            "inputSchema": {
                "type": "object",
                "properties": { "cents": { "type": "integer", "minimum": 0, "maximum": 255 } },
                "required": ["cents"],
                "additionalProperties": false,
            },
            "outputSchema": { "type": "integer", "minimum": 0, "maximum": 255 },
            "annotations": { "readOnlyHint": false, "destructiveHint": true },
        })
    );
    assert_eq!(tools[1]["annotations"], json!({ "readOnlyHint": true }));
}
