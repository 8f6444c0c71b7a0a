//! What all JSON of the command has in common.

use serde_json::{Value, json};

/// A result as text.
pub fn text(result: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(result)? + "\n")
}

/// An object about a key. Text stands as `key`; bytes that are none stand in hexadecimal as `key_hex`, and `key` is null: nothing is
/// lost, and no two keys look the same.
pub fn about(key: &[u8], facts: Value) -> Value {
    let name = match std::str::from_utf8(key) {
        Ok(text) => json!({ "key": text }),
        Err(_) => json!({ "key": null, "key_hex": hexadecimal(key) }),
    };
    joined(name, facts)
}

/// The members of both objects.
pub fn joined(mut first: Value, second: Value) -> Value {
    if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
        first.extend(second);
    }
    first
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
