//! How a file was when its job was planned: one that has changed before its mappers read it was cut at the wrong places.

use serde::{Deserialize, Serialize};

use crate::location::Location;
use crate::{Error, Result};

/// What tells whether a file is still the one that was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    len: u64,
    /// When it was changed, in milliseconds since 1970; on HDFS alone: of a local file every node may have a copy, each with a time of its own.
    changed: Option<u64>,
}

impl Stamp {
    /// That of a file now; none where only the engine can read it.
    pub(crate) fn of(file: &Location) -> Result<Option<Stamp>> {
        Ok(match file {
            Location::Local(path) => {
                let len = path.metadata().map_err(Error::io(file))?.len();
                Some(Stamp { len, changed: None })
            }
            Location::Hdfs(path) => {
                let status = path.existing()?;
                Some(Stamp { len: status.len, changed: Some(status.changed) })
            }
            Location::Elsewhere(_) => None,
        })
    }

    /// Refuses a file that is not the one that had this stamp. Lines that are added meanwhile, as to a log, are left for the next job.
    pub(crate) fn check(self, file: &Location) -> Result<()> {
        let Some(now) = Stamp::of(file)? else { return Ok(()) };
        let how = if now.len < self.len {
            format!("it had {} bytes and has {}", self.len, now.len)
        } else if now.changed != self.changed {
            "it was written again".into()
        } else {
            return Ok(());
        };
        Err(Error::Other(format!(
            "{file}: it has changed since the job was planned ({how}): run the job again when it stays as it is"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_grow_and_not_shrink() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let file = Location::Local(path.clone());
        std::fs::write(&path, "one\ntwo\n").unwrap();
        let stamp = Stamp::of(&file).unwrap().unwrap();
        stamp.check(&file).unwrap();
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        stamp.check(&file).unwrap();
        std::fs::write(&path, "one\n").unwrap();
        let said = stamp.check(&file).unwrap_err();
        assert!(!said.may_pass(), "a second attempt would say the same");
        let said = said.to_string();
        assert!(said.starts_with(&format!("{file}: it has changed")), "{said}");
        assert!(said.contains("it had 8 bytes and has 4"), "{said}");
    }
}
