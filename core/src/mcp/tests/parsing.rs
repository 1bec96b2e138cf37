//! JSON-RPC, told apart from what is not.

use serde_json::Value;

use crate::mcp::{MAX_NESTING, MAX_REQUEST_ID_BYTES, Message};

#[test]
fn what_is_no_request_is_refused_with_its_code_its_status_and_the_id_where_there_is_one() {
    let deep = |levels: usize| {
        // The envelope is one level, `params` another.
        let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"a":{open}{close}}}}}"#)
    };
    let long_id = format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"m"}}"#,
        "1".repeat(MAX_REQUEST_ID_BYTES + 1)
    );
    let (too_deep, far_too_deep) = (deep(MAX_NESTING + 1), deep(200_000));
    let brackets = "[".repeat(200_000);
    let batch_of_brackets = format!("{brackets}{}", "]".repeat(200_000));
    let cases: &[(&str, &str, i64, Option<&str>)] = &[
        ("no body", "", -32700, None),
        ("no JSON", "{", -32700, None),
        (
            "an unfinished string",
            r#"{"jsonrpc":"2.0","id":7,"method":"m"#,
            -32700,
            None,
        ),
        (
            "trailing bytes",
            r#"{"jsonrpc":"2.0","id":7,"method":"m"} x"#,
            -32700,
            None,
        ),
        (
            "a second message",
            r#"{"jsonrpc":"2.0","id":7,"method":"m"}{}"#,
            -32700,
            None,
        ),
        (
            "a byte order mark",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\"}",
            -32700,
            None,
        ),
        (
            "a trailing comma",
            r#"{"jsonrpc":"2.0","id":7,"method":"m",}"#,
            -32700,
            None,
        ),
        (
            "a comment",
            r#"{"jsonrpc":"2.0",/**/"id":7,"method":"m"}"#,
            -32700,
            None,
        ),
        (
            "NaN",
            r#"{"jsonrpc":"2.0","id":NaN,"method":"m"}"#,
            -32700,
            None,
        ),
        (
            "a control character",
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"m\"}",
            -32700,
            None,
        ),
        (
            "half a surrogate pair as a name",
            r#"{"\ud800":1,"jsonrpc":"2.0","id":7,"method":"m"}"#,
            -32700,
            None,
        ),
        ("endless nesting", &brackets, -32700, None),
        ("a deep batch", &batch_of_brackets, -32600, None),
        (
            "a batch",
            r#"[{"jsonrpc":"2.0","id":7,"method":"m"}]"#,
            -32600,
            None,
        ),
        ("an empty batch", "[]", -32600, None),
        ("a string", r#""tools/list""#, -32600, None),
        ("a number", "7", -32600, None),
        ("a negative number", "-7", -32600, None),
        ("a fraction", "7.5", -32600, None),
        ("a boolean", "true", -32600, None),
        ("null", "null", -32600, None),
        ("an empty object", "{}", -32600, None),
        ("no jsonrpc", r#"{"id":7,"method":"m"}"#, -32600, Some("7")),
        (
            "another jsonrpc",
            r#"{"jsonrpc":"1.0","id":"seven","method":"m"}"#,
            -32600,
            Some(r#""seven""#),
        ),
        (
            "jsonrpc as a number",
            r#"{"jsonrpc":2.0,"id":7,"method":"m"}"#,
            -32600,
            Some("7"),
        ),
        (
            "jsonrpc in upper case",
            r#"{"JSONRPC":"2.0","id":7,"method":"m"}"#,
            -32600,
            Some("7"),
        ),
        (
            "no method",
            r#"{"jsonrpc":"2.0","id":7}"#,
            -32600,
            Some("7"),
        ),
        (
            "a method that is no string",
            r#"{"jsonrpc":"2.0","id":7,"method":["m"]}"#,
            -32600,
            Some("7"),
        ),
        (
            "a method with half a surrogate pair",
            r#"{"jsonrpc":"2.0","id":7,"method":"\udc00"}"#,
            -32600,
            Some("7"),
        ),
        (
            "a result",
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            -32600,
            Some("7"),
        ),
        (
            "an error",
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
            -32600,
            Some("7"),
        ),
        (
            "a request that is a response",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","result":{}}"#,
            -32600,
            Some("7"),
        ),
        (
            "params that are a list",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[]}"#,
            -32600,
            Some("7"),
        ),
        (
            "params that are null",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":null}"#,
            -32600,
            Some("7"),
        ),
        (
            "params that are text",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"{}"}"#,
            -32600,
            Some("7"),
        ),
        (
            "a null id",
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "a fraction as id",
            r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "an exponent as id",
            r#"{"jsonrpc":"2.0","id":1e3,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "a boolean id",
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "an object as id",
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            -32600,
            None,
        ),
        ("an id without end", &long_id, -32600, None),
        (
            "two ids",
            r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "two ids, one escaped",
            r#"{"jsonrpc":"2.0","id":7,"\u0069d":8,"method":"m"}"#,
            -32600,
            None,
        ),
        (
            "two methods",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","method":"m"}"#,
            -32600,
            Some("7"),
        ),
        (
            "two params",
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{},"params":{}}"#,
            -32600,
            Some("7"),
        ),
        (
            "two of an unknown member",
            r#"{"a":1,"a":1,"jsonrpc":"2.0","id":7,"method":"m"}"#,
            -32600,
            Some("7"),
        ),
        (
            "nesting that is one level too deep",
            &too_deep,
            -32600,
            Some("7"),
        ),
        (
            "nesting that would exhaust a stack",
            &far_too_deep,
            -32600,
            Some("7"),
        ),
    ];
    for (what, body, code, id) in cases {
        let error = Message::parse(body.as_bytes()).map(|_| ()).expect_err(what);
        assert_eq!(
            (error.code(), error.status().as_u16()),
            (*code, 400),
            "{what}: {error}"
        );
        assert_eq!(error.id().map(|id| id.as_json()), *id, "{what}");
        let answer: Value = serde_json::from_slice(&error.to_body(None)).unwrap();
        assert_eq!(
            answer.get("id").map(Value::to_string).as_deref(),
            *id,
            "{what}"
        );
    }
    assert!(Message::parse(deep(MAX_NESTING).as_bytes()).is_ok());
}

