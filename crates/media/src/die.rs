//! One die on its backing: what a chip does to its cells, done to bytes.

mod harm;
mod wear;

use crate::backing::Backing;
use crate::error::MediaError;
use crate::header::{BEFORE_TAILS, DieState, Identity, VERSION};
use crate::page::{FLAGS_AT, FLAGS_MASK, TRAILER_BYTES, Trailer, encode_flags};
use crate::record::Record;
use crate::shape::{HEADER_BYTES, Shape};

/// A page of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block, counted over all planes.
    pub block: u32,
    /// The page in it.
    pub page: u32,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// Nothing: it reads as 0xFF.
    Erased,
    /// What was programmed.
    Written,
    /// Neither: a program or an erase was cut short, or the host's disk has rotted. The bytes mean nothing.
    Torn,
}

/// Whether a block can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It can.
    Good,
    /// Its last erase was not finished: nothing in it can be read or programmed before an erase is.
    Torn,
    /// It was marked as bad.
    Bad,
}

/// What a die knows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whether it can be used.
    pub condition: Condition,
    /// It has failed for good: nothing of it can be read or programmed, whatever its condition.
    pub has_failed: bool,
    /// An erase has begun and not ended.
    pub is_erasing: bool,
    /// Erases begun so far.
    pub erases: u32,
    /// Pages up to the last that was programmed. Where they are programmed in their order, it is the only one that may be next, and those before it are
    /// written or torn.
    pub cursor: u32,
    /// Bits of the layers above, cleared by an erase.
    pub flags: u32,
}

/// Room for the bytes of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBuffer {
    bytes: Vec<u8>,
    data: usize,
    spare: usize,
}

impl PageBuffer {
    /// Room for a page of this shape, all zeroes.
    pub fn new(shape: &Shape) -> PageBuffer {
        let (data, spare) = (shape.page_bytes as usize, shape.spare_bytes as usize);
        PageBuffer { bytes: vec![0; data + spare + TRAILER_BYTES], data, spare }
    }

    /// The user bytes.
    pub fn data(&self) -> &[u8] {
        &self.bytes[..self.data]
    }

    /// The spare bytes.
    pub fn spare(&self) -> &[u8] {
        &self.bytes[self.data..self.data + self.spare]
    }

    /// The user bytes, to be filled.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.data]
    }

    /// The spare bytes, to be filled.
    pub fn spare_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.data..self.data + self.spare]
    }

    /// User and spare bytes, and the trailer behind them.
    fn split(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.data + self.spare)
    }
}

/// Pages that follow each other in a block, to be programmed in one write.
#[derive(Clone, Debug)]
pub struct PageRun {
    /// Room for the longest run so far.
    bytes: Vec<u8>,
    count: usize,
    data: usize,
    spare: usize,
}

impl PageRun {
    /// An empty run of pages of this shape.
    pub fn new(shape: &Shape) -> PageRun {
        PageRun { bytes: Vec::new(), count: 0, data: shape.page_bytes as usize, spare: shape.spare_bytes as usize }
    }

    fn slot(&self) -> usize {
        self.data + self.spare + TRAILER_BYTES
    }

    /// Takes out all pages.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Pages in it.
    pub fn count(&self) -> u32 {
        self.count as u32
    }

    /// One more page: its user bytes and its spare bytes, to be filled, with whatever stands there.
    pub fn add(&mut self) -> (&mut [u8], &mut [u8]) {
        let (slot, start) = (self.slot(), self.count * self.slot());
        self.count += 1;
        if self.bytes.len() < start + slot {
            self.bytes.resize(start + slot, 0);
        }
        self.bytes[start..start + self.data + self.spare].split_at_mut(self.data)
    }
}

/// A block as it is kept in memory.
#[derive(Clone, Copy, Debug)]
struct Known {
    record: Record,
    cursor: u32,
    /// It was erased with zeroes, and the file has room for what is programmed next.
    has_room: bool,
    /// The file got that room as a whole, at an erase.
    is_whole: bool,
}

/// Erased blocks of each plane that keep their room in the file, at most. A drive programs them soon, and to be given the room anew costs more than the bytes
/// that go there. The next start reads all of it to find that it is erased.
const ROOMY_BLOCKS: usize = 8;

