//! Checks a value against a compiled schema, in one pass, without allocating as long as it fits.
//!
//! (Exceptions: `unevaluatedProperties` keeps a bit for each property, `uniqueItems` of more than 16 items sorts
//! them, `propertyNames` copies a name, and a pattern has a scratch space of its own.)

mod branch;
mod parts;
mod scalar;

use serde_json::Value;

use super::{
    MAX_FRAMES, MAX_MISMATCHES, MAX_STEPS,
    mismatch::{Mismatch, Mismatches, Path},
    node::{Id, Node},
};

pub(super) fn validate(nodes: &[Node], root: &str, value: &Value) -> Result<(), Mismatches> {
    let mut run = Run {
        nodes,
        steps: 0,
        frames: 0,
        quiet: 0,
        exhausted: false,
        found: Vec::new(),
    };
    let path = Path::Root(root);
    let fits = run.check(Id(0), value, &path, None);
    if run.exhausted {
        // Whatever was decided was decided by giving up: `not` would turn it round.
        let message = "is too large or nests too deeply to be checked";
        return Err(Mismatches::new(vec![path.mismatch(message.into())]));
    }
    if fits {
        return Ok(());
    }
    debug_assert!(
        !run.found.is_empty(),
        "a value that does not fit leaves a mismatch"
    );
    Err(Mismatches::new(run.found))
}

/// One validation.
struct Run<'s> {
    nodes: &'s [Node],
    /// How much has been done, in checks of one sub-schema against one value.
    steps: u64,
    /// How deep sub-schemas are being checked inside each other.
    frames: u32,
    /// Above zero while only the verdict counts: in branches, where not to fit is no mismatch.
    quiet: u32,
    exhausted: bool,
    found: Vec<Mismatch>,
}

/// Which properties of one object have been looked at, by their place in it.
#[derive(Clone)]
struct Evaluated(Vec<bool>);

impl Evaluated {
    fn mark(&mut self, at: usize) {
        if let Some(mark) = self.0.get_mut(at) {
            *mark = true;
        }
    }
}

impl Run<'_> {
    /// Whether the value fits. If not, and the run is not quiet, at least one mismatch has been noted.
    ///
    /// With `evaluated`, marks the properties of the value that this sub-schema looks at; only if it fits are the
    /// marks to be counted.
    fn check(
        &mut self,
        id: Id,
        value: &Value,
        path: &Path<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        if !self.spend(1) || self.frames >= MAX_FRAMES {
            self.exhausted = true;
            return false;
        }
        let nodes = self.nodes;
        let Some(node) = nodes.get(id.at()) else {
            return true;
        };
        self.frames += 1;
        let fits = self.check_node(node, value, path, evaluated);
        self.frames -= 1;
        fits
    }

    fn check_node(
        &mut self,
        node: &Node,
        value: &Value,
        path: &Path<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        if !self.check_type(node, value, path) {
            // What else is wrong with a value of another type is of no use.
            return false;
        }
        let mut fits = self.check_choice(node, value, path);
        match (value, node.unevaluated) {
            (Value::Object(object), Some(rest)) => {
                // Counts what this schema and those that it applies look at; not what its own caller does.
                let mut own = Evaluated(vec![false; object.len()]);
                fits = fits && self.check_applied(node, value, path, Some(&mut own));
                for (at, (name, value)) in object.iter().enumerate() {
                    if own.0.get(at) == Some(&false) && (fits || !self.enough()) {
                        fits &= self.check_other_property(rest, name, value, path);
                    }
                }
                if let Some(evaluated) = evaluated {
                    evaluated.0.fill(true);
                }
                fits
            }
            _ if fits || !self.enough() => self.check_applied(node, value, path, evaluated) && fits,
            _ => false,
        }
    }

    /// Everything but the type, the fixed values and `unevaluatedProperties`.
    fn check_applied(
        &mut self,
        node: &Node,
        value: &Value,
        path: &Path<'_>,
        mut evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let mut fits = match value {
            Value::Number(number) => node
                .number
                .as_ref()
                .is_none_or(|rules| self.check_number(rules, number, path)),
            Value::String(text) => node
                .string
                .as_ref()
                .is_none_or(|rules| self.check_string(rules, text, path)),
            Value::Array(items) => node
                .array
                .as_ref()
                .is_none_or(|rules| self.check_array(rules, items, path)),
            Value::Object(object) => {
                let evaluated = evaluated.as_deref_mut();
                node.object
                    .as_ref()
                    .is_none_or(|rules| self.check_object(rules, object, path, evaluated))
            }
            Value::Null | Value::Bool(_) => true,
        };
        for in_place in &node.in_place {
            if !fits && self.enough() {
                return false;
            }
            fits &= self.check_in_place(in_place, value, path, evaluated.as_deref_mut());
        }
        fits
    }

    /// Notes a mismatch. Returns false, the verdict.
    fn mismatch(&mut self, path: &Path<'_>, message: impl FnOnce() -> String) -> bool {
        if self.quiet == 0 && !self.enough() {
            self.found.push(path.mismatch(message()));
        }
        false
    }

    /// Whether to stop once something does not fit: nothing more would be noted.
    fn enough(&self) -> bool {
        self.quiet > 0 || self.exhausted || self.found.len() >= MAX_MISMATCHES
    }

    /// A verdict without notes.
    fn is_match(
        &mut self,
        id: Id,
        value: &Value,
        path: &Path<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        self.quiet += 1;
        let fits = self.check(id, value, path, evaluated);
        self.quiet -= 1;
        fits
    }

    /// Whether there is that much left to spend.
    fn spend(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            self.exhausted = true;
        }
        !self.exhausted
    }
}
