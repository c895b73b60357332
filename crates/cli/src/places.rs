//! Where a command reads and where it will write, looked at before it begins: no output takes the place of an input, of another output, or of a page that
//! is not ours.

use std::io::Read;
use std::path::{Path, PathBuf};

use wordline_pages::html::GENERATOR;

use crate::failure::Failure;
use crate::files;

/// The files of one command.
#[derive(Debug, Default)]
pub(crate) struct Places {
    read: Vec<(PathBuf, PathBuf)>,
    written: Vec<(PathBuf, PathBuf)>,
}

impl Places {
    /// The files that the command reads. What is not there is not read; whoever reads it will say so.
    pub(crate) fn reading<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> Places {
        let mut places = Places::default();
        places.read(inputs);
        places
    }

    /// More files that the command reads.
    pub(crate) fn read<P: AsRef<Path>>(&mut self, inputs: impl IntoIterator<Item = P>) {
        let there = |path: &Path| path.canonicalize().ok().filter(|place| place.is_file());
        self.read.extend(inputs.into_iter().filter_map(|path| Some((path.as_ref().to_owned(), there(path.as_ref())?))));
    }

    /// A file that will be written. It must be writable now.
    pub(crate) fn write(&mut self, path: &Path) -> Result<(), Failure> {
        self.claim(path)?;
        files::check_writable(path)
    }

    /// A page that will be written: it may take the place of a page of Wordline, and of no other file.
    pub(crate) fn write_page(&mut self, path: &Path) -> Result<(), Failure> {
        self.claim(path)?;
        refuse_foreign_page(path)?;
        files::check_writable(path)
    }

    /// A file that will be written into a folder that is made for it.
    pub(crate) fn claim(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(place) = file_behind(path) else { return Ok(()) };
        let refused = |what: String| Err(Failure::Usage(format!("{}: {what}; name another file", path.display())));
        if let Some((name, _)) = self.read.iter().find(|(_, known)| *known == place) {
            let other = if name == path { String::new() } else { format!(" ({})", name.display()) };
            return refused(format!("this would be written over what is read{other}"));
        }
        if let Some((name, _)) = self.written.iter().find(|(_, known)| *known == place) {
            let other = if name == path { String::new() } else { format!(" ({})", name.display()) };
            return refused(format!("two outputs would be written there{other}"));
        }
        self.written.push((path.to_owned(), place));
        Ok(())
    }
}

/// The file that `path` leads to, or would; `None` for a pipe, a device or a folder, which nothing takes the place of.
fn file_behind(path: &Path) -> Option<PathBuf> {
    if let Ok(there) = path.canonicalize() {
        return there.is_file().then_some(there);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that is not there yet is one that is made for it.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    path.file_name().map(|name| folder.join(name))
}

/// Refuse a file that is there and that this program has not written as a page.
fn refuse_foreign_page(path: &Path) -> Result<(), Failure> {
    const HEAD: u64 = 4096;
    if !path.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|error| Failure::File { path: path.to_owned(), error })?;
    if head.is_empty() || String::from_utf8_lossy(&head).contains(GENERATOR) {
        return Ok(());
    }
    let what = "is there, and is no page that Wordline wrote: move it away, or name another file with --html";
    Err(Failure::Usage(format!("{}: {what}", path.display())))
}
