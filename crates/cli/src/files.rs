//! Files that are whole or not there: written beside their place, then renamed.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::unfinished;

/// A file that appears under its name only when it is finished; dropped before that, it leaves nothing. A pipe or a device is no file: what is written to
/// it has arrived.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Where it is written, if it has to be renamed.
    beside: Option<PathBuf>,
    path: PathBuf,
}

impl Pending {
    /// Begin the file that will be `path`.
    pub(crate) fn create(path: &Path) -> Result<(Pending, BufWriter<File>), Failure> {
        let failed = |error| Failure::File { path: path.to_owned(), error };
        let there = std::fs::metadata(path);
        let is_folder = path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if is_folder || there.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        if there.as_ref().is_ok_and(|there| !there.is_file()) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok((Pending { beside: None, path: path.to_owned() }, BufWriter::new(file)));
        }
        // Whoever put a link there wants the file behind it replaced, and not the link.
        let place = if there.is_ok() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = place.with_file_name(name);
        let file = unfinished::create(&beside).map_err(failed)?;
        Ok((Pending { beside: Some(beside), path: place }, BufWriter::new(file)))
    }

    /// The file is whole: give it its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let Some(beside) = &self.beside else { return Ok(()) };
        unfinished::rename(beside, &self.path).map_err(|error| Failure::File { path: self.path.clone(), error })?;
        self.beside = None;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // Nothing half-written stays.
            unfinished::remove(beside);
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
        return arrived(out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()));
    }
    write(Path::new(name), text.as_bytes())
}

/// Whether what was printed has arrived. A reader that has gone away (such as `head`) is not an error; a full disk is.
fn arrived(printed: std::io::Result<()>) -> Result<(), Failure> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::File { path: "standard output".into(), error }),
        _ => Ok(()),
    }
}

/// Complain now about a place that could not be written later, before a long run.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    // Who reads a pipe would take a look at it for all there is.
    let is_to_try = std::fs::metadata(path).map_or(true, |there| there.is_file() || there.is_dir());
    if is_to_try { Pending::create(path).map(drop) } else { Ok(()) }
}
