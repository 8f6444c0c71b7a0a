//! Auditing filters against a whole input: exact counts over distinct keys.

pub mod parts;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::audit::{Counts, Verdict, judge};
use umbel::bloom::contains_together;
use umbel::groups::compare_names;
use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Groups};

use crate::shelf::{Kept, Shelf, Store};
use crate::threads::in_threads;
use crate::{Batch, Driver, Result, Tally, lock};

/// The tag of a row that makes its key a member of nothing.
const STRANGER: u32 = u32::MAX;

/// The counts of one filter: the keys of `members` were inserted; those of `flow` may hold members too.
pub fn audit_one(
    filter: &Bloom,
    members: &Driver,
    flow: &Driver,
    memory: usize,
) -> Result<(Counts, Tally, Tally)> {
    let audit = Audit::new(vec![filter], memory);
    let threads = flow.threads;
    let (mut kept, members) = audit.read(members, 0, |_| 0)?;
    let (more, flow) = audit.read(flow, STRANGER, |_| STRANGER)?;
    kept.extend(more);
    let (counts, _) = audit.count(&kept, threads, 0)?;
    Ok((counts[0], members, flow))
}

/// What came of the audit of groups.
#[derive(Debug)]
pub struct Audited {
    /// The counts of every group of the file, in their order.
    pub counts: Vec<Counts>,
    /// The groups of the table that have no filter, in their order, with the number of their distinct keys: whoever asks the file for
    /// one of these is told "no".
    pub missing: Vec<(String, u64)>,
    /// Rows of the table.
    pub tally: Tally,
}

/// Counts every group over the whole table that the driver reads.
pub fn audit_groups(groups: &Groups, driver: &Driver, memory: usize) -> Result<Audited> {
    let audit = Audit::new(groups.iter().map(|(_, filter)| filter).collect(), memory);
    let tags: HashMap<String, u32> = groups.names().map(String::from).zip(0..).collect();
    let (tags, first) = (Mutex::new(tags), 2 * groups.len() as u32);
    let (kept, tally) = audit.read(driver, STRANGER, |name| {
        let mut tags = lock(&tags);
        let next = first + (tags.len() - groups.len()) as u32;
        *tags.entry(name.into()).or_insert(next)
    })?;
    let tags = tags.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (counts, keys) = audit.count(&kept, driver.threads, tags.len() - groups.len())?;
    let missing = tags.into_iter().filter(|(_, tag)| *tag >= first);
    let mut missing: Vec<_> =
        missing.map(|(name, tag)| (name, keys[(tag - first) as usize])).collect();
    missing.sort_by(|(a, _), (b, _)| compare_names(a, b));
    Ok(Audited { counts, missing, tally })
}

/// What the counts of one filter come to.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// Whether it keeps its promise.
    pub verdict: Verdict,
    /// Where its rate lies.
    pub interval: (f64, f64),
}

/// Judges filters by their counts, in several threads. Each is judged more mildly, so that all verdicts together keep the confidence;
/// each interval has it for itself.
pub fn judge_all(
    filters: &[&Bloom],
    counts: &[Counts],
    confidence: f64,
    threads: usize,
) -> Result<Vec<Judged>> {
    let each = 1.0 - (1.0 - confidence) / filters.len().max(1) as f64;
    let next = AtomicUsize::new(0);
    let parts = in_threads(threads.min(filters.len()), || {
        let mut judged = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((filter, counts)) = filters.get(at).zip(counts.get(at)) else {
                return Ok(judged);
            };
            let verdict = judge(filter, counts, each);
            judged.push((at, Judged { verdict, interval: counts.interval(confidence) }));
        }
    })?;
    let mut judged: Vec<_> = parts.into_iter().flatten().collect();
    judged.sort_unstable_by_key(|(at, _)| *at);
    Ok(judged.into_iter().map(|(_, judged)| judged).collect())
}

/// A row: the fingerprint of its key, and what it says of the key (a tag).
///
/// The fingerprint is the filter's own hash and 32 bits of an independent one. Two of 10^9 different keys share it with
/// probability 10^-11.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Record {
    hash: u64,
    second: u32,
    tag: u32,
}

/// Rows go to the bucket that the first bits of their hash name, so that all rows of a key meet. There are few enough buckets that their
/// ends stay in the cache while rows come in, and enough that those of some million rows fit the cache when they are looked at.
const BUCKETS: usize = 128;

/// Filters that are asked together, so that the memory for answers has a bound.
const TOGETHER: usize = 16;

