//! Settings: what a server's administrators can fill in, in a form that pup shows.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    name::check_name,
    violation::{Report, Rule, Unique},
};

/// The cap of a text setting, in characters.
pub const MAX_TEXT_CHARS: usize = 500;
/// The cap of a long text setting, in characters.
pub const MAX_LONG_TEXT_CHARS: usize = 4_000;

/// A field of the form that pup shows to a server's administrators.
///
/// The protocol's page names the `key`, and that there are text and long text with a cap each; it does not show
/// a field in JSON. So what the constructors write is an assumption (`key`, `label`, `type`, and where set
/// `description` and `maxLength`), and every other field or kind can be given as it is with [`Setting::with`] and
/// [`Setting::raw`]. Whatever the form, the key is checked, and the cap where the type is one of the two.
///
/// ```
/// use pup_extension::manifest::Setting;
/// use serde_json::json;
///
/// let greeting = Setting::text("greeting", "Greeting").max_length(200);
/// assert_eq!(
///     greeting,
///     Setting::raw(json!({"key": "greeting", "label": "Greeting", "type": "text", "maxLength": 200})),
/// );
/// let shown = Setting::raw(json!({"key": "shown", "type": "toggle"}));
/// assert_eq!(shown.key(), "shown");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Setting(Value);

impl Setting {
    /// A line of text, of at most [`MAX_TEXT_CHARS`].
    #[must_use]
    pub fn text(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self::of(SettingKind::Text, key.into(), label.into())
    }

    /// A longer text, of at most [`MAX_LONG_TEXT_CHARS`].
    #[must_use]
    pub fn long_text(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self::of(SettingKind::LongText, key.into(), label.into())
    }

    /// A field as pup wants it: a JSON object with a `key`. The check refuses anything else.
    #[must_use]
    pub fn raw(object: impl Into<Value>) -> Self {
        Self(object.into())
    }

    /// A description below the label.
    #[must_use]
    pub fn description(self, text: impl Into<String>) -> Self {
        self.with("description", text.into())
    }

    /// The most characters that pup takes, in place of the kind's cap and at most that.
    #[must_use]
    pub fn max_length(self, chars: usize) -> Self {
        self.with("maxLength", chars)
    }

    /// Sets any field of the JSON object.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        // What is no object stays none, and the check says so.
        if let Value::Object(fields) = &mut self.0 {
            fields.insert(field.into(), value.into());
        }
        self
    }

    /// The key, under which the value arrives with each request. Empty where there is none, which the check
    /// refuses.
    #[must_use]
    pub fn key(&self) -> &str {
        self.0
            .get("key")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The kind, by the field `type`.
    #[must_use]
    pub fn kind(&self) -> SettingKind {
        match self.0.get("type").and_then(Value::as_str) {
            Some("text") => SettingKind::Text,
            Some("longText") => SettingKind::LongText,
            _ => SettingKind::Other,
        }
    }

    /// The most characters that pup takes: what is declared, else the kind's cap; `None` for other kinds.
    #[must_use]
    pub fn cap(&self) -> Option<usize> {
        let cap = self.kind().cap()?;
        let declared = self.0.get("maxLength").and_then(Value::as_u64);
        Some(
            declared
                .and_then(|declared| usize::try_from(declared).ok())
                .unwrap_or(cap),
        )
    }

    /// The field as it stands in the manifest.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        &self.0
    }

    fn of(kind: SettingKind, key: String, label: String) -> Self {
        let name = if kind == SettingKind::LongText {
            "longText"
        } else {
            "text"
        };
        Self(Value::Object(Map::new()))
            .with("key", key)
            .with("label", label)
            .with("type", name)
    }

    pub(super) fn check<'a>(
        &'a self,
        report: &mut Report,
        seen: &mut Unique<'a>,
        list: &str,
        index: usize,
    ) {
        let path = format!("{list}[{index}]");
        let Value::Object(fields) = &self.0 else {
            return report.add(path, Rule::NotAnObject);
        };
        let key_path = format!("{path}.key");
        match fields.get("key") {
            Some(Value::String(key)) => {
                check_name(report, &key_path, key);
                seen.check(report, &key_path, index, key);
            }
            _ => report.add(key_path, Rule::NotAString),
        }
        if matches!(fields.get("label"), Some(Value::String(label)) if label.trim().is_empty()) {
            report.add(format!("{path}.label"), Rule::Empty);
        }
        if let Some((limit, declared)) = self.kind().cap().zip(fields.get("maxLength")) {
            let fits = declared
                .as_u64()
                .and_then(|declared| usize::try_from(declared).ok());
            if !fits.is_some_and(|declared| (1..=limit).contains(&declared)) {
                report.add(format!("{path}.maxLength"), Rule::MaxLength { limit });
            }
        }
    }
}

