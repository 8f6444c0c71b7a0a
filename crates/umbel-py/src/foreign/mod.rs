//! Memory that others own: Arrow's C data interface, and numpy's arrays. Unsafe code of the package is here, and in the lock (`shared.rs`).

pub mod arrow;
pub mod list;
pub mod numpy;
