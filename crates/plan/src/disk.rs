//! The one place that opens files.

use std::io;
use std::path::Path;

/// Reads a text file.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}
