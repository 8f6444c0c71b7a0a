//! Random directions: a sample is the product of the vector and normal numbers. For the cosine its sign is kept (hyperplanes), for Euclid the step
//! of a random staircase that it falls on (p-stable).

use super::gauss::Gauss;
use super::sampler::{Seeds, pack};
use super::scratch::Scratch;
use crate::hash::{xxh3, xxh3_u64};
use crate::simd::Level;
use crate::simd::wide::{Loop, run};
use crate::{Error, Result};

/// Sums that run side by side: the order of additions is part of the format.
pub(super) const LANES: usize = 8;
/// Rows that are worked on together: each is a chain of additions in which one waits for the other.
const TOGETHER: usize = 4;
/// Numbers that are exact; steps beyond cannot be told apart.
const EXACT: f64 = (1_u64 << 53) as f64;

pub(super) struct Products {
    /// Whole lanes of them for each sample, zeros behind the last.
    normals: Vec<f32>,
    row: usize,
    stairs: Option<Stairs>,
}

/// Where the steps of each sample begin.
struct Stairs {
    width: f64,
    offsets: Vec<f64>,
}

impl Products {
    pub(super) fn new(seeds: &Seeds, dimension: usize, width: Option<f64>) -> Products {
        let row = dimension.next_multiple_of(LANES);
        let mut normals = Vec::with_capacity(seeds.bands().len() * seeds.samples() * row);
        for seed in seeds.all_samples() {
            let mut gauss = Gauss::new(seed);
            let end = normals.len() + row;
            normals.extend((0..dimension).map(|_| gauss.next()));
            normals.resize(end, 0.0);
        }
        let offset = |seed| (xxh3_u64(u64::MAX, seed) >> 11) as f64 / EXACT;
        let stairs =
            width.map(|width| Stairs { width, offsets: seeds.all_samples().map(offset).collect() });
        Products { normals, row, stairs }
    }

    /// The bands of a vector of the right length.
    pub(super) fn bands(
        &self,
        seeds: &Seeds,
        vector: impl Iterator<Item = f64>,
        scratch: &mut Scratch,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        let Scratch { vector: numbers, products, bytes, .. } = scratch;
        numbers.clear();
        numbers.extend(vector);
        check(numbers)?;
        if self.stairs.is_none() {
            scale(numbers)?;
        }
        numbers.resize(self.row, 0.0);
        products.clear();
        run(
            Level::best(),
            Rows { normals: &self.normals, row: self.row, vector: numbers, products },
        );
        let t = seeds.samples();
        for (band, (products, &seed)) in products.chunks(t).zip(seeds.bands()).enumerate() {
            match &self.stairs {
                None => pack(products.iter().map(|&product| product >= 0.0), bytes),
                Some(stairs) => {
                    bytes.clear();
                    for (&product, &offset) in products.iter().zip(&stairs.offsets[band * t..]) {
                        bytes.extend(stairs.step(product, offset)?.to_le_bytes());
                    }
                }
            }
            out.push(xxh3(bytes, seed));
        }
        Ok(())
    }
}

impl Stairs {
    fn step(&self, product: f64, offset: f64) -> Result<i64> {
        let step = (product / self.width + offset).floor();
        if step.abs() < EXACT {
            return Ok(step as i64);
        }
        Err(Error::Value(format!(
            "the vector lies too far from the origin for a step of {}: its place cannot be told exactly",
            self.width
        )))
    }
}

fn check(vector: &[f64]) -> Result<()> {
    match vector.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(Error::Value(format!("{x} in a vector has no place among finite numbers"))),
    }
}

/// Very large and very small vectors are brought to where products neither overflow nor vanish. The direction stays.
fn scale(vector: &mut [f64]) -> Result<()> {
    let largest = vector.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let factor = match largest {
        0.0 => {
            return Err(Error::Value(
                "a vector of zeros has no direction: no cosine can be asked of it".into(),
            ));
        }
        _ if largest > 2f64.powi(500) => 2f64.powi(-600),
        _ if largest < 2f64.powi(-500) => 2f64.powi(600),
        _ => return Ok(()),
    };
    vector.iter_mut().for_each(|x| *x *= factor);
    Ok(())
}

/// The products of all rows and a vector.
struct Rows<'a> {
    normals: &'a [f32],
    /// Numbers of a row: whole lanes.
    row: usize,
    vector: &'a [f64],
    products: &'a mut Vec<f64>,
}

impl Loop for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut groups = self.normals.chunks_exact(TOGETHER * self.row);
        for group in &mut groups {
            self.products.extend(products::<TOGETHER>(group, self.row, self.vector));
        }
        let rest = groups.remainder().chunks(self.row);
        self.products.extend(rest.flat_map(|row| products::<1>(row, self.row, self.vector)));
    }
}

/// The products of N rows of normal numbers and a vector, all whole lanes long.
#[inline(always)]
fn products<const N: usize>(rows: &[f32], row: usize, vector: &[f64]) -> [f64; N] {
    let mut sums = [[0.0; LANES]; N];
    let rows: [&[[f32; LANES]]; N] =
        std::array::from_fn(|i| rows[i * row..(i + 1) * row].as_chunks::<LANES>().0);
    let (vectors, _) = vector.as_chunks::<LANES>();
    for (at, vector) in vectors.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            for lane in 0..LANES {
                sums[lane] += f64::from(row[at][lane]) * vector[lane];
            }
        }
    }
    sums.map(|[a, b, c, d, e, f, g, h]| ((a + e) + (c + g)) + ((b + f) + (d + h)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_adds_up_to_the_same_bits() {
        let mut gauss = Gauss::new(3);
        for row in [8, 24, 768] {
            let normals: Vec<f32> = (0..21 * row).map(|_| gauss.next()).collect();
            let vector: Vec<f64> = (0..row).map(|_| f64::from(gauss.next()) * 1e3).collect();
            let found = Level::available().into_iter().map(|level| {
                let mut products = Vec::new();
                run(
                    level,
                    Rows { normals: &normals, row, vector: &vector, products: &mut products },
                );
                products.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
            });
            let found: Vec<_> = found.collect();
            assert!(found.iter().all(|products| products == &found[0] && products.len() == 21));
        }
    }
}
