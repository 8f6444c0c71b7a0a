//! How the inputs look: what they call the columns that are asked for.

/// What the inputs call the columns of key and group, as far as all of them agree, and whether they have columns at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// The name of the key's column: in each header it leads to the column that was read.
    pub key: Option<String>,
    /// The name of the group's column.
    pub by: Option<String>,
    /// Whether one of them has several columns: the first line of a text holds the delimiter.
    pub several: bool,
    /// Whether one of them seems to be made of JSON objects: the first line of a text is one.
    pub json: bool,
}

impl Look {
    /// Keeps what another input says too.
    pub fn agree(self, other: Look) -> Look {
        let both = |a: Option<String>, b: Option<String>| a.filter(|a| b.as_ref() == Some(a));
        Look {
            key: both(self.key, other.key),
            by: both(self.by, other.by),
            several: self.several || other.several,
            json: self.json || other.json,
        }
    }
}
