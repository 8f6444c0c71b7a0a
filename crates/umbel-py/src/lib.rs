//! `umbel._umbel`: the core's structures as Python classes, thin, and the command.
//!
//! - One class a file; [`shared`] holds the structure behind it under a lock, so that long work is done detached from the interpreter;
//! - [`column`] turns whatever holds many keys (lists, numpy, Arrow, pandas) into chunks for the core; [`foreign`] reads memory that others
//!   own; [`answers`] goes the other way. Unsafe code is in [`foreign`] and [`shared`] only.

mod answers;
mod bloom;
mod column;
mod command;
mod conservative;
mod count_groups;
mod countmin;
mod counts;
mod error;
mod file;
mod foreign;
mod groups;
mod hdfs;
mod heavy;
mod job;
mod key;
mod metadata;
mod near;
mod positions;
mod ranges;
mod shared;
mod similar;
mod sizing;

use pyo3::prelude::*;

/// The native part of umbel.
#[pymodule]
mod _umbel {
    #[pymodule_export]
    use super::bloom::Bloom;
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::conservative::Conservative;
    #[pymodule_export]
    use super::count_groups::CountGroups;
    #[pymodule_export]
    use super::countmin::CountMin;
    #[pymodule_export]
    use super::counts::Counts;
    #[pymodule_export]
    use super::file::{from_bytes, open};
    #[pymodule_export]
    use super::groups::Groups;
    #[pymodule_export]
    use super::hdfs::Hdfs;
    #[pymodule_export]
    use super::heavy::{Heavy, HeavyKey};
    #[pymodule_export]
    use super::jobs;
    #[pymodule_export]
    use super::near::Near;
    #[pymodule_export]
    use super::positions::Positions;
    #[pymodule_export]
    use super::ranges::Ranges;
    #[pymodule_export]
    use super::similar::Similar;
    #[pymodule_export]
    use super::sizing::{Sizing, size};
}

/// Work in parts, for `umbel.spark`.
#[pymodule]
mod jobs {
    #[pymodule_export]
    use super::command::main_on_spark;
    #[pymodule_export]
    use super::job::client::{
        abandon, audit, build, count, parameters, remembered_columns, screen,
    };
    #[pymodule_export]
    use super::job::tasks::{map_batches, map_content, map_stretches, reduce};
}
