//! Types that can't be forms, and what their authors are told.

#![expect(dead_code, reason = "of the types here only the shape counts")]

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    num::NonZeroI32,
};

use pup_extension::form::Form;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{free::form_of, refusals};

const FIELD: &str = "a field is a string, a number, a boolean, an enum of unit variants, or a list or set of such \
                     an enum";
const ITEM: &str = "a list in a form holds an enum of unit variants";

#[derive(Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Snack {
    Popcorn,
    Nuts,
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    count: u8,
}

#[test]
fn fields_that_are_not_primitive_are_all_named() {
    #[derive(Deserialize, JsonSchema)]
    enum Data {
        Unit,
        Tuple(u8),
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
        Text(String),
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Tagged {
        One,
        Two,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Never {}
    #[derive(Deserialize, JsonSchema)]
    struct Unit;

    #[derive(Deserialize, JsonSchema)]
    struct Mixed {
        fine: String,
        data: Data,
        maybe_data: Option<Data>,
        untagged: Untagged,
        tagged: Tagged,
        never: Never,
        unit: Unit,
        inner: Inner,
        map: BTreeMap<String, u8>,
        tuple: (u8, u8),
        any: Option<Value>,
    }
    let expected = [
        ("any", "any value"),
        ("data", "an enum whose variants carry data"),
        ("inner", "an object"),
        ("map", "a map"),
        ("maybe_data", "an enum whose variants carry data"),
        ("never", "a type without values"),
        ("tagged", "an enum whose variants carry data"),
        ("tuple", "a tuple"),
        ("unit", "a unit type"),
        ("untagged", "a choice between types"),
    ];
    assert_eq!(
        refusals::<Mixed>(),
        expected.map(|(name, kind)| format!("{name}: is {kind}; {FIELD}"))
    );
    let error = Form::of::<Mixed>().unwrap_err();
    assert_eq!(error.type_name(), "Mixed");
    let text = error.to_string();
    assert!(
        text.starts_with("`Mixed` can't be a form: any: is any value; a field is"),
        "{text}"
    );
    assert!(text.ends_with(FIELD), "{text}");
}

#[test]
fn lists_of_anything_but_choices_are_named() {
    #[derive(Deserialize, JsonSchema)]
    struct Lists {
        texts: Vec<String>,
        numbers: Option<BTreeSet<u32>>,
        inners: Vec<Inner>,
        optional: Vec<Option<Snack>>,
        nested: Vec<Vec<Snack>>,
        any: Vec<Value>,
        fine: Vec<Snack>,
    }
    let expected = [
        ("any", "any value"),
        ("inners", "an object"),
        ("nested", "a list"),
        ("numbers", "a number"),
        ("optional", "an `Option`"),
        ("texts", "a string"),
    ];
    assert_eq!(
        refusals::<Lists>(),
        expected.map(|(name, kind)| format!("{name}[]: is {kind}; {ITEM}"))
    );
}

#[test]
fn keywords_that_mcp_does_not_know_are_named_with_those_that_it_knows() {
    #[derive(Deserialize, JsonSchema)]
    struct Keywords {
        #[schemars(regex(pattern = "^[a-z]+$"))]
        pattern: String,
        ip: IpAddr,
        non_zero: NonZeroI32,
        #[schemars(extend("exclusiveMinimum" = 0, "multipleOf" = 5))]
        steps: Option<u32>,
        #[schemars(extend("format" = "uuid"))]
        id: String,
        #[schemars(extend("x-mcp-header" = "Flag"))]
        flag: bool,
        #[schemars(extend("contains" = {}))]
        list: Vec<Snack>,
        #[schemars(extend("pattern" = "a"))]
        choice: Snack,
    }
    let of_string = "`minLength`, `maxLength`, `format`, `title`, `description`, `default`";
    let of_number = "`minimum`, `maximum`, `title`, `description`, `default`";
    let of_list = "`minItems`, `maxItems`, `title`, `description`, `default`";
    let of_any = "`title`, `description`, `default`";
    let expected = [
        ("choice", "pattern", "a choice", of_any),
        ("flag", "x-mcp-header", "a boolean", of_any),
        ("ip", "anyOf", "a string", of_string),
        ("list", "contains", "a list", of_list),
        ("non_zero", "not", "a number", of_number),
        ("pattern", "pattern", "a string", of_string),
        ("steps", "exclusiveMinimum", "a number", of_number),
        ("steps", "multipleOf", "a number", of_number),
    ]
    .map(|(name, keyword, what, allowed)| {
        format!("{name}: `{keyword}` can't be said of {what} in a form; what can: {allowed}")
    });
    let mut refused = refusals::<Keywords>();
    assert_eq!(
        refused.remove(2),
        "id: the format `uuid` can't be asked for; what can: `email`, `uri`, `date`, `date-time`"
    );
    assert_eq!(refused, expected);
}

#[test]
fn recursion_is_found_where_it_starts() {
    #[derive(Deserialize, JsonSchema)]
    struct List {
        text: String,
        next: Option<Box<Self>>,
        all: Vec<Self>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Even {
        odd: Option<Box<Odd>>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Odd {
        even: Option<Box<Even>>,
        odd: Option<Box<Self>>,
    }
    assert_eq!(
        refusals::<List>(),
        [
            format!("all[]: is a recursive type; {ITEM}"),
            format!("next: is a recursive type; {FIELD}"),
        ]
    );
    assert_eq!(
        refusals::<Even>(),
        [format!("odd: is an object; {FIELD}")],
        "seen from there, it is an object"
    );
    assert_eq!(
        refusals::<Odd>(),
        [
            format!("even: is an object; {FIELD}"),
            format!("odd: is a recursive type; {FIELD}"),
        ]
    );
}

#[test]
fn a_root_that_is_no_struct_with_named_fields_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Tagged {
        One { a: u8 },
    }
    #[derive(Deserialize, JsonSchema)]
    struct Unit;
    #[derive(Deserialize, JsonSchema)]
    struct Pair(u8, u8);
    #[derive(Deserialize, JsonSchema)]
    struct Anything(Value);

    let root = |kind| {
        [format!(
            "the type itself: is {kind}; a form is a struct with named fields"
        )]
    };
    assert_eq!(refusals::<Snack>(), root("an enum"));
    assert_eq!(refusals::<Tagged>(), root("an enum"));
    assert_eq!(refusals::<Option<Inner>>(), root("an `Option`"));
    assert_eq!(refusals::<Option<Tagged>>(), root("an `Option`"));
    assert_eq!(refusals::<Vec<Inner>>(), root("a list"));
    assert_eq!(refusals::<Pair>(), root("a tuple"));
    assert_eq!(refusals::<Unit>(), root("a unit type"));
    assert_eq!(refusals::<()>(), root("a unit type"));
    assert_eq!(refusals::<String>(), root("a string"));
    assert_eq!(refusals::<u8>(), root("a number"));
    assert_eq!(refusals::<bool>(), root("a boolean"));
    assert_eq!(refusals::<Value>(), root("any value"));
    assert_eq!(refusals::<Anything>(), root("any value"));
}

#[test]
fn fields_that_are_not_always_the_same_are_refused() {
    #[derive(Deserialize, JsonSchema)]
    enum Data {
        Tuple(u8),
        Other(String),
    }
    #[derive(Deserialize, JsonSchema)]
    struct FlattenedEnum {
        a: u8,
        list: Vec<u8>,
        #[serde(flatten)]
        data: Data,
    }
    #[derive(Deserialize, JsonSchema)]
    struct FlattenedMap {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, String>,
    }
    let any = "the type itself: takes fields of any name, as a map does; a form lists its fields";
    assert_eq!(
        refusals::<FlattenedEnum>(),
        [
            "the type itself: has a flattened enum; a form always has the same fields".to_owned(),
            format!("list[]: is a number; {ITEM}"),
        ]
    );
    assert_eq!(refusals::<FlattenedMap>(), [any]);
    assert_eq!(refusals::<BTreeMap<String, u8>>(), [any]);
    assert_eq!(refusals::<Map<String, Value>>(), [any]);
    let error = form_of(json!({"type": "object", "minProperties": 1})).unwrap_err();
    assert_eq!(
        error.problems().collect::<Vec<_>>(),
        ["the type itself: `minProperties` can't be said of a form as a whole"]
    );
}

#[test]
fn a_field_that_may_be_null_must_be_one_that_may_be_left_out() {
    #[derive(Deserialize, JsonSchema)]
    struct Note(Option<String>);
    #[derive(Deserialize, JsonSchema)]
    struct Noted {
        note: Note,
    }
    assert!(
        serde_json::from_value::<Noted>(json!({})).is_err(),
        "serde wants it, as an `Option` that is wrapped"
    );
    assert_eq!(
        refusals::<Noted>(),
        [
            "note: can be null and can't be left out; for an optional field use an `Option`, directly"
        ]
    );
}

#[test]
fn a_default_that_does_not_fit_its_own_field_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    struct Defaults {
        #[serde(default)]
        #[schemars(range(min = 1))]
        portions: u32,
        #[serde(default)]
        #[schemars(length(min = 1))]
        name: String,
        #[serde(default)]
        #[schemars(length(min = 1))]
        snacks: Vec<Snack>,
    }
    // `Vec<Snack>` can't be serialized here, so its default is not advertised.
    assert_eq!(
        refusals::<Defaults>(),
        [
            "name: the default does not fit: default: must have 1 character or more",
            "portions: the default does not fit: default: must be at least 1",
        ]
    );
}

#[test]
fn forms_that_no_answer_could_fit_are_refused() {
    #[derive(Deserialize, JsonSchema)]
    struct Contradictions {
        #[schemars(length(min = 5, max = 4))]
        text: String,
        #[schemars(range(min = 2, max = 1))]
        number: i32,
        #[schemars(length(min = 2, max = 1))]
        list: Vec<Snack>,
    }
    assert_eq!(
        refusals::<Contradictions>(),
        [
            "list: `minItems` is above `maxItems`: no answer could fit",
            "number: `minimum` is above `maximum`: no answer could fit",
            "text: `minLength` is above `maxLength`: no answer could fit",
        ]
    );
}

#[test]
fn malformed_schemas_are_refused() {
    let problems = |schema: Value| {
        let error = form_of(schema).unwrap_err();
        error.problems().collect::<Vec<_>>()
    };
    assert_eq!(
        problems(json!({
            "type": "object",
            "properties": {
                "empty": {"type": "string", "enum": []},
                "long": {"type": "string", "maxLength": -1},
                "named": {"type": "boolean", "title": 1},
                "numbers": {"type": "integer", "enum": [1, 2]},
                "twice": {"oneOf": [{"const": "a", "title": "A"}, {"enum": ["b", "a"]}]},
                "twice_listed": {"type": "array", "items": {"enum": ["a", "a"]}},
            },
            "required": ["lost"],
        })),
        [
            "lost: is required, but there is no such field".to_owned(),
            format!("empty: is an enum of other values than strings; {FIELD}"),
            "long: the schema is not valid: #/maxLength: the value of this keyword must be a whole number, 0 or more"
                .to_owned(),
            "named: the schema is not valid: #/title: the value of this keyword must be a string"
                .to_owned(),
            format!("numbers: is an enum of other values than strings; {FIELD}"),
            "twice: has the choice `a` more than once".to_owned(),
            "twice_listed[]: has the choice `a` more than once".to_owned(),
        ]
    );
    assert_eq!(
        problems(
            json!({"type": "object", "properties": {"a": {"type": "string", "default": null}}, "required": ["a"]})
        ),
        ["a: the default does not fit: default: must be a string"]
    );
}

/// What is said around an option must not replace what is said of the type in it.
#[test]
fn an_option_that_is_restricted_twice_is_refused() {
    let limited = |outer: u8| {
        let option = json!([{"type": "string", "maxLength": 5}, {"type": "null"}]);
        form_of(json!({
            "type": "object",
            "properties": {"a": {"anyOf": option, "maxLength": outer}},
        }))
    };
    for outer in [4, 5, 6] {
        let error = limited(outer).unwrap_err();
        assert_eq!(
            error.problems().collect::<Vec<_>>(),
            [format!("a: is a choice between types; {FIELD}")]
        );
    }
}

#[test]
fn of_many_problems_the_first_are_listed() {
    let fields: Map<String, Value> = (0..40).map(|at| (format!("f{at:02}"), json!({}))).collect();
    let error = form_of(json!({"type": "object", "properties": fields})).unwrap_err();
    assert_eq!(error.problems().count(), 16);
    assert!(error.to_string().ends_with("; and more"), "{error}");
    assert!(format!("{error:?}").starts_with("Free [\"f00: is any value"));
}
