//! Count-min sketches.

use serde_json::json;
use umbel::CountMin;

use super::{Description, key_type_name, keys_are, list, members};
use crate::table::{grouped, percent};

/// Said of a sketch whose counters have come to their end.
const SATURATED: &str = "the total has reached 2^64 - 1: counts stand for \"this or more\"";

/// One plain sketch.
pub(super) fn plain(sketch: &CountMin, bytes: u64) -> Description {
    let params = sketch.params();
    let facts = vec![
        ("hash", format!("xxh3, seed {}", params.seed())),
        ("keys are", keys_are(params.key_type())),
        ("columns (w)", grouped(params.width())),
        ("rows (d)", params.depth().to_string()),
        ("eps", format!("{:.3e}", params.epsilon())),
        ("delta", percent(params.delta())),
        ("bytes a counter", sketch.counter_bytes().to_string()),
        ("keys added", grouped(sketch.inserted())),
        ("total weight", grouped(sketch.total())),
        ("too high by", format!("at most {} now", grouped(sketch.bound()))),
    ];
    let object = json!({
        "kind": "count-min",
        "hash": "xxh3",
        "seeds": [params.seed()],
        "key_type": key_type_name(params.key_type()),
        "w": params.width(),
        "d": params.depth(),
        "eps": params.epsilon(),
        "delta": params.delta(),
        "counter_bytes": sketch.counter_bytes(),
        "inserted": sketch.inserted(),
        "total": sketch.total(),
        "bound": sketch.bound(),
        "saturated": sketch.is_saturated(),
    });
    Description {
        text: list("a count-min sketch", facts, bytes),
        facts: members(object),
        warnings: sketch.is_saturated().then(|| SATURATED.into()).into_iter().collect(),
    }
}
