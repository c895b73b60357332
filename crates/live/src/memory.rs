//! A disk that is memory: for tests, and as the floor that a drive is measured against.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use std::sync::PoisonError;
use wordline_block::{ContextStatus, Disk, Done, Extent, Op, Reply, Session, allocation};

const CHUNK: u64 = 32 << 10;

/// Bytes in memory, in chunks that are there once they are written.
#[derive(Debug)]
pub struct MemoryDisk {
    size: u64,
    chunks: Vec<RwLock<Option<Box<[u8]>>>>,
}

/// A part of a request that lies in one chunk.
struct Part {
    chunk: usize,
    /// Offset in the chunk.
    start: usize,
    /// Offset in the request.
    at: usize,
    length: usize,
}

fn parts(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done;
        let count = (length - done).min(CHUNK - at % CHUNK);
        let part = Part { chunk: (at / CHUNK) as usize, start: (at % CHUNK) as usize, at: done as usize, length: count as usize };
        done += count;
        (count > 0).then_some(part)
    })
}

impl MemoryDisk {
    /// A disk of `size` bytes, all zero.
    pub fn new(size: u64) -> MemoryDisk {
        MemoryDisk { size, chunks: (0..size.div_ceil(CHUNK)).map(|_| RwLock::new(None)).collect() }
    }

    fn chunk(&self, part: &Part) -> RwLockReadGuard<'_, Option<Box<[u8]>>> {
        self.chunks[part.chunk].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn chunk_mut(&self, part: &Part) -> RwLockWriteGuard<'_, Option<Box<[u8]>>> {
        self.chunks[part.chunk].write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, offset: u64, into: &mut [u8]) {
        for part in parts(offset, into.len() as u64) {
            // Missing chunks are zero, and `into` is too.
            if let Some(bytes) = &*self.chunk(&part) {
                into[part.at..part.at + part.length].copy_from_slice(&bytes[part.start..part.start + part.length]);
            }
        }
    }

    fn write(&self, offset: u64, data: &[u8]) {
        for part in parts(offset, data.len() as u64) {
            let mut chunk = self.chunk_mut(&part);
            let bytes = chunk.get_or_insert_with(|| vec![0; CHUNK as usize].into());
            bytes[part.start..part.start + part.length].copy_from_slice(&data[part.at..part.at + part.length]);
        }
    }

    fn zero(&self, offset: u64, length: u64) {
        for part in parts(offset, length) {
            let mut chunk = self.chunk_mut(&part);
            if part.length as u64 == CHUNK {
                *chunk = None;
            } else if let Some(bytes) = &mut *chunk {
                bytes[part.start..part.start + part.length].fill(0);
            }
        }
    }

    /// Allocated stretches, for `base:allocation`.
    fn extents(&self, offset: u64, length: u64) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        for part in parts(offset, length.min(self.size - offset)) {
            let flags = if self.chunk(&part).is_some() { 0 } else { allocation::HOLE | allocation::ZERO };
            if let Some(last) = extents.last_mut().filter(|last| last.flags == flags) {
                last.length += part.length as u64;
            } else if extents.len() < ContextStatus::EXTENTS_MAX {
                extents.push(Extent { length: part.length as u64, flags });
            } else {
                break;
            }
        }
        extents
    }
}

impl Disk for MemoryDisk {
    fn submit(&self, op: Op, session: &Arc<Session>, done: Done) {
        match op {
            Op::Read { offset, .. } => done.fill(|into| {
                self.read(offset, into);
                Ok(())
            }),
            Op::Write { offset, data, .. } => {
                self.write(offset, &data);
                done.ok();
            }
            Op::Trim { offset, length, .. } | Op::WriteZeroes { offset, length, .. } => {
                self.zero(offset, length);
                done.ok();
            }
            Op::Flush | Op::Cache { .. } => done.ok(),
            Op::BlockStatus { offset, length, .. } => {
                // The one context that every export has is the first; this disk has no others.
                let known = self.extents(offset, length);
                let unknown = [Extent { length, flags: 0 }];
                let status = |&context: &usize| ContextStatus { context, extents: if context == 0 { &known } else { &unknown } };
                let all: Vec<ContextStatus<'_>> = session.contexts.iter().map(status).collect();
                done.reply(Reply::Status(&all));
            }
        }
    }
}
