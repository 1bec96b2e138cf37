//! A manifest that was checked.

use std::fmt;

use bytes::Bytes;
use serde::{Serialize, Serializer};

use super::{
    check::MAX_MANIFEST_BYTES,
    command::Command,
    draft::{ManifestDraft, ToolDraft},
    endpoint::{EndpointRule, Endpoints},
    error::{Inner, ManifestError},
    event::EventKind,
    name::{ExtensionId, ToolName},
    setting::Setting,
    violation::Violations,
};

/// A manifest that keeps every rule of the protocol.
///
/// Made by [`ManifestDraft::check`] or [`Manifest::parse`], and never changed.
#[derive(Clone, PartialEq)]
pub struct Manifest {
    pub(super) draft: ManifestDraft,
    // What the draft holds as text, once more by type.
    pub(super) id: ExtensionId,
    pub(super) tools: Vec<ManifestTool>,
    pub(super) events: Vec<EventKind>,
    pub(super) json: Bytes,
}

impl Manifest {
    /// Reads a manifest from JSON; its endpoints must be public and https.
    ///
    /// # Errors
    ///
    /// When it is over [`MAX_MANIFEST_BYTES`], is no JSON, has a field that is unknown, doubled, missing or of
    /// another type (the first one is named), or breaks rules ([`ManifestError::violations`] has them all).
    pub fn parse(json: &[u8]) -> Result<Self, ManifestError> {
        Self::parse_with(json, EndpointRule::PublicHttps)
    }

    /// Reads a manifest from JSON, with endpoints by `rule`.
    ///
    /// # Errors
    ///
    /// As [`Manifest::parse`].
    pub fn parse_with(json: &[u8], rule: EndpointRule) -> Result<Self, ManifestError> {
        if json.len() > MAX_MANIFEST_BYTES {
            return Err(Inner::TooLarge.into());
        }
        let draft: ManifestDraft = serde_json::from_slice(json).map_err(Inner::Shape)?;
        Ok(draft.check_with(rule).map_err(Inner::Rules)?)
    }

    /// The manifest as JSON, in the protocol's field names: the body of `GET /manifest.json`. The same bytes
    /// every time, at most [`MAX_MANIFEST_BYTES`].
    #[must_use]
    pub fn to_json(&self) -> Bytes {
        self.json.clone()
    }

    /// The same manifest for a service that stands elsewhere.
    ///
    /// # Errors
    ///
    /// All violations at once, which can only be of the endpoints and of the size.
    pub fn with_endpoints(
        &self,
        endpoints: Endpoints,
        rule: EndpointRule,
    ) -> Result<Self, Violations> {
        ManifestDraft {
            endpoints,
            ..self.draft.clone()
        }
        .check_with(rule)
    }

    /// The manifest as plain data again, to be changed and checked.
    #[must_use]
    pub fn into_draft(self) -> ManifestDraft {
        self.draft
    }

    /// The extension's id.
    #[must_use]
    pub fn id(&self) -> &ExtensionId {
        &self.id
    }

    /// The name that people see.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.draft.name
    }

    /// Who made it.
    #[must_use]
    pub fn author(&self) -> &str {
        &self.draft.author
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.draft.description
    }

    /// One line for the assistant.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.draft.summary
    }

    /// How the assistant is to use the tools.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.draft.instructions
    }

    /// Where pup sends requests.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        &self.draft.endpoints
    }

    /// The tools, in the manifest's order.
    #[must_use]
    pub fn tools(&self) -> &[ManifestTool] {
        &self.tools
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ManifestTool> {
        self.tools.iter().find(|tool| tool.name.as_str() == name)
    }

    /// The commands, in the manifest's order. Each one's tool exists.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.draft.commands
    }

    /// The settings, in the manifest's order.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.draft.settings
    }

    /// The events that the extension wants.
    #[must_use]
    pub fn events(&self) -> &[EventKind] {
        &self.events
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Manifest").field(&self.draft).finish()
    }
}

