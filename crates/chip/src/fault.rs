//! Faults on demand: what a person orders to go wrong with a die, beside what goes wrong by rate or by the physics of its cells.
//!
//! | fault | reads | programs, erases | lasts |
//! |---|---|---|---|
//! | [`DieFault::Read`] | of the page cannot be corrected | as ever | for so many reads, or until the block is erased |
//! | [`DieFault::Program`] | as ever | the next programs fail | for so many programs |
//! | [`DieFault::Die`], [`DieFault::Plane`], [`DieFault::Blocks`] | cannot be corrected | fail | for good |
//!
//! A page of a part that has failed for good is not driven: it reads as noise, with half of its bits wrong. What such a part is doing when it fails counts for
//! nothing ([`Chip::fail_under_way`]). A die that has failed draws no dice.
//!
//! A try to read is not a read: the tries down a retry table are one read, and who makes them says when it has failed for good ([`Chip::read_failed`]).
//! Firmware hears of a fault by the status of its operations and in no other way. What has failed for good stays failed: a store that outlives the drive is
//! told ([`Payload::keep_failure`]), and images keep it ([`Chip::failure_image`]). Faults of single reads and programs end with the drive; what they have
//! destroyed stays destroyed. A die without faults pays for this with one branch in each operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wordline_flash::{Status, Target};
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Nanos, PageId, PlaneId};

use crate::chip::{Chip, Held};
use crate::payload::{Contents, Place};
use crate::place::planes;

/// User bytes of a codeword where nobody says how many there are.
const CODEWORD_BYTES: u64 = 1024;

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
        /// How many.
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
    /// Whether it is a part of the die that has failed for good; else it is used up or taken back.
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
pub(crate) struct FaultTable {
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
    fn is_empty(&self) -> bool {
        *self == FaultTable::default()
    }

    /// Whether the block at `target` in `plane` has failed.
    fn has_failed(&self, plane: PlaneId, block: u32) -> bool {
        self.died.is_some()
            || self.planes >> plane.0 & 1 == 1
            || self.blocks.iter().any(|&(of, first, last)| of == plane && (first..=last).contains(&block))
    }
}

impl Chip {
    /// Let `fault` happen from now on, beside those there are. Another fault of the same page takes the place of the one before, and programs to fail add up.
    /// A die that is silent stays so. What is under way is another matter: [`Chip::fail_under_way`].
    ///
    /// # Panics
    /// If it names a plane, block or page that the die does not have.
    pub fn inject(&mut self, fault: DieFault) {
        self.fail(fault);
        if fault.is_failure() {
            if let Some(payload) = &mut self.payload {
                payload.keep_failure(&fault);
            }
        }
    }

    /// Let `fault` happen, of which the store knows.
    ///
    /// # Panics
    /// As [`Chip::inject`].
    pub fn fail(&mut self, fault: DieFault) {
        let geometry = self.sheet.geometry;
        let is_there = |plane: PlaneId, block: BlockId, page: u32| {
            u32::from(plane.0) < geometry.planes && block.0 < geometry.blocks && page < geometry.pages()
        };
        let table = self.faults.get_or_insert_default();
        match fault {
            DieFault::Read { plane, block, page, reads } => {
                assert!(is_there(plane, block, page.0.into()), "{fault:?}: there is no such page");
                let place = Place { block: u32::from(plane.0) * geometry.blocks + block.0, page: page.0.into() };
                if reads == Some(0) {
                    table.reads.remove(&place)
                } else {
                    table.reads.insert(place, reads)
                };
            }
            DieFault::Program { programs } => table.programs = table.programs.saturating_add(programs),
            DieFault::Die { silent } => table.died = Some(silent || table.died == Some(true)),
            DieFault::Plane(plane) => {
                assert!(is_there(plane, BlockId(0), 0), "{fault:?}: there is no such plane");
                table.planes |= 1 << plane.0;
            }
            DieFault::Blocks { plane, first, last } => {
                assert!(first <= last && is_there(plane, last, 0), "{fault:?}: there are no such blocks");
                let blocks = (plane, first.0, last.0);
                if !table.blocks.contains(&blocks) {
                    table.blocks.push(blocks);
                }
            }
        }
        if table.is_empty() {
            self.faults = None;
        }
    }

    /// Its faults, with what is left of them.
    pub fn faults(&self) -> Vec<DieFault> {
        let Some(table) = &self.faults else { return Vec::new() };
        let blocks = self.sheet.geometry.blocks;
        let reads = table.reads.iter().map(|(place, &reads)| DieFault::Read {
            plane: PlaneId((place.block / blocks) as u8),
            block: BlockId(place.block % blocks),
            page: PageId(place.page as u16),
            reads,
        });
        let programs = (table.programs > 0).then_some(DieFault::Program { programs: table.programs });
        let died = table.died.map(|silent| DieFault::Die { silent });
        let planes = (0..16).filter(|plane| table.planes >> plane & 1 == 1).map(|plane| DieFault::Plane(PlaneId(plane)));
        let failed =
            table.blocks.iter().map(|&(plane, first, last)| DieFault::Blocks { plane, first: BlockId(first), last: BlockId(last) });
        reads.chain(programs).chain(died).chain(planes).chain(failed).collect()
    }

