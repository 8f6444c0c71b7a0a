//! What must hold for any bytes: the parsers refuse them, or give a structure that works and that is written back
//! with the same bytes. Used by the fuzz targets too.

#![allow(dead_code, clippy::unwrap_used)]

use umbel::bloom::{Coding, Partial};
use umbel::distinct::Distinct;
use umbel::format::File;
use umbel::hash::xxh3;
use umbel::similar::{Item, Similar, Space};
use umbel::{Bloom, CountGroups, Counts, Groups, Heavy, Layout, Near, Ranges, Sketch};

/// The bytes as they are, then with correct checksums: a mutation would seldom get past them.
pub fn all_ways(bytes: &[u8], parser: fn(&[u8])) {
    parser(bytes);
    let mut repaired = bytes.to_vec();
    if repair(&mut repaired).is_some() {
        parser(&repaired);
    }
}

pub fn bloom(bytes: &[u8]) {
    if let Ok(filter) = Bloom::from_bytes(bytes) {
        assert_eq!(filter.to_bytes().unwrap(), bytes);
        work(filter);
    }
    if let Ok(filter) = File::from_bytes(bytes.to_vec()).and_then(File::into_bloom) {
        work(filter);
    }
}

pub fn groups(bytes: &[u8]) {
    if let Ok(groups) = Groups::from_bytes(bytes) {
        assert_eq!(groups.to_bytes().unwrap(), bytes);
        assert_eq!(groups.contains(b"key"), groups.which(b"key").next().is_some());
        groups.iter().for_each(|(_, filter)| work(filter.clone()));
    }
    let _ = File::from_bytes(bytes.to_vec()).and_then(File::into_groups);
}

pub fn counts(bytes: &[u8]) {
    if let Ok(counts) = Counts::from_bytes(bytes) {
        assert_eq!(counts.to_bytes().unwrap(), bytes);
        count(counts);
    }
    if let Ok(counts) = File::from_bytes(bytes.to_vec()).and_then(File::into_counts) {
        count(counts);
    }
}

pub fn count_groups(bytes: &[u8]) {
    if let Ok(groups) = CountGroups::from_bytes(bytes) {
        assert_eq!(groups.to_bytes().unwrap(), bytes);
        groups.iter().for_each(|(_, counts)| count(counts.clone()));
    }
    let _ = File::from_bytes(bytes.to_vec()).and_then(File::into_count_groups);
}

/// All that can be asked of counts; their counters may be anything.
fn count(mut counts: Counts) {
    let key = 5_i64.to_le_bytes();
    let known = counts.estimate(&key).unwrap();
    if counts.add(&key, 3).is_ok() {
        assert!(counts.estimate(&key).unwrap() >= known.min(u64::MAX - 3));
    }
    let _ = (counts.bound(), counts.is_saturated());
    match counts.sketch() {
        Some(Sketch::Plain(sketch)) => {
            assert!(sketch.inner_product(sketch).unwrap().bound >= 0.0);
        }
        Some(Sketch::Ranges(ranges)) => ask_ranges(ranges),
        _ => {}
    }
    counts.heavy().into_iter().for_each(ask_heavy);
    let other = counts.clone();
    let conservative = matches!(counts.sketch(), Some(Sketch::Conservative(_)));
    assert_eq!(counts.merge(&other).is_err(), conservative);
}

fn ask_ranges(ranges: &Ranges) {
    let (lo, hi) = (ranges.params().lo(), ranges.params().hi());
    let middle = lo.midpoint(hi);
    for range in [lo..=hi, lo..=middle, middle..=hi, middle..=middle] {
        assert!(ranges.sum(range).unwrap().estimate <= ranges.total());
    }
    for q in [0.0, 0.3, 1.0] {
        let quantile = ranges.quantile(q).unwrap();
        assert!(quantile.is_none_or(|quantile| (lo..=hi).contains(&quantile.value)));
    }
}

fn ask_heavy(heavy: &Heavy) {
    assert!(heavy.top(3).len() <= 3 && heavy.above(0.1).is_ok());
    assert!(heavy.is_saturated() || heavy.missed() <= heavy.bound());
}

pub fn near(bytes: &[u8]) {
    if let Ok(near) = Near::from_bytes(bytes) {
        assert_eq!(near.to_bytes().unwrap(), bytes);
        ask(&near);
        // An exact list finds what it says it holds.
        for x in [0, i64::MAX, -1000] {
            if let Ok(Some(nearest)) = near.nearest(x) {
                assert!(near.contains(nearest.value).unwrap_or(true));
            }
        }
        grow(near);
    }
    if let Ok(near) = File::from_bytes(bytes.to_vec()).and_then(File::into_near) {
        ask(&near);
    }
}

/// All that can be asked of a near structure, whatever its bits are.
fn ask(near: &Near) {
    let mut answers = [false; 3];
    let _ = near.contains_batch(&[1, -7, i64::MAX], &mut answers);
    for x in [0, 12, -1, i64::MIN, i64::MAX] {
        let _ = (near.contains(x), near.contains_within(x, 0.0), near.nearest(x));
    }
    assert!((0.0..=1.0).contains(&near.expected_rate_now()) && !near.why().is_empty());
    let _ = near.overfull().map(|warning| warning.to_string());
}

