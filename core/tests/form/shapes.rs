//! Types that are forms, and the schemas that are asked with. Each is valid by MCP's own schema: `form` checks it.

#![expect(dead_code, reason = "of most types here only the shape counts")]

use std::{collections::BTreeSet, num::NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{form, free::form_of};

/// The fields of the form, and which of them are required.
fn asked<T: JsonSchema + DeserializeOwned>() -> (Value, Value) {
    let form = form::<T>();
    let mut schema = form.schema().clone();
    let (fields, required) = (schema["properties"].take(), schema["required"].take());
    assert_eq!(
        schema,
        json!({"type": "object", "properties": null, "required": null})
    );
    (fields, required)
}

#[test]
fn strings_have_lengths_formats_titles_and_defaults() {
    /// Not shown: the question has a message of its own.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[schemars(title = "Nor this")]
    struct Person {
        /// Your full name
        #[schemars(title = "Name", length(min = 1, max = 40))]
        full_name: String,
        #[schemars(email)]
        e_mail: String,
        #[schemars(url)]
        page: Option<String>,
        #[schemars(extend("format" = "date"))]
        born: String,
        #[schemars(extend("format" = "date-time"))]
        called: Option<String>,
        #[serde(default = "greeting")]
        greeting: String,
        initial: char,
    }
    fn greeting() -> String {
        "hello".into()
    }
    let (fields, required) = asked::<Person>();
    assert_eq!(
        fields,
        json!({
            "fullName": {
                "type": "string",
                "title": "Name",
                "description": "Your full name",
                "minLength": 1,
                "maxLength": 40,
            },
            "eMail": {"type": "string", "format": "email"},
            "page": {"type": "string", "format": "uri"},
            "born": {"type": "string", "format": "date"},
            "called": {"type": "string", "format": "date-time"},
            "greeting": {"type": "string", "default": "hello"},
            "initial": {"type": "string", "minLength": 1, "maxLength": 1},
        })
    );
    assert_eq!(required, json!(["born", "eMail", "fullName", "initial"]));
}

#[test]
fn numbers_have_bounds_and_no_formats() {
    #[derive(Deserialize, JsonSchema)]
    struct Numbers {
        tiny: u8,
        signed: i16,
        word: u32,
        long: i64,
        size: usize,
        positive: NonZeroU32,
        #[schemars(range(min = 1, max = 9))]
        portions: Option<u32>,
        #[schemars(range(min = 0.5, max = 2.5))]
        weight: f64,
        ratio: f32,
        #[serde(default)]
        extra: i32,
        #[serde(default)]
        share: f64,
    }
    let (fields, required) = asked::<Numbers>();
    assert_eq!(
        fields,
        json!({
            "tiny": {"type": "integer", "minimum": 0, "maximum": 255},
            "signed": {"type": "integer", "minimum": -32_768, "maximum": 32_767},
            "word": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
            "long": {"type": "integer"},
            "size": {"type": "integer", "minimum": 0},
            "positive": {"type": "integer", "minimum": 1, "maximum": u32::MAX},
            "portions": {"type": "integer", "minimum": 1, "maximum": 9},
            "weight": {"type": "number", "minimum": 0.5, "maximum": 2.5},
            "ratio": {"type": "number"},
            "extra": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX, "default": 0},
            "share": {"type": "number", "default": 0.0},
        })
    );
    assert_eq!(
        required,
        json!([
            "long", "positive", "ratio", "signed", "size", "tiny", "weight", "word"
        ])
    );
}

#[test]
fn booleans_have_a_default() {
    #[derive(Deserialize, JsonSchema)]
    struct Flags {
        /// Is it urgent?
        urgent: bool,
        #[serde(default)]
        gift: bool,
        loud: Option<bool>,
    }
    let (fields, required) = asked::<Flags>();
    assert_eq!(
        fields,
        json!({
            "urgent": {"type": "boolean", "description": "Is it urgent?"},
            "gift": {"type": "boolean", "default": false},
            "loud": {"type": "boolean"},
        })
    );
    assert_eq!(required, json!(["urgent"]));
}

