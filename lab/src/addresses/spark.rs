//! The same streams on Spark, through `umbel.spark.stream`: trained a file a batch, asked by another stream, against the truth and against the sketches made here.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use umbel::{Bloom, CountMin, CountMinParams, Keys};

use super::{DELTA, errors_of, streams, tally};
use crate::cluster::{Cluster, Engine};
use crate::lab::Lab;
use crate::rows::{Book, cells};

pub const RATE: f64 = 0.01;
pub const EPS: f64 = 0.0001;
/// Files, and so batches, of a training stream.
pub const BATCHES: usize = 4;
const KEY: [&str; 2] = ["spark", "streams"];

pub fn measure(lab: &Lab, book: &mut Book) -> Result<()> {
    if book.has(&KEY) {
        return Ok(());
    }
    let repetitions = 1..=lab.repetitions();
    let folders: Vec<PathBuf> =
        repetitions.clone().map(|repetition| prepare(lab, repetition)).collect::<Result<_>>()?;
    let cluster = Cluster::start(lab, Engine::Spark, Path::new(""))?;
    book.case(&KEY, || {
        let mut words = [RATE, EPS, DELTA].map(|number| number.to_string()).to_vec();
        words.extend(folders.iter().map(|folder| folder.display().to_string()));
        let told = cluster.python("lab/stream", &words)?;
        let each = repetitions.zip(&folders).zip(told.lines());
        let rows = each.map(|((repetition, folder), line)| one(lab, repetition, folder, line));
        Ok(rows.collect::<Result<Vec<_>>>()?.concat())
    })?;
    folders.iter().try_for_each(|folder| Ok(fs::remove_dir_all(folder)?))
}

/// The streams of a repetition as files.
fn prepare(lab: &Lab, repetition: usize) -> Result<PathBuf> {
    let (train, other) = streams(lab, repetition)?;
    let (keys, other_keys) = (train.keys(), other.keys());
    let distinct: HashSet<&[u8]> = keys.iter().copied().collect();
    let asked: HashSet<&[u8]> = keys.iter().chain(&other_keys).copied().collect();
    let folder = lab.work().join(format!("streams-{repetition}"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    write(&folder.join("train"), &keys, BATCHES)?;
    write(&folder.join("other"), &other_keys, BATCHES)?;
    write(&folder.join("ask"), &asked.into_iter().collect::<Vec<_>>(), 1)?;
    fs::write(folder.join("n"), distinct.len().to_string())?;
    Ok(folder)
}

/// Keys as lines of so many files.
fn write(folder: &Path, keys: &[&[u8]], files: usize) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (i, part) in keys.chunks(keys.len().div_ceil(files)).enumerate() {
        fs::write(folder.join(format!("{i}.txt")), [&part.join(&b'\n')[..], b"\n"].concat())?;
    }
    Ok(())
}

/// What came of one repetition.
fn one(lab: &Lab, repetition: usize, folder: &Path, told: &str) -> Result<Vec<Vec<String>>> {
    let (train, other) = streams(lab, repetition)?;
    let (keys, other_keys) = (train.keys(), other.keys());
    let (truth, others) = (tally(&keys), tally(&other_keys));
    let here = Here::new(&keys, &other_keys, truth.len() as u64)?;
    let answers = answers(&folder.join("answers"))?;
    let strangers = others.keys().filter(|key| !truth.contains_key(*key)).count();
    ensure!(answers.len() == truth.len() + strangers, "{} answers came back", answers.len());
    let seen = |known: bool| {
        let of = answers.iter().filter(|answer| truth.contains_key(&*answer.key) == known);
        of.filter(|answer| answer.seen).count()
    };
    let members = answers
        .iter()
        .filter_map(|answer| Some(answer.estimate as f64 - *truth.get(&*answer.key)? as f64));
    let (mean, greatest, low) = errors_of(&members.collect::<Vec<_>>());
    let exact: u64 = truth.iter().filter_map(|(key, count)| Some(count * others.get(key)?)).sum();
    let product = answers[0].product;
    let too_high = (product as f64 - exact as f64) / (keys.len() * other_keys.len()) as f64;
    let same = here.has_bytes(folder)? && answers.iter().all(|answer| here.says(answer));
    let mut figures = vec![
        ("members", truth.len() as f64),
        ("false negatives", (truth.len() - seen(true)) as f64),
        ("strangers", strangers as f64),
        ("false positives", seen(false) as f64),
        ("mean error", mean),
        ("greatest error", greatest),
        ("too low", low),
        ("product: error", too_high),
        ("the same as here", f64::from(u8::from(same))),
    ];
    let told: Value = serde_json::from_str(told).with_context(|| told.to_owned())?;
    for part in ["filter", "count", "answer"] {
        figures.push((part, told[part].as_f64().context("seconds of each part")?));
    }
    Ok(figures.iter().map(|(figure, value)| cells(&[&repetition, figure, value])).collect())
}

/// One line that came back from Spark.
struct Answer {
    key: Vec<u8>,
    seen: bool,
    estimate: u64,
    product: u64,
}

fn answers(folder: &Path) -> Result<Vec<Answer>> {
    let mut answers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let text = fs::read_to_string(&path)?;
            for line in text.lines() {
                answers.push(answer(line).with_context(|| format!("an answer: {line}"))?);
            }
        }
    }
    ensure!(!answers.is_empty(), "there are no answers in {}", folder.display());
    Ok(answers)
}

