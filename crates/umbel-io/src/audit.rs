//! Auditing filters against a whole input: exact counts over distinct keys.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::audit::Counts;
use umbel::groups::compare_names;
use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Groups, Keys};

use crate::buckets::{BUCKETS, Buckets, Record, Store};
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
    ) -> Result<(Vec<Buckets>, Tally)> {
        let outcome = driver.run(
            || (Buckets::new(), Vec::new()),
            |(buckets, tags), batch| {
                let names = batch.group_names();
                tags.extend(names[tags.len()..].iter().map(|name| tag(name)));
                self.keep(batch, tags, plain, buckets)
            },
            |()| Ok(()),
        )?;
        Ok((outcome.partials.into_iter().map(|((buckets, _), _)| buckets).collect(), outcome.tally))
    }

    fn keep(&self, batch: &Batch, tags: &[u32], plain: u32, buckets: &mut Buckets) -> Result<()> {
        let seed = self.seed.unwrap_or(0);
        for (i, row) in batch.rows().iter().enumerate() {
            let key = batch.key(row);
            let (hash, second) = (xxh3(key, seed), xxh3(key, !seed) as u32);
            let tag = batch.groups().get(i).map_or(plain, |&group| tags[group as usize]);
            buckets.push(Record::new(hash, second, tag), &self.store)?;
            if self.seed.is_none() {
                for (place, _) in self.filters.iter().enumerate().filter(|(_, f)| f.contains(key)) {
                    let tag = (self.filters.len() + place) as u32;
                    buckets.push(Record::new(hash, second, tag), &self.store)?;
                }
            }
        }
        Ok(())
    }

    /// The counts of every filter, and the distinct keys of each of the groups that have none.
    fn count(
        &self,
        kept: &[Buckets],
        threads: usize,
        missing: usize,
    ) -> Result<(Vec<Counts>, Vec<u64>)> {
        let next = AtomicUsize::new(0);
        let parts = in_threads(threads, || {
            let mut counts = vec![Counts::default(); self.filters.len()];
            let mut records = Vec::new();
            let mut keys = DistinctKeys::new(self.filters.len(), missing);
            loop {
                let bucket = next.fetch_add(1, Ordering::Relaxed);
                if bucket >= BUCKETS {
                    return Ok((counts, keys.missing));
                }
                let kept = kept.iter().map(|buckets| buckets.records(bucket));
                self.store.bucket(bucket, kept, &mut records)?;
                keys.fill(&records);
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
        let mut admitted = vec![0; keys.hashes.len().div_ceil(64)];
        for (place, filter) in self.filters.iter().enumerate() {
            if self.seed.is_some() {
                filter.contains_mask(Keys::Hashes(&keys.hashes), &mut admitted)?;
            } else {
                admitted.fill(0);
                let known = &keys.tagged[self.filters.len() + place];
                known.iter().for_each(|&at| admitted[at / 64] |= 1 << (at % 64));
            }
            tally(&mut counts[place], &keys.tagged[place], &admitted, keys.hashes.len());
        }
        Ok(())
    }
}

/// The distinct keys of a bucket.
struct DistinctKeys {
    hashes: Vec<u64>,
    /// For each tag, the keys that have it, by their place among the hashes.
    tagged: Vec<Vec<usize>>,
    /// For each tag beyond, the number of keys that have it, of all buckets so far.
    missing: Vec<u64>,
}

impl DistinctKeys {
    fn new(filters: usize, missing: usize) -> DistinctKeys {
        DistinctKeys {
            hashes: Vec::new(),
            tagged: vec![Vec::new(); 2 * filters],
            missing: vec![0; missing],
        }
    }

    fn fill(&mut self, records: &[Record]) {
        self.hashes.clear();
        self.tagged.iter_mut().for_each(Vec::clear);
        for key in records.chunk_by(Record::same_key) {
            for record in key {
                let tag = record.tag() as usize;
                if let Some(tagged) = self.tagged.get_mut(tag) {
                    tagged.push(self.hashes.len());
                } else if let Some(keys) = self.missing.get_mut(tag - self.tagged.len()) {
                    *keys += 1;
                }
            }
            self.hashes.push(key[0].hash());
        }
    }
}

/// Adds up one filter's answers over the distinct keys of a bucket.
fn tally(counts: &mut Counts, members: &[usize], admitted: &[u64], keys: usize) {
    let is_admitted = |&&at: &&usize| admitted[at / 64] >> (at % 64) & 1 == 1;
    let true_positives = members.iter().filter(is_admitted).count() as u64;
    let all: u64 = admitted.iter().map(|word| u64::from(word.count_ones())).sum();
    let false_positives = all - true_positives;
    *counts += Counts {
        true_positives,
        false_positives,
        false_negatives: members.len() as u64 - true_positives,
        true_negatives: keys as u64 - members.len() as u64 - false_positives,
    };
}
