//! Places of a die: the shape of its planes and blocks, and the numbers of pages in it.

use std::ops::Range;

use wordline_flash::command::PLANES_MAX;
use wordline_flash::{PlaneSet, Sheet, Target};
use wordline_units::{BlockId, PageId, PlaneId};

/// The most mapping units that a page may hold.
pub(crate) const UNITS_MAX: u32 = 64;

/// A page of a die: its block, counted over all planes (`plane × blocks + block`), and its place in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block, counted over all planes.
    pub block: u32,
    /// The page.
    pub page: u32,
}

/// The shape of a die: numbers of planes, blocks, pages and mapping units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// All planes.
    planes: PlaneSet,
    /// Blocks of a plane.
    blocks: u32,
    /// Pages of a block.
    pages: u32,
    /// Mapping units of a page.
    units: u32,
    /// Pages of a wordline.
    bits: u32,
    /// 2³² divided by the pages of a wordline, rounded up.
    reciprocal: u64,
    /// Pages that one program command fills in each plane.
    per_program: u32,
    /// User bytes of a page.
    bytes: u64,
    /// Bytes of a page, spare area included.
    raw_bytes: u64,
    /// The most bytes that a program takes in.
    room: u64,
}

impl Shape {
    /// The shape of a die of `sheet` with `units` mapping units in a page.
    ///
    /// # Panics
    /// If a number is beyond what a die may have.
    pub(crate) fn new(sheet: &Sheet, units: u32) -> Shape {
        let geometry = &sheet.geometry;
        assert!((1..=PLANES_MAX as u32).contains(&geometry.planes), "a die has 1 to {PLANES_MAX} planes, not {}", geometry.planes);
        assert!(geometry.blocks <= 1 << 16, "a plane has at most 65,536 blocks, not {}", geometry.blocks);
        assert!(geometry.pages() < 1 << 16, "a block has less than 65,536 pages, not {}", geometry.pages());
        assert!((1..=UNITS_MAX).contains(&units), "a page holds 1 to {UNITS_MAX} mapping units, not {units}");
        let raw_bytes = geometry.page.0 + geometry.spare.0;
        Shape {
            planes: PlaneSet::first(geometry.planes),
            blocks: geometry.blocks,
            pages: geometry.pages(),
            units,
            bits: geometry.cell.bits(),
            reciprocal: reciprocal(geometry.cell.bits()),
            per_program: sheet.pages_per_program(),
            bytes: geometry.page.0,
            raw_bytes,
            room: raw_bytes * u64::from(geometry.planes * sheet.pages_per_program()),
        }
    }

    /// All planes.
    #[inline]
    pub(crate) fn planes(&self) -> PlaneSet {
        self.planes
    }

    /// Blocks of a plane.
    #[inline]
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Blocks of all planes.
    pub(crate) fn all_blocks(&self) -> usize {
        (self.planes.len() * self.blocks) as usize
    }

    /// Pages of a block.
    #[inline]
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Mapping units of a page.
    #[inline]
    pub(crate) fn units(&self) -> u32 {
        self.units
    }

    /// Pages that one program command fills in each plane.
    #[inline]
    pub(crate) fn per_program(&self) -> u32 {
        self.per_program
    }

    /// User bytes of a page.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Bytes of a page, spare area included.
    #[inline(always)]
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// The most bytes that a program takes in.
    #[inline(always)]
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// The block of `target` in `plane`, counted over all planes.
    #[inline(always)]
    pub(crate) fn flat(&self, target: &Target, plane: PlaneId) -> u32 {
        u32::from(plane.0) * self.blocks + u32::from(block_of(target, plane))
    }

    /// The page of `target` in `plane`.
    #[inline(always)]
    pub(crate) fn place(&self, target: &Target, plane: PlaneId) -> Place {
        Place { block: self.flat(target, plane), page: u32::from(target.page.0) }
    }

    /// The pages of `target`, one in each plane.
    #[inline(always)]
    pub(crate) fn places(&self, target: &Target) -> impl Iterator<Item = Place> {
        planes(target.planes).map(|plane| self.place(target, plane))
    }

    /// A block of a plane, counted over all planes.
    #[inline(always)]
    pub(crate) fn index(&self, plane: PlaneId, block: BlockId) -> u32 {
        debug_assert!(plane.0 < self.planes.len() as u8 && block.0 < self.blocks);
        u32::from(plane.0) * self.blocks + block.0
    }

    /// A page of a block of a plane.
    #[inline(always)]
    pub(crate) fn at(&self, plane: PlaneId, block: BlockId, page: PageId) -> Place {
        Place { block: self.index(plane, block), page: u32::from(page.0) }
    }

    /// Plane and block of a block that is counted over all planes.
    pub(crate) fn split(&self, block: u32) -> (PlaneId, BlockId) {
        (PlaneId((block / self.blocks) as u8), BlockId(block % self.blocks))
    }

