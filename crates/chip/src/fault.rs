//! Faults on demand: what a person orders to go wrong with a die, beside what goes wrong by rate or by the physics of its cells.
//!
//! | fault | reads | programs, erases | lasts |
//! |---|---|---|---|
//! | [`DieFault::Read`] | of the page cannot be corrected | as ever | for so many reads, or until the block is erased |
//! | [`DieFault::Program`] | as ever | the next programs fail | for so many programs |
//! | [`DieFault::Die`], [`DieFault::Plane`], [`DieFault::Blocks`] | cannot be corrected | fail | for good |
//!
//! A page of a part that has failed for good is not driven: it reads as noise, with half of its bits wrong. Operations of such a part when it fails count for
//! nothing ([`crate::Chip::fail_under_way`]). A die that has failed draws no dice.
//!
//! A try to read is not a read: the tries down a retry table are one read, and its maker reports when it has failed for good
//! ([`crate::Chip::read_failed`]). Firmware hears of a fault by the status of its operations and in no other way. Parts that have failed for good stay
//! failed: a store that outlives the drive keeps them ([`crate::Payload::keep_failure`]), and so do images ([`crate::Chip::failure_image`]). Faults of single
//! reads and programs end with the drive; the pages that they have destroyed stay destroyed. A die without faults pays for all of them with one branch in each
//! operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_flash::Target;
use wordline_units::{BlockId, PageId, PlaneId};

use crate::place::{Place, Shape, planes};

/// One fault of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieFault {
    /// Reads of this page cannot be corrected: so many of them, or all until its block is erased.
    Read {
        /// The plane.
        plane: PlaneId,
        /// The block in the plane.
        block: BlockId,
        /// The page in the block.
        page: PageId,
        /// Reads that are left to fail; `None`: all.
        reads: Option<u32>,
    },
    /// The next programs fail.
    Program {
        /// Number of programs.
        programs: u32,
    },
    /// The die has failed.
    Die {
        /// It does not answer either: no operation of it ever ends, and no reset helps.
        silent: bool,
    },
    /// A plane has failed.
    Plane(PlaneId),
    /// Blocks of a plane have failed.
    Blocks {
        /// The plane.
        plane: PlaneId,
        /// The first.
        first: BlockId,
        /// The last.
        last: BlockId,
    },
}

impl DieFault {
    /// True if it is a part of the die that has failed for good; else it is used up or taken back.
    pub const fn is_failure(&self) -> bool {
        match self {
            DieFault::Die { .. } | DieFault::Plane(_) | DieFault::Blocks { .. } => true,
            DieFault::Read { .. } | DieFault::Program { .. } => false,
        }
    }
}

/// The parts of a die that have failed for good, as plain data for an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureImage {
    died: Option<bool>,
    planes: u16,
    blocks: Vec<(u8, u32, u32)>,
}

/// The faults of a die that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FaultTable {
    /// Pages that cannot be read, and for how many reads more.
    reads: BTreeMap<Place, Option<u32>>,
    /// Programs that are still to fail.
    programs: u32,
    /// The whole die has failed; whether it is silent.
    died: Option<bool>,
    /// One bit for each plane that has failed.
    planes: u16,
    /// Blocks that have failed, by plane: the first and the last.
    blocks: Vec<(PlaneId, u32, u32)>,
}

impl FaultTable {
    /// True if the block at `target` in `plane` has failed.
    fn has_failed(&self, plane: PlaneId, block: BlockId) -> bool {
        self.died.is_some()
            || self.planes >> plane.0 & 1 == 1
            || self.blocks.iter().any(|&(of, first, last)| of == plane && (first..=last).contains(&block.0))
    }