/// What to eat
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
enum Snack {
    #[default]
    Popcorn,
    FruitBowl,
    Nuts,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
enum Colour {
    /// Like
    /// tomatoes
    ///
    /// Never shown.
    #[serde(rename = "#f00")]
    Red,
    /// Not the title
    #[schemars(title = "Greenish")]
    #[serde(rename = "#0f0")]
    Green,
    /// # Sky
    ///
    /// Not the title either
    #[serde(rename = "#00f")]
    Blue,
}

fn colours() -> Value {
    json!([
        {"const": "#f00", "title": "Like tomatoes"},
        {"const": "#0f0", "title": "Greenish"},
        {"const": "#00f", "title": "Sky"},
    ])
}

#[test]
fn one_choice_is_an_enum_or_titled() {
    #[derive(Deserialize, JsonSchema)]
    struct Choices {
        /// Which one?
        plain: Snack,
        optional: Option<Snack>,
        #[serde(default)]
        preset: Snack,
        /// Which colour?
        titled: Colour,
        /// Any colour?
        optional_titled: Option<Colour>,
        optional_boxed: Option<Box<Snack>>,
        optional_twice: Option<Option<Colour>>,
        #[serde(default = "blue")]
        preset_titled: Colour,
        partly: Partly,
        lonely: Lonely,
        optional_lonely: Option<Lonely>,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Partly {
        First,
        /// The second
        Second,
        Third,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Lonely {
        Only,
    }
    fn blue() -> Colour {
        Colour::Blue
    }
    let snacks = json!(["popcorn", "fruit-bowl", "nuts"]);
    let (fields, required) = asked::<Choices>();
    assert_eq!(
        fields,
        json!({
            "plain": {"type": "string", "enum": snacks, "description": "Which one?"},
            "optional": {"type": "string", "enum": snacks, "description": "What to eat"},
            "preset": {
                "type": "string",
                "enum": snacks,
                "description": "What to eat",
                "default": "popcorn",
            },
            "titled": {"type": "string", "oneOf": colours(), "description": "Which colour?"},
            "optional_titled": {
                "type": "string",
                "oneOf": colours(),
                "description": "Any colour?",
            },
            "optional_boxed": {"type": "string", "enum": snacks, "description": "What to eat"},
            "optional_twice": {"type": "string", "oneOf": colours()},
            "preset_titled": {"type": "string", "oneOf": colours(), "default": "#00f"},
            // Those without a title come first.
            "partly": {
                "type": "string",
                "oneOf": [
                    {"const": "First", "title": "First"},
                    {"const": "Third", "title": "Third"},
                    {"const": "Second", "title": "The second"},
                ],
            },
            "lonely": {"type": "string", "enum": ["Only"]},
            "optional_lonely": {"type": "string", "enum": ["Only"]},
        })
    );
    assert_eq!(required, json!(["lonely", "partly", "plain", "titled"]));
}

#[test]
fn several_choices_are_a_list_of_them() {
    #[derive(Deserialize, JsonSchema)]
    struct Lists {
        /// Which ones?
        #[schemars(length(min = 1, max = 2))]
        list: Vec<Snack>,
        set: BTreeSet<Snack>,
        #[schemars(title = "Colours")]
        titled: Vec<Colour>,
        #[serde(default)]
        titled_set: BTreeSet<Colour>,
        optional: Option<Vec<Snack>>,
        #[serde(default = "usual")]
        preset: Vec<Snack>,
        pair: [Snack; 2],
    }
    fn usual() -> Vec<Snack> {
        vec![Snack::Nuts, Snack::FruitBowl]
    }
    let snacks = json!({"type": "string", "enum": ["popcorn", "fruit-bowl", "nuts"]});
    let (fields, required) = asked::<Lists>();
    assert_eq!(
        fields,
        json!({
            "list": {
                "type": "array",
                "items": snacks,
                "description": "Which ones?",
                "minItems": 1,
                "maxItems": 2,
            },
            "set": {"type": "array", "items": snacks},
            "titled": {"type": "array", "items": {"anyOf": colours()}, "title": "Colours"},
            "titled_set": {"type": "array", "items": {"anyOf": colours()}, "default": []},
            "optional": {"type": "array", "items": snacks},
            "preset": {"type": "array", "items": snacks, "default": ["nuts", "fruit-bowl"]},
            "pair": {"type": "array", "items": snacks, "minItems": 2, "maxItems": 2},
        })
    );
    assert_eq!(required, json!(["list", "pair", "set", "titled"]));
}

#[test]
fn newtypes_and_flattened_structs_are_what_they_hold() {
    /// The name of a thing
    #[derive(Deserialize, JsonSchema)]
    struct Name(#[schemars(length(min = 1))] String);

    #[derive(Deserialize, JsonSchema)]
    #[serde(transparent)]
    struct Note(Option<String>);

    #[derive(Deserialize, JsonSchema)]
    struct Inner {
        count: u8,
        spare: Option<u8>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Other {
        flag: bool,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Outer {
        name: Name,
        maybe: Option<Name>,
        note: Note,
        #[serde(flatten)]
        inner: Inner,
        #[serde(flatten)]
        other: Option<Other>,
        #[serde(skip)]
        hidden: Vec<u8>,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Wrapped(Outer);

    let (fields, required) = asked::<Outer>();
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let name = json!({"type": "string", "minLength": 1, "description": "The name of a thing"});
    assert_eq!(
        fields,
        json!({
            "name": name,
            "maybe": name,
            "note": {"type": "string"},
            "count": byte,
            "spare": byte,
            "flag": {"type": "boolean"},
        })
    );
    assert_eq!(required, json!(["count", "name"]));
    assert_eq!(form::<Wrapped>().schema(), form::<Outer>().schema());
    assert_eq!(form::<Box<Outer>>().schema(), form::<Outer>().schema());
}

#[test]
fn a_default_of_the_whole_struct_makes_every_field_optional() {
    #[derive(Default, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Preset {
        snack: Snack,
        count: u8,
        note: Option<String>,
    }
    let (fields, required) = asked::<Preset>();
    assert_eq!(fields["snack"]["default"], "popcorn");
    assert_eq!(fields["count"]["default"], 0);
    assert_eq!(fields["note"], json!({"type": "string"}));
    assert_eq!(required, json!([]));
}

#[test]
fn a_struct_without_fields_asks_for_a_yes() {
    #[derive(Deserialize, JsonSchema)]
    struct Confirm {}
    assert_eq!(asked::<Confirm>(), (json!({}), json!([])));
}

#[test]
fn notes_without_effect_are_left_out() {
    #[derive(Deserialize, JsonSchema)]
    struct Noted {
        #[schemars(example = 3, extend("$comment" = "later"))]
        #[deprecated]
        count: u8,
        #[serde(skip_serializing)]
        secretive: bool,
    }
    let (fields, _) = asked::<Noted>();
    assert_eq!(
        fields,
        json!({
            "count": {"type": "integer", "minimum": 0, "maximum": 255},
            "secretive": {"type": "boolean"},
        })
    );
}

#[test]
fn other_ways_to_write_choices_and_options_are_known() {
    let form = form_of(json!({
        "type": "object",
        "properties": {
            "untyped": {"enum": ["a", "b"]},
            "fixed": {"const": "a"},
            "any_of": {"anyOf": [{"const": "a", "title": " "}, {"const": "b", "title": "B"}]},
            "one_of_null": {"oneOf": [{"type": "null"}, {"type": "string", "minLength": 1}], "maxLength": 9},
            "list": {"type": "array", "items": {"oneOf": [
                {"enum": ["a", "b"], "description": "Both"},
                {"const": "c", "deprecated": true, "description": "  See"},
            ]}, "uniqueItems": false},
        },
    }))
    .unwrap();
    super::assert_is_of_mcp(&form);
    assert_eq!(
        form.schema()["properties"],
        json!({
            "untyped": {"type": "string", "enum": ["a", "b"]},
            "fixed": {"type": "string", "enum": ["a"]},
            "any_of": {"type": "string", "oneOf": [
                {"const": "a", "title": "a"},
                {"const": "b", "title": "B"},
            ]},
            "one_of_null": {"type": "string", "minLength": 1, "maxLength": 9},
            "list": {"type": "array", "items": {"anyOf": [
                {"const": "a", "title": "a"},
                {"const": "b", "title": "b"},
                {"const": "c", "title": "See"},
            ]}},
        })
    );
}
