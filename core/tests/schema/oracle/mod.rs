//! The evaluator against the `jsonschema` crate: both must give the same verdict on generated schemas and values.
//!
//! One test per family of keywords. A family passes only if there was no difference in tens of thousands of pairs, and
//! if both verdicts came up often: a generator that makes only fitting values would prove nothing. Where the two
//! differ on purpose, a test in `differences` names the difference.

mod differences;
mod generate;
mod random;

use jsonschema::Validator;
use pup_extension::schema::Schema;
use serde_json::{Value, json};

use self::random::Random;

/// How many pairs are made of one family.
const PAIRS: u64 = 20_000;

/// How many times as much as usual is tried; set it when the tests are compiled.
fn rounds() -> u64 {
    option_env!("SCHEMA_ORACLE_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number"))
}

/// The oracle, told to assert formats and to assume the dialect that MCP assumes.
fn oracle(schema: &Value) -> Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .expect("a valid schema")
}

/// What was tried, and how often it fitted.
#[derive(Default)]
struct Tally {
    fit: u64,
    misfit: u64,
    skipped: u64,
}

impl Tally {
    fn compare(&mut self, schema: &Value, (ours, theirs): (&Schema, &Validator), value: &Value) {
        if differences::may_differ(schema, value) {
            self.skipped += 1;
            return;
        }
        let verdict = ours.validate(value);
        assert_eq!(
            verdict.is_ok(),
            theirs.is_valid(value),
            "schema {schema}\nvalue {value}\nours {verdict:?}\ntheirs {:?}",
            theirs.validate(value).err().map(|error| error.to_string()),
        );
        match verdict {
            Ok(()) => self.fit += 1,
            Err(mismatches) => {
                self.misfit += 1;
                assert!(
                    mismatches
                        .iter()
                        .all(|mismatch| mismatch.path().starts_with("arguments"))
                );
            }
        }
    }

    /// Demands that both verdicts came up often, and that hardly anything was left out.
    fn check(&self, what: &str, least: u64) {
        let Self {
            fit,
            misfit,
            skipped,
        } = self;
        let total = fit + misfit;
        assert!(
            total >= least * rounds(),
            "{what}: only {total} compared, {skipped} left out"
        );
        assert!(
            fit * 10 >= total && misfit * 10 >= total,
            "{what}: one-sided, {fit} of {total} fit"
        );
    }
}

/// Tries a family of schemas, each with that many values.
fn family(
    values: u64,
    make_schema: impl Fn(&mut Random) -> Value,
    make_value: impl Fn(&mut Random, &Value) -> Value,
) {
    let mut tally = Tally::default();
    for seed in 0..PAIRS * rounds() / values {
        let mut random = Random::new(seed);
        let schema = make_schema(&mut random);
        let ours = Schema::compile(&schema).unwrap_or_else(|error| panic!("{error}\n{schema}"));
        let theirs = oracle(&schema);
        for _ in 0..values {
            let value = make_value(&mut random, &schema);
            tally.compare(&schema, (&ours, &theirs), &value);
        }
    }
    tally.check("this family", 15_000);
}

#[test]
fn types_and_fixed_values_agree_with_the_oracle() {
    family(8, generate::fixed, |random, schema| {
        generate::value_near(random, schema)
    });
}

#[test]
fn numbers_agree_with_the_oracle() {
    family(8, generate::number, |random, _| {
        generate::number_value(random)
    });
}

#[test]
fn lengths_agree_with_the_oracle() {
    family(8, generate::length, |random, _| {
        generate::text_value(random)
    });
}

#[test]
fn patterns_agree_with_the_oracle() {
    family(20, generate::pattern, |random, _| {
        generate::pattern_text(random)
    });
}

#[test]
fn formats_agree_with_the_oracle() {
    for format in generate::FORMATS {
        let mut tally = Tally::default();
        let schema = json!({"format": format.0});
        let (ours, theirs) = (Schema::compile(&schema).unwrap(), oracle(&schema));
        for seed in 0..4_000 * rounds() {
            let text = generate::format_text(&mut Random::new(seed), format);
            tally.compare(&schema, (&ours, &theirs), &text);
        }
        tally.check(format.0, 4_000);
    }
}

#[test]
fn arrays_agree_with_the_oracle() {
    family(8, |random| generate::array(random, 2), generate::value_near);
}

#[test]
fn objects_agree_with_the_oracle() {
    family(
        8,
        |random| generate::object(random, 2),
        generate::value_near,
    );
}

#[test]
fn combinations_agree_with_the_oracle() {
    family(
        8,
        |random| generate::combination(random, 3),
        generate::value_near,
    );
}

#[test]
fn references_and_recursion_agree_with_the_oracle() {
    family(8, generate::recursive, generate::value_near);
}

#[test]
fn unevaluated_properties_agree_with_the_oracle() {
    family(8, generate::unevaluated, generate::value_near);
}

#[test]
fn everything_together_agrees_with_the_oracle() {
    family(8, |random| generate::any(random, 4), generate::value_near);
}