    /// Add `fault`, which lies in a die of this shape.
    fn add(&mut self, fault: DieFault, shape: &Shape) {
        let is_there = |plane: PlaneId, block: BlockId, page: u32| {
            u32::from(plane.0) < shape.planes().len() && block.0 < shape.blocks() && page < shape.pages()
        };
        match fault {
            DieFault::Read { plane, block, page, reads } => {
                assert!(is_there(plane, block, page.0.into()), "{fault:?}: there is no such page");
                let place = shape.at(plane, block, page);
                if reads == Some(0) {
                    self.reads.remove(&place)
                } else {
                    self.reads.insert(place, reads)
                };
            }
            DieFault::Program { programs } => self.programs = self.programs.saturating_add(programs),
            DieFault::Die { silent } => self.died = Some(silent || self.died == Some(true)),
            DieFault::Plane(plane) => {
                assert!(is_there(plane, BlockId(0), 0), "{fault:?}: there is no such plane");
                self.planes |= 1 << plane.0;
            }
            DieFault::Blocks { plane, first, last } => {
                assert!(first <= last && is_there(plane, last, 0), "{fault:?}: there are no such blocks");
                let blocks = (plane, first.0, last.0);
                if !self.blocks.contains(&blocks) {
                    self.blocks.push(blocks);
                }
            }
        }
    }
}

/// The faults of a die.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Option<Box<FaultTable>>);

impl Faults {
    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Change the table, and drop it if nothing is left in it.
    fn change(&mut self, change: impl FnOnce(&mut FaultTable)) {
        let Some(table) = &mut self.0 else { return };
        change(table);
        if **table == FaultTable::default() {
            self.0 = None;
        }
    }

    /// Let `fault` happen in a die of this shape.
    ///
    /// # Panics
    /// If it names a plane, block or page that the die does not have.
    pub(crate) fn add(&mut self, fault: DieFault, shape: &Shape) {
        self.0.get_or_insert_default();
        self.change(|table| table.add(fault, shape));
    }

    /// All faults, with what is left of them.
    pub(crate) fn list(&self, shape: &Shape) -> Vec<DieFault> {
        let Some(table) = &self.0 else { return Vec::new() };
        let reads = table.reads.iter().map(|(place, &reads)| {
            let (plane, block) = shape.split(place.block);
            DieFault::Read { plane, block, page: PageId(place.page as u16), reads }
        });
        let programs = (table.programs > 0).then_some(DieFault::Program { programs: table.programs });
        let died = table.died.map(|silent| DieFault::Die { silent });
        let planes = (0..16).filter(|plane| table.planes >> plane & 1 == 1).map(|plane| DieFault::Plane(PlaneId(plane)));
        let failed =
            table.blocks.iter().map(|&(plane, first, last)| DieFault::Blocks { plane, first: BlockId(first), last: BlockId(last) });
        reads.chain(programs).chain(died).chain(planes).chain(failed).collect()
    }

    /// True if a part of the die has failed for good.
    pub(crate) fn has_failures(&self) -> bool {
        self.0.as_ref().is_some_and(|table| table.died.is_some() || table.planes != 0 || !table.blocks.is_empty())
    }

    /// The parts of the die that have failed for good, for an image.
    pub(crate) fn image(&self) -> FailureImage {
        let Some(table) = &self.0 else { return FailureImage::default() };
        let blocks = table.blocks.iter().map(|&(plane, first, last)| (plane.0, first, last)).collect();
        FailureImage { died: table.died, planes: table.planes, blocks }
    }

