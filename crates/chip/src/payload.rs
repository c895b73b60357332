//! The payload plane: what the user bytes of a page are, where anybody cares.
//!
//! A simulation needs no bytes, so a die has a payload or none: the question is asked once for a program or a read. [`RamPayload`] keeps bytes in memory, for
//! drives that are audited; a drive that is mounted keeps them in files.
//!
//! With the bytes of each mapping unit goes its [`Mark`]. Reclaim copies bytes and marks together, so a mark is of the time when the host wrote a unit,
//! not of its last program: of two copies the one with the higher version is the newer, whatever order they were programmed in.

use std::collections::BTreeSet;
use std::fmt::Debug;

use wordline_cells::KeptLife;
use wordline_flash::{Mark, Sanitisation, Sheet};
use wordline_units::random::Draw;

use crate::fault::DieFault;
use crate::place::Place;

/// Position of the bytes of a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitAt {
    /// In the second of two stretches; else in the first.
    pub is_second: bool,
    /// From this byte of it on.
    pub at: usize,
}

/// User bytes, in one piece or scattered.
#[derive(Clone, Copy, Debug)]
enum Bytes<'a> {
    Whole(&'a [u8]),
    Scattered { stretches: [&'a [u8]; 2], places: &'a [UnitAt], unit_bytes: usize },
}

/// Contents of a program or a page: bytes, and the mark of each mapping unit, page by page, plane by plane, unit by unit. The bytes need not
/// stand in one piece, so that they need not be gathered before a store does.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    bytes: Bytes<'a>,
    /// The marks.
    pub marks: &'a [Mark],
}

impl<'a> Contents<'a> {
    /// For dies that keep nothing.
    pub const NONE: Contents<'static> = Contents::of(&[], &[]);

    /// Bytes in one piece.
    pub const fn of(bytes: &'a [u8], marks: &'a [Mark]) -> Contents<'a> {
        Contents { bytes: Bytes::Whole(bytes), marks }
    }

    /// Units of `unit_bytes` bytes each, which stand at `places` of two stretches.
    pub const fn scattered(stretches: [&'a [u8]; 2], places: &'a [UnitAt], unit_bytes: usize, marks: &'a [Mark]) -> Contents<'a> {
        Contents { bytes: Bytes::Scattered { stretches, places, unit_bytes }, marks }
    }

    /// The user bytes, piece by piece.
    fn pieces(self) -> impl Iterator<Item = &'a [u8]> {
        let (whole, stretches, places, unit_bytes) = match self.bytes {
            Bytes::Whole(bytes) => (Some(bytes), [&[][..]; 2], &[][..], 0),
            Bytes::Scattered { stretches, places, unit_bytes } => (None, stretches, places, unit_bytes),
        };
        let unit = move |place: &UnitAt| &stretches[usize::from(place.is_second)][place.at..][..unit_bytes];
        whole.into_iter().chain(places.iter().map(unit))
    }

    /// Copies the user bytes to `into`.
    ///
    /// # Panics
    /// If they are not as many.
    pub fn copy_to(self, into: &mut [u8]) {
        let mut rest = into;
        for piece in self.pieces() {
            let (place, behind) = rest.split_at_mut(piece.len());
            place.copy_from_slice(piece);
            rest = behind;
        }
        assert!(rest.is_empty(), "room for {} bytes more than there are", rest.len());
    }

    /// Page number `index` of pages of `units` mapping units.
    pub fn of_page(&self, index: usize, units: usize) -> Contents<'a> {
        let bytes = match self.bytes {
            Bytes::Whole(bytes) => {
                let page = bytes.len() / (self.marks.len() / units);
                Bytes::Whole(&bytes[index * page..][..page])
            }
            Bytes::Scattered { stretches, places, unit_bytes } => {
                Bytes::Scattered { stretches, places: &places[index * units..][..units], unit_bytes }
            }
        };
        Contents { bytes, marks: &self.marks[index * units..][..units] }
    }
}

/// Room for the contents of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImage {
    /// The user bytes.
    pub bytes: Vec<u8>,
    /// The marks.
    pub marks: Vec<Mark>,
}

impl PageImage {
    /// A page of `bytes` bytes and `units` mapping units, erased.
    pub fn new(bytes: usize, units: usize) -> PageImage {
        PageImage { bytes: vec![0xFF; bytes], marks: vec![Mark::NOTHING; units] }
    }

    /// A page that was made unreadable, as the pins give it.
    pub(crate) fn sealed(bytes: usize, units: usize) -> PageImage {
        PageImage { bytes: vec![0; bytes], marks: vec![Mark::NOTHING; units] }
    }

    /// The page was made unreadable: it holds what the pins give of such a page.
    pub(crate) fn seal(&mut self) {
        self.bytes.fill(0);
        self.marks.fill(Mark::NOTHING);
    }
}

