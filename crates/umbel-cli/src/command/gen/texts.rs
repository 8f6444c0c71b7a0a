//! `umbel gen texts`: texts, some of them near-duplicates of others.

use std::io::Write;

use anyhow::{Result, ensure};
use clap::value_parser;

use super::Common;
use super::permutation::Permutation;
use super::random::Random;
use super::strings::spell;
use super::urn::Urn;

/// Letters of a word, and how many words those letters make: 16 consonants and 5 vowels in turn.
const LETTERS: u32 = 6;
const WORDS: u64 = (16 * 5) * (16 * 5) * (16 * 5);

/// Make texts as JSON lines; some of them are others with a few words changed
#[derive(clap::Args)]
#[command(after_help = "\
Each line: {\"id\":7,\"of\":3,\"body\":\"…\"}. `of` is the id of the text that it is a copy of, or null. \
Texts that are new share hardly a shingle. A copy of W words with E of them changed shares all but \
at most 5E of the W - 4 shingles of five words: its distance is at most 10E / (W - 4 + 5E).

Example: a thousand texts, a tenth of them copies; which are they?
  umbel gen texts -n 1000 --duplicates 100 -o docs.jsonl
  umbel similar build /dev/null -n 1000 --text body --metric jaccard \\
    --close 0.2 --far 0.95 -o empty.umbel
  umbel similar query empty.umbel docs.jsonl --dedup -v | grep -vc '\"of\":null'")]
pub struct Args {
    /// How many texts
    #[arg(short, value_name = "N", value_parser = crate::input::whole)]
    n: u64,
    /// Words of each
    #[arg(long, default_value_t = 200, value_parser = value_parser!(u32).range(1..=1_000_000))]
    words: u32,
    /// How many of them are copies of another
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = crate::input::whole)]
    duplicates: u64,
    /// Words changed in each copy, some of them perhaps twice
    #[arg(long, default_value_t = 3, value_name = "WORDS")]
    edits: u32,
    /// Different words to choose from
    #[arg(long, default_value_t = 10_000, value_name = "WORDS", value_parser = value_parser!(u64).range(1..=WORDS))]
    vocabulary: u64,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub fn run(self) -> Result<()> {
        let Args { n, words, duplicates, edits, vocabulary, common } = self;
        ensure!(
            duplicates == 0 || duplicates < n,
            "{duplicates} of {n} texts cannot be copies: at least one is new"
        );
        let mut random = common.random();
        let spelling = Permutation::new(WORDS, &mut random);
        common.write(Some(n), |out| {
            let mut new: Vec<(u64, Vec<u32>)> = Vec::new();
            // The first is new: the others may be copies of it.
            let mut urn = Urn::new(&[(n - duplicates).saturating_sub(1), duplicates]);
            for id in 1..=n {
                let is_copy = id > 1 && urn.draw(&mut random) == Some(1);
                let (of, text): (Option<u64>, Vec<u32>) = match is_copy {
                    true => {
                        let (of, text) = &new[random.below(new.len() as u64) as usize];
                        (Some(*of), edited(text, edits, vocabulary, &mut random))
                    }
                    false => (None, (0..words).map(|_| random.below(vocabulary) as u32).collect()),
                };
                write(id, of, &text, &spelling, out)?;
                if !is_copy && duplicates > 0 {
                    new.push((id, text));
                }
            }
            Ok(())
        })
    }
}

fn edited(text: &[u32], edits: u32, vocabulary: u64, random: &mut Random) -> Vec<u32> {
    let mut copy = text.to_vec();
    for _ in 0..edits {
        let place = random.below(copy.len() as u64) as usize;
        copy[place] = random.below(vocabulary) as u32;
    }
    copy
}

fn write(
    id: u64,
    of: Option<u64>,
    text: &[u32],
    spelling: &Permutation,
    out: &mut impl Write,
) -> Result<()> {
    let of = of.map_or("null".into(), |of| of.to_string());
    let mut body = Vec::new();
    for (i, &word) in text.iter().enumerate() {
        if i > 0 {
            body.push(b' ');
        }
        spell(spelling.at(word.into()), LETTERS, &mut body);
    }
    write!(out, "{{\"id\":{id},\"of\":{of},\"body\":\"")?;
    out.write_all(&body)?;
    Ok(writeln!(out, "\"}}")?)
}