    /// The faults of an image, which may be anything; one of another kind of die is refused with the reason.
    pub(crate) fn restored(image: &FailureImage, shape: &Shape) -> Result<Faults, &'static str> {
        let planes = shape.planes().len();
        let is_there = |&(plane, first, last): &(u8, u32, u32)| u32::from(plane) < planes && first <= last && last < shape.blocks();
        if u32::from(image.planes) >> planes != 0 || !image.blocks.iter().all(is_there) {
            return Err("a part of a die has failed that it does not have");
        }
        let blocks = image.blocks.iter().map(|&(plane, first, last)| (PlaneId(plane), first, last)).collect();
        let mut faults = Faults(Some(Box::new(FaultTable { died: image.died, planes: image.planes, blocks, ..FaultTable::default() })));
        faults.change(|_| {});
        Ok(faults)
    }

    /// Take all faults back but those of parts that have failed for good.
    pub(crate) fn clear(&mut self) {
        self.change(|table| {
            table.reads.clear();
            table.programs = 0;
        });
    }

    /// True if the whole die has failed.
    #[inline(always)]
    pub(crate) fn is_dead(&self) -> bool {
        self.0.as_ref().is_some_and(|table| table.died.is_some())
    }

    /// True if it has failed and does not answer.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.0.as_ref().is_some_and(|table| table.died == Some(true))
    }

    /// True if a block has failed for good, with a part of the die or alone.
    pub(crate) fn has_failed(&self, plane: PlaneId, block: BlockId) -> bool {
        self.0.as_ref().is_some_and(|table| table.has_failed(plane, block))
    }

    /// True if a part of the die that has failed for good lies under `target`.
    #[cold]
    pub(crate) fn has_failed_at(&self, target: &Target) -> bool {
        planes(target.planes).any(|plane| self.has_failed(plane, target.block(plane)))
    }

    /// True if a fault keeps a page of `plane` from being read.
    #[cold]
    pub(crate) fn fails_read(&self, plane: PlaneId, block: BlockId, place: Place) -> bool {
        self.0.as_ref().is_some_and(|table| table.has_failed(plane, block) || table.reads.contains_key(&place))
    }

    /// True if a fault may keep a page of a block from being read.
    pub(crate) fn fails_reads_in(&self, plane: PlaneId, block: BlockId, number: u32) -> bool {
        let pages = Place { block: number, page: 0 }..Place { block: number + 1, page: 0 };
        self.0.as_ref().is_some_and(|table| table.has_failed(plane, block) || table.reads.range(pages).next().is_some())
    }

    /// A read of these pages has failed after all its tries: a fault that lasts for so many reads has had one of them.
    #[cold]
    pub(crate) fn use_up(&mut self, places: impl Iterator<Item = Place>) {
        self.change(|table| {
            for place in places {
                if let Some(Some(left)) = table.reads.get_mut(&place) {
                    *left -= 1;
                    if *left == 0 {
                        table.reads.remove(&place);
                    }
                }
            }
        });
    }

    /// True if a fault makes the program of `target` that begins now fail.
    #[cold]
    pub(crate) fn fails_program(&mut self, target: &Target) -> bool {
        if self.has_failed_at(target) {
            return true;
        }
        let mut fails = false;
        self.change(|table| {
            fails = table.programs > 0;
            table.programs -= u32::from(fails);
        });
        fails
    }

    /// A block is erased: its pages can be read again once they are programmed.
    #[cold]
    pub(crate) fn heal(&mut self, block: u32) {
        self.change(|table| table.reads.retain(|place, _| place.block != block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::shape;

    #[test]
    fn faults_that_are_used_up_leave_nothing_behind() {
        let (shape, mut faults) = (shape(1), Faults::default());
        let (plane, block, page) = (PlaneId(1), BlockId(2), PageId(3));
        let place = shape.at(plane, block, page);
        faults.add(DieFault::Read { plane, block, page, reads: Some(2) }, &shape);
        faults.add(DieFault::Program { programs: 1 }, &shape);
        assert!(faults.fails_read(plane, block, place) && faults.fails_reads_in(plane, block, place.block));
        let target = Target::single(plane, block, page);
        assert!(faults.fails_program(&target) && !faults.fails_program(&target));
        faults.use_up([place].into_iter());
        assert_eq!(faults.list(&shape), [DieFault::Read { plane, block, page, reads: Some(1) }]);
        faults.use_up([place].into_iter());
        assert!(faults.is_none());
    }

    #[test]
    fn parts_that_have_failed_come_back_from_their_image_and_no_other_die_takes_it() {
        let (shape, mut faults) = (shape(1), Faults::default());
        faults.add(DieFault::Blocks { plane: PlaneId(1), first: BlockId(1), last: BlockId(2) }, &shape);
        faults.add(DieFault::Program { programs: 5 }, &shape);
        faults.clear();
        let again = Faults::restored(&faults.image(), &shape).expect("it is of such a die");
        assert_eq!(again.list(&shape), faults.list(&shape));
        assert!(again.has_failures() && again.has_failed(PlaneId(1), BlockId(2)) && !again.has_failed(PlaneId(0), BlockId(2)));
        assert!(Faults::restored(&FailureImage { planes: 4, ..FailureImage::default() }, &shape).is_err());
        assert!(Faults::restored(&FailureImage::default(), &shape).expect("nothing").is_none());
    }
}
