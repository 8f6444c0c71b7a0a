//! d3: distance-sensitive filters, right and wrong answers against distance (Kirsch and Mitzenmacher, Distance-Sensitive Bloom Filters, 2006).

use anyhow::Result;
use umbel::hash::xxh3_u64;
use umbel::similar::{Item, Params, Promise, Shape, Similar, Space};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, whole};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows, cells};

pub const D3: Experiment = Experiment {
    id: "d3",
    title: "Distance-sensitive filters: answers against distance",
    columns: &["filter", "n", "bits_per_item", "repetition", "differing", "asked", "yes"],
    key: 2,
    engines: false,
    measure,
    show,
};

const LENGTH: u32 = 1024;
const SPACE: Space = Space::Hamming { bits: LENGTH };
const CLOSE: f64 = 0.05;
const FAR: f64 = 0.5;
/// Bits in which questions differ from a stored string; in the last case, from every one.
const DIFFERING: [usize; 12] = [0, 25, 51, 77, 102, 128, 154, 179, 205, 256, 358, 512];

/// A filter as the published formulas size it.
struct Published {
    n: u64,
    shape: Shape,
}

const fn published(n: u64, samples: u32, bands: u32, bits: u64, threshold: u32) -> Published {
    Published { n, shape: Shape { bands, samples, threshold, probes: 1, bits, width: 0.0 } }
}

const PUBLISHED: [Published; 2] =
    [published(1000, 16, 32, 8192, 9), published(10_000, 20, 48, 65_536, 14)];
const FILTERS: [&str; 2] = ["Kirsch–Mitzenmacher", "umbel, 1 % on both sides"];

fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    let asked = lab.amount(20_000, 200);
    for Published { n, shape } in &PUBLISHED[..lab.amount(2, 1)] {
        for filter in FILTERS {
            let params = match filter {
                "Kirsch–Mitzenmacher" => Params::with_shape(SPACE, *n, CLOSE, FAR, *shape)?,
                _ => Params::new(SPACE, *n, &Promise::new(CLOSE, FAR))?,
            };
            book.case(&[filter, &n.to_string()], || {
                let mut rows = Vec::new();
                for repetition in 1..=lab.repetitions() as u64 {
                    rows.extend(one(params.with_seed(repetition), repetition, asked)?);
                }
                Ok(rows)
            })?;
        }
    }
    Ok(())
}

/// One filter full of strings, asked at each distance from a stored one.
fn one(params: Params, repetition: u64, asked: u64) -> Result<Vec<Vec<String>>> {
    let n = params.n();
    let mut filter = Similar::new(params)?;
    let base = random(repetition);
    let stored: Vec<Vec<u8>> = (0..n).map(|i| halved(&base, repetition << 32 | i)).collect();
    for item in &stored {
        filter.insert(Item::Bits(item))?;
    }
    let mut rows = Vec::new();
    for differing in DIFFERING {
        let mut yes = 0;
        for question in 0..asked {
            let from = &stored[(xxh3_u64(question, repetition) % n) as usize];
            let item = match differing {
                512 => far(&base, repetition << 32 | question),
                _ => changed(from, differing, question << 16 | differing as u64),
            };
            yes += u64::from(filter.contains(Item::Bits(&item))?);
        }
        rows.push(cells(&[&params.bits_per_item(), &repetition, &differing, &asked, &yes]));
    }
    Ok(rows)
}

fn random(seed: u64) -> Vec<u8> {
    (0..u64::from(LENGTH) / 64).flat_map(|word| xxh3_u64(word, seed).to_le_bytes()).collect()
}

/// The base with half of the bits of every two bytes changed. Random strings would lie nearer than half of the bits to every second question.
fn halved(base: &[u8], seed: u64) -> Vec<u8> {
    let word = |(place, word): (u64, &[u8; 2])| {
        let mut bits = [0; 2];
        flip(&mut bits, 8, seed << 6 ^ place);
        [word[0] ^ bits[0], word[1] ^ bits[1]]
    };
    (0..).zip(base.as_chunks().0).flat_map(word).collect()
}

