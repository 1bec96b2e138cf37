//! Keys from values: what serializes to texts, whole numbers, plain variants, and tuples of those.

use serde::{
    Serialize, Serializer,
    ser::{Impossible, SerializeSeq, SerializeTuple, SerializeTupleStruct},
};

use super::error::{Kind, StateError};
use crate::store::Name;

/// Where a [`State`](super::State) may reach: everything it names stands under these parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope(Vec<String>);

impl Scope {
    /// What all members of an installation share.
    pub(crate) fn shared() -> Self {
        Self(vec!["data".into(), "s".into()])
    }

    /// What belongs to one member.
    pub(crate) fn of(member: &str) -> Self {
        // An id is hashed when it is long, so that no id can use up the key; apart from the others, so that no
        // other id can spell the hash.
        let part = Name::of([member]).map_or_else(|_| String::new(), |name| name.parts().concat());
        let kind = if part == member { "m" } else { "h" };
        Self(vec!["data".into(), kind.into(), part])
    }

    /// The full name of a key in this scope.
    pub(super) fn name(&self, key: &impl Serialize) -> Result<Name, StateError> {
        let parts = parts(key)?;
        if parts.is_empty() {
            return Err(StateError::new(Kind::Key("nothing")));
        }
        Ok(Name::of_plain(
            self.0.iter().chain(&parts).map(String::as_str),
        )?)
    }

    /// What the names of all keys start with that start with these parts.
    pub(super) fn prefix(&self, prefix: &impl Serialize) -> Result<String, StateError> {
        let parts = parts(prefix)?;
        let name = Name::of_plain(self.0.iter().chain(&parts).map(String::as_str))?;
        Ok(format!("{}/", name.as_str()))
    }

    /// The parts of a key, without the scope's own.
    pub(super) fn strip(&self, name: &Name) -> Vec<String> {
        name.parts().split_off(self.0.len())
    }
}

fn parts(key: &impl Serialize) -> Result<Vec<String>, StateError> {
    let mut parts = Vec::new();
    key.serialize(Parts(&mut parts))
        .map_err(|Refused(what)| StateError::new(Kind::Key(what)))?;
    Ok(parts)
}

/// What a key can't hold.
#[derive(Debug)]
struct Refused(&'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Refused {}

impl serde::ser::Error for Refused {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self("a value that fails to serialize")
    }
}

struct Parts<'a>(&'a mut Vec<String>);

impl Parts<'_> {
    fn unsigned(self, number: u128) -> Result<(), Refused> {
        // Zero-padded to the width of u64, so that the order of texts is the order of numbers.
        let number = u64::try_from(number).map_err(|_| Refused("a number over 64 bits"))?;
        self.0.push(format!("{number:020}"));
        Ok(())
    }

    fn signed(self, number: i64) -> Result<(), Refused> {
        match u64::try_from(number) {
            Ok(number) => self.unsigned(number.into()),
            // Below the digits in byte order, and the nearer to zero the later.
            Err(_) => {
                self.0.push(format!(
                    "-{:020}",
                    number.wrapping_sub(i64::MIN).unsigned_abs()
                ));
                Ok(())
            }
        }
    }
}

