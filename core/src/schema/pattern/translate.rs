//! The translation: one pass, by ECMA-262's grammar.

use std::{fmt::Write as _, iter::Peekable, str::Chars};

use super::{
    MAX_COST, MAX_GROUPS, PatternError,
    class::{CharSet, Escaped},
};

/// The pattern for `regex-lite`, and how many atoms it has.
pub(super) fn translate(source: &str) -> Result<(String, u32), PatternError> {
    let mut translator = Translator {
        rest: source.chars().peekable(),
        out: String::new(),
        groups: 0,
    };
    let cost = translator.alternatives()?;
    match translator.rest.peek() {
        None => Ok((translator.out, cost)),
        // Nothing else ends the alternatives before the end.
        Some(_) => Err(PatternError::Unbalanced),
    }
}

/// Reads ECMA-262 and writes `regex-lite`. Each method returns the cost of what it wrote.
struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    groups: u32,
}

impl Translator<'_> {
    fn alternatives(&mut self) -> Result<u32, PatternError> {
        let mut cost = 0;
        while let Some(&next) = self.rest.peek() {
            match next {
                ')' => break,
                '|' => {
                    self.rest.next();
                    self.out.push('|');
                }
                _ => cost = within_bounds(cost + self.term()?)?,
            }
        }
        Ok(cost)
    }

    fn term(&mut self) -> Result<u32, PatternError> {
        let cost = match self.rest.next() {
            Some(anchor @ ('^' | '$')) => {
                self.out.push(anchor);
                return self.not_repeated();
            }
            Some('(') => self.group()?,
            Some('[') => self.class()?,
            Some('.') => {
                self.out.push_str("[^\\n\\r\\u{2028}\\u{2029}]");
                1
            }
            Some('\\') => match self.escape(false)? {
                Escaped::Char(c) => self.literal(c),
                Escaped::Class { letter } => {
                    let set = CharSet::perl(letter);
                    self.set(&set, false)
                }
                Escaped::Boundary(letter) => {
                    self.out.extend(['\\', letter]);
                    return self.not_repeated();
                }
            },
            Some('*' | '+' | '?' | '{') => return Err(PatternError::Quantifier),
            Some(c @ ('}' | ']')) => return Err(PatternError::Unescaped(c)),
            Some(c) => self.literal(c),
            None => 0,
        };
        self.quantifier(cost)
    }

    /// After an assertion, which ECMA-262 does not let be repeated.
    fn not_repeated(&mut self) -> Result<u32, PatternError> {
        match self.rest.peek() {
            Some('*' | '+' | '?' | '{') => Err(PatternError::Quantifier),
            _ => Ok(0),
        }
    }

    fn group(&mut self) -> Result<u32, PatternError> {
        self.groups += 1;
        if self.groups > MAX_GROUPS {
            return Err(PatternError::TooLarge);
        }
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next() {
                Some(':') => {}
                Some('<') if !matches!(self.rest.peek(), Some('=' | '!')) => {
                    // A name only matters to a backreference, and those are refused.
                    let mut name = 0;
                    loop {
                        match self.rest.next() {
                            Some('>') if name > 0 => break,
                            Some(c) if c == '_' || c == '$' || c.is_alphanumeric() => name += 1,
                            _ => return Err(PatternError::Incomplete),
                        }
                    }
                }
                _ => return Err(PatternError::Unsupported),
            }
        }
        self.out.push_str("(?:");
        let cost = self.alternatives()?;
        self.rest.next_if_eq(&')').ok_or(PatternError::Unbalanced)?;
        self.out.push(')');
        self.groups -= 1;
        Ok(cost)
    }

    fn quantifier(&mut self, cost: u32) -> Result<u32, PatternError> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.rest.next();
                let least = self.count()?;
                let most = match self.rest.next_if_eq(&',') {
                    None => Some(least),
                    Some(_) if self.rest.peek() == Some(&'}') => None,
                    Some(_) => Some(self.count()?),
                };
                if self.rest.peek() != Some(&'}') || most.is_some_and(|most| most < least) {
                    return Err(PatternError::Quantifier);
                }
                (least, most)
            }
            _ => return Ok(cost),
        };
        self.rest.next();
        let repeated = within_bounds(cost.max(1).saturating_mul(most.unwrap_or(least + 1).max(1)))?;
        match most {
            // Writing to a string can't fail.
            Some(most) => write!(self.out, "{{{least},{most}}}").unwrap_or_default(),
            None => write!(self.out, "{{{least},}}").unwrap_or_default(),
        }
        // Laziness decides how much is matched, not whether.
        self.rest.next_if_eq(&'?');
        Ok(repeated)
    }

    fn count(&mut self) -> Result<u32, PatternError> {
        let mut count = None;
        while let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(10)) {
            self.rest.next();
            count = Some(within_bounds(
                count
                    .unwrap_or(0_u32)
                    .saturating_mul(10)
                    .saturating_add(digit),
            )?);
        }
        count.ok_or(PatternError::Quantifier)
    }

    /// After a backslash. In a class `-` may be escaped, and `\b` is a backspace.
    fn escape(&mut self, in_class: bool) -> Result<Escaped, PatternError> {
        let letter = self.rest.next().ok_or(PatternError::Incomplete)?;
        let c = match letter {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => return Ok(Escaped::Class { letter }),
            'b' if in_class => '\u{8}',
            'b' | 'B' if !in_class => return Ok(Escaped::Boundary(letter)),
            '-' if in_class => '-',
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
            | '/' => letter,
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if !self.rest.peek().is_some_and(char::is_ascii_digit) => '\0',
            'c' => match self.rest.next() {
                Some(control) if control.is_ascii_alphabetic() => {
                    let code = u32::from(control) % 32;
                    char::from_u32(code).ok_or(PatternError::Incomplete)?
                }
                _ => return Err(PatternError::Incomplete),
            },
            'x' => self.hex(2)?,
            'u' if self.rest.next_if_eq(&'{').is_some() => self.hex_in_braces()?,
            'u' => self.hex(4)?,
            '0'..='9' | 'k' | 'p' | 'P' => return Err(PatternError::Unsupported),
            _ => return Err(PatternError::Escape(letter)),
        };
        Ok(Escaped::Char(c))
    }

    fn hex(&mut self, digits: u32) -> Result<char, PatternError> {
        let mut code = 0;
        for _ in 0..digits {
            let digit = self
                .rest
                .next()
                .and_then(|c| c.to_digit(16))
                .ok_or(PatternError::Incomplete)?;
            code = code * 16 + digit;
        }
        char::from_u32(code).ok_or(PatternError::Incomplete)
    }

    fn hex_in_braces(&mut self) -> Result<char, PatternError> {
        let mut code = None;
        loop {
            match self.rest.next() {
                Some('}') => {
                    return code
                        .and_then(char::from_u32)
                        .ok_or(PatternError::Incomplete);
                }
                Some(c) => {
                    let digit = c.to_digit(16).ok_or(PatternError::Incomplete)?;
                    code = Some(
                        code.unwrap_or(0_u32)
                            .saturating_mul(16)
                            .saturating_add(digit),
                    );
                }
                None => return Err(PatternError::Incomplete),
            }
        }
    }

    /// After the opening bracket.
    fn class(&mut self) -> Result<u32, PatternError> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut set = CharSet::default();
        loop {
            let start = match self.class_atom()? {
                None if set.ranges.is_empty() => return Err(PatternError::EmptyClass),
                None => break,
                Some(start) => start,
            };
            if self.rest.next_if_eq(&'-').is_none() {
                set.add(&start);
                continue;
            }
            if self.rest.peek() == Some(&']') {
                set.add(&start);
                set.ranges.push(('-', '-'));
                continue;
            }
            match (start, self.class_atom()?) {
                (Escaped::Char(start), Some(Escaped::Char(end))) if start <= end => {
                    set.ranges.push((start, end));
                }
                (_, None) => return Err(PatternError::OpenClass),
                _ => return Err(PatternError::Range),
            }
        }
        Ok(self.set(&set, negated))
    }

    /// The next character or escape of a class; `None` at its end.
    fn class_atom(&mut self) -> Result<Option<Escaped>, PatternError> {
        match self.rest.next() {
            None => Err(PatternError::OpenClass),
            Some(']') => Ok(None),
            Some('\\') => self.escape(true).map(Some),
            Some(c) => Ok(Some(Escaped::Char(c))),
        }
    }

    fn literal(&mut self, c: char) -> u32 {
        self.write_char(c);
        1
    }

    fn set(&mut self, set: &CharSet, negated: bool) -> u32 {
        self.out.push_str(if negated { "[^" } else { "[" });
        for (start, end) in &set.ranges {
            self.write_char(*start);
            if start != end {
                self.out.push('-');
                self.write_char(*end);
            }
        }
        self.out.push(']');
        1
    }

    /// Writes a character so that it means itself anywhere.
    fn write_char(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.out.push(c);
        } else {
            // Writing to a string can't fail.
            write!(self.out, "\\u{{{:x}}}", u32::from(c)).unwrap_or_default();
        }
    }
}

fn within_bounds(cost: u32) -> Result<u32, PatternError> {
    if cost > MAX_COST {
        Err(PatternError::TooLarge)
    } else {
        Ok(cost)
    }
}
