//! The one place that opens files.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The largest text that is read. What people write by hand is a thousandth of it; what is larger was named by mistake.
const LARGEST: u64 = 16 << 20;

/// Reads a text file of at most 16 MiB, such as a drive, a chip, a workload or a study.
///
/// # Errors
/// It is larger, or not text in UTF-8, or cannot be read at all.
pub fn read_text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::new(ErrorKind::FileTooLarge, "more than 16 MiB, which is no text of this kind"));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "not text in UTF-8"))
}
