//! What the mappers of a job have counted, put together.

use std::collections::BTreeMap;

use umbel_io::tally::Place;
use umbel_io::{Look, Tally};

use crate::Result;
use crate::job::{Counted, Input};
use crate::record::{Kind, Record};

/// What the mappers have counted, in the order of the inputs.
pub(crate) fn counted(records: &[Record]) -> Result<Vec<Counted>> {
    let counted = records.iter().filter(|(key, _)| key.kind == Kind::Tally);
    let counted = counted.map(|(_, value)| Counted::from_bytes(value));
    let mut counted = counted.collect::<Result<Vec<_>>>()?;
    counted.sort_by_key(|counted| (counted.input, counted.start));
    Ok(counted)
}

/// The same as one run over all inputs would have counted.
pub(crate) fn tally(strict: bool, inputs: &[Input], counted: &[Counted]) -> Result<Tally> {
    let tally = add_up(counted, inputs);
    match &tally.first_malformed {
        Some((place, reason)) if strict => {
            Err(umbel_io::Error::Strict { place: place.clone(), reason }.into())
        }
        _ => Ok(tally.check()?),
    }
}

/// The counts of stretches in their order; the first malformed row by its line in the whole input.
fn add_up(counted: &[Counted], inputs: &[Input]) -> Tally {
    let mut tally = Tally::default();
    let (mut lines, mut looks) = (BTreeMap::new(), None::<Look>);
    for part in counted {
        let before = lines.entry(part.input).or_insert(0);
        if let (None, Some((line, unit, reason))) = (&tally.first_malformed, &part.first) {
            let place = Place {
                name: inputs.get(part.input).map(|input| input.path.clone()).unwrap_or_default(),
                unit: if unit == "row" { "row" } else { "line" },
                number: *before + line,
            };
            // One text, once a run: the tally knows only texts that live as long as the program.
            tally.first_malformed = Some((place, Box::leak(reason.clone().into_boxed_str())));
        }
        let look =
            part.look.clone().map(|(key, by, several)| Look { key, by, several, json: false });
        looks = match (looks, look) {
            (Some(before), Some(look)) => Some(before.agree(look)),
            (before, look) => before.or(look),
        };
        *before += part.lines;
        tally.lines += part.lines;
        tally.rows += part.rows;
        tally.malformed += part.malformed;
    }
    Tally { look: looks.unwrap_or_default(), ..tally }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_malformed_row_is_named_by_its_line_in_the_whole() {
        let part = |start, lines, first: Option<u64>| Counted {
            input: 0,
            start,
            lines,
            rows: lines - first.iter().count() as u64,
            malformed: first.iter().count() as u64,
            first: first.map(|line| (line, "line".into(), "wrong".into())),
            admitted: 0,
            look: None,
        };
        let inputs =
            [Input { path: "hdfs:///t".into(), header: Vec::new(), members: false, stamp: None }];
        let tally =
            add_up(&[part(0, 10, None), part(90, 7, Some(3)), part(200, 5, Some(1))], &inputs);
        let (place, reason) = tally.first_malformed.clone().unwrap();
        assert_eq!((place.to_string(), reason), ("hdfs:///t, line 13".into(), "wrong"));
        assert_eq!((tally.rows, tally.malformed, tally.lines), (20, 2, 22));
    }
}
