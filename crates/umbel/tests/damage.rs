//! Damaged files and files that lie: an error that names the fault, never an answer, never a panic, never more
//! memory than the file itself justifies.

#![allow(clippy::unwrap_used)]

mod support;

use support::book::{self, Record};
use support::peak::{Counting, largest, peak};
use support::{count_samples, samples};
use umbel::format::File;
use umbel::{Bloom, CountGroups, Counts, Groups};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Reader = fn(&[u8]) -> Result<(), umbel::Error>;

const BLOOM: Reader = |bytes| Bloom::from_bytes(bytes).map(drop);
const GROUPS: Reader = |bytes| Groups::from_bytes(bytes).map(drop);
/// The bits are not checked.
const UNVERIFIED: Reader = |bytes| File::from_bytes(bytes.to_vec())?.into_bloom().map(drop);
const UNVERIFIED_GROUPS: Reader = |bytes| File::from_bytes(bytes.to_vec())?.into_groups().map(drop);

const COUNTS: Reader = |bytes| Counts::from_bytes(bytes).map(drop);
const UNVERIFIED_COUNTS: Reader = |bytes| File::from_bytes(bytes.to_vec())?.into_counts().map(drop);
const COUNT_GROUPS: Reader = |bytes| CountGroups::from_bytes(bytes).map(drop);
const UNVERIFIED_COUNT_GROUPS: Reader =
    |bytes| File::from_bytes(bytes.to_vec())?.into_count_groups().map(drop);

/// Small files, with the reader that checks all of it and the one that leaves the bits alone.
fn files() -> Vec<(Vec<u8>, Reader, Reader)> {
    let mut filters = samples::blooms();
    let mut file = |name: &str| {
        let place = filters.iter().position(|(found, _)| found == name).unwrap();
        filters.swap_remove(place).1.to_bytes().unwrap()
    };
    let groups = samples::groups().to_bytes().unwrap();
    let mut files = vec![
        (file("blocked"), BLOOM, UNVERIFIED),
        (file("metadata"), BLOOM, UNVERIFIED), // classic, 959 bits
        (file("classic-murmur2"), BLOOM, UNVERIFIED),
        (file("intersection"), BLOOM, UNVERIFIED),
        (groups, GROUPS, UNVERIFIED_GROUPS),
        (count_samples::groups().to_bytes().unwrap(), COUNT_GROUPS, UNVERIFIED_COUNT_GROUPS),
    ];
    // One of every kind, and counters of every width.
    let wanted =
        ["count-min-seed", "count-min-wide", "conservative", "ranges", "heavy", "ranges-heavy"];
    let mut counts = count_samples::all();
    counts.retain(|(name, _)| wanted.contains(name));
    assert_eq!(counts.len(), wanted.len());
    files.extend(counts.iter().map(|(_, c)| (c.to_bytes().unwrap(), COUNTS, UNVERIFIED_COUNTS)));
    files
}

/// Where the section of this place in the table begins.
fn section(file: &[u8], place: usize) -> usize {
    let at = 64 + 32 * place + 8;
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize
}