/// One die. It does what a chip would do and believes that its caller keeps to what a chip allows: pages of a block are programmed in their order, in good
/// blocks.
#[derive(Debug)]
pub struct Die<B> {
    backing: B,
    /// For messages.
    file: String,
    identity: Identity,
    state: DieState,
    blocks: Vec<Known>,
    /// Wordlines may be programmed in any order.
    any_order: bool,
    /// Some of the erased blocks keep their room in the file.
    keeps_room: bool,
    /// Number of erased blocks that keep their room.
    roomy: usize,
    /// Written since the last sync.
    dirty: bool,
    /// Pages whose programs have begun and not ended, with the trailers that they get then.
    begun: Vec<(Place, [u8; TRAILER_BYTES])>,
}

impl<B: Backing> Die<B> {
    /// Makes a die of erased blocks on an empty backing. `file` is for messages.
    ///
    /// # Errors
    /// If the identity cannot be written down, or the host fails.
    pub fn create(mut backing: B, file: &str, identity: &Identity) -> Result<Die<B>, MediaError> {
        identity.check()?;
        let host = |error| MediaError::host(file, 0, "making the file", error);
        backing.set_length(identity.shape.file_bytes()).map_err(host)?;
        backing.write(0, &identity.encode()).map_err(host)?;
        let mut die = Die::on_file(backing, file, identity.clone(), DieState::default());
        die.blocks = vec![Known { record: Record::default(), cursor: 0, has_room: false, is_whole: false }; identity.shape.blocks as usize];
        die.dirty = true;
        Ok(die)
    }

    /// Opens a die, and writes the second copies of records that a power cut left behind. A file of an older version becomes one of today's.
    ///
    /// # Errors
    /// If it is no media file, one of another version, one that is not `expected`, one that is cut short or rotten in its records, or if the host fails.
    pub fn open(backing: B, file: &str, expected: Option<&Identity>) -> Result<Die<B>, MediaError> {
        let length = backing.length().map_err(|error| MediaError::host(file, 0, "asking for its length", error))?;
        if length < HEADER_BYTES {
            return Err(MediaError::unexpected(file, length, format!("a header of {HEADER_BYTES} bytes"), "the end of the file"));
        }
        let mut header = vec![0; HEADER_BYTES as usize];
        backing.read(0, &mut header).map_err(|error| MediaError::host(file, 0, "reading the header", error))?;
        let (identity, version) = Identity::decode(file, &header)?;
        if let Some(expected) = expected {
            identity.expect(file, expected)?;
        }
        let whole = identity.shape.file_bytes();
        let is_of_before = version == BEFORE_TAILS && length == identity.shape.pages_end();
        if length != whole && !is_of_before {
            return Err(MediaError::unexpected(file, length.min(whole), format!("{whole} bytes in all"), format!("{length} bytes")));
        }
        let state = DieState::decode(file, &header)?;
        let mut die = Die::on_file(backing, file, identity, state);
        if version != VERSION {
            die.become_new(is_of_before)?;
        }
        die.read_records()?;
        for block in 0..die.identity.shape.blocks {
            die.find_cursor(block)?;
        }
        Ok(die)
    }

    /// A die of which nothing but its head is known.
    fn on_file(backing: B, file: &str, identity: Identity, state: DieState) -> Die<B> {
        let (file, blocks, begun) = (file.to_owned(), Vec::new(), Vec::new());
        Die { backing, file, identity, state, blocks, any_order: false, keeps_room: false, roomy: 0, dirty: false, begun }
    }

    /// Erased blocks may keep their room in the file, some of them. Not where the host may die: their zeroes would have to reach its disk.
    pub fn keep_room(&mut self) {
        self.keeps_room = true;
    }

    /// The chip takes the wordlines of a block in any order. A page without a byte among others is then one that was not programmed; otherwise it is one that
    /// the host has lost.
    pub fn allow_any_order(&mut self) {
        self.any_order = true;
    }