/// A store for the contents of a die's pages. Pages that were never programmed read as 0xFF with no marks.
///
/// A program, a copy or an erase begins when it is told. A store that outlives the drive must find what was under way torn, until it is told of its end:
/// it may be held for long before that.
pub trait Payload: Debug + Send {
    /// The store as one that outlives the drive, if it does.
    fn persistent(&self) -> Option<&dyn Persistent> {
        None
    }

    /// A store of its own with the same contents.
    ///
    /// # Panics
    /// If it is the only one of its kind, as files are.
    fn duplicate(&self) -> Box<dyn Payload> {
        panic!("there is one such store: {self:?}")
    }

    /// `contents` are programmed at `place`.
    fn program(&mut self, place: Place, contents: Contents<'_>);

    /// `contents` are programmed at once at `places`, page after page, with `units` mapping units in each.
    fn program_pages(&mut self, places: &[Place], units: usize, contents: Contents<'_>) {
        for (index, &place) in places.iter().enumerate() {
            self.program(place, contents.of_page(index, units));
        }
    }

    /// Read `place` into `image`, and say how much that is worth.
    fn read(&self, place: Place, image: &mut PageImage) -> Kept;

    /// As [`Payload::read`], where of the bytes only those of mapping unit `unit` matter: what stands at those of the others may be anything.
    fn read_unit(&self, place: Place, unit: usize, image: &mut PageImage) -> Kept {
        let _ = unit;
        self.read(place, image)
    }

    /// The contents at `from` are programmed at `to`.
    fn copy(&mut self, from: Place, to: Place);

    /// `place` is made unreadable; of a block lock, the page means nothing. A locked page keeps its contents; a scrubbed or reprogrammed page is to lose
    /// them for good. A store that outlives the drive remembers either. `is_whole`: what stands there was programmed to the end, and not erased in part.
    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool);

    /// All pages of `block` are erased.
    fn erase(&mut self, block: u32);

    /// The programs and copies of pages of `block` that have begun have ended, or its erase: what stands there is whole.
    fn end(&mut self, block: u32);

    /// Operations that have begun in `block` are broken off: their pages stay torn.
    fn break_off(&mut self, block: u32);

    /// A program or an erase of `block` has failed: it is to be known as bad from now on.
    fn fail(&mut self, block: u32);

    /// Bits of `place`, which is programmed, flip, as many and which by `draw`: it reads as [`Kept::Torn`] from now on. A store that keeps no checksums leaves
    /// that to the die.
    fn corrupt(&mut self, _place: Place, _draw: &mut Draw) {}

    /// The power goes while `contents` are programmed at `place`: by `draw`, so much of them is there. It reads as [`Kept::Torn`] or [`Kept::Erased`].
    fn tear(&mut self, _place: Place, _contents: Contents<'_>, _draw: &mut Draw) {}

    /// The power goes while `block` is erased: by `draw`, so much of it is.
    fn tear_erase(&mut self, _block: u32, _draw: &mut Draw) {}

    /// `block`, of which no page is programmed, counts `erases` from now on: they are set, not lived. A store that outlives the drive keeps it with the block.
    fn set_erases(&mut self, _block: u32, _erases: u32) {}

    /// A part of the die has failed for good. A store that outlives the drive remembers it.
    fn keep_failure(&mut self, _failure: &DieFault) {}

    /// The wear of `block`, or what copybacks carried into it, has changed. A store that outlives the drive keeps it with the block.
    fn keep_life(&mut self, _block: u32, _life: &KeptLife) {}
}

impl Clone for Box<dyn Payload> {
    fn clone(&self) -> Box<dyn Payload> {
        self.duplicate()
    }
}

/// Answer of a store about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing was programmed since the last erase.
    Erased,
    /// It was being programmed when the power went, or has rotted.
    Torn,
    /// It is as it was programmed.
    Whole,
    /// It was programmed and made unreadable: stores that outlive the drive say so, for the die to know. Of a locked page they give what its cells hold,
    /// which the die keeps to itself.
    Sanitised(Sanitisation),
}

/// Block of a store that was opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBlock {
    /// Erases so far.
    pub erases: u32,
    /// The page that may be programmed next.
    pub next_page: u32,
    /// It was locked as a whole.
    pub is_locked: bool,
    /// Its last erase was cut short.
    pub is_torn: bool,
    /// It has failed.
    pub is_bad: bool,
    /// The wear of its cells and what copybacks carried into its pages, where cells have physics.
    pub life: KeptLife,
}

/// A store that outlives the drive.
pub trait Persistent: Payload {
    /// State of `block` in the store.
    fn kept_block(&self, block: u32) -> KeptBlock;

    /// The parts of the die that have failed for good.
    fn kept_failures(&self) -> Vec<DieFault>;
}

