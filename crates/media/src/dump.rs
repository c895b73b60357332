//! What capacitors keep of a write buffer: the last content of each of its slots.
//!
//! A drive with capacitors writes its buffer into a reserved place when the power goes. A process that is killed writes nothing any more, so here every slot
//! is written down as it is filled; what stands in the file at any instant is what the capacitors would have saved at that instant. It survives the
//! process, not the host: for that, each write of the host would have to be synced.
//!
//! Each slot has two places, used in turn, so that a write that is cut short leaves what the slot held before.
//!
//! ```text
//! header │ slot 0: one place, the other │ slot 1 … │ fact 0 │ fact 1 …
//!          └ checksum ┊ unit ┊ version ┊ mask ┊ lost ┊ bytes  └ checksum ┊ length ┊ bytes
//! ```
//!
//! Facts are what the firmware would write down with the last of its power beside the buffer: a fact has one place, which is used again only when it is not
//! needed any more. Files of before there were facts end after the slots; they become longer when the first fact is kept.

use crate::backing::Backing;
use crate::error::MediaError;
use crate::held::{Backlog, Held};

const MAGIC: &[u8; 8] = b"WLBUFFER";
const FORMAT: u32 = 1;
const HEADER_BYTES: u64 = 4096;
const HEADER_USED: usize = 40;
const LABEL_BYTES: usize = 32;

/// Whose buffer it is, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpShape {
    /// As [`crate::Identity::drive`].
    pub drive: u128,
    /// The number of buffer slots.
    pub slots: u32,
    /// Bytes in each.
    pub slot_bytes: u32,
    /// Places for facts.
    pub facts: u32,
    /// Bytes of the longest fact.
    pub fact_bytes: u32,
}

/// Bytes before those of a fact: checksum and length.
const FACT_HEAD: usize = 8;

/// What is in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The logical unit.
    pub unit: u32,
    /// Its version, at least 1. What is kept in a slot has a higher one than what was there, or the same and more sectors.
    pub version: u64,
    /// Which of its sectors are there, one bit each.
    pub mask: u64,
    /// Which of them are lost, one bit each.
    pub lost: u64,
}

impl Label {
    fn encode(&self, bytes: &mut [u8]) {
        bytes[4..8].copy_from_slice(&self.unit.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.version.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.mask.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.lost.to_le_bytes());
    }

    /// The label of a record, if it is whole.
    fn decode(record: &[u8]) -> Option<Label> {
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| record[at + byte]));
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| record[at + byte]));
        let label = Label { unit: number(4), version: long(8), mask: long(16), lost: long(24) };
        (label.version > 0 && number(0) == crc32fast::hash(&record[4..])).then_some(label)
    }
}

/// The newest content of a slot, and which of its places holds it.
#[derive(Clone, Copy, Debug)]
struct Newest {
    label: Label,
    place: u64,
}

/// The dump of a drive's write buffer.
#[derive(Debug)]
pub struct Dump<B> {
    backing: B,
    /// For messages.
    file: String,
    shape: DumpShape,
    slots: Vec<Option<Newest>>,
    record: Vec<u8>,
}

impl DumpShape {
    fn record_bytes(&self) -> u64 {
        LABEL_BYTES as u64 + u64::from(self.slot_bytes)
    }

    /// Where the facts begin.
    fn facts_at(&self) -> u64 {
        HEADER_BYTES + 2 * u64::from(self.slots) * self.record_bytes()
    }

    fn fact_at(&self, index: u32) -> u64 {
        self.facts_at() + u64::from(index) * (FACT_HEAD as u64 + u64::from(self.fact_bytes))
    }

