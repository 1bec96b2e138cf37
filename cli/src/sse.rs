//! The one form of answer beside JSON that MCP allows: a stream of server-sent events that ends with the
//! response.

use serde_json::Value;

/// The response in a stream that was read whole: its last message that has a `result` or an `error`.
///
/// Comments, other fields and notifications are passed over. Lines end with CR LF, LF or CR, as the format of
/// server-sent events has it.
pub(crate) fn response(stream: &str) -> Option<Value> {
    let mut last = None;
    let mut data: Vec<&str> = Vec::new();
    for line in lines(stream).chain([""]) {
        if line.is_empty() {
            let message = serde_json::from_str::<Value>(&data.join("\n")).ok();
            last = message.filter(is_response).or(last);
            data.clear();
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        }
    }
    last
}

fn lines(stream: &str) -> impl Iterator<Item = &str> {
    stream
        .split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn is_response(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_response_is_found_behind_notifications_and_comments() {
        let stream = ": hello\n\nevent: message\ndata: {\"method\":\"notifications/progress\"}\n\n\
                      id: 7\ndata:{\"id\":1,\ndata: \"result\":{\"a\":2}}\n\n: bye\n\n";
        assert_eq!(response(stream), Some(json!({"id": 1, "result": {"a": 2}})));
    }

    #[test]
    fn every_line_end_counts_and_the_last_event_needs_none() {
        for stream in [
            "data: {\"error\":1}\r\n\r\n",
            "data: {\"error\":1}\r\r",
            "data: {\"error\":1}",
        ] {
            assert_eq!(response(stream), Some(json!({"error": 1})), "{stream:?}");
        }
    }

    #[test]
    fn a_stream_without_a_response_has_none() {
        for stream in [
            "",
            "data: {\"method\":\"x\"}\n\n",
            "data: {\n\n",
            "database: {\"result\":1}\n\n",
        ] {
            assert_eq!(response(stream), None, "{stream:?}");
        }
    }
}
