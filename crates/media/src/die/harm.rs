//! Harm on demand, done to the bytes of a die: bits that flip, and work that a power cut breaks off.

use wordline_units::random::Draw;

use super::{Block, Condition, Die, PageBuffer, Place};
use crate::backing::Backing;
use crate::error::MediaError;
use crate::page::Trailer;
use crate::record::Record;

/// Bits that flip in a page, at most.
const FLIPS_MAX: u64 = 64;

impl<B: Backing> Die<B> {
    /// Flips bits of a programmed page, 1 to 64 of its data and spare bytes, as many and which by `draw`, until its checksum no longer holds. It reads as
    /// torn until its block is erased. A page that is torn already stays so.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such page, or it is not programmed.
    pub fn corrupt_page(&mut self, place: Place, draw: &mut Draw) -> Result<(), MediaError> {
        let offset = self.at(place);
        let Block { cursor, erases, .. } = self.block(place.block);
        assert!(place.page < cursor, "{place:?} is not programmed");
        let mut page = PageBuffer::new(self.shape());
        self.backing.read(offset, &mut page.bytes).map_err(|error| self.host(offset, "reading a page to corrupt it", error))?;
        let bits = 8 * (page.data + page.spare) as u64;
        loop {
            for _ in 0..1 + draw.below(FLIPS_MAX) {
                let bit = draw.below(bits);
                page.bytes[bit as usize / 8] ^= 1 << (bit % 8);
            }
            let (bytes, trailer) = page.split();
            // Two flips of one bit are none.
            if !Trailer::decode(trailer).vouches(place.block, place.page, erases, bytes) {
                break;
            }
        }
        self.dirty = true;
        let end = page.data + page.spare;
        self.backing.write(offset, &page.bytes[..end]).map_err(|error| self.host(offset, "corrupting a page", error))
    }

    /// Programs a page as far as it comes before the power goes: some of its first bytes, as many as `draw` says, and no trailer.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// As [`Die::program_page`].
    pub fn tear_page(&mut self, place: Place, page: &PageBuffer, draw: &mut Draw) -> Result<(), MediaError> {
        let offset = self.at(place);
        let Block { condition, cursor, .. } = self.block(place.block);
        let next = if self.any_order { place.page } else { cursor };
        assert_eq!((condition, next), (Condition::Good, place.page), "{place:?} is not the next page of a good block");
        let count = draw.below((page.data + page.spare) as u64 + 1) as usize;
        self.blocks[place.block as usize].cursor = cursor.max(place.page + 1);
        self.dirty = true;
        self.backing.write(offset, &page.bytes[..count]).map_err(|error| self.host(offset, "programming a page in part", error))
    }

    /// Erases a block as far as it comes before the power goes: it is marked as torn, and of its pages some, as many as `draw` says, are punched out.
    ///
    /// # Errors
    /// If the host fails.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn tear_erase(&mut self, block: u32, draw: &mut Draw) -> Result<(), MediaError> {
        let record = self.blocks[block as usize].record;
        self.write_record(block, Record { erases: record.erases.saturating_add(1), torn: true, flags: 0, ..record })?;
        self.blocks[block as usize].cursor = 0;
        let shape = *self.shape();
        let length = draw.below(u64::from(shape.pages) + 1) * shape.slot();
        let offset = shape.block(block);
        if length == 0 {
            return Ok(());
        }
        self.backing.punch(offset, length).map_err(|error| self.host(offset, "erasing a block in part", error))
    }
}
