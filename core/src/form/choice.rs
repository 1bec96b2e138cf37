//! The choices of an enumeration, in whichever shape `schemars` lists them, and in the shapes that MCP wants.

use serde_json::{Map, Value, json};

use super::field::without_notes;

/// The choices of an enum of unit variants, in order.
pub(super) struct Choices(Vec<Choice>);

struct Choice {
    value: String,
    title: Option<String>,
}

impl Choices {
    /// Takes the choices out of a sub-schema, with the type that goes without saying.
    ///
    /// Variants without docs come as an `enum`; those with docs each as a branch of `oneOf`. If there are both, the
    /// `enum` is the first branch.
    ///
    /// `None` if it has none, or something else besides. Then it is left as it is.
    pub(super) fn take(keywords: &mut Map<String, Value>) -> Option<Self> {
        if keywords.get("type").is_some_and(|of| of != "string") {
            return None;
        }
        let mut lists = ["enum", "const", "oneOf", "anyOf"]
            .into_iter()
            .filter(|keyword| keywords.contains_key(*keyword));
        let (Some(keyword), None) = (lists.next(), lists.next()) else {
            return None;
        };
        let listed = keywords.get(keyword)?;
        let choices = match keyword {
            "enum" => untitled(listed)?,
            "const" => vec![Choice::untitled(listed)?],
            _ => {
                let branches = listed.as_array()?.iter().map(of_branch);
                branches
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        if choices.is_empty() {
            return None;
        }
        keywords.remove(keyword);
        keywords.remove("type");
        Some(Self(choices))
    }

    /// A choice that is listed more than once. With titles it could never be made.
    pub(super) fn twice(&self) -> Option<&str> {
        let mut values: Vec<&str> = self.0.iter().map(|choice| &*choice.value).collect();
        values.sort_unstable();
        values
            .windows(2)
            .find_map(|pair| {
                matches!(pair, [left, right] if left == right).then(|| pair.first())?
            })
            .copied()
    }

    /// As one choice.
    pub(super) fn single(self) -> Map<String, Value> {
        let (keyword, listed) = self.listed("oneOf");
        Map::from_iter([("type".into(), "string".into()), (keyword.into(), listed)])
    }

    /// As the items of several choices. MCP wants `anyOf` here, and no `type` besides.
    pub(super) fn items(self) -> Value {
        match self.listed("anyOf") {
            ("enum", listed) => json!({"type": "string", "enum": listed}),
            (keyword, listed) => json!({keyword: listed}),
        }
    }

    /// With titles as soon as one has a title; the others then show their value.
    fn listed(self, titled: &'static str) -> (&'static str, Value) {
        if self.0.iter().all(|choice| choice.title.is_none()) {
            let values = self.0.into_iter().map(|choice| choice.value);
            return ("enum", values.collect());
        }
        let branches = self.0.into_iter().map(|Choice { value, title }| {
            let title = title.unwrap_or_else(|| value.clone());
            json!({"const": value, "title": title})
        });
        (titled, branches.collect())
    }
}

impl Choice {
    fn untitled(value: &Value) -> Option<Self> {
        Some(Self {
            value: value.as_str()?.to_owned(),
            title: None,
        })
    }
}

fn untitled(values: &Value) -> Option<Vec<Choice>> {
    values.as_array()?.iter().map(Choice::untitled).collect()
}

/// The choices of one branch: a variant with docs, or all that have none.
fn of_branch(branch: &Value) -> Option<Vec<Choice>> {
    let mut keywords = without_notes(branch.as_object()?.clone());
    if keywords.remove("type").is_some_and(|of| of != "string") {
        return None;
    }
    let title = title(keywords.remove("title"), keywords.remove("description"));
    let mut choices = match (keywords.remove("const"), keywords.remove("enum")) {
        (Some(value), None) => vec![Choice::untitled(&value)?],
        (None, Some(values)) => untitled(&values)?,
        _ => return None,
    };
    // A title of several choices is the title of none.
    if let [choice] = choices.as_mut_slice() {
        choice.title = title;
    }
    keywords.is_empty().then_some(choices)
}

/// MCP shows a choice by its title alone: one line, from the `title` or else from the first paragraph of the docs.
fn title(title: Option<Value>, description: Option<Value>) -> Option<String> {
    let line = |text: Value| {
        let paragraph: Vec<&str> = text
            .as_str()?
            .trim_start()
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .flat_map(str::split_whitespace)
            .collect();
        (!paragraph.is_empty()).then(|| paragraph.join(" "))
    };
    title.and_then(line).or_else(|| description.and_then(line))
}
