//! Character classes.

/// What an escape stands for.
pub(super) enum Escaped {
    Char(char),
    Class { letter: char },
    Boundary(char),
}

/// Inclusive ranges of characters.
#[derive(Default)]
pub(super) struct CharSet {
    pub(super) ranges: Vec<(char, char)>,
}

/// ECMA-262's white space and line terminators, in order.
const SPACE: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];
const DIGIT: &[(char, char)] = &[('0', '9')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

impl CharSet {
    /// The class of `\d`, `\s` or `\w`, or the complement, which a capital letter stands for.
    pub(super) fn perl(letter: char) -> Self {
        let ranges = match letter.to_ascii_lowercase() {
            'd' => DIGIT,
            's' => SPACE,
            _ => WORD,
        };
        if letter.is_ascii_lowercase() {
            return Self {
                ranges: ranges.to_vec(),
            };
        }
        let mut complement = Vec::new();
        let mut from = Some('\0');
        for &(start, end) in ranges {
            // The ranges hold neither the first nor the last character, nor any next to a surrogate.
            if let (Some(from), Some(until)) = (from, previous(start))
                && from <= until
            {
                complement.push((from, until));
            }
            from = next(end);
        }
        if let Some(from) = from {
            complement.push((from, char::MAX));
        }
        Self { ranges: complement }
    }

    pub(super) fn add(&mut self, atom: &Escaped) {
        match atom {
            Escaped::Char(c) => self.ranges.push((*c, *c)),
            Escaped::Class { letter } => self.ranges.extend(Self::perl(*letter).ranges),
            // `escape` makes none inside a class.
            Escaped::Boundary(_) => {}
        }
    }
}

fn next(c: char) -> Option<char> {
    char::from_u32(u32::from(c) + 1)
}

fn previous(c: char) -> Option<char> {
    u32::from(c).checked_sub(1).and_then(char::from_u32)
}
