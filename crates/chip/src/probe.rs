//! Asking whether a command is legal, without doing anything.

use std::fmt;

use wordline_flash::{Command, Feature};
use wordline_units::{Bytes, Nanos};

use crate::chip::{Chip, WorkKind};
use crate::registers::Page;
use crate::rule::{Ability, Array, Bus, Class, Interface, Registers, Rule, Suspended};

/// The answer of [`Chip::probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The command may be issued now.
    Ready,
    /// The die is busy. Ask again at `until`, not before.
    Blocked {
        /// The earliest instant, if nothing else is issued meanwhile.
        until: Nanos,
    },
    /// The command makes no sense in this state; waiting does not help. To issue it is a bug in the firmware.
    Illegal(Why),
}

/// Why a command is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// No plane, or a plane that the die does not have.
    Planes,
    /// A block that the plane does not have.
    Block,
    /// A page that the block does not have.
    Page,
    /// The block left the factory bad.
    FactoryBad,
    /// The block's last erase failed or was abandoned.
    NotErased,
    /// The page has been programmed since the last erase.
    Programmed,
    /// A page before it has not been programmed yet.
    PageSkipped,
    /// The block's last erase has spared its wordline.
    Spared,
    /// There is nothing to make unreadable: the page, or its wordline or block, has not been programmed since the last erase.
    NotProgrammed,
    /// A one-shot program must begin at the first page of a wordline.
    InsideWordline,
    /// The block is being erased, or the page programmed, by the suspended operation.
    SuspendedBlock,
    /// The data sheet does not list it.
    Unsupported,
    /// No bytes, or more than the registers hold.
    Size,
    /// No sensed page is in a register.
    NothingSensed,
    /// No data was taken in.
    NothingTakenIn,
    /// The register holds no page of these planes that can still be programmed elsewhere.
    NoCopySource,
    /// Two sensed pages still wait to be put out.
    WouldOverwrite,
    /// Copybacks have begun to collect a wordline of another block.
    Collecting,
    /// The array does nothing that can be suspended.
    NothingToSuspend,
    /// The array senses nothing that could be broken off.
    NothingToAbort,
    /// Nothing is suspended.
    NothingSuspended,
    /// An operation is suspended already.
    SomethingSuspended,
    /// A program is suspended, and its data occupies the registers.
    ProgramSuspended,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Planes => "no plane, or a plane that the die does not have",
            Why::Block => "no such block",
            Why::Page => "no such page",
            Why::FactoryBad => "the block left the factory bad",
            Why::NotErased => "the block's last erase failed or was abandoned",
            Why::Programmed => "the page has been programmed since the last erase",
            Why::Spared => "the last erase of the block has spared its wordline",
            Why::PageSkipped => "a page before it has not been programmed",
            Why::NotProgrammed => "nothing has been programmed there since the last erase",
            Why::InsideWordline => "a one-shot program must begin at the first page of a wordline",
            Why::SuspendedBlock => "the suspended operation is changing it",
            Why::Unsupported => "the data sheet does not list it",
            Why::Size => "no bytes, or more than the registers hold",
            Why::NothingSensed => "no sensed page is in a register",
            Why::NothingTakenIn => "no data was taken in",
            Why::NoCopySource => "the register holds no page of these planes to copy",
            Why::WouldOverwrite => "two sensed pages still wait to be put out",
            Why::Collecting => "copybacks are collecting a wordline of another block",
            Why::NothingToSuspend => "the array does nothing that can be suspended",
            Why::NothingToAbort => "the array senses nothing that could be broken off",
            Why::NothingSuspended => "nothing is suspended",
            Why::SomethingSuspended => "an operation is suspended already",
            Why::ProgramSuspended => "a program is suspended",
        })
    }
}

impl Chip {
    /// Whether `command` may be issued at `now`. Changes nothing.
    #[inline]
    pub fn probe(&self, command: &Command, now: Nanos) -> Probe {
        match self.earliest(Class::of(command), command, now) {
            Ok(from) if from <= now => Probe::Ready,
            Ok(until) => Probe::Blocked { until },
            Err(why) => Probe::Illegal(why),
        }
    }

    /// The earliest instant at which `command`, of class `class`, is legal, walking its row of the rules.
    ///
    /// Always inlined: where the class is known, as in [`Chip::issue`], the compiler walks the row and a read costs a few comparisons.
    #[inline(always)]
    pub(crate) fn earliest(&self, class: Class, command: &Command, now: Nanos) -> Result<Nanos, Why> {
        let rule = Rule::of(class);
        self.check_ability(rule.ability)?;
        self.check_address(command)?;
        self.check_suspended(rule.suspended)?;
        let mut from = Nanos::ZERO;
        if rule.interface == Interface::Ready {
            from = self.interface_until;
        }
        match rule.array {
            Array::Idle => from = from.max(self.array_until),
            Array::Suspendable => {
                if now >= self.array_until || !self.work.kind.suspendable() {
                    return Err(Why::NothingToSuspend);
                }
                from = from.max(self.suspend_from);
                from = from.max(self.last_step_ends(now));
            }
            Array::Haltable => from = from.max(self.haltable_from(now)?),
            Array::Sensing => {
                if now >= self.array_until || self.work.kind != WorkKind::Read {
                    return Err(Why::NothingToAbort);
                }
            }
            Array::Any => {}
        }
        match rule.bus {
            Bus::Idle => from = from.max(self.bus_until),
            Bus::DataOut if self.bus_takes_in => from = from.max(self.bus_until),
            Bus::DataOut | Bus::Any => {}
        }
        self.check_registers(rule.registers, from)
    }

