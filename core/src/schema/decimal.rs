//! `multipleOf`, in decimals.

use std::fmt;

use serde_json::Number;

/// Whether `number` is a whole multiple of `step`, which comes as both a number and a decimal and is not zero.
///
/// Decimals are read as they are written. Only of a whole float over 2⁵³ is the text no longer known, which may have
/// been any of several integers; it is taken for the one that it is.
pub(super) fn is_multiple_of(number: &Number, step: &(Number, Decimal)) -> bool {
    const PRECISE: f64 = 9_007_199_254_740_992.0;
    let (step, decimal) = step;
    match (number.is_f64(), number.as_f64(), step.as_f64()) {
        (true, Some(float), Some(step)) if float.abs() >= PRECISE && step.fract() == 0.0 => {
            float % step == 0.0
        }
        _ => Decimal::of(number).is_some_and(|number| number.is_multiple_of(*decimal)),
    }
}

/// A number as the decimal that it is written as: ±`mantissa` × 10^`exponent`, without the sign.
///
/// `0.1` is one tenth here, not the binary fraction nearest to it, so `0.3` is a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: u128,
    exponent: i32,
}

impl Decimal {
    /// `None` for a number of more digits than any `u64` or `f64` is written with.
    pub(super) fn of(number: &Number) -> Option<Self> {
        let mut decimal = Self {
            mantissa: 0,
            exponent: 0,
        };
        let mut text = ShortText::default();
        fmt::write(&mut text, format_args!("{number}")).ok()?;
        let mut fraction = false;
        let mut bytes = text.as_bytes().iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'0'..=b'9' => {
                    let digit = u128::from(byte - b'0');
                    decimal.mantissa = decimal.mantissa.checked_mul(10)?.checked_add(digit)?;
                    decimal.exponent -= i32::from(fraction);
                }
                b'.' => fraction = true,
                b'e' | b'E' => {
                    let exponent: i32 = std::str::from_utf8(bytes.as_slice()).ok()?.parse().ok()?;
                    decimal.exponent = decimal.exponent.checked_add(exponent)?;
                    break;
                }
                _ => {} // the sign
            }
        }
        // The smallest mantissa there is keeps the arithmetic below within 128 bits.
        while decimal.mantissa != 0 && decimal.mantissa.is_multiple_of(10) {
            decimal.mantissa /= 10;
            decimal.exponent = decimal.exponent.checked_add(1)?;
        }
        (decimal.mantissa <= u128::from(u64::MAX)).then_some(decimal)
    }

    pub(super) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Exact, whatever the exponents are.
    fn is_multiple_of(self, step: Self) -> bool {
        if self.is_zero() || step.is_zero() {
            return self.is_zero();
        }
        let places = self.exponent.saturating_sub(step.exponent);
        if places >= 0 {
            // self is mantissa × 10^places steps' units: what counts is the remainder of that product. Both
            // factors of each multiplication are below 2⁶⁴.
            let modulus = step.mantissa;
            let mut remainder = self.mantissa % modulus;
            for _ in 0..places {
                remainder = remainder * 10 % modulus;
            }
            remainder == 0
        } else {
            // The step has trailing zeros that self lacks: it must fit in self all the same.
            let mut unit = step.mantissa;
            for _ in places..0 {
                match unit.checked_mul(10) {
                    Some(larger) if larger <= self.mantissa => unit = larger,
                    _ => return false,
                }
            }
            self.mantissa.is_multiple_of(unit)
        }
    }
}

/// A buffer for the text of one number.
struct ShortText {
    bytes: [u8; 40],
    len: usize,
}

impl Default for ShortText {
    fn default() -> Self {
        Self {
            bytes: [0; 40],
            len: 0,
        }
    }
}

impl ShortText {
    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let space = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        space.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiple(value: &str, step: &str) -> bool {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        let step = number(step);
        let decimal = Decimal::of(&step).unwrap();
        is_multiple_of(&number(value), &(step, decimal))
    }

    #[test]
    fn multiples_are_decimal() {
        assert!(multiple("0.3", "0.1"));
        assert!(multiple("1070468.14", "0.01"));
        assert!(multiple("19.99", "0.01"));
        assert!(multiple("-7.5", "2.5"));
        assert!(multiple("0", "7"));
        assert!(multiple("1e300", "0.5"));
        assert!(multiple("1e300", "1e-300"));
        assert!(multiple("18446744073709551615", "5"));
        assert!(multiple("1e-7", "1e-9"));
        assert!(!multiple("1e-9", "1e-7"));
        assert!(!multiple("0.35", "0.1"));
        assert!(!multiple("10", "3"));
        assert!(!multiple("1e300", "0.3"), "10³⁰¹ leaves 1");
        assert!(
            !multiple("18446744073709551616", "10"),
            "2⁶⁴, though it is printed with zeros at its end"
        );
        assert!(multiple("18446744073709551616", "65536"));
        assert!(!multiple("5e-324", "1e300"));
        assert!(multiple("1e300", "5e-324"));
        assert!(!multiple("7", "1e300"));
    }
}
