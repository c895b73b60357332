//! From a path to the records of a trace: the files that it is in, opened together.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::blktrace;
use super::error::TraceError;
use super::input::Opened;
use super::reader::{ReadOptions, TraceReader};

/// Open a trace: a file, plain or compressed with gzip or zstd, or the files of a recording of blktrace, which their folder or any one of them names.
pub fn open(path: &Path, options: ReadOptions) -> Result<TraceReader<'static>, TraceError> {
    let name = path.display().to_string();
    let opened = |path: &Path| File::open(path).map_err(|source| TraceError::Open { file: path.display().to_string(), source });
    let parts = blktrace::parts(path).map_err(|source| TraceError::Open { file: name.clone(), source })?;
    let Some(parts) = parts else {
        return TraceReader::new(opened(path)?, &name, options);
    };
    match parts.files.as_slice() {
        [] if path.is_dir() => return Err(TraceError::Folder { file: name }),
        // Named like a part of a recording, and perhaps none.
        [] | [_] if path.is_file() => return TraceReader::new(opened(path)?, &name, options),
        _ => {}
    }
    let mut files = Vec::with_capacity(parts.files.len());
    for file in &parts.files {
        let part = file.display().to_string();
        let source = Opened::new(opened(file)?).map_err(|source| TraceError::Read { file: part.clone(), line: 0, source })?;
        if !source.head().is_empty() && !blktrace::begins(source.head()) {
            return Err(TraceError::OtherFormat { file: part, named: "blktrace", found: "something else" });
        }
        files.push((part, source));
    }
    let note = if parts.absent.is_empty() { String::new() } else { format!(", of which {} is absent", parts.absent.join(", ")) };
    TraceReader::of_recording(files, &name, &note, options)
}

/// The files that [`open`] reads for `path`: itself, or those of the recording that it names.
pub fn files(path: &Path) -> Vec<PathBuf> {
    match blktrace::parts(path) {
        Ok(Some(parts)) if !parts.files.is_empty() => parts.files,
        Ok(_) | Err(_) => vec![path.to_owned()],
    }
}
