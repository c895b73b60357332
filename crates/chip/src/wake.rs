//! A die whose store was opened again: what it holds is read back, block by block and page by page.

use wordline_units::{BlockId, Lpn, PageId, PlaneId};

use crate::block::State;
use crate::chip::Chip;
use crate::payload::{Kept, KeptBlock, PageImage, Persistent, Place};
use crate::spare::PADDING;

impl<P: Persistent> Chip<P> {
    /// Take over what the store knows of a block. Its pages are taken over one by one after it, from the first: [`Chip::wake_page`].
    pub fn wake_block(&mut self, plane: PlaneId, block: BlockId) -> KeptBlock {
        let index = self.place_of(plane, block, PageId(0)).block;
        let kept = self.payload.kept_block(index);
        let entry = &mut self.blocks[index as usize];
        entry.erases = kept.erases;
        entry.next_page = kept.next_page as u16;
        if kept.is_torn {
            entry.state = State::Torn;
        }
        kept
    }

    /// Take over a page: its spare area, or that it cannot be read. `image` becomes what it holds.
    pub fn wake_page(&mut self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> Kept {
        let place = self.place_of(plane, block, page);
        let kept = self.payload.read(place, image);
        let grain = self.grain;
        let units: Vec<Lpn> = match kept {
            Kept::Erased => return kept,
            Kept::Torn => {
                self.ruined.insert(place);
                vec![PADDING; grain.units as usize]
            }
            Kept::Whole => image.marks.iter().map(|mark| mark.lpn).collect(),
        };
        let entry = &mut self.blocks[place.block as usize];
        if page.0 < entry.next_page {
            entry.spare.set(grain, place.page, &units);
        }
        kept
    }

    fn place_of(&self, plane: PlaneId, block: BlockId, page: PageId) -> Place {
        let block = u32::from(plane.0) * self.sheet.geometry.blocks + block.0;
        Place { block, page: u32::from(page.0) }
    }
}
