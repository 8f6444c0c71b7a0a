//! `umbel gen addresses`: who came by.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use anyhow::{Result, ensure};

use super::Common;
use super::permutation::Permutation;
use super::random::Random;
use super::zipf::Zipf;

/// Make a stream of IPv4 addresses, one a line
#[derive(clap::Args)]
#[command(after_help = "\
Each is drawn from D different ones, the i-th of them with a probability in proportion to i^-S: a \
few come often, many seldom, some perhaps never. None begins with 0, 127 or 224 to 255.

Example: who came most often?
  umbel gen addresses -n 1000000 --distinct 100000 --zipf 1.1 | sort | uniq -c")]
pub struct Args {
    /// How many addresses
    #[arg(short, value_name = "N", value_parser = crate::input::whole)]
    n: u64,
    /// How many different ones to draw from [default: N]
    #[arg(long, value_name = "D", value_parser = crate::input::whole)]
    distinct: Option<u64>,
    /// The exponent of Zipf's law; 0 makes all equally likely
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = exponent)]
    zipf: f64,
    /// Without dots, three digits a byte: 147.5.38.21 is 147005038021
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    common: Common,
}

/// Addresses that share their first byte.
const NETWORK: u64 = 1 << 24;
/// The first bytes 1 to 223 but 127.
const VALID: u64 = 222 * NETWORK;
/// Their table takes 1.6 GB, and 2.4 while it is made.
const MOST_RANKS: u64 = 100_000_000;

impl Args {
    pub fn run(self) -> Result<()> {
        let mut random = self.common.random();
        let crowd =
            Crowd::new(self.distinct.unwrap_or(self.n.clamp(1, VALID)), self.zipf, &mut random)?;
        self.common
            .write(Some(self.n), |out| Ok(crowd.write(self.n, self.plain, &mut random, out)?))
    }
}

fn exponent(text: &str) -> Result<f64, String> {
    let valid = text.parse().ok().filter(|s| (0.0..=100.0).contains(s));
    valid.ok_or_else(|| "Zipf's exponent is a number from 0 to 100, for example 1.1".into())
}

/// The different addresses, and how often each comes.
struct Crowd {
    distinct: u64,
    order: Permutation,
    ranks: Option<Zipf>,
}

impl Crowd {
    fn new(distinct: u64, exponent: f64, random: &mut Random) -> Result<Crowd> {
        let most = if exponent == 0.0 { VALID } else { MOST_RANKS };
        ensure!(
            (1..=most).contains(&distinct),
            "--distinct is a number from 1 to {most}{}, not {distinct}",
            if exponent == 0.0 { "" } else { " under Zipf's law" }
        );
        let order = Permutation::new(VALID, random);
        let ranks = (exponent > 0.0).then(|| Zipf::new(distinct as u32, exponent));
        Ok(Crowd { distinct, order, ranks })
    }

    fn write(
        &self,
        n: u64,
        plain: bool,
        random: &mut Random,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for _ in 0..n {
            let address = self.draw(random);
            if plain {
                let [a, b, c, d] = address.octets();
                writeln!(out, "{a:03}{b:03}{c:03}{d:03}")?;
            } else {
                writeln!(out, "{address}")?;
            }
        }
        Ok(())
    }

    fn draw(&self, random: &mut Random) -> Ipv4Addr {
        let rank = match &self.ranks {
            Some(zipf) => zipf.draw(random),
            None => random.below(self.distinct),
        };
        valid(self.order.at(rank))
    }
}

/// The valid address with this number.
fn valid(number: u64) -> Ipv4Addr {
    let network = 1 + number / NETWORK;
    let network = network + u64::from(network >= 127);
    Ipv4Addr::from_bits((network * NETWORK + number % NETWORK) as u32)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_valid_addresses_are_those_of_hosts() {
        assert_eq!(valid(0).to_string(), "1.0.0.0");
        assert_eq!(valid(126 * NETWORK - 1).to_string(), "126.255.255.255");
        assert_eq!(valid(126 * NETWORK).to_string(), "128.0.0.0");
        assert_eq!(valid(VALID - 1).to_string(), "223.255.255.255");
    }

    fn counts(n: u64, distinct: u64, exponent: f64) -> Vec<u64> {
        let mut random = Random::new(1);
        let crowd = Crowd::new(distinct, exponent, &mut random).unwrap();
        let mut counts = HashMap::new();
        for _ in 0..n {
            *counts.entry(crowd.draw(&mut random)).or_default() += 1;
        }
        let mut counts: Vec<u64> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn many_draws_find_all_the_different_ones() {
        assert_eq!(counts(100_000, 5000, 0.0).len(), 5000);
        assert_eq!(counts(1_000_000, 1000, 1.1).len(), 1000);
        assert_eq!(counts(1000, 1, 1.0), [1000]);
    }

    /// 1 + 1/2 + … + 1/100 is 5.187.
    #[test]
    fn the_frequent_ones_are_as_frequent_as_zipf_says() {
        let counts = counts(1_000_000, 100, 1.0);
        for (rank, share) in [(1, 0.1928), (2, 0.0964), (10, 0.01928)] {
            let measured = counts[rank - 1] as f64 / 1e6;
            assert!((measured / share - 1.0).abs() < 0.05, "rank {rank}: {measured}");
        }
    }
}
