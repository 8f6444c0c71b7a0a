//! The words of a task that gives up, on their way to the client.
//!
//! They travel as names of folders on HDFS, one in the other: a name takes no block, so it can be left where HDFS is full, which may be what the
//! words are about. Names are hexadecimal: HDFS allows not every character, and 255 bytes.

use umbel_job::HdfsPath;

use crate::{Error, Result};

/// Bytes of text in a name, and in all of them.
const NAME: usize = 120;
const TEXT: usize = 20 * NAME;

/// Leaves the words of a task below a folder.
pub(crate) fn leave(folder: &HdfsPath, task: &str, text: &str) -> Result<()> {
    let mut place = folder.join(task);
    for name in names(text) {
        place = place.join(&name);
    }
    place.make_folder()
}

/// What a task has left below a folder, if one has.
pub(crate) fn find(folder: &HdfsPath) -> Option<Error> {
    let mut names = Vec::new();
    let mut place = first(folder)?;
    while let Some(next) = first(&place) {
        names.push(next.file_name().to_string());
        place = next;
    }
    text(&names).map(Error::Other)
}

fn first(folder: &HdfsPath) -> Option<HdfsPath> {
    Some(folder.list().ok()?.into_iter().next()?.path)
}

fn names(text: &str) -> Vec<String> {
    let text = &text.as_bytes()[..text.len().min(TEXT)];
    let hexadecimal = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect();
    text.chunks(NAME).map(hexadecimal).collect()
}

fn text(names: &[String]) -> Option<String> {
    let digits = names.concat();
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    let text = String::from_utf8_lossy(&bytes?).trim().to_string();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let long = "größer als sonst: ".repeat(100);
        for words in ["hdfs:///s.txt: no such file", "x", long.trim()] {
            let names = names(words);
            assert!(names.iter().all(|name| name.len() <= 255));
            assert_eq!(text(&names).as_deref(), Some(words));
        }
        assert!(text(&names(&"ä".repeat(5000))).is_some_and(|words| words.len() <= TEXT + 3));
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["6g".into()]), None);
    }
}
