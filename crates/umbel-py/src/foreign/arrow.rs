//! Arrow's C data interface: arrays of any library, read where they stand.
//!
//! The structs and what their fields mean are those of the published specification of Arrow's C data and C stream interfaces. Whoever exports an
//! array promises that its buffers are what its format says; that promise is all that the unsafe code here relies on.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use umbel_io::value::Value;

#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A struct of the interface: all zeros is one that was released.
trait Exported: Sized {
    const NAME: &'static CStr;

    fn released() -> Self {
        // SAFETY: zeros are null pointers, no functions, and the number 0.
        unsafe { std::mem::zeroed() }
    }

    /// Takes the struct out of its capsule. The capsule keeps one that was released, as the specification asks of those who move it.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let place = capsule.cast::<PyCapsule>()?.pointer_checked(Some(Self::NAME))?;
        // SAFETY: a capsule of this name holds this struct, and we are attached: nobody else moves it meanwhile.
        Ok(unsafe { place.cast::<Self>().replace(Self::released()) })
    }
}

impl Exported for Schema {
    const NAME: &'static CStr = c"arrow_schema";
}

impl Exported for Array {
    const NAME: &'static CStr = c"arrow_array";
}

impl Exported for Stream {
    const NAME: &'static CStr = c"arrow_array_stream";
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was exported to us and not released before.
            unsafe { release(self) }
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was exported to us and not released before.
            unsafe { release(self) }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was exported to us and not released before.
            unsafe { release(self) }
        }
    }
}

// SAFETY: the specification lets any thread use and release what was exported, one at a time.
unsafe impl Send for Schema {}
// SAFETY: as above; and nothing here changes an array but its release.
unsafe impl Send for Array {}
// SAFETY: nothing here changes an array but its release.
unsafe impl Sync for Array {}
// SAFETY: the specification lets any thread use and release what was exported, one at a time.
unsafe impl Send for Stream {}

/// The array that a Python object exports, if it is one.
pub fn array(object: &Bound<'_, PyAny>) -> PyResult<Option<(Kind, Array)>> {
    if !object.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        object.call_method0("__arrow_c_array__")?.extract()?;
    let schema = Schema::take(&schema)?;
    Ok(Some((schema.kind()?, Array::take(&array)?)))
}

/// The stream of arrays that a Python object exports, if it has one.
pub fn stream(object: &Bound<'_, PyAny>) -> PyResult<Option<Stream>> {
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    Stream::take(&object.call_method0("__arrow_c_stream__")?).map(Some)
}

impl Stream {
    /// What the arrays hold.
    pub fn kind(&mut self) -> PyResult<Kind> {
        let mut schema = Schema::released();
        let Some(get_schema) = self.get_schema else { return Err(was_released()) };
        // SAFETY: the stream is not released, and the schema is ours to be written.
        let code = unsafe { get_schema(self, &mut schema) };
        self.check(code)?;
        schema.kind()
    }

    /// The next array; none at the end.
    pub fn next(&mut self) -> PyResult<Option<Array>> {
        let mut array = Array::released();
        let Some(get_next) = self.get_next else { return Err(was_released()) };
        // SAFETY: the stream is not released, and the array is ours to be written.
        let code = unsafe { get_next(self, &mut array) };
        self.check(code)?;
        Ok(array.release.is_some().then_some(array))
    }

    fn check(&mut self, code: c_int) -> PyResult<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the stream has just failed; what it says is null or text that lasts until the next call.
        let text = self.get_last_error.map(|last| unsafe { last(self) });
        let text = text.filter(|text| !text.is_null()).map(|text| {
            // SAFETY: see above.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        });
        let text = text.unwrap_or_else(|| std::io::Error::from_raw_os_error(code).to_string());
        Err(PyValueError::new_err(format!("the stream of arrays failed: {text}")))
    }
}

fn was_released() -> PyErr {
    PyValueError::new_err("the stream of arrays was used up before")
}

/// What an array holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but nulls.
    Null,
    /// Text or bytes, cut by 32-bit offsets.
    Text,
    /// Text or bytes, cut by 64-bit offsets.
    LargeText,
    /// Text or bytes behind views.
    Views,
    /// Bytes of this length each.
    Fixed(usize),
    Integers {
        bytes: u8,
        signed: bool,
    },
    Floats {
        bytes: u8,
    },
    /// Integers that point into other values.
    Dictionary {
        index: Box<Kind>,
        values: Box<Kind>,
    },
}

