//! What holds for any input at all.

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::Post;
use crate::{
    mcp::{
        AllowedOrigins, Id, Message, Method, ResultObject, admit, check_param_headers,
        header::encode_value, respond,
    },
    schema::{HeaderKind, HeaderParam},
};

const HEADERS: [&str; 6] = [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-value",
    "origin",
    "mcp-session-id",
];

/// Headers of which many are nearly right.
fn headers() -> impl Strategy<Value = HeaderMap> {
    let value = prop_oneof![
        Just(b"2026-07-28".to_vec()),
        Just(b"tools/call".to_vec()),
        Just(b"save_snack".to_vec()),
        Just(b"=?base64?c2F2ZV9zbmFjaw==?=".to_vec()),
        vec(any::<u8>(), 0..20),
    ];
    vec((0..HEADERS.len(), value), 0..8).prop_map(|pairs| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(HEADERS[name]), value);
            }
        }
        headers
    })
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn method() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "server/discover",
        "tools/list",
        "tools/call",
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "initialize",
        "ping",
    ])
}

/// Lets bytes through all that reads them.
fn read(headers: &HeaderMap, body: &[u8]) -> Result<(), TestCaseError> {
    let _allowed = AllowedOrigins::none().check(headers);
    let error = match Message::parse(body) {
        Ok(Message::Notification(_)) => return Ok(()),
        Ok(Message::Request(request)) => match admit(headers, &request) {
            Ok(admitted) => {
                let param = HeaderParam {
                    name: String::from("Value"),
                    path: vec![String::from("value")],
                    kind: HeaderKind::String,
                };
                if let Method::CallTool { arguments, .. } = &admitted.method {
                    prop_assert!(arguments.is_object());
                    let _agrees = check_param_headers(headers, &[param], arguments);
                }
                return Ok(());
            }
            Err(error) => {
                prop_assert_eq!(error.id(), Some(&request.id));
                error
            }
        },
        Err(error) => error,
    };
    // Whatever is wrong with a request, it is the request that is wrong, and the answer is JSON.
    prop_assert!(error.status().is_client_error());
    prop_assert!(serde_json::from_slice::<Value>(&error.to_body(None)).is_ok());
    Ok(())
}

proptest! {
    #[test]
    fn arbitrary_bytes_and_headers_are_answered_and_never_panic(
        headers in headers(),
        body in vec(any::<u8>(), 0..200),
    ) {
        read(&headers, &body)?;
    }

    #[test]
    fn arbitrary_json_is_answered_and_never_panics(headers in headers(), body in json_value()) {
        read(&headers, &serde_json::to_vec(&body).unwrap())?;
    }

    #[test]
    fn arbitrary_parameters_are_answered_and_never_panic(
        method in method(),
        mut params in json_value(),
        meta in json_value(),
        context in json_value(),
    ) {
        let post = Post::new(method, json!({ "name": "save_snack", "taskId": "save_snack" }));
        let mut body = post.body.clone();
        if let Some(params) = params.as_object_mut() {
            let mut whole = body["params"]["_meta"].clone();
            whole["io.puphq/context"] = context;
            params.insert(String::from("_meta"), if meta.is_object() { meta } else { whole });
        }
        body["params"] = params;
        read(&post.headers, &serde_json::to_vec(&body).unwrap())?;
    }

    #[test]
    fn a_request_that_is_damaged_anywhere_is_answered_and_never_panics(
        position in any::<prop::sample::Index>(),
        damage in vec(any::<u8>(), 0..3),
        cut in any::<bool>(),
    ) {
        let post = Post::call();
        let mut body = serde_json::to_vec(&post.body).unwrap();
        let at = position.index(body.len());
        if cut {
            body.truncate(at);
        }
        body.splice(at..body.len().min(at + damage.len()), damage);
        read(&post.headers, &body)?;
    }

    #[test]
    fn whatever_is_a_request_comes_out_as_it_went_in(
        id in prop_oneof![any::<i128>().prop_map(|id| id.to_string()), ".{0,20}".prop_map(|id| json!(id).to_string())],
        method in ".{0,20}",
        params in prop::option::of(vec((".{0,6}", json_value()), 0..4)),
    ) {
        let params = params.map(|members| Value::Object(members.into_iter().collect()));
        let member = params.as_ref().map_or_else(String::new, |params| format!(",\"params\":{params}"));
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{}{member}}}", json!(method));
        let Ok(Message::Request(request)) = Message::parse(body.as_bytes()) else {
            return Err(TestCaseError::fail(body));
        };
        prop_assert_eq!(request.id.as_json(), &id);
        prop_assert_eq!(request.method, method);
        let found = request.params.map(|params| params.get().to_owned());
        prop_assert_eq!(found, params.map(|params| params.to_string()));

        let result = ResultObject::from_recorded("{\"resultType\":\"complete\"}".into()).unwrap();
        let answer = String::from_utf8(respond(&request.id, &result)).unwrap();
        prop_assert_eq!(answer, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\"}}}}"));
    }

    #[test]
    fn any_name_is_called_under_its_encoded_header(name in any::<String>()) {
        Post::new("tools/call", json!({ "name": name })).admitted(|outcome| {
            let Method::CallTool { name: found, .. } = outcome.unwrap().method else { panic!("a call") };
            assert_eq!(found, name);
        });
    }

    #[test]
    fn any_string_agrees_with_its_own_header_and_with_no_other(value: String, other: String) {
        let param =
            HeaderParam { name: String::from("Value"), path: vec![String::from("v")], kind: HeaderKind::String };
        let arguments = json!({ "v": value });
        for header in [&value, &other] {
            let mut headers = HeaderMap::new();
            headers.insert("mcp-param-value", HeaderValue::from_str(&encode_value(header)).unwrap());
            let agrees = check_param_headers(&headers, std::slice::from_ref(&param), &arguments).is_ok();
            prop_assert_eq!(agrees, *header == value);
        }
    }

    #[test]
    fn any_safe_integer_agrees_with_its_own_header_and_with_no_other(
        value in -9_007_199_254_740_991_i64..=9_007_199_254_740_991,
        distance in -2_i64..=2,
    ) {
        let param =
            HeaderParam { name: String::from("Value"), path: vec![String::from("v")], kind: HeaderKind::Integer };
        let mut headers = HeaderMap::new();
        headers.insert("mcp-param-value", HeaderValue::from(value + distance));
        let agrees = check_param_headers(&headers, std::slice::from_ref(&param), &json!({ "v": value })).is_ok();
        prop_assert_eq!(agrees, distance == 0);
    }
}

#[test]
fn an_id_of_our_own_is_json() {
    assert_eq!(Id::from(u64::MAX).as_json(), "18446744073709551615");
}
