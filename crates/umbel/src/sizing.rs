//! How many bits, how many probes: n, p and k against m, for both layouts.
//!
//! **Classic** follows the textbook: m = ⌈-n ln p / ln² 2⌉, k = round(m/n · ln 2); with k fixed,
//! m = ⌈-k n / ln(1 - p^(1/k))⌉; and (1 - e^(-kn/m))^k is the rate to expect.
//!
//! **Blocked** puts a key's eight bits into one 512-bit line, one bit in each 64-bit word. A line that got c keys
//! admits a stranger with probability (1 - (63/64)^c)^8, and c is binomial: n keys, each into one of L lines
//! (Poisson when n is large). The rate is that mixture; the size is the least L that brings it to p.
//!
//! ```
//! use umbel::sizing::Sizing;
//!
//! let plan = Sizing::classic(355_416, 0.01)?;
//! assert_eq!((plan.bits(), plan.probes()), (3_406_684, 7));
//!
//! let plan = Sizing::new(1_000_000, 0.01)?; // blocked: one cache line a key
//! assert!(plan.bits_per_key() < 10.15 && plan.expected_rate() <= 0.01);
//! # Ok::<(), umbel::Error>(())
//! ```

use std::f64::consts::LN_2;
use std::fmt;

use crate::spread::Spread;
use crate::{Error, Result};

/// Bits in a line of the blocked layout: one cache line.
pub const LINE_BITS: u64 = 512;
/// Probes a key in the blocked layout: one in each 64-bit word of its line.
pub const BLOCKED_PROBES: u32 = 8;
/// The lowest rate the blocked layout serves. Crowded lines cost it dear as rates fall: 5 % more bits than
/// classic at 1 %, 23 % at 0.01 %, 46 % at 0.001 %, 80 % at a tenth of that.
pub const BLOCKED_LOWEST_RATE: f64 = 1e-5;
/// The most probes a key.
pub const MAX_PROBES: u32 = 64;
/// The most bits a filter may have.
pub const MAX_BITS: u64 = 1 << 48;

/// More keys than this in a line means a rate above 99.9 %: no size is sought there.
pub(crate) const MAX_KEYS_PER_LINE: u64 = 600;

/// How the bits of a key are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Anywhere in the filter; any m, any k, any strategy. The fewest bits.
    Classic,
    /// All in one cache line. The fastest.
    Blocked,
}

impl Layout {
    /// The name used in messages, files' reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Classic => "classic",
            Layout::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A size that can be built: the layout, m, k, and the number of keys it is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizing {
    layout: Layout,
    bits: u64,
    probes: u32,
    capacity: u64,
}

impl Sizing {
    /// The shape to take for `n` keys at rate `p` when nothing else is asked: blocked, or classic below
    /// [`BLOCKED_LOWEST_RATE`], where the blocked layout would waste memory.
    pub fn new(n: u64, p: f64) -> Result<Sizing> {
        check_rate(n, p)?;
        if p < BLOCKED_LOWEST_RATE { Sizing::classic(n, p) } else { Sizing::blocked(n, p) }
    }

    /// The classic layout with the best number of probes. k is rounded, so the rate to expect is not quite `p`: within 0.8 % of it
    /// from 10 % down, up to 10 % above it where `p` is near 1.
    pub fn classic(n: u64, p: f64) -> Result<Sizing> {
        check_rate(n, p)?;
        let bits = (-(n as f64) * p.ln() / (LN_2 * LN_2)).ceil();
        let probes = (bits / n as f64 * LN_2).round().max(1.0);
        Sizing::with(n, whole_bits(bits)?, probes as u32)
    }

    /// The classic layout with a number of probes of the caller's choice.
    pub fn classic_with_probes(n: u64, p: f64, k: u32) -> Result<Sizing> {
        check_rate(n, p)?;
        check_probes(k)?;
        let k_f = f64::from(k);
        // ln(1 - p^(1/k)), kept exact where p^(1/k) is tiny.
        let ln_zero = (-p.powf(1.0 / k_f)).ln_1p();
        Sizing::with(n, whole_bits((-k_f * n as f64 / ln_zero).ceil().max(1.0))?, k)
    }

    /// The classic layout with every number given.
    pub fn with(n: u64, m: u64, k: u32) -> Result<Sizing> {
        check_keys(n)?;
        check_probes(k)?;
        check_bits(m)?;
        Ok(Sizing { layout: Layout::Classic, bits: m, probes: k, capacity: n })
    }

    /// The blocked layout: the fewest lines that meet `p`.
    pub fn blocked(n: u64, p: f64) -> Result<Sizing> {
        check_rate(n, p)?;
        if p < BLOCKED_LOWEST_RATE {
            return Err(Error::Sizing(format!(
                "the blocked layout serves rates down to {BLOCKED_LOWEST_RATE}, not {p:?}: take the classic layout"
            )));
        }
        Sizing::blocked_with(n, fewest_lines(n, p) * LINE_BITS)
    }

    /// The blocked layout with its number of bits given, a multiple of 512.
    pub fn blocked_with(n: u64, m: u64) -> Result<Sizing> {
        check_keys(n)?;
        check_bits(m)?;
        if !m.is_multiple_of(LINE_BITS) {
            return Err(Error::Sizing(format!(
                "a blocked filter has whole lines of {LINE_BITS} bits; {m} is not a multiple: take {}",
                m.next_multiple_of(LINE_BITS)
            )));
        }
        Ok(Sizing { layout: Layout::Blocked, bits: m, probes: BLOCKED_PROBES, capacity: n })
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// m: the number of bits.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// k: the number of probes a key.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// n: the number of keys up to which the expected rate holds.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The memory the bits take: whole lines of 64 bytes.
    pub fn bytes(&self) -> u64 {
        self.lines() * (LINE_BITS / 8)
    }

    /// The number of 512-bit lines the bits take.
    pub fn lines(&self) -> u64 {
        self.bits.div_ceil(LINE_BITS)
    }

    /// m / n.
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.capacity as f64
    }

