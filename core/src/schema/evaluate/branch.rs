//! Sub-schemas that apply to the same value: references, combinations, conditions.

use serde_json::Value;

use super::{
    super::{
        mismatch::Path,
        node::{Id, InPlace, Node},
        number::equal,
    },
    Evaluated, Run,
    scalar::listed,
};

impl Run<'_> {
    pub(super) fn check_in_place(
        &mut self,
        in_place: &InPlace,
        value: &Value,
        path: &Path<'_>,
        mut evaluated: Option<&mut Evaluated>,
    ) -> bool {
        match in_place {
            InPlace::Ref(id) => self.check(*id, value, path, evaluated),
            InPlace::AllOf(ids) => {
                let mut fits = true;
                for id in ids {
                    if fits || !self.enough() {
                        fits &= self.check(*id, value, path, evaluated.as_deref_mut());
                    }
                }
                fits
            }
            InPlace::AnyOf(ids) => {
                // Every branch that fits counts for what has been looked at, so none is left out if that matters.
                let all = evaluated.is_some();
                let mut fits = false;
                for id in ids {
                    if all || !fits {
                        fits |= self.try_branch(*id, value, path, evaluated.as_deref_mut());
                    }
                }
                fits || self.explain(ids, value, path)
            }
            InPlace::OneOf(ids) => {
                let mut fitting = 0;
                for id in ids {
                    if fitting < 2 {
                        fitting +=
                            u32::from(self.try_branch(*id, value, path, evaluated.as_deref_mut()));
                    }
                }
                match fitting {
                    0 => self.explain(ids, value, path),
                    1 => true,
                    _ => self.mismatch(path, || {
                        String::from("fits more than one of the alternatives; it must fit one")
                    }),
                }
            }
            InPlace::Not(id) => {
                !self.is_match(*id, value, path, None)
                    || self.mismatch(path, || String::from("is of a kind that is excluded"))
            }
            InPlace::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if self.try_branch(*condition, value, path, evaluated.as_deref_mut()) {
                    then
                } else {
                    otherwise
                };
                branch.is_none_or(|id| self.check(id, value, path, evaluated))
            }
        }
    }

    /// A branch that may fail: what it has looked at counts only if it does not.
    fn try_branch(
        &mut self,
        id: Id,
        value: &Value,
        path: &Path<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let Some(evaluated) = evaluated else {
            return self.is_match(id, value, path, None);
        };
        let mut trial = evaluated.clone();
        let fits = self.is_match(id, value, path, Some(&mut trial));
        if fits {
            *evaluated = trial;
        }
        fits
    }

    /// No branch fits. If there is just one that the value seems to be meant for, says why that one does not.
    fn explain(&mut self, ids: &[Id], value: &Value, path: &Path<'_>) -> bool {
        if self.quiet > 0 {
            return false;
        }
        if let Some(values) = fixed_values(self.nodes, ids) {
            return self.mismatch(path, || format!("must be one of {}", listed(values)));
        }
        let mut meant = ids.iter().filter(|id| self.is_meant(**id, value));
        if let (Some(id), None) = (meant.next(), meant.next()) {
            return self.check(*id, value, path, None);
        }
        self.mismatch(path, || {
            format!("fits none of the {} alternatives", ids.len())
        })
    }

    /// Whether the value has the type of the branch and, if that lists properties with a fixed value (a tag), has
    /// those.
    fn is_meant(&self, id: Id, value: &Value) -> bool {
        let Some(node) = self.nodes.get(id.at()) else {
            return false;
        };
        if !node.types.contains(value)
            || node
                .constant
                .as_ref()
                .is_some_and(|constant| !equal(constant, value))
        {
            return false;
        }
        let properties = node.object.iter().flat_map(|rules| &rules.properties);
        let mut tags = properties.filter_map(|(name, id)| {
            let constant = self.nodes.get(id.at())?.constant.as_ref()?;
            Some((name, constant))
        });
        tags.all(|(name, constant)| {
            value
                .get(&**name)
                .is_some_and(|value| equal(value, constant))
        })
    }
}

/// The values that the branches allow, if each lists its own: so an enumeration looks whose values are
/// described one by one.
fn fixed_values<'a>(nodes: &'a [Node], ids: &[Id]) -> Option<Vec<&'a Value>> {
    let mut values = Vec::new();
    for id in ids {
        let node = nodes.get(id.at())?;
        match (&node.constant, &node.choices) {
            (Some(constant), _) => values.push(constant),
            (None, Some(choices)) => values.extend(choices),
            (None, None) => return None,
        }
    }
    Some(values)
}
