//! Files that are whole or not there: written beside their place, then renamed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file that appears under its name only when it is finished; dropped before that, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Pending {
    beside: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Pending {
    /// Begin the file that will be `path`.
    pub(crate) fn create(path: &Path) -> Result<(Pending, BufWriter<File>), Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        let file = File::create(&beside).map_err(|error| Failure::File { path: path.to_owned(), error })?;
        Ok((Pending { beside, path: path.to_owned(), finished: false }, BufWriter::new(file)))
    }

    /// The file is whole: give it its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        std::fs::rename(&self.beside, &self.path).map_err(|error| Failure::File { path: self.path.clone(), error })?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing half-written stays; if even that fails there is nobody left to tell.
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}

/// Write `text` to `path`, whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let (pending, mut file) = Pending::create(path)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    drop(file);
    pending.finish()
}

/// Write `text` to the file, or to standard output where the name is "-".
pub(crate) fn write_or_print(name: &str, text: &str) -> Result<(), Failure> {
    if name == "-" {
        let mut out = std::io::stdout().lock();
        // A reader that has gone away (such as `head`) is not an error.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
        return Ok(());
    }
    write(Path::new(name), text.as_bytes())
}

/// Complain now about a place that could not be written later, before a long run.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    Pending::create(path).map(drop)
}
