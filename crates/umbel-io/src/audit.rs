//! Auditing filters against a whole input: exact counts over distinct keys.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::audit::Counts;
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
    let counts = audit.count(&kept, threads)?;
    Ok((counts[0], members, flow))
}

/// The counts of every group over the whole table that the driver reads, in the order of the groups; and how many groups
/// of the table are not in the file.
pub fn audit_groups(
    groups: &Groups,
    driver: &Driver,
    memory: usize,
) -> Result<(Vec<Counts>, usize, Tally)> {
    let audit = Audit::new(groups.iter().map(|(_, filter)| filter).collect(), memory);
    let names: Vec<&str> = groups.names().collect();
    let unknown = Mutex::new(BTreeSet::new());
    let place =
        |name: &str| names.iter().position(|&found| found == name).map_or(STRANGER, |at| at as u32);
    let (kept, tally) = audit.read(driver, STRANGER, |name| {
        let tag = place(name);
        if tag == STRANGER {
            lock(&unknown).insert(name.to_string());
        }
        tag
    })?;
    let counts = audit.count(&kept, driver.threads)?;
    let unknown = lock(&unknown).len();
    Ok((counts, unknown, tally))
}

/// A row's tag is the place of the filter that has its key as a member. Where filters need the key itself, a further record for
/// each filter that admits it has that filter's place plus the number of filters.
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

    fn count(&self, kept: &[Buckets], threads: usize) -> Result<Vec<Counts>> {
        let next = AtomicUsize::new(0);
        let parts = in_threads(threads, || {
            let mut counts = vec![Counts::default(); self.filters.len()];
            let (mut records, mut keys) = (Vec::new(), DistinctKeys::new(self.filters.len()));
            loop {
                let bucket = next.fetch_add(1, Ordering::Relaxed);
                if bucket >= BUCKETS {
                    return Ok(counts);
                }
                let kept = kept.iter().map(|buckets| buckets.records(bucket));
                self.store.bucket(bucket, kept, &mut records)?;
                keys.fill(&records);
                self.count_keys(&keys, &mut counts)?;
            }
        })?;
        let mut total = vec![Counts::default(); self.filters.len()];
        for counts in parts {
            total.iter_mut().zip(counts).for_each(|(total, counts)| *total += counts);
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
}

impl DistinctKeys {
    fn new(filters: usize) -> DistinctKeys {
        DistinctKeys { hashes: Vec::new(), tagged: vec![Vec::new(); 2 * filters] }
    }

    fn fill(&mut self, records: &[Record]) {
        self.hashes.clear();
        self.tagged.iter_mut().for_each(Vec::clear);
        for key in records.chunk_by(Record::same_key) {
            for record in key {
                if let Some(tagged) = self.tagged.get_mut(record.tag() as usize) {
                    tagged.push(self.hashes.len());
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