fn answer(line: &str) -> Option<Answer> {
    let mut cells = line.split(',');
    let key = cells.next()?.as_bytes().to_vec();
    let seen = cells.next()?.parse().ok()?;
    let mut number = || cells.next()?.parse().ok();
    Some(Answer { key, seen, estimate: number()?, product: number()? })
}

/// The sketches of the same streams, made here.
struct Here {
    filter: Bloom,
    count: CountMin,
    product: u64,
}

impl Here {
    fn new(keys: &[&[u8]], others: &[&[u8]], n: u64) -> Result<Here> {
        let params = CountMinParams::for_error(EPS, DELTA)?;
        let (mut filter, mut count) = (Bloom::new(n, RATE)?, CountMin::new(params)?);
        let mut other = CountMin::new(params)?;
        filter.insert_batch(Keys::Bytes(keys))?;
        count.add_batch(Keys::Bytes(keys))?;
        other.add_batch(Keys::Bytes(others))?;
        let product = count.inner_product(&other)?.estimate;
        Ok(Here { filter, count, product: u64::try_from(product)? })
    }

    fn has_bytes(&self, folder: &Path) -> Result<bool> {
        let (seen, count) =
            (fs::read(folder.join("seen.umbel"))?, fs::read(folder.join("count.umbel"))?);
        Ok(seen == self.filter.to_bytes()? && count == self.count.to_bytes()?)
    }

    fn says(&self, answer: &Answer) -> bool {
        self.filter.contains(&answer.key) == answer.seen
            && self.count.estimate(&answer.key) == answer.estimate
            && self.product == answer.product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_spark_writes_them() {
        let said = answer("1921681,true,17,4000000000").expect("an answer");
        assert_eq!((&*said.key, said.seen), (&b"1921681"[..], true));
        assert_eq!((said.estimate, said.product), (17, 4_000_000_000));
        assert!(answer("1921681,1,17,4").is_none() && answer("1921681,true,17").is_none());
    }

    /// What differs in one answer is found.
    #[test]
    fn answers_are_those_of_the_same_streams_here() {
        let (keys, others): ([&[u8]; 3], [&[u8]; 2]) = ([b"1", b"2", b"2"], [b"2", b"3"]);
        let here = Here::new(&keys, &others, 2).expect("sketches");
        let answer =
            |estimate, product| Answer { key: b"2".to_vec(), seen: true, estimate, product };
        assert!(here.says(&answer(2, 2)));
        assert!(!here.says(&answer(3, 2)) && !here.says(&answer(2, 3)));
    }
}