impl Schema {
    fn kind(&self) -> PyResult<Kind> {
        if self.release.is_none() {
            return Err(PyValueError::new_err("the array was used up before"));
        }
        // SAFETY: the format of a schema that is not released is text that ends with a zero.
        let format = unsafe { CStr::from_ptr(self.format) }.to_string_lossy();
        let kind = Kind::of(&format)?;
        // SAFETY: null, or a schema that lives as long as this one.
        match unsafe { self.dictionary.as_ref() } {
            Some(values) => {
                // A dictionary's own schema is never released apart from this one.
                // SAFETY: as for the format above.
                let values = unsafe { CStr::from_ptr(values.format) }.to_string_lossy();
                Ok(Kind::Dictionary { index: Box::new(kind), values: Box::new(Kind::of(&values)?) })
            }
            None => Ok(kind),
        }
    }
}

impl Kind {
    fn of(format: &str) -> PyResult<Kind> {
        let integers = |bytes, signed| Kind::Integers { bytes, signed };
        Ok(match format {
            "n" => Kind::Null,
            "z" | "u" => Kind::Text,
            "Z" | "U" => Kind::LargeText,
            "vz" | "vu" => Kind::Views,
            "c" => integers(1, true),
            "C" => integers(1, false),
            "s" => integers(2, true),
            "S" => integers(2, false),
            "i" => integers(4, true),
            "I" => integers(4, false),
            "l" => integers(8, true),
            "L" => integers(8, false),
            "f" => Kind::Floats { bytes: 4 },
            "g" => Kind::Floats { bytes: 8 },
            "+s" => {
                return Err(PyTypeError::new_err("this is a table: give one of its columns"));
            }
            other => match other.strip_prefix("w:").and_then(|width| width.parse().ok()) {
                Some(width) => Kind::Fixed(width),
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "an Arrow array of the format {other:?} holds no keys: text, bytes and integers do"
                    )));
                }
            },
        })
    }

    /// What messages call its values.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Null => "nulls",
            Kind::Text | Kind::LargeText | Kind::Views => "text",
            Kind::Fixed(_) => "bytes",
            Kind::Integers { .. } => "integers",
            Kind::Floats { .. } => "floats",
            Kind::Dictionary { .. } => "a dictionary",
        }
    }

    /// What its values are, be it by way of a dictionary.
    pub fn values(&self) -> &Kind {
        match self {
            Kind::Dictionary { values, .. } => values,
            other => other,
        }
    }
}

impl Array {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether there can be nulls.
    pub fn has_nulls(&self) -> bool {
        !self.validity().is_null()
    }

    /// The 64-bit words of an array of integers without nulls, where they stand as Rust wants them.
    pub fn words(&self, kind: &Kind) -> Option<&[u64]> {
        let whole = matches!(kind, Kind::Integers { bytes: 8, .. }) && !self.has_nulls();
        whole.then(|| self.plain()).flatten()
    }

    /// The floats of an array of them without nulls, where they stand as Rust wants them.
    pub fn floats(&self, kind: &Kind) -> Option<&[f64]> {
        let whole = matches!(kind, Kind::Floats { bytes: 8 }) && !self.has_nulls();
        whole.then(|| self.plain()).flatten()
    }

    fn plain<T: bytemuck::Pod>(&self) -> Option<&[T]> {
        if self.length == 0 {
            return Some(&[]);
        }
        let first = self.buffer(1).cast::<T>();
        if !first.is_aligned() {
            return None;
        }
        // SAFETY: the buffer holds offset + length values of this size, any bits are one, and it lives as long as the array.
        Some(unsafe { std::slice::from_raw_parts(first.add(self.offset as usize), self.len()) })
    }

    /// Hands out the bytes of the rows that are not null, with their places.
    pub fn each_text<'a>(
        &'a self,
        kind: &Kind,
        rows: Range<usize>,
        mut take: impl FnMut(usize, &'a [u8]),
    ) {
        assert!(rows.end <= self.len(), "rows lie in the array");
        for row in rows {
            if let Some(text) = self.text(kind, row) {
                take(row, text);
            }
        }
    }

