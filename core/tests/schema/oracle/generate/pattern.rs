//! Expressions in the syntax that ECMA-262 and the evaluator share, and texts for them.

use serde_json::{Value, json};

use super::super::random::Random;

pub(crate) fn pattern(random: &mut Random) -> Value {
    json!({"pattern": alternatives(random, 2)})
}

fn alternatives(random: &mut Random, depth: usize) -> String {
    let branches = 1 + random.below(6) / 4;
    (0..branches)
        .map(|_| sequence(random, depth))
        .collect::<Vec<_>>()
        .join("|")
}

fn sequence(random: &mut Random, depth: usize) -> String {
    let mut pattern = String::new();
    if random.one_in(3) {
        pattern.push('^');
    }
    for _ in 0..=random.below(4) {
        pattern += &atom(random, depth);
        if random.one_in(3) {
            let quantifiers = [
                "*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}", "*?", "+?", "??", "{2,3}?",
            ];
            pattern += random.pick(&quantifiers);
        }
    }
    if random.one_in(8) {
        pattern += random.pick(&[r"\b", r"\B"]);
    }
    if random.one_in(3) {
        pattern.push('$');
    }
    pattern
}

fn atom(random: &mut Random, depth: usize) -> String {
    if depth > 0 && random.one_in(4) {
        let open = random.pick(&["(", "(?:"]);
        return format!("{open}{})", alternatives(random, depth - 1));
    }
    let atoms = [
        "a",
        "b",
        "-",
        "1",
        "_",
        "é",
        "😀",
        ".",
        r"\d",
        r"\D",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\.",
        r"\-x",
        r"\/",
        r"\n",
        r"\t",
        r"\x41",
        r"\u00e9",
        r"\u{1F600}",
        "&",
        "#",
        "~",
        " ",
        "[ab]",
        "[^ab]",
        "[a-c1-3]",
        r"[\d-]",
        "[-a]",
        r"[^\s]",
        r"[\S]",
        r"[\W_]",
        r"[\]a]",
        r"[\-b]",
        "[.]",
        "[&&a]",
        "[~~#]",
        r"[^\n-\r]",
        r"[\u{1F600}-\u{1F64F}]",
    ];
    // `\-` outside of a class is no escape with the `u` flag.
    random.pick(&atoms).replace(r"\-x", "x")
}

pub(crate) fn pattern_text(random: &mut Random) -> Value {
    let chars = [
        "a", "b", "c", "x", "A", "1", "3", "_", "-", ".", "é", "😀", " ", "\n", "\r", "\u{2028}",
        "\u{a0}", "\u{85}", "]", "&", "#", "~", "/", "\t", "٣",
    ];
    let length = random.below(5);
    json!((0..length).map(|_| random.pick(&chars)).collect::<String>())
}
