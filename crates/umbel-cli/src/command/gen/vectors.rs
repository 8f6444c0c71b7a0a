//! `umbel gen vectors`: vectors, some of them near to others.

use std::io::Write;

use anyhow::{Result, ensure};
use clap::value_parser;

use super::Common;
use super::random::Random;
use super::urn::Urn;

/// Numbers lie from minus this to this.
const REACH: u64 = 1000;

/// Make vectors of whole numbers, one a line; some of them are others with a little noise
#[derive(clap::Args)]
#[command(after_help = "\
Each line: the number of the line it was planted near, or 0 if it is new; then its numbers, from \
-1000 to 1000, with commas between. New ones are at a cosine distance of about 1 from all others, \
planted ones at about noise² / 2000000 from theirs: 0.005 for a noise of 100. Read them with \
--skip 1.

Example: ten thousand vectors, a thousand near to one before; which are they?
  umbel gen vectors -n 10000 --planted 1000 -o v.csv
  umbel similar build /dev/null -n 10000 --dim 64 --skip 1 --metric cosine \\
    --close 0.02 --far 0.5 -o empty.umbel
  umbel similar query empty.umbel v.csv --dedup -v | cut -d, -f1")]
pub struct Args {
    /// How many vectors
    #[arg(short, value_name = "N", value_parser = crate::input::whole)]
    n: u64,
    /// Numbers of each
    #[arg(long, default_value_t = 64, value_name = "LENGTH", value_parser = value_parser!(u32).range(1..=1_000_000))]
    dim: u32,
    /// How many of them are planted near another
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = crate::input::whole)]
    planted: u64,
    /// How far each number of a planted one is moved at most
    #[arg(long, default_value_t = 100, value_name = "DISTANCE", value_parser = value_parser!(u64).range(..=1_000_000))]
    noise: u64,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub fn run(self) -> Result<()> {
        let Args { n, dim, planted, noise, common } = self;
        ensure!(
            planted == 0 || planted < n,
            "{planted} of {n} vectors cannot be planted: at least one is new"
        );
        let mut random = common.random();
        common.write(Some(n), |out| {
            let mut new: Vec<(u64, Vec<i64>)> = Vec::new();
            // The first is new: the others may be near it.
            let mut urn = Urn::new(&[(n - planted).saturating_sub(1), planted]);
            for line in 1..=n {
                let is_planted = line > 1 && urn.draw(&mut random) == Some(1);
                let (of, vector): (u64, Vec<i64>) = match is_planted {
                    true => {
                        let (of, vector) = &new[random.below(new.len() as u64) as usize];
                        let moved = vector.iter().map(|x| x + within(noise, &mut random));
                        (*of, moved.collect())
                    }
                    false => {
                        let vector = (0..dim).map(|_| within(REACH, &mut random)).collect();
                        (0, vector)
                    }
                };
                write(of, &vector, out)?;
                if !is_planted && planted > 0 {
                    new.push((line, vector));
                }
            }
            Ok(())
        })
    }
}

/// A number from minus `reach` to `reach`.
fn within(reach: u64, random: &mut Random) -> i64 {
    random.below(2 * reach + 1).cast_signed() - reach.cast_signed()
}

fn write(of: u64, vector: &[i64], out: &mut impl Write) -> Result<()> {
    let mut line = of.to_string();
    vector.iter().for_each(|x| line += &format!(",{x}"));
    Ok(writeln!(out, "{line}")?)
}
