//! What the tests share.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use umbel_io::screen::{Summary, Wanted, screen};
use umbel_io::{Build, Column, Driver, Error, Filters, Meter, Plan, Shape, Source, Tally};

/// Every number of threads that the results must not depend on.
pub const THREADS: [usize; 4] = [1, 2, 3, 7];

/// A folder that goes when the test is over.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}

/// Reads one file.
pub fn driver(path: &Path, shape: &Shape, threads: usize) -> Driver {
    driver_over(&[path.into()], shape, threads)
}

/// Reads several files as one.
pub fn driver_over(paths: &[PathBuf], shape: &Shape, threads: usize) -> Driver {
    Driver {
        sources: paths.iter().map(Source::new).collect(),
        shape: shape.clone(),
        threads,
        strict: false,
        meter: Arc::new(Meter::default()),
    }
}

pub fn key(column: &str) -> Shape {
    Shape { key: Some(column.parse().unwrap()), ..Shape::default() }
}

pub fn key_by(key: &str, by: &str, round: bool) -> Shape {
    let column = |text: &str| Some(text.parse::<Column>().unwrap());
    Shape { key: column(key), by: column(by), round, ..Shape::default() }
}

pub fn plan(n: Option<u64>) -> Plan {
    Plan { n, p: Some(0.01), ..Plan::default() }
}

pub fn build(plan: Plan) -> Build {
    Build { plan, like: None, memory: 1 << 30 }
}

/// What the driver reads, built into filters as the shape asks.
pub fn try_filters(build: &Build, driver: &Driver) -> Result<(Filters, Tally), Error> {
    if driver.shape.by.is_some() {
        build.groups(driver).map(|(groups, tally)| (Filters::Groups(groups), tally))
    } else {
        build.bloom(driver).map(|(filter, tally)| (Filters::One(filter), tally))
    }
}

pub fn filters(build: &Build, driver: &Driver) -> (Filters, Tally) {
    try_filters(build, driver).unwrap()
}

pub fn file_bytes(filters: &Filters) -> Vec<u8> {
    match filters {
        Filters::One(filter) => filter.to_bytes().unwrap(),
        Filters::Groups(groups) => groups.to_bytes().unwrap(),
    }
}

/// The bytes of the filter file and the counts.
pub fn built(build: &Build, driver: &Driver) -> (Vec<u8>, Tally) {
    let (filters, tally) = filters(build, driver);
    (file_bytes(&filters), tally)
}

/// The error of a build.
pub fn refused(driver: &Driver) -> String {
    try_filters(&build(plan(None)), driver).map(|(_, tally)| tally).unwrap_err().to_string()
}

/// Admitted lines, rejected lines, counts.
pub fn screened(driver: &Driver, filters: &Filters) -> (Vec<u8>, Vec<u8>, Summary) {
    let (mut admitted, mut rejected) = (Vec::new(), Vec::new());
    let wanted = Wanted { admitted: true, rejected: true };
    let summary = screen(driver, filters, None, wanted, |lines| {
        admitted.extend(&lines.admitted);
        rejected.extend(&lines.rejected);
        Ok(())
    });
    (admitted, rejected, summary.unwrap())
}