    /// Number of random draws so far of each kind that fails operations by rate: program, erase, read.
    pub fn drawn(&self) -> [u64; 3] {
        self.cells.drawn()
    }

    /// Whether a part of it has failed for good.
    pub fn has_failures(&self) -> bool {
        self.faults.as_ref().is_some_and(|table| table.died.is_some() || table.planes != 0 || !table.blocks.is_empty())
    }

    /// The parts of it that have failed for good, for an image.
    pub fn failure_image(&self) -> FailureImage {
        let Some(table) = &self.faults else { return FailureImage::default() };
        let blocks = table.blocks.iter().map(|&(plane, first, last)| (plane.0, first, last)).collect();
        FailureImage { died: table.died, planes: table.planes, blocks }
    }

    /// Restores what [`Chip::failure_image`] gave. The image may be anything; one of another kind of die is refused with the reason.
    pub fn restore_failures(&mut self, image: &FailureImage) -> Result<(), &'static str> {
        let geometry = self.sheet.geometry;
        let is_there =
            |&(plane, first, last): &(u8, u32, u32)| u32::from(plane) < geometry.planes && first <= last && last < geometry.blocks;
        if u32::from(image.planes) >> geometry.planes != 0 || !image.blocks.iter().all(is_there) {
            return Err("a part of a die has failed that it does not have");
        }
        let blocks = image.blocks.iter().map(|&(plane, first, last)| (PlaneId(plane), first, last)).collect();
        let table = FaultTable { died: image.died, planes: image.planes, blocks, ..FaultTable::default() };
        self.faults = (!table.is_empty()).then(|| Box::new(table));
        Ok(())
    }

    /// Take all faults back but those of parts that have failed for good. What faults have destroyed stays so.
    pub fn clear_faults(&mut self) {
        let Some(table) = &mut self.faults else { return };
        table.reads.clear();
        table.programs = 0;
        if table.is_empty() {
            self.faults = None;
        }
    }

    /// Whether the whole die has failed.
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.faults.as_ref().is_some_and(|table| table.died.is_some())
    }

    /// Whether it has failed and does not answer.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.faults.as_ref().is_some_and(|table| table.died == Some(true))
    }

    /// Whether a part of the die that has failed for good lies under `target`: half of the bits that are read there are wrong.
    #[cold]
    pub fn has_failed_at(&self, target: &Target) -> bool {
        self.faults.as_ref().is_some_and(|table| planes(target.planes).any(|plane| table.has_failed(plane, target.block(plane).0)))
    }

    /// Wrong bits in a codeword of a page that reads as noise: half of them. Without physics a codeword is taken to have 1 KiB of user bytes.
    pub fn noise(&self) -> u32 {
        let codewords = match &self.array {
            Some(array) => array.codewords().max(1),
            None => (self.sheet.geometry.page.0 / CODEWORD_BYTES).max(1) as u32,
        };
        let bits = 8 * (self.sheet.geometry.page.0 + self.sheet.geometry.spare.0);
        (bits / u64::from(codewords) / 2) as u32
    }

    /// A part of the die has failed at `now`: what it was programming or erasing there, or has suspended, counts for nothing, also on other planes. It ends as
    /// failed in its time. Returns whether there was such an operation.
    #[cold]
    pub fn fail_under_way(&mut self, now: Nanos) -> bool {
        let mut has_hit = false;
        if self.array_until > now && self.work.kind.suspendable() && self.has_failed_at(&self.work.target) {
            let work = self.work;
            self.break_off(&work);
            self.status = Status::Failed;
            has_hit = true;
        }
        if let Some(held) = self.suspended
            && self.has_failed_at(&held.work.target)
        {
            self.break_off(&held.work);
            self.suspended = Some(Held { status: Status::Failed, ..held });
            has_hit = true;
        }
        has_hit
    }

    /// Whether a fault keeps a page from being read.
    pub fn is_faulty(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        let Some(table) = &self.faults else { return false };
        let place = Place { block: u32::from(plane.0) * self.sheet.geometry.blocks + block.0, page: page.0.into() };
        table.has_failed(plane, block.0) || table.reads.contains_key(&place)
    }

    /// A read of `target` has failed after all its tries: a fault that lasts for so many reads has had one of them.
    #[inline]
    pub fn read_failed(&mut self, target: &Target) {
        if self.faults.is_some() {
            self.use_up(target);
        }
    }

    #[cold]
    fn use_up(&mut self, target: &Target) {
        let places = planes(target.planes).map(|plane| self.place(target, plane)).collect::<Vec<_>>();
        let Some(table) = &mut self.faults else { return };
        for place in places {
            if let Some(Some(left)) = table.reads.get_mut(&place) {
                *left -= 1;
                if *left == 0 {
                    table.reads.remove(&place);
                }
            }
        }
        if table.is_empty() {
            self.faults = None;
        }
    }

    /// Whether a fault keeps the page of `target` in `plane` from being read.
    #[cold]
    pub(crate) fn fails_read(&self, target: &Target, plane: PlaneId) -> bool {
        self.is_faulty(plane, target.block(plane), target.page)
    }

    /// Whether a fault makes the program of `target` that begins now fail.
    #[cold]
    pub(crate) fn fails_program(&mut self, target: &Target) -> bool {
        let Some(table) = &mut self.faults else { return false };
        if planes(target.planes).any(|plane| table.has_failed(plane, target.block(plane).0)) {
            return true;
        }
        let fails = table.programs > 0;
        table.programs -= u32::from(fails);
        if table.is_empty() {
            self.faults = None;
        }
        fails
    }

    /// Whether a fault makes the erase, or the lock, of `target` in `plane` fail.
    #[cold]
    pub(crate) fn fails_block(&self, target: &Target, plane: PlaneId) -> bool {
        self.faults.as_ref().is_some_and(|table| table.has_failed(plane, target.block(plane).0))
    }

    /// A block is erased: its pages can be read again once they are programmed.
    #[cold]
    pub(crate) fn heal(&mut self, block: u32) {
        let Some(table) = &mut self.faults else { return };
        table.reads.retain(|place, _| place.block != block);
        if table.is_empty() {
            self.faults = None;
        }
    }
}

