//! Bytes that a die stands on, and those of a host's file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstatvfs, seek};

/// Bytes at offsets. Each call is one write to the medium: a power cut falls between two of them, or within one, which then is done in part.
pub trait Backing {
    /// Bytes there are.
    ///
    /// # Errors
    /// As the host says.
    fn length(&self) -> io::Result<u64>;

    /// Become so long; what is new reads as zeroes.
    ///
    /// # Errors
    /// As the host says.
    fn set_length(&mut self, length: u64) -> io::Result<()>;

    /// Reads all of `into`.
    ///
    /// # Errors
    /// As the host says; [`io::ErrorKind::UnexpectedEof`] past the end.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As the host says; [`io::ErrorKind::StorageFull`] and [`io::ErrorKind::WriteZero`] have a meaning to the die. Part of it may have been written.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes a stretch read as zeroes and gives its space back.
    ///
    /// # Errors
    /// As the host says.
    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Makes a stretch read as zeroes where other bytes follow soon: its space may stay taken. `anew`: it was taken piece by piece, and may be taken again as
    /// a whole.
    ///
    /// # Errors
    /// As the host says.
    fn zero(&mut self, offset: u64, length: u64, _anew: bool) -> io::Result<()> {
        self.punch(offset, length)
    }

    /// An end of the data between `from` and `until`: behind it everything reads as zeroes. Where holes are unknown, `until`; where there is no data, `from`.
    ///
    /// # Errors
    /// As the host says.
    fn data_end(&self, from: u64, until: u64) -> io::Result<u64>;

    /// Makes everything written so far survive the host.
    ///
    /// # Errors
    /// As the host says.
    fn sync(&mut self) -> io::Result<()>;

    /// Bytes that the host has left for what is a hole now; where that is unknown, as many as there are numbers.
    ///
    /// # Errors
    /// As the host says.
    fn room(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

/// A file of the host.
#[derive(Debug)]
pub struct Disk(File);

impl Disk {
    /// Stands on a file that is open for reading and writing.
    pub fn new(file: File) -> Disk {
        Disk(file)
    }

    /// Writes zeroes, in pieces that end where the page cache likes large ones to end.
    fn write_zeroes(&self, offset: u64, length: u64) -> io::Result<()> {
        static ZEROES: [u8; 1 << 16] = [0; 1 << 16];
        let piece = ZEROES.len() as u64;
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let until = (at / piece * piece + piece).min(end);
            self.0.write_all_at(&ZEROES[..(until - at) as usize], at)?;
            at = until;
        }
        Ok(())
    }

    /// The next offset with (or without) data, `None` past the last.
    fn seek(&self, to: SeekFrom) -> io::Result<Option<u64>> {
        match seek(&self.0, to) {
            Ok(offset) => Ok(Some(offset)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Backing for Disk {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        match fallocate(&self.0, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length) {
            // A file system without holes: the space stays, the zeroes are what counts.
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeroes(offset, length),
            other => Ok(other?),
        }
    }

    fn zero(&mut self, offset: u64, length: u64, anew: bool) -> io::Result<()> {
        if anew {
            // The kernel's page cache has a long stretch in large pieces where it comes at once, and later writes to those cost it less.
            self.punch(offset, length)?;
        }
        self.write_zeroes(offset, length)
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        let mut end = from;
        while let Some(data) = self.seek(SeekFrom::Data(end))? {
            if data >= until {
                break;
            }
            end = self.seek(SeekFrom::Hole(data))?.unwrap_or(until).min(until);
            if end == until {
                break;
            }
        }
        Ok(end)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn room(&self) -> io::Result<u64> {
        let there = fstatvfs(&self.0)?;
        Ok(there.f_bavail.saturating_mul(there.f_frsize))
    }
}
