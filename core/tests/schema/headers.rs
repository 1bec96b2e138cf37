//! The rules of `x-mcp-header`.

use serde_json::{Value, json};

use super::{compile, refusal};

#[test]
fn an_annotation_for_a_header_must_keep_to_mcps_rules() {
    let on = |parameter: Value| json!({"type": "object", "properties": {"p": parameter}});
    for name in ["", "a b", "a:b", "a\r\nb", "é", "(a)"] {
        let error = refusal(&on(json!({"type": "string", "x-mcp-header": name})));
        assert!(
            error.starts_with("#/properties/p/x-mcp-header: `x-mcp-header` must be a header name"),
            "{error}"
        );
    }
    for name in [json!(null), json!(1), json!(["a"]), json!(true)] {
        assert!(
            refusal(&on(json!({"type": "string", "x-mcp-header": name})))
                .contains("must be a header name")
        );
    }
    for types in [
        json!("number"),
        json!("object"),
        json!("array"),
        json!("null"),
        json!(["string", "null"]),
    ] {
        let error = refusal(&on(json!({"type": types, "x-mcp-header": "A"})));
        assert!(
            error.contains("must have the one type `string`, `integer` or `boolean`"),
            "{error}"
        );
    }
    assert!(
        refusal(&on(json!({"enum": ["a"], "x-mcp-header": "A"})))
            .contains("must have the one type")
    );
    let twice = json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "Region"},
        "b": {"properties": {"c": {"type": "boolean", "x-mcp-header": "REGION"}}},
    }});
    assert!(refusal(&twice).starts_with(
        "#/properties/b/properties/c/x-mcp-header: two parameters have the `x-mcp-header` `REGION`"
    ));
}

#[test]
fn an_annotation_that_is_not_reached_through_properties_alone_is_refused() {
    let annotated = json!({"type": "string", "x-mcp-header": "A"});
    let inside = json!({"properties": {"p": annotated}});
    for schema in [
        annotated.clone(),
        json!({"items": annotated}),
        json!({"properties": {"a": {"items": inside}}}),
        json!({"prefixItems": [annotated]}),
        json!({"contains": annotated}),
        json!({"allOf": [inside]}),
        json!({"anyOf": [inside]}),
        json!({"oneOf": [inside]}),
        json!({"not": inside}),
        json!({"if": inside}),
        json!({"if": true, "then": inside}),
        json!({"if": true, "else": inside}),
        json!({"additionalProperties": annotated}),
        json!({"patternProperties": {"a": annotated}}),
        json!({"propertyNames": annotated}),
        json!({"unevaluatedProperties": annotated}),
        json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": annotated}}),
    ] {
        let error = refusal(&schema);
        assert!(
            error.contains("reached from the root through `properties` alone"),
            "{schema}: {error}"
        );
    }
}

#[test]
fn an_integer_for_a_header_stays_within_what_every_client_can_hold() {
    let parameter = |limits: Value| {
        let mut parameter = json!({"type": "integer", "x-mcp-header": "N"});
        parameter
            .as_object_mut()
            .unwrap()
            .extend(limits.as_object().unwrap().clone());
        json!({"properties": {"n": parameter}})
    };
    let schema = compile(&parameter(json!({})));
    assert!(
        schema
            .validate(&json!({"n": 9_007_199_254_740_991_i64}))
            .is_ok()
    );
    assert!(
        schema
            .validate(&json!({"n": -9_007_199_254_740_991_i64}))
            .is_ok()
    );
    assert!(schema.validate(&json!({})).is_ok());
    let error = schema
        .validate(&json!({"n": 9_007_199_254_740_992_i64}))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "arguments.n: must be at most 9007199254740991"
    );
    assert!(
        schema
            .validate(&json!({"n": -9_007_199_254_740_992_i64}))
            .is_err()
    );
    // Its own limits stay where they are narrower, and don't where they are wider.
    let narrow = compile(&parameter(json!({"minimum": 1, "maximum": 3})));
    assert!(
        narrow.validate(&json!({"n": 4})).is_err() && narrow.validate(&json!({"n": 0})).is_err()
    );
    let wide = compile(&parameter(json!({"minimum": 0, "maximum": u64::MAX})));
    assert!(
        wide.validate(&json!({"n": u64::MAX})).is_err()
            && wide.validate(&json!({"n": -1})).is_err()
    );
}
