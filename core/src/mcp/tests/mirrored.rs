//! `x-mcp-header`: the specification's table of cases, and the values that its types allow.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::{
    mcp::check_param_headers,
    schema::{HeaderKind, HeaderParam},
};

fn param(kind: HeaderKind) -> HeaderParam {
    HeaderParam {
        name: String::from("Value"),
        path: vec![String::from("at"), String::from("value")],
        kind,
    }
}

fn agrees(kind: HeaderKind, arguments: &Value, headers: &[&str]) -> bool {
    let mut map = HeaderMap::new();
    for header in headers {
        map.append(
            HeaderName::from_static("mcp-param-value"),
            HeaderValue::from_bytes(header.as_bytes()).unwrap(),
        );
    }
    match check_param_headers(&map, &[param(kind)], arguments) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!((error.code(), error.status().as_u16()), (-32020, 400));
            assert!(error.message().contains("Mcp-Param-Value"), "{error}");
            false
        }
    }
}

fn same(kind: HeaderKind, value: Value, header: &str) -> bool {
    let mut arguments = json!({ "at": {} });
    arguments["at"]["value"] = value;
    agrees(kind, &arguments, &[header])
}

#[test]
fn a_header_is_there_exactly_when_its_argument_is() {
    let kind = HeaderKind::String;
    for absent in [
        json!({}),
        json!({ "at": {} }),
        json!({ "at": { "value": null } }),
        json!({ "at": 7 }),
        json!(null),
    ] {
        assert!(agrees(kind, &absent, &[]), "{absent}");
        assert!(!agrees(kind, &absent, &["x"]), "{absent}");
        assert!(!agrees(kind, &absent, &[""]), "{absent}");
        assert!(!agrees(kind, &absent, &["null"]), "{absent}");
    }
    let present = json!({ "at": { "value": "x" } });
    assert!(agrees(kind, &present, &["x"]));
    assert!(!agrees(kind, &present, &[]));
    assert!(!agrees(kind, &present, &["x", "x"]));
}

#[test]
fn strings_are_compared_decoded_and_with_case() {
    let kind = HeaderKind::String;
    for (value, header) in [
        ("Hello", "Hello"),
        ("Hello", "  Hello\t"),
        ("Hello", "=?base64?SGVsbG8=?="),
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("", ""),
        ("a, b", "a, b"),
    ] {
        assert!(same(kind, json!(value), header), "{header}");
    }
    for (value, header) in [
        ("Hello", "hello"),
        ("Hello", "=?base64?SGVsbG8?="),
        ("Hello", "=?base64?SGVs!!!bG8=?="),
        ("Hellö", "Hellö"),
    ] {
        assert!(!same(kind, json!(value), header), "{header}");
    }
}

#[test]
fn integers_are_compared_by_value_in_the_safe_range() {
    let kind = HeaderKind::Integer;
    for (value, header) in [
        (json!(42), "42"),
        (json!(42), "42.0"),
        (json!(42.0), "42"),
        (json!(42), "4.2e1"),
        (json!(-7), "-7"),
        (json!(0), "-0"),
        (json!(42), "=?base64?NDI=?="),
        (json!(9_007_199_254_740_991_i64), "9007199254740991"),
        (json!(-9_007_199_254_740_991_i64), "-9007199254740991.0"),
    ] {
        assert!(same(kind, value, header), "{header}");
    }
    for (value, header) in [
        (json!(42), "43"),
        (json!(42), "+42"),
        (json!(42), "042"),
        (json!(42), "0x2a"),
        (json!(42), "42 42"),
        (json!(42), ""),
        (json!(42.5), "42.5"),
        (json!("42"), "42"),
        (json!(9_007_199_254_740_992_i64), "9007199254740992"),
        (json!(9_007_199_254_740_993_i64), "9007199254740992"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(1e300), "1e300"),
        (json!(0), "NaN"),
        (json!(1), "1e999999999"),
    ] {
        assert!(!same(kind, value, header), "{header}");
    }
}

#[test]
fn booleans_are_true_or_false_in_lower_case() {
    let kind = HeaderKind::Boolean;
    assert!(same(kind, json!(true), "true") && same(kind, json!(false), "false"));
    for (value, header) in [
        (json!(true), "false"),
        (json!(true), "True"),
        (json!(true), "1"),
        (json!("true"), "true"),
    ] {
        assert!(!same(kind, value, header), "{header}");
    }
}

#[test]
fn header_names_have_no_case_and_only_those_of_the_tool_count() {
    let mut headers = HeaderMap::new();
    headers.insert(
        HeaderName::from_bytes(b"MCP-PARAM-VALUE").unwrap(),
        "true".parse().unwrap(),
    );
    headers.append(
        HeaderName::from_static("mcp-param-other"),
        "x".parse().unwrap(),
    );
    headers.append(
        HeaderName::from_static("mcp-param-other"),
        "y".parse().unwrap(),
    );
    let arguments = json!({ "at": { "value": true }, "other": "z" });
    assert!(check_param_headers(&headers, &[param(HeaderKind::Boolean)], &arguments).is_ok());
}

#[test]
fn the_message_names_the_argument_but_not_its_value() {
    let arguments = json!({ "at": { "value": "s3cret" } });
    let error = check_param_headers(&HeaderMap::new(), &[param(HeaderKind::String)], &arguments)
        .unwrap_err();
    assert!(
        error.message().contains("arguments.at.value") && !error.message().contains("s3cret"),
        "{error}"
    );
}
