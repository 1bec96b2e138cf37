//! The command to try next, ready for a shell.

use std::{collections::BTreeMap, env};

use pup_extension_cli::{Form, InputRequest};
use serde_json::{Map, Value};

use super::field::Field;
use crate::{
    args::{AskerArgs, DEFAULT_ASKER, DEFAULT_INSTALLATION, DEFAULT_URL, Global},
    style::safe,
};

/// What the next commands about a task have in common.
pub(crate) struct Next {
    id: String,
    /// The options that reach the same task of the same asker, each after a space.
    options: String,
}

impl Next {
    pub(crate) fn new(global: &Global, asker: &AskerArgs, id: &str, call_id: Option<&str>) -> Self {
        let mut options = String::new();
        let mut option = |name: &str, value: &str| {
            options.push_str(&format!(" {name} {}", word(value)));
        };
        if let Some(id) = call_id {
            option("--call-id", id);
        }
        if asker.asker != DEFAULT_ASKER {
            option("--asker", &asker.asker);
        }
        let installation = &asker.installation.installation;
        if installation != DEFAULT_INSTALLATION {
            option("--installation", installation);
        }
        let usual_url = env::var("PUP_URL").unwrap_or_else(|_| DEFAULT_URL.to_owned());
        if global.url != usual_url {
            option("--url", &global.url);
        }
        // A secret that stands on the command line itself is not repeated.
        if let Some(path) = &global.secret_file {
            option("--secret-file", &path.display().to_string());
        }
        if global.allow_http {
            options.push_str(" --allow-http");
        }
        Self {
            id: id.to_owned(),
            options,
        }
    }

    /// Follows the task.
    pub(crate) fn watch(&self) -> String {
        self.command("watch", Vec::new())
    }

    /// Answers what the task asks, with answers of the right form.
    pub(crate) fn answer(&self, requests: &BTreeMap<String, InputRequest>) -> String {
        let pairs = requests.iter().filter_map(|(key, request)| {
            let content = example(request.form()?);
            Some([key.clone(), Value::Object(content).to_string()])
        });
        self.command("answer", pairs.flatten().collect())
    }

    /// The ids and keys are the extension's: what looks like an option must not become one.
    fn command(&self, name: &str, mut words: Vec<String>) -> String {
        words.insert(0, self.id.clone());
        let dashed = words.iter().any(|word| word.starts_with('-'));
        let words: Vec<_> = words.iter().map(|text| word(text)).collect();
        let (words, options) = (words.join(" "), &self.options);
        if dashed {
            format!("pup-ext task {name}{options} -- {words}")
        } else {
            format!("pup-ext task {name} {words}{options}")
        }
    }
}

/// An answer by a form's schema: its required fields, or all where none is.
fn example(form: &Form) -> Map<String, Value> {
    let fields = Field::all(&form.schema);
    let all = !fields.iter().any(|field| field.required);
    fields
        .iter()
        .filter(|field| all || field.required)
        .map(|field| (field.name.to_owned(), field.example()))
        .collect()
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./:@%+,".contains(char);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", safe(&text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn next(id: &str) -> Next {
        Next {
            id: id.to_owned(),
            options: " --call-id c1".to_owned(),
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        assert_eq!(word("task_1-2.3:4/5"), "task_1-2.3:4/5");
        for (text, quoted) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's; x", r"'it'\''s; x'"),
            ("\u{1b}[2J", r"'\u{1b}[2J'"),
            ("ü", "'ü'"),
        ] {
            assert_eq!(word(text), quoted);
        }
    }

    #[test]
    fn an_id_of_the_extensions_never_becomes_an_option() {
        assert_eq!(
            next("--url=http://x").watch(),
            "pup-ext task watch --call-id c1 -- '--url=http://x'"
        );
        assert_eq!(next("t1").watch(), "pup-ext task watch t1 --call-id c1");
    }

    #[test]
    fn the_answer_to_try_is_of_the_right_form() {
        let form = |schema: Value| {
            let request = json!({"taste": {"message": "?", "schema": schema}});
            let schema = request["taste"]["schema"].as_object().unwrap().clone();
            let form = Form {
                message: String::new(),
                schema,
            };
            BTreeMap::from([("taste".to_owned(), InputRequest::Form(form))])
        };
        let required = form(json!({
            "properties": {"taste": {"enum": ["sweet", "salty"]}, "note": {"type": "string"}},
            "required": ["taste"],
        }));
        assert_eq!(
            next("t1").answer(&required),
            r#"pup-ext task answer t1 taste '{"taste":"sweet"}' --call-id c1"#
        );
        let optional = form(json!({"properties": {"n": {"type": "integer", "minimum": 3}}}));
        assert_eq!(
            next("t1").answer(&optional),
            r#"pup-ext task answer t1 taste '{"n":3}' --call-id c1"#
        );
    }
}