/// A row's tag is the place of the filter that has its key as a member. Where filters need the key itself, a further record for
/// each filter that admits it has that filter's place plus the number of filters. Behind these come the groups that have no filter.
struct Audit<'a> {
    filters: Vec<&'a Bloom>,
    /// The seed of the hash that serves all filters; none where filters need the key itself.
    seed: Option<u64>,
    store: Store,
}

impl<'a> Audit<'a> {
    fn new(filters: Vec<&'a Bloom>, memory: usize) -> Audit<'a> {
        let seed = match filters.first().map(|filter| filter.params().strategy()) {
            Some(&Strategy::Xxh3 { seed }) => Some(seed),
            _ => None,
        };
        Audit { filters, seed, store: Store::new(memory) }
    }

    /// Keeps a record of every row. `tag` says, for the name of a group, which filter has it as a member; rows without a group
    /// get `plain`.
    fn read(
        &self,
        driver: &Driver,
        plain: u32,
        tag: impl Fn(&str) -> u32 + Sync,
    ) -> Result<(Vec<Kept<'_, Record>>, Tally)> {
        let seed = self.seed.unwrap_or(0);
        let outcome = driver.run_noting(
            |key| (xxh3(key, seed), xxh3(key, !seed) as u32),
            || {
                let mut shelf = Shelf::new(&self.store);
                shelf.grow(BUCKETS);
                (shelf, Vec::new())
            },
            |(shelf, tags), batch, hashes| {
                let names = batch.group_names();
                tags.extend(names[tags.len()..].iter().map(|name| tag(name)));
                self.keep(batch, hashes, tags, plain, shelf)
            },
            |()| Ok(()),
        )?;
        let kept = outcome.partials.into_iter().map(|((shelf, _), _)| shelf.finish());
        Ok((kept.collect::<Result<_>>()?, outcome.tally))
    }

    fn keep(
        &self,
        batch: &Batch,
        hashes: &[(u64, u32)],
        tags: &[u32],
        plain: u32,
        shelf: &mut Shelf<Record>,
    ) -> Result<()> {
        let bucket = |hash: u64| (hash >> (64 - BUCKETS.trailing_zeros())) as usize;
        for (i, &(hash, second)) in hashes.iter().enumerate() {
            let tag = batch.groups().get(i).map_or(plain, |&group| tags[group as usize]);
            shelf.push(bucket(hash), Record { hash, second, tag })?;
            if self.seed.is_none() {
                let key = batch.key(&batch.row(i));
                for (place, _) in self.filters.iter().enumerate().filter(|(_, f)| f.contains(key)) {
                    let tag = (self.filters.len() + place) as u32;
                    shelf.push(bucket(hash), Record { hash, second, tag })?;
                }
            }
        }
        Ok(())
    }

    /// The counts of every filter, and the distinct keys of each of the groups that have none.
    fn count(
        &self,
        kept: &[Kept<Record>],
        threads: usize,
        missing: usize,
    ) -> Result<(Vec<Counts>, Vec<u64>)> {
        let next = AtomicUsize::new(0);
        let parts = in_threads(threads, || {
            let mut counts = vec![Counts::default(); self.filters.len()];
            let mut keys = DistinctKeys::new(self.filters.len(), missing);
            loop {
                let bucket = next.fetch_add(1, Ordering::Relaxed);
                if bucket >= BUCKETS {
                    return Ok((counts, keys.missing));
                }
                keys.clear();
                for kept in kept {
                    kept.in_memory(bucket).for_each(|records| keys.add(records));
                    kept.in_file(bucket, |records| {
                        keys.add(records);
                        Ok(())
                    })?;
                }
                keys.finish();
                self.count_keys(&keys, &mut counts)?;
            }
        })?;
        let mut total = (vec![Counts::default(); self.filters.len()], vec![0; missing]);
        for (counts, missing) in parts {
            total.0.iter_mut().zip(counts).for_each(|(total, counts)| *total += counts);
            total.1.iter_mut().zip(missing).for_each(|(total, keys)| *total += keys);
        }
        Ok(total)
    }

    fn count_keys(&self, keys: &DistinctKeys, counts: &mut [Counts]) -> Result<()> {
        let words = keys.hashes.len().div_ceil(64);
        let mut admitted = vec![0; words * self.filters.len().min(TOGETHER)];
        for (first, filters) in self.filters.chunks(TOGETHER).enumerate() {
            let admitted = &mut admitted[..words * filters.len()];
            if self.seed.is_some() {
                contains_together(filters, &keys.hashes, admitted)?;
            }
            for i in 0..filters.len() {
                let (place, admitted) = (TOGETHER * first + i, &mut admitted[words * i..][..words]);
                if self.seed.is_none() {
                    admitted.fill(0);
                    let known = &keys.tagged[self.filters.len() + place];
                    known.iter().for_each(|&at| admitted[at as usize / 64] |= 1 << (at % 64));
                }
                tally(&mut counts[place], &keys.tagged[place], admitted, keys.hashes.len());
            }
        }
        Ok(())
    }
}

/// The distinct keys of a bucket.
struct DistinctKeys {
    hashes: Vec<u64>,
    seconds: Vec<u32>,
    /// The number of a key, from 1, in the slot that its hash names or one behind it; 0 where there is none.
    slots: Vec<u32>,
    /// For each tag, the keys that have it, by their number from 0.
    tagged: Vec<Vec<u32>>,
    /// Tags beyond, each with a key.
    beyond: Vec<(u32, u32)>,
    /// For each tag beyond, the number of keys that have it, of all buckets so far.
    missing: Vec<u64>,
}

impl DistinctKeys {
    fn new(filters: usize, missing: usize) -> DistinctKeys {
        DistinctKeys {
            hashes: Vec::new(),
            seconds: Vec::new(),
            slots: vec![0; 1 << 10],
            tagged: vec![Vec::new(); 2 * filters],
            beyond: Vec::new(),
            missing: vec![0; missing],
        }
    }

