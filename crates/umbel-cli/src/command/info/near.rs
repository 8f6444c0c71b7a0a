//! Numbers, to be asked for what is near.

use serde_json::json;
use umbel::near::{Near, Values};

use super::{Description, list, members};
use crate::table::{grouped, percent};

/// What holds numbers.
pub(super) fn near(near: &Near, bytes: u64) -> Description {
    let (params, grid) = (near.params(), near.params().grid());
    let values = match grid.values() {
        Values::Floats => ("64-bit floats", "float"),
        Values::Integers => ("64-bit integers", "int"),
    };
    let bits_per_number = near.bits() as f64 / params.n().max(1) as f64;
    let facts = vec![
        ("kept in", near.structure().to_string()),
        ("why", near.why()),
        ("numbers are", values.0.into()),
        ("distance (alpha)", grid.alpha().to_string()),
        ("resolution (beta)", grid.beta().to_string()),
        ("cells a question", format!("up to {}", grouped(grid.most_cells()))),
        ("promised rate", format!("{}, of a whole question", percent(params.p()))),
        ("different cells", grouped(params.n())),
        ("inserted", grouped(near.inserted())),
        ("bits", grouped(near.bits())),
        ("bits a number", format!("{bits_per_number:.2}")),
        ("expected rate now", percent(near.expected_rate_now())),
    ];
    let facts = facts.into_iter().map(|(name, value)| match (name, near.structure().grows()) {
        ("different cells", true) => ("sized for (cells)", value),
        (name, _) => (name, value),
    });
    Description {
        text: list("numbers, and what is near them", facts.collect(), bytes),
        facts: members(json!({
            "kind": "near",
            "structure": near.structure().name(),
            "why": near.why(),
            "grows": near.structure().grows(),
            "number_type": values.1,
            "alpha": grid.alpha(),
            "beta": grid.beta(),
            "cells": grid.most_cells(),
            "p": params.p(),
            "hash": "xxh3",
            "seeds": [params.seed()],
            "n": params.n(),
            "inserted": near.inserted(),
            "bits": near.bits(),
            "bits_per_number": bits_per_number,
            "expected_rate_now": near.expected_rate_now(),
        })),
        warnings: near.overfull().iter().map(ToString::to_string).collect(),
    }
}
