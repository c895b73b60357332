//! The payload plane: what the user bytes of a page are, where anybody cares.
//!
//! A simulation needs no bytes, so [`NoPayload`] is of size zero and its calls vanish. [`RamPayload`] keeps them, for drives that are audited; a drive that
//! is mounted keeps them in files.
//!
//! With the bytes of each mapping unit goes its [`Mark`]. Reclaim copies bytes and marks together, so a mark says when the host wrote a unit, not when it was
//! programmed last: of two copies the one with the higher version is the newer, whatever order they were programmed in.

use std::collections::BTreeMap;

use wordline_cells::KeptLife;
use wordline_flash::{Mark, Sanitisation, Sheet};

/// A page of a die: its block, counted over all planes (`plane × blocks + block`), and its place in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block, counted over all planes.
    pub block: u32,
    /// The page.
    pub page: u32,
}

/// What a program takes in, or what a page holds: bytes, and the mark of each mapping unit, page by page, plane by plane, unit by unit.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The user bytes.
    pub bytes: &'a [u8],
    /// The marks.
    pub marks: &'a [Mark],
}

impl<'a> Contents<'a> {
    /// For dies that keep nothing.
    pub const NONE: Contents<'static> = Contents { bytes: &[], marks: &[] };

    /// Page number `index` of pages of `units` mapping units.
    pub(crate) fn of_page(&self, index: usize, units: usize) -> Contents<'a> {
        let page = self.bytes.len() / (self.marks.len() / units);
        Contents { bytes: &self.bytes[index * page..][..page], marks: &self.marks[index * units..][..units] }
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
}

/// A store for the contents of a die's pages. Pages that were never programmed read as 0xFF with no marks.
pub trait Payload {
    /// Whether it keeps anything: where not, nothing is prepared for it either.
    const KEEPS: bool;

    /// `contents` are programmed at `place`.
    fn program(&mut self, place: Place, contents: Contents<'_>);

    /// Read `place` into `image`, and say how much that is worth.
    fn read(&self, place: Place, image: &mut PageImage) -> Kept;

    /// The contents at `from` are programmed at `to`.
    fn copy(&mut self, from: Place, to: Place);

    /// `place` is made unreadable; of a block lock, the page means nothing. What is locked keeps its contents, what is scrubbed or reprogrammed is to lose
    /// them for good. A store that outlives the drive remembers either. `is_whole`: what stands there was programmed to the end, and not erased in part.
    fn sanitise(&mut self, place: Place, how: Sanitisation, is_whole: bool);

    /// All pages of `block` are erased.
    fn erase(&mut self, block: u32);

    /// A program or an erase of `block` has failed: it is to be known as bad from now on.
    fn fail(&mut self, block: u32);

    /// The wear of `block` has changed. Whoever outlives the drive keeps it with the block.
    fn keep_life(&mut self, _block: u32, _life: KeptLife) {}
}

/// What a store says of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing was programmed since the last erase.
    Erased,
    /// It was being programmed when the power went, or has rotted.
    Torn,
    /// What was programmed.
    Whole,
    /// It was programmed and made unreadable: stores that outlive the drive say so, for the die to know. Of a locked page they give what its cells hold,
    /// which the die keeps to itself.
    Sanitised(Sanitisation),
}

/// What a store that was opened again says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The wear of its cells, where they have physics.
    pub life: KeptLife,
}

/// A store that outlives the drive.
pub trait Persistent: Payload {
    /// What it knows of `block`.
    fn kept_block(&self, block: u32) -> KeptBlock;
}

/// No bytes at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPayload;

const _: () = assert!(size_of::<NoPayload>() == 0);

impl Payload for NoPayload {
    const KEEPS: bool = false;

    #[inline]
    fn program(&mut self, _: Place, _: Contents<'_>) {}

    #[inline]
    fn read(&self, _: Place, _: &mut PageImage) -> Kept {
        Kept::Erased
    }

    #[inline]
    fn copy(&mut self, _: Place, _: Place) {}

    #[inline]
    fn sanitise(&mut self, _: Place, _: Sanitisation, _: bool) {}

    #[inline]
    fn erase(&mut self, _: u32) {}

    #[inline]
    fn fail(&mut self, _: u32) {}
}

/// The contents of every programmed page, in memory.
#[derive(Clone, Debug)]
pub struct RamPayload {
    erased: PageImage,
    pages: BTreeMap<Place, PageImage>,
}

impl RamPayload {
    /// An erased store for a die of this sheet, with `units` mapping units in a page.
    pub fn new(sheet: &Sheet, units: u32) -> RamPayload {
        RamPayload { erased: PageImage::new(sheet.geometry.page.0 as usize, units as usize), pages: BTreeMap::new() }
    }
}

impl Payload for RamPayload {
    const KEEPS: bool = true;

    fn program(&mut self, place: Place, contents: Contents<'_>) {
        self.pages.insert(place, PageImage { bytes: contents.bytes.to_vec(), marks: contents.marks.to_vec() });
    }

    fn read(&self, place: Place, image: &mut PageImage) -> Kept {
        let programmed = self.pages.get(&place);
        image.clone_from(programmed.unwrap_or(&self.erased));
        if programmed.is_some() { Kept::Whole } else { Kept::Erased }
    }

    fn copy(&mut self, from: Place, to: Place) {
        // An erased page is copied as the 0xFF bytes it reads as.
        let image = self.pages.get(&from).unwrap_or(&self.erased).clone();
        self.pages.insert(to, image);
    }

    fn sanitise(&mut self, place: Place, how: Sanitisation, _: bool) {
        match how {
            // The die knows of its locks, and the cells below them keep what they hold.
            Sanitisation::LockPage | Sanitisation::LockBlock => {}
            Sanitisation::Scrub | Sanitisation::Reprogram => {
                self.pages.insert(place, PageImage::sealed(self.erased.bytes.len(), self.erased.marks.len()));
            }
        }
    }

    fn erase(&mut self, block: u32) {
        let mut later = self.pages.split_off(&Place { block, page: 0 });
        self.pages.append(&mut later.split_off(&Place { block: block + 1, page: 0 }));
    }

    fn fail(&mut self, _: u32) {}
}
