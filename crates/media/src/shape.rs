//! The shape of a die, and where its parts lie in the file.

use wordline_units::Geometry;

use crate::error::MediaError;
use crate::page::TRAILER_BYTES;
use crate::record::RECORD_BYTES;

/// What holes are punched in, and what regions are aligned to.
const ALIGN: u64 = 4096;
/// What host disks write whole.
const SECTOR: u64 = 512;
/// The header has the first such stretch for itself.
pub(crate) const HEADER_BYTES: u64 = ALIGN;

/// The shape of one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Planes of the die.
    pub planes: u32,
    /// Blocks over all planes: block `b` of plane `p` has the number `p × blocks in a plane + b`.
    pub blocks: u32,
    /// Pages in a block.
    pub pages: u32,
    /// User bytes in a page.
    pub page_bytes: u32,
    /// Spare bytes in a page.
    pub spare_bytes: u32,
}

impl Shape {
    /// The dies of a drive of this geometry.
    ///
    /// # Errors
    /// If a number is larger than media files allow.
    pub fn of(geometry: &Geometry) -> Result<Shape, MediaError> {
        let narrow = |what, value| u32::try_from(value).map_err(|_| MediaError::Shape { what, value, expected: "below 4 G" });
        let shape = Shape {
            planes: geometry.planes,
            blocks: narrow("blocks in a die", u64::from(geometry.planes) * u64::from(geometry.blocks))?,
            pages: geometry.pages(),
            page_bytes: narrow("bytes in a page", geometry.page.0)?,
            spare_bytes: narrow("spare bytes in a page", geometry.spare.0)?,
        };
        shape.check().map(|()| shape)
    }

    /// Whether files can have this shape. The bounds keep whoever opens a file from believing in more than a machine can hold.
    pub(crate) fn check(&self) -> Result<(), MediaError> {
        let planes = u64::from(self.planes);
        for (what, value, good, expected) in [
            ("planes", planes, (1..=64).contains(&planes) && self.blocks.is_multiple_of(self.planes), "1 to 64, dividing the blocks"),
            ("blocks", self.blocks.into(), (1..=1 << 20).contains(&self.blocks), "1 to 1,048,576"),
            ("pages in a block", self.pages.into(), (1..=1 << 16).contains(&self.pages), "1 to 65,536"),
            ("bytes in a page", self.page_bytes.into(), (1..=1 << 20).contains(&self.page_bytes), "1 to 1,048,576"),
            ("spare bytes in a page", self.spare_bytes.into(), self.spare_bytes <= 1 << 16, "0 to 65,536"),
        ] {
            if !good {
                return Err(MediaError::Shape { what, value, expected });
            }
        }
        // 2^20 blocks × 2^16 pages × 2^21 bytes stay below 2^63.
        Ok(())
    }

    /// Bytes of a page with all that is stored beside it.
    pub fn slot(&self) -> u64 {
        u64::from(self.page_bytes) + u64::from(self.spare_bytes) + TRAILER_BYTES as u64
    }

    /// Bytes of one table of block records.
    pub(crate) fn table(&self) -> u64 {
        (u64::from(self.blocks) * RECORD_BYTES as u64).next_multiple_of(ALIGN)
    }

    /// Where copy 0 or 1 of a block's record lies.
    pub(crate) fn record(&self, block: u32, copy: u64) -> u64 {
        HEADER_BYTES + copy * self.table() + u64::from(block) * RECORD_BYTES as u64
    }

    /// Bytes of a block, rounded so that all of it can be punched out.
    pub(crate) fn block_bytes(&self) -> u64 {
        (u64::from(self.pages) * self.slot()).next_multiple_of(ALIGN)
    }

    /// Where a block begins.
    pub(crate) fn block(&self, block: u32) -> u64 {
        HEADER_BYTES + 2 * self.table() + u64::from(block) * self.block_bytes()
    }

    /// Where a page begins.
    pub(crate) fn page(&self, block: u32, page: u32) -> u64 {
        self.block(block) + u64::from(page) * self.slot()
    }

    /// Where the pages end, and with them a file of the version before records had tails.
    pub(crate) fn pages_end(&self) -> u64 {
        self.block(self.blocks)
    }

    /// Bytes of a tail: what a record keeps of the cells of a block and has no room for. That is at most three bytes for each page, and a few.
    pub(crate) fn tail_bytes(&self) -> u64 {
        (3 * u64::from(self.pages) + 64).next_multiple_of(SECTOR)
    }

    /// Where copy 0 or 1 of tail 0 or 1 of a block's record lies.
    pub(crate) fn tail(&self, block: u32, tail: u8, copy: u8) -> u64 {
        self.pages_end() + (4 * u64::from(block) + 2 * u64::from(tail) + u64::from(copy)) * self.tail_bytes()
    }

    /// Bytes of the whole file. It is sparse.
    pub fn file_bytes(&self) -> u64 {
        self.tail(self.blocks, 0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap() {
        let shape = Shape { planes: 2, blocks: 70, pages: 3, page_bytes: 16384, spare_bytes: 1024 };
        assert_eq!(shape.record(0, 0), 4096);
        assert_eq!(shape.record(69, 0) + 64, 4096 + 70 * 64);
        assert_eq!(shape.record(0, 1), 4096 + 8192);
        assert_eq!(shape.block(0), 4096 + 2 * 8192);
        assert!(shape.page(0, 2) + shape.slot() <= shape.block(1) && shape.block(1).is_multiple_of(4096));
        assert_eq!([(0, 0), (0, 1), (1, 0)].map(|(tail, copy)| shape.tail(0, tail, copy) - shape.block(70)), [0, 512, 1024]);
        assert_eq!(shape.file_bytes(), shape.tail(69, 1, 1) + shape.tail_bytes());
    }

    #[test]
    fn the_largest_shape_does_not_overflow() {
        let shape = Shape { planes: 64, blocks: 1 << 20, pages: 1 << 16, page_bytes: 1 << 20, spare_bytes: 1 << 16 };
        assert!(shape.check().is_ok() && shape.file_bytes() < i64::MAX as u64);
        for wrong in [
            Shape { planes: 0, ..shape },
            Shape { planes: 3, ..shape },
            Shape { blocks: 0, ..shape },
            Shape { pages: 1 << 17, ..shape },
            Shape { page_bytes: 0, ..shape },
            Shape { spare_bytes: u32::MAX, ..shape },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
