//! The Hadoop of this machine: which installation, and whose configuration.
//!
//! HADOOP_HOME names the installation; where it is not set, the `hadoop` on the PATH does. HADOOP_CONF_DIR names the configuration; where it is not set,
//! the installation's own is used. Hadoop's own command decides in the same way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Result};

/// The file without which a folder is no configuration.
const CORE: &str = "core-site.xml";

/// What a program is told about Hadoop.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// HADOOP_HOME.
    pub home: Option<PathBuf>,
    /// HADOOP_CONF_DIR.
    pub conf: Option<PathBuf>,
    /// PATH.
    pub path: OsString,
}

impl Environment {
    /// Of this program.
    pub fn own() -> Environment {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            home: variable("HADOOP_HOME").map(PathBuf::from),
            conf: variable("HADOOP_CONF_DIR").map(PathBuf::from),
            path: variable("PATH").unwrap_or_default(),
        }
    }

    /// Hadoop's command.
    pub fn command(&self) -> Result<PathBuf> {
        if let Some(home) = &self.home {
            let command = home.join("bin/hadoop");
            return match command.is_file() {
                true => Ok(command),
                false => Err(Error::other(format!(
                    "HADOOP_HOME is {}, and there is no bin/hadoop in it: correct it, or unset it to use the hadoop on the PATH",
                    home.display()
                ))),
            };
        }
        let places = std::env::split_paths(&self.path).map(|place| place.join("hadoop"));
        places.into_iter().find(|command| command.is_file()).ok_or_else(|| {
            Error::other("there is no hadoop command: put it on the PATH, or set HADOOP_HOME")
        })
    }

    /// The folder of the installation that a command belongs to.
    pub fn home(&self) -> Option<PathBuf> {
        let own = || Some(self.command().ok()?.canonicalize().ok()?.parent()?.parent()?.into());
        self.home.clone().or_else(own)
    }

    /// The folder of the configuration.
    pub fn conf(&self) -> Option<PathBuf> {
        let is_conf = |folder: &PathBuf| folder.join(CORE).is_file();
        let installed = || self.home().map(|home| home.join("etc/hadoop")).filter(is_conf);
        // Some distributions have it elsewhere, and a command that knows.
        let told = || class_path(&self.command().ok()?).into_iter().find(is_conf);
        self.conf.clone().or_else(installed).or_else(told)
    }
}

/// The folders where a command of Hadoop looks for classes; none where it does not tell.
pub fn class_path(command: &Path) -> Vec<PathBuf> {
    let told = Command::new(command).arg("classpath").output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_string());
    let folder = |place: &str| PathBuf::from(place.trim_end_matches('*'));
    told.unwrap_or_default().split(':').filter(|place| !place.is_empty()).map(folder).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An installation, with or without a configuration of its own.
    fn install(at: &Path, configured: bool) {
        fs::create_dir_all(at.join("bin")).unwrap();
        fs::write(at.join("bin/hadoop"), "").unwrap();
        if configured {
            fs::create_dir_all(at.join("etc/hadoop")).unwrap();
            fs::write(at.join("etc/hadoop").join(CORE), "").unwrap();
        }
    }

    #[test]
    fn one_installation_is_used_in_all_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, other) = (root.join("home"), root.join("other"));
        install(&home, true);
        install(&other, true);
        let path = std::env::join_paths([root.join("nothing"), other.join("bin")]).unwrap();
        let on_path = Environment { path, ..Environment::default() };
        assert_eq!(on_path.command().unwrap(), other.join("bin/hadoop"));
        assert_eq!(on_path.home(), Some(other.clone()));
        assert_eq!(on_path.conf(), Some(other.join("etc/hadoop")));
        // HADOOP_HOME is before the PATH, for the command as for the configuration.
        let both = Environment { home: Some(home.clone()), ..on_path.clone() };
        assert_eq!(both.command().unwrap(), home.join("bin/hadoop"));
        assert_eq!(both.home(), Some(home.clone()));
        assert_eq!(both.conf(), Some(home.join("etc/hadoop")));
        // HADOOP_CONF_DIR is before all.
        let told = Environment { conf: Some(root.clone()), ..both };
        assert_eq!(told.conf(), Some(root.clone()));
        let wrong = Environment { home: Some(root), ..on_path };
        assert!(wrong.command().unwrap_err().to_string().contains("there is no bin/hadoop in it"));
    }

    #[test]
    fn without_a_hadoop_there_is_none() {
        let none = Environment::default();
        assert!(none.command().is_err() && none.home().is_none() && none.conf().is_none());
    }
}
