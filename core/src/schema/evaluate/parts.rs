//! Arrays and objects: what their parts must fit.

use serde_json::{Map, Value};

use super::{
    super::{
        mismatch::Path,
        node::{ArrayRules, Id, ObjectRules, Types},
        number::all_different,
    },
    Evaluated, Run,
    scalar::count,
};

impl Run<'_> {
    pub(super) fn check_array(
        &mut self,
        rules: &ArrayRules,
        items: &[Value],
        path: &Path<'_>,
    ) -> bool {
        let mut fits = self.check_size(
            (rules.min_items, rules.max_items),
            items.len(),
            "item",
            path,
        );
        for (index, item) in items.iter().enumerate() {
            if !fits && self.enough() {
                return false;
            }
            if let Some(id) = rules.prefix.get(index).copied().or(rules.items) {
                fits &= self.check(
                    id,
                    item,
                    &Path::Item {
                        parent: path,
                        index,
                    },
                    None,
                );
            }
        }
        if rules.unique && fits {
            // Sorting takes a few steps for each item.
            let steps = u64::try_from(items.len())
                .unwrap_or(u64::MAX)
                .saturating_mul(4);
            fits = self.spend(steps)
                && (all_different(items)
                    || self.mismatch(path, || String::from("must not hold an item twice")));
        }
        fits && self.check_contains(rules, items, path)
    }

    fn check_contains(&mut self, rules: &ArrayRules, items: &[Value], path: &Path<'_>) -> bool {
        let Some(id) = rules.contains else {
            return true;
        };
        let (least, most) = (rules.min_contains.unwrap_or(1), rules.max_contains);
        let mut matching = 0;
        for item in items {
            matching += u64::from(self.is_match(id, item, path, None));
            if most.is_none() && matching >= least {
                break;
            }
        }
        if matching < least {
            return self.mismatch(path, || {
                format!(
                    "must hold {} or more of a certain kind",
                    count(least, "item")
                )
            });
        }
        match most {
            Some(most) if matching > most => self.mismatch(path, || {
                format!(
                    "must hold at most {} of a certain kind",
                    count(most, "item")
                )
            }),
            _ => true,
        }
    }

    pub(super) fn check_object(
        &mut self,
        rules: &ObjectRules,
        object: &Map<String, Value>,
        path: &Path<'_>,
        mut evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let mut fits = true;
        for name in &rules.required {
            if !object.contains_key(&**name) {
                fits = self.mismatch(&Path::Listed { parent: path, name }, || {
                    String::from("is required")
                });
            }
        }
        fits &= self.check_size(
            (rules.min_properties, rules.max_properties),
            object.len(),
            "property",
            path,
        );
        for (at, (name, value)) in object.iter().enumerate() {
            if !fits && self.enough() {
                return false;
            }
            let (property_fits, looked_at) = self.check_property(rules, name, value, path);
            fits &= property_fits;
            if let (true, Some(evaluated)) = (looked_at, evaluated.as_deref_mut()) {
                evaluated.mark(at);
            }
        }
        fits
    }

    /// Whether the property fits, and whether any sub-schema looked at its value.
    fn check_property(
        &mut self,
        rules: &ObjectRules,
        name: &str,
        value: &Value,
        path: &Path<'_>,
    ) -> (bool, bool) {
        let listed = rules.property(name);
        let mut fits = true;
        let mut looked_at = false;
        if let Some(id) = rules.names {
            // A name has no mismatches of its own: their messages would speak of the property's value.
            if !self.is_match(id, &Value::String(name.into()), path, None) {
                let message = || String::from("is not a name that a property can have here");
                fits = self.mismatch(&Path::Other { parent: path, name }, message);
            }
        }
        if let Some(id) = listed {
            looked_at = true;
            fits &= self.check(id, value, &Path::Listed { parent: path, name }, None);
        }
        for (pattern, id) in &rules.patterns {
            let steps = u64::from(pattern.cost())
                .saturating_mul(u64::try_from(name.len()).unwrap_or(u64::MAX))
                / 16;
            if self.spend(steps) && pattern.is_match(name) {
                looked_at = true;
                fits &= self.check(*id, value, &Path::Other { parent: path, name }, None);
            }
        }
        match rules.additional {
            Some(id) if !looked_at => (
                fits & self.check_other_property(id, name, value, path),
                true,
            ),
            _ => (fits, looked_at),
        }
    }

    /// A property that only `additionalProperties` or `unevaluatedProperties` is left for.
    pub(super) fn check_other_property(
        &mut self,
        id: Id,
        name: &str,
        value: &Value,
        path: &Path<'_>,
    ) -> bool {
        let path = Path::Other { parent: path, name };
        match self.nodes.get(id.at()) {
            Some(node) if node.types == Types::NONE => {
                self.mismatch(&path, || String::from("there is no such property"))
            }
            _ => self.check(id, value, &path, None),
        }
    }

    fn check_size(
        &mut self,
        (least, most): (u64, Option<u64>),
        size: usize,
        of: &str,
        path: &Path<'_>,
    ) -> bool {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if size < least {
            return self.mismatch(path, || format!("must have {} or more", count(least, of)));
        }
        match most {
            Some(most) if size > most => {
                self.mismatch(path, || format!("must have at most {}", count(most, of)))
            }
            _ => true,
        }
    }
}
