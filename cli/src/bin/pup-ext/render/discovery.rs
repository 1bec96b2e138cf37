//! What `server/discover` says.

use serde_json::{Map, Value};

use super::{inline, item, line, text};
use crate::style::{HEADING, styled};

pub(crate) fn discovery(result: &Map<String, Value>) -> String {
    let mut out = String::new();
    let server = result
        .get("_meta")
        .and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    if let Some(Value::Object(server)) = server {
        let name = text(server, "title")
            .or_else(|| text(server, "name"))
            .unwrap_or_default();
        let version = text(server, "version").unwrap_or_default();
        line(&mut out, format!("{} {version}", styled(HEADING, name)));
    }
    if let Some(instructions) = text(result, "instructions") {
        line(&mut out, instructions);
    }
    if let Some(Value::Array(versions)) = result.get("supportedVersions") {
        let versions = versions.iter().map(inline).collect::<Vec<_>>().join(", ");
        out.push_str(&item("versions", Some(&versions)));
    }
    if let Some(Value::Object(capabilities)) = result.get("capabilities") {
        let names = capabilities
            .iter()
            .flat_map(|(name, value)| match (name.as_str(), value) {
                ("extensions", Value::Object(extensions)) => extensions.keys().cloned().collect(),
                _ => vec![name.clone()],
            });
        let names = crate::style::safe(&names.collect::<Vec<_>>().join(", "));
        out.push_str(&item("capabilities", Some(&names)));
    }
    out
}
