//! Schemas derived from types: every one compiles, what it accepts serde accepts, and where it is stricter than serde
//! the test says so.

#![expect(dead_code, reason = "of most types here only the shape counts")]
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    net::IpAddr,
    num::{NonZeroI32, NonZeroU8},
};

use pup_extension::schema::{
    HeaderKind, Schema, input_of, input_of_unit, output_of, unify_numbers,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// What a value is to the schema of a type, and to its deserialization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// Both take it.
    Both,
    /// Serde alone would take it: the schema is stricter.
    SerdeAlone,
    /// Neither takes it.
    Neither,
}
use To::{Both, Neither, SerdeAlone};

fn check<T: JsonSchema + DeserializeOwned + Debug>(cases: &[(To, Value)]) {
    let value = input_of::<T>();
    let schema = Schema::compile(&value).unwrap_or_else(|error| panic!("{error}\n{value:#}"));
    for (expected, value) in cases {
        let by_schema = schema.validate(value);
        let mut unified = value.clone();
        unify_numbers(&mut unified);
        let by_serde = serde_json::from_value::<T>(unified.clone());
        let verdict = match (by_schema.is_ok(), by_serde.is_ok()) {
            (true, true) => Both,
            (false, true) => SerdeAlone,
            (false, false) => Neither,
            (true, false) => {
                panic!("{value} passes the schema, and serde refuses it: {by_serde:?}")
            }
        };
        assert_eq!(
            verdict, *expected,
            "{value}\nschema {by_schema:?}\nserde {by_serde:?}"
        );
    }
    // Any value of one type is tried on all others, too: nothing passes a schema that serde then refuses.
    for value in strange_values() {
        if schema.validate(&value).is_ok() {
            let mut unified = value.clone();
            unify_numbers(&mut unified);
            serde_json::from_value::<T>(unified).unwrap_or_else(|error| panic!("{value}: {error}"));
        }
    }
}

