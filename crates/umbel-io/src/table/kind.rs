//! What the values of a column are, and which columns can be keys or groups.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

/// What the values of a column are to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    Signed,
    Unsigned,
    Float,
}

impl Kind {
    /// The kind of a column, or the name of a type that can be neither key nor group.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Kind, String> {
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err("a list, map or struct".into());
        }
        let meaning = (column.logical_type_ref(), column.converted_type());
        let kind = match column.physical_type() {
            Type::INT32 | Type::INT64 => integer(meaning),
            Type::FLOAT | Type::DOUBLE => Some(Kind::Float),
            Type::BYTE_ARRAY => text(meaning),
            Type::FIXED_LEN_BYTE_ARRAY if meaning == (None, ConvertedType::NONE) => {
                Some(Kind::Bytes)
            }
            _ => None,
        };
        kind.ok_or_else(|| type_name(column))
    }
}

type Meaning<'a> = (Option<&'a LogicalType>, ConvertedType);

/// Dates, times and decimals are stored as integers too, but their numbers are not what anyone sees.
fn integer(meaning: Meaning) -> Option<Kind> {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
    match meaning {
        (Some(LogicalType::Integer(int)), _) if int.is_signed => Some(Kind::Signed),
        (Some(LogicalType::Integer(_)), _) => Some(Kind::Unsigned),
        (None, NONE | INT_8 | INT_16 | INT_32 | INT_64) => Some(Kind::Signed),
        (None, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Some(Kind::Unsigned),
        _ => None,
    }
}

fn text(meaning: Meaning) -> Option<Kind> {
    use LogicalType::{Bson, Enum, Json, String};
    match meaning {
        (Some(String | Enum | Json | Bson), _) => Some(Kind::Bytes),
        (None, ConvertedType::DECIMAL | ConvertedType::INTERVAL) | (Some(_), _) => None,
        (None, _) => Some(Kind::Bytes),
    }
}

/// How messages name a type: the meaning where there is one, else the way it is stored.
fn type_name(column: &ColumnDescriptor) -> String {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(logical), _) => {
            let name = format!("{logical:?}");
            name.split(['(', ' ', '{']).next().unwrap_or_default().to_uppercase()
        }
        (None, ConvertedType::NONE) => column.physical_type().to_string(),
        (None, converted) => converted.to_string(),
    }
}