#[test]
fn every_flipped_bit_is_an_error() {
    for (mut file, verified, unverified) in files() {
        assert!(verified(&file).is_ok() && unverified(&file).is_ok());
        let sums = section(&file, 2);
        for bit in 0..8 * file.len() {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(verified(&file).is_err(), "bit {bit}");
            assert!(bit / 8 >= sums || unverified(&file).is_err(), "unverified, bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_truncation_and_every_addition_is_an_error() {
    for (mut file, verified, unverified) in files() {
        for len in 0..file.len() {
            assert!(verified(&file[..len]).is_err(), "{len} bytes");
            assert!(unverified(&file[..len]).is_err(), "unverified, {len} bytes");
        }
        for added in 1..130 {
            file.push(0);
            assert!(verified(&file).is_err() && unverified(&file).is_err(), "{added} bytes more");
        }
    }
}

/// The same through a mapped file: no bus error, and the message names the file.
#[test]
fn a_mapped_file_that_was_cut_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.umbel");
    let whole = samples::blooms().remove(0).1.to_bytes().unwrap();
    for len in (0..whole.len()).rev() {
        std::fs::write(&path, &whole[..len]).unwrap();
        for result in [Bloom::open(&path), Bloom::open_unverified(&path), Bloom::load(&path)] {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("cut.umbel"), "{len}: {message}");
        }
    }
    assert!(Bloom::open(folder.path()).is_err(), "a folder");
    assert!(Bloom::open(folder.path().join("absent")).is_err());
}

/// The report says where the damage is.
#[test]
fn damage_is_found_in_its_chunk() {
    let mut filter =
        Bloom::with(umbel::Params::new(umbel::Sizing::blocked_with(1, 4 * (8 << 20)).unwrap()))
            .unwrap();
    filter.insert(b"key");
    let mut file = filter.to_bytes().unwrap();
    let damaged = section(&file, 3) + (2 << 20) + 12_345;
    file[damaged] ^= 1;
    let file = File::from_bytes(file).unwrap();
    let bad: Vec<_> =
        (0..file.chunks()).filter(|&chunk| file.verify_chunk(chunk).is_err()).collect();
    assert_eq!(bad, [2]);
    let first = damaged - 12_345;
    let message = file.verify().unwrap_err().to_string();
    assert!(message.contains(&format!("bytes {first} to {}", first + (1 << 20) - 1)), "{message}");
}

fn honest() -> Record {
    Record {
        strategy: 1,
        layout: 1,
        key_type: 1,
        k: 3,
        m: 700,
        n: 10,
        inserted: 0,
        flags: 0,
        seeds: vec![0],
    }
}

fn refusal(file: &[u8]) -> String {
    let ((result, peak), block) = largest(|| peak(|| Bloom::from_bytes(file)));
    let message = result.unwrap_err().to_string();
    assert!(peak <= 4 * file.len() + 4096, "{peak} bytes for a file of {}: {message}", file.len());
    assert!(block <= file.len(), "a block of {block} bytes for a file of {}", file.len());
    message
}

fn refused(file: &[u8], says: &str) {
    let message = refusal(file);
    assert!(message.contains(says), "{says:?} is not in {message:?}");
}

/// The file of a filter record with two lines, all checksums right.
fn filed(record: &Record) -> Vec<u8> {
    book::file(1, &record.bytes(), &book::pairs(&[]), &[0; 128])
}

#[test]
fn a_record_that_lies_is_refused() {
    assert!(Bloom::from_bytes(&filed(&honest())).is_ok());
    type Lie = fn(&mut Record);
    let lies: [(Lie, &str); 21] = [
        (|r| r.m = 1 << 48, "fewer bits than its parameters say"),
        (|r| r.m = (1 << 48) + 1, "2^48"),
        (|r| r.m = u64::MAX, "2^48"),
        (|r| r.m = 0, "at least 1 bit"),
        (|r| r.m = 1025, "fewer bits"),
        (|r| r.m = 512, "more bits"),
        (|r| r.n = 0, "0 keys"),
        (|r| r.k = 0, "not 0"),
        (|r| r.k = 65, "not 65"),
        (|r| r.k = u32::MAX, "not 4294967295"),
        (|r| r.strategy = 0, "strategy 0 "),
        (|r| r.strategy = 6, "strategy 6 "),
        (|r| r.layout = 3, "layout 3 "),
        (|r| r.layout = 2, "with 3 probes"),
        (|r| r.key_type = 9, "key type 9 "),
        (|r| r.flags = 2, "flags 0x2 "),
        (|r| (r.flags, r.inserted) = (1, 5), "both unknown and given"),
        (|r| r.seeds = vec![], "not 0"),
        (|r| r.seeds = vec![1, 2], "not 2"),
        (|r| (r.strategy, r.seeds) = (2, vec![1, 2, 1 << 32]), "2^32"),
        (|r| (r.strategy, r.seeds) = (3, vec![1, 2]), "2 seeds were given"),
    ];
    for (lie, says) in lies {
        let mut record = honest();
        lie(&mut record);
        refused(&filed(&record), says);
    }
}

#[test]
fn a_blocked_record_that_lies_is_refused() {
    let blocked = Record { layout: 2, k: 8, m: 1024, ..honest() };
    assert!(Bloom::from_bytes(&filed(&blocked)).is_ok());
    refused(&filed(&Record { m: 1000, ..blocked.clone() }), "1000 is not a multiple");
    refused(&filed(&Record { strategy: 2, seeds: vec![0; 8], ..blocked }), "murmur2");
}

/// Murmur cannot reach beyond 2^31 bits, and no file may make it try.
#[test]
fn a_32_bit_hash_with_more_bits_than_it_reaches_is_refused() {
    for (strategy, name) in [(2, "murmur2"), (3, "murmur3"), (5, "polynomial-wrap")] {
        let seeds = vec![0, 1, 2];
        let file = filed(&Record { strategy, m: (1 << 31) + 1, seeds, ..honest() });
        refused(&file, name);
        refused(&file, "2147483649");
    }
}

#[test]
fn counts_that_lie_are_refused() {
    let mut parm = honest().bytes();
    book::put(&mut parm, 36, &u32::MAX.to_le_bytes());
    refused(&book::file(1, &parm, &book::pairs(&[]), &[0; 128]), "4294967295 seeds");

    let meta = |bytes: &[u8]| refusal(&book::file(1, &honest().bytes(), bytes, &[0; 128]));
    assert!(meta(&book::counted(u32::MAX, &[])).contains("ends too early"));
    assert!(meta(&book::counted(1, &[u32::MAX.to_le_bytes().to_vec()])).contains("too early"));
    assert!(meta(&[0; 5]).contains("1 bytes too many"));
    assert!(meta(&[0; 3]).contains("too early"));
    assert!(meta(&book::pairs(&[("b", ""), ("a", "")])).contains("order"));
    assert!(meta(&book::pairs(&[("a", ""), ("a", "")])).contains("order"));
    assert!(meta(&book::counted(1, &[book::text(b"\xff"), book::text(b"")])).contains("UTF-8"));
    assert!(meta(&[]).contains("too early"));

    for count in [0, 2, u32::MAX] {
        let group = [book::text(b"1"), honest().bytes()].concat();
        let file = book::file(2, &book::counted(count, &[group]), &book::pairs(&[]), &[0; 128]);
        let (result, peak) = peak(|| Groups::from_bytes(&file));
        assert!(result.is_err() && peak <= 4 * file.len() + 4096, "{count} groups: {peak} bytes");
    }
}

#[test]
fn groups_that_lie_are_refused() {
    let parm = |groups: &[(&[u8], &Record)]| {
        let group = |(name, record): &(&[u8], &Record)| [book::text(name), record.bytes()].concat();
        book::counted(groups.len() as u32, &groups.iter().map(group).collect::<Vec<_>>())
    };
    let read = |groups: &[(&[u8], &Record)]| {
        Groups::from_bytes(&book::file(2, &parm(groups), &book::pairs(&[]), &[0; 256]))
            .map_err(|error| error.to_string())
    };
    let (one, seeded) = (honest(), Record { seeds: vec![9], ..honest() });
    let integers = Record { key_type: 2, ..honest() };
    assert!(read(&[(b"9", &one), (b"10", &one)]).is_ok());
    assert!(read(&[(b"10", &one), (b"9", &one)]).unwrap_err().contains("order"));
    assert!(read(&[(b"9", &one), (b"9", &one)]).unwrap_err().contains("order"));
    assert!(read(&[(b"9", &one), (b"\xff", &one)]).unwrap_err().contains("UTF-8"));
    assert!(read(&[(b"9", &one), (b"10", &seeded)]).unwrap_err().contains("seed 9"));
    assert!(read(&[(b"9", &one), (b"10", &integers)]).unwrap_err().contains("integers"));
    assert!(read(&[(b"9", &one)]).unwrap_err().contains("more bits"));
}

#[test]
fn a_header_that_lies_is_refused() {
    let file = filed(&honest());
    let lie = |offset: usize, bytes: &[u8], says: &str| {
        let mut file = file.clone();
        book::put(&mut file, offset, bytes);
        book::seal(&mut file);
        refused(&file, says);
    };
    lie(0, b"\x89UMBEL\n\n", "not an umbel file"); // what a text-mode copy leaves
    lie(8, &2u16.to_le_bytes(), "version 2;");
    lie(8, &0u16.to_le_bytes(), "version 0;");
    lie(10, &77u16.to_le_bytes(), "kind 77,");
    lie(10, &2u16.to_le_bytes(), "by group, not a Bloom filter");
    lie(12, &0x40u32.to_le_bytes(), "flags 0x40");
    lie(16, &u64::MAX.to_le_bytes(), "18446744073709551615 bytes");
    lie(24, &5u32.to_le_bytes(), "5 sections");
    lie(28, &[1], "header is damaged");
    lie(55, &[1], "header is damaged");
}

#[test]
fn a_table_that_lies_is_refused() {
    let file = filed(&honest());
    let lie = |place: usize, offset: usize, bytes: &[u8], says: &str| {
        let mut file = file.clone();
        book::put(&mut file, 64 + 32 * place + offset, bytes);
        book::seal(&mut file);
        refused(&file, says);
    };
    lie(1, 0, b"XTRA", "\"XTRA\"");
    lie(2, 4, &[1], "SUMS");
    for place in 0..4 {
        let honest = section(&file, place) as u64;
        lie(place, 8, &u64::MAX.to_le_bytes(), "damaged");
        lie(place, 8, &(honest + 64).to_le_bytes(), "damaged");
        lie(place, 8, &(honest - 64).to_le_bytes(), "damaged");
        lie(place, 16, &u64::MAX.to_le_bytes(), "damaged");
        lie(place, 16, &(1u64 << 45).to_le_bytes(), "damaged");
        lie(place, 16, &(u64::MAX - honest).to_le_bytes(), "damaged");
    }
    lie(0, 24, &[9], "PARM");
    lie(1, 24, &[9], "META");
    lie(2, 24, &[9], "SUMS");
    lie(3, 24, &[9], "checksums do not fit");
    lie(3, 16, &64u64.to_le_bytes(), "do not fill the file");
}

/// Counts over the bits would be wrong, and two files of the same content would differ.
#[test]
fn a_bit_behind_the_last_is_refused() {
    for bit in 700..1024 {
        let mut body = [0; 128];
        body[bit / 8] |= 1 << (bit % 8);
        refused(&book::file(1, &honest().bytes(), &book::pairs(&[]), &body), "behind");
    }
}

#[test]
fn a_byte_between_sections_is_refused() {
    let file = filed(&honest());
    let ends = [192 + 48, 256 + 4, 320 + 8];
    for (end, next) in ends.into_iter().zip([256, 320, 384]) {
        for at in end..next {
            let mut file = file.clone();
            file[at] = 1;
            refused(&file, "header is damaged");
        }
    }
}

/// The dearest honest files: nothing but tiny texts, nothing but tiny groups. No block is larger than the file.
#[test]
fn memory_stays_near_the_files_length() {
    let texts: Vec<_> = (10_000..30_000).map(|i| i.to_string()).collect();
    let pairs: Vec<_> = texts.iter().map(|text| (text.as_str(), "")).collect();
    let file = book::file(1, &honest().bytes(), &book::pairs(&pairs), &[0; 128]);
    let read = || Bloom::from_bytes(&file).unwrap();
    assert_eq!(read().metadata().iter().len(), 20_000);
    // The file's bytes, and the texts.
    let (all, block) = (peak(read).1, largest(read).1);
    assert!(all <= 2 * file.len() && block <= file.len(), "{all}, {block} for {}", file.len());

    let tiny = Record { m: 1, ..honest() };
    let groups: Vec<_> =
        texts.iter().map(|name| [book::text(name.as_bytes()), tiny.bytes()].concat()).collect();
    let body = vec![0; 64 * groups.len()];
    let file = book::file(2, &book::counted(20_000, &groups), &book::pairs(&[]), &body);
    let read = || Groups::from_bytes(&file).unwrap();
    assert_eq!(read().len(), 20_000);
    let (all, block) = (peak(read).1, largest(read).1);
    assert!(all <= 4 * file.len() && block <= file.len(), "{all}, {block} for {}", file.len());

    let (result, peak) = self::peak(|| Bloom::from_bytes(&filed(&honest())).map(drop));
    assert!(result.is_ok() && peak < 4096, "{peak}");
}