fn strange_values() -> Vec<Value> {
    let texts = [
        "null",
        "true",
        "0",
        "-1",
        "1",
        "1.0",
        "1.5",
        "255",
        "256",
        "4294967295",
        "4294967296",
        "-2147483649",
        "1e300",
        "\"\"",
        "\"a\"",
        "\"popcorn\"",
        "\"A\"",
        "\"é\"",
        "\"127.0.0.1\"",
        "\"::1\"",
        "[]",
        "[1]",
        "[1,\"a\"]",
        "[null]",
        "[[1]]",
        "{}",
        "{\"a\":1}",
        "{\"a\":null}",
        "{\"1\":1}",
        "{\"kind\":\"A\"}",
        "{\"kind\":\"A\",\"a\":1}",
        "{\"kind\":\"C\"}",
        "{\"t\":\"C\"}",
        "{\"t\":\"C\",\"c\":null}",
        "{\"A\":{\"a\":1}}",
        "{\"C\":null}",
        "{\"snack\":\"popcorn\"}",
        "{\"x\":1,\"y\":1}",
        "{\"next\":{\"next\":null}}",
    ];
    texts
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Snack {
    /// With salt.
    Popcorn,
    Fruit,
    Pretzels,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Inner {
    a: u32,
    snack: Option<Snack>,
}

macro_rules! shape {
    ($(#[$meta:meta])* struct $($rest:tt)+) => {
        #[derive(Debug, Deserialize, JsonSchema)]
        $(#[$meta])*
        struct $($rest)+
    };
    ($(#[$meta:meta])* enum $($rest:tt)+) => {
        #[derive(Debug, Deserialize, JsonSchema)]
        $(#[$meta])*
        enum $($rest)+
    };
}

#[test]
fn a_struct_takes_its_fields_and_if_it_says_so_no_others() {
    check::<Inner>(&[
        (Both, json!({"a": 1})),
        (Both, json!({"a": 1, "snack": "fruit"})),
        (Both, json!({"a": 1.0, "snack": null})),
        (Neither, json!({"a": 1, "snack": "cake"})),
        (Neither, json!({"a": 1, "b": 1})),
        (Neither, json!({})),
        (Neither, json!({"a": -1})),
        (Neither, json!({"a": 4_294_967_296_u64})),
        (Neither, json!({"a": 0.5})),
        (Neither, json!({"a": "1"})),
        // Serde reads a struct from a list of its fields, too.
        (SerdeAlone, json!([1, null])),
    ]);
    shape! { struct Open { a: u8 } }
    check::<Open>(&[(Both, json!({"a": 1, "b": 1})), (Neither, json!({"b": 1}))]);
}

#[test]
fn an_optional_enum_is_a_name_or_null_however_its_variants_are_documented() {
    shape! { enum Plain { A, B } }
    check::<Option<Plain>>(&[
        (Both, json!("A")),
        (Both, json!(null)),
        (Neither, json!("C")),
        (Neither, json!(["A"])),
    ]);
    check::<Option<Snack>>(&[
        (Both, json!("popcorn")),
        (Both, json!(null)),
        (Neither, json!("Popcorn")),
    ]);
}

#[test]
fn an_externally_tagged_enum_is_a_name_or_an_object_with_one_property() {
    shape! {
        enum External {
            A(Inner),
            B { x: u8 },
            C,
            D(u8, String),
        }
    }
    check::<External>(&[
        (Both, json!({"A": {"a": 1}})),
        (Neither, json!({"A": {"a": 1, "zz": 1}})),
        (Both, json!({"B": {"x": 1, "zz": 1}})),
        (Both, json!("C")),
        (SerdeAlone, json!({"C": null})),
        (Both, json!({"D": [1, "a"]})),
        (Neither, json!({"D": [1]})),
        (Neither, json!({"D": [1, "a", 2]})),
        (Neither, json!({"A": {"a": 1}, "C": null})),
        (Neither, json!("D")),
    ]);
}

#[test]
fn an_internally_tagged_enum_keeps_what_its_newtypes_deny() {
    shape! {
        #[serde(tag = "kind")]
        enum Tagged {
            A(Inner),
            B { x: u8 },
            C,
        }
    }
    check::<Tagged>(&[
        (Both, json!({"kind": "A", "a": 1})),
        (Neither, json!({"kind": "A", "a": 1, "zz": 1})),
        (Both, json!({"kind": "B", "x": 1, "zz": 1})),
        (Neither, json!({"kind": "B"})),
        (Both, json!({"kind": "C", "zz": 1})),
        (Neither, json!({"kind": "D"})),
        (Neither, json!({"a": 1})),
        (SerdeAlone, json!(["C"])),
    ]);

    shape! {
        #[serde(tag = "kind", deny_unknown_fields)]
        enum Strict {
            B { x: u8 },
            C,
        }
    }
    check::<Strict>(&[
        (Neither, json!({"kind": "B", "x": 1, "zz": 1})),
        (Both, json!({"kind": "B", "x": 1})),
        // Serde forgets about unknown fields of a unit variant.
        (SerdeAlone, json!({"kind": "C", "zz": 1})),
    ]);
}

#[test]
fn an_adjacently_tagged_enum_has_its_tag_and_its_content() {
    shape! {
        #[serde(tag = "t", content = "c", deny_unknown_fields)]
        enum Adjacent {
            A(Inner),
            B { x: u8 },
            C,
            D(u8, String),
        }
    }
    check::<Adjacent>(&[
        (Both, json!({"t": "A", "c": {"a": 1}})),
        (Neither, json!({"t": "A", "c": {"a": 1, "zz": 1}})),
        (Both, json!({"c": {"x": 1}, "t": "B"})),
        (Neither, json!({"t": "B", "c": {"x": 1}, "zz": 1})),
        (Both, json!({"t": "C"})),
        (SerdeAlone, json!({"t": "C", "c": null})),
        (Both, json!({"t": "D", "c": [1, "a"]})),
        (Neither, json!({"t": "A"})),
    ]);
}

#[test]
fn an_untagged_enum_takes_what_any_variant_takes() {
    shape! {
        #[serde(untagged)]
        enum Untagged {
            A(Inner),
            B { x: u8 },
            C(String),
            D(Vec<i16>),
        }
    }
    check::<Untagged>(&[
        (Both, json!({"a": 1})),
        (Neither, json!({"a": 1, "zz": 1})),
        (Both, json!({"x": 1, "zz": 1})),
        (Both, json!("")),
        (Both, json!([])),
        (Both, json!([1, -2])),
        (Neither, json!([40_000])),
        (Neither, json!(1)),
    ]);
}

#[test]
fn newtypes_are_what_they_hold_and_their_limits_count() {
    shape! { struct Name(#[schemars(length(min = 1, max = 3))] String); }
    shape! {
        #[serde(transparent)]
        struct Dozen { #[schemars(range(min = 1, max = 12))] count: u8 }
    }
    check::<Name>(&[
        (Both, json!("abc")),
        (Both, json!("😀é𝄞")),
        (SerdeAlone, json!("")),
        (SerdeAlone, json!("abcd")),
        (Neither, json!(1)),
    ]);
    check::<Dozen>(&[
        (Both, json!(12)),
        (SerdeAlone, json!(13)),
        (SerdeAlone, json!(0)),
        (Neither, json!(256)),
    ]);
}

#[test]
fn maps_lists_sets_and_tuples_are_checked_inside() {
    check::<BTreeMap<String, u8>>(&[
        (Both, json!({"a": 1, "": 2})),
        (Neither, json!({"a": 256})),
        (Neither, json!([])),
    ]);
    check::<BTreeMap<u32, String>>(&[
        (Both, json!({"1": "a"})),
        (Neither, json!({"-1": "a"})),
        (Neither, json!({"x": "a"})),
        (Neither, json!({"1": 1})),
    ]);
    check::<BTreeMap<i16, ()>>(&[(Both, json!({"-1": null})), (Neither, json!({"1.5": null}))]);
    check::<Vec<Option<Inner>>>(&[
        (Both, json!([null, {"a": 1}])),
        (Neither, json!([{"a": 1}, {}])),
    ]);
    check::<BTreeSet<u8>>(&[
        (Both, json!([1, 2])),
        (SerdeAlone, json!([1, 1.0])),
        (Neither, json!([300])),
    ]);
    check::<(u8, Option<String>)>(&[
        (Both, json!([1, null])),
        (Neither, json!([1])),
        (Neither, json!([1, "a", 2])),
        (Neither, json!([null, "a"])),
    ]);
    check::<[bool; 2]>(&[
        (Both, json!([true, false])),
        (Neither, json!([true])),
        (Neither, json!([true, false, true])),
    ]);
}

#[test]
fn integers_have_the_bounds_of_their_type() {
    check::<u8>(&[
        (Both, json!(255)),
        (Neither, json!(256)),
        (Neither, json!(-1)),
    ]);
    check::<i16>(&[(Both, json!(-32_768)), (Neither, json!(32_768))]);
    check::<u32>(&[
        (Both, json!(4_294_967_295_u32)),
        (Neither, json!(4_294_967_296_u64)),
        (Both, json!(1e3)),
    ]);
    check::<i32>(&[
        (Both, json!(-2_147_483_648)),
        (Neither, json!(-2_147_483_649_i64)),
    ]);
    check::<NonZeroU8>(&[(Both, json!(1)), (Neither, json!(0))]);
    check::<NonZeroI32>(&[
        (Both, json!(-1)),
        (Neither, json!(0)),
        (Neither, json!(2_147_483_648_u64)),
    ]);
    check::<f64>(&[(Both, json!(1)), (Both, json!(-0.5)), (Neither, json!("1"))]);
    check::<char>(&[
        (Both, json!("é")),
        (Neither, json!("")),
        (Neither, json!("ab")),
    ]);
}

#[test]
fn an_integer_of_64_bits_is_left_without_bounds_that_would_only_be_noise() {
    // Nobody's engine but ours could keep such a bound exactly; serde refuses what is beyond.
    let schema = Schema::compile(&input_of::<u64>()).unwrap();
    assert_eq!(input_of::<u64>(), json!({"type": "integer", "minimum": 0}));
    assert!(schema.validate(&json!(1e20)).is_ok());
    assert!(serde_json::from_value::<u64>(json!(1e20)).is_err());
}

#[test]
fn an_ip_address_is_of_either_version() {
    check::<IpAddr>(&[
        (Both, json!("127.0.0.1")),
        (Both, json!("::1")),
        (Neither, json!("localhost")),
        (Neither, json!("127.0.0.1/8")),
    ]);
}

#[test]
fn attributes_of_schemars_are_enforced() {
    shape! {
        #[serde(deny_unknown_fields)]
        struct Attributes {
            #[schemars(range(min = 1, max = 10))]
            batches: Option<i64>,
            #[schemars(length(min = 2, max = 4), regex(pattern = r"^[a-z]+\d?$"))]
            code: String,
            #[schemars(email)]
            mail: Option<String>,
            #[schemars(url)]
            link: Option<String>,
            #[schemars(contains(pattern = "a-b & #1"))]
            note: Option<String>,
            #[schemars(length(max = 2), inner(length(min = 1)))]
            tags: Vec<String>,
            #[schemars(extend("multipleOf" = 0.05))]
            price: f64,
            #[schemars(extend("format" = "date"))]
            day: Option<String>,
            #[serde(default = "default_size")]
            size: u8,
        }
    }
    fn default_size() -> u8 {
        3
    }
    let with = |name: &str, value: Value| {
        let mut base = json!({"code": "ab1", "tags": [], "price": 0.15});
        base[name] = value;
        base
    };
    check::<Attributes>(&[
        (Both, with("batches", json!(10))),
        (SerdeAlone, with("batches", json!(11))),
        (SerdeAlone, with("code", json!("a"))),
        (SerdeAlone, with("code", json!("abcde"))),
        (SerdeAlone, with("code", json!("ab12"))),
        (Both, with("mail", json!("joe@example.com"))),
        (SerdeAlone, with("mail", json!("joe"))),
        (SerdeAlone, with("link", json!("/a"))),
        (Both, with("note", json!("xa-b & #1y"))),
        (SerdeAlone, with("note", json!("a b"))),
        (Both, with("tags", json!(["a", "b"]))),
        (SerdeAlone, with("tags", json!(["a", "b", "c"]))),
        (SerdeAlone, with("tags", json!([""]))),
        (SerdeAlone, with("price", json!(0.12))),
        (SerdeAlone, with("day", json!("2026-02-30"))),
        (Neither, with("size", json!(256))),
        (Neither, with("sice", json!(1))),
    ]);
}

#[test]
fn a_flattened_struct_is_part_of_its_owner() {
    shape! { struct Point { x: u8, y: u8 } }
    shape! {
        #[serde(deny_unknown_fields)]
        struct Owner { name: String, #[serde(flatten)] point: Point }
    }
    check::<Owner>(&[
        (Both, json!({"name": "a", "x": 1, "y": 2})),
        (Neither, json!({"name": "a", "x": 1})),
        (Neither, json!({"name": "a", "x": 1, "y": 2, "zz": 3})),
    ]);

    shape! {
        #[serde(tag = "kind")]
        enum Kind { A { a: u8 }, B { b: String } }
    }
    shape! { struct WithKind { name: String, #[serde(flatten)] kind: Kind } }
    check::<WithKind>(&[
        (Both, json!({"name": "a", "kind": "A", "a": 1, "zz": 1})),
        (Neither, json!({"name": "a", "kind": "A", "b": "b"})),
        (Neither, json!({"kind": "A", "a": 1})),
    ]);

    shape! { struct WithRest { name: String, #[serde(flatten)] rest: BTreeMap<String, u8> } }
    check::<WithRest>(&[
        (Both, json!({"name": "a", "b": 1})),
        (Neither, json!({"name": "a", "b": "c"})),
    ]);
}

#[test]
fn a_strict_owner_of_a_flattened_enum_is_closed_by_unevaluated_properties() {
    // Serde itself can't deny unknown fields here; schemars says it all the same, so it is enforced.
    #[derive(JsonSchema)]
    #[serde(tag = "kind")]
    enum Kind {
        A { a: u8 },
        B { b: String },
    }
    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Owner {
        name: String,
        #[serde(flatten)]
        kind: Kind,
    }
    let schema = Schema::compile_input(&input_of::<Owner>()).unwrap();
    assert!(
        schema
            .validate(&json!({"name": "a", "kind": "A", "a": 1}))
            .is_ok()
    );
    for value in [
        json!({"name": "a", "kind": "A", "a": 1, "b": "b"}),
        json!({"name": "a", "kind": "A", "a": 1, "z": 1}),
    ] {
        let error = schema.validate(&value).unwrap_err();
        assert!(
            error.to_string().ends_with(": there is no such property"),
            "{error}"
        );
    }
}

#[test]
fn a_recursive_type_is_checked_all_the_way_down() {
    shape! {
        #[serde(deny_unknown_fields)]
        struct Node { next: Option<Box<Node>>, others: Vec<Node> }
    }
    check::<Node>(&[
        (Both, json!({"others": []})),
        (
            Both,
            json!({"next": {"others": [{"others": [], "next": null}]}, "others": []}),
        ),
        (
            Neither,
            json!({"next": {"others": [{"others": [], "nxt": null}]}, "others": []}),
        ),
    ]);
    shape! { struct Holder { first: Node, second: Option<Node> } }
    check::<Holder>(&[
        (Both, json!({"first": {"others": []}})),
        (
            Neither,
            json!({"first": {"others": []}, "second": {"others": [{"others": [1]}]}}),
        ),
    ]);
}

#[test]
fn an_input_is_what_an_author_would_have_written_by_hand() {
    /// Saves a snack.
    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Save {
        /// Which one.
        snack: Snack,
        count: Option<u32>,
        ratio: f32,
        #[serde(default)]
        loud: bool,
    }
    assert_eq!(
        input_of::<Save>(),
        json!({
            "description": "Saves a snack.",
            "type": "object",
            "properties": {
                "snack": {
                    "description": "Which one.",
                    "oneOf": [
                        {"type": "string", "enum": ["fruit", "pretzels"]},
                        {"description": "With salt.", "type": "string", "const": "popcorn"},
                    ],
                },
                "count": {"type": ["integer", "null"], "minimum": 0, "maximum": 4_294_967_295_u32},
                "ratio": {"type": "number"},
                "loud": {"type": "boolean", "default": false},
            },
            "required": ["snack", "ratio"],
            "additionalProperties": false,
        }),
    );
    assert_eq!(
        input_of_unit(),
        json!({"type": "object", "additionalProperties": false})
    );
    let unit = Schema::compile_input(&input_of_unit()).unwrap();
    assert!(unit.validate(&json!({})).is_ok());
    assert!(unit.validate(&json!({"a": 1})).is_err());
}

#[test]
fn a_title_of_the_authors_stays_and_the_types_name_does_not() {
    #[derive(JsonSchema)]
    #[schemars(title = "Save a snack")]
    struct Titled {
        a: u8,
    }
    /// # A heading
    ///
    /// And a text.
    #[derive(JsonSchema)]
    struct Headed {
        a: u8,
    }
    assert_eq!(input_of::<Titled>()["title"], "Save a snack");
    assert_eq!(input_of::<Headed>()["title"], "A heading");
    assert_eq!(input_of::<Headed>()["description"], "And a text.");
    assert_eq!(input_of::<Inner>().get("title"), None);
    assert_eq!(input_of::<Inner>().get("$schema"), None);
}

#[test]
fn a_root_that_can_be_nothing_but_an_object_says_so() {
    shape! {
        #[serde(tag = "kind")]
        enum Tagged { A { a: u8 }, B }
    }
    shape! {
        #[serde(untagged)]
        enum Nested { Tagged(Tagged), Inner(Inner) }
    }
    shape! { enum External { A { a: u8 }, B(Inner) } }
    for schema in [
        input_of::<Tagged>(),
        input_of::<Nested>(),
        input_of::<External>(),
        input_of::<Value>(),
    ] {
        assert_eq!(schema["type"], "object", "{schema}");
        Schema::compile_input(&schema).unwrap();
    }
    assert_eq!(
        input_of::<serde_json::Map<String, Value>>()["type"],
        "object"
    );
}

#[test]
fn a_root_that_can_be_something_else_is_no_input() {
    shape! { struct Unit; }
    shape! { enum Mixed { A { a: u8 }, B } }
    shape! { enum Never {} }
    shape! {
        #[serde(untagged)]
        enum Either { Text(String), Inner(Inner) }
    }
    for schema in [
        input_of::<Unit>(),
        input_of::<()>(),
        input_of::<Snack>(),
        input_of::<Mixed>(),
        input_of::<Either>(),
        input_of::<Never>(),
        input_of::<Option<Inner>>(),
        input_of::<Vec<Inner>>(),
        input_of::<String>(),
    ] {
        let error = Schema::compile_input(&schema).unwrap_err().to_string();
        assert!(
            error
                .starts_with("#: the input of a tool must have `\"type\": \"object\"` at the root"),
            "{error}"
        );
        Schema::compile(&schema).unwrap();
    }
}

#[test]
fn a_result_can_be_of_any_type_and_is_described_as_it_is_serialized() {
    #[derive(Serialize, JsonSchema)]
    struct Counts {
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<Snack>,
        count: Option<u8>,
        #[serde(skip_deserializing)]
        total: u64,
    }
    let schema = Schema::compile(&output_of::<Vec<Counts>>()).unwrap();
    let full = vec![Counts {
        last: Some(Snack::Popcorn),
        count: None,
        total: 3,
    }];
    let bare = vec![Counts {
        last: None,
        count: Some(1),
        total: 0,
    }];
    for value in [full, bare] {
        schema
            .validate_as("result", &serde_json::to_value(value).unwrap())
            .unwrap();
    }
    let error = schema
        .validate_as("result", &json!([{"total": 1}]))
        .unwrap_err();
    assert_eq!(error.to_string(), "result[0].count: is required");
    assert_eq!(output_of::<()>(), json!({"type": "null"}));
    assert_eq!(output_of::<String>(), json!({"type": "string"}));
}

#[test]
fn a_parameter_for_a_header_is_found_where_it_stands() {
    shape! {
        struct Where {
            #[schemars(extend("x-mcp-header" = "Zone"))]
            zone: u8,
            #[serde(default)]
            #[schemars(with = "String", extend("x-mcp-header" = "City"))]
            city: Option<String>,
        }
    }
    shape! {
        struct Query {
            #[schemars(extend("x-mcp-header" = "Dry-Run"))]
            dry_run: bool,
            place: Where,
        }
    }
    let schema = Schema::compile_input(&input_of::<Query>()).unwrap();
    let found: Vec<_> = schema
        .header_params()
        .iter()
        .map(|param| (param.name.as_str(), param.path.join("."), param.kind))
        .collect();
    assert_eq!(
        found,
        [
            ("Dry-Run", "dry_run".to_owned(), HeaderKind::Boolean),
            ("City", "place.city".to_owned(), HeaderKind::String),
            ("Zone", "place.zone".to_owned(), HeaderKind::Integer),
        ],
    );
}
