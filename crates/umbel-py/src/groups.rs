//! A filter a group.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use umbel::KeyType;

use crate::bloom::{Bloom, warn};
use crate::column::{Column, Want};
use crate::error::OrRaise;
use crate::key::Key;
use crate::shared::Shared;
use crate::{answers, file, metadata};

/// Bloom filters by group, in one file, asked with one hash a key.
///
/// >>> from umbel import Bloom, Groups
/// >>> films = Groups()
/// >>> films["8"] = Bloom(1000, 0.01)
/// >>> films["10"] = Bloom(1000, 0.01)
/// >>> films.add("8", "tt0073537")
/// True
/// >>> films.which("tt0073537")
/// ['8']
/// >>> films.names()  # numbers in numeric order
/// ['8', '10']
#[pyclass(frozen, module = "umbel")]
pub struct Groups {
    inner: Shared<umbel::Groups>,
}

impl Groups {
    pub fn new(groups: umbel::Groups) -> Groups {
        Groups { inner: Shared::new(groups) }
    }

    fn want(&self, py: Python<'_>) -> Want {
        self.inner.glance(py, |groups| groups.key_type()).unwrap_or(KeyType::Bytes).into()
    }

    /// Asks with the bytes of a key.
    fn ask<R: Send>(
        &self,
        key: &Bound<'_, PyAny>,
        ask: impl FnOnce(&umbel::Groups, &[u8]) -> R + Send,
    ) -> PyResult<R> {
        let py = key.py();
        let key = Key::of(key, self.want(py) == Want::Integers)?;
        Ok(self.inner.glance(py, |groups| match key {
            Key::Bytes(key) => ask(groups, key),
            Key::Word(key) => ask(groups, &key.to_le_bytes()),
        }))
    }
}

#[pymethods]
impl Groups {
    #[new]
    fn create() -> Groups {
        Groups::new(umbel::Groups::default())
    }

    /// The names of the groups, in order: numbers by value, then other names.
    fn names(&self, py: Python<'_>) -> Vec<String> {
        self.inner.glance(py, |groups| groups.names().map(Into::into).collect())
    }

    /// The number of groups.
    fn __len__(&self, py: Python<'_>) -> usize {
        self.inner.glance(py, |groups| groups.len())
    }

