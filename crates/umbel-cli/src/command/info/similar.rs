//! Items, to be asked for what is similar.

use serde_json::json;
use umbel::similar::Similar;

use super::{Description, list, members};
use crate::table::{grouped, percent};

/// What holds items.
pub(super) fn similar(filter: &Similar, bytes: u64) -> Description {
    let (params, shape) = (filter.params(), filter.params().shape());
    let mut facts = vec![
        ("items are", params.space().to_string()),
        ("metric", params.space().metric().into()),
        ("close up to", params.close().to_string()),
        ("far from", params.far().to_string()),
        (
            "wrong yes",
            format!("{} of questions that are far from all", percent(params.false_positives())),
        ),
        (
            "wrong no",
            format!("{} of questions that are close to one", percent(params.false_negatives())),
        ),
        ("sized for", format!("{} items", grouped(params.n()))),
        ("inserted", grouped(filter.inserted())),
        ("bands", format!("{} of {} samples", grouped(shape.bands.into()), shape.samples)),
        ("close from", format!("{} bands on", shape.threshold)),
        ("bits a band", format!("{}, {} probes", grouped(shape.bits), shape.probes)),
        ("bits an item", format!("{:.1}", params.bits_per_item())),
        ("fill", percent(filter.fill())),
        ("wrong yes now", percent(filter.expected_rate_now())),
    ];
    if shape.width > 0.0 {
        facts.insert(11, ("width of a step", shape.width.to_string()));
    }
    Description {
        text: list(
            "items, and what is similar to them; wrong on both sides, as rarely as this says",
            facts,
            bytes,
        ),
        facts: members(json!({
            "kind": "similar",
            "items": params.space().to_string(),
            "metric": params.space().metric(),
            "close": params.close(),
            "far": params.far(),
            "false_positives": params.false_positives(),
            "false_negatives": params.false_negatives(),
            "n": params.n(),
            "inserted": filter.inserted(),
            "bands": shape.bands,
            "samples": shape.samples,
            "threshold": shape.threshold,
            "probes": shape.probes,
            "bits_per_band": shape.bits,
            "width": shape.width,
            "bits": params.bits(),
            "bits_per_item": params.bits_per_item(),
            "seeds": [params.seed()],
            "fill": filter.fill(),
            "expected_rate_now": filter.expected_rate_now(),
        })),
        warnings: filter.overfull().iter().map(ToString::to_string).collect(),
    }
}
