//! Files as observers of requests see them.

/// A file as an observer knows it: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTag {
    /// The file's number, counted from its creation.
    pub file: u32,
    /// Which write of the file this is, from 0. A write may take several requests, where its blocks lie apart.
    pub version: u32,
    /// Whether it takes away what the file held in these blocks: an overwrite, or the end of the file.
    pub replaces: bool,
}