    /// The texts of rows that are cut by 32-bit offsets, none of them null.
    pub fn texts(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = &[u8]> {
        self.between_offsets::<i32>(rows)
    }

    /// The texts of rows that are cut by 64-bit offsets, none of them null.
    pub fn large_texts(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = &[u8]> {
        self.between_offsets::<i64>(rows)
    }

    /// The texts of rows that are behind views, none of them null.
    pub fn views(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = &[u8]> {
        assert!(rows.end <= self.len(), "rows lie in the array");
        rows.map(|row| self.view(row))
    }

    fn between_offsets<T: bytemuck::Pod + Into<i64>>(
        &self,
        rows: Range<usize>,
    ) -> impl ExactSizeIterator<Item = &[u8]> {
        assert!(rows.end <= self.len(), "rows lie in the array");
        let (offsets, bytes) = (self.buffer(1).cast::<T>(), self.buffer(2));
        rows.map(move |row| self.cut(offsets, bytes, row))
    }

    /// Hands out the integers of the rows that are not null, sign extended, with their places.
    pub fn each_word(&self, kind: &Kind, rows: Range<usize>, mut take: impl FnMut(usize, u64)) {
        assert!(rows.end <= self.len(), "rows lie in the array");
        for row in rows {
            if let Some(word) = self.word(kind, row) {
                take(row, word);
            }
        }
    }

    /// Hands out the floats of the rows that are not null, with their places.
    pub fn each_float(&self, kind: &Kind, rows: Range<usize>, mut take: impl FnMut(usize, f64)) {
        assert!(rows.end <= self.len(), "rows lie in the array");
        for row in rows.filter(|&row| self.is_valid(row)) {
            match kind {
                Kind::Floats { bytes: 4 } => take(row, f64::from(self.value::<f32>(row))),
                Kind::Floats { .. } => take(row, self.value(row)),
                _ => {}
            }
        }
    }

    /// The value of a row.
    #[inline]
    pub fn value_at(&self, kind: &Kind, row: usize) -> Value<'_> {
        assert!(row < self.len(), "rows lie in the array");
        match kind.values() {
            Kind::Integers { signed, .. } => match self.word(kind, row) {
                Some(word) if *signed => Value::Signed(word.cast_signed()),
                Some(word) => Value::Unsigned(word),
                None => Value::Null,
            },
            Kind::Floats { bytes } if self.is_valid(row) => match bytes {
                4 => Value::Single(self.value(row)),
                _ => Value::Double(self.value(row)),
            },
            _ => self.text(kind, row).map_or(Value::Null, Value::Bytes),
        }
    }

    /// The bytes of a row; none where it is null.
    fn text(&self, kind: &Kind, row: usize) -> Option<&[u8]> {
        if !self.is_valid(row) {
            return None;
        }
        match kind {
            Kind::Text => Some(self.offset_text::<i32>(row)),
            Kind::LargeText => Some(self.offset_text::<i64>(row)),
            Kind::Views => Some(self.view(row)),
            Kind::Fixed(width) => {
                let at = (row + self.offset as usize) * width;
                Some(self.bytes(1, at, *width))
            }
            Kind::Dictionary { index, values } => {
                let at = self.word(index, row)?;
                self.values(at).and_then(|(dictionary, at)| dictionary.text(values, at))
            }
            Kind::Null | Kind::Integers { .. } | Kind::Floats { .. } => None,
        }
    }

    /// The integer of a row, sign extended; none where it is null.
    fn word(&self, kind: &Kind, row: usize) -> Option<u64> {
        if !self.is_valid(row) {
            return None;
        }
        match *kind {
            Kind::Integers { bytes: 1, signed: true } => {
                Some(i64::from(self.value::<i8>(row)) as u64)
            }
            Kind::Integers { bytes: 1, .. } => Some(self.value::<u8>(row).into()),
            Kind::Integers { bytes: 2, signed: true } => {
                Some(i64::from(self.value::<i16>(row)) as u64)
            }
            Kind::Integers { bytes: 2, .. } => Some(self.value::<u16>(row).into()),
            Kind::Integers { bytes: 4, signed: true } => {
                Some(i64::from(self.value::<i32>(row)) as u64)
            }
            Kind::Integers { bytes: 4, .. } => Some(self.value::<u32>(row).into()),
            Kind::Integers { .. } => Some(self.value(row)),
            Kind::Dictionary { ref index, ref values } => {
                let at = self.word(index, row)?;
                self.values(at).and_then(|(dictionary, at)| dictionary.word(values, at))
            }
            _ => None,
        }
    }

    /// The array of the dictionary, and a place in it.
    fn values(&self, at: u64) -> Option<(&Array, usize)> {
        // SAFETY: null, or an array that lives as long as this one.
        let dictionary = unsafe { self.dictionary.as_ref() }?;
        let at = usize::try_from(at).ok().filter(|&at| at < dictionary.len())?;
        Some((dictionary, at))
    }

    /// A null pointer where nothing is null.
    fn validity(&self) -> *const u8 {
        match self.null_count == 0 || self.n_buffers == 0 {
            true => std::ptr::null(),
            false => self.buffer(0),
        }
    }

    #[inline]
    fn is_valid(&self, row: usize) -> bool {
        let (bits, bit) = (self.validity(), row + self.offset as usize);
        // SAFETY: the bitmap has a bit for each of the offset + length rows.
        bits.is_null() || unsafe { *bits.add(bit / 8) } >> (bit % 8) & 1 == 1
    }

    /// A value of a buffer of plain values. The caller has checked the row.
    #[inline]
    fn value<T: bytemuck::Pod>(&self, row: usize) -> T {
        let place = self.buffer(1).cast::<T>();
        // SAFETY: the buffer holds offset + length values of this size; they may stand anywhere.
        unsafe { place.add(row + self.offset as usize).read_unaligned() }
    }

    /// The bytes between two offsets. The caller has checked the row.
    #[inline]
    fn offset_text<T: bytemuck::Pod + Into<i64>>(&self, row: usize) -> &[u8] {
        self.cut(self.buffer(1).cast::<T>(), self.buffer(2), row)
    }

    /// The same with both buffers at hand.
    #[inline]
    fn cut<T: bytemuck::Pod + Into<i64>>(
        &self,
        offsets: *const T,
        bytes: *const u8,
        row: usize,
    ) -> &[u8] {
        // SAFETY: there is an offset more than there are rows.
        let [start, end] = unsafe {
            let place = offsets.add(row + self.offset as usize);
            [place.read_unaligned(), place.add(1).read_unaligned()]
        };
        let (start, end): (i64, i64) = (start.into(), end.into());
        if start >= end {
            return &[];
        }
        // SAFETY: offsets point into the bytes, which live as long as the array.
        unsafe { std::slice::from_raw_parts(bytes.add(start as usize), (end - start) as usize) }
    }

    /// The bytes behind a view: up to twelve stand in it, more in one of the buffers behind.
    #[inline]
    fn view(&self, row: usize) -> &[u8] {
        // SAFETY: there is a view of 16 bytes for each of the offset + length rows, and it lives as long as the array.
        let view: &[u8; 16] =
            unsafe { &*self.buffer(1).cast::<[u8; 16]>().add(row + self.offset as usize) };
        let number = |at: usize| {
            i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize
        };
        let length = number(0);
        if length <= 12 {
            &view[4..4 + length]
        } else {
            self.bytes(2 + number(8), number(12), length)
        }
    }

    #[inline]
    fn bytes(&self, buffer: usize, at: usize, length: usize) -> &[u8] {
        if length == 0 {
            return &[];
        }
        // SAFETY: offsets, views and widths point into the buffer they belong to, which lives as long as the array.
        unsafe { std::slice::from_raw_parts(self.buffer(buffer).add(at), length) }
    }

    #[inline]
    fn buffer(&self, index: usize) -> *const u8 {
        assert!(
            (index as i64) < self.n_buffers,
            "an array has the buffers that its format asks for"
        );
        // SAFETY: there are so many pointers.
        unsafe { self.buffers.add(index).read() }.cast()
    }
}
