//! What Lambda hands to the HTTP function, as a request.
//!
//! Read leniently: of the many fields of an event only those that make a request are looked at, so that one that is new,
//! or that somebody's test event leaves out, is no error.

use std::{borrow::Cow, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use serde::Deserialize;

use crate::{answer::Family, path, signature};

/// A request, and what is needed to answer it.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) family: Family,
    pub(crate) request: Request<Bytes>,
    /// The URL under which AWS itself reaches the function, where it is known.
    pub(crate) public_url: Option<String>,
}

/// Why an event is no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventError {
    /// Nobody waits for an HTTP answer.
    #[error(
        "the event is no HTTP request: it has neither `requestContext.http` (a Function URL or an HTTP API) nor `httpMethod` (a REST API or a load balancer)"
    )]
    NotHttp,
    /// It is one, and can't be read.
    #[error("{what}")]
    Bad { family: Family, what: &'static str },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw<'a> {
    #[serde(borrow)]
    http_method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    raw_path: Option<Cow<'a, str>>,
    headers: Option<BTreeMap<String, Option<String>>>,
    multi_value_headers: Option<BTreeMap<String, Option<Vec<String>>>>,
    #[serde(borrow)]
    body: Option<Cow<'a, str>>,
    is_base64_encoded: Option<bool>,
    request_context: Option<RawContext>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawContext {
    http: Option<RawHttp>,
    stage: Option<String>,
    domain_name: Option<String>,
    elb: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct RawHttp {
    method: String,
    path: Option<String>,
}

impl Event {
    /// Reads an event, which is JSON.
    pub(crate) fn read(json: &str) -> Result<Self, EventError> {
        // What does not even have the fields' types is no event of these shapes.
        let raw: Raw<'_> = serde_json::from_str(json).map_err(|_| EventError::NotHttp)?;
        let context = raw.request_context.unwrap_or_default();
        let (family, method, path) = match (context.http, raw.http_method) {
            (Some(http), _) => {
                let path = raw.raw_path.map(Cow::into_owned).or(http.path);
                (Family::V2, http.method, path)
            }
            (None, Some(method)) => {
                let has_headers = raw.headers.is_some();
                let family = match context.elb {
                    None => Family::V1,
                    Some(_) if has_headers => Family::LoadBalancer,
                    Some(_) => Family::LoadBalancerMultiValue,
                };
                (family, method.into_owned(), raw.path.map(Cow::into_owned))
            }
            (None, None) => return Err(EventError::NotHttp),
        };
        let bad = |what| EventError::Bad { family, what };
        let stage = match family {
            Family::V1 | Family::V2 => context.stage.as_deref(),
            Family::LoadBalancer | Family::LoadBalancerMultiValue => None,
        };
        let path = path.unwrap_or_else(|| String::from("/"));
        let uri: Uri = path::without_stage(&path, stage)
            .parse()
            .map_err(|_| bad("the path can't be read"))?;
        let method: Method = method
            .parse()
            .map_err(|_| bad("the method can't be read"))?;
        let body = match (raw.body, raw.is_base64_encoded.unwrap_or(false)) {
            (None, _) => Bytes::new(),
            (Some(body), false) => Bytes::from(body.into_owned()),
            (Some(body), true) => STANDARD
                .decode(body.as_bytes())
                .map(Bytes::from)
                .map_err(|_| bad("the event's body is no base64"))?,
        };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers(raw.headers.as_ref(), raw.multi_value_headers.as_ref());
        Ok(Self {
            family,
            request,
            public_url: context
                .domain_name
                .and_then(|domain| path::public_url(&domain, stage)),
        })
    }
}

/// The headers, by the map that has each of them whole. One that HTTP does not allow can't be signed, nor needed.
fn headers(
    single: Option<&BTreeMap<String, Option<String>>>,
    multi: Option<&BTreeMap<String, Option<Vec<String>>>>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut append = |name: &str, value: &str| {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_bytes(value.as_bytes()),
        ) {
            headers.append(name, value);
        }
    };
    match multi.filter(|multi| !multi.is_empty()) {
        Some(multi) => {
            for (name, values) in multi {
                for value in values.iter().flatten() {
                    append(name, value);
                }
            }
        }
        None => {
            for (name, value) in single.into_iter().flatten() {
                append(name, value.as_deref().unwrap_or_default());
            }
        }
    }
    signature::rejoin(&mut headers);
    headers
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(event: &Value) -> Result<Event, EventError> {
        Event::read(&event.to_string())
    }

    fn v2(path: &str, stage: &str) -> Value {
        json!({
            "version": "2.0",
            "rawPath": path,
            "rawQueryString": "",
            "headers": { "webhook-id": "msg_1", "content-type": "application/json" },
            "requestContext": {
                "http": { "method": "POST", "path": path, "protocol": "HTTP/1.1" },
                "stage": stage,
                "domainName": "abc.lambda-url.eu-central-1.on.aws",
            },
            "body": "{\"a\":1}",
            "isBase64Encoded": false,
        })
    }

    #[test]
    fn an_event_of_a_function_url_is_a_request() {
        let event = read(&v2("/mcp", "$default")).unwrap();
        assert_eq!(event.family, Family::V2);
        assert_eq!(event.request.method(), Method::POST);
        assert_eq!(event.request.uri().path(), "/mcp");
        assert_eq!(event.request.headers()["webhook-id"], "msg_1");
        assert_eq!(&event.request.body()[..], b"{\"a\":1}");
        assert_eq!(
            event.public_url.as_deref(),
            Some("https://abc.lambda-url.eu-central-1.on.aws")
        );
    }

    #[test]
    fn a_body_in_base64_is_its_bytes_whatever_they_are() {
        let mut event = v2("/mcp", "$default");
        event["isBase64Encoded"] = json!(true);
        event["body"] = json!(STANDARD.encode([0xff, 0x00, b'{', 0xc3]));
        assert_eq!(
            &read(&event).unwrap().request.body()[..],
            [0xff, 0x00, b'{', 0xc3]
        );
        event["body"] = json!("%%%");
        let error = read(&event).unwrap_err();
        assert!(
            matches!(
                error,
                EventError::Bad {
                    family: Family::V2,
                    ..
                }
            ),
            "{error:?}"
        );
        event["body"] = Value::Null;
        assert!(read(&event).unwrap().request.body().is_empty());
    }

    #[test]
    fn repeated_headers_of_a_rest_api_are_all_there_in_any_case() {
        let event = json!({
            "httpMethod": "POST", "path": "/mcp", "body": "x",
            "headers": { "Webhook-Id": "last" },
            "multiValueHeaders": { "WEBHOOK-ID": ["first", "last"], "Webhook-Signature": ["v1", "AAA= v1", "BBB="] },
            "requestContext": { "stage": "prod" },
        });
        let event = read(&event).unwrap();
        assert_eq!(event.family, Family::V1);
        let ids: Vec<_> = event
            .request
            .headers()
            .get_all("webhook-id")
            .iter()
            .collect();
        assert_eq!(ids, ["first", "last"]);
        assert_eq!(
            event.request.headers()["webhook-signature"],
            "v1,AAA= v1,BBB="
        );
    }

    #[test]
    fn a_load_balancer_is_answered_as_it_asked() {
        let mut event = json!({
            "httpMethod": "GET", "path": "/manifest.json", "body": "",
            "multiValueHeaders": { "host": ["a"] },
            "requestContext": { "elb": { "targetGroupArn": "arn" } },
        });
        assert_eq!(read(&event).unwrap().family, Family::LoadBalancerMultiValue);
        event["headers"] = json!({ "host": "a" });
        event["multiValueHeaders"] = Value::Null;
        assert_eq!(read(&event).unwrap().family, Family::LoadBalancer);
    }

    #[test]
    fn what_is_no_http_event_is_named_so() {
        for event in [
            json!({ "key1": "value1", "key2": "value2", "key3": "value3" }),
            json!({ "Records": [{ "eventSource": "aws:sqs", "body": "x" }] }),
            json!({ "partition": "i/1", "task": "t" }),
            json!("hello"),
            json!(7),
            json!(null),
            json!([]),
            json!({ "requestContext": 5 }),
            json!({ "httpMethod": 5 }),
        ] {
            assert_eq!(read(&event).unwrap_err(), EventError::NotHttp, "{event}");
        }
    }

    #[test]
    fn a_method_or_a_path_that_is_none_is_a_bad_request() {
        let mut event = v2("/a b\u{7f}", "$default");
        assert!(matches!(read(&event).unwrap_err(), EventError::Bad { .. }));
        event["rawPath"] = json!("/mcp");
        event["requestContext"]["http"]["method"] = json!("P OST");
        assert!(matches!(read(&event).unwrap_err(), EventError::Bad { .. }));
    }
}
