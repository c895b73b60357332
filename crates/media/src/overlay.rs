//! A backing that changes nothing: what is written stays in memory, over what the one below holds.

use std::collections::BTreeMap;
use std::io;

use crate::backing::Backing;
use crate::memory::CHUNK;

/// Bytes that may be looked at and worked on, while those below stay as they are.
#[derive(Debug)]
pub struct Overlay<B> {
    below: B,
    length: u64,
    /// Chunks that were written.
    over: BTreeMap<u64, Box<[u8; CHUNK as usize]>>,
}

impl<B: Backing> Overlay<B> {
    /// Nothing, over `below`.
    ///
    /// # Errors
    /// As the host says.
    pub fn new(below: B) -> io::Result<Overlay<B>> {
        let length = below.length()?;
        Ok(Overlay { below, length, over: BTreeMap::new() })
    }

    /// Reads what lies below; zeroes behind its end.
    fn read_below(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let there = self.below.length()?.saturating_sub(offset).min(into.len() as u64) as usize;
        into[there..].fill(0);
        if there > 0 { self.below.read(offset, &mut into[..there]) } else { Ok(()) }
    }

    /// The chunk number `chunk`, to be written.
    fn chunk(&mut self, chunk: u64) -> io::Result<&mut [u8; CHUNK as usize]> {
        if !self.over.contains_key(&chunk) {
            let mut bytes = Box::new([0; CHUNK as usize]);
            self.read_below(chunk * CHUNK, &mut bytes[..])?;
            self.over.insert(chunk, bytes);
        }
        Ok(self.over.get_mut(&chunk).expect("it has just been put there"))
    }

    fn change(&mut self, offset: u64, length: u64, mut byte: impl FnMut(u64) -> u8) -> io::Result<()> {
        let mut at = offset;
        while at < offset + length {
            let until = (at / CHUNK * CHUNK + CHUNK).min(offset + length);
            let chunk = self.chunk(at / CHUNK)?;
            for place in at..until {
                chunk[(place % CHUNK) as usize] = byte(place - offset);
            }
            at = until;
        }
        self.length = self.length.max(offset + length);
        Ok(())
    }
}

impl<B: Backing> Backing for Overlay<B> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        if length < self.length {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "what lies over something else cannot become shorter"));
        }
        self.length = length;
        Ok(())
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(into.len() as u64).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_below(offset, into)?;
        let end = offset + into.len() as u64;
        for (&chunk, bytes) in self.over.range(offset / CHUNK..end.div_ceil(CHUNK)) {
            let (from, until) = ((chunk * CHUNK).max(offset), (chunk * CHUNK + CHUNK).min(end));
            let of = &bytes[(from - chunk * CHUNK) as usize..(until - chunk * CHUNK) as usize];
            into[(from - offset) as usize..(until - offset) as usize].copy_from_slice(of);
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(offset, bytes.len() as u64, |at| bytes[at as usize])
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let length = length.min(self.length.saturating_sub(offset));
        self.change(offset, length, |_| 0)
    }

    fn data_end(&self, from: u64, until: u64) -> io::Result<u64> {
        let below = self.below.data_end(from, until)?;
        let over = self.over.range(from / CHUNK..until.div_ceil(CHUNK)).next_back().map_or(from, |(chunk, _)| chunk * CHUNK + CHUNK);
        Ok(below.max(over.clamp(from, until)))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[test]
    fn it_reads_as_if_it_were_written_and_what_lies_below_stays() {
        let mut seed = 7_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let length = 5 * CHUNK + 100;
        let mut below = Memory::new();
        below.set_length(length).expect("memory");
        below.write(CHUNK + 3, &[7; 9_000]).expect("memory");
        let as_it_was = below.clone();
        let mut over = Overlay::new(below).expect("memory");
        let mut twin = vec![0; length as usize];
        over.read(0, &mut twin).expect("memory");
        for step in 0..400 {
            let from = draw(length - 1);
            let count = 1 + draw((length - from).min(9_000));
            let place = from as usize..(from + count) as usize;
            if step % 5 == 0 {
                over.punch(from, count).expect("memory");
                twin[place].fill(0);
            } else {
                over.write(from, &vec![step as u8; count as usize]).expect("memory");
                twin[place].fill(step as u8);
            }
            let (at, room) = (draw(length), 700.min(length as usize));
            let room = room.min((length - at) as usize);
            let mut read = vec![1; room];
            over.read(at, &mut read).expect("within");
            assert_eq!(read, twin[at as usize..at as usize + room], "step {step}");
            let end = over.data_end(at, length).expect("memory");
            assert!(twin[end as usize..].iter().all(|&byte| byte == 0), "step {step}: data behind {end}");
        }
        let (mut before, mut after) = (vec![0; length as usize], vec![0; length as usize]);
        as_it_was.read(0, &mut before).expect("memory");
        over.below.read(0, &mut after).expect("memory");
        assert!(before == after && over.read(length, &mut [0]).is_err());
    }
}
