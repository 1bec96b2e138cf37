//! JSON objects read one level at a time: every member borrowed, none of them twice.

use std::{
    borrow::Cow,
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Error;

/// The members of one object in `params`, with the path to it for messages.
///
/// An optional member that is `null` counts as absent; a required one does not.
#[derive(Debug)]
pub(super) struct Object<'a> {
    path: &'static str,
    members: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Object<'a> {
    /// Reads the object that stands at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::invalid_params`] when it is no object, or names a member twice.
    pub(super) fn read(raw: &'a RawValue, path: &'static str) -> Result<Self, Error> {
        match serde_json::from_str::<Top<'a>>(raw.get()) {
            Ok(Top::Object(members)) => match members.twice.first() {
                None => Ok(Self {
                    path,
                    members: members.once,
                }),
                Some(_) => Err(Error::invalid_params(format!(
                    "{path} names a member twice: name each once"
                ))),
            },
            _ => Err(Error::invalid_params(format!("{path} must be an object"))),
        }
    }

    /// The member `name` as it stands; `None` when it is absent or null.
    pub(super) fn member(&self, name: &str) -> Option<&'a RawValue> {
        self.members
            .get(name)
            .copied()
            .filter(|raw| raw.get() != "null")
    }

    /// The string `name`; `None` when it is absent or null.
    pub(super) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Error> {
        self.member(name)
            .map(|raw| Text::parse(raw).ok_or_else(|| self.error(name, "must be a string")))
            .transpose()
    }

    /// The string `name`, which must be there.
    pub(super) fn required_text(&self, name: &str) -> Result<Cow<'a, str>, Error> {
        match self.members.get(name) {
            None => Err(self.error(name, "is missing")),
            Some(raw) => Text::parse(raw).ok_or_else(|| self.error(name, "must be a string")),
        }
    }

    /// The object `name`, which stands at `path`; `None` when it is absent or null.
    pub(super) fn object(&self, name: &str, path: &'static str) -> Result<Option<Self>, Error> {
        self.member(name)
            .map(|raw| Self::read(raw, path))
            .transpose()
    }

    /// The object `name`, which stands at `path` and must be there.
    pub(super) fn required_object(&self, name: &str, path: &'static str) -> Result<Self, Error> {
        match self.members.get(name) {
            None => Err(self.error(name, "is missing")),
            Some(raw) => Self::read(raw, path),
        }
    }

    /// The object `name`, all of it; `None` when it is absent or null.
    pub(super) fn map(
        &self,
        name: &str,
    ) -> Result<Option<serde_json::Map<String, serde_json::Value>>, Error> {
        self.member(name)
            .map(|raw| {
                serde_json::from_str(raw.get())
                    .map_err(|_| self.error(name, "must be an object of JSON values"))
            })
            .transpose()
    }

    /// The object `name`, all of it, which must be there.
    pub(super) fn required_map(
        &self,
        name: &str,
    ) -> Result<serde_json::Map<String, serde_json::Value>, Error> {
        match self.members.get(name) {
            None => Err(self.error(name, "is missing")),
            Some(_) => self
                .map(name)?
                .ok_or_else(|| self.error(name, "must be an object of JSON values")),
        }
    }

    /// The members that are objects themselves.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a RawValue> {
        let members = self.members.values().copied();
        members.filter(|raw| raw.get().starts_with('{'))
    }

    /// Whether there are no members at all.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// An error about the member `name`.
    pub(super) fn error(&self, name: &str, what: &str) -> Error {
        let path = self.path;
        if name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            Error::invalid_params(format!("{path}.{name} {what}"))
        } else {
            Error::invalid_params(format!("{path}[\"{name}\"] {what}"))
        }
    }
}

/// A JSON text, one level of it.
#[derive(Debug)]
pub(super) enum Top<'a> {
    /// An object.
    Object(Members<'a>),
    /// An array.
    Array,
    /// Anything else.
    Scalar,
}

/// The members of an object.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    /// Each name with its first value.
    pub(super) once: BTreeMap<Cow<'a, str>, &'a RawValue>,
    /// The names that came again.
    pub(super) twice: Vec<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Levels;

        impl<'de> Visitor<'de> for Levels {
            type Value = Top<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some(Text(name)) = map.next_key()? {
                    let value = map.next_value()?;
                    match members.once.entry(name) {
                        Entry::Vacant(entry) => {
                            entry.insert(value);
                        }
                        Entry::Occupied(entry) => members.twice.push(entry.key().clone()),
                    }
                }
                Ok(Top::Object(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Top::Array)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }

            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Top::Scalar)
            }
        }

        deserializer.deserialize_any(Levels)
    }
}

/// A JSON string, borrowed unless it has escapes.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'a> Text<'a> {
    /// The string that `raw` is; `None` when it is none.
    pub(super) fn parse(raw: &'a RawValue) -> Option<Cow<'a, str>> {
        serde_json::from_str::<Self>(raw.get())
            .ok()
            .map(|Self(text)| text)
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;

        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Borrowing)
    }
}
