//! What the people of an installation set for this extension.

use std::{fmt, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The settings of one installation, as pup sent them with the request. Cheap to clone.
///
/// ```
/// use pup_extension::context::Settings;
///
/// let settings = Settings::from_json(serde_json::json!({"greeting": "Hi!", "limit": 3}));
/// assert_eq!(settings.text("greeting"), Some("Hi!"));
/// assert_eq!(settings.parse::<u8>("limit").unwrap(), Some(3));
/// assert_eq!(settings.text("absent"), None);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Settings(Arc<Map<String, Value>>);

impl Settings {
    /// From a JSON object. Anything else counts as no settings.
    #[must_use]
    pub fn from_json(value: Value) -> Self {
        match value {
            Value::Object(map) => Self(Arc::new(map)),
            _ => Self::default(),
        }
    }

    /// The text of a setting; `None` when it is not set, null, or no text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    /// A setting as a `T`; `None` when it is not set or null.
    ///
    /// # Errors
    ///
    /// When it is set, but no `T`.
    pub fn parse<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, SettingError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value).map(Some).map_err(|_| SettingError {
                key: key.to_owned(),
            }),
        }
    }

    /// All of them.
    #[must_use]
    pub fn as_json(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl fmt::Debug for Settings {
    /// Settings are people's words: only their keys are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A setting is not of the type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting `{key}` is not of the type that was asked for")]
pub struct SettingError {
    key: String,
}
