//! Several filters asked for the same hashes.

use super::batch::check_answers;
use super::{Bloom, Keys};
use crate::Result;
use crate::memory::Line;
use crate::simd::{self, NEAR};

/// Looks up hashes in several filters that share the hash, in less time than one behind the other takes where they fit the cache. `found`
/// has one word for each 64 hashes for the first filter, then as many for the next: bit i % 64 of a filter's word i / 64 is its answer for
/// hash i.
pub fn contains_together(filters: &[&Bloom], hashes: &[u64], found: &mut [u64]) -> Result<()> {
    let words = hashes.len().div_ceil(64);
    check_answers(hashes.len(), filters.len() * words, found.len())?;
    let near: Option<Vec<_>> = filters.iter().map(|filter| near_lines(filter)).collect();
    match (filters, near) {
        ([first, ..], Some(lines)) => simd::contains_together(first.level, &lines, hashes, found),
        _ => {
            for (filter, found) in filters.iter().zip(found.chunks_mut(words.max(1))) {
                filter.contains_mask(Keys::Hashes(hashes), found)?;
            }
        }
    }
    Ok(())
}

/// The lines of a blocked filter that fits the cache.
fn near_lines(filter: &Bloom) -> Option<&[Line]> {
    filter.blocked.map(|_| &filter.bits[..]).filter(|lines| lines.len() <= NEAR)
}
