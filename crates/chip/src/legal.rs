//! Legality of commands: the rows of the rules, and what belongs to an address: range, page order inside a block, bad blocks and suspended blocks.

use std::cmp::Ordering;

use wordline_flash::{Capabilities, Command, Feature, ProgramScope, Sanitisation, Sheet, Target};
use wordline_units::{Bytes, Nanos, PageId, PlaneId};

use crate::activity::Activity;
use crate::block::{Block, State};
use crate::blocks::Blocks;
use crate::features::Features;
use crate::medium::Medium;
use crate::place::{Place, Shape, block_of, planes, same_blocks, shares_block};
use crate::probe::Why;
use crate::registers::Registers;
use crate::rule::{Class, Rule};
use crate::times::Times;
use crate::work::WorkKind;

/// The parts of a die that decide about commands.
#[derive(Clone, Copy)]
pub(crate) struct Legality<'a> {
    sheet: &'a Sheet,
    medium: &'a Medium,
    features: &'a Features,
    registers: &'a Registers,
    activity: &'a Activity,
}

impl<'a> Legality<'a> {
    #[inline(always)]
    pub(crate) fn new(
        sheet: &'a Sheet,
        medium: &'a Medium,
        features: &'a Features,
        registers: &'a Registers,
        activity: &'a Activity,
    ) -> Legality<'a> {
        Legality { sheet, medium, features, registers, activity }
    }

    /// The earliest instant at which `command`, of class `class`, is legal, walking its row of the rules.
    ///
    /// Always inlined: where the class is known, as in [`crate::Chip::issue`], the compiler walks the row and a read costs a few comparisons.
    #[inline(always)]
    pub(crate) fn earliest(self, class: Class, command: &Command, now: Nanos) -> Result<Nanos, Why> {
        let rule = Rule::of(class);
        self.activity.check_ability(rule.ability, &self.sheet.capabilities)?;
        self.check_address(command)?;
        self.activity.check_suspended(rule.suspended)?;
        let times = Times::new(self.sheet, self.medium.shape(), self.medium.cells(), self.features);
        let from = self.activity.free_from(rule, now, times)?;
        self.registers.check(rule.registers, from, self.activity.bus_until())
    }

    #[inline(always)]
    fn check_address(self, command: &Command) -> Result<(), Why> {
        match command {
            Command::Read { target, .. } => self.check_read(target),
            Command::Program { target, .. } => {
                self.check_program(target)?;
                self.check_unit(target)
            }
            Command::CopybackProgram { target } => self.check_copyback(target),
            Command::Erase { target } => self.check_erase(target),
            Command::Sanitise { target, how } => self.check_sanitise(target, *how),
            Command::DataOut { bytes } => {
                let Some(planes) = self.registers.next_out() else { return Err(Why::NothingSensed) };
                check_size(*bytes, self.shape().raw_bytes() * u64::from(planes))
            }
            Command::DataIn { bytes } => check_size(*bytes, self.shape().room() - self.registers.taken_in().0),
            Command::SetFeature { feature: Feature::ProgramTrace | Feature::EraseTrace, .. } => Err(Why::Unsupported),
            Command::SetFeature { feature, .. } | Command::GetFeature { feature } => check_feature(*feature, &self.sheet.capabilities),
            Command::Suspend { .. } | Command::Resume | Command::Status | Command::Abort | Command::Reset => Ok(()),
        }
    }

    #[inline(always)]
    fn shape(self) -> &'a Shape {
        self.medium.shape()
    }

    #[inline(always)]
    fn blocks(self) -> &'a Blocks {
        self.medium.blocks()
    }

    /// The block of `target` in `plane`.
    #[inline(always)]
    fn block_at(self, target: &Target, plane: PlaneId) -> &'a Block {
        self.blocks().of(self.shape().flat(target, plane))
    }

    /// True if the planes and the page of the target exist.
    #[inline(always)]
    fn check_range(self, target: &Target) -> Result<(), Why> {
        if target.planes.is_empty() || target.planes.0 & !self.shape().planes().0 != 0 {
            return Err(Why::Planes);
        }
        if u32::from(target.page.0) >= self.shape().pages() {
            return Err(Why::Page);
        }
        Ok(())
    }

    /// True if the block of the target in `plane` exists. Apart from the rest, because most commands walk their planes anyway.
    #[inline(always)]
    fn check_block(self, target: &Target, plane: PlaneId) -> Result<(), Why> {
        if u32::from(block_of(target, plane)) < self.shape().blocks() { Ok(()) } else { Err(Why::Block) }
    }

    /// True if no block of `target` is in the middle of something that is suspended.
    #[inline(always)]
    fn check_unsuspended(self, target: &Target) -> Result<(), Why> {
        match self.activity.suspended() {
            Some(held) if shares_block(target, held.work().target()) => Err(Why::SuspendedBlock),
            _ => Ok(()),
        }
    }

    /// True if `target` may be read.
    #[inline(always)]
    fn check_read(self, target: &Target) -> Result<(), Why> {
        self.check_range(target)?;
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
        }
        let Some(held) = self.activity.suspended() else { return Ok(()) };
        if shares_block(target, held.work().target())
            && (held.work().kind() == WorkKind::Erase || held.work().pages().contains(&target.page.0))
        {
            return Err(Why::SuspendedBlock);
        }
        Ok(())
    }

    /// True if `target` may be programmed, apart from its place in a wordline.
    #[inline(always)]
    fn check_program(self, target: &Target) -> Result<(), Why> {
        self.check_range(target)?;
        self.check_unsuspended(target)?;
        for plane in planes(target.planes) {
            self.check_next(target, plane)?;
        }
        Ok(())
    }

    /// True if the block of `target` in `plane` can take its page next.
    #[inline(always)]
    fn check_next(self, target: &Target, plane: PlaneId) -> Result<(), Why> {
        self.check_block(target, plane)?;
        let block = self.block_at(target, plane);
        match block.state() {
            State::Usable => {}
            State::Torn => return Err(Why::NotErased),
            State::FactoryBad => return Err(Why::FactoryBad),
        }
        let next = if self.blocks().is_plain() { block.next_page() } else { next_of_unusual(self.blocks(), target, plane)? };
        match target.page.0.cmp(&next) {
            Ordering::Less => Err(Why::Programmed),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Why::PageSkipped),
        }
    }

    /// True if a program command may begin at the page of `target`.
    #[inline(always)]
    fn check_unit(self, target: &Target) -> Result<(), Why> {
        let one_shot = self.sheet.capabilities.program_scope == ProgramScope::Wordline;
        if one_shot && self.shape().page_type(target.page.0) != 0 { Err(Why::InsideWordline) } else { Ok(()) }
    }

    /// True if a copyback may go to `target`, given the page that the register holds.
    #[inline(never)]
    fn check_copyback(self, target: &Target) -> Result<(), Why> {
        self.check_program(target)?;
        let Some((source, ..)) = self.registers.source() else { return Err(Why::NoCopySource) };
        if source.planes != target.planes {
            return Err(Why::NoCopySource);
        }
        match self.registers.collecting() {
            Some(begun) if begun.planes != target.planes || !same_blocks(begun, target) || begun.page.0 + 1 != target.page.0 => {
                Err(Why::Collecting)
            }
            Some(_) => Ok(()),
            None => self.check_unit(target),
        }
    }

    /// True if the blocks of `target` may be erased. Its page means nothing.
    fn check_erase(self, target: &Target) -> Result<(), Why> {
        self.check_range(&Target { page: PageId(0), ..*target })?;
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
            if self.block_at(target, plane).state() == State::FactoryBad {
                return Err(Why::FactoryBad);
            }
        }
        Ok(())
    }

    /// True if what stands at `target` may be made unreadable. A block that has failed a program may: its flag cells, select cells and wordlines still take a
    /// pulse. One whose erase has failed may as well, as a whole: its contents are unknown.
    #[inline(never)]
    fn check_sanitise(self, target: &Target, how: Sanitisation) -> Result<(), Why> {
        self.check_range(target)?;
        self.check_unsuspended(target)?;
        let blocks = self.blocks();
        for plane in planes(target.planes) {
            self.check_block(target, plane)?;
            let place = self.shape().place(target, plane);
            let is_broken_off = |page| self.medium.ruined().has(Place { page: u32::from(page), ..place });
            // A cut may have left one plane of a group programmed and another erased. They are locked as one.
            let stands_in = |plane| self.block_at(target, plane).next_page() > 0 || self.block_at(target, plane).state() == State::Torn;
            let holds_something = match how {
                Sanitisation::LockPage | Sanitisation::Reprogram => blocks.is_programmed(place) || is_broken_off(target.page.0),
                Sanitisation::Scrub => {
                    let mut wordline = self.shape().wordline(target.page.0);
                    let first = Place { page: u32::from(wordline.start), ..place };
                    blocks.is_programmed(first) || wordline.any(is_broken_off)
                }
                Sanitisation::LockBlock => planes(target.planes).any(stands_in),
            };
            match blocks.of(place.block).state() {
                State::FactoryBad => return Err(Why::FactoryBad),
                State::Usable | State::Torn if !holds_something => return Err(Why::NotProgrammed),
                State::Usable | State::Torn => {}
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn check_size(bytes: Bytes, room: u64) -> Result<(), Why> {
    if bytes.0 == 0 || bytes.0 > room { Err(Why::Size) } else { Ok(()) }
}

/// True if the data sheet lists a feature.
fn check_feature(feature: Feature, able: &Capabilities) -> Result<(), Why> {
    let is_there = match feature {
        Feature::InterfaceMode
        | Feature::DriveStrength
        | Feature::ReadLevel
        | Feature::ReadOffsets1
        | Feature::ReadOffsets5
        | Feature::ReadOffsets9
        | Feature::ReadOffsets13 => true,
        Feature::WindowStart
        | Feature::WindowEnd
        | Feature::CountBelow
        | Feature::VerifySkip1
        | Feature::VerifySkip5
        | Feature::VerifySkip9
        | Feature::VerifySkip13
        | Feature::ProgramTrace => able.program_settings,
        Feature::EraseTrace => able.erase_trace,
        Feature::Spare0
        | Feature::Spare1
        | Feature::Spare2
        | Feature::Spare3
        | Feature::Spare4
        | Feature::Spare5
        | Feature::Spare6
        | Feature::Spare7
        | Feature::Spare8
        | Feature::Spare9
        | Feature::Spare10
        | Feature::Spare11
        | Feature::Spare12
        | Feature::Spare13
        | Feature::Spare14
        | Feature::Spare15 => able.guarded_erase,
    };
    if is_there { Ok(()) } else { Err(Why::Unsupported) }
}

/// The page that the block of `target` in `plane` takes next, on a die that programs in any order or has spared wordlines.
#[cold]
#[inline(never)]
fn next_of_unusual(blocks: &Blocks, target: &Target, plane: PlaneId) -> Result<u16, Why> {
    if blocks.shape().places(target).any(|place| blocks.is_spared(place)) {
        return Err(Why::Spared);
    }
    let place = blocks.shape().place(target, plane);
    if blocks.is_unordered() {
        check_place(blocks, place)?;
        return Ok(target.page.0);
    }
    Ok(blocks.first_usable(Place { page: blocks.of(place.block).next_page().into(), ..place }) as u16)
}

/// On a die that programs in any order: a page must be the next of its wordline.
fn check_place(blocks: &Blocks, place: Place) -> Result<(), Why> {
    if blocks.is_programmed(place) {
        return Err(Why::Programmed);
    }
    let is_first = blocks.shape().page_type(place.page as u16) == 0;
    if is_first || blocks.is_programmed(Place { page: place.page - 1, ..place }) { Ok(()) } else { Err(Why::PageSkipped) }
}
