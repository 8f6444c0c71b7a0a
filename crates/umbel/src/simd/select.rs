//! Where in a word the 1 stands that so many others precede: one instruction where there is one, else sums of bytes.

/// Work that needs [`Select`], written once for all ways to do it. `run` must be inlined, to be compiled for each of them.
pub(crate) trait Work {
    type Output;

    fn run<S: Select>(self) -> Self::Output;
}

/// A way to find a 1.
pub(crate) trait Select {
    /// Where the 1 stands that `rank` others precede. There must be one.
    fn select(word: u64, rank: u64) -> u64;
}

/// Does the work in the best way this machine has.
#[inline(always)]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if deposit::is_available() {
        // SAFETY: the instructions are there.
        return unsafe { deposit::run(work) };
    }
    by_sums(work)
}

/// Apart, so that it does not stand in the way of the other.
#[inline(never)]
fn by_sums<W: Work>(work: W) -> W::Output {
    work.run::<Sums>()
}

/// First the byte, then the bit in it, each by sums of eight numbers at once: a loop or a search would end where no processor
/// can guess.
pub(crate) struct Sums;

impl Select for Sums {
    #[inline(always)]
    fn select(word: u64, rank: u64) -> u64 {
        // The ones of each pair, each four, each byte; then of all bytes up to each.
        let pairs = word - (word >> 1 & (0x55 * BYTES));
        let fours = (pairs & (0x33 * BYTES)) + (pairs >> 2 & (0x33 * BYTES));
        let sums = ((fours + (fours >> 4)) & (0x0F * BYTES)).wrapping_mul(BYTES);
        let shift = 8 * bytes_up_to(sums, rank);
        let rank = rank - (sums << 8 >> shift & 0xFF);
        // Bit i of that byte alone in byte i, then 1 or 0 there; then the ones up to each.
        let bits = ((word >> shift & 0xFF) * BYTES) & 0x8040_2010_0804_0201;
        let ones = (bits | ((bits | TOPS) - BYTES)) >> 7 & BYTES;
        shift + bytes_up_to(ones.wrapping_mul(BYTES), rank)
    }
}

/// A 1 in each byte, and the top bit of each.
const BYTES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// How many of eight bytes are at most `limit`; all are below 128.
#[inline(always)]
fn bytes_up_to(bytes: u64, limit: u64) -> u64 {
    let at_most = (((limit * BYTES) | TOPS) - bytes) & TOPS;
    (at_most >> 7).wrapping_mul(BYTES) >> 56
}

#[cfg(target_arch = "x86_64")]
mod deposit {
    use std::sync::OnceLock;

    use super::{Select, Work};

    /// Asked once: one flag is looked at for each question, not four.
    #[inline(always)]
    pub(super) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(look)
    }

    /// Processors that have AVX-512 deposit bits in a few cycles; some older ones take hundreds.
    #[cold]
    fn look() -> bool {
        std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    pub(super) fn run<W: Work>(work: W) -> W::Output {
        work.run::<Deposit>()
    }

    /// A bit deposited at the 1 that is sought.
    pub(super) struct Deposit;

    impl Select for Deposit {
        #[inline(always)]
        fn select(word: u64, rank: u64) -> u64 {
            // SAFETY: only `run` names this type, and its caller has seen that the instruction is there.
            let bit = unsafe { std::arch::x86_64::_pdep_u64(1 << (rank & 63), word) };
            bit.trailing_zeros().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Found(u64, u64);

    impl Work for Found {
        type Output = u64;

        #[inline(always)]
        fn run<S: Select>(self) -> u64 {
            S::select(self.0, self.1)
        }
    }

    #[test]
    fn both_ways_agree_with_a_walk() {
        let mut word = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..20_000_u32 {
            word = word.wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(23);
            let word = match round % 4 {
                0 => word,
                1 => word & word.rotate_left(9) & word.rotate_left(31),
                2 => word | word.rotate_left(9) | word.rotate_left(31),
                _ => u64::MAX << (round % 64),
            };
            let ones = (0..64).filter(|bit| word >> bit & 1 == 1);
            for (rank, bit) in (0..).zip(ones) {
                assert_eq!(Sums::select(word, rank), bit, "{word:x}, {rank}");
                assert_eq!(run(Found(word, rank)), bit, "{word:x}, {rank}");
            }
        }
    }
}