    /// The end of the work of the array if it is in its last step at `now`, so that nothing is left to be stopped at the end of a step; else no time at all.
    #[inline]
    fn last_step_ends(&self, now: Nanos) -> Nanos {
        let step = self.step_to_stop_at(self.work.kind);
        let is_last = step > Nanos::ZERO && self.progress().step_end(step, now) >= self.array_until;
        if is_last { self.array_until } else { Nanos::ZERO }
    }

    /// From when on what the array does can be stopped at once. What is going to stop at the end of its step before that would be sooner is let go on.
    fn haltable_from(&self, now: Nanos) -> Result<Nanos, Why> {
        if now >= self.array_until {
            return Err(Why::NothingToSuspend);
        }
        match self.work.kind {
            WorkKind::Program | WorkKind::Erase => Ok(self.suspend_from),
            WorkKind::Stopping if now + self.halt_time() < self.array_until => Ok(Nanos::ZERO),
            WorkKind::Stopping => Ok(self.array_until),
            WorkKind::Read | WorkKind::Other => Err(Why::NothingToSuspend),
        }
    }

    #[inline(always)]
    fn check_ability(&self, ability: Ability) -> Result<(), Why> {
        let able = &self.sheet.capabilities;
        let listed = match ability {
            Ability::Basic => true,
            Ability::CacheRead => able.cache_read,
            Ability::CacheProgram => able.cache_program,
            Ability::Copyback => able.copyback,
            Ability::PageLock => able.page_lock,
            Ability::BlockLock => able.block_lock,
            Ability::Scrub => able.scrub,
            Ability::Reprogram => able.reprogram,
            Ability::Suspend => match self.work.kind {
                WorkKind::Program => able.suspend_program,
                WorkKind::Erase => able.suspend_erase,
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => able.suspend_program || able.suspend_erase,
            },
            Ability::Halt => match self.stoppable() {
                WorkKind::Program => able.stop_now_program,
                WorkKind::Erase => able.stop_now_erase,
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => able.stop_now_program || able.stop_now_erase,
            },
            Ability::Abort => able.abort_read,
        };
        if listed { Ok(()) } else { Err(Why::Unsupported) }
    }

    #[inline(always)]
    fn check_address(&self, command: &Command) -> Result<(), Why> {
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
                let held = &self.registers;
                let planes = if held.cache_unread { held.cache_planes } else { held.data_planes };
                if held.data == Page::None {
                    return Err(Why::NothingSensed);
                }
                check_size(*bytes, self.page_bytes() * u64::from(planes))
            }
            Command::DataIn { bytes } => check_size(*bytes, self.room - self.registers.taken_in.0),
            Command::SetFeature { feature: Feature::ProgramTrace | Feature::EraseTrace, .. } => Err(Why::Unsupported),
            Command::SetFeature { feature, .. } | Command::GetFeature { feature } => self.check_feature(*feature),
            Command::Suspend { .. } | Command::Resume | Command::Status | Command::Abort | Command::Reset => Ok(()),
        }
    }

    fn check_feature(&self, feature: Feature) -> Result<(), Why> {
        let able = &self.sheet.capabilities;
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

    #[inline(always)]
    fn check_suspended(&self, need: Suspended) -> Result<(), Why> {
        let held = self.suspended.as_ref().map(|held| held.work.kind);
        match (need, held) {
            (Suspended::Nothing, Some(_)) => Err(Why::SomethingSuspended),
            (Suspended::AtMostStopping, Some(_)) if self.work.kind != WorkKind::Stopping => Err(Why::SomethingSuspended),
            (Suspended::AtMostErase, Some(WorkKind::Program)) => Err(Why::ProgramSuspended),
            (Suspended::Something, None) => Err(Why::NothingSuspended),
            (Suspended::Nothing | Suspended::AtMostStopping | Suspended::AtMostErase | Suspended::Something | Suspended::Any, _) => Ok(()),
        }
    }

    #[inline(always)]
    fn check_registers(&self, need: Registers, from: Nanos) -> Result<Nanos, Why> {
        let held = &self.registers;
        match need {
            Registers::Any => Ok(from),
            Registers::Sensed if held.cache_unread => Ok(from),
            Registers::Sensed if held.data == Page::None => Err(Why::NothingSensed),
            Registers::Sensed => Ok(from.max(held.data_from)),
            Registers::TakenIn if held.taken_in.0 > 0 => Ok(from),
            Registers::TakenIn => Err(Why::NothingTakenIn),
            Registers::CopySource if held.source.is_some() => Ok(from),
            Registers::CopySource => Err(Why::NoCopySource),
            Registers::Room if held.data != Page::Unread => Ok(from),
            Registers::Room if held.cache_unread => Err(Why::WouldOverwrite),
            // The waiting page needs the cache register, which may still be putting out the one before.
            Registers::Room => Ok(from.max(self.bus_until)),
            Registers::NotCollecting if held.collecting.is_none() => Ok(from),
            Registers::NotCollecting => Err(Why::Collecting),
        }
    }

    /// Bytes of a page, spare area included.
    #[inline]
    pub(crate) fn page_bytes(&self) -> u64 {
        self.sheet.geometry.page.0 + self.sheet.geometry.spare.0
    }
}

#[inline]
fn check_size(bytes: Bytes, room: u64) -> Result<(), Why> {
    if bytes.0 == 0 || bytes.0 > room { Err(Why::Size) } else { Ok(()) }
}
