//! One small near structure of every sort, always the same.

use umbel::near::{Builder, Grid, Near, Number, Params, Structure};

/// The values of the samples: decimals, some of them near each other, and two far off.
pub fn floats() -> Vec<Number> {
    let mut values: Vec<Number> =
        (0..60).map(|i| (f64::from(i * i) / 100.0 - 7.25).into()).collect();
    values.extend([-0.0, 1e6, -3e9].map(Number::from));
    values
}

/// From end to end of the integers.
pub fn integers() -> Vec<Number> {
    let mut values: Vec<Number> = (0..60).map(|i: i64| (i.pow(9) - (1 << 40)).into()).collect();
    values.extend([i64::MIN, i64::MAX, 0, 0].map(Number::from));
    values
}

/// Structures by name.
pub fn nears() -> Vec<(String, Near)> {
    let mut all = Vec::new();
    for (values, grid, name) in [
        (floats(), Grid::floats(0.3, 0.1).unwrap(), "floats"),
        (integers(), Grid::integers(5, 3).unwrap(), "integers"),
    ] {
        for structure in Structure::ALL {
            let mut builder = Builder::new(grid).with_seed(7);
            builder.extend(values.iter().copied()).unwrap();
            let near = builder.build_as(structure, 0.01).unwrap();
            let structure = structure.to_string().to_lowercase().replace(' ', "-");
            all.push((format!("near-{name}-{structure}"), near));
        }
    }
    all.push((
        "near-empty".into(),
        Near::build(Grid::integers(5, 1).unwrap(), 0.01, [0; 0]).unwrap(),
    ));
    let params = Params::new(Grid::integers(1000, 1).unwrap(), 20, 0.1).unwrap();
    let mut described = Near::with(params, Structure::TwoLevels).unwrap();
    described.insert(12).unwrap();
    described.metadata_mut().set("Quelle", "Blüten.tsv, Spalte 1");
    all.push(("near-metadata".into(), described));
    all
}