impl Serialize for Manifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.draft.serialize(serializer)
    }
}

/// What a checked manifest says of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestTool {
    name: ToolName,
    draft: ToolDraft,
}

impl ManifestTool {
    /// For the check alone, which gives it out only where the draft is valid.
    pub(super) fn unchecked(draft: &ToolDraft) -> Self {
        Self {
            name: ToolName::unchecked(&draft.name),
            draft: draft.clone(),
        }
    }

    /// The name, as in MCP's tool list.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Whether the tool changes nothing. One that is not read only is a write.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.draft.read_only
    }

    /// Whether pup always asks the member first.
    #[must_use]
    pub fn always_asks(&self) -> bool {
        self.draft.always_ask
    }

    /// Whether the tool wants its answers in a Discord thread.
    #[must_use]
    pub fn wants_thread(&self) -> bool {
        self.draft.thread
    }

    /// Whether the tool is handed the message that the member wrote.
    #[must_use]
    pub fn wants_user_request(&self) -> bool {
        self.draft.user_request
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::manifest::ManifestErrorKind;

    /// The example of the protocol's page.
    const EXAMPLE: &str = r#"{
      "manifestVersion": 1,
      "protocolVersion": "2026-07-28",
      "id": "snack_club",
      "name": "Snack Club",
      "author": "Example author",
      "description": "List available snacks.",
      "summary": "Read the available snack choices.",
      "instructions": "Use snack_menu when asked for the available snacks.",
      "endpoints": {
        "challenge": "https://snacks.example.com/challenge",
        "mcp": "https://snacks.example.com/mcp"
      },
      "tools": [{ "name": "snack_menu", "readOnly": true }],
      "commands": [{ "name": "snacks", "description": "See available snacks", "tool": "snack_menu" }],
      "settings": [],
      "events": []
    }"#;

    fn example() -> Value {
        serde_json::from_str(EXAMPLE).unwrap()
    }

    fn parse(json: &Value) -> Result<Manifest, ManifestError> {
        Manifest::parse(json.to_string().as_bytes())
    }

    /// Uses every field there is.
    fn full() -> Value {
        let mut json = example();
        json["endpoints"]["events"] = json!("https://snacks.example.com/events");
        json["tools"] = json!([
            {"name": "snack_menu", "readOnly": true, "thread": true, "userRequest": true},
            {"name": "forget_snack", "alwaysAsk": true},
        ]);
        json["commands"][0]["visibility"] = json!("public");
        json["commands"][0]["surfaces"] = json!(["x", "y"]);
        json["commands"][0]["options"] = json!([{"name": "snack", "anything": [1.5, null]}]);
        json["settings"] = json!([
            {"key": "greeting", "label": "Greeting", "type": "text", "maxLength": 200},
            {"key": "ratio", "type": "number", "step": 0.1},
        ]);
        json["events"] = json!(["member.joined", "member.left"]);
        json
    }

    #[test]
    fn the_example_of_the_protocol_page_comes_back_as_it_was() {
        let manifest = Manifest::parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&manifest.to_json()).unwrap(),
            example()
        );
        assert_eq!(serde_json::to_value(&manifest).unwrap(), example());
        assert_eq!(manifest.id().as_str(), "snack_club");
        assert_eq!(manifest.name(), "Snack Club");
        assert_eq!(manifest.author(), "Example author");
        assert_eq!(manifest.description(), "List available snacks.");
        assert_eq!(manifest.summary(), "Read the available snack choices.");
        assert_eq!(
            manifest.instructions(),
            "Use snack_menu when asked for the available snacks."
        );
        assert_eq!(
            manifest.endpoints().challenge,
            "https://snacks.example.com/challenge"
        );
        let tool = manifest.tool("snack_menu").unwrap();
        assert!(tool.is_read_only());
        assert!(!tool.always_asks() && !tool.wants_thread() && !tool.wants_user_request());
        assert_eq!(manifest.commands()[0].visibility.as_str(), "ephemeral");
        assert_eq!(manifest.commands()[0].surfaces, None);
        assert_eq!(manifest.tool("snacks"), None);
    }

    #[test]
    fn a_manifest_with_every_field_comes_back_as_it_was() {
        let manifest = parse(&full()).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&manifest.to_json()).unwrap(),
            full()
        );
        assert_eq!(Manifest::parse(&manifest.to_json()).unwrap(), manifest);
        assert_eq!(
            manifest.events(),
            [EventKind::MemberJoined, EventKind::MemberLeft]
        );
        let [menu, forget] = manifest.tools() else {
            panic!("two tools")
        };
        assert!(menu.wants_thread() && menu.wants_user_request() && !menu.always_asks());
        assert!(forget.always_asks() && !forget.is_read_only());
        assert_eq!(manifest.settings()[0].cap(), Some(200));
        assert_eq!(manifest.clone().into_draft().check().unwrap(), manifest);
    }

    #[test]
    fn a_tool_is_a_write_unless_it_says_otherwise() {
        let mut json = example();
        json["tools"] = json!([{"name": "snack_menu"}, {"name": "b", "readOnly": false}]);
        assert!(
            parse(&json)
                .unwrap()
                .tools()
                .iter()
                .all(|tool| !tool.is_read_only())
        );
    }

    #[test]
    fn an_unknown_field_is_refused_wherever_the_protocol_names_the_fields() {
        for at in ["", "/endpoints", "/tools/0", "/commands/0"] {
            let mut json = full();
            json.pointer_mut(at).unwrap()["extra"] = json!(1);
            let error = parse(&json).unwrap_err();
            assert_eq!(error.kind(), ManifestErrorKind::Shape, "{at}");
            assert!(
                error.to_string().contains("unknown field `extra`"),
                "{at}: {error}"
            );
            assert!(error.violations().is_none());
        }
    }

    #[test]
    fn a_missing_field_is_refused_and_null_does_not_stand_for_it() {
        for (at, fields) in [
            (
                "",
                &[
                    "manifestVersion",
                    "protocolVersion",
                    "id",
                    "name",
                    "author",
                    "description",
                    "summary",
                    "instructions",
                    "endpoints",
                    "tools",
                    "commands",
                    "settings",
                    "events",
                ][..],
            ),
            ("/endpoints", &["challenge", "mcp"]),
            ("/tools/0", &["name"]),
            ("/commands/0", &["name", "description", "tool"]),
        ] {
            for field in fields {
                let mut json = full();
                json.pointer_mut(at)
                    .unwrap()
                    .as_object_mut()
                    .unwrap()
                    .remove(*field)
                    .unwrap();
                let error = parse(&json).unwrap_err();
                assert_eq!(error.kind(), ManifestErrorKind::Shape);
                assert!(
                    error
                        .to_string()
                        .contains(&format!("missing field `{field}`")),
                    "{error}"
                );
            }
            for field in full().pointer(at).unwrap().as_object().unwrap().keys() {
                let mut json = full();
                json.pointer_mut(at).unwrap()[field] = Value::Null;
                assert_eq!(
                    parse(&json).unwrap_err().kind(),
                    ManifestErrorKind::Shape,
                    "{at} {field}"
                );
            }
        }
    }

    #[test]
    fn a_doubled_field_and_trailing_bytes_are_refused() {
        let doubled = EXAMPLE.replacen("\"id\"", "\"id\": \"other\", \"id\"", 1);
        let error = Manifest::parse(doubled.as_bytes()).unwrap_err();
        assert!(
            error.to_string().contains("duplicate field `id`"),
            "{error}"
        );
        let error = Manifest::parse(format!("{EXAMPLE}x").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("trailing characters"), "{error}");
    }

    #[test]
    fn bytes_over_the_limit_are_not_even_read() {
        let padded = |bytes: usize| format!("{EXAMPLE}{}", " ".repeat(bytes - EXAMPLE.len()));
        assert!(Manifest::parse(padded(MAX_MANIFEST_BYTES).as_bytes()).is_ok());
        let error = Manifest::parse(padded(MAX_MANIFEST_BYTES + 1).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ManifestErrorKind::TooLarge);
        assert_eq!(error.to_string(), "the manifest is over 1048576 bytes");
    }

    #[test]
    fn broken_rules_are_handed_on() {
        let mut json = example();
        json["id"] = json!("Snack");
        json["events"] = json!(["member.moved"]);
        let error = parse(&json).unwrap_err();
        assert_eq!(error.kind(), ManifestErrorKind::Rules);
        assert_eq!(error.violations().unwrap().iter().count(), 3);
        assert_eq!(error.to_string(), error.violations().unwrap().to_string());
    }

    #[test]
    fn endpoints_can_be_moved_and_are_checked_again() {
        let manifest = parse(&full()).unwrap();
        let local = Endpoints::under("http://127.0.0.1:8787", true).unwrap();
        let moved = manifest
            .with_endpoints(local.clone(), EndpointRule::OrLoopback)
            .unwrap();
        assert_eq!(moved.endpoints(), &local);
        assert!(Manifest::parse(&moved.to_json()).is_err());
        assert_eq!(
            Manifest::parse_with(&moved.to_json(), EndpointRule::OrLoopback).unwrap(),
            moved
        );
        let violations = manifest
            .with_endpoints(local, EndpointRule::PublicHttps)
            .unwrap_err();
        assert!(
            violations
                .iter()
                .all(|violation| violation.path.starts_with("endpoints."))
        );
    }

    /// JSON of any kind, its keys often those of a manifest.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
            "[a-z_]{0,60}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key = prop_oneof![
                prop::sample::select(vec![
                    "id",
                    "tools",
                    "name",
                    "key",
                    "type",
                    "maxLength",
                    "label"
                ])
                .prop_map(str::to_owned),
                "[a-z]{0,4}",
            ];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4)
                    .prop_map(|map| map.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Manifest::parse(&bytes).is_err());
        }

        #[test]
        fn any_number_in_raw_json_comes_back(step in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            let mut json = full();
            json["settings"][1]["step"] = json!(step);
            let manifest = parse(&json).unwrap();
            prop_assert_eq!(manifest.settings()[1].as_json()["step"].as_f64(), Some(step));
            prop_assert_eq!(Manifest::parse(&manifest.to_json()).unwrap(), manifest);
        }

        #[test]
        fn arbitrary_json_in_any_place_never_panics_and_what_passes_comes_back(
            place in prop::sample::select(vec![
                "", "/id", "/summary", "/endpoints", "/endpoints/mcp", "/endpoints/events", "/tools",
                "/tools/0", "/tools/0/name", "/commands", "/commands/0/visibility",
                "/commands/0/surfaces", "/commands/0/options", "/commands/0/options/0", "/settings",
                "/settings/0", "/settings/0/key", "/settings/0/maxLength", "/settings/1/step", "/events",
            ]),
            put in any_json(),
        ) {
            let mut json = full();
            *json.pointer_mut(place).unwrap() = put;
            match parse(&json) {
                Ok(manifest) => {
                    let again = Manifest::parse(&manifest.to_json()).unwrap();
                    prop_assert_eq!(again.to_json(), manifest.to_json());
                    prop_assert_eq!(again, manifest);
                }
                Err(error) => {
                    prop_assert!(!error.to_string().is_empty());
                    if let Some(violations) = error.violations() {
                        prop_assert!(violations.iter().count() > 0);
                    }
                }
            }
        }

        #[test]
        fn a_cut_or_flipped_example_never_panics(
            cut in any::<prop::sample::Index>(),
            flip in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let mut bytes = EXAMPLE.as_bytes().to_vec();
            prop_assert!(Manifest::parse(&bytes[..cut.index(bytes.len())]).is_err());
            let at = flip.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(manifest) = Manifest::parse(&bytes) {
                prop_assert_eq!(Manifest::parse(&manifest.to_json()).unwrap(), manifest);
            }
        }
    }
}
