//! `umbel gen names`: short personal names, beyond ASCII.

use std::io::{self, Write};

use anyhow::{Result, ensure};

use super::Common;
use super::permutation::Permutation;
use super::random::Random;
use super::urn::Urn;

/// Make different personal names in Chinese, one a line
#[derive(clap::Args)]
#[command(after_help = "\
A surname and one or two characters, in UTF-8. No name comes twice; 329 names have 927 characters.

Example:
  umbel gen names -n 329 -o class.txt")]
pub struct Args {
    /// How many names
    #[arg(short, value_name = "N")]
    n: u64,
    #[command(flatten)]
    common: Common,
}

const SURNAMES: &str = "\
    王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈\
    姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤";
const GIVEN: &str = "\
    伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚文辉玲桂英华建国红玉梅志海燕飞鹏宇浩轩然子涵欣怡梓晨雨佳琪思诗梦婷雪慧莹倩颖琳瑶洁薇蕾\
    晶妍茜宁悦嘉俊博睿哲凯翔天泽瑞昊阳晓东春秋云帆航远达成宏峰林森楠柏松乐康安永恒德仁义礼智信忠良彬斌鑫锋毅力诚立新民生光亮星月晴岚青";

/// Of so many names …
const CLASS: u64 = 329;
/// … so many have one given character.
const SHORT: u64 = 60;

impl Args {
    pub fn run(self) -> Result<()> {
        let mut random = self.common.random();
        let book = Book::new(&mut random);
        let (short, long) = book.shares(self.n);
        ensure!(
            short + long == self.n,
            "there are only {} different names: ask for fewer, or take gen strings",
            short + long
        );
        self.common.write(Some(self.n), |out| Ok(book.write(short, long, &mut random, out)?))
    }
}

/// All names, short and long, in random order.
struct Book {
    surnames: Vec<char>,
    given: Vec<char>,
    short: Permutation,
    long: Permutation,
}

impl Book {
    fn new(random: &mut Random) -> Book {
        let (surnames, given): (Vec<_>, Vec<_>) =
            (SURNAMES.chars().collect(), GIVEN.chars().collect());
        let shorts = (surnames.len() * given.len()) as u64;
        let longs = shorts * given.len() as u64;
        let (short, long) = (Permutation::new(shorts, random), Permutation::new(longs, random));
        Book { surnames, given, short, long }
    }

    /// How many of `n` names are short and how many long, as far as there are enough.
    fn shares(&self, n: u64) -> (u64, u64) {
        let short = (n as f64 * SHORT as f64 / CLASS as f64).round() as u64;
        let short = short.min(self.short.size());
        (short, (n - short).min(self.long.size()))
    }

    fn write(
        &self,
        short: u64,
        long: u64,
        random: &mut Random,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut urn = Urn::new(&[short, long]);
        let mut places = [0; 2];
        while let Some(kind) = urn.draw(random) {
            let order = if kind == 0 { &self.short } else { &self.long };
            let name = self.spell(order.at(places[kind]), 1 + kind);
            places[kind] += 1;
            writeln!(out, "{name}")?;
        }
        Ok(())
    }

    /// The name with this number, with so many given characters.
    fn spell(&self, number: u64, given: usize) -> String {
        let mut number = number as usize;
        let mut take = |from: &[char]| {
            let character = from[number % from.len()];
            number /= from.len();
            character
        };
        let surname = take(&self.surnames);
        std::iter::once(surname).chain((0..given).map(|_| take(&self.given))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_character_stands_twice_in_a_list() {
        for list in [SURNAMES, GIVEN] {
            let different: HashSet<char> = list.chars().collect();
            assert_eq!(different.len(), list.chars().count());
            assert!(different.into_iter().all(|c| c.len_utf8() == 3));
        }
    }

    #[test]
    fn short_names_are_a_fifth_until_they_are_used_up() {
        let book = Book::new(&mut Random::new(1));
        assert_eq!(book.shares(0), (0, 0));
        assert_eq!(book.shares(329), (60, 269));
        assert_eq!(book.shares(1_000_000), (12_800, 987_200));
        assert_eq!(book.shares(1 << 40), (12_800, 1_638_400));
    }
}
