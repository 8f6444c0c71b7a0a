//! Count-min sketches, counts over ranges, heavy hitters.

use serde_json::{Value, json};
use umbel::counts::{CountGroups, Sketch};
use umbel::{Conservative, CountMin, CountMinParams, Counts, Heavy, Ranges};

use super::{Description, key_type_name, keys_are, list, members};
use crate::notice;
use crate::table::{Table, grouped, percent, size};

/// Said of a sketch whose counters have come to their end.
const SATURATED: &str = "the total has reached 2^64 - 1: counts stand for \"this or more\"";

/// What has been counted.
struct Counted {
    total: u64,
    inserted: u64,
    bound: u64,
    saturated: bool,
}

impl Counted {
    /// The description of a structure: what is counted is said last.
    fn describe(
        &self,
        heading: &str,
        mut facts: Vec<(&str, String)>,
        object: Value,
        bytes: u64,
    ) -> Description {
        facts.push(("keys added", grouped(self.inserted)));
        facts.push(("total weight", grouped(self.total)));
        facts.push(("too high by", format!("at most {} now", grouped(self.bound))));
        let mut object = members(object);
        object.extend(members(json!({
            "inserted": self.inserted,
            "total": self.total,
            "bound": self.bound,
            "saturated": self.saturated,
        })));
        let warnings = self.saturated.then(|| SATURATED.into()).into_iter().collect();
        Description { text: list(heading, facts, bytes), facts: object, warnings }
    }
}

/// Counts of one stream: a sketch, heavy hitters, or both.
pub(super) fn counts(counts: &Counts, bytes: u64) -> Description {
    let sketch = counts.sketch().map(|sketch| match sketch {
        Sketch::Plain(sketch) => plain(sketch, bytes),
        Sketch::Conservative(sketch) => conservative(sketch, bytes),
        Sketch::Ranges(found) => ranges(found, bytes),
    });
    let heavy = counts.heavy().map(|found| heavy(found, bytes));
    match (sketch, heavy) {
        (Some(mut sketch), Some(heavy)) => {
            sketch.text += &format!("with {}", heavy.text);
            sketch.facts.insert("heavy".into(), Value::Object(heavy.facts));
            sketch
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => {
            Description { text: String::new(), facts: members(json!({})), warnings: Vec::new() }
        }
    }
}

/// Counts by group.
pub(super) fn groups(groups: &CountGroups, bytes: u64) -> Description {
    let mut table =
        Table::new(["group", "holds", "keys added", "total weight", "too high by at most"]);
    let mut all = Vec::new();
    for (name, found) in groups.iter() {
        table.row([
            name.into(),
            found.kind().to_string(),
            grouped(found.inserted()),
            grouped(found.total()),
            grouped(found.bound()),
        ]);
        let mut object = counts(found, 0).facts;
        object.insert("group".into(), json!(name));
        all.push(Value::Object(object));
    }
    let number = notice::number(groups.len() as u64, "group");
    Description {
        text: format!("counts of {number}, {}\n{}", size(bytes), table.render()),
        facts: members(json!({ "kind": "count-groups", "groups": all })),
        warnings: Vec::new(),
    }
}

/// One plain sketch.
fn plain(sketch: &CountMin, bytes: u64) -> Description {
    let counted = Counted {
        total: sketch.total(),
        inserted: sketch.inserted(),
        bound: sketch.bound(),
        saturated: sketch.is_saturated(),
    };
    let (kind, heading) = ("count-min", "a count-min sketch");
    table(&counted, kind, heading, sketch.params(), sketch.counter_bytes(), bytes)
}

/// One with conservative update.
fn conservative(sketch: &Conservative, bytes: u64) -> Description {
    let counted = Counted {
        total: sketch.total(),
        inserted: sketch.inserted(),
        bound: sketch.bound(),
        saturated: sketch.is_saturated(),
    };
    let (kind, heading) =
        ("conservative", "a count-min sketch with conservative update (it cannot be merged)");
    table(&counted, kind, heading, sketch.params(), sketch.counter_bytes(), bytes)
}

fn table(
    counted: &Counted,
    kind: &str,
    heading: &str,
    params: &CountMinParams,
    counter_bytes: usize,
    bytes: u64,
) -> Description {
    let facts = vec![
        ("hash", format!("xxh3, seed {}", params.seed())),
        ("keys are", keys_are(params.key_type())),
        ("columns (w)", grouped(params.width())),
        ("rows (d)", params.depth().to_string()),
        ("eps", percent(params.epsilon())),
        ("delta", percent(params.delta())),
        ("bytes a counter", counter_bytes.to_string()),
    ];
    let object = json!({
        "kind": kind,
        "hash": "xxh3",
        "seeds": [params.seed()],
        "key_type": key_type_name(params.key_type()),
        "w": params.width(),
        "d": params.depth(),
        "eps": params.epsilon(),
        "delta": params.delta(),
        "counter_bytes": counter_bytes,
    });
    counted.describe(heading, facts, object, bytes)
}

/// Counts over ranges.
fn ranges(ranges: &Ranges, bytes: u64) -> Description {
    let params = ranges.params();
    let counted = Counted {
        total: ranges.total(),
        inserted: ranges.inserted(),
        bound: (params.epsilon() * ranges.total() as f64) as u64,
        saturated: ranges.is_saturated(),
    };
    let facts = vec![
        ("hash", format!("xxh3, seed {}", params.seed())),
        ("keys are", format!("integers from {} to {}", params.lo(), params.hi())),
        ("columns (w)", grouped(params.width())),
        ("rows (d)", params.depth().to_string()),
        ("levels", format!("{}, {} of them sketched", params.levels(), params.sketched_levels())),
        ("eps", percent(params.epsilon())),
        ("delta", percent(params.delta())),
    ];
    let object = json!({
        "kind": "ranges",
        "hash": "xxh3",
        "seeds": [params.seed()],
        "key_type": "int",
        "lo": params.lo(),
        "hi": params.hi(),
        "w": params.width(),
        "d": params.depth(),
        "levels": params.levels(),
        "sketched_levels": params.sketched_levels(),
        "eps": params.epsilon(),
        "delta": params.delta(),
    });
    counted.describe("counts over ranges of integers", facts, object, bytes)
}

/// Heavy hitters.
fn heavy(heavy: &Heavy, bytes: u64) -> Description {
    let counted = Counted {
        total: heavy.total(),
        inserted: heavy.inserted(),
        bound: heavy.bound(),
        saturated: heavy.is_saturated(),
    };
    let facts = vec![
        ("keys are", keys_are(heavy.key_type())),
        ("places", grouped(heavy.places().into())),
        ("keys kept", grouped(heavy.len() as u64)),
        ("certainly kept", format!("every key above {}", grouped(heavy.missed()))),
    ];
    let object = json!({
        "kind": "heavy",
        "key_type": key_type_name(heavy.key_type()),
        "places": heavy.places(),
        "keys": heavy.len(),
        "missed": heavy.missed(),
    });
    counted.describe("heavy hitters", facts, object, bytes)
}
