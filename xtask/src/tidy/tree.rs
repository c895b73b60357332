//! The files that tidy looks at, and what it has to say about them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::Command;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Worth a look; does not fail.
    Warning,
    /// The finding fails the check.
    Error,
}

/// Something a rule objects to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) path: String,
    /// From one; zero where the file as a whole is meant.
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{kind}[{}] {}", self.rule, self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The text of every file under version control, or of a planted handful in tests. Paths are relative to the root, with `/`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
    /// Files that are not text, such as pictures: they exist, and that is all there is to say of them.
    others: BTreeSet<String>,
}

impl Tree {
    /// The tracked and the new, not ignored files below `root`. Files that someone is just deleting are left out.
    pub(crate) fn read(root: &Path) -> Result<Tree, String> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot run git: {error}"))?;
        if !listed.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr)));
        }
        let mut files = BTreeMap::new();
        let mut others = BTreeSet::new();
        for path in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|path| !path.is_empty()) {
            if let Ok(text) = std::fs::read_to_string(root.join(path)) {
                files.insert(path.to_owned(), text);
            } else if root.join(path).is_file() {
                others.insert(path.to_owned());
            }
        }
        Ok(Tree { files, others })
    }

    #[cfg(test)]
    pub(crate) fn planted(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect(), others: BTreeSet::new() }
    }

    /// The files whose path ends in `.extension`, in the order of their paths.
    pub(crate) fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.iter().filter(move |(path, _)| path.rsplit_once('.').is_some_and(|(_, found)| found == extension))
    }

    /// All files, in the order of their paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of one file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether `path` is a file or a folder that holds one.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.others.contains(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(found, _)| found.starts_with(&folder))
    }
}