/// The kinds of settings that the protocol's page names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingKind {
    /// `text`.
    Text,
    /// `longText`.
    LongText,
    /// Any other, or none.
    Other,
}

impl SettingKind {
    /// The most characters that a value of this kind has; `None` where the protocol's page gives no cap.
    #[must_use]
    pub const fn cap(self) -> Option<usize> {
        match self {
            Self::Text => Some(MAX_TEXT_CHARS),
            Self::LongText => Some(MAX_LONG_TEXT_CHARS),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn broken(settings: &[Setting]) -> Vec<String> {
        let mut report = Report::default();
        let mut seen = Unique::default();
        for (index, setting) in settings.iter().enumerate() {
            setting.check(&mut report, &mut seen, "settings", index);
        }
        report
            .finish(())
            .err()
            .into_iter()
            .flatten()
            .map(|v| v.to_string())
            .collect()
    }

    #[test]
    fn a_declared_length_stays_within_the_cap_of_its_kind() {
        let none: [&str; 0] = [];
        for (of, cap) in [
            (Setting::text as fn(_, _) -> _, 500),
            (Setting::long_text, 4_000),
        ] {
            let setting = || -> Setting { of("greeting", "Greeting") };
            assert_eq!(setting().cap(), Some(cap));
            assert_eq!(setting().max_length(7).cap(), Some(7));
            assert_eq!(broken(&[setting()]), none);
            assert_eq!(broken(&[setting().max_length(1)]), none);
            assert_eq!(broken(&[setting().max_length(cap)]), none);
            for wrong in [
                json!(0),
                json!(cap + 1),
                json!(-1),
                json!(1.5),
                json!("9"),
                json!(null),
            ] {
                assert_eq!(
                    broken(&[setting().with("maxLength", wrong.clone())]),
                    [format!(
                        "settings[0].maxLength: must be a whole number from 1 to {cap}"
                    )],
                    "{wrong}"
                );
            }
        }
    }

    #[test]
    fn a_raw_setting_has_a_key_of_the_grammar_used_once() {
        let settings = [
            json!({"key": "a", "type": "toggle", "maxLength": 9_000}),
            json!({"key": "A__", "label": " "}),
            json!({"key": 5}),
            json!({}),
            json!("a"),
            json!({"key": "a", "type": "text", "maxLength": 501}),
        ];
        assert_eq!(
            broken(&settings.map(Setting::raw)),
            [
                "settings[1].key: must be a lower-case letter followed by lower-case letters, digits or \
                 underscores",
                "settings[1].key: must not hold a double underscore, which is reserved",
                "settings[1].label: must not be empty",
                "settings[2].key: must be a string",
                "settings[3].key: must be a string",
                "settings[4]: must be a JSON object",
                "settings[5].key: must be unique; entry 0 has it already",
                "settings[5].maxLength: must be a whole number from 1 to 500",
            ]
        );
    }

    #[test]
    fn fields_are_written_as_documented_and_read_back() {
        let setting = Setting::long_text("menu_note", "Menu note").description("Shown below");
        let json = json!({
            "key": "menu_note", "label": "Menu note", "type": "longText", "description": "Shown below",
        });
        assert_eq!(setting.as_json(), &json);
        assert_eq!(setting.key(), "menu_note");
        assert_eq!(setting.kind(), SettingKind::LongText);
        assert_eq!(serde_json::from_value::<Setting>(json).unwrap(), setting);
        assert_eq!(Setting::raw("none").with("key", "a").key(), "");
    }
}
