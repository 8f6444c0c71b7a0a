//! Bloom filters.

use serde_json::{Map, Value, json};
use umbel::{Bloom, Groups};

use super::{Description, key_type_name, keys_are, list, members};
use crate::notice;
use crate::planning::of_a_good_hash;
use crate::table::{Table, grouped, percent, size};

/// One filter.
pub(super) fn one(filter: &Bloom, bytes: u64) -> Description {
    let mut object = facts_json(filter);
    object.insert("kind".into(), json!("bloom"));
    Description {
        text: list("a Bloom filter", facts(filter), bytes),
        facts: object,
        warnings: filter.overfull().iter().map(ToString::to_string).collect(),
    }
}

/// One for each group.
pub(super) fn groups(groups: &Groups, bytes: u64) -> Description {
    let object = |(name, filter): (&str, &Bloom)| {
        let mut object = facts_json(filter);
        object.insert("group".into(), json!(name));
        Value::Object(object)
    };
    let all: Vec<Value> = groups.iter().map(object).collect();
    let first = groups.iter().next().map(|(_, filter)| filter);
    let hash = first
        .map_or(String::new(), |filter| format!(", hash {}", filter.params().strategy().name()));
    let mut table = Table::new([
        "group",
        "layout",
        "n",
        "m (bits)",
        "k",
        "inserted",
        "fill",
        "estimated keys",
        "rate now",
    ]);
    for (name, filter) in groups.iter() {
        let sizing = filter.sizing();
        table.row([
            name.into(),
            sizing.layout().to_string(),
            grouped(sizing.capacity()),
            grouped(sizing.bits()),
            sizing.probes().to_string(),
            filter.inserted().map_or("unknown".into(), grouped),
            percent(filter.fill()),
            estimate(filter),
            percent(filter.expected_rate_now()),
        ]);
    }
    let number = notice::number(groups.len() as u64, "group");
    let heading = format!("Bloom filters of {number}{hash}, {}\n", size(bytes));
    let word = first.and_then(|filter| of_a_good_hash(filter.params().strategy()));
    let word = word.map_or(String::new(), |word| format!("The rates are those {word}.\n"));
    Description {
        text: heading + &table.render() + &word,
        facts: members(json!({ "kind": "groups", "groups": all })),
        warnings: Vec::new(),
    }
}

/// About how many keys; a full filter cannot tell.
fn estimate(filter: &Bloom) -> String {
    let estimate = filter.estimated_len();
    if estimate.is_finite() { grouped(estimate.round() as u64) } else { "unknown".into() }
}

fn facts(filter: &Bloom) -> Vec<(&'static str, String)> {
    let (params, sizing) = (filter.params(), filter.sizing());
    let word = of_a_good_hash(params.strategy()).map_or(String::new(), |word| format!(" ({word})"));
    let promise = if params.strategy().keeps_rate() {
        percent(sizing.expected_rate())
    } else {
        "none: this hash promises no rate".into()
    };
    vec![
        ("layout", sizing.layout().to_string()),
        ("hash", params.strategy().to_string()),
        ("keys are", keys_are(params.key_type())),
        ("sized for (n)", grouped(sizing.capacity())),
        ("bits (m)", grouped(sizing.bits())),
        ("probes (k)", sizing.probes().to_string()),
        ("bits a key", format!("{:.2}", sizing.bits_per_key())),
        ("promised rate", promise),
        ("inserted", filter.inserted().map_or("unknown".into(), grouped)),
        ("fill", percent(filter.fill())),
        ("estimated keys", estimate(filter)),
        ("expected rate now", percent(filter.expected_rate_now()) + &word),
    ]
}

fn facts_json(filter: &Bloom) -> Map<String, Value> {
    let (params, sizing) = (filter.params(), filter.sizing());
    let keeps = params.strategy().keeps_rate();
    members(json!({
        "layout": sizing.layout().name(),
        "hash": params.strategy().name(),
        "seeds": params.strategy().seeds(),
        "key_type": key_type_name(params.key_type()),
        "n": sizing.capacity(),
        "m": sizing.bits(),
        "k": sizing.probes(),
        "bits_per_key": sizing.bits_per_key(),
        "promised_rate": keeps.then(|| sizing.expected_rate()),
        "inserted": filter.inserted(),
        "fill": filter.fill(),
        "estimated_keys": Some(filter.estimated_len()).filter(|estimate| estimate.is_finite()),
        "expected_rate_now": filter.expected_rate_now(),
    }))
}
