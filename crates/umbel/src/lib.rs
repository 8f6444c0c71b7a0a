//! umbel
pub mod bloom;
mod error;
pub mod format;
mod groups;
pub mod hash;
mod memory;
mod metadata;
#[doc(hidden)]
pub mod simd;
pub mod sizing;
pub use bloom::{Bloom, KeyType, Keys, Params};
pub use error::{Error, Result};
pub use groups::Groups;
pub use metadata::Metadata;
pub use sizing::{Layout, Sizing};
