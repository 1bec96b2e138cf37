//! Answers, as each kind of event wants them.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

/// Which kind of event asked, and so how it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Payload 2.0: a Function URL or an HTTP API.
    V2,
    /// Payload 1.0: a REST API, or an HTTP API that is set to it.
    V1,
    /// A load balancer.
    LoadBalancer,
    /// A load balancer with multi-value headers: it ignores `headers` in an answer.
    LoadBalancerMultiValue,
}

/// An answer, as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    status_code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_description: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    multi_value_headers: BTreeMap<String, Vec<String>>,
    body: String,
    is_base64_encoded: bool,
}

impl Answer {
    /// A response in the family that was asked in. Bodies of ours are JSON, so they are text.
    pub(crate) fn new(family: Family, response: &Response<Bytes>) -> Self {
        let (mut single, mut multi) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in response.headers() {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            if family == Family::LoadBalancerMultiValue {
                let values: &mut Vec<String> = multi.entry(name.as_str().to_owned()).or_default();
                values.push(value);
            } else {
                single.insert(name.as_str().to_owned(), value);
            }
        }
        let status = response.status();
        let described = matches!(
            family,
            Family::LoadBalancer | Family::LoadBalancerMultiValue
        );
        Self {
            status_code: status.as_u16(),
            status_description: described.then(|| {
                let reason = status.canonical_reason().unwrap_or("Answered");
                format!("{} {reason}", status.as_u16())
            }),
            headers: single,
            multi_value_headers: multi,
            body: String::from_utf8_lossy(response.body()).into_owned(),
            is_base64_encoded: false,
        }
    }

    /// A refusal of ours, before core sees the request.
    pub(crate) fn refusal(family: Family, status: StatusCode, error: &str) -> Self {
        let mut response = Response::new(Bytes::from(json!({ "error": error }).to_string()));
        *response.status_mut() = status;
        for (name, value) in [
            ("content-type", "application/json"),
            ("cache-control", "no-store, no-transform"),
        ] {
            let headers = response.headers_mut();
            headers.insert(name, http::HeaderValue::from_static(value));
        }
        Self::new(family, &response)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answer(family: Family) -> Value {
        let response = Response::builder()
            .status(401)
            .header("content-type", "application/json")
            .body(Bytes::from_static(b"{}"))
            .unwrap();
        serde_json::to_value(Answer::new(family, &response)).unwrap()
    }

    #[test]
    fn each_family_has_its_fields() {
        let single = json!({ "content-type": "application/json" });
        for family in [Family::V1, Family::V2] {
            let expected = json!({
                "statusCode": 401, "headers": single, "body": "{}", "isBase64Encoded": false,
            });
            assert_eq!(answer(family), expected);
        }
        let expected = json!({
            "statusCode": 401, "statusDescription": "401 Unauthorized", "headers": single, "body": "{}",
            "isBase64Encoded": false,
        });
        assert_eq!(answer(Family::LoadBalancer), expected);
        let expected = json!({
            "statusCode": 401, "statusDescription": "401 Unauthorized",
            "multiValueHeaders": { "content-type": ["application/json"] }, "body": "{}", "isBase64Encoded": false,
        });
        assert_eq!(answer(Family::LoadBalancerMultiValue), expected);
    }
}
