//! What pup shows of a result by itself: fields and buttons.

use std::fmt;

use schemars::JsonSchema;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeStruct as _},
};
use serde_json::{Map, Value};

/// Fields and buttons beside a result: the `pup` block of a tool's result, and the answer to an event.
///
/// In JSON it is the object of the
/// [SDK's page](https://docs.pup.run/build-an-extension): `{"fields": [{"label", "value"}], "actions": [{"id",
/// "label", "tool", "arguments"}]}`. Both lists are always there. The protocol states no limit of either.
///
/// ```
/// use pup_extension::presentation::{Action, Presentation};
/// use serde_json::json;
///
/// let presentation = Presentation::new()
///     .field("Choices", "popcorn, fruit")
///     .action(Action::new("save_fruit", "Save fruit", "save_snack").arguments(&json!({"snack": "fruit"})));
/// assert_eq!(
///     serde_json::to_value(&presentation)?,
///     json!({
///         "fields": [{"label": "Choices", "value": "popcorn, fruit"}],
///         "actions": [{
///             "id": "save_fruit",
///             "label": "Save fruit",
///             "tool": "save_snack",
///             "arguments": {"snack": "fruit"},
///         }],
///     }),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Serializing fails when an action's arguments have no JSON form or are no object; see [`Action::arguments`].
#[derive(Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Presentation {
    fields: Vec<Field>,
    actions: Vec<Action>,
}

impl Presentation {
    /// One with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.fields.push(Field {
            label: label.into(),
            value: value.into(),
        });
        self
    }

    /// Adds a button.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    /// The fields, in the order in which they were added.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The buttons, in the order in which they were added.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }
}

impl fmt::Debug for Presentation {
    /// Shows how much there is and not what, since it was written for one member.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presentation")
            .field("fields", &self.fields.len())
            .field("actions", &self.actions.len())
            .finish()
    }
}

/// A label and a value.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Field {
    label: String,
    value: String,
}

impl Field {
    /// What the value is.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Field {
    /// Shows the label and not the value, which was written for one member.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// A button that calls a tool of the same extension.
#[derive(Clone, PartialEq, JsonSchema)]
pub struct Action {
    id: String,
    label: String,
    tool: String,
    #[schemars(with = "Map<String, Value>")]
    arguments: Result<Map<String, Value>, Unusable>,
}

impl Action {
    /// A button with this label, which calls `tool` without arguments. `id` tells it from the others.
    #[must_use]
    pub fn new(id: impl Into<String>, label: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            tool: tool.into(),
            arguments: Ok(Map::new()),
        }
    }

    /// What the tool is called with: anything that is an object in JSON.
    ///
    /// Anything else makes the serialization of the presentation fail, with an error that names the action; so
    /// the chain of calls need not be broken for a mistake that the first test finds.
    #[must_use]
    pub fn arguments<T: Serialize + ?Sized>(self, arguments: &T) -> Self {
        let arguments = match serde_json::to_value(arguments) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Unusable::NotAnObject),
            Err(_) => Err(Unusable::NoJson),
        };
        Self { arguments, ..self }
    }

    /// What tells the button from the others.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What stands on the button.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The name of the tool that it calls.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = self.arguments.as_ref().map_err(|why| {
            S::Error::custom(format_args!("the arguments of action {:?} {why}", self.id))
        })?;
        let mut action = serializer.serialize_struct("Action", 4)?;
        action.serialize_field("id", &self.id)?;
        action.serialize_field("label", &self.label)?;
        action.serialize_field("tool", &self.tool)?;
        action.serialize_field("arguments", arguments)?;
        action.end()
    }
}

impl fmt::Debug for Action {
    /// Shows what is called and not with what, which was written for one member.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Action")
            .field("id", &self.id)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

/// Why arguments can't be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Unusable {
    #[error("must be a JSON object")]
    NotAnObject,
    #[error("have no JSON form")]
    NoJson,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct SaveSnack {
        snack: &'static str,
    }

    fn choices() -> Presentation {
        Presentation::new()
            .field("Choices", "popcorn, fruit")
            .field("Stock", "3")
            .action(
                Action::new("save_fruit", "Save fruit", "save_snack")
                    .arguments(&SaveSnack { snack: "fruit" }),
            )
    }

    #[test]
    fn a_presentation_is_the_object_of_the_sdk_page() {
        assert_eq!(
            serde_json::to_value(choices()).unwrap(),
            json!({
                "fields": [
                    {"label": "Choices", "value": "popcorn, fruit"},
                    {"label": "Stock", "value": "3"},
                ],
                "actions": [{
                    "id": "save_fruit",
                    "label": "Save fruit",
                    "tool": "save_snack",
                    "arguments": {"snack": "fruit"},
                }],
            })
        );
        assert_eq!(
            serde_json::to_value(Presentation::new()).unwrap(),
            json!({"fields": [], "actions": []})
        );
    }

    #[test]
    fn an_action_without_arguments_has_an_empty_object() {
        let action = serde_json::to_value(Action::new("menu", "Menu", "snack_menu")).unwrap();
        assert_eq!(action["arguments"], json!({}));
    }

    #[test]
    fn arguments_that_are_no_object_fail_with_the_name_of_the_action() {
        let serialize = |action: Action| {
            serde_json::to_value(Presentation::new().action(action))
                .unwrap_err()
                .to_string()
        };
        let action = || Action::new("save_fruit", "Save fruit", "save_snack");
        for wrong in [json!(null), json!("fruit"), json!(["fruit"])] {
            assert_eq!(
                serialize(action().arguments(&wrong)),
                "the arguments of action \"save_fruit\" must be a JSON object"
            );
        }
        assert_eq!(
            serialize(action().arguments(&BTreeMap::from([((1, 2), "fruit")]))),
            "the arguments of action \"save_fruit\" have no JSON form"
        );
    }

    // The oracle does not build for wasm.
    #[cfg(not(target_arch = "wasm32"))]
    #[test]
    fn every_presentation_is_valid_against_its_own_schema() {
        let schema = schemars::schema_for!(Presentation);
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        assert!(validator.is_valid(&serde_json::to_value(choices()).unwrap()));
        assert!(!validator.is_valid(&json!({"fields": []})));
        assert!(!validator.is_valid(&json!({"fields": [], "actions": [{"id": "a"}]})));
    }

    #[test]
    fn debug_shows_nothing_that_was_written_for_a_member() {
        let presentation = choices();
        let text = format!(
            "{presentation:?} {:?} {:?}",
            presentation.fields(),
            presentation.actions()
        );
        assert!(
            text.contains("Choices") && text.contains("save_snack"),
            "{text}"
        );
        assert!(
            !text.contains("popcorn") && !text.contains("\"fruit\""),
            "{text}"
        );
    }
}