impl<'a> Serializer for Parts<'a> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Impossible<(), Refused>;
    type SerializeMap = Impossible<(), Refused>;
    type SerializeStruct = Impossible<(), Refused>;
    type SerializeStructVariant = Impossible<(), Refused>;

    fn serialize_str(self, text: &str) -> Result<(), Refused> {
        self.0.push(text.to_owned());
        Ok(())
    }

    fn serialize_char(self, c: char) -> Result<(), Refused> {
        self.0.push(c.to_string());
        Ok(())
    }

    fn serialize_u8(self, v: u8) -> Result<(), Refused> {
        self.unsigned(v.into())
    }

    fn serialize_u16(self, v: u16) -> Result<(), Refused> {
        self.unsigned(v.into())
    }

    fn serialize_u32(self, v: u32) -> Result<(), Refused> {
        self.unsigned(v.into())
    }

    fn serialize_u64(self, v: u64) -> Result<(), Refused> {
        self.unsigned(v.into())
    }

    fn serialize_u128(self, v: u128) -> Result<(), Refused> {
        self.unsigned(v)
    }

    fn serialize_i8(self, v: i8) -> Result<(), Refused> {
        self.signed(v.into())
    }

    fn serialize_i16(self, v: i16) -> Result<(), Refused> {
        self.signed(v.into())
    }

    fn serialize_i32(self, v: i32) -> Result<(), Refused> {
        self.signed(v.into())
    }

    fn serialize_i64(self, v: i64) -> Result<(), Refused> {
        self.signed(v)
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Refused> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_bool(self, _: bool) -> Result<(), Refused> {
        Err(Refused("a boolean"))
    }

    fn serialize_f32(self, _: f32) -> Result<(), Refused> {
        Err(Refused("a fraction"))
    }

    fn serialize_f64(self, _: f64) -> Result<(), Refused> {
        Err(Refused("a fraction"))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Refused> {
        Err(Refused("bytes"))
    }

    fn serialize_none(self) -> Result<(), Refused> {
        Err(Refused("an absent option"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Refused> {
        Err(Refused("an enum variant with data"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Refused> {
        Err(Refused("an enum variant with data"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Refused> {
        Err(Refused("a map"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Refused> {
        Err(Refused("a struct"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Refused> {
        Err(Refused("an enum variant with data"))
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(Parts(self.0))
    }

    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(Parts(self.0))
    }

    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}

impl SerializeTupleStruct for Parts<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(Parts(self.0))
    }

    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::causes::with_causes;

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Snack {
        Popcorn,
    }

    fn name(key: impl Serialize) -> String {
        Scope::shared().name(&key).unwrap().as_str().to_owned()
    }

    #[test]
    fn texts_numbers_variants_and_tuples_make_keys() {
        assert_eq!(name("menu"), "data/s/menu");
        assert_eq!(name(("count", Snack::Popcorn)), "data/s/count/popcorn");
        assert_eq!(name(("a/b", 7_u8)), "data/s/a%2Fb/00000000000000000007");
        assert_eq!(name(vec!["x", ""]), "data/s/x/%");
        assert_eq!(name(("member", ("nested", 'c'))), "data/s/member/nested/c");
    }

    #[test]
    fn what_has_no_clear_text_is_refused_by_name() {
        let refused = |result: Result<Name, StateError>| result.unwrap_err().to_string();
        let scope = Scope::shared();
        assert!(refused(scope.name(&true)).starts_with("a boolean can't be part"));
        assert!(refused(scope.name(&1.5)).starts_with("a fraction"));
        assert!(refused(scope.name(&())).starts_with("nothing"));
        assert!(refused(scope.name(&Option::<u8>::None)).starts_with("an absent option"));
        assert!(refused(scope.name(&u128::MAX)).starts_with("a number over 64 bits"));
        let too_long = scope.name(&"x".repeat(400)).unwrap_err();
        assert!(with_causes(&too_long).contains("400 are allowed"));
    }

    #[test]
    fn no_key_reaches_outside_its_scope() {
        let mine = Scope::of("1");
        for key in ["../2", "/2", "", "..", "%", "\0"] {
            let name = mine.name(&key).unwrap();
            assert!(name.as_str().starts_with("data/m/1/"), "{name:?}");
            assert_eq!(mine.strip(&name), [key]);
        }
        assert_ne!(
            Scope::of("1/2").name(&"x").unwrap(),
            mine.name(&("2", "x")).unwrap()
        );
        assert!(Scope::of(&"9".repeat(10_000)).name(&"x").is_ok());
        let long = "9".repeat(97);
        let spelled = Name::of([long.as_str()]).unwrap();
        assert_ne!(
            Scope::of(&long).name(&"x").unwrap(),
            Scope::of(spelled.as_str()).name(&"x").unwrap()
        );
    }

    proptest! {
        #[test]
        fn numbers_sort_by_value(a: i64, b: i64) {
            prop_assert_eq!(a.cmp(&b), name(a).cmp(&name(b)));
        }

        #[test]
        fn different_keys_have_different_names(a in ".{0,12}", b in ".{0,12}", c in ".{0,12}") {
            prop_assert_eq!(name((&a, &b)) == name((&b, &c)), a == b && b == c);
            prop_assert_ne!(name((&a, &b)), name(format!("{a}/{b}")));
        }
    }
}
