//! What mappers of a table of ratings would send: the coded parts beside bits and indexes, without an engine.

use std::collections::BTreeMap;
use std::process::Command;

use umbel::bloom::Coding;
use umbel::{Bloom, Params, Sizing};

/// Each group's keys, in the order of the table.
struct Table {
    rows: Vec<(u8, String)>,
    counts: BTreeMap<u8, u64>,
}

impl Table {
    fn generated() -> Table {
        let made = Command::new(env!("CARGO_BIN_EXE_umbel"))
            .args(["gen", "ratings", "--seed", "1"])
            .output();
        let text = String::from_utf8(made.unwrap().stdout).unwrap();
        let row = |line: &str| {
            let mut fields = line.split('\t');
            let (key, rating) = (fields.next()?, fields.next()?);
            Some(((rating.parse::<f64>().ok()? + 0.5) as u8, key.to_string()))
        };
        let rows: Vec<_> = text.lines().filter_map(row).collect();
        let mut counts = BTreeMap::new();
        rows.iter().for_each(|(group, _)| *counts.entry(*group).or_default() += 1);
        Table { rows, counts }
    }
}

/// Bytes that leave the mappers, and the number of records they are in, without the groups' names.
#[derive(Debug, Default)]
struct Sent {
    coded: u64,
    bits: u64,
    indexes: u64,
    parts: u64,
}

fn send(table: &Table, mappers: usize, size: impl Fn(u64) -> Sizing) -> Sent {
    let params: BTreeMap<u8, Params> =
        table.counts.iter().map(|(&group, &n)| (group, Params::new(size(n)))).collect();
    let mut sent = Sent::default();
    for rows in table.rows.chunks(table.rows.len().div_ceil(mappers)) {
        let mut filters: BTreeMap<u8, Bloom> = BTreeMap::new();
        for (group, key) in rows {
            let filter = filters
                .entry(*group)
                .or_insert_with(|| Bloom::with(params[group].clone()).unwrap());
            filter.insert(key.as_bytes());
        }
        for filter in filters.values() {
            let sizing = filter.sizing();
            sent.parts += 1;
            sent.bits += sizing.bits().div_ceil(8);
            sent.indexes += 4 * u64::from(sizing.probes()) * filter.inserted().unwrap();
            let coded = |slice| filter.partial(slice).to_bytes(Coding::Shortest).len() as u64;
            sent.coded += (0..filter.slices()).map(coded).sum::<u64>();
        }
    }
    sent
}

#[test]
fn eight_mappers_at_one_percent_send_less_than_half() {
    let table = Table::generated();
    let classic = send(&table, 8, |n| Sizing::classic(n, 0.01).unwrap());
    assert!(classic.bits < classic.indexes);
    assert!(2 * (classic.coded + 16 * classic.parts) <= classic.bits, "{classic:?}");
    let blocked = send(&table, 8, |n| Sizing::blocked(n, 0.01).unwrap());
    assert!(2 * (blocked.coded + 16 * blocked.parts) <= blocked.bits, "{blocked:?}");
}

#[test]
fn the_coded_parts_are_never_longer_than_either_plain_way() {
    let table = Table::generated();
    for p in [0.1, 0.01, 0.001, 0.0001, 0.00001] {
        for mappers in [1, 2, 3, 4, 8, 16, 32, 64] {
            for sizing in [Sizing::classic, Sizing::new] {
                let sent = send(&table, mappers, |n| sizing(n, p).unwrap());
                let most = sent.bits.min(sent.indexes) + 64 * sent.parts;
                // A record has two lengths of 4 bytes, a kind, a slice and a short name: less than 16.
                assert!(sent.coded + 16 * sent.parts <= most, "p {p}, {mappers} mappers: {sent:?}");
            }
        }
    }
}
