//! A die whose store was opened again.
//!
//! Of each block it takes over what the store knows of it; pages are looked at when somebody asks. A spare area of such a block is read from its page whenever
//! it is needed, until the block is erased: to read all of them at once would take as long as to read the die.

use wordline_flash::{Mark, Sanitisation};
use wordline_units::{BlockId, Lpn, PageId, PlaneId};

use crate::block::State;
use crate::chip::Chip;
use crate::payload::{Kept, KeptBlock, PageImage, Persistent, Place};
use crate::spare::Spare;

impl Chip {
    /// Take over what the store knows of a block.
    pub fn wake_block(&mut self, plane: PlaneId, block: BlockId) -> KeptBlock {
        let index = self.place_of(plane, block, PageId(0)).block;
        let kept = self.persistent().kept_block(index);
        let entry = &mut self.blocks[index as usize];
        entry.erases = kept.erases;
        entry.spare = if kept.next_page > 0 { Spare::Stored } else { Spare::Empty };
        if kept.is_torn {
            entry.state = State::Torn;
        }
        // Where wordlines go in any order there may be gaps among them, which the store tells when such a page is looked at. The firmware programs no block
        // on before its next erase.
        self.mark_first(index, kept.next_page);
        self.mark_spared(index, kept.life.spared());
        if kept.is_locked {
            self.learn(Place { block: index, page: 0 }, Kept::Sanitised(Sanitisation::LockBlock));
        }
        if let Some(array) = &mut self.array {
            array.wake(index, &kept.life);
            if kept.next_page == 0 {
                // A power cut after the erase, or before the first page of copied data.
                array.wake_empty(index);
            }
        }
        kept
    }

    /// Take over what the store knows of the parts of the die that have failed for good.
    pub fn wake_failures(&mut self) {
        self.persistent().kept_failures().into_iter().for_each(|failure| self.fail(failure));
    }

    /// Look at a page. `image` becomes what the pins give of it.
    pub fn wake_page(&mut self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> Kept {
        let place = self.place_of(plane, block, page);
        let kept = self.read_payload(place, image);
        match (kept, self.hide(place, image)) {
            (_, Some(how)) => Kept::Sanitised(how),
            (Kept::Torn, None) => Kept::Torn,
            // Its lock has not held.
            (Kept::Sanitised(_), None) => Kept::Whole,
            (Kept::Erased | Kept::Whole, None) => kept,
        }
    }

    fn persistent(&self) -> &dyn Persistent {
        self.payload.as_deref().and_then(|payload| payload.persistent()).expect("a die wakes from a store that outlives the drive")
    }

    fn place_of(&self, plane: PlaneId, block: BlockId, page: PageId) -> Place {
        let block = u32::from(plane.0) * self.sheet.geometry.blocks + block.0;
        Place { block, page: u32::from(page.0) }
    }
}

impl Chip {
    /// Read a page from the store and book what the store says of it.
    pub(crate) fn read_payload(&mut self, place: Place, image: &mut PageImage) -> Kept {
        let kept = self.payload.as_ref().map_or(Kept::Erased, |payload| payload.read(place, image));
        self.book(place, kept)
    }

    /// As [`Chip::read_payload`], where of the bytes only those of one mapping unit matter.
    pub(crate) fn read_unit_payload(&mut self, place: Place, unit: usize, image: &mut PageImage) -> Kept {
        let kept = self.payload.as_ref().map_or(Kept::Erased, |payload| payload.read_unit(place, unit, image));
        self.book(place, kept)
    }

    fn book(&mut self, place: Place, kept: Kept) -> Kept {
        match kept {
            Kept::Torn => _ = self.ruined.insert(place),
            Kept::Sanitised(_) => self.learn(place, kept),
            Kept::Erased | Kept::Whole => {}
        }
        kept
    }

    /// The spare area of a page, as the store has it.
    #[cold]
    pub(crate) fn stored(&self, place: Place) -> Vec<Lpn> {
        let mut image = PageImage::new(self.sheet.geometry.page.0 as usize, self.grain.units as usize);
        if let Some(Kept::Sanitised(_)) = self.payload.as_ref().map(|payload| payload.read(place, &mut image)) {
            image.marks.fill(Mark::NOTHING);
        }
        image.marks.iter().map(|mark| mark.lpn).collect()
    }
}