/// What happens to bytes.
impl Chip {
    /// Bits of a page flip, as many and which by `seed`: it cannot be corrected any more. Returns whether something was programmed there.
    pub fn corrupt(&mut self, plane: PlaneId, block: BlockId, page: PageId, seed: u64) -> bool {
        let place = Place { block: u32::from(plane.0) * self.sheet.geometry.blocks + block.0, page: page.0.into() };
        if !self.is_programmed(place) {
            return false;
        }
        let mut draw = Draw::new(seed, Stream::Injected, place.block * self.sheet.geometry.pages() + place.page);
        if let Some(payload) = &mut self.payload {
            payload.corrupt(place, &mut draw);
        }
        self.ruined.insert(place);
        true
    }

    /// The power goes while the program unit at `target` takes in `contents`: by `draw`, some of its pages are programmed, one in part, and the others not.
    /// Only the store hears of it: the die is off.
    pub fn tear_program(&mut self, target: &Target, contents: Contents<'_>, draw: &mut Draw) {
        let (pages, units) = (self.sheet.pages_per_program(), self.grain.units as usize);
        let count = pages * target.planes.len();
        let torn = draw.below(u64::from(count)) as u32;
        let first = u32::from(target.page.0);
        let places = (first..first + pages)
            .flat_map(|page| planes(target.planes).map(move |plane| (plane, page)))
            .map(|(plane, page)| Place { block: self.flat(target, plane) as u32, page })
            .collect::<Vec<_>>();
        let Some(payload) = &mut self.payload else { return };
        for (index, &place) in places.iter().enumerate().take(torn as usize + 1) {
            let of_page = contents.of_page(index, units);
            if index < torn as usize {
                payload.program(place, of_page);
                payload.end(place.block);
            } else {
                payload.tear(place, of_page, draw);
            }
        }
    }

    /// The power goes while the blocks of `target` are erased: by `draw`, some are, one in part, and the others not. Only the store hears of it.
    pub fn tear_erase(&mut self, target: &Target, draw: &mut Draw) {
        let torn = draw.below(u64::from(target.planes.len()));
        for (index, plane) in (0..=torn).zip(planes(target.planes)) {
            let block = self.flat(target, plane) as u32;
            let Some(payload) = &mut self.payload else { return };
            if index < torn {
                payload.erase(block);
                payload.end(block);
            } else {
                payload.tear_erase(block, draw);
            }
        }
    }
}

/// What cannot be read, for whoever counts it.
impl Chip {
    /// Whether a page of the die is known that cannot be read: it is ruined, or a fault keeps it from being read.
    pub fn has_unreadable(&self) -> bool {
        !self.ruined.is_empty() || self.faults.is_some()
    }

    /// Whether such a page may be in a block.
    pub fn has_unreadable_in(&self, plane: PlaneId, block: BlockId) -> bool {
        let number = u32::from(plane.0) * self.sheet.geometry.blocks + block.0;
        let pages = Place { block: number, page: 0 }..Place { block: number + 1, page: 0 };
        self.ruined.range(pages.clone()).next().is_some()
            || self.faults.as_ref().is_some_and(|table| table.has_failed(plane, block.0) || table.reads.range(pages).next().is_some())
    }

    /// Whether a page can be read, as far as is known without reading it.
    pub fn is_readable(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        !self.is_ruined(plane, block, page) && !self.is_faulty(plane, block, page)
    }
}
