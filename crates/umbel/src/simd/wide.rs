//! Plain loops over numbers, compiled for each width of vectors: the same operations in the same order on each number, only more numbers at once, and so the same
//! bits on every machine.

use super::{Isa, Level};

/// A loop. `run` must be inlined, to be compiled for each width.
pub(crate) trait Loop {
    type Output;

    fn run(self) -> Self::Output;
}

/// Runs a loop with the vectors of this level.
#[inline]
pub(crate) fn run<L: Loop>(level: Level, work: L) -> L::Output {
    match level.0 {
        Isa::Portable => work.run(),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Level` holds only what the machine was found to have.
        Isa::Avx2 => unsafe { avx2(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx512 => unsafe { avx512(work) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512dq")]
fn avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}
