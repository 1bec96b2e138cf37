//! Tool parameters that are mirrored into headers (`x-mcp-header`).

use http::{HeaderMap, HeaderName};
use serde_json::{Number, Value};

use super::{
    Error,
    header::{PARAM_PREFIX, decode_value, single},
};
use crate::schema::{HeaderKind, HeaderParam};

/// The largest whole number that every JSON implementation holds.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// Checks the `Mcp-Param-*` headers of a call against its arguments.
///
/// Where the argument is there, its header must be, once and with the same value, the sentinel form decoded. Where
/// it is absent or null, so must the header be. An argument of another type than the schema has agrees with no
/// header. Headers that `params` does not name are ignored.
///
/// # Errors
///
/// [`Error::header_mismatch`], naming the header and the argument.
///
/// ```
/// use pup_extension::{mcp::check_param_headers, schema::{HeaderKind, HeaderParam}};
///
/// let region = HeaderParam { name: "Region".into(), path: vec!["region".into()], kind: HeaderKind::String };
/// let mut headers = http::HeaderMap::new();
/// headers.insert("mcp-param-region", "us-west1".parse().unwrap());
/// let params = std::slice::from_ref(&region);
/// assert!(check_param_headers(&headers, params, &serde_json::json!({"region": "us-west1"})).is_ok());
/// assert!(check_param_headers(&headers, params, &serde_json::json!({"region": "us-east1"})).is_err());
/// assert!(check_param_headers(&headers, params, &serde_json::json!({})).is_err());
/// ```
pub fn check_param_headers(
    headers: &HeaderMap,
    params: &[HeaderParam],
    arguments: &Value,
) -> Result<(), Error> {
    params
        .iter()
        .try_for_each(|param| check(headers, param, arguments))
}

fn check(headers: &HeaderMap, param: &HeaderParam, arguments: &Value) -> Result<(), Error> {
    let shown = format!("Mcp-Param-{}", param.name);
    let mismatch = |what: &str| {
        let argument = param.path.join(".");
        Error::header_mismatch(format!("the {shown} header {what} arguments.{argument}"))
    };
    // A name that no header can have has no header.
    let header = match HeaderName::try_from(format!("{PARAM_PREFIX}{}", param.name)) {
        Ok(name) => single(headers, &name, &shown)?,
        Err(_) => None,
    };
    match (argument(arguments, &param.path), header) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch("is there without")),
        (Some(_), None) => Err(mismatch("is missing: send it with the value of")),
        (Some(argument), Some(header)) => {
            let header =
                decode_value(header).map_err(|_| mismatch("can't be decoded: encode again"))?;
            if agrees(param.kind, argument, &header) {
                Ok(())
            } else {
                Err(mismatch("does not match"))
            }
        }
    }
}

/// The value at a path; `None` when there is none, or null.
fn argument<'v>(arguments: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter()
        .try_fold(arguments, |value, name| value.as_object()?.get(name))
        .filter(|value| !value.is_null())
}

fn agrees(kind: HeaderKind, argument: &Value, header: &str) -> bool {
    match (kind, argument) {
        (HeaderKind::String, Value::String(text)) => text == header,
        (HeaderKind::Boolean, Value::Bool(flag)) => header == if *flag { "true" } else { "false" },
        (HeaderKind::Integer, Value::Number(number)) => {
            let header = serde_json::from_str::<Number>(header).ok();
            whole(number).is_some_and(|number| header.as_ref().and_then(whole) == Some(number))
        }
        _ => false,
    }
}

/// The whole number in the safe range that a JSON number stands for.
fn whole(number: &Number) -> Option<i64> {
    let whole = match number.as_i64() {
        Some(whole) => whole,
        // `as_i64` takes no `42.0`.
        None => number
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= MAX_SAFE_INTEGER as f64)?
            as i64,
    };
    (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER)
        .contains(&whole)
        .then_some(whole)
}
