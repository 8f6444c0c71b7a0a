//! Auditing filters against a whole input: exact counts over distinct keys.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use umbel::audit::Counts;
use umbel::hash::{Strategy, xxh3};
use umbel::{Bloom, Groups, Keys};

use crate::buckets::{BUCKETS, Buckets, Record, Store};
use crate::threads::in_threads;
use crate::{Batch, Driver, Error, Result, Tally, lock};

/// The tag of a row that makes its key a member of nothing.
const STRANGER: u64 = u64::MAX;
/// Groups whose answers fit in a record, for strategies that need the key itself.
const MOST_SEEDED: usize = 64;

/// The counts of one filter: the keys of `members` were inserted; those of `flow` may hold members too.
pub fn audit_one(
    filter: &Bloom,
    members: &Driver,
    flow: &Driver,
    memory: usize,
) -> Result<(Counts, Tally, Tally)> {
    let audit = Audit::new(vec![filter], memory)?;
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
    let audit = Audit::new(groups.iter().map(|(_, filter)| filter).collect(), memory)?;
    let names: Vec<&str> = groups.names().collect();
    let unknown = Mutex::new(BTreeSet::new());
    let place =
        |name: &str| names.iter().position(|&found| found == name).map_or(STRANGER, |at| at as u64);
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

struct Audit<'a> {
    filters: Vec<&'a Bloom>,
    /// The seed of the hash that serves all filters; none where a filter needs the key itself.
    seed: Option<u64>,
    store: Store,
}

impl<'a> Audit<'a> {
    fn new(filters: Vec<&'a Bloom>, memory: usize) -> Result<Audit<'a>> {
        let seed = match filters.first().map(|filter| filter.params().strategy()) {
            Some(&Strategy::Xxh3 { seed }) => Some(seed),
            _ => None,
        };
        if seed.is_none() && filters.len() > MOST_SEEDED {
            return Err(Error::Other(format!(
                "an audit of more than {MOST_SEEDED} groups needs filters with the xxh3 hash; these are {}",
                filters.len()
            )));
        }
        Ok(Audit { filters, seed, store: Store::new(memory) })
    }

    /// Keeps a record of every row. `tag` says, for the name of a group, which filter has it as a member; rows without a group
    /// get `plain`.
    fn read(
        &self,
        driver: &Driver,
        plain: u64,
        tag: impl Fn(&str) -> u64 + Sync,
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

    fn keep(&self, batch: &Batch, tags: &[u64], plain: u64, buckets: &mut Buckets) -> Result<()> {
        let seed = self.seed.unwrap_or(0);
        for (i, row) in batch.rows().iter().enumerate() {
            let key = batch.key(row);
            let record = Record {
                hash: xxh3(key, seed),
                second: xxh3(key, !seed),
                tag: batch.groups().get(i).map_or(plain, |&group| tags[group as usize]),
                answers: if self.seed.is_some() { 0 } else { self.answers(key) },
            };
            buckets.push(record, &self.store)?;
        }
        Ok(())
    }

    /// One bit for each filter, asked with the key itself.
    fn answers(&self, key: &[u8]) -> u64 {
        self.filters
            .iter()
            .rev()
            .fold(0, |bits, filter| bits << 1 | u64::from(filter.contains(key)))
    }

    fn count(&self, kept: &[Buckets], threads: usize) -> Result<Vec<Counts>> {
        let next = AtomicUsize::new(0);
        let parts = in_threads(threads, || {
            let mut counts = vec![Counts::default(); self.filters.len()];
            loop {
                let bucket = next.fetch_add(1, Ordering::Relaxed);
                if bucket >= BUCKETS {
                    return Ok(counts);
                }
                self.count_bucket(&self.store.bucket(bucket, kept)?, &mut counts)?;
            }
        })?;
        let mut total = vec![Counts::default(); self.filters.len()];
        for counts in parts {
            total.iter_mut().zip(counts).for_each(|(total, counts)| *total += counts);
        }
        Ok(total)
    }

    /// Counts the distinct keys of a bucket, whose records are sorted.
    fn count_bucket(&self, records: &[Record], counts: &mut [Counts]) -> Result<()> {
        let mut hashes = Vec::new();
        let mut answers = Vec::new();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.filters.len()];
        for key in records.chunk_by(|a, b| (a.hash, a.second) == (b.hash, b.second)) {
            for same in key.chunk_by(|a, b| a.tag == b.tag) {
                if let Some(members) = members.get_mut(same[0].tag as usize) {
                    members.push(hashes.len());
                }
            }
            hashes.push(key[0].hash);
            answers.push(key[0].answers);
        }
        let mut admitted = vec![0; hashes.len().div_ceil(64)];
        for (i, filter) in self.filters.iter().enumerate() {
            if self.seed.is_some() {
                filter.contains_mask(Keys::Hashes(&hashes), &mut admitted)?;
            } else {
                admitted.fill(0);
                for (at, answers) in answers.iter().enumerate() {
                    admitted[at / 64] |= (answers >> i & 1) << (at % 64);
                }
            }
            tally(&mut counts[i], &members[i], &admitted, hashes.len());
        }
        Ok(())
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
