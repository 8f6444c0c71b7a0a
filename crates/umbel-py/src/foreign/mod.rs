//! Memory that others own: Arrow's C data interface, and numpy's arrays. The only unsafe code of the package is here.

pub mod arrow;
pub mod list;
pub mod numpy;
