//! Items at known distances from each other.

use umbel::similar::Space;

use super::random::Random;

/// A uniform number between 0 and 1.
fn unit(random: &mut Random) -> f64 {
    (random.next().unwrap() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normal number.
pub fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - unit(random)).ln()).sqrt() * (std::f64::consts::TAU * unit(random)).cos()
}

pub fn bits(random: &mut Random, bits: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| random.below(256) as u8).collect();
    let spare = 8 * bytes.len() - bits;
    *bytes.last_mut().unwrap() &= 0xFF << spare;
    bytes
}

/// The same string with so many bits changed.
pub fn flipped(random: &mut Random, bytes: &[u8], bits: usize, differing: usize) -> Vec<u8> {
    let mut places: Vec<usize> = (0..bits).collect();
    let mut other = bytes.to_vec();
    for i in 0..differing {
        places.swap(i, i + random.below(bits - i));
        other[places[i] / 8] ^= 128 >> (places[i] % 8);
    }
    other
}

pub fn vector(random: &mut Random, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|_| normal(random)).collect()
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A vector of the same length at this angle.
pub fn turned(random: &mut Random, from: &[f64], angle: f64) -> Vec<f64> {
    let mut side = vector(random, from.len());
    let share = side.iter().zip(from).map(|(a, b)| a * b).sum::<f64>() / length(from).powi(2);
    side.iter_mut().zip(from).for_each(|(a, b)| *a -= share * b);
    let scale = length(from) / length(&side) * angle.sin();
    side.iter().zip(from).map(|(a, b)| b * angle.cos() + a * scale).collect()
}

/// A vector at this distance.
pub fn moved(random: &mut Random, from: &[f64], distance: f64) -> Vec<f64> {
    let step = vector(random, from.len());
    let scale = distance / length(&step);
    step.iter().zip(from).map(|(a, b)| b + a * scale).collect()
}

/// A set of so many tokens.
pub fn set(random: &mut Random, tokens: usize) -> Vec<Vec<u8>> {
    random.by_ref().take(tokens).map(|token| token.to_le_bytes().to_vec()).collect()
}

/// A set of the same size at about this distance: so many tokens of it are others.
pub fn changed(random: &mut Random, from: &[Vec<u8>], distance: f64) -> Vec<Vec<u8>> {
    // Of N tokens x are others: the distance is 2x / (N + x).
    let others = (distance * from.len() as f64 / (2.0 - distance)).round() as usize;
    let mut set = set(random, others);
    set.extend(from[others..].iter().cloned());
    set
}

/// One item of any sort.
#[derive(Debug, Clone)]
pub enum Owned {
    Bits(Vec<u8>),
    Vector(Vec<f64>),
    Text(String),
    Tokens(Vec<Vec<u8>>),
}

impl Owned {
    /// Hands the item out as filters take it.
    pub fn with<T>(&self, take: impl FnOnce(umbel::similar::Item<'_>) -> T) -> T {
        use umbel::similar::Item;
        match self {
            Owned::Bits(bytes) => take(Item::Bits(bytes)),
            Owned::Vector(vector) => take(Item::Vector(vector)),
            Owned::Text(text) => take(Item::Text(text.as_bytes())),
            Owned::Tokens(tokens) => {
                take(Item::Tokens(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            }
        }
    }

    /// A random item of this space.
    pub fn random(random: &mut Random, space: Space) -> Owned {
        match space {
            Space::Hamming { bits: l } => Owned::Bits(bits(random, l as usize)),
            Space::Cosine { dimension } | Space::Euclid { dimension } => {
                Owned::Vector(vector(random, dimension as usize))
            }
            Space::Sets => Owned::Tokens(set(random, 200)),
            _ => Owned::Text(
                (0..60).map(|_| format!("w{} ", random.below(5000))).collect::<String>(),
            ),
        }
    }

    /// An item at this distance; of a set at about this distance.
    pub fn at(&self, random: &mut Random, space: Space, distance: f64) -> Owned {
        match (self, space) {
            (Owned::Bits(bytes), Space::Hamming { bits }) => {
                let differing = (distance * f64::from(bits)).round() as usize;
                Owned::Bits(flipped(random, bytes, bits as usize, differing))
            }
            (Owned::Vector(vector), Space::Cosine { .. }) => {
                Owned::Vector(turned(random, vector, (1.0 - distance).acos()))
            }
            (Owned::Vector(vector), _) => Owned::Vector(moved(random, vector, distance)),
            (Owned::Tokens(tokens), _) => Owned::Tokens(changed(random, tokens, distance)),
            _ => unimplemented!("texts have no exact distance"),
        }
    }
}
