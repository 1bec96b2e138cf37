//! The rules of `x-mcp-header` (MCP, "Custom Headers from Tool Parameters").

use serde_json::{Number, Value};

use super::{
    super::{
        error::Reason,
        header::{HeaderKind, HeaderParam, MAX_INTEGER, is_token},
        node::{Node, NumberRules},
        number::compare,
    },
    Compiler,
    pointer::Pointer,
};

/// How a value is reached from the root.
pub(super) enum Reach<'a> {
    Root,
    /// Through `properties` alone.
    Property {
        parent: &'a Self,
        name: &'a str,
    },
    /// In some other way, or in none.
    Nowhere,
}

impl Reach<'_> {
    pub(super) fn property<'a>(&'a self, name: &'a str) -> Reach<'a> {
        match self {
            Reach::Nowhere => Reach::Nowhere,
            Reach::Root | Reach::Property { .. } => Reach::Property { parent: self, name },
        }
    }

    /// The names on the way; empty at the root and for what is not reached.
    fn path(&self) -> Vec<String> {
        match self {
            Reach::Root | Reach::Nowhere => Vec::new(),
            Reach::Property { parent, name } => {
                let mut path = parent.path();
                path.push(String::from(*name));
                path
            }
        }
    }
}

impl Compiler {
    /// After all other keywords of the node.
    pub(super) fn header(
        &mut self,
        node: &mut Node,
        annotation: &Value,
        types: Option<&Value>,
        place: &Pointer<'_>,
        reach: &Reach<'_>,
    ) {
        let place = &place.key("x-mcp-header");
        let path = reach.path();
        if path.is_empty() {
            self.problem(place, Reason::HeaderPlace);
        }
        let kind = match types.and_then(Value::as_str) {
            Some("string") => HeaderKind::String,
            Some("integer") => HeaderKind::Integer,
            Some("boolean") => HeaderKind::Boolean,
            _ => return self.problem(place, Reason::HeaderType),
        };
        let Some(name) = annotation.as_str().filter(|name| is_token(name)) else {
            return self.problem(place, Reason::HeaderName);
        };
        if self
            .headers
            .iter()
            .any(|other| other.name.eq_ignore_ascii_case(name))
        {
            return self.problem(place, Reason::HeaderTwice(name.into()));
        }
        if kind == HeaderKind::Integer {
            bound(node.number.get_or_insert_default());
        }
        self.headers.push(HeaderParam {
            name: name.into(),
            path,
            kind,
        });
    }
}

/// Keeps an integer within what a header can carry, where its own limits don't.
fn bound(rules: &mut NumberRules) {
    let (least, most) = (Number::from(-MAX_INTEGER), Number::from(MAX_INTEGER));
    if !rules
        .minimum
        .as_ref()
        .is_some_and(|minimum| compare(minimum, &least).is_some_and(|order| order.is_ge()))
    {
        rules.minimum = Some(least);
    }
    if !rules
        .maximum
        .as_ref()
        .is_some_and(|maximum| compare(maximum, &most).is_some_and(|order| order.is_le()))
    {
        rules.maximum = Some(most);
    }
}
