//! The legality rules that belong to an address: range, page order inside a block, bad blocks and suspended blocks.

use std::cmp::Ordering;

use wordline_flash::command::PLANES_MAX;
use wordline_flash::{PlaneSet, ProgramScope, Sanitisation, Target};
use wordline_units::PlaneId;

use crate::block::{Block, State};
use crate::chip::{Chip, WorkKind};
use crate::payload::Place;
use crate::probe::Why;

impl Chip {
    /// The block of `target` in `plane`, counted over all planes.
    #[inline]
    pub(crate) fn flat(&self, target: &Target, plane: PlaneId) -> usize {
        plane.0 as usize * self.sheet.geometry.blocks as usize + block_of(target, plane) as usize
    }

    /// The block of `target` in `plane`.
    #[inline]
    pub(crate) fn block_at(&self, target: &Target, plane: PlaneId) -> &Block {
        &self.blocks[self.flat(target, plane)]
    }

    /// The page of `target` in `plane`.
    #[inline]
    pub(crate) fn place(&self, target: &Target, plane: PlaneId) -> Place {
        Place { block: self.flat(target, plane) as u32, page: u32::from(target.page.0) }
    }

    /// The page's place in its wordline. Written out because a division by a variable costs as much as the rest of a read.
    #[inline]
    pub(crate) fn page_type(&self, page: u16) -> usize {
        let page = page as usize;
        match self.sheet.geometry.cell.bits() {
            1 => 0,
            2 => page % 2,
            3 => page % 3,
            _ => page % 4,
        }
    }

    /// Whether the planes and the page of the target exist.
    #[inline(always)]
    fn check_range(&self, target: &Target) -> Result<(), Why> {
        if target.planes.is_empty() || target.planes.0 & !self.planes.0 != 0 {
            return Err(Why::Planes);
        }
        if u32::from(target.page.0) >= self.grain.pages {
            return Err(Why::Page);
        }
        Ok(())
    }

    /// Whether the block of the target in `plane` exists. Apart from the rest, because most commands walk their planes anyway.
    #[inline(always)]
    fn check_block(&self, target: &Target, plane: PlaneId) -> Result<(), Why> {
        if u32::from(block_of(target, plane)) < self.sheet.geometry.blocks { Ok(()) } else { Err(Why::Block) }
    }

    /// Whether no block of `target` is in the middle of something that is suspended.
    #[inline(always)]
    fn check_unsuspended(&self, target: &Target) -> Result<(), Why> {
        match &self.suspended {
            Some(held) if shares_block(target, &held.work.target) => Err(Why::SuspendedBlock),
            _ => Ok(()),
        }
    }

