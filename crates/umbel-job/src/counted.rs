//! What a mapper has counted, as bytes. They are few, because they count against what a job sends: numbers in groups of seven bits, the
//! lowest first, each but the last with its top bit set; texts behind their length.

use crate::job::Counted;
use crate::{Error, Result};

/// What is there of the rest, in one number.
const LOOK: u64 = 1;
const SEVERAL: u64 = 2;
const KEY: u64 = 4;
const BY: u64 = 8;
const FIRST: u64 = 16;

impl Counted {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Counted { input, start, lines, rows, malformed, admitted, first, look } = self;
        for number in [*input as u64, *start, *lines, *rows, *malformed, *admitted] {
            put_number(&mut bytes, number);
        }
        let (key, by, several) = look.clone().unwrap_or_default();
        let flags = [
            (look.is_some(), LOOK),
            (several, SEVERAL),
            (key.is_some(), KEY),
            (by.is_some(), BY),
            (first.is_some(), FIRST),
        ];
        put_number(&mut bytes, flags.iter().map(|(set, flag)| u64::from(*set) * flag).sum());
        key.iter().chain(&by).for_each(|name| put_text(&mut bytes, name));
        if let Some((line, unit, reason)) = first {
            put_number(&mut bytes, *line);
            put_text(&mut bytes, unit);
            put_text(&mut bytes, reason);
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Counted> {
        let mut rest = bytes;
        let counted = Counted::read(&mut rest).filter(|_| rest.is_empty());
        counted.ok_or_else(|| Error::other("a mapper's count cannot be read"))
    }

    fn read(rest: &mut &[u8]) -> Option<Counted> {
        let input = usize::try_from(number(rest)?).ok()?;
        let [start, lines, rows, malformed, admitted, flags] = [
            number(rest)?,
            number(rest)?,
            number(rest)?,
            number(rest)?,
            number(rest)?,
            number(rest)?,
        ];
        let key = if flags & KEY != 0 { Some(text(rest)?) } else { None };
        let by = if flags & BY != 0 { Some(text(rest)?) } else { None };
        let first = match flags & FIRST {
            0 => None,
            _ => Some((number(rest)?, text(rest)?, text(rest)?)),
        };
        let look = (flags & LOOK != 0).then_some((key, by, flags & SEVERAL != 0));
        Some(Counted { input, start, lines, rows, malformed, first, admitted, look })
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let len = usize::try_from(number(rest)?).ok()?;
    let (text, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(std::str::from_utf8(text).ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_and_are_short() {
        let usual = Counted {
            input: 0,
            start: 3_900_000,
            lines: 157_000,
            rows: 157_000,
            malformed: 0,
            first: None,
            admitted: 0,
            look: None,
        };
        assert!(usual.to_bytes().len() <= 14);
        let first = Some((7, "line".into(), "wörter".into()));
        let name = |name: &str| Some(name.to_string());
        let looks = [
            None,
            Some((None, None, false)),
            Some((name("tconst"), None, true)),
            Some((None, name("by"), false)),
            Some((name(""), name("b"), true)),
        ];
        let many = Counted { rows: u64::MAX, start: u64::MAX, first, ..usual.clone() };
        for look in looks {
            for counted in [&usual, &many] {
                let counted = Counted { look: look.clone(), ..counted.clone() };
                let bytes = counted.to_bytes();
                assert_eq!(Counted::from_bytes(&bytes).unwrap(), counted);
                assert!((0..bytes.len()).all(|end| Counted::from_bytes(&bytes[..end]).is_err()));
                assert!(Counted::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
            }
        }
        assert!(Counted::from_bytes(&[0xFF; 30]).is_err());
    }
}
