//! The near record of FORMAT.md: written here, checked here.

use super::elias_fano::{EliasFano, Shape};
use super::exact::Exact;
use super::grafite::{Codes, Grafite, MAX_CODES};
use super::growing::{Growing, Sizes, check_cells};
use super::level::LevelSize;
use super::{Grid, Near, Params, Store, Values};
use crate::format::Cursor;
use crate::memory::{LINE_BYTES, Memory};
use crate::{Error, Metadata, Result};

const EXACT: u8 = 1;
const GRAFITE: u8 = 2;
const GROWING: u8 = 3;
const FLOATS: u8 = 1;
const INTEGERS: u8 = 2;

impl Near {
    pub(crate) fn write_record(&self, out: &mut Vec<u8>) {
        let (structure, levels) = match &self.store {
            Store::Exact(_) => (EXACT, 0),
            Store::Grafite(_) => (GRAFITE, 0),
            Store::Growing(filter) => (GROWING, filter.levels().count() as u16),
        };
        let (params, grid) = (self.params, self.params.grid());
        out.push(structure);
        out.push(match grid.values() {
            Values::Floats => FLOATS,
            Values::Integers => INTEGERS,
        });
        out.extend(levels.to_le_bytes());
        out.extend([0; 4]);
        for float in [grid.alpha(), grid.beta(), params.p()] {
            out.extend(float.to_bits().to_le_bytes());
        }
        for number in [params.n(), params.seed(), self.inserted] {
            out.extend(number.to_le_bytes());
        }
        match &self.store {
            Store::Exact(list) => {
                out.extend(list.least().to_le_bytes());
                out.extend(list.greatest().to_le_bytes());
            }
            Store::Grafite(list) => {
                out.extend(list.codes().limit.to_le_bytes());
                out.extend(list.list().shape().count().to_le_bytes());
                out.extend(list.codes().block_bits.to_le_bytes());
                out.extend([0; 4]);
            }
            Store::Growing(filter) => {
                for size in filter.levels().map(|level| level.size()) {
                    out.extend(size.shift.to_le_bytes());
                    out.extend(size.probes.to_le_bytes());
                    out.extend(size.lines.to_le_bytes());
                }
            }
        }
    }
}

/// What a record says, before there are bits to it.
pub(crate) struct Record {
    params: Params,
    inserted: u64,
    layout: Layout,
}

enum Layout {
    Exact { least: i64, shape: Shape },
    Grafite { codes: Codes, shape: Shape },
    Growing(Sizes),
}

impl Record {
    pub(crate) fn read(from: &mut Cursor<'_>) -> Result<Record> {
        let (structure, values, levels) = (from.u8()?, from.u8()?, from.u16()?);
        zero(from.u32()?)?;
        let mut float = || from.u64().map(f64::from_bits);
        let (alpha, beta, p) = (float()?, float()?, float()?);
        let (n, seed, inserted) = (from.u64()?, from.u64()?, from.u64()?);
        let values = match values {
            FLOATS => Values::Floats,
            INTEGERS => Values::Integers,
            _ => return Err(unknown("values", values)),
        };
        let params = Params::new(Grid::with(alpha, beta, values)?, n, p)?.with_seed(seed);
        let layout = match (structure, levels) {
            (EXACT, 0) => read_exact(from, &params)?,
            (GRAFITE, 0) => read_grafite(from, &params)?,
            (GROWING, 1 | 2) => read_growing(from, &params, levels == 2)?,
            (EXACT | GRAFITE | GROWING, _) => return Err(unknown("levels", levels)),
            _ => return Err(unknown("structure", structure)),
        };
        Ok(Record { params, inserted, layout })
    }

    /// The structure; `body` gives the next so many bytes of the file's bits.
    pub(crate) fn into_near(self, mut body: impl FnMut(u64) -> Result<Memory>) -> Result<Near> {
        let Record { params, inserted, layout } = self;
        let mut list =
            |shape: Shape| Ok::<_, Error>(EliasFano::from_memory(shape, body(shape.bytes())?));
        let store = match layout {
            Layout::Exact { least, shape } => Store::Exact(Exact::from_list(least, list(shape)?)),
            Layout::Grafite { codes, shape } => {
                Store::Grafite(Grafite::from_list(codes, list(shape)?))
            }
            Layout::Growing(sizes) => {
                Store::Growing(Growing::with(sizes, params.seed(), |size| {
                    body(size.lines * LINE_BYTES as u64)
                })?)
            }
        };
        Ok(Near { params, store, inserted, metadata: Metadata::default() })
    }
}

fn read_exact(from: &mut Cursor<'_>, params: &Params) -> Result<Layout> {
    let [least, greatest] = [from.u64()? as i64, from.u64()? as i64];
    let between = i128::from(greatest) - i128::from(least) + 1;
    let empty = params.n() == 0;
    if i128::from(params.n()) > between || (empty && (least, greatest) != (0, 0)) {
        return Err(lie("the cells do not lie between the least and the greatest"));
    }
    let [first, last] = params.grid().ends();
    if least < first || greatest > last {
        return Err(lie("no value has the least or the greatest cell"));
    }
    let shape = Exact::shape(params.n(), least, greatest);
    shape.check()?;
    Ok(Layout::Exact { least, shape })
}

fn read_grafite(from: &mut Cursor<'_>, params: &Params) -> Result<Layout> {
    let (limit, count, block_bits) = (from.u64()?, from.u64()?, from.u32()?);
    zero(from.u32()?)?;
    let block = 1_u64.checked_shl(block_bits).unwrap_or(u64::MAX);
    // Shorter blocks would cut a question into very many parts.
    let shortest = params.grid().most_cells() / 64;
    if !(1..=MAX_CODES).contains(&limit) || block > limit || block < shortest {
        return Err(lie("the codes do not fit the distance"));
    }
    if count > params.n().min(limit) || (count == 0) != (params.n() == 0) {
        return Err(lie("the number of codes does not fit the number of cells"));
    }
    let shape = Shape::new(count, limit - 1);
    shape.check()?;
    Ok(Layout::Grafite { codes: Codes { limit, block_bits, seed: params.seed() }, shape })
}

fn read_growing(from: &mut Cursor<'_>, params: &Params, two_levels: bool) -> Result<Layout> {
    let cells = params.grid().most_cells();
    check_cells(cells)?;
    let coarse = if two_levels { Some(read_level(from)?) } else { None };
    let sizes = Sizes { coarse, fine: read_level(from)? };
    let fits = coarse.is_none_or(|coarse| coarse.shift < 63 && 1 << coarse.shift >= cells);
    if params.n() == 0 || sizes.fine.shift != 0 || !fits {
        return Err(lie("the levels do not fit the distance"));
    }
    sizes.check()?;
    Ok(Layout::Growing(sizes))
}

fn read_level(from: &mut Cursor<'_>) -> Result<LevelSize> {
    let (shift, probes, lines) = (from.u32()?, from.u32()?, from.u64()?);
    if !(1..=64).contains(&probes) || lines == 0 {
        return Err(lie("a level has no lines or a number of probes that is not 1 to 64"));
    }
    Ok(LevelSize { shift, probes, lines })
}

fn zero(field: u32) -> Result<()> {
    if field == 0 { Ok(()) } else { Err(unknown("field", field)) }
}

fn unknown(what: &str, found: impl std::fmt::Display) -> Error {
    Error::Format(format!("{what} {found} of a near record is unknown to this version of umbel"))
}

fn lie(what: &str) -> Error {
    Error::Format(format!("the near record contradicts itself: {what}"))
}
