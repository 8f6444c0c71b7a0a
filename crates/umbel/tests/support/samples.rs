//! One small filter of every sort, always the same.

use umbel::hash::{Family, Strategy};
use umbel::{Bloom, Groups, KeyType, Keys, Params, Sizing};

/// The keys of every sample: texts, not all ASCII, one empty, one not UTF-8.
pub fn keys() -> Vec<Vec<u8>> {
    let mut keys: Vec<_> =
        (0..97).map(|i| format!("tt{:07}", 73_537 + 31 * i).into_bytes()).collect();
    keys.extend([b"".to_vec(), "Blütenstand 🌸".into(), b"\xff\x80\xc3".to_vec()]);
    keys
}

/// The integers of the samples whose keys are integers.
pub fn integers() -> Vec<u64> {
    (0..100).map(|i: u64| i.pow(9)).collect()
}

/// Seeds as somebody might choose them.
fn seeds(k: u32) -> Vec<u32> {
    [3, 5, 7, 11, 13, 31, 37, 61, u32::MAX].into_iter().cycle().take(k as usize).collect()
}

/// All strategies for a classic filter of `k` probes.
pub fn strategies(k: u32) -> Vec<Strategy> {
    let seeded = Family::ALL.map(|family| Strategy::Seeded { family, seeds: seeds(k) });
    let xxh3 = [Strategy::default(), Strategy::Xxh3 { seed: 0x9E37_79B9_7F4A_7C15 }];
    xxh3.into_iter().chain(seeded).collect()
}

pub fn empty(sizing: Sizing, strategy: Strategy) -> Bloom {
    Bloom::with(Params::new(sizing).with_strategy(strategy).unwrap()).unwrap()
}

/// Inserts every key whose place is a multiple of `step`.
fn insert_all(filter: &mut Bloom, step: usize) {
    for key in keys().iter().step_by(step) {
        filter.insert(key);
    }
}

fn filled(sizing: Sizing, strategy: Strategy) -> Bloom {
    let mut filter = empty(sizing, strategy);
    insert_all(&mut filter, 1);
    filter
}

/// Filters by name; all hold [`keys`], but for `integers`, which holds [`integers`].
pub fn blooms() -> Vec<(String, Bloom)> {
    let classic = Sizing::classic(100, 0.01).unwrap();
    let blocked = Sizing::blocked(100, 0.01).unwrap();
    let mut all = vec![("blocked".into(), filled(blocked, Strategy::default()))];
    for (strategy, note) in strategies(7).into_iter().zip(["", "-seed", "", "", "", ""]) {
        all.push((format!("classic-{}{note}", strategy.name()), filled(classic, strategy)));
    }

    let seeded = Strategy::Xxh3 { seed: u64::MAX };
    let params = Params::new(blocked).with_strategy(seeded).unwrap();
    let mut filter = Bloom::with(params.with_key_type(KeyType::U64)).unwrap();
    filter.insert_batch(Keys::U64(&integers())).unwrap();
    all.push(("integers".into(), filter));

    let mut common = filled(blocked, Strategy::default());
    let mut other = common.clone();
    common.insert(b"only here");
    other.insert(b"only there");
    common.intersect(&other).unwrap();
    all.push(("intersection".into(), common));

    let mut described = filled(classic, Strategy::default());
    described.metadata_mut().set("", "");
    described.metadata_mut().set("Quelle", "Blüten.tsv, Spalte 1");
    described.metadata_mut().set("出典", "花 🌸\n\0");
    all.push(("metadata".into(), described));
    all
}

/// Groups with numbers and texts for names; group `i` in order holds every key whose place is a multiple of i + 1.
pub fn groups() -> Groups {
    let mut groups = Groups::default();
    let names = ["-1", "2", "2.5", "10", "", "b", "Ä"];
    for (i, name) in names.into_iter().enumerate().rev() {
        let n = 100 / (i as u64 + 1);
        let sizing = if i % 2 == 0 { Sizing::blocked(n, 0.01) } else { Sizing::classic(n, 0.01) };
        let mut filter = empty(sizing.unwrap(), Strategy::Xxh3 { seed: 7 });
        insert_all(&mut filter, i + 1);
        groups.set(name, filter).unwrap();
    }
    groups.metadata_mut().set("spalte", "Bewertung ★");
    groups
}