    /// The rate of false positives when the filter holds the keys it was sized for.
    pub fn expected_rate(&self) -> f64 {
        self.rate_at(self.capacity)
    }

    /// The rate of false positives to expect when the filter holds `n` distinct keys; never below n/2^64, the rate at which
    /// 64-bit hashes meet.
    pub fn rate_at(&self, n: u64) -> f64 {
        let rate = match self.layout {
            Layout::Classic => {
                let load = f64::from(self.probes) * n as f64 / self.bits as f64;
                (-(-load).exp_m1()).powi(self.probes as i32)
            }
            Layout::Blocked => blocked_rate(n, self.lines()),
        };
        rate.max(n as f64 / 2f64.powi(64))
    }

    /// Mean and standard deviation of the rate that one filter of this size really has once it holds its keys: some sets
    /// of keys fill more bits than others, and the smaller the filter the wider that spreads.
    pub fn realised_rate(&self) -> (f64, f64) {
        let spread = Spread::of(self);
        (spread.mean, spread.deviation)
    }

    /// The same shape, sized for another number of keys.
    pub(crate) fn with_capacity(self, n: u64) -> Sizing {
        Sizing { capacity: n, ..self }
    }
}

fn check_keys(n: u64) -> Result<()> {
    if n == 0 {
        return Err(Error::Sizing("a filter for 0 keys cannot be sized: give at least 1".into()));
    }
    Ok(())
}

fn check_rate(n: u64, p: f64) -> Result<()> {
    check_keys(n)?;
    if !(p > 0.0 && p < 1.0) {
        return Err(Error::Sizing(format!(
            "a false-positive rate lies between 0 and 1, both excluded, for example 0.01; not {p:?}"
        )));
    }
    let lowest = 64.0 * n as f64 / 2f64.powi(64);
    if p < lowest {
        let advice = match lowest * 1.05 {
            // Rounded to two digits this is never below the lowest.
            rate if rate < 1.0 => format!("ask for at least {rate:.1e}, or for fewer keys"),
            _ => "ask for fewer keys".into(),
        };
        return Err(Error::Sizing(format!(
            "a 64-bit hash cannot carry a rate of {p:?} for {n} keys: {advice}"
        )));
    }
    Ok(())
}

fn check_probes(k: u32) -> Result<()> {
    if !(1..=MAX_PROBES).contains(&k) {
        return Err(Error::Sizing(format!("k is a number from 1 to {MAX_PROBES}, not {k}")));
    }
    Ok(())
}

fn check_bits(m: u64) -> Result<()> {
    if m == 0 {
        return Err(Error::Sizing("a filter needs at least 1 bit".into()));
    }
    if m > MAX_BITS || usize::try_from(m.div_ceil(8)).is_err() {
        return Err(too_large(m as f64));
    }
    Ok(())
}

fn whole_bits(m: f64) -> Result<u64> {
    if m > MAX_BITS as f64 {
        return Err(too_large(m));
    }
    Ok(m as u64)
}

fn too_large(m: f64) -> Error {
    Error::Sizing(format!(
        "{m:.3e} bits ({:.0} GiB) are more than one filter holds (2^48 bits, or the address space): \
         ask for fewer keys or a higher rate",
        m / 8.0 / f64::from(1 << 30)
    ))
}

/// The least number of lines that brings `n` keys to rate `p`; the rate falls as lines are added.
fn fewest_lines(n: u64, p: f64) -> u64 {
    let mut low = n.div_ceil(MAX_KEYS_PER_LINE);
    let mut high = low;
    while blocked_rate(n, high) > p && high <= MAX_BITS / LINE_BITS {
        high *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if blocked_rate(n, middle) <= p {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The rate of a blocked filter of `lines` lines with `n` keys: the mean over the keys of a line.
fn blocked_rate(n: u64, lines: u64) -> f64 {
    keys_per_line(n, lines).map(|(keys, share)| share * crowded_rate(keys)).sum::<f64>().min(1.0)
}

/// The rate of one line that holds `keys` keys.
fn crowded_rate(keys: u64) -> f64 {
    word_fill(keys).powi(BLOCKED_PROBES as i32)
}

/// The expected share of a 64-bit word that `keys` keys have set.
fn word_fill(keys: u64) -> f64 {
    -(keys as f64 * (-1.0f64 / 64.0).ln_1p()).exp_m1()
}

/// How many keys a line gets, with the probability of each number: binomial over n keys and L lines.
/// Numbers too rare to matter are left out.
pub(crate) fn keys_per_line(n: u64, lines: u64) -> impl Iterator<Item = (u64, f64)> {
    let into = 1.0 / lines as f64;
    let mean = n as f64 * into;
    let empty = (n as f64 * (-into).ln_1p()).exp();
    // Far beyond any sensible filling every line is full: one term says it all. So it does where the first one is too small for a number:
    // all others are computed from it.
    let one_term = lines == 1 || mean > MAX_KEYS_PER_LINE as f64 + 1.0 || empty < f64::MIN_POSITIVE;
    let mut keys = if one_term { mean as u64 } else { 0 };
    let mut share = if one_term { 1.0 } else { empty };
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let term = (keys, share);
        if one_term {
            // No step to the next number: a huge n has none.
            done = true;
            return Some(term);
        }
        share *= (n - keys) as f64 / (keys + 1) as f64 * into / (1.0 - into);
        keys += 1;
        done = keys > n || (keys as f64 > mean && share < 1e-20);
        Some(term)
    })
}