fn grow(mut near: Near) {
    if let Ok(_new) = near.insert(3) {
        assert!(near.structure().grows() && near.contains(3).unwrap());
        let other = near.clone();
        near.merge(&other).unwrap();
        assert!(near.contains(3).unwrap());
    }
}

pub fn similar(bytes: &[u8]) {
    if let Ok(filter) = Similar::from_bytes(bytes) {
        assert_eq!(filter.to_bytes().unwrap(), bytes);
        compare(filter);
    }
    if let Ok(filter) = File::from_bytes(bytes.to_vec()).and_then(File::into_similar) {
        compare(filter);
    }
}

/// All that can be asked of a similar filter, whatever its bits are.
fn compare(mut filter: Similar) {
    let params = *filter.params();
    let rates = [params.false_positives(), params.false_negatives(), filter.expected_rate_now()];
    assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)), "{rates:?}");
    let _ = filter.overfull().map(|warning| warning.to_string());
    let (zeros, ones) = (vec![0; 64], vec![1.5; 512]);
    let item = match params.space() {
        Space::Hamming { bits } if bits <= 512 => Item::Bits(&zeros[..bits.div_ceil(8) as usize]),
        Space::Cosine { dimension } | Space::Euclid { dimension } if dimension <= 512 => {
            Item::Vector(&ones[..dimension as usize])
        }
        Space::Texts { .. } => Item::Text(b"some words"),
        Space::Sets => Item::Tokens(&[b"a", b"b"]),
        _ => return,
    };
    let shape = params.shape();
    // Samples of very many bands only take their time.
    if shape.bands.saturating_mul(shape.samples) > 4096 {
        return;
    }
    assert!(filter.contains(Item::Text(b" ,")).is_err());
    if filter.insert(item).is_ok() {
        assert!(filter.contains(item).unwrap());
        let other = filter.clone();
        filter.merge(&other).unwrap();
        assert!(filter.contains(item).unwrap());
    }
}

/// As they are, then with a correct checksum behind them.
pub fn distinct(bytes: &[u8]) {
    let mut repaired = bytes.to_vec();
    repaired.extend(xxh3(bytes, 0).to_le_bytes());
    for bytes in [bytes, &repaired] {
        if let Ok(distinct) = Distinct::from_bytes(bytes) {
            assert_eq!(distinct.to_bytes(), bytes);
            assert!(distinct.estimate().is_finite() && distinct.n() >= 1);
        }
    }
}

/// As they are, then with a correct checksum behind them. Gaps may be written in other widths than the writer takes: what is
/// read is what counts.
pub fn partial(bytes: &[u8]) {
    let mut repaired = bytes.to_vec();
    repaired.extend(xxh3(bytes, 0).to_le_bytes());
    for bytes in [bytes, &repaired] {
        let Ok(mut partial) = Partial::from_bytes(bytes) else { continue };
        // Slices of megabytes only take their time.
        if u32::from_le_bytes(bytes[4..8].try_into().unwrap()) > 64 {
            continue;
        }
        for coding in [Coding::Shortest, Coding::Bits] {
            assert_eq!(Partial::from_bytes(&partial.to_bytes(coding)).unwrap(), partial);
        }
        let other = partial.clone();
        partial.merge(&other).unwrap();
    }
}

/// All that can be asked of a filter.
fn work(mut filter: Bloom) {
    let sizing = filter.sizing();
    let rates = [sizing.expected_rate(), sizing.rate_at(0), filter.expected_rate_now()];
    assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)), "{rates:?}");
    assert!(filter.fill() <= 1.0 && filter.estimated_len() >= 0.0);
    let _ = filter.overfull().map(|warning| warning.to_string());
    filter.insert(b"key");
    filter.insert_u64(u64::MAX);
    assert!(filter.contains(b"key") && filter.contains_u64(u64::MAX));
    assert_eq!(filter.shards(3).is_ok(), sizing.layout() == Layout::Blocked);
}

/// Writes the true length and checksums into what looks like a file.
fn repair(file: &mut [u8]) -> Option<()> {
    let len = file.len() as u64;
    file.get_mut(16..24)?.copy_from_slice(&len.to_le_bytes());
    let body = section(file, 3)?.to_vec();
    let sums = body.chunks(1 << 20).flat_map(|chunk| xxh3(chunk, 0).to_le_bytes());
    let sums = sums.collect::<Vec<u8>>();
    let at = number(file, 64 + 32 * 2 + 8)?;
    file.get_mut(at..at.checked_add(sums.len())?)?.copy_from_slice(&sums);
    for place in 0..3 {
        let sum = xxh3(section(file, place)?, 0);
        let at = 64 + 32 * place + 24;
        file[at..at + 8].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = xxh3(&[&file[..56], file.get(64..192)?].concat(), 0);
    file[56..64].copy_from_slice(&sum.to_le_bytes());
    Some(())
}

fn section(file: &[u8], place: usize) -> Option<&[u8]> {
    let (start, len) = (number(file, 64 + 32 * place + 8)?, number(file, 64 + 32 * place + 16)?);
    file.get(start..start.checked_add(len)?)
}

fn number(file: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?)).ok()
}