    /// Whose it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.identity.shape
    }

    /// What it stands on.
    pub fn backing(&self) -> &B {
        &self.backing
    }

    /// What it stands on, to be worked on past the die.
    pub(crate) fn backing_mut(&mut self) -> &mut B {
        &mut self.backing
    }

    /// The same die on what `stand` makes of its backing and the name of its file.
    pub(crate) fn on<C>(self, stand: impl FnOnce(B, &str) -> C) -> Die<C> {
        let Die { backing, file, identity, state, blocks, any_order, keeps_room, roomy, dirty, begun } = self;
        Die { backing: stand(backing, &file), file, identity, state, blocks, any_order, keeps_room, roomy, dirty, begun }
    }

    /// What it knows of a block.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, block: u32) -> Block {
        let Known { record, cursor, .. } = self.blocks[block as usize];
        let condition = match (record.bad, record.torn) {
            (true, _) => Condition::Bad,
            (false, true) => Condition::Torn,
            (false, false) => Condition::Good,
        };
        Block { condition, has_failed: record.failed, is_erasing: record.torn, erases: record.erases, cursor, flags: record.flags }
    }

    /// Reads a page, and the flags beside it. An erased page has no flags; those of a torn one mean nothing.
    ///
    /// # Errors
    /// If the host fails. A page that cannot be trusted is no error, but [`PageState::Torn`].
    ///
    /// # Panics
    /// If there is no such page, or the buffer is for another shape.
    pub fn read_page(&self, place: Place, into: &mut PageBuffer) -> Result<(PageState, u8), MediaError> {
        let offset = self.at(place);
        assert_eq!(into.bytes.len() as u64, self.shape().slot(), "a buffer of another shape");
        let Known { record, cursor, .. } = self.blocks[place.block as usize];
        if !record.torn && place.page >= cursor {
            into.bytes.fill(0xFF);
            return Ok((PageState::Erased, 0));
        }
        self.backing.read(offset, &mut into.bytes).map_err(|error| self.host(offset, "reading a page", error))?;
        if self.any_order && !record.torn && into.bytes.iter().all(|&byte| byte == 0) {
            into.bytes.fill(0xFF);
            return Ok((PageState::Erased, 0));
        }
        let (bytes, trailer) = into.split();
        let trailer = Trailer::decode(trailer);
        let whole = !record.torn && trailer.vouches(place.block, place.page, record.erases, bytes);
        Ok((if whole { PageState::Written } else { PageState::Torn }, trailer.flags.unwrap_or(0)))
    }

    /// Programs the next page of a block, in one write. What lies behind the spare bytes of `page` is overwritten.
    ///
    /// # Errors
    /// If the host fails. The page is torn then, and cannot be programmed before an erase.
    ///
    /// # Panics
    /// If this is not the next page of a good block, or, in any order, not a page of one, or the buffer is for another shape.
    pub fn program_page(&mut self, place: Place, page: &mut PageBuffer) -> Result<(), MediaError> {
        assert_eq!(page.bytes.len() as u64, self.shape().slot(), "a buffer of another shape");
        self.program(place, &mut page.bytes)
    }

    /// Begins to program the next page of a block: it is torn until [`Die::end_program`].
    ///
    /// # Errors
    /// As [`Die::program_page`].
    ///
    /// # Panics
    /// As there.
    pub fn begin_page(&mut self, place: Place, page: &mut PageBuffer) -> Result<(), MediaError> {
        assert_eq!(page.bytes.len() as u64, self.shape().slot(), "a buffer of another shape");
        self.begin(place, &mut page.bytes)
    }

    /// Begins to program the next pages of a block, from `first` on, in one write: they are torn until [`Die::end_program`].
    ///
    /// # Errors
    /// As [`Die::program_pages`].
    ///
    /// # Panics
    /// As there.
    pub fn begin_pages(&mut self, first: Place, pages: &mut PageRun) -> Result<(), MediaError> {
        let slot = pages.slot();
        assert_eq!(slot as u64, self.shape().slot(), "pages of another shape");
        self.begin(first, &mut pages.bytes[..pages.count * slot])
    }

    /// Writes pages without the trailers that vouch for them, and keeps those.
    fn begin(&mut self, first: Place, bytes: &mut [u8]) -> Result<(), MediaError> {
        let erases = self.block(first.block).erases;
        let slot = self.shape().slot() as usize;
        for (page, bytes) in (first.page..).zip(bytes.chunks_exact_mut(slot)) {
            let (content, trailer) = bytes.split_at_mut(slot - TRAILER_BYTES);
            self.begun.push((Place { page, ..first }, Trailer::encode(first.block, page, erases, content)));
            trailer.fill(0);
        }
        self.write(first, bytes)
    }

    /// Ends the programs that have begun in a block: their pages are whole.
    ///
    /// # Errors
    /// If the host fails. The pages stay torn then.
    pub fn end_program(&mut self, block: u32) -> Result<(), MediaError> {
        while let Some(at) = self.begun.iter().position(|(place, _)| place.block == block) {
            let (place, trailer) = self.begun.remove(at);
            let offset = self.at(place) + self.shape().slot() - TRAILER_BYTES as u64;
            self.dirty = true;
            self.backing.write(offset, &trailer).map_err(|error| self.host(offset, "ending a program", error))?;
        }
        Ok(())
    }

    /// Programs that have begun in a block are broken off: their pages stay torn.
    pub fn break_off(&mut self, block: u32) {
        self.begun.retain(|(place, _)| place.block != block);
    }

    /// Programs the next pages of a block, from `first` on, in one write.
    ///
    /// # Errors
    /// As [`Die::program_page`]; any of the pages may be torn then.
    ///
    /// # Panics
    /// As there.
    pub fn program_pages(&mut self, first: Place, pages: &mut PageRun) -> Result<(), MediaError> {
        let slot = pages.slot();
        assert_eq!(slot as u64, self.shape().slot(), "pages of another shape");
        self.program(first, &mut pages.bytes[..pages.count * slot])
    }

    /// Programs pages whose data, spare bytes and room for trailers stand in `bytes`.
    fn program(&mut self, first: Place, bytes: &mut [u8]) -> Result<(), MediaError> {
        let erases = self.block(first.block).erases;
        let slot = self.shape().slot() as usize;
        for (page, bytes) in (first.page..).zip(bytes.chunks_exact_mut(slot)) {
            let (content, trailer) = bytes.split_at_mut(slot - TRAILER_BYTES);
            trailer.copy_from_slice(&Trailer::encode(first.block, page, erases, content));
        }
        self.write(first, bytes)
    }

    /// Writes pages as they stand in `bytes`.
    fn write(&mut self, first: Place, bytes: &[u8]) -> Result<(), MediaError> {
        let offset = self.at(first);
        let Block { condition, cursor, .. } = self.block(first.block);
        let next = if self.any_order { first.page } else { cursor };
        assert_eq!((condition, next), (Condition::Good, first.page), "{first:?} is not the next page of a good block");
        let end = first.page + (bytes.len() as u64 / self.shape().slot()) as u32;
        // There is such a page.
        self.at(Place { page: end - 1, ..first });
        self.blocks[first.block as usize].cursor = cursor.max(end);
        self.roomy -= usize::from(std::mem::take(&mut self.blocks[first.block as usize].has_room));
        self.dirty = true;
        self.backing.write(offset, bytes).map_err(|error| self.host(offset, "programming a page", error))
    }

    /// Sets some of the four flags beside a programmed page. They stay until the block is erased. The write is of one byte, so it cannot be torn.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If the page is not programmed, or there is no such flag.
    pub fn flag_page(&mut self, place: Place, flags: u8) -> Result<(), MediaError> {
        let offset = self.at(place) + self.shape().slot() - TRAILER_BYTES as u64;
        assert!(flags & !FLAGS_MASK == 0, "flags {flags:#x}: there are four");
        assert!(place.page < self.block(place.block).cursor, "{place:?} is not programmed");
        if let Some((_, trailer)) = self.begun.iter_mut().find(|(begun, _)| *begun == place) {
            // It has them once it is whole.
            let flags = Trailer::decode(trailer).flags.unwrap_or(0) | flags;
            trailer[FLAGS_AT as usize] = encode_flags(flags);
            return Ok(());
        }
        let mut trailer = [0; TRAILER_BYTES];
        self.backing.read(offset, &mut trailer).map_err(|error| self.host(offset, "reading a page's flags", error))?;
        // Broken flags stay broken: the page is torn, and this is no way to heal it.
        let Some(before) = Trailer::decode(&trailer).flags else { return Ok(()) };
        self.dirty = true;
        let byte = [encode_flags(before | flags)];
        self.backing.write(offset + FLAGS_AT, &byte).map_err(|error| self.host(offset + FLAGS_AT, "setting a page's flags", error))
    }

    /// Sets some of the flags of a programmed page and then overwrites it with zeroes. What it held is gone from the file; so it is, as far as the write came,
    /// from a page that is torn by it. A page that is whole and zero has the flags.
    ///
    /// # Errors
    /// If the host fails. The page is torn then.
    ///
    /// # Panics
    /// If the page is not programmed, or there is no such flag.
    pub fn wipe_page(&mut self, place: Place, flags: u8) -> Result<(), MediaError> {
        // First the flags: were they part of the write, a cut between checksum and flags would leave zeroes that pass for data.
        self.flag_page(place, flags)?;
        let (offset, slot) = (self.at(place), self.shape().slot());
        let mut page = vec![0; slot as usize];
        let end = page.len() - TRAILER_BYTES;
        let mut trailer = [0; TRAILER_BYTES];
        self.backing.read(offset + end as u64, &mut trailer).map_err(|error| self.host(offset, "reading a page's flags", error))?;
        let flags = Trailer::decode(&trailer).flags.map_or(flags, |stand| stand | flags);
        // Whatever was being programmed there is overwritten.
        self.begun.retain(|(begun, _)| *begun != place);
        let trailer = Trailer::encode(place.block, place.page, self.block(place.block).erases, &page[..end]);
        page[end..].copy_from_slice(&trailer);
        page[end + FLAGS_AT as usize] = encode_flags(flags);
        self.backing.write(offset, &page).map_err(|error| self.host(offset, "wiping a page", error))
    }

    /// Erases a block: first it is marked as torn, then its pages are punched out, then it is marked as good. A bad block stays bad.
    ///
    /// # Errors
    /// If the host fails. The block is torn then.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn erase_block(&mut self, block: u32) -> Result<(), MediaError> {
        self.begin_erase(block)?;
        self.end_erase(block)
    }

    /// Begins to erase a block: it is torn until [`Die::end_erase`].
    ///
    /// # Errors
    /// As [`Die::erase_block`].
    ///
    /// # Panics
    /// As there.
    pub fn begin_erase(&mut self, block: u32) -> Result<(), MediaError> {
        self.break_off(block);
        let Known { record: before, cursor, has_room, is_whole } = self.blocks[block as usize];
        let &Shape { planes, pages, .. } = self.shape();
        self.roomy -= usize::from(has_room);
        // A block that was full has room for as much again.
        let has_room = self.keeps_room && !before.torn && cursor == pages && self.roomy < ROOMY_BLOCKS * planes as usize;
        self.roomy += usize::from(has_room);
        let begun = Record { erases: before.erases.saturating_add(1), torn: true, flags: 0, ..before };
        // Whatever fails from here on, the block is torn.
        self.blocks[block as usize] = Known { record: begun, cursor: 0, has_room, is_whole: has_room };
        self.write_record(block, begun)?;
        let offset = self.shape().block(block);
        let length = self.shape().block_bytes();
        let erased = if has_room { self.backing.zero(offset, length, !is_whole) } else { self.backing.punch(offset, length) };
        erased.map_err(|error| self.host(offset, "erasing a block", error))
    }

    /// Ends the erase that has begun of a block: it is good, unless it is bad.
    ///
    /// # Errors
    /// If the host fails. The block stays torn then.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn end_erase(&mut self, block: u32) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        self.write_record(block, Record { torn: false, ..record })
    }

    /// Sets the number of erases of a block of which no page is programmed.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block, or it holds something: the marks of its pages name the number.
    pub fn set_erases(&mut self, block: u32, erases: u32) -> Result<(), MediaError> {
        let Known { record, cursor, .. } = self.blocks[block as usize];
        assert_eq!(cursor, 0, "block {block} holds pages whose marks name its erases");
        self.write_record(block, Record { erases, ..record })
    }

    /// Sets the bits that the layers above keep beside a block, until it is erased.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn flag_block(&mut self, block: u32, flags: u32) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        self.write_record(block, Record { flags: record.flags | flags, ..record })
    }

    /// Marks a block as bad, for ever.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn mark_bad(&mut self, block: u32) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        self.write_record(block, Record { bad: true, ..record })
    }

    /// What of it has failed for good, but for its blocks.
    pub fn state(&self) -> DieState {
        self.state
    }

    /// Remembers that the whole die has failed, and whether it is silent. The write is of one byte, so it cannot be torn. A die that is silent stays so.
    ///
    /// # Errors
    /// If the host fails.
    pub fn fail(&mut self, silent: bool) -> Result<(), MediaError> {
        self.become_so(DieState { failed: Some(silent || self.state.failed == Some(true)), ..self.state })
    }

    /// Remembers that a plane has failed, in the same way.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such plane, or it is not one of the first four: no chip has more.
    pub fn fail_plane(&mut self, plane: u32) -> Result<(), MediaError> {
        assert!(plane < self.shape().planes.min(4), "plane {plane} of {:?}", self.shape());
        self.become_so(DieState { planes: self.state.planes | 1 << plane, ..self.state })
    }

    fn become_so(&mut self, state: DieState) -> Result<(), MediaError> {
        for (at, byte) in state.changes(self.state) {
            self.dirty = true;
            self.backing.write(at, &[byte]).map_err(|error| self.host(at, "writing the state of the die", error))?;
        }
        self.state = state;
        Ok(())
    }

    /// Remembers that a block has failed for good, counted over all planes.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn fail_block(&mut self, block: u32) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        if record.failed { Ok(()) } else { self.write_record(block, Record { failed: true, ..record }) }
    }

    /// Makes all that was done survive the host.
    ///
    /// # Errors
    /// If the host fails; what was done since the last sync may be lost then.
    pub fn sync(&mut self) -> Result<(), MediaError> {
        if self.dirty {
            self.backing.sync().map_err(|error| self.host(0, "syncing", error))?;
            self.dirty = false;
        }
        Ok(())
    }

    fn host(&self, offset: u64, doing: &'static str, error: std::io::Error) -> MediaError {
        MediaError::host(&self.file, offset, doing, error)
    }

    fn at(&self, place: Place) -> u64 {
        let shape = self.shape();
        assert!(place.block < shape.blocks && place.page < shape.pages, "{place:?} is outside of {shape:?}");
        shape.page(place.block, place.page)
    }

    /// Both copies, one after the other.
    fn write_record(&mut self, block: u32, record: Record) -> Result<(), MediaError> {
        let record = Record { changes: self.blocks[block as usize].record.changes + 1, ..record };
        for copy in 0..2 {
            self.write_copy(block, copy, record)?;
        }
        self.blocks[block as usize].record = record;
        Ok(())
    }

    fn write_copy(&mut self, block: u32, copy: u64, record: Record) -> Result<(), MediaError> {
        let offset = self.shape().record(block, copy);
        self.dirty = true;
        self.backing.write(offset, &record.encode()).map_err(|error| self.host(offset, "writing a block's record", error))
    }

    fn read_records(&mut self) -> Result<(), MediaError> {
        let shape = *self.shape();
        let mut tables = [vec![0; shape.table() as usize], vec![0; shape.table() as usize]];
        for (copy, table) in tables.iter_mut().enumerate() {
            let offset = shape.record(0, copy as u64);
            self.backing.read(offset, table).map_err(|error| self.host(offset, "reading the block records", error))?;
        }
        for block in 0..shape.blocks {
            let at = (shape.record(block, 0) - HEADER_BYTES) as usize..(shape.record(block + 1, 0) - HEADER_BYTES) as usize;
            let [first, second] = [&tables[0][at.clone()], &tables[1][at]];
            let Some(record) = Record::newer(first, second) else {
                let expected = format!("a whole record of block {block}, here or at offset {}", shape.record(block, 1));
                return Err(MediaError::unexpected(&self.file, shape.record(block, 0), expected, "two broken ones"));
            };
            self.blocks.push(Known { record, cursor: 0, has_room: false, is_whole: false });
            if first != second {
                // The newer copy stays as it is: a cut here would otherwise bring the older one back.
                let stale = u64::from(Record::newer(first, first) == Some(record));
                self.write_copy(block, stale, record)?;
            }
        }
        Ok(())
    }

    /// Finds where the pages of a block end. Where an earlier epoch left pages behind them, the erase between did not reach the host's disk whole: the block
    /// is torn.
    fn find_cursor(&mut self, block: u32) -> Result<(), MediaError> {
        let shape = *self.shape();
        let Known { record, .. } = self.blocks[block as usize];
        if record.torn {
            return Ok(());
        }
        let (from, until) = (shape.block(block), shape.block(block + 1));
        let end = self.backing.data_end(from, until).map_err(|error| self.host(from, "looking for data", error))?;
        let mut cursor = (end - from).div_ceil(shape.slot()).min(u64::from(shape.pages)) as u32;
        let mut page = PageBuffer::new(&shape);
        while cursor > 0 {
            let offset = shape.page(block, cursor - 1);
            self.backing.read(offset, &mut page.bytes).map_err(|error| self.host(offset, "reading a page", error))?;
            let (bytes, trailer) = page.split();
            if Trailer::decode(trailer).is_leftover(block, cursor - 1, record.erases, bytes) {
                self.blocks[block as usize].record.torn = true;
                return Ok(());
            }
            if page.bytes.iter().any(|&byte| byte != 0) {
                break;
            }
            cursor -= 1;
        }
        self.blocks[block as usize].cursor = cursor;
        Ok(())
    }
}
