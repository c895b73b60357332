//! Media in memory as they were at any point of a tape, with its last write torn.

use std::io;

use crate::backing::Backing;
use crate::memory::Memory;
use crate::tape::{Act, Entry};

/// Cut of the last write.
#[derive(Clone, Copy)]
pub enum Tear<'a> {
    /// Only this number of its first bytes is there.
    Prefix(u64),
    /// Only those of its sectors of 512 bytes are there of which this is true, counted from the first one that it touches: disks write sectors in any order.
    Sectors(&'a dyn Fn(u64) -> bool),
}

/// Media as they were at a point of a tape.
#[derive(Clone, Debug)]
pub struct Replay(Vec<Memory>);

impl Replay {
    /// Empty media of `files` files.
    pub fn new(files: usize) -> Replay {
        Replay(vec![Memory::new(); files])
    }

    /// The media as they are in `files`.
    pub fn from(files: &[Memory]) -> Replay {
        Replay(files.iter().map(Memory::unrecorded).collect())
    }

    /// Does what an entry says.
    ///
    /// # Errors
    /// None that memory gives.
    pub fn apply(&mut self, entry: &Entry) -> io::Result<()> {
        let file = &mut self.0[entry.file];
        match &entry.act {
            Act::SetLength(length) => file.set_length(*length),
            Act::Write { offset, bytes } => file.write(*offset, bytes),
            Act::Punch { offset, length } => file.punch(*offset, *length),
            Act::Sync => Ok(()),
        }
    }

    /// Does part of what an entry says. A change of length is done whole or not at all.
    ///
    /// # Errors
    /// None that memory gives.
    pub fn apply_torn(&mut self, entry: &Entry, tear: Tear<'_>) -> io::Result<()> {
        let (offset, length) = match &entry.act {
            Act::SetLength(_) | Act::Sync => return Ok(()),
            Act::Write { offset, bytes } => (*offset, bytes.len() as u64),
            Act::Punch { offset, length } => (*offset, *length),
        };
        let parts: Vec<(u64, u64)> = match tear {
            Tear::Prefix(kept) => vec![(offset, offset + kept.min(length))],
            Tear::Sectors(is_there) => {
                let first = offset / 512;
                let sectors = (offset + length).div_ceil(512) - first;
                let bounds = |sector: u64| (offset.max((first + sector) * 512), (offset + length).min((first + sector + 1) * 512));
                (0..sectors).filter(|&sector| is_there(sector)).map(bounds).collect()
            }
        };
        for (from, until) in parts {
            let act = match &entry.act {
                Act::Write { bytes, .. } => {
                    Act::Write { offset: from, bytes: bytes[(from - offset) as usize..(until - offset) as usize].into() }
                }
                Act::SetLength(_) | Act::Punch { .. } | Act::Sync => Act::Punch { offset: from, length: until - from },
            };
            self.apply(&Entry { file: entry.file, act })?;
        }
        Ok(())
    }

    /// The files as they are now, recorded nowhere.
    pub fn files(&self) -> &[Memory] {
        &self.0
    }
}
