//! Counts against a second writer made from FORMAT.md alone (`support/count_book.rs`): the same bytes; and files that lie.

#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use support::book;
use support::count_book::{self, CountRecord, Counters, HeavyRecord, RangeRecord};
use support::count_samples;
use support::peak::{Counting, peak};
use support::sketches::{some_stream, with_stream};
use umbel::{
    Conservative, CountGroups, CountMin, CountMinParams, Counts, Heavy, KeyType, Ranges,
    RangesParams, Sketch,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The record and the counters of a sketch with this stream.
fn count_parts(
    params: &CountMinParams,
    stream: &[(Vec<u8>, u64)],
    add: fn(&mut Counters, &[u8], u64),
) -> (CountRecord, Vec<u8>) {
    let mut counters = Counters::new(params.depth(), params.width(), params.seed());
    stream.iter().for_each(|(key, weight)| add(&mut counters, key, *weight));
    let bytes = count_book::width(&counters.numbers);
    let record = CountRecord {
        strategy: 1,
        bytes,
        key_type: if params.key_type() == KeyType::Bytes { 1 } else { 2 },
        d: params.depth(),
        w: params.width(),
        seed: params.seed(),
        total: stream.iter().fold(0, |sum, (_, weight)| sum.saturating_add(*weight)),
        calls: stream.len() as u64,
    };
    (record, count_book::body(&counters.numbers, bytes))
}

/// The same for ranges.
fn range_parts(params: &RangesParams, stream: &[(i64, u64)]) -> (RangeRecord, Vec<u8>) {
    let (lo, hi, d, w) = (params.lo(), params.hi(), params.depth(), params.width());
    let last = hi.wrapping_sub(lo) as u64;
    let (mut bytes, mut body) = (Vec::new(), Vec::new());
    for level in 0.. {
        let nodes = u128::from(last) >> level;
        let numbers = if nodes < u128::from(w * u64::from(d)) {
            let mut numbers = vec![0; nodes as usize + 1];
            for (key, weight) in stream {
                numbers[(u128::from(key.wrapping_sub(lo) as u64) >> level) as usize] += weight;
            }
            numbers
        } else {
            let mut counters = Counters::new(d, w, params.seed().wrapping_add(level));
            for (key, weight) in stream {
                let node = key.wrapping_sub(lo) as u64 >> level;
                counters.add(&node.to_le_bytes(), *weight);
            }
            counters.numbers
        };
        let width = count_book::width(&numbers);
        bytes.push(width);
        body.extend(count_book::body(&numbers, width));
        if nodes == 0 {
            break;
        }
    }
    let record = RangeRecord {
        strategy: 1,
        zero: 0,
        d,
        w,
        seed: params.seed(),
        total: stream.iter().map(|(_, weight)| weight).sum(),
        calls: stream.len() as u64,
        lo,
        hi,
        bytes,
    };
    (record, body)
}

/// A summary read from its public face.
fn heavy_record(heavy: &Heavy) -> HeavyRecord {
    let keys: Vec<_> = heavy
        .keys()
        .iter()
        .map(|key| (key.count, key.count - key.least, key.key.to_vec()))
        .collect();
    HeavyRecord {
        m: heavy.places(),
        key_type: if heavy.key_type() == KeyType::Bytes { 1 } else { 2 },
        zeros: [0; 3],
        total: heavy.total(),
        calls: heavy.inserted(),
        count: keys.len() as u32,
        keys,
    }
}

/// The stream of a sample.
fn sample_stream(name: &str, counts: &Counts) -> Vec<(Vec<u8>, u64)> {
    let first: Vec<(Vec<u8>, u64)> = match name {
        "count-min-wide" => vec![(b"often".to_vec(), 1 << 40)],
        "count-min-saturated" => vec![(b"more than can be".to_vec(), u64::MAX)],
        _ => vec![],
    };
    if name.ends_with("empty") {
        return first;
    }
    let keys = count_samples::stream(counts.key_type());
    let weighted = keys.into_iter().enumerate().map(|(i, key)| (key, count_samples::weight(i)));
    first.into_iter().chain(weighted).collect()
}

#[test]
fn every_sample_is_written_by_the_book() {
    for (name, counts) in count_samples::all() {
        let stream = sample_stream(name, &counts);
        let integer = |key: &[u8]| i64::from_le_bytes(key.try_into().unwrap());
        let sketch = match counts.sketch() {
            Some(Sketch::Plain(sketch)) => {
                let (record, body) = count_parts(sketch.params(), &stream, Counters::add);
                Some((3_u16, record.bytes(), body))
            }
            Some(Sketch::Conservative(sketch)) => {
                let (record, body) = count_parts(sketch.params(), &stream, Counters::raise);
                Some((4, record.bytes(), body))
            }
            Some(Sketch::Ranges(ranges)) => {
                let stream: Vec<_> = stream.iter().map(|(key, w)| (integer(key), *w)).collect();
                let (record, body) = range_parts(ranges.params(), &stream);
                Some((5, record.bytes(), body))
            }
            None => None,
        };
        let heavy = counts.heavy().map(|heavy| heavy_record(heavy).bytes());
        let (kind, parm, body) = match (sketch, heavy) {
            (Some(sketch), None) => sketch,
            (None, Some(heavy)) => (6, heavy, vec![]),
            (Some((kind, record, body)), Some(heavy)) => {
                (7, [kind.to_le_bytes().to_vec(), record, heavy].concat(), body)
            }
            (None, None) => unreachable!(),
        };
        let pairs: Vec<_> = counts.metadata().iter().collect();
        let file = book::file(kind, &parm, &book::pairs(&pairs), &body);
        assert!(counts.to_bytes().unwrap() == file, "{name}");
        assert!(Counts::from_bytes(&file).unwrap().to_bytes().unwrap() == file, "{name}");
    }
}

#[test]
fn groups_are_written_by_the_book() {
    let groups = count_samples::groups();
    let keys = count_samples::stream(KeyType::Bytes);
    let (mut parm, mut body) = (Vec::new(), Vec::new());
    for (i, (name, counts)) in groups.iter().enumerate() {
        let stream: Vec<_> =
            (10 * i..100).map(|at| (keys[at].clone(), count_samples::weight(at))).collect();
        let Some(Sketch::Plain(sketch)) = counts.sketch() else { panic!("a plain sketch") };
        let (record, counters) = count_parts(sketch.params(), &stream, Counters::add);
        let heavy = heavy_record(counts.heavy().unwrap()).bytes();
        let kinds = [7_u16, 3].map(u16::to_le_bytes).concat();
        parm.push([book::text(name.as_bytes()), kinds, record.bytes(), heavy].concat());
        body.extend(counters);
    }
    let meta = book::pairs(&[("spalte", "Bewertung ★")]);
    let file = book::file(8, &book::counted(7, &parm), &meta, &body);
    assert!(groups.to_bytes().unwrap() == file);
    assert!(CountGroups::from_bytes(&file).unwrap().to_bytes().unwrap() == file);
    let none = book::file(8, &book::counted(0, &[]), &book::pairs(&[]), &[]);
    assert_eq!(CountGroups::default().to_bytes().unwrap(), none);
    assert!(CountGroups::from_bytes(&none).unwrap().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_sketch_is_written_by_the_book(w in 1..3000_u64, d in 1..=64_u32, seed: u64, stream in some_stream()) {
        let params = CountMinParams::with_size(w, d).unwrap().with_seed(seed);
        let (record, body) = count_parts(&params, &stream, Counters::add);
        let sketch = with_stream(&CountMin::new(params).unwrap(), &stream);
        prop_assert!(sketch.to_bytes().unwrap() == book::file(3, &record.bytes(), &book::pairs(&[]), &body));
        let (record, body) = count_parts(&params, &stream, Counters::raise);
        let mut sketch = Conservative::new(params).unwrap();
        stream.iter().for_each(|(key, weight)| sketch.add(key, *weight));
        prop_assert!(sketch.to_bytes().unwrap() == book::file(4, &record.bytes(), &book::pairs(&[]), &body));
    }

    #[test]
    fn any_counts_over_ranges_are_written_by_the_book(
        w in 1..100_u64, d in 1..=9_u32, seed: u64, ends: [i64; 2], near: bool,
        stream in prop::collection::vec((any::<u64>(), 0..70_000_u64), 0..40),
    ) {
        let lo = ends[0].min(ends[1]);
        let hi = if near { lo.saturating_add(ends[1] & 1023) } else { ends[0].max(ends[1]) };
        let span = u128::from(hi.wrapping_sub(lo) as u64) + 1;
        let stream: Vec<_> = stream
            .iter()
            .map(|&(number, weight)| (lo.wrapping_add((u128::from(number) % span) as i64), weight))
            .collect();
        let params = RangesParams::with_size(lo, hi, w, d).unwrap().with_seed(seed);
        let (record, body) = range_parts(&params, &stream);
        let mut ranges = Ranges::new(params).unwrap();
        stream.iter().for_each(|&(key, weight)| ranges.add(key, weight).unwrap());
        prop_assert!(ranges.to_bytes().unwrap() == book::file(5, &record.bytes(), &book::pairs(&[]), &body));
    }
}

fn refused(file: &[u8], says: &str) {
    let (result, peak) = peak(|| Counts::from_bytes(file));
    let message = result.unwrap_err().to_string();
    assert!(message.contains(says), "{says:?} is not in {message:?}");
    assert!(peak <= 4 * file.len() + 8192, "{peak} bytes for a file of {}: {message}", file.len());
}

/// Two rows of 30 counters, the first of each at 5.
fn honest() -> (CountRecord, Vec<u8>) {
    let record = CountRecord {
        strategy: 1,
        bytes: 1,
        key_type: 1,
        d: 2,
        w: 30,
        seed: 0,
        total: 5,
        calls: 1,
    };
    let mut numbers = [0; 60];
    (numbers[0], numbers[30]) = (5, 5);
    (record, count_book::body(&numbers, 1))
}

fn filed(kind: u16, parm: &[u8], body: &[u8]) -> Vec<u8> {
    book::file(kind, parm, &book::pairs(&[]), body)
}

#[test]
fn a_count_record_that_lies_is_refused() {
    let (record, body) = honest();
    assert!(Counts::from_bytes(&filed(3, &record.bytes(), &body)).is_ok());
    assert!(Counts::from_bytes(&filed(4, &record.bytes(), &body)).is_ok());
    type Lie = fn(&mut CountRecord);
    let lies: [(Lie, &str); 14] = [
        (|r| r.strategy = 2, "strategy 2 "),
        (|r| r.strategy = 0, "strategy 0 "),
        (|r| r.bytes = 0, "counters of 0 bytes"),
        (|r| r.bytes = 3, "counters of 3 bytes"),
        (|r| r.bytes = 2, "fewer bits"),
        (|r| r.key_type = 3, "key type 3 "),
        (|r| r.d = 0, "not 0"),
        (|r| r.d = 65, "not 65"),
        (|r| r.d = 1, "counts behind"),
        (|r| r.w = 0, "at least 1 column"),
        (|r| r.w = u64::MAX, "2^48"),
        (|r| r.w = 1 << 41, "fewer bits"),
        (|r| r.w = 33, "fewer bits"),
        (|r| r.total = 4, "contradicts"),
    ];
    for (lie, says) in lies {
        let mut record = record.clone();
        lie(&mut record);
        refused(&filed(3, &record.bytes(), &body), says);
        refused(&filed(4, &record.bytes(), &body), says);
    }
    // More than was added is a lie for a plain sketch; of a conservative one a part of it may be missing.
    let more = CountRecord { total: 6, ..record.clone() };
    refused(&filed(3, &more.bytes(), &body), "contradicts");
    assert!(Counts::from_bytes(&filed(4, &more.bytes(), &body)).is_ok());

    let mut two = [0; 60];
    (two[0], two[30]) = (5, 5);
    let wider = CountRecord { bytes: 2, ..record.clone() };
    refused(&filed(3, &wider.bytes(), &count_book::body(&two, 2)), "2 bytes where 1 hold");
    let mut tail = body.clone();
    tail[63] = 1;
    refused(&filed(3, &record.bytes(), &tail), "behind");
    refused(&filed(3, &record.bytes(), &[&body[..], &[0; 64]].concat()), "more bits");
    refused(&filed(3, &[record.bytes(), vec![0]].concat(), &body), "too many");
    refused(&filed(3, &record.bytes()[..39], &body), "too early");
}

#[test]
fn a_range_record_that_lies_is_refused() {
    let params = RangesParams::with_size(0, 200, 10, 2).unwrap();
    let (record, body) = range_parts(&params, &[(0, 3), (200, 300)]);
    assert!(Counts::from_bytes(&filed(5, &record.bytes(), &body)).is_ok());
    type Lie = fn(&mut RangeRecord);
    let lies: [(Lie, &str); 11] = [
        (|r| r.strategy = 9, "strategy 9 "),
        (|r| r.zero = 1, "flags 0x1 "),
        (|r| r.d = 0, "not 0"),
        (|r| r.w = 0, "at least 1 column"),
        (|r| r.w = 1 << 41, "fewer bits"),
        (|r| (r.lo, r.hi) = (1, 0), "1 is above 0"),
        (|r| r.hi = i64::MAX, "too early"),
        (|r| r.hi = 100, "counts behind"),
        (|r| r.total = 302, "contradicts"),
        (|r| r.bytes[0] = 5, "5 bytes"),
        (|r| r.bytes[8] = 4, "4 bytes where 2 hold"),
    ];
    for (lie, says) in lies {
        let mut record = record.clone();
        lie(&mut record);
        refused(&filed(5, &record.bytes(), &body), says);
    }
    refused(&filed(5, &record.bytes(), &body[..body.len() - 64]), "fewer bits");
}

#[test]
fn a_heavy_record_that_lies_is_refused() {
    let honest = HeavyRecord {
        m: 3,
        key_type: 1,
        zeros: [0; 3],
        total: 20,
        calls: 9,
        count: 3,
        keys: vec![(9, 2, b"b".to_vec()), (6, 0, b"a".to_vec()), (5, 5, b"".to_vec())],
    };
    assert!(Counts::from_bytes(&filed(6, &honest.bytes(), &[])).is_ok());
    type Lie = fn(&mut HeavyRecord);
    let lies: [(Lie, &str); 13] = [
        (|r| r.m = 0, "at least 1 place"),
        (|r| r.m = 2, "more than there are places"),
        (|r| r.m = 4, "do not fit the total"),
        (|r| r.key_type = 0, "key type 0 "),
        (|r| r.key_type = 2, "not integers"),
        (|r| r.zeros = [0, 0, 1], "flags"),
        (|r| r.total = 19, "do not fit the total"),
        (|r| r.count = u32::MAX, "too early"),
        (|r| r.count = 2, "do not fit the total"),
        (|r| r.keys.swap(0, 1), "order"),
        (|r| (r.keys[1].0, r.total) = (9, 23), "order"),
        (|r| r.keys[1].2 = b"b".to_vec(), "different keys"),
        (|r| r.keys[2].1 = 6, "cannot be"),
    ];
    for (lie, says) in lies {
        let mut record = honest.clone();
        lie(&mut record);
        refused(&filed(6, &record.bytes(), &[]), says);
    }
    refused(&filed(6, &honest.bytes(), &[0; 64]), "more bits");
    // As long as places are free, every count is exact.
    let mut free = HeavyRecord { m: 4, ..honest };
    free.keys.iter_mut().for_each(|key| key.1 = 0);
    assert!(Counts::from_bytes(&filed(6, &free.bytes(), &[])).is_ok());
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let (record, body) = honest();
    let heavy = HeavyRecord {
        m: 3,
        key_type: 1,
        zeros: [0; 3],
        total: 5,
        calls: 1,
        count: 1,
        keys: vec![(5, 0, b"a".to_vec())],
    };
    let both = |kind: u16, heavy: &HeavyRecord| {
        let parm = [kind.to_le_bytes().to_vec(), record.bytes(), heavy.bytes()].concat();
        filed(7, &parm, &body)
    };
    assert!(Counts::from_bytes(&both(3, &heavy)).is_ok());
    assert!(Counts::from_bytes(&both(4, &heavy)).is_ok());
    refused(&both(1, &heavy), "a Bloom filter among counts");
    refused(&both(6, &heavy), "where a sketch should be");
    refused(&both(7, &heavy), "where a sketch should be");
    refused(&both(8, &heavy), "among counts");
    refused(&both(9, &heavy), "kind 9,");
    refused(&both(3, &HeavyRecord { calls: 2, ..heavy.clone() }), "add calls differs");
    let integers = vec![(5, 0, vec![0; 8])];
    refused(&both(3, &HeavyRecord { key_type: 2, keys: integers, ..heavy.clone() }), "key type");

    let group = |name: &str, kind: u16, parm: &[u8]| {
        [book::text(name.as_bytes()), kind.to_le_bytes().to_vec(), parm.to_vec()].concat()
    };
    let read = |groups: &[Vec<u8>], bodies: usize| {
        let parm = book::counted(groups.len() as u32, groups);
        let file = filed(8, &parm, &body.repeat(bodies));
        CountGroups::from_bytes(&file).map_err(|error| error.to_string())
    };
    let parm = record.bytes();
    let seeded = CountRecord { seed: 3, ..record.clone() }.bytes();
    let typed = CountRecord { key_type: 2, ..record.clone() }.bytes();
    assert!(read(&[group("9", 3, &parm), group("10", 3, &parm)], 2).is_ok());
    let refusal =
        |second: Vec<u8>, bodies| read(&[group("9", 3, &parm), second], bodies).unwrap_err();
    assert!(refusal(group("8", 3, &parm), 2).contains("order"));
    assert!(refusal(group("9", 3, &parm), 2).contains("order"));
    assert!(refusal(group("10", 4, &parm), 2).contains("the kind differs"));
    assert!(refusal(group("10", 2, &parm), 2).contains("among counts"));
    assert!(refusal(group("10", 3, &seeded), 2).contains("seed 3"));
    assert!(refusal(group("10", 3, &typed), 2).contains("integers"));
    assert!(refusal(group("10", 3, &parm), 1).contains("fewer bits"));
    assert!(refusal(group("10", 3, &parm), 3).contains("more bits"));
    for count in [0, 2, u32::MAX] {
        let file = filed(8, &book::counted(count, &[group("9", 3, &parm)]), &body);
        let (result, peak) = peak(|| CountGroups::from_bytes(&file));
        assert!(result.is_err() && peak <= 4 * file.len() + 8192, "{count} groups: {peak} bytes");
    }
}

/// The dearest honest file: nothing but tiny keys.
#[test]
fn memory_stays_near_the_files_length() {
    let mut heavy = Heavy::new(20_000).unwrap();
    (0..20_000_u32).for_each(|i| heavy.add(&i.to_le_bytes()[..3], 1));
    let file = heavy.to_bytes().unwrap();
    let (result, peak) = peak(|| Heavy::from_bytes(&file));
    assert_eq!(result.unwrap().len(), 20_000);
    assert!(peak <= 20 * file.len(), "{peak} bytes for a file of {}", file.len());
}