    fn header(&self) -> [u8; HEADER_USED] {
        let mut bytes = [0; HEADER_USED];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..28].copy_from_slice(&self.drive.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.slots.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.slot_bytes.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..36]);
        bytes[36..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

impl<B: Backing> Dump<B> {
    /// Makes the dump of an empty buffer on an empty backing. `file` is for messages.
    ///
    /// # Errors
    /// If the host fails.
    pub fn create(mut backing: B, file: &str, shape: DumpShape) -> Result<Dump<B>, MediaError> {
        let host = |error| MediaError::host(file, 0, "making the file", error);
        backing.set_length(shape.fact_at(shape.facts)).map_err(host)?;
        backing.write(0, &shape.header()).map_err(host)?;
        Ok(Dump::new(backing, file, shape))
    }

    fn new(backing: B, file: &str, shape: DumpShape) -> Dump<B> {
        let record = vec![0; shape.record_bytes() as usize];
        Dump { backing, file: file.to_owned(), shape, slots: vec![None; shape.slots as usize], record }
    }

    /// Opens a dump, and finds what is in each slot.
    ///
    /// # Errors
    /// If it is not that of this buffer, is damaged in its header, or the host fails.
    pub fn open(backing: B, file: &str, shape: DumpShape) -> Result<Dump<B>, MediaError> {
        let mut header = [0; HEADER_USED];
        backing.read(0, &mut header).map_err(|error| MediaError::host(file, 0, "reading the header", error))?;
        let expected = shape.header();
        if let Some(at) = (0..HEADER_USED).find(|&at| header[at] != expected[at]) {
            let wanted = format!("the dump of {} slots of {} bytes of drive {:032x}", shape.slots, shape.slot_bytes, shape.drive);
            return Err(MediaError::unexpected(file, at as u64, wanted, format!("byte {:#04x}", header[at])));
        }
        let mut dump = Dump::new(backing, file, shape);
        for slot in 0..shape.slots {
            for place in 0..2 {
                let Some(label) = dump.read_record(slot, place)? else { continue };
                let age = |label: Label| (label.version, label.mask.count_ones());
                if dump.slots[slot as usize].is_none_or(|newest| age(newest.label) < age(label)) {
                    dump.slots[slot as usize] = Some(Newest { label, place });
                }
            }
        }
        Ok(dump)
    }

    /// What it stands on, to be worked on past the dump.
    pub(crate) fn backing_mut(&mut self) -> &mut B {
        &mut self.backing
    }

    /// The same dump on a file whose work is held in `backlog`, behind that of a drive of so many `dies`, where the host does not take it: see [`Held`].
    #[must_use]
    pub fn patient(self, dies: u32, backlog: &Backlog) -> Dump<Held<B>> {
        let Dump { backing, file, shape, slots, record } = self;
        Dump { backing: Held::new(backing, dies as usize, &file, backlog), file, shape, slots, record }
    }

    fn offset(&self, slot: u32, place: u64) -> u64 {
        HEADER_BYTES + (2 * u64::from(slot) + place) * self.shape.record_bytes()
    }

    fn read_record(&mut self, slot: u32, place: u64) -> Result<Option<Label>, MediaError> {
        let at = self.offset(slot, place);
        self.backing.read(at, &mut self.record).map_err(|error| MediaError::host(&self.file, at, "reading a slot", error))?;
        Ok(Label::decode(&self.record))
    }

    /// What is in `slot`; `None`: it was never used.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn label(&self, slot: u32) -> Option<Label> {
        self.slots[slot as usize].map(|newest| newest.label)
    }

    /// The bytes in `slot`.
    ///
    /// # Errors
    /// If they have rotted since the dump was opened, or the host fails.
    ///
    /// # Panics
    /// If there is no such slot, it was never used, or `into` has another length.
    pub fn read(&mut self, slot: u32, into: &mut [u8]) -> Result<(), MediaError> {
        let Newest { label, place } = self.slots[slot as usize].expect("the slot was used");
        if self.read_record(slot, place)? != Some(label) {
            let at = self.offset(slot, place);
            return Err(MediaError::unexpected(&self.file, at, "a slot with its checksum", "other bytes"));
        }
        into.copy_from_slice(&self.record[LABEL_BYTES..]);
        Ok(())
    }

    /// Place `index` for facts holds these bytes from now on. Until it has returned, it holds what it held, or nothing.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such place, or the fact is longer than any may be.
    pub fn keep_fact(&mut self, index: u32, bytes: &[u8]) -> Result<(), MediaError> {
        assert!(index < self.shape.facts && bytes.len() <= self.shape.fact_bytes as usize, "a fact beyond the dump's shape");
        let at = self.shape.fact_at(index);
        let host = |error| MediaError::host(&self.file, at, "keeping a fact", error);
        let whole = self.shape.fact_at(self.shape.facts);
        if self.backing.length().map_err(host)? < whole {
            self.backing.set_length(whole).map_err(host)?;
        }
        let mut record = vec![0; FACT_HEAD];
        record[4..FACT_HEAD].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        record.extend_from_slice(bytes);
        let sum = crc32fast::hash(&record[4..]);
        record[..4].copy_from_slice(&sum.to_le_bytes());
        self.backing.write(at, &record).map_err(host)
    }

    /// The bytes at place `index` for facts. Returns false if there is nothing whole.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn fact(&self, index: u32, into: &mut Vec<u8>) -> Result<bool, MediaError> {
        assert!(index < self.shape.facts, "a fact beyond the dump's shape");
        let at = self.shape.fact_at(index);
        let host = |error| MediaError::host(&self.file, at, "reading a fact", error);
        if self.backing.length().map_err(host)? < self.shape.fact_at(index + 1) {
            return Ok(false);
        }
        let mut record = vec![0; FACT_HEAD + self.shape.fact_bytes as usize];
        self.backing.read(at, &mut record).map_err(host)?;
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| record[at + byte]));
        let length = number(4) as usize;
        let is_whole =
            length > 0 && length <= self.shape.fact_bytes as usize && number(0) == crc32fast::hash(&record[4..FACT_HEAD + length]);
        into.clear();
        if is_whole {
            into.extend_from_slice(&record[FACT_HEAD..FACT_HEAD + length]);
        }
        Ok(is_whole)
    }

    /// `slot` holds this from now on. Until it has returned, it holds what it held.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such slot, or `bytes` are not as many as it has.
    pub fn keep(&mut self, slot: u32, label: Label, bytes: &[u8]) -> Result<(), MediaError> {
        let newest = &mut self.slots[slot as usize];
        let place = newest.map_or(0, |newest| 1 - newest.place);
        label.encode(&mut self.record);
        self.record[LABEL_BYTES..].copy_from_slice(bytes);
        let sum = crc32fast::hash(&self.record[4..]);
        self.record[..4].copy_from_slice(&sum.to_le_bytes());
        *newest = Some(Newest { label, place });
        let at = self.offset(slot, place);
        self.backing.write(at, &self.record).map_err(|error| MediaError::host(&self.file, at, "keeping a slot", error))
    }
}
