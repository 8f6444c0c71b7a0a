//! The texts of a list, without counting references: that would write to every object.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{Borrowed, ffi};

use crate::key;

/// How many objects ahead memory is asked for one: they stand anywhere, and each would be waited for.
const AHEAD: usize = 16;

/// The texts of some rows, one behind the other, copied so that the interpreter can be left.
#[derive(Default)]
pub struct Texts {
    /// Those in use, and room for more.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The rows that are not None, if any is.
    places: Option<Vec<u32>>,
}

impl Texts {
    /// The texts of a list's `str` and `bytes` objects in this range.
    pub fn read(&mut self, list: &Bound<'_, PyList>, rows: Range<usize>) -> PyResult<()> {
        self.ends.clear();
        self.places = None;
        let item = |row: usize| {
            // SAFETY: the list is one, and we are attached.
            let object = unsafe { ffi::PyList_GetItem(list.as_ptr(), row as ffi::Py_ssize_t) };
            ask_for(object);
            object
        };
        let mut ahead = [std::ptr::null_mut(); AHEAD];
        ahead.iter_mut().zip(rows.clone()).for_each(|(object, row)| *object = item(row));
        for (place, row) in rows.clone().enumerate() {
            let object = ahead[place % AHEAD];
            if row + AHEAD < rows.end {
                ahead[place % AHEAD] = item(row + AHEAD);
            }
            // SAFETY: the list holds the object, or it is null and the error is set. Nothing here runs Python code, so the list does not
            // change before the object's bytes are copied.
            let object = unsafe { Borrowed::from_ptr_or_err(list.py(), object) }?;
            match object.is_none() {
                true => self.skip(place),
                false => self.push(place, key::bytes(&object)?),
            }
        }
        Ok(())
    }

    fn push(&mut self, row: usize, text: &[u8]) {
        let used = self.ends.last().copied().unwrap_or(0);
        let end = used + text.len();
        if end > self.bytes.len() {
            self.bytes.resize(2 * end, 0);
        }
        copy(text, &mut self.bytes[used..end]);
        self.ends.push(end);
        self.places.as_mut().into_iter().for_each(|places| places.push(row as u32));
    }

    /// A row that is None: from now on rows and texts are not the same.
    #[cold]
    fn skip(&mut self, row: usize) {
        self.places.get_or_insert_with(|| (0..row as u32).collect());
    }

    /// The texts, one by one.
    pub fn slices(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let cut = |&end: &usize| &self.bytes[std::mem::replace(&mut start, end)..end];
        self.ends.iter().map(cut).collect()
    }

    /// The rows, counted from the first that was read, that are not None; none if all are.
    pub fn places(&self) -> Option<&[u32]> {
        self.places.as_deref()
    }
}

/// Copies a text to a place of the same length; most are short, and not worth a call.
#[inline]
fn copy(text: &[u8], place: &mut [u8]) {
    match (text.first_chunk::<16>(), text.last_chunk::<16>()) {
        (Some(head), Some(tail)) if text.len() <= 32 => {
            // The two overlap where the text is shorter than both.
            place[..16].copy_from_slice(head);
            place[text.len() - 16..].copy_from_slice(tail);
        }
        _ => place.copy_from_slice(text),
    }
}

/// Asks memory for an object.
fn ask_for(object: *mut ffi::PyObject) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(object.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = object;
}
