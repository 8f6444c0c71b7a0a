//! Lines that a job keeps: a file for each stretch, in a folder that takes its place when the job is done.

use std::io::{self, Write};

use umbel::format::NewFile;

use crate::hdfs::{self, HdfsPath};
use crate::job::Stretch;
use crate::location::Location;
use crate::unfinished::Unfinished;
use crate::{Error, Result};

/// How the names of files with kept lines begin.
pub const LINES: &str = "lines-";

/// The name of the file of a stretch: names are in the order of the input.
pub fn file_name(place: Stretch) -> String {
    let start = place.bytes.map_or(0, |(start, _)| start);
    format!("{LINES}{:06}-{start:020}", place.input)
}

/// The folder where the lines for a folder are gathered: beside it, hidden.
pub fn aside(to: &Location) -> Location {
    let name = format!(".{}.{}.part", to.file_name(), std::process::id());
    match to {
        Location::Local(path) => Location::Local(path.with_file_name(name)),
        Location::Hdfs(path) => Location::Hdfs(path.parent().join(&name)),
        Location::Elsewhere(path) => Location::Elsewhere(path.clone()),
    }
}

/// Makes the folder, and those above it that are not there: all of them go unless they are kept.
pub fn begin(folder: &Location) -> Result<Unfinished> {
    let unfinished = Unfinished::new(folder.clone(), folder.missing_folders()?);
    match folder {
        Location::Local(path) => std::fs::create_dir_all(path).map_err(Error::io(folder))?,
        Location::Hdfs(path) => path.make_folder()?,
        Location::Elsewhere(_) => return Err(unwritable(folder)),
    }
    Ok(unfinished)
}

/// The lines of a stretch: whichever attempt is whole last is the one that stands there, and all are the same.
pub enum LinesFile {
    /// On this machine.
    Local(NewFile),
    /// On HDFS.
    Hdfs(Box<hdfs::NewFile>),
}

impl LinesFile {
    /// Begins the file of a stretch.
    pub fn create(folder: &Location, place: Stretch) -> Result<LinesFile> {
        let name = file_name(place);
        Ok(match folder {
            Location::Local(path) => LinesFile::Local(NewFile::create(path.join(name))?),
            Location::Hdfs(path) => {
                LinesFile::Hdfs(Box::new(hdfs::NewFile::create(&path.join(&name))?))
            }
            Location::Elsewhere(_) => return Err(unwritable(folder)),
        })
    }

    /// It is whole.
    pub fn commit(self) -> Result<()> {
        match self {
            LinesFile::Local(file) => Ok(file.commit()?),
            LinesFile::Hdfs(file) => file.commit(),
        }
    }
}

impl Write for LinesFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            LinesFile::Local(file) => file.write(bytes),
            LinesFile::Hdfs(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a new folder of kept lines of one where mappers have left them, among other things perhaps.
pub fn publish(from: &Location, to: &Location) -> Result<()> {
    match (from, to) {
        (Location::Local(from), Location::Local(to)) => {
            publish_local(from, to).map_err(Error::io(to.display()))
        }
        (Location::Hdfs(from), Location::Hdfs(to)) => publish_on_hdfs(from, to),
        _ => Err(unwritable(to)),
    }
}

/// Takes away what was gathered, if there is anything.
pub fn discard(folder: &Location) {
    let _ = match folder {
        Location::Local(path) => remove_folder(path).map_err(Error::io(folder)),
        Location::Hdfs(path) => path.remove(),
        Location::Elsewhere(_) => Ok(()),
    };
}

/// Removes a folder. Tasks that do not know yet that nobody wants their files may put some there in the meantime: that ends soon.
fn remove_folder(path: &std::path::Path) -> io::Result<()> {
    for _ in 0..100 {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            done => return done,
        }
    }
    std::fs::remove_dir_all(path)
}

fn publish_local(from: &std::path::Path, to: &std::path::Path) -> io::Result<()> {
    let mut files: Vec<_> =
        from.read_dir()?.map(|found| Ok(found?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut part = 0;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with(LINES) {
            std::fs::remove_file(file)?;
            continue;
        }
        std::fs::rename(file, from.join(part_name(part)))?;
        part += 1;
    }
    std::fs::rename(from, to)
}

fn publish_on_hdfs(from: &HdfsPath, to: &HdfsPath) -> Result<()> {
    let is_lines = |path: &HdfsPath| path.file_name().starts_with(LINES);
    let (lines, others): (Vec<_>, Vec<_>) =
        from.list()?.into_iter().map(|found| found.path).partition(is_lines);
    others.iter().try_for_each(HdfsPath::remove)?;
    for (i, file) in lines.iter().enumerate() {
        file.rename(&from.join(&part_name(i)))?;
    }
    let made = Unfinished::new(None, to.missing_folders()?);
    to.parent().make_folder()?;
    from.rename(to)?;
    made.keep();
    Ok(())
}

fn part_name(number: usize) -> String {
    format!("part-{number:05}")
}

fn unwritable(folder: &Location) -> Error {
    Error::other(format!(
        "{folder}: lines are kept on HDFS, or in a folder that all nodes see: choose one there"
    ))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn folders_that_were_made_for_it_go_with_it() {
        let parent = tempfile::tempdir().unwrap();
        let there = |name: &str| Location::Local(parent.path().join(name));
        drop(begin(&there("a/b/.kept.part")).unwrap());
        assert!(!parent.path().join("a").exists());
        std::fs::create_dir(parent.path().join("c")).unwrap();
        drop(begin(&there("c/d/.kept.part")).unwrap());
        assert!(parent.path().join("c").exists() && !parent.path().join("c/d").exists());
        begin(&there("e/f/.kept.part")).unwrap().keep();
        assert!(parent.path().join("e/f/.kept.part").exists());
    }

    /// Whoever still writes into a folder that is taken away does not keep it.
    #[test]
    fn a_folder_goes_though_files_still_come() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("gathered");
        std::fs::create_dir(&folder).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = Instant::now();
                let mut files = (0..).map(|number| folder.join(number.to_string()));
                while start.elapsed() < Duration::from_millis(300) {
                    let _ = files.next().map(std::fs::File::create);
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            discard(&Location::Local(folder.clone()));
        });
        assert!(!folder.exists());
    }
}