    /// Whether `target` may be read.
    #[inline(always)]
    pub(crate) fn check_read(&self, target: &Target) -> Result<(), Why> {
        self.check_range(target)?;
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
        }
        if let Some(held) = &self.suspended
            && shares_block(target, &held.work.target)
        {
            let first = held.work.target.page.0;
            let changing = first..first + held.work.pages;
            if held.work.kind == WorkKind::Erase || changing.contains(&target.page.0) {
                return Err(Why::SuspendedBlock);
            }
        }
        Ok(())
    }

    /// Whether `target` may be programmed, apart from its place in a wordline.
    #[inline(always)]
    pub(crate) fn check_program(&self, target: &Target) -> Result<(), Why> {
        self.check_range(target)?;
        self.check_unsuspended(target)?;
        for plane in planes(target.planes) {
            self.check_next(target, plane)?;
        }
        Ok(())
    }

    /// Whether the block of `target` in `plane` can take its page next.
    #[inline(always)]
    fn check_next(&self, target: &Target, plane: PlaneId) -> Result<(), Why> {
        self.check_block(target, plane)?;
        let block = self.block_at(target, plane);
        match block.state {
            State::Usable => {}
            State::Torn => return Err(Why::NotErased),
            State::FactoryBad => return Err(Why::FactoryBad),
        }
        if !self.guard.is_none() && self.touches_spared(target) {
            return Err(Why::Spared);
        }
        if self.is_unordered() {
            return self.check_place(self.place(target, plane));
        }
        let mut next = block.next_page;
        if !self.guard.is_none() {
            next = self.first_usable(Place { page: next.into(), ..self.place(target, plane) }) as u16;
        }
        match target.page.0.cmp(&next) {
            Ordering::Less => Err(Why::Programmed),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Why::PageSkipped),
        }
    }

    /// Where wordlines may be programmed in any order: whether the page is the next of its wordline.
    #[cold]
    fn check_place(&self, place: Place) -> Result<(), Why> {
        if self.is_programmed(place) {
            return Err(Why::Programmed);
        }
        let is_first = self.page_type(place.page as u16) == 0;
        if is_first || self.is_programmed(Place { page: place.page - 1, ..place }) { Ok(()) } else { Err(Why::PageSkipped) }
    }

    /// Whether a program command may begin at the page of `target`.
    #[inline]
    pub(crate) fn check_unit(&self, target: &Target) -> Result<(), Why> {
        let one_shot = self.sheet.capabilities.program_scope == ProgramScope::Wordline;
        if one_shot && self.page_type(target.page.0) != 0 { Err(Why::InsideWordline) } else { Ok(()) }
    }

    /// Whether a copyback may go to `target`, given the page that the register holds.
    pub(crate) fn check_copyback(&self, target: &Target) -> Result<(), Why> {
        self.check_program(target)?;
        let Some(source) = self.registers.source else { return Err(Why::NoCopySource) };
        if source.planes != target.planes {
            return Err(Why::NoCopySource);
        }
        match self.registers.collecting {
            Some(begun) if begun.planes != target.planes || !same_blocks(&begun, target) || begun.page.0 + 1 != target.page.0 => {
                Err(Why::Collecting)
            }
            Some(_) => Ok(()),
            None => self.check_unit(target),
        }
    }

    /// Whether the blocks of `target` may be erased. Its page means nothing.
    pub(crate) fn check_erase(&self, target: &Target) -> Result<(), Why> {
        self.check_range(&Target { page: wordline_units::PageId(0), ..*target })?;
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
            if self.block_at(target, plane).state == State::FactoryBad {
                return Err(Why::FactoryBad);
            }
        }
        Ok(())
    }
}

impl Chip {
    /// Whether what stands at `target` may be made unreadable. A block that has failed a program may: its flag cells, select cells and wordlines still take a
    /// pulse. So may one whose erase has failed, as a whole: what it still holds, nobody knows.
    pub(crate) fn check_sanitise(&self, target: &Target, how: Sanitisation) -> Result<(), Why> {
        self.check_range(target)?;
        self.check_unsuspended(target)?;
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
            let block = self.block_at(target, plane);
            let is_broken_off = |page| self.ruined.contains(&Place { page: u32::from(page), ..self.place(target, plane) });
            // A cut may have left one plane of a group programmed and another erased. They are locked as one.
            let stands_in = |plane| self.block_at(target, plane).next_page > 0 || self.block_at(target, plane).state == State::Torn;
            let holds_something = match how {
                Sanitisation::LockPage | Sanitisation::Reprogram => {
                    self.is_programmed(self.place(target, plane)) || is_broken_off(target.page.0)
                }
                Sanitisation::Scrub => {
                    let mut wordline = self.wordline(target.page.0);
                    let first = Place { page: u32::from(wordline.start), ..self.place(target, plane) };
                    self.is_programmed(first) || wordline.any(is_broken_off)
                }
                Sanitisation::LockBlock => planes(target.planes).any(stands_in),
            };
            match block.state {
                State::FactoryBad => return Err(Why::FactoryBad),
                State::Usable | State::Torn if !holds_something => return Err(Why::NotProgrammed),
                State::Usable | State::Torn => {}
            }
        }
        Ok(())
    }

    /// The pages of the wordline that has `page`.
    #[inline]
    pub(crate) fn wordline(&self, page: u16) -> std::ops::Range<u16> {
        let first = page - self.page_type(page) as u16;
        first..first + self.sheet.geometry.cell.bits() as u16
    }
}

/// The block of `target` in `plane`, without a check of the plane: there is none beyond the fourth.
#[inline]
fn block_of(target: &Target, plane: PlaneId) -> u16 {
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

/// Whether two targets have a block in common.
pub(crate) fn shares_block(a: &Target, b: &Target) -> bool {
    planes(PlaneSet(a.planes.0 & b.planes.0)).any(|plane| a.block(plane) == b.block(plane))
}

/// Whether two targets of the same planes have all blocks in common.
fn same_blocks(a: &Target, b: &Target) -> bool {
    planes(a.planes).all(|plane| a.block(plane) == b.block(plane))
}
