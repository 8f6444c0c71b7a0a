//! What is stored and asked for.

use std::fmt;

/// A number as it is given: a float or an integer. Each structure holds one of the two and takes the other only where it is
/// exactly the same number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A 64-bit float.
    Float(f64),
    /// A 64-bit integer.
    Integer(i64),
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number::Float(x)
    }
}

impl From<i64> for Number {
    fn from(x: i64) -> Number {
        Number::Integer(x)
    }
}

impl From<i32> for Number {
    fn from(x: i32) -> Number {
        Number::Integer(x.into())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Hundreds of zeros say less.
            Number::Float(x) if *x != 0.0 && !(1e-9..1e18).contains(&x.abs()) => write!(f, "{x:e}"),
            Number::Float(x) => x.fmt(f),
            Number::Integer(x) => x.fmt(f),
        }
    }
}

/// What the values of a structure are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Values {
    /// 64-bit floats.
    Floats,
    /// 64-bit integers.
    Integers,
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Values::Floats => "floats",
            Values::Integers => "integers",
        })
    }
}