    /// Forgets the keys, for those of another bucket.
    fn clear(&mut self) {
        self.hashes.clear();
        self.seconds.clear();
        self.slots.fill(0);
        self.tagged.iter_mut().for_each(Vec::clear);
        self.beyond.clear();
    }

    fn add(&mut self, records: &[Record]) {
        self.make_room(records.len());
        for record in records {
            let key = self.number(record);
            if let Some(tagged) = self.tagged.get_mut(record.tag as usize) {
                tagged.push(key);
            } else if record.tag != STRANGER {
                self.beyond.push((record.tag, key));
            }
        }
    }

    /// The number of a record's key, a new one if it has not been met. There must be room for it.
    #[inline(always)]
    fn number(&mut self, record: &Record) -> u32 {
        let mut slot = self.slot(record.hash);
        while let Some(key) = self.slots[slot].checked_sub(1) {
            let at = key as usize;
            if self.hashes[at] == record.hash && self.seconds[at] == record.second {
                return key;
            }
            slot = (slot + 1) % self.slots.len();
        }
        let key = self.hashes.len() as u32;
        self.hashes.push(record.hash);
        self.seconds.push(record.second);
        self.slots[slot] = key + 1;
        key
    }

    /// The first slot for a hash. The bits that name the bucket are the same for all.
    #[inline(always)]
    fn slot(&self, hash: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (hash << BUCKETS.trailing_zeros() >> (64 - bits)) as usize
    }

    /// Makes room for so many keys more: half of the slots stay free.
    fn make_room(&mut self, more: usize) {
        let len = (2 * (self.hashes.len() + more)).next_power_of_two();
        if len <= self.slots.len() {
            return;
        }
        self.slots.clear();
        self.slots.resize(len, 0);
        for (&hash, number) in self.hashes.iter().zip(1..) {
            let mut slot = self.slot(hash);
            while self.slots[slot] != 0 {
                slot = (slot + 1) % len;
            }
            self.slots[slot] = number;
        }
    }

    /// All records have come: each key stays once with each tag.
    fn finish(&mut self) {
        for tagged in &mut self.tagged {
            // Keys are numbered as they come, so that where rows are distinct the numbers ascend.
            if !tagged.is_sorted_by(|a, b| a < b) {
                tagged.sort_unstable();
                tagged.dedup();
            }
        }
        self.beyond.sort_unstable();
        self.beyond.dedup();
        for (tag, _) in &self.beyond {
            self.missing[*tag as usize - self.tagged.len()] += 1;
        }
    }
}

/// Adds up one filter's answers over the distinct keys of a bucket.
fn tally(counts: &mut Counts, members: &[u32], admitted: &[u64], keys: usize) {
    let admits = |&at: &u32| admitted[at as usize / 64] >> (at % 64) & 1;
    let true_positives: u64 = members.iter().map(admits).sum();
    let all: u64 = admitted.iter().map(|word| u64::from(word.count_ones())).sum();
    let false_positives = all - true_positives;
    *counts += Counts {
        true_positives,
        false_positives,
        false_negatives: members.len() as u64 - true_positives,
        true_negatives: keys as u64 - members.len() as u64 - false_positives,
    };
}
