//! One small sample of every sort of counts, always the same.

use umbel::{
    Conservative, CountGroups, CountMin, CountMinParams, Counts, Heavy, KeyType, Ranges,
    RangesParams,
};

use super::samples;

/// The weight of the sample key at a place.
pub fn weight(place: usize) -> u64 {
    (place as u64 * 7919) % 1000
}

fn params(width: u64, depth: u32, seed: u64) -> CountMinParams {
    CountMinParams::with_size(width, depth).unwrap().with_seed(seed)
}

fn plain(params: CountMinParams) -> Counts {
    CountMin::new(params).unwrap().into()
}

fn conservative(params: CountMinParams) -> Counts {
    Conservative::new(params).unwrap().into()
}

fn ranges() -> Counts {
    let params = RangesParams::with_size(-100, 3000, 40, 3).unwrap().with_seed(5);
    Ranges::new(params).unwrap().into()
}

fn heavy(places: u32) -> Heavy {
    Heavy::new(places).unwrap()
}

/// Adds the sample keys with their weights: texts, or integers from -100 to 2900.
pub fn fill(counts: &mut Counts) {
    for (place, key) in stream(counts.key_type()).iter().enumerate() {
        counts.add(key, weight(place)).unwrap();
    }
}

/// The sample keys.
pub fn stream(key_type: KeyType) -> Vec<Vec<u8>> {
    match key_type {
        KeyType::Bytes => samples::keys(),
        KeyType::U64 => {
            (0..100).map(|i| ((i * i * 7 % 3000) - 100_i64).to_le_bytes().to_vec()).collect()
        }
    }
}

/// Counts by name, all of the same stream.
pub fn all() -> Vec<(&'static str, Counts)> {
    let integers = params(61, 2, u64::MAX).with_key_type(KeyType::U64);
    let mut wide = plain(params(19, 2, 0));
    wide.add(b"often", 1 << 40).unwrap();
    let mut full = plain(params(19, 2, 0));
    full.add(b"more than can be", u64::MAX).unwrap();
    let mut described = plain(params(200, 3, 0));
    described.metadata_mut().set("Quelle", "Blüten.tsv, Spalte 1");
    let with_heavy = |counts: Counts, heavy| counts.with_heavy(heavy).unwrap();
    let mut all = vec![
        ("count-min", plain(params(50, 4, 0))),
        ("count-min-seed", plain(params(128, 5, 77))),
        ("count-min-integers", plain(integers)),
        ("count-min-wide", wide),
        ("count-min-saturated", full),
        ("count-min-metadata", described),
        ("conservative", conservative(params(50, 4, 0))),
        ("conservative-integers", conservative(integers)),
        ("ranges", ranges()),
        ("heavy", heavy(20).into()),
        ("heavy-free", heavy(200).into()),
        ("counts-heavy", with_heavy(plain(params(50, 4, 9)), heavy(10))),
        ("conservative-heavy", with_heavy(conservative(params(50, 4, 9)), heavy(10))),
        ("ranges-heavy", with_heavy(ranges(), heavy(10).with_key_type(KeyType::U64))),
    ];
    all.iter_mut().for_each(|(_, counts)| fill(counts));
    all.push(("count-min-empty", plain(params(3, 1, 0))));
    all.push(("heavy-empty", heavy(1).into()));
    all
}

/// Groups with numbers and texts for names: group `i` has the sample keys from place 10 i on.
pub fn groups() -> CountGroups {
    let mut groups = CountGroups::default();
    for (i, name) in ["-1", "2", "2.5", "10", "", "b", "Ä"].into_iter().enumerate().rev() {
        let sketch = plain(params(20 + i as u64, 3, 7));
        let mut counts = sketch.with_heavy(heavy(5)).unwrap();
        for (place, key) in samples::keys().iter().enumerate().skip(10 * i) {
            counts.add(key, weight(place)).unwrap();
        }
        groups.set(name, counts).unwrap();
    }
    groups.metadata_mut().set("spalte", "Bewertung ★");
    groups
}