/// The base with all bits of some pairs of bytes changed: it differs from all that are halved in exactly half of the bits.
fn far(base: &[u8], seed: u64) -> Vec<u8> {
    let pairs = xxh3_u64(seed, 1);
    let byte =
        |(place, byte): (usize, &u8)| if pairs >> (place / 2) & 1 == 1 { !byte } else { *byte };
    base.iter().enumerate().map(byte).collect()
}

/// The same string with so many bits changed.
fn changed(from: &[u8], differing: usize, seed: u64) -> Vec<u8> {
    let mut item = from.to_vec();
    flip(&mut item, differing, seed);
    item
}

/// Changes so many bits, chosen without repetition.
fn flip(bytes: &mut [u8], differing: usize, seed: u64) {
    let mut places: Vec<usize> = (0..8 * bytes.len()).collect();
    for i in 0..differing {
        let other = i + (xxh3_u64(i as u64, seed) % (places.len() - i) as u64) as usize;
        places.swap(i, other);
        bytes[places[i] / 8] ^= 128 >> (places[i] % 8);
    }
}

impl Published {
    /// The share of questions in so many bits from a stored string that are answered yes: P[Bin(k, c + (1 - c) f) ≥ tau], with c the chance that
    /// all samples of a band agree and f that another string, which differs in half of the bits, has set the bit.
    fn theory(&self, differing: f64) -> f64 {
        let Shape { bands, threshold, bits, .. } = self.shape;
        let one = self.agreeing(f64::from(LENGTH) / 2.0);
        let chance = 1.0 - (1.0 - (one + (1.0 - one) / bits as f64)).powf(self.n as f64);
        // What is far from all is no stored string that was changed: the chance of a band to agree with any is in `chance`.
        let agree = if differing == 512.0 { 0.0 } else { self.agreeing(differing) };
        1.0 - below(threshold, bands, agree + (1.0 - agree) * chance)
    }

    /// The chance of a band to agree where exactly so many of the bits differ: its samples are drawn without repetition.
    fn agreeing(&self, differing: f64) -> f64 {
        let left = |i: u32| f64::from(LENGTH - i);
        (0..self.shape.samples).map(|i| 1.0 - differing / left(i)).product()
    }
}

/// P[Bin(k, p) < tau].
fn below(tau: u32, k: u32, p: f64) -> f64 {
    if p >= 1.0 {
        return 0.0;
    }
    let mut term = (1.0 - p).powi(k as i32);
    let terms = (0..tau).map(|hits| {
        let this = term;
        term *= f64::from(k - hits) / f64::from(hits + 1) * p / (1.0 - p);
        this
    });
    terms.sum()
}

/// Percent of all questions at a distance, over all filters, and of the single filters.
fn share(rows: &Rows, differing: usize) -> Option<f64> {
    let rows = rows.with("differing", &differing.to_string());
    let (yes, asked): (f64, f64) =
        (rows.numbers("yes").iter().sum(), rows.numbers("asked").iter().sum());
    (asked > 0.0).then_some(100.0 * yes / asked)
}

fn show(rows: &Rows) -> Section {
    let measured = |published: &&Published| !rows.with("n", &published.n.to_string()).is_empty();
    let shown: Vec<&Published> = PUBLISHED.iter().filter(measured).collect();
    let sentences: Vec<String> =
        shown.iter().filter_map(|published| published.sentence(rows)).collect();
    Section {
        lead: vec![LEAD.into()],
        plots: shown.iter().map(|published| published.plot(rows)).collect(),
        tables: vec![table(rows, &shown)],
        result: format!(
            "Kirsch and Mitzenmacher's filters err about as their formulas say: {}.",
            sentences.join("; ")
        ),
        ..Section::default()
    }
}

const LEAD: &str = "Strings of 1024 bits; close is a difference of at most 5 % of the bits from a stored one, far half of them from every one. (Questions at random would lie nearer than that to half of the stored strings.) The published formulas give k bands of t sampled bits, each hashed to one of m bits, and answer close when tau bands are found: n = 1000, t = 16, k = 32, m = 8192, tau = 9; n = 10 000, t = 20, k = 48, m = 65 536, tau = 14. Theory is theirs with one change, on both sides: exactly d of the 1024 bits differ and the t bits of a band are drawn without repetition, so that a band agrees with chance (1 - d/1024)(1 - d/1023) … of t factors, instead of (1 - d/1024) to the power of t. The same shapes were filled here; beside them stands what `umbel similar` takes for 1 % on both sides, which counts on no chance hits of other strings.";