/// The contents of every programmed page, in memory.
#[derive(Clone, Debug)]
pub struct RamPayload {
    erased: PageImage,
    /// The pages of each block that has had one, first to last.
    blocks: Vec<Vec<Option<PageImage>>>,
    /// Pages that were erased, for the next that are programmed: fresh memory costs more than the bytes that go there.
    spare: Vec<PageImage>,
    /// Pages of which bits have flipped: memory has no checksums.
    rotten: BTreeSet<Place>,
}

/// Erased pages that are kept.
const SPARE_PAGES: usize = 1024;

impl RamPayload {
    /// An erased store for a die of this sheet, with `units` mapping units in a page.
    pub fn new(sheet: &Sheet, units: u32) -> RamPayload {
        RamPayload {
            erased: PageImage::new(sheet.geometry.page.0 as usize, units as usize),
            blocks: Vec::new(),
            spare: Vec::new(),
            rotten: BTreeSet::new(),
        }
    }

    fn programmed(&self, place: Place) -> Option<&PageImage> {
        self.blocks.get(place.block as usize)?.get(place.page as usize)?.as_ref()
    }

    fn worth(&self, place: Place) -> Kept {
        match self.programmed(place) {
            None => Kept::Erased,
            Some(_) if !self.rotten.is_empty() && self.rotten.contains(&place) => Kept::Torn,
            Some(_) => Kept::Whole,
        }
    }

    /// The page at `place`, to be given other contents.
    fn page(&mut self, place: Place) -> &mut PageImage {
        let (block, page) = (place.block as usize, place.page as usize);
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, Vec::new);
        }
        let pages = &mut self.blocks[block];
        if pages.len() <= page {
            pages.resize(page + 1, None);
        }
        let (spare, erased) = (&mut self.spare, &self.erased);
        pages[page].get_or_insert_with(|| spare.pop().unwrap_or_else(|| erased.clone()))
    }
}

impl Payload for RamPayload {
    fn duplicate(&self) -> Box<dyn Payload> {
        Box::new(self.clone())
    }

    fn corrupt(&mut self, place: Place, draw: &mut Draw) {
        if self.programmed(place).is_none() {
            return;
        }
        let image = self.page(place);
        for _ in 0..1 + draw.below(64) {
            let bit = draw.below(8 * image.bytes.len() as u64);
            image.bytes[bit as usize / 8] ^= 1 << (bit % 8);
        }
        self.rotten.insert(place);
    }

    fn program(&mut self, place: Place, contents: Contents<'_>) {
        let image = self.page(place);
        image.bytes.clear();
        contents.pieces().for_each(|piece| image.bytes.extend_from_slice(piece));
        image.marks.clear();
        image.marks.extend_from_slice(contents.marks);
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        let kept = self.programmed(place).unwrap_or(&self.erased);
        image.bytes.clone_from(&kept.bytes);
        image.marks.clone_from(&kept.marks);
        self.worth(place)
    }

    fn read_unit(&self, place: Place, unit: usize, image: &mut PageImage) -> Kept {
        let kept = self.programmed(place).unwrap_or(&self.erased);
        let count = kept.bytes.len() / kept.marks.len();
        let bytes = unit * count..(unit + 1) * count;
        image.bytes.resize(kept.bytes.len(), 0);
        image.bytes[bytes.clone()].copy_from_slice(&kept.bytes[bytes]);
        image.marks.clone_from(&kept.marks);
        self.worth(place)
    }

    fn copy(&mut self, from: Place, to: Place) {
        // Its own buffer is taken out for as long as the other page is read.
        let mut image = std::mem::replace(self.page(to), PageImage { bytes: Vec::new(), marks: Vec::new() });
        // An erased page is copied as the 0xFF bytes it reads as.
        let kept = self.programmed(from).unwrap_or(&self.erased);
        image.bytes.clone_from(&kept.bytes);
        image.marks.clone_from(&kept.marks);
        *self.page(to) = image;
        if self.rotten.contains(&from) {
            self.rotten.insert(to);
        }
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, _: bool) {
        match how {
            // The die itself has its locks, and the cells below them keep what they hold.
            Sanitisation::LockPage | Sanitisation::LockBlock => {}
            Sanitisation::Scrub | Sanitisation::Reprogram => {
                let image = self.page(place);
                image.bytes.fill(0);
                image.marks.fill(Mark::NOTHING);
            }
        }
    }

    fn erase(&mut self, block: u32) {
        if let Some(pages) = self.blocks.get_mut(block as usize) {
            let room = SPARE_PAGES.saturating_sub(self.spare.len());
            self.spare.extend(pages.drain(..).flatten().take(room));
        }
        self.rotten.retain(|place| place.block != block);
    }

    // Memory does not outlive the process: it is never found with something under way.
    fn end(&mut self, _: u32) {}

    fn break_off(&mut self, _: u32) {}

    fn fail(&mut self, _: u32) {}
}
