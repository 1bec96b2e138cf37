//! Numbers and equality as JSON Schema means them: by mathematical value, not by representation.
//!
//! `1`, `1.0` and `1e0` are one number. A comparison never goes through a rounding conversion, so that an integer
//! over 2⁵³ is not taken for its neighbour.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Compares by mathematical value. `None` for what is no finite number, which JSON can't write.
pub(super) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => compare_mixed(left, right.as_f64()?),
        (None, Some(right)) => compare_mixed(right, left.as_f64()?).map(Ordering::reverse),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Whether it has no fractional part, however it is written: `1.0` and `1e300` are integers.
pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Deep equality by mathematical value; the order of properties does not matter.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare(left, right) == Some(Ordering::Equal)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// Whether no two items are equal. Few items are compared pairwise, without allocating; many are sorted first.
pub(super) fn all_different(items: &[Value]) -> bool {
    const FEW: usize = 16;
    if items.len() <= FEW {
        let mut rest = items;
        while let [first, others @ ..] = rest {
            if others.iter().any(|other| equal(first, other)) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    let mut sorted: Vec<&Value> = items.iter().collect();
    sorted.sort_unstable_by(|left, right| total_order(left, right));
    sorted
        .windows(2)
        .all(|pair| !matches!(pair, [left, right] if total_order(left, right).is_eq()))
}

/// Any total order that calls equal what [`equal`] calls equal.
fn total_order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            compare(left, right).unwrap_or(Ordering::Equal)
        }
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => left.len().cmp(&right.len()).then_with(|| {
            let orders = left
                .iter()
                .zip(right)
                .map(|(left, right)| total_order(left, right));
            orders.fold(Ordering::Equal, Ordering::then)
        }),
        (Value::Object(left), Value::Object(right)) => {
            left.len().cmp(&right.len()).then_with(|| {
                // A map may keep the order of insertion, if anything in the build asks serde_json for that.
                let sorted = |map: &serde_json::Map<String, Value>| {
                    let mut names: Vec<String> = map.keys().cloned().collect();
                    names.sort_unstable();
                    names
                };
                let (names, others) = (sorted(left), sorted(right));
                names.cmp(&others).then_with(|| {
                    let values = names
                        .iter()
                        .filter_map(|name| left.get(name).zip(right.get(name)));
                    values
                        .map(|(left, right)| total_order(left, right))
                        .fold(Ordering::Equal, Ordering::then)
                })
            })
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// As an integer, if it is kept as one.
fn integer(number: &Number) -> Option<i128> {
    number
        .as_u64()
        .map(i128::from)
        .or_else(|| number.as_i64().map(i128::from))
}

/// `integer` is one of 64 bits or fewer.
fn compare_mixed(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Saturates outside of 128 bits, which orders every 64-bit integer right.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturation and rounding towards zero are what is wanted"
    )]
    let whole = float.trunc() as i128;
    Some(
        integer
            .cmp(&whole)
            .then_with(|| 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_beyond_the_precision_of_a_float() {
        let order = |left, right| compare(&number(left), &number(right)).unwrap();
        assert_eq!(order("1", "1.0"), Ordering::Equal);
        assert_eq!(order("-0.0", "0"), Ordering::Equal);
        assert_eq!(
            order("9007199254740993", "9007199254740992.0"),
            Ordering::Greater
        );
        assert_eq!(
            order("9007199254740992.0", "9007199254740993"),
            Ordering::Less
        );
        assert_eq!(
            order("18446744073709551615", "18446744073709551616"),
            Ordering::Less
        );
        assert_eq!(
            order("-9223372036854775808", "-9223372036854775809"),
            Ordering::Equal,
            "the float nearest to it"
        );
        assert_eq!(order("18446744073709551615", "1e300"), Ordering::Less);
        assert_eq!(order("-9223372036854775808", "-1e300"), Ordering::Greater);
        assert_eq!(order("3", "3.5"), Ordering::Less);
        assert_eq!(order("-3", "-3.5"), Ordering::Greater);
        assert_eq!(order("0", "-0.5"), Ordering::Greater);
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer() {
        for text in [
            "0",
            "-1",
            "1.0",
            "1e3",
            "1e300",
            "-0.0",
            "18446744073709551616",
        ] {
            assert!(is_integer(&number(text)), "{text}");
        }
        for text in ["0.5", "1e-3", "-1.25"] {
            assert!(!is_integer(&number(text)), "{text}");
        }
    }

    #[test]
    fn equality_looks_at_values_and_not_at_how_they_are_written() {
        assert!(equal(
            &json!({"a": [1, 2.0], "b": null}),
            &json!({"b": null, "a": [1.0, 2]})
        ));
        assert!(!equal(&json!([1, 2]), &json!([2, 1])));
        assert!(!equal(&json!(0), &json!(false)));
        assert!(!equal(&json!(1), &json!(true)));
        assert!(!equal(&json!("1"), &json!(1)));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
    }

    #[test]
    fn duplicates_are_found_among_few_and_among_many() {
        for count in [2, 16, 17, 500] {
            let mut items: Vec<Value> = (0..count)
                .map(|n| json!({"n": n, "list": [n, "x"]}))
                .collect();
            assert!(all_different(&items), "{count}");
            items.push(json!({"list": [f64::from(count - 1), "x"], "n": count - 1}));
            assert!(!all_different(&items), "{count}");
        }
        assert!(all_different(&[
            json!(1),
            json!(true),
            json!("1"),
            json!([1]),
            json!(null)
        ]));
        assert!(!all_different(&[json!([1.0]), json!([1])]));
    }
}
