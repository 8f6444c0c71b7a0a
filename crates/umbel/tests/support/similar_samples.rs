//! One small similar filter of every sort, always the same.

use umbel::similar::{Params, Promise, Shape, Similar, Space};

use super::items::Owned;
use super::random::Random;

/// Every space, with a close and a far distance.
pub const SPACES: [(Space, f64, f64); 6] = [
    (Space::Hamming { bits: 100 }, 0.05, 0.5),
    (Space::Cosine { dimension: 5 }, 0.02, 0.9),
    (Space::Euclid { dimension: 9 }, 1.0, 10.0),
    (Space::Texts { shingle: 3 }, 0.2, 0.95),
    (Space::Texts { shingle: 1 }, 0.2, 0.95),
    (Space::Sets, 0.2, 0.95),
];

/// The name of a space in names of files.
pub fn name(space: Space) -> String {
    match space {
        Space::Texts { shingle } => format!("texts-{shingle}"),
        Space::Sets => "sets".into(),
        space => space.metric().into(),
    }
}

/// Items of a space: random ones, and some at its edges.
pub fn items(space: Space) -> Vec<Owned> {
    let mut random = Random(17);
    let mut items: Vec<Owned> = (0..6).map(|_| Owned::random(&mut random, space)).collect();
    items.extend(match space {
        Space::Hamming { bits } => vec![Owned::Bits(vec![0; bits.div_ceil(8) as usize])],
        Space::Cosine { dimension } | Space::Euclid { dimension } => {
            let d = dimension as usize;
            let mut unit = vec![0.0; d];
            unit[d - 1] = -1.0;
            let mut all = vec![Owned::Vector(unit.clone())];
            if let Space::Cosine { .. } = space {
                all.push(Owned::Vector(unit.iter().map(|x| x * 1e300).collect()));
                all.push(Owned::Vector(vec![1e-310; d]));
            } else {
                all.push(Owned::Vector(vec![0.0; d]));
                all.push(Owned::Vector(vec![-1e12; d]));
            }
            all
        }
        Space::Sets => vec![Owned::Tokens(vec![Vec::new()])],
        _ => vec![
            Owned::Text("Blüten, BLÜTEN: one?".into()),
            Owned::Text(" two\twords ".into()),
            Owned::Text("1".into()),
        ],
    });
    items
}

/// Filters by name: as sizing makes them, of given shapes, empty, with metadata.
pub fn similars() -> Vec<(String, Similar)> {
    let mut all = Vec::new();
    for (space, close, far) in SPACES {
        let promise = Promise { close, far, false_positives: 0.1, false_negatives: 0.1 };
        let params = Params::at_any_cost(space, 12, &promise).unwrap().with_seed(7);
        let mut filter = Similar::new(params).unwrap();
        for item in items(space) {
            item.with(|item| filter.insert(item)).unwrap();
        }
        all.push((format!("similar-{}", name(space)), filter));
    }
    let shape = Shape { bands: 3, samples: 2, threshold: 3, probes: 1, bits: 100, width: 0.0 };
    let params = Params::with_shape(Space::Sets, 5, 0.0, 1.0, shape).unwrap();
    all.push(("similar-empty".into(), Similar::new(params).unwrap()));
    let mut described = Similar::new(params.with_seed(1)).unwrap();
    described.insert(umbel::similar::Item::Tokens(&[b"a", b"b"])).unwrap();
    described.metadata_mut().set("Quelle", "Blüten.tsv, Spalte 1");
    all.push(("similar-metadata".into(), described));
    all
}
