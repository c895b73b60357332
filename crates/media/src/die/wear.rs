//! The wear of a block, which outlasts erases: a string of bytes of the layers above.
//!
//! A short string stands in the block's record. What a record has no room for stands in one of the block's two tails, behind the pages of the file: a longer
//! string first goes to the tail that the record does not name, then to the record. So a cut leaves the string before, or this one. A tail is kept twice, as
//! records are.

use super::Die;
use crate::backing::Backing;
use crate::error::MediaError;
use crate::header::{VERSION, VERSION_AT};
use crate::record::{HEAD_BYTES, Record, Wear};

/// Bytes of what files of version 2 kept of a block, without a version of their own.
const BEFORE_BYTES: usize = 20;

impl<B: Backing> Die<B> {
    /// Keeps the wear of a block with it. Where the host may die, see [`crate::Media::keep_wear`].
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block, or the string is empty or has more than three bytes for each page.
    pub fn keep_wear(&mut self, block: u32, wear: &[u8]) -> Result<(), MediaError> {
        let named = self.write_tail(block, wear)?;
        self.name_wear(block, named)
    }

    /// The first step of [`Die::keep_wear`]: what the record has no room for.
    pub(crate) fn write_tail(&mut self, block: u32, wear: &[u8]) -> Result<Wear, MediaError> {
        let before = self.blocks[block as usize].record.wear;
        let named = Wear::of(wear, if Wear::is_long(wear) { 1 - before.tail } else { before.tail });
        assert!(!wear.is_empty() && named.behind() as u64 <= self.shape().tail_bytes(), "{} bytes of wear", wear.len());
        let copies = if named.behind() > 0 { 0..2 } else { 0..0 };
        for copy in copies {
            let offset = self.shape().tail(block, named.tail, copy);
            self.dirty = true;
            self.backing.write(offset, &wear[HEAD_BYTES..]).map_err(|error| self.host(offset, "writing the wear of a block", error))?;
        }
        Ok(named)
    }

    /// The second step: the record.
    pub(crate) fn name_wear(&mut self, block: u32, wear: Wear) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        self.write_record(block, Record { wear, ..record })
    }

    /// The wear of a block, as it was kept last. What files of version 2 kept begins with a byte of zero here. Empty: none was kept.
    ///
    /// # Errors
    /// If the host fails, or the string is rotten.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn wear(&self, block: u32) -> Result<Vec<u8>, MediaError> {
        let Wear { head, length, sum, tail } = self.blocks[block as usize].record.wear;
        if length == 0 {
            let was_kept = head.iter().any(|&byte| byte != 0);
            return Ok(if was_kept { [&[0][..], &head[..BEFORE_BYTES]].concat() } else { Vec::new() });
        }
        let (offset, rest) = (self.shape().tail(block, tail, 0), self.blocks[block as usize].record.wear.behind());
        if rest as u64 > self.shape().tail_bytes() {
            return Err(MediaError::unexpected(&self.file, offset, "the wear of a block", format!("a length of {length} bytes")));
        }
        let mut bytes = head[..(length as usize).min(HEAD_BYTES)].to_vec();
        bytes.resize(length as usize, 0);
        let Some(into) = bytes.get_mut(HEAD_BYTES..).filter(|into| !into.is_empty()) else { return Ok(bytes) };
        for copy in 0..2 {
            let offset = self.shape().tail(block, tail, copy);
            self.backing.read(offset, into).map_err(|error| self.host(offset, "reading the wear of a block", error))?;
            if crc32fast::hash(into) == sum {
                return Ok(bytes);
            }
        }
        let expected = format!("the wear of block {block}, here or at offset {}", self.shape().tail(block, tail, 1));
        Err(MediaError::unexpected(&self.file, offset, expected, "two broken copies"))
    }

    /// A file of an older version becomes one of today's: first it has room for tails, then it says so, in one byte. Failures of parts of a die were not
    /// kept then.
    pub(super) fn become_new(&mut self, is_short: bool) -> Result<(), MediaError> {
        if is_short {
            let length = self.shape().file_bytes();
            self.backing.set_length(length).map_err(|error| self.host(length, "making room for tails", error))?;
        }
        self.dirty = true;
        self.sync()?;
        self.dirty = true;
        let at = VERSION_AT as u64;
        self.backing.write(at, &VERSION.to_le_bytes()[..1]).map_err(|error| self.host(at, "writing the version of the format", error))
    }
}
