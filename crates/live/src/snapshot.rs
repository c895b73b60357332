//! A copy of a drive's media: its files in a new folder, holes and all.
//!
//! The copy costs next to nothing if the host's file system can share blocks between files; otherwise all but the holes is copied. The drive stands still
//! meanwhile. The new folder gets its name once it is whole, and is its owner's alone, as the media are. Links in either are not followed.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;

use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use wordline_media::Folder;

use crate::hints_file::HINTS;

/// Bytes copied at once.
const CHUNK: usize = 1 << 20;

/// Copies the media files in `from` into a new folder; returns the number of bytes in them.
///
/// # Errors
/// The step that failed, in words.
pub(crate) fn copy(from: &Folder, to: &Path) -> Result<u64, String> {
    let said = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if to.exists() {
        return Err(format!("{} exists already: a snapshot needs a new folder", to.display()));
    }
    let mut beside = to.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    DirBuilder::new().mode(0o700).create(beside).map_err(|error| said(beside, error))?;
    let copied = Folder::open(beside).map_err(|error| error.to_string()).and_then(|to| copy_files(from, &to)).and_then(|bytes| {
        fs::rename(beside, to).map_err(|error| said(to, error))?;
        Ok(bytes)
    });
    if copied.is_err() {
        // The folder was made here, and half a snapshot is useless.
        let _ = fs::remove_dir_all(beside);
    }
    copied
}

fn copy_files(from: &Folder, to: &Folder) -> Result<u64, String> {
    let said = |name: &str, error: io::Error| format!("{}: {error}", from.path().join(name).display());
    let mut bytes = 0;
    for name in from.names().map_err(|error| said("", error))? {
        // The description of the drive may lie beside the media, and so may the hints of its host.
        if Path::new(&name).extension().is_some_and(|ending| ending == "media") || name == "plan.toml" || name == HINTS {
            bytes += from.look(&name).and_then(|source| copy_file(&source, &to.make_new(&name)?)).map_err(|error| said(&name, error))?;
        }
    }
    Ok(bytes)
}

/// Copies one file; returns the number of its bytes outside holes.
fn copy_file(source: &File, target: &File) -> io::Result<u64> {
    let length = source.metadata()?.len();
    let is_shared = ioctl_ficlone(target, source).is_ok();
    if !is_shared {
        target.set_len(length)?;
    }
    let (mut at, mut bytes) = (0, 0);
    let mut buffer = vec![0; CHUNK];
    while at < length {
        let data = match seek(source, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let hole = seek(source, SeekFrom::Hole(data))?.min(length);
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
