//! The payload plane: what the user bytes of a page are, where anybody cares.
//!
//! A simulation needs no bytes, so [`NoPayload`] is of size zero and its calls vanish. [`RamPayload`] keeps them, for drives that are
//! mounted or audited.

use std::collections::BTreeMap;

use wordline_flash::Sheet;

/// A page of a die: its block, counted over all planes (`plane × blocks + block`), and its place in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block, counted over all planes.
    pub block: u32,
    /// The page.
    pub page: u32,
}

/// A store for the bytes of a die's pages.
pub trait Payload {
    /// The data of one page, and of the pages of a program unit in a row.
    type Data: ?Sized;

    /// An erased store for a die of this sheet.
    fn new(sheet: &Sheet) -> Self;

    /// Page number `index` of a program unit's `data` is programmed at `place`.
    fn program(&mut self, place: Place, index: u32, data: &Self::Data);

    /// The data at `place`.
    fn read(&self, place: Place) -> &Self::Data;

    /// The data at `from` is programmed at `to`.
    fn copy(&mut self, from: Place, to: Place);

    /// All pages of `block` are erased.
    fn erase(&mut self, block: u32);
}

/// No bytes at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPayload;

const _: () = assert!(size_of::<NoPayload>() == 0);

impl Payload for NoPayload {
    type Data = ();

    fn new(_: &Sheet) -> Self {
        NoPayload
    }

    #[inline]
    fn program(&mut self, _: Place, _: u32, (): &()) {}

    #[inline]
    fn read(&self, _: Place) -> &() {
        &()
    }

    #[inline]
    fn copy(&mut self, _: Place, _: Place) {}

    #[inline]
    fn erase(&mut self, _: u32) {}
}

/// The user bytes of every programmed page, in memory.
#[derive(Clone, Debug)]
pub struct RamPayload {
    page_bytes: usize,
    erased: Box<[u8]>,
    pages: BTreeMap<Place, Box<[u8]>>,
}

impl Payload for RamPayload {
    type Data = [u8];

    fn new(sheet: &Sheet) -> Self {
        let page_bytes = sheet.geometry.page.0 as usize;
        RamPayload { page_bytes, erased: vec![0xFF; page_bytes].into(), pages: BTreeMap::new() }
    }

    fn program(&mut self, place: Place, index: u32, data: &[u8]) {
        let start = index as usize * self.page_bytes;
        self.pages.insert(place, data[start..start + self.page_bytes].into());
    }

    fn read(&self, place: Place) -> &[u8] {
        self.pages.get(&place).unwrap_or(&self.erased)
    }

    fn copy(&mut self, from: Place, to: Place) {
        // An erased page is copied as the 0xFF bytes it reads as.
        let bytes = self.read(from).into();
        self.pages.insert(to, bytes);
    }

    fn erase(&mut self, block: u32) {
        let mut later = self.pages.split_off(&Place { block, page: 0 });
        self.pages.append(&mut later.split_off(&Place { block: block + 1, page: 0 }));
    }
}