    /// The page's place in its wordline. By the reciprocal, because a division by a variable costs as much as the rest of a read.
    #[inline(always)]
    pub(crate) fn page_type(&self, page: u16) -> usize {
        let wordline = (u64::from(page) * self.reciprocal) >> 32;
        (u64::from(page) - wordline * u64::from(self.bits)) as usize
    }

    /// The pages of the wordline that has `page`.
    #[inline]
    pub(crate) fn wordline(&self, page: u16) -> Range<u16> {
        let first = page - self.page_type(page) as u16;
        first..first + self.bits as u16
    }

    /// Wordline of a page.
    #[inline]
    pub(crate) fn wordline_of(&self, page: u32) -> u32 {
        page / self.bits
    }
}

/// 2³² divided by `bits`, rounded up: exact for the numbers of pages, which have 16 bits.
const fn reciprocal(bits: u32) -> u64 {
    (1u64 << 32).div_ceil(bits as u64)
}

/// The block of `target` in `plane`, without a check of the plane: there is none beyond the fourth.
#[inline(always)]
pub(crate) fn block_of(target: &Target, plane: PlaneId) -> u16 {
    const _: () = assert!(PLANES_MAX == 4);
    target.blocks[plane.0 as usize % PLANES_MAX]
}

/// The planes of a set, lowest first. It takes as many turns as there are planes, and most commands have one.
#[inline(always)]
pub(crate) fn planes(set: PlaneSet) -> impl Iterator<Item = PlaneId> {
    let mut rest = u32::from(set.0);
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let next = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            PlaneId(next)
        })
    })
}

/// True if two targets have a block in common.
pub(crate) fn shares_block(a: &Target, b: &Target) -> bool {
    planes(PlaneSet(a.planes.0 & b.planes.0)).any(|plane| a.block(plane) == b.block(plane))
}

/// True if two targets of the same planes have all blocks in common.
pub(crate) fn same_blocks(a: &Target, b: &Target) -> bool {
    planes(a.planes).all(|plane| a.block(plane) == b.block(plane))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two planes of four blocks of two wordlines of TLC, with `units` mapping units in a page.
    pub(crate) fn shape(units: u32) -> Shape {
        Shape {
            planes: PlaneSet::first(2),
            blocks: 4,
            pages: 6,
            units,
            bits: 3,
            reciprocal: reciprocal(3),
            per_program: 1,
            bytes: 64,
            raw_bytes: 72,
            room: 144,
        }
    }

    #[test]
    fn a_block_has_one_number_over_all_planes() {
        let shape = shape(1);
        for block in 0..shape.all_blocks() as u32 {
            let (plane, of_plane) = shape.split(block);
            assert_eq!(shape.index(plane, of_plane), block);
            let target = Target::single(plane, of_plane, PageId(4));
            assert_eq!(shape.place(&target, plane), Place { block, page: 4 });
            assert_eq!(shape.at(plane, of_plane, PageId(4)), Place { block, page: 4 });
        }
    }

    #[test]
    fn a_wordline_has_a_page_of_each_type() {
        let shape = shape(1);
        for page in 0..6 {
            let wordline = shape.wordline(page);
            assert!(wordline.contains(&page));
            assert_eq!(wordline.clone().map(|page| shape.page_type(page)).collect::<Vec<_>>(), [0, 1, 2]);
            assert!(wordline.clone().all(|of| shape.wordline_of(of.into()) == shape.wordline_of(page.into())));
        }
    }

    #[test]
    fn the_reciprocal_gives_the_remainder_of_every_page() {
        for bits in 1..=4 {
            let shape = Shape { bits, reciprocal: reciprocal(bits), ..shape(1) };
            assert!((0..=u16::MAX).all(|page| shape.page_type(page) == page as usize % bits as usize));
        }
    }

    #[test]
    fn planes_of_a_set_come_lowest_first() {
        assert_eq!(planes(PlaneSet(0b1011)).map(|plane| plane.0).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(planes(PlaneSet(0)).count(), 0);
    }

    #[test]
    fn targets_share_a_block_in_a_plane_that_both_have() {
        let target = |planes, blocks| Target { planes: PlaneSet(planes), blocks, page: PageId(0) };
        assert!(shares_block(&target(3, [1, 2, 0, 0]), &target(2, [0, 2, 0, 0])));
        assert!(!shares_block(&target(1, [1, 2, 0, 0]), &target(2, [1, 2, 0, 0])));
        assert!(same_blocks(&target(3, [1, 2, 3, 3]), &target(3, [1, 2, 0, 0])));
        assert!(!same_blocks(&target(3, [1, 2, 3, 3]), &target(3, [1, 3, 3, 3])));
    }
}
