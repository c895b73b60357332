//! A copy of a drive's media: its files in a new folder, holes and all.
//!
//! Where the host's file system can share blocks between files the copy costs next to nothing; elsewhere what is no hole is copied. The drive stands still
//! meanwhile. The new folder has its name once it is whole, and is its owner's alone, as the media are.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{SeekFrom, ioctl_ficlone, seek};

/// Bytes copied at once.
const CHUNK: usize = 1 << 20;

/// Copies the media files in `from` into a new folder; returns how many bytes they hold.
///
/// # Errors
/// What could not be done, in words.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<u64, String> {
    let said = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if to.exists() {
        return Err(format!("{} exists already: a snapshot needs a new folder", to.display()));
    }
    let mut beside = to.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    DirBuilder::new().mode(0o700).create(beside).map_err(|error| said(beside, error))?;
    let copied = copy_files(from, beside).map_err(|(path, error)| said(&path, error)).and_then(|bytes| {
        fs::rename(beside, to).map_err(|error| said(to, error))?;
        Ok(bytes)
    });
    if copied.is_err() {
        // It was ours, and half of a snapshot is none.
        let _ = fs::remove_dir_all(beside);
    }
    copied
}

fn copy_files(from: &Path, to: &Path) -> Result<u64, (std::path::PathBuf, io::Error)> {
    let mut bytes = 0;
    for entry in fs::read_dir(from).map_err(|error| (from.to_owned(), error))? {
        let path = entry.map_err(|error| (from.to_owned(), error))?.path();
        // What the drive is may be written down beside the media.
        let is_wanted = path.extension().is_some_and(|ending| ending == "media") || path.ends_with("plan.toml");
        let (Some(name), true) = (path.file_name(), is_wanted) else { continue };
        bytes += copy_file(&path, &to.join(name)).map_err(|error| (path.clone(), error))?;
    }
    Ok(bytes)
}

/// Copies one file; returns how many of its bytes are no hole.
fn copy_file(from: &Path, to: &Path) -> io::Result<u64> {
    let (source, target) = (File::open(from)?, OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?);
    let length = source.metadata()?.len();
    let is_shared = ioctl_ficlone(&target, &source).is_ok();
    if !is_shared {
        target.set_len(length)?;
    }
    let (mut at, mut bytes) = (0, 0);
    let mut buffer = vec![0; CHUNK];
    while at < length {
        let data = match seek(&source, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let hole = seek(&source, SeekFrom::Hole(data))?.min(length);
        bytes += hole - data;
        let mut from = data;
        while !is_shared && from < hole {
            let count = (hole - from).min(CHUNK as u64) as usize;
            source.read_exact_at(&mut buffer[..count], from)?;
            target.write_all_at(&buffer[..count], from)?;
            from += count as u64;
        }
        at = hole;
    }
    target.sync_data()?;
    Ok(bytes)
}
