//! `umbel gen strings`: words that can be pronounced.

use std::io::{self, Write};

use anyhow::{Result, ensure};
use clap::value_parser;

use super::Common;
use super::permutation::Permutation;
use super::random::Random;

/// Make different words that can be pronounced, one a line
#[derive(clap::Args)]
#[command(after_help = "\
Consonants and vowels take turns. No word comes twice.

Example: two million words, and some thousands of them to look for
  umbel gen strings -n 2000000 --length 30 -o flow.txt
  umbel gen sample flow.txt --limit 500 -o set.txt")]
pub struct Args {
    /// How many words
    #[arg(short, value_name = "N")]
    n: u64,
    /// Letters in each
    #[arg(long, default_value_t = 30, value_name = "LETTERS", value_parser = value_parser!(u32).range(1..=1_000_000))]
    length: u32,
    #[command(flatten)]
    common: Common,
}

const CONSONANTS: [u8; 16] = *b"bcdfghklmnprstvz";
const VOWELS: [u8; 5] = *b"aeiou";
/// Letters that make words differ; those beyond are free. 80^9 is about 2^57.
const MAX_HEAD: u32 = 18;

impl Args {
    pub fn run(self) -> Result<()> {
        let mut random = self.common.random();
        let words = Words::new(self.length, &mut random);
        ensure!(
            self.n <= words.count,
            "there are only {} words of {} letters: ask for fewer, or for longer ones",
            words.count,
            self.length
        );
        self.common.write(Some(self.n), |out| Ok(words.write(self.n, &mut random, out)?))
    }
}

struct Words {
    head: u32,
    tail: u32,
    /// Different heads.
    count: u64,
    order: Permutation,
}

impl Words {
    fn new(length: u32, random: &mut Random) -> Words {
        let head = length.min(MAX_HEAD);
        let count = (0..head).map(|place| letters(place).len() as u64).product();
        Words { head, tail: length - head, count, order: Permutation::new(count, random) }
    }

    fn write(&self, n: u64, random: &mut Random, out: &mut impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        for place in 0..n {
            line.clear();
            spell(self.order.at(place), self.head, &mut line);
            for start in (0..self.tail).step_by(MAX_HEAD as usize) {
                spell(random.next(), MAX_HEAD.min(self.tail - start), &mut line);
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }
}

fn letters(place: u32) -> &'static [u8] {
    if place.is_multiple_of(2) { &CONSONANTS } else { &VOWELS }
}

/// A number, written in letters.
pub(super) fn spell(mut number: u64, length: u32, line: &mut Vec<u8>) {
    for place in 0..length {
        let alphabet = letters(place);
        line.push(alphabet[(number % alphabet.len() as u64) as usize]);
        number /= alphabet.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn spelled(words: &Words, place: u64) -> String {
        let mut line = Vec::new();
        spell(words.order.at(place), words.head, &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn short_words_are_all_different() {
        for (length, count) in [(1, 16), (2, 80), (3, 1280), (4, 6400)] {
            let words = Words::new(length, &mut Random::new(1));
            assert_eq!(words.count, count);
            let different: HashSet<String> = (0..count).map(|i| spelled(&words, i)).collect();
            assert_eq!(different.len() as u64, count);
        }
    }

    /// Every letter comes about as often as the others of its kind, at each place.
    #[test]
    fn letters_are_spread_evenly() {
        let words = Words::new(30, &mut Random::new(1));
        let spelled: Vec<String> = (0..16_000).map(|i| spelled(&words, i)).collect();
        for place in 0..MAX_HEAD {
            let alphabet = letters(place);
            let expected = spelled.len() / alphabet.len();
            for letter in alphabet {
                let count = spelled
                    .iter()
                    .filter(|word| word.as_bytes()[place as usize] == *letter)
                    .count();
                assert!(count.abs_diff(expected) < expected / 5, "{place}: {count}");
            }
        }
    }
}