fn table(rows: &Rows, shown: &[&Published]) -> Grid {
    let mut table = Grid::new(
        "Wrong answers in percent, all filters together",
        &[
            "n",
            "filter",
            "bits an item",
            "missed at .05: measured",
            "theory",
            "wrong yes at .5: measured",
            "theory",
        ],
    );
    for published in shown {
        for filter in FILTERS {
            let rows = published.rows(rows, filter);
            let Some((missed, wrong)) = errors(&rows) else { continue };
            let theory = match filter == FILTERS[0] {
                true => published.errors().map(plain),
                false => ["≤ 1".into(), "≤ 1".into()],
            };
            let bits = plain(rows.number("bits_per_item").unwrap_or(0.0));
            let [to_miss, to_err] = theory;
            let n = whole(published.n as f64);
            table.push(vec![n, filter.into(), bits, plain(missed), to_miss, plain(wrong), to_err]);
        }
    }
    table
}

/// Percent of close strings that are missed, and of far ones that are called close.
fn errors(rows: &Rows) -> Option<(f64, f64)> {
    Some((100.0 - share(rows, 51)?, share(rows, 512)?))
}

impl Published {
    fn rows(&self, rows: &Rows, filter: &str) -> Rows {
        rows.with("n", &self.n.to_string()).with("filter", filter)
    }

    /// What the formulas say of the same, in percent.
    fn errors(&self) -> [f64; 2] {
        [100.0 * (1.0 - self.theory(51.0)), 100.0 * self.theory(512.0)]
    }

    fn sentence(&self, rows: &Rows) -> Option<String> {
        let (missed, wrong) = errors(&self.rows(rows, FILTERS[0]))?;
        let [to_miss, to_err] = self.errors().map(plain);
        Some(format!(
            "n = {}: {} % missed (theory {to_miss}), {} % wrong yes (theory {to_err})",
            whole(self.n as f64),
            plain(missed),
            plain(wrong)
        ))
    }

    fn plot(&self, rows: &Rows) -> Plot {
        let curve = (0..=180)
            .map(|i| 2.0 * f64::from(i))
            .map(|d| (d / f64::from(LENGTH), 100.0 * self.theory(d)));
        let mut series =
            vec![Series::new("theory of Kirsch and Mitzenmacher", Whose::Theory, curve)];
        series.extend(FILTERS.map(|filter| {
            let rows = self.rows(rows, filter);
            let point = |&d: &usize| Some((d as f64 / f64::from(LENGTH), share(&rows, d)?));
            Series::new(filter, Whose::Ours, DIFFERING.iter().filter_map(point))
        }));
        let n = whole(self.n as f64);
        Plot {
            title: format!("n = {n}"),
            x: Axis::linear("share of bits that differ"),
            y: Axis::linear("answered close, %"),
            series,
            caption: format!(
                "How often a string is called close to one of {n} stored ones, against the share of bits in which it differs from the one that it was made of; at 0.5, from every one."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is called far lies half of the bits from all that is stored; what was changed, as far as it says.
    #[test]
    fn distances_are_exact() {
        let distance = |a: &[u8], b: &[u8]| -> u32 {
            a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
        };
        let base = random(7);
        for seed in 0..200 {
            let stored = halved(&base, seed);
            assert_ne!(stored, halved(&base, seed + 1));
            assert_eq!(distance(&stored, &far(&base, 1000 - seed)), LENGTH / 2);
            assert_eq!(distance(&stored, &changed(&stored, 77, seed)), 77);
        }
    }

    /// Of 16 bits drawn without repetition, half of which differ, all agree more rarely than 16 tosses of a coin fall alike.
    #[test]
    fn both_sides_of_the_theory_have_one_law() {
        let small = &PUBLISHED[0];
        assert_eq!(small.agreeing(0.0), 1.0);
        assert!(small.agreeing(512.0) < 0.9 * 0.5f64.powi(16));
        let [missed, wrong] = small.errors();
        assert!((missed - 0.2485).abs() < 1e-3 && (wrong - 1.539).abs() < 1e-3);
    }
}