    /// A copy of the filter of a group: what is added to the copy is not added here.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Bloom> {
        self.inner.read(py, |groups| groups.get(name).cloned()).map(Bloom::new).or_raise()
    }

    /// Puts a copy of a filter in place for a group. All groups have the same hash and the same type of keys.
    fn __setitem__(&self, py: Python<'_>, name: &str, filter: &Bloom) -> PyResult<()> {
        let filter = filter.get(py);
        self.inner.write(py, |groups| groups.set(name, filter)).or_raise()
    }

    /// Adds a key to a group; says whether it was certainly new there.
    fn add(&self, py: Python<'_>, group: &str, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = Key::of(key, self.want(py) == Want::Integers)?;
        let add = |groups: &mut umbel::Groups| match key {
            Key::Bytes(key) => groups.insert(group, key),
            Key::Word(key) => groups.insert_u64(group, key),
        };
        self.inner.touch(py, add).or_raise()
    }

    /// Adds many keys to a group; see Bloom.update. Returns their number; nulls are no keys.
    fn update(&self, py: Python<'_>, group: &str, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.inner.glance(py, |groups| groups.get(group).map(drop)).or_raise()?;
        let mut added = 0;
        let change = self.inner.change(py);
        let inner = change.writers();
        Column::of(keys)?.each(py, self.want(py), |chunk| {
            added += chunk.len() as u64;
            inner.lock().insert_batch(group, chunk.keys())
        })?;
        Ok(added)
    }

    /// The groups that a key may be in, in order.
    fn which(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        self.ask(key, |groups, key| groups.which(key).map(Into::into).collect())
    }

    /// Whether a key may be in any group; False is certain.
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.ask(key, |groups, key| groups.contains(key))
    }

    /// Looks up many keys in all groups, or in one: a numpy array of bool, or a list where there is no numpy. The answer for a null is False.
    #[pyo3(signature = (keys, group=None))]
    fn contains<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        group: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(name) = group {
            self.inner.glance(py, |groups| groups.get(name).map(drop)).or_raise()?;
        }
        let mut answers = Vec::new();
        Column::of(keys)?.each(py, self.want(py), |chunk| {
            let groups = self.inner.reader();
            chunk.answer(&mut answers, |answers| match group {
                Some(name) => groups.get(name)?.contains_batch(chunk.keys(), answers),
                None => chunk.with_bytes(|keys| in_any(&groups, keys, answers)),
            })
        })?;
        answers::bools(py, &answers)
    }

    /// Takes in all groups of another; groups of the same name are merged. Warns when a group then holds more keys than it was sized for.
    fn merge(&self, py: Python<'_>, other: &Groups) -> PyResult<()> {
        let merge = |ours: &mut umbel::Groups, theirs: &umbel::Groups| ours.merge(theirs);
        let warnings = self.inner.write_with(py, &other.inner, merge).or_raise()?;
        warnings
            .into_iter()
            .try_for_each(|(group, overfull)| warn(py, Some(format!("group {group}: {overfull}"))))
    }

    fn __ior__(&self, py: Python<'_>, other: &Groups) -> PyResult<()> {
        self.merge(py, other)
    }

    fn __or__(&self, py: Python<'_>, other: &Groups) -> PyResult<Groups> {
        let both = self.copy(py);
        both.merge(py, other)?;
        Ok(both)
    }

    /// Groups of their own with the same content.
    fn copy(&self, py: Python<'_>) -> Groups {
        Groups::new(self.inner.read(py, Clone::clone))
    }

    fn __copy__(&self, py: Python<'_>) -> Groups {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Groups {
        self.copy(py)
    }

    /// Equal parameters and equal bits in all groups; metadata and the number of calls do not count.
    fn __eq__(&self, py: Python<'_>, other: &Groups) -> bool {
        self.inner.read_with(py, &other.inner, |ours, theirs| ours == theirs)
    }

    /// A copy of the text pairs that travel with it; assign a dict to change them.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> BTreeMap<String, String> {
        self.inner.glance(py, |inner| metadata::to_map(inner.metadata()))
    }

    #[setter]
    fn set_metadata(&self, py: Python<'_>, pairs: BTreeMap<String, String>) {
        self.inner.touch(py, |inner| *inner.metadata_mut() = metadata::from_map(pairs));
    }

    /// Writes it to a file: complete or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.inner.read(py, |inner| inner.save(path)).or_raise()
    }

    /// Opens a file by mapping it. Every byte is verified, unless verify is False; the file is never changed.
    #[staticmethod]
    #[pyo3(signature = (path, *, verify=true))]
    fn open(py: Python<'_>, path: PathBuf, verify: bool) -> PyResult<Groups> {
        file::open_as(py, path, verify, umbel::Groups::open, umbel::Groups::open_unverified)
            .map(Groups::new)
    }

    /// The bytes that save would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read(py, umbel::Groups::to_bytes).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the bytes of a file hold.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Groups> {
        py.detach(|| umbel::Groups::from_bytes(&data)).map(Groups::new).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<file::Reduced<'py>> {
        file::reduced(py, self.to_bytes(py)?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<umbel.Groups of {} groups>", self.__len__(py))
    }
}

fn in_any(groups: &umbel::Groups, keys: &[&[u8]], answers: &mut [bool]) -> umbel::Result<()> {
    let mut found = vec![0; keys.len().div_ceil(64)];
    groups.contains_mask(keys, &mut found)?;
    answers
        .iter_mut()
        .enumerate()
        .for_each(|(i, answer)| *answer = found[i / 64] >> (i % 64) & 1 == 1);
    Ok(())
}
