//! Asks what a form asks, line by line.

use std::io::{self, BufRead, Write};

use pup_extension_cli::Form;
use serde_json::{Map, Value};

use super::field::{Field, Kind, plain};
use crate::{
    render::indented,
    style::{BAD, HEADING, NAME, NOTE, safe, styled},
};

/// Puts forms to whoever types.
pub(crate) struct Prompt<R, W> {
    input: R,
    output: W,
    /// Whether to write what was read, since nobody sees it being typed.
    echo: bool,
}

/// What became of a form.
#[derive(Debug, PartialEq)]
pub(crate) enum Filled {
    Accepted(Map<String, Value>),
    Declined,
    Cancelled,
}

/// Why a field has no value.
enum Stop {
    Filled(Filled),
    /// There is nobody to ask: the input ended, or can't be read.
    Gone,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl<R: BufRead, W: Write> Prompt<R, W> {
    pub(crate) fn new(input: R, output: W, echo: bool) -> Self {
        Self {
            input,
            output,
            echo,
        }
    }

    /// Asks field by field, and again whatever the schema does not allow. `None` when the input ends before.
    pub(crate) fn fill(&mut self, key: &str, form: &Form) -> Option<Filled> {
        match self.try_fill(key, form) {
            Ok(content) => Some(Filled::Accepted(content)),
            Err(Stop::Filled(filled)) => Some(filled),
            Err(Stop::Gone) => None,
        }
    }

    fn try_fill(&mut self, key: &str, form: &Form) -> Result<Map<String, Value>, Stop> {
        let message = indented(&safe(&form.message), 2);
        let note = styled(NOTE, format!("({})", safe(key)));
        writeln!(self.output, "{} {note}", styled(HEADING, message))?;
        writeln!(
            self.output,
            "  {}",
            styled(NOTE, "!decline says no, !cancel dismisses the question")
        )?;
        let fields = Field::all(&form.schema);
        let mut content = Map::new();
        for field in &fields {
            if let Some(value) = self.value(field)? {
                content.insert(field.name.to_owned(), value);
            }
        }
        if fields.is_empty() {
            // Nothing to fill in: an empty line agrees.
            self.line("  Enter accepts: ")?;
        }
        Ok(content)
    }

    fn value(&mut self, field: &Field<'_>) -> Result<Option<Value>, Stop> {
        self.introduce(field)?;
        let question = question(field);
        loop {
            let line = self.line(&question)?;
            match field.parse(&line) {
                Ok(value) => return Ok(value),
                Err(problem) => writeln!(self.output, "  {}", styled(BAD, safe(&problem)))?,
            }
        }
    }

    /// What there is to say about a field, and what there is to choose from.
    fn introduce(&mut self, field: &Field<'_>) -> io::Result<()> {
        let about: Vec<_> = [field.title, field.description]
            .into_iter()
            .flatten()
            .collect();
        if !about.is_empty() {
            writeln!(self.output, "  {}", indented(&safe(&about.join(": ")), 4))?;
        }
        let (Kind::OneOf(choices) | Kind::SomeOf { choices, .. }) = &field.kind else {
            return Ok(());
        };
        for (index, choice) in choices.iter().enumerate() {
            let title = choice.title.map(|title| format!("  {}", safe(title)));
            writeln!(
                self.output,
                "    {}  {}{}",
                index + 1,
                styled(NAME, safe(&plain(choice.value))),
                title.unwrap_or_default()
            )?;
        }
        Ok(())
    }

    /// A line of the input, unless it says what becomes of the whole form.
    fn line(&mut self, question: &str) -> Result<String, Stop> {
        write!(self.output, "{question}")?;
        self.output.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            writeln!(self.output)?;
            return Err(Stop::Gone);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        if self.echo {
            writeln!(self.output, "{}", safe(line))?;
        }
        match line.trim() {
            "!decline" => Err(Stop::Filled(Filled::Declined)),
            "!cancel" => Err(Stop::Filled(Filled::Cancelled)),
            _ => Ok(line.to_owned()),
        }
    }
}

/// `  name (what it takes, optional) [default]: `
fn question(field: &Field<'_>) -> String {
    let mut notes = Vec::new();
    match &field.kind {
        Kind::Text { length, format } => {
            notes.extend(format.map(safe));
            notes.extend(length.words().map(|words| format!("{words} characters")));
        }
        Kind::Number { whole, range } => {
            notes.push(if *whole { "a whole number" } else { "a number" }.to_owned());
            notes.extend(range.words());
        }
        Kind::Boolean => notes.push("yes or no".to_owned()),
        Kind::OneOf(_) => notes.push("a name or a number of the list".to_owned()),
        Kind::SomeOf { count, .. } => {
            notes.push("names or numbers of the list, with commas".to_owned());
            notes.extend(count.words());
        }
        Kind::Json => notes.push("JSON".to_owned()),
    }
    if !field.required {
        let skip = if field.default.is_some() {
            "optional: !skip leaves it out"
        } else {
            "optional"
        };
        notes.push(skip.to_owned());
    }
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!(" {}", styled(NOTE, format!("({})", notes.join(", "))))
    };
    let default = field.default.map(|default| match default {
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => plain(value),
    });
    let default = default.map(|default| format!(" [{}]", safe(&default)));
    format!(
        "  {}{notes}{}: ",
        styled(NAME, safe(field.name)),
        default.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What lines make of a form, and what is shown, without colours.
    fn fill(schema: &Value, lines: &str) -> (Option<Filled>, String) {
        let form = Form {
            message: "What shall it be?".to_owned(),
            schema: schema.as_object().unwrap().clone(),
        };
        let mut output = Vec::new();
        let shown = anstream::StripStream::new(&mut output);
        let filled = Prompt::new(lines.as_bytes(), shown, true).fill("order", &form);
        (filled, String::from_utf8(output).unwrap())
    }

    fn accepted(content: &Value) -> Option<Filled> {
        Some(Filled::Accepted(content.as_object().unwrap().clone()))
    }

    fn order() -> Value {
        json!({
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 3, "title": "How many", "description": "a day"},
                "gift": {"type": "boolean", "default": false},
                "note": {"type": "string", "maxLength": 5},
                "taste": {"type": "string", "oneOf": [
                    {"const": "sweet", "title": "Sweet things"}, {"const": "salty", "title": "Salty things"},
                ]},
            },
            "required": ["count", "taste"],
        })
    }

    #[test]
    fn every_field_is_asked_for_with_what_it_takes() {
        let (filled, shown) = fill(&order(), "2\nyes\n hi\nsalty\n");
        let content = json!({"count": 2, "gift": true, "note": " hi", "taste": "salty"});
        assert_eq!(filled, accepted(&content));
        let expected = "\
What shall it be? (order)
  !decline says no, !cancel dismisses the question
  How many: a day
  count (a whole number, 1 to 3): 2
  gift (yes or no, optional: !skip leaves it out) [false]: yes
  note (at most 5 characters, optional):  hi
    1  sweet  Sweet things
    2  salty  Salty things
  taste (a name or a number of the list): salty
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_not_allowed_is_asked_again_and_what_is_optional_can_be_left_out() {
        let (filled, shown) = fill(&order(), "ten\n\n9\n3\n\n\nsour\n1\n");
        assert_eq!(
            filled,
            accepted(&json!({"count": 3, "gift": false, "taste": "sweet"}))
        );
        for problem in [
            "\"ten\" is no whole number",
            "it must be given",
            "at most 3\n",
            "\"sour\" is none of the choices",
        ] {
            assert_eq!(shown.matches(problem).count(), 1, "{problem}: {shown}");
        }
    }

    #[test]
    fn a_form_can_be_declined_or_dismissed_at_any_field() {
        assert_eq!(fill(&order(), "!decline\n").0, Some(Filled::Declined));
        assert_eq!(fill(&order(), "1\n !cancel \n").0, Some(Filled::Cancelled));
    }

    #[test]
    fn nothing_is_made_of_an_input_that_ends_before_the_form_does() {
        assert_eq!(fill(&order(), "").0, None);
        assert_eq!(fill(&order(), "2\nyes\n").0, None);
        // The last line need not end.
        assert!(fill(&order(), "2\n\n\nsweet").0.is_some());
    }

    #[test]
    fn a_form_without_fields_asks_for_consent_alone() {
        assert_eq!(fill(&json!({}), "\n").0, accepted(&json!({})));
        assert_eq!(fill(&json!({}), "!decline\n").0, Some(Filled::Declined));
        assert_eq!(fill(&json!({}), "").0, None);
    }

    #[test]
    fn nothing_of_the_form_steers_the_terminal() {
        let schema = json!({"properties": {"a\u{1b}[2J": {
            "enum": ["\u{1b}[1m"], "title": "\u{7}", "default": "\u{1b}c",
        }}});
        let (_, shown) = fill(&schema, "\u{1b}\n\n");
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }
}
