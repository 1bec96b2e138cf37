//! Where in a schema something stands.

use std::fmt;

/// A JSON pointer (RFC 6901) as a URI fragment, written down only when it is needed.
#[derive(Clone, Copy)]
pub(super) enum Pointer<'a> {
    Root,
    Key { parent: &'a Self, key: &'a str },
    Index { parent: &'a Self, index: usize },
}

impl Pointer<'_> {
    pub(super) fn key<'a>(&'a self, key: &'a str) -> Pointer<'a> {
        Pointer::Key { parent: self, key }
    }

    pub(super) fn index(&self, index: usize) -> Pointer<'_> {
        Pointer::Index {
            parent: self,
            index,
        }
    }

    /// How many steps it is from the root.
    pub(super) fn depth(&self) -> usize {
        match self {
            Pointer::Root => 0,
            Pointer::Key { parent, .. } | Pointer::Index { parent, .. } => parent.depth() + 1,
        }
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pointer::Root => f.write_str("#"),
            Pointer::Key { parent, key } => {
                write!(f, "{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Pointer::Index { parent, index } => write!(f, "{parent}/{index}"),
        }
    }
}

/// The name that `#/$defs/NAME` refers to, decoded; `None` for any other reference.
pub(super) fn definition(reference: &str) -> Option<String> {
    let encoded = reference.strip_prefix("#/$defs/")?;
    if encoded.contains('/') {
        return None;
    }
    let mut bytes = encoded.bytes();
    let mut decoded = Vec::with_capacity(encoded.len());
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
        decoded.push(match byte {
            b'%' => u8::try_from(digit()? << 4 | digit()?).ok()?,
            _ => byte,
        });
    }
    Some(
        String::from_utf8(decoded)
            .ok()?
            .replace("~1", "/")
            .replace("~0", "~"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_escaped_in_writing_and_unescaped_in_reading() {
        let place = Pointer::Root.key("$defs");
        assert_eq!(place.key("a/b~c").index(2).to_string(), "#/$defs/a~1b~0c/2");
        assert_eq!(
            definition("#/$defs/a~1b~0c%20%C3%A9").as_deref(),
            Some("a/b~c é")
        );
        assert_eq!(definition("#/$defs/~01").as_deref(), Some("~1"));
        for other in [
            "#",
            "#/definitions/a",
            "#/$defs/a/properties/b",
            "a.json#/$defs/a",
            "#/$defs/%4",
            "#/$defs/%ff",
        ] {
            assert_eq!(definition(other), None, "{other}");
        }
    }
}
