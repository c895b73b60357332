//! Survey: how a core reads its flash after a power cut.

use wordline_flash::Mark;
use wordline_units::{BlockId, DieId, PageId, PlaneId};

use crate::recovery::Recovery;
pub use crate::state::buffer::Held;
use crate::state::layout::Layout;

/// Address of a page of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePlace {
    /// Die, counted over the core's own.
    pub die: DieId,
    /// The plane.
    pub plane: PlaneId,
    /// The block in its plane.
    pub block: BlockId,
    /// The page in program order.
    pub page: PageId,
}

/// State of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Erased: nothing was programmed since the last erase.
    Erased,
    /// Torn: power was lost while the page was programmed or erased, and the pins give bits of its old or its new content.
    Torn,
    /// Sanitised: the pins give nothing of the page's content.
    Gone,
    /// Programmed, with errors that cannot be corrected.
    Unreadable,
    /// Programmed and readable.
    Whole,
}

/// Record that the die keeps of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// True if no program or erase of the block has failed.
    pub healthy: bool,
    /// Erase count of the block.
    pub erases: u32,
    /// True if the last erase of the block was cut short: nothing that is still in it was needed.
    pub is_torn: bool,
}

/// The flash of a core, read without time passing.
pub trait FlashReader {
    /// Record that the die keeps of a block.
    fn block(&mut self, die: DieId, plane: PlaneId, block: BlockId) -> BlockRecord;

    /// State of the page at `place`. If it is whole, `marks` becomes the mark of each of its units.
    fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found;

    /// Reads the user bytes of the whole page at `place`. It is asked of pages of the journal, of checkpoints and of the key store only.
    fn bytes(&mut self, place: PagePlace, bytes: &mut Vec<u8>);

    /// Content that capacitors have kept of the write buffer's `slot`: what it held last, needed or not.
    fn held(&mut self, slot: u32) -> Option<Held>;

    /// Reads the fact that capacitors have kept at place `index` beside the buffer, below [`crate::FACTS`], as [`crate::Firmware::take_kept_fact`] gave it.
    /// Returns false if there is none.
    fn kept_fact(&mut self, _index: u32, _bytes: &mut Vec<u8>) -> bool {
        false
    }

    /// Number of the commit whose table of keys the controller's register opens; 0: it was never overwritten.
    fn register(&mut self) -> u64 {
        0
    }

    /// Epoch in which the whole data page at `place` was encrypted, as its spare area says. It is asked where there is a key store.
    fn key_epoch(&mut self, _place: PagePlace) -> u32 {
        0
    }
}

/// Number of times that an uncorrectable page is read, because a failure may be luck.
const READS: u32 = 3;

/// A survey with scratch space for what it reads.
pub(crate) struct Reader<'a> {
    pub(crate) layout: Layout,
    pub(crate) flash_reader: &'a mut dyn FlashReader,
    pub(crate) marks: Vec<Mark>,
    pub(crate) bytes: Vec<u8>,
}

impl Reader<'_> {
    /// Addresses of the pages of program unit `program` of the group on `blocks`.
    pub(crate) fn places(&self, die: DieId, blocks: [u16; 4], program: u32) -> Vec<PagePlace> {
        let pages = program * self.layout.pages_per_program..(program + 1) * self.layout.pages_per_program;
        let planes = (0..self.layout.planes as usize).zip(blocks);
        let place = |page: u32, (plane, block): (usize, u16)| PagePlace {
            die,
            plane: PlaneId(plane as u8),
            block: BlockId(u32::from(block)),
            page: PageId(page as u16),
        };
        pages.flat_map(|page| planes.clone().map(move |plane| place(page, plane))).collect()
    }

    pub(crate) fn page(&mut self, place: PagePlace, tally: &mut Recovery) -> Found {
        for _ in 0..READS {
            tally.pages += 1;
            self.marks.clear();
            let found = self.flash_reader.page(place, &mut self.marks);
            if found != Found::Unreadable {
                return found;
            }
        }
        Found::Unreadable
    }

    /// Mark of the unit at `offset` of the group on `blocks`, if its page can be read.
    pub(crate) fn mark(&mut self, (die, blocks): (DieId, [u16; 4]), offset: u32, tally: &mut Recovery) -> Option<Mark> {
        let place = self.layout.place(offset);
        let block = BlockId(u32::from(blocks[usize::from(place.plane.0)]));
        let found = self.page(PagePlace { die, plane: place.plane, block, page: place.page }, tally);
        (found == Found::Whole).then(|| self.marks[place.unit as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::{Bytes, Lpn};

    /// A flash whose pages are unreadable `bad` times before they can be read.
    struct Flaky {
        bad: u32,
        asked: Vec<PagePlace>,
    }

    impl FlashReader for Flaky {
        fn block(&mut self, _: DieId, _: PlaneId, _: BlockId) -> BlockRecord {
            BlockRecord { healthy: true, erases: 0, is_torn: false }
        }

        fn page(&mut self, place: PagePlace, marks: &mut Vec<Mark>) -> Found {
            assert!(marks.is_empty(), "marks of the page before");
            self.asked.push(place);
            if self.bad > 0 {
                self.bad -= 1;
                return Found::Unreadable;
            }
            marks.extend((0..4).map(|unit| Mark { lpn: Lpn(unit), ..Mark::NOTHING }));
            Found::Whole
        }

        fn bytes(&mut self, _: PagePlace, _: &mut Vec<u8>) {}

        fn held(&mut self, _: u32) -> Option<Held> {
            None
        }
    }

    fn read(bad: u32, offset: u32) -> (Option<u32>, Vec<PagePlace>, u64) {
        let mut flash_reader = Flaky { bad, asked: Vec::new() };
        let layout = Layout::new(&small_sheet(2, 5, ProgramScope::Page), 1, 5, Bytes::kib(4));
        let mut tally = Recovery::default();
        let mut reader = Reader { layout, flash_reader: &mut flash_reader, marks: Vec::new(), bytes: Vec::new() };
        let mark = reader.mark((DieId(0), [3, 4, 0, 0]), offset, &mut tally);
        (mark.map(|mark| mark.lpn.0), flash_reader.asked, tally.pages)
    }

    #[test]
    fn a_page_is_read_again_when_it_cannot_be_corrected_and_given_up_after_a_few_times() {
        assert_eq!(read(0, 0).0, Some(0));
        let (mark, asked, pages) = read(READS - 1, 2);
        assert_eq!((mark, asked.len() as u32, pages), (Some(2), READS, u64::from(READS)));
        assert_eq!((read(READS, 0).0, read(READS, 0).2), (None, u64::from(READS)));
    }

    #[test]
    fn a_unit_is_looked_for_in_its_plane_and_the_pages_of_a_program_lie_in_all_planes() {
        let (mark, asked, _) = read(0, 8 + 5);
        let place = PagePlace { die: DieId(0), plane: PlaneId(1), block: BlockId(4), page: PageId(1) };
        assert_eq!((mark, asked), (Some(1), vec![place]));
        let mut flash_reader = Flaky { bad: 0, asked: Vec::new() };
        let layout = Layout::new(&small_sheet(2, 5, ProgramScope::Page), 1, 5, Bytes::kib(4));
        let reader = Reader { layout, flash_reader: &mut flash_reader, marks: Vec::new(), bytes: Vec::new() };
        let places = reader.places(DieId(0), [3, 4, 0, 0], 1);
        assert_eq!(places, [PagePlace { plane: PlaneId(0), block: BlockId(3), ..place }, place]);
    }
}
