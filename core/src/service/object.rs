//! JSON objects, and nothing that serde would take for one.

use serde::de::DeserializeOwned;

/// Reads an object. serde alone would also take an array of its members' values.
pub(super) fn read<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    if json.trim_ascii_start().starts_with(b"{") {
        serde_json::from_slice(json).ok()
    } else {
        None
    }
}