#[test]
fn bytes_that_are_no_utf_8_are_a_parse_error() {
    let error = Message::parse(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}").unwrap_err();
    assert_eq!((error.code(), error.status().as_u16()), (-32700, 400));
}

#[test]
fn brackets_in_strings_do_not_count_as_nesting() {
    let text = r#"[{\"[\\"#.repeat(100);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"text":"{text}"}}}}"#);
    assert!(Message::parse(body.as_bytes()).is_ok());
}

#[test]
fn a_request_borrows_from_its_body_and_keeps_its_id_as_it_came() {
    for id in [
        "0",
        "-3",
        "123456789012345678901234567890",
        r#""a\u0062\/""#,
        r#""""#,
    ] {
        let body = format!(
            " {{\"id\":{id},\"method\":\"tools/list\",\"unknown\":1,\"jsonrpc\":\"2.0\"}}\n"
        );
        let Ok(Message::Request(request)) = Message::parse(body.as_bytes()) else {
            panic!("a request: {body}")
        };
        assert_eq!(request.id.as_json(), id);
        assert!(matches!(
            request.method,
            std::borrow::Cow::Borrowed("tools/list")
        ));
        assert!(request.params.is_none());
    }
}

#[test]
fn a_request_without_an_id_is_a_notification() {
    let body = br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"save_snack"}}"#;
    let Ok(Message::Notification(notification)) = Message::parse(body) else {
        panic!("a notification")
    };
    assert_eq!(notification.method, "tools/call");
    assert!(notification.params.is_some());
}

#[test]
fn debug_shows_no_parameters() {
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"secret":"s3cret"}}"#,
        r#"{"jsonrpc":"2.0","method":"m","params":{"secret":"s3cret"}}"#,
    ] {
        let shown = format!("{:?}", Message::parse(body.as_bytes()).unwrap());
        assert!(
            shown.contains("params: Some") && !shown.contains("cret\""),
            "{shown}"
        );
    }
}
