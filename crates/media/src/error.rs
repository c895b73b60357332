//! What can go wrong with a media file. Each error names the file and the place in it.

use std::io;

use thiserror::Error;

/// Why a media file could not be created, opened, read or written.
#[derive(Debug, Error)]
pub enum MediaError {
    /// The host's disk is full, or a quota is used up.
    #[error("{file}: no space left on the host's disk while {doing} at offset {offset}")]
    NoSpace {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What was being done.
        doing: &'static str,
    },
    /// The host took or gave fewer bytes than there are.
    #[error("{file}: cut short while {doing} at offset {offset}")]
    Short {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What was being done.
        doing: &'static str,
    },
    /// The host failed in another way.
    #[error("{file}: {doing} at offset {offset}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What was being done.
        doing: &'static str,
        /// What the host said.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("{file}: at offset {offset}: expected {expected}, found {found}")]
    Unexpected {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What does.
        found: String,
    },
    /// The file is of another drive.
    #[error("{file}: of drive {found:032x}, and not of drive {expected:032x}")]
    AnotherDrive {
        /// The file.
        file: String,
        /// Which it should be of.
        expected: u128,
        /// Which it is of.
        found: u128,
    },
    /// The file is of another version of the format.
    #[error(
        "{file}: media format {found}, this program writes format {known} and reads it and formats 2 and 3; use the program that made it, or make the drive anew"
    )]
    Version {
        /// The file.
        file: String,
        /// Its version.
        found: u32,
        /// The version that this build writes.
        known: u32,
    },
    /// Somebody else has the drive.
    #[error("{folder}: in use by process {holder}; a drive has one server at a time")]
    Locked {
        /// The folder.
        folder: String,
        /// The process that wrote itself into the lock file, or `?`.
        holder: String,
    },
    /// The folder is not its user's alone.
    #[error("{folder}: {why}: whoever may put files there can have this program overwrite others; {remedy}")]
    Foreign {
        /// The folder.
        folder: String,
        /// Access of other users to it.
        why: String,
        /// Remedy for that.
        remedy: String,
    },
    /// There is a drive already where one was to be made.
    #[error("{file}: exists already; choose an empty folder, or open the drive in place of making it")]
    Exists {
        /// The file.
        file: String,
    },
    /// The shape cannot be stored.
    #[error("{what} is {value}: expected {expected}")]
    Shape {
        /// Which number.
        what: &'static str,
        /// The number.
        value: u64,
        /// What it may be.
        expected: &'static str,
    },
}

impl MediaError {
    /// An error of the host, told apart by its kind.
    pub(crate) fn host(file: &str, offset: u64, doing: &'static str, source: io::Error) -> MediaError {
        let file = file.to_owned();
        let kind = source.kind();
        if matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            MediaError::NoSpace { file, offset, doing }
        } else if matches!(kind, io::ErrorKind::WriteZero | io::ErrorKind::UnexpectedEof) {
            MediaError::Short { file, offset, doing }
        } else {
            MediaError::Io { file, offset, doing, source }
        }
    }

    pub(crate) fn unexpected(file: &str, offset: u64, expected: impl Into<String>, found: impl Into<String>) -> MediaError {
        MediaError::Unexpected { file: file.to_owned(), offset, expected: expected.into(), found: found.into() }
    }
}
