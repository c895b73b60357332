//! A backing in memory. It may record what is written on a tape, and copies of it share what they have in common.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::backing::Backing;
use crate::tape::{Act, Tape};

pub(crate) const CHUNK: u64 = 4096;

/// Sparse bytes in memory. A copy costs a pointer per 4 KiB that are not zero.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    length: u64,
    /// Chunks that are not a hole.
    chunks: BTreeMap<u64, Arc<[u8; CHUNK as usize]>>,
    /// The tape, and the number of this file on it.
    tape: Option<(Tape, usize)>,
}

impl Memory {
    /// Nothing, of length zero, recorded nowhere.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Nothing, of length zero. What happens to it is recorded on `tape` as happening to file `file`.
    pub fn recorded(tape: &Tape, file: usize) -> Memory {
        Memory { tape: Some((tape.clone(), file)), ..Memory::default() }
    }

    /// The same bytes. What happens to them from now on is recorded on `tape` as happening to file `file`.
    #[must_use]
    pub fn record_on(&self, tape: &Tape, file: usize) -> Memory {
        Memory { tape: Some((tape.clone(), file)), ..self.clone() }
    }

    /// The same bytes, recorded nowhere.
    #[must_use]
    pub fn unrecorded(&self) -> Memory {
        Memory { tape: None, ..self.clone() }
    }

    /// Bytes that are not in a hole.
    pub fn allocated(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }

    fn record(&self, act: impl FnOnce() -> Act) {
        if let Some((tape, file)) = &self.tape {
            tape.record(*file, act());
        }
    }

    /// The stretches of `offset..offset + length` in single chunks: chunk, start in it, length.
    fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
        let mut at = offset;
        std::iter::from_fn(move || {
            let left = offset + length - at;
            let start = at % CHUNK;
            let count = left.min(CHUNK - start);
            let piece = (at / CHUNK, start as usize, count as usize);
            at += count;
            (left > 0).then_some(piece)
        })
    }
}

impl Backing for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.record(|| Act::SetLength(length));
        if length < self.length {
            drop(self.chunks.split_off(&length.div_ceil(CHUNK)));
            if let Some(last) = self.chunks.get_mut(&(length / CHUNK)) {
                Arc::make_mut(last)[(length % CHUNK) as usize..].fill(0);
            }
        }
        self.length = length;
        Ok(())
    }

    fn read(&self, offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(into.len() as u64).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (chunk, start, count) in Memory::pieces(offset, into.len() as u64) {
            let (piece, rest) = into.split_at_mut(count);
            match self.chunks.get(&chunk) {
                Some(bytes) => piece.copy_from_slice(&bytes[start..start + count]),
                None => piece.fill(0),
            }
            into = rest;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        self.record(|| Act::Write { offset, bytes: bytes.into() });
        self.length = self.length.max(offset + bytes.len() as u64);
        for (chunk, start, count) in Memory::pieces(offset, bytes.len() as u64) {
            let (piece, rest) = bytes.split_at(count);
            let chunk = self.chunks.entry(chunk).or_insert_with(|| Arc::new([0; CHUNK as usize]));
            Arc::make_mut(chunk)[start..start + count].copy_from_slice(piece);
            bytes = rest;
        }
        Ok(())
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.record(|| Act::Punch { offset, length });
        for (chunk, start, count) in Memory::pieces(offset, length) {
            if count as u64 == CHUNK {
                self.chunks.remove(&chunk);
            } else if let Some(bytes) = self.chunks.get_mut(&chunk) {
                Arc::make_mut(bytes)[start..start + count].fill(0);
            }
        }
        Ok(())
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        let last = self.chunks.range(from / CHUNK..until.div_ceil(CHUNK)).next_back();
        Ok(last.map_or(from, |(chunk, _)| ((chunk + 1) * CHUNK).clamp(from, until)))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.record(|| Act::Sync);
        Ok(())
    }
}
