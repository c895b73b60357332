//! The data sheet of a die: how long things take and what it is able to do.

use wordline_units::{Geometry, Nanos};

use crate::command::Stop;
use crate::sanitisation::Sanitisation;

/// What one program command fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramScope {
    /// One page.
    Page,
    /// All pages of a wordline at once (one-shot program).
    Wordline,
}

/// How long each command keeps the array, or the interface, busy. Arrays are indexed by the page's place in its wordline: LSB, CSB, MSB, top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// t_R by page type.
    pub read: [Nanos; 4],
    /// t_PROG by page type, where pages are programmed one by one.
    pub program: [Nanos; 4],
    /// t_PROG of a whole wordline, where it is programmed in one shot.
    pub program_wordline: Nanos,
    /// Block erase time, t_BERS.
    pub erase: Nanos,
    /// t_FEAT: set and get features.
    pub feature: Nanos,
    /// t_RCBSY / t_CBSY: handing a page between data and cache register.
    pub cache_busy: Nanos,
    /// From a suspend command until the array is free, during a program that is not stopped at a step.
    pub suspend_program: Nanos,
    /// From a suspend command until the array is free, during an erase that is not stopped at a step.
    pub suspend_erase: Nanos,
    /// One step of a program, at whose end it can be stopped.
    pub step_program: Nanos,
    /// One step of an erase, at whose end it can be stopped.
    pub step_erase: Nanos,
    /// From the command to stop a program at once until the array is free.
    pub halt_program: Nanos,
    /// From the command to stop an erase at once until the array is free.
    pub halt_erase: Nanos,
    /// From the command to break off a read until the array is free.
    pub abort_read: Nanos,
    /// Added to what is left of the operation by each resume.
    pub resume: Nanos,
    /// Least time between a resume and the next suspend.
    pub suspend_interval: Nanos,
    /// Reset time, t_RST.
    pub reset: Nanos,
    /// t_pLock (002 §5.3).
    pub lock_page: Nanos,
    /// t_bLock (002 §5.4).
    pub lock_block: Nanos,
    /// The one shot that scrubs a wordline (002 §7).
    pub scrub: Nanos,
    /// The one shot that destroys a page of a wordline (002 §4).
    pub reprogram: Nanos,
    /// Command, address and status cycles on the bus for one operation.
    pub bus_overhead: Nanos,
}

/// What a die is able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What one program command fills.
    pub program_scope: ProgramScope,
    /// Read the next page while the last one is put out.
    pub cache_read: bool,
    /// Take in the next page while the last one is programmed.
    pub cache_program: bool,
    /// Program from the register, without the bus.
    pub copyback: bool,
    /// Suspend a program.
    pub suspend_program: bool,
    /// Suspend an erase.
    pub suspend_erase: bool,
    /// Suspend at the end of a step of the array, and not in a fixed time.
    pub stop_at_step: bool,
    /// Suspend a program at once.
    pub stop_now_program: bool,
    /// Suspend an erase at once.
    pub stop_now_erase: bool,
    /// Break off a read.
    pub abort_read: bool,
    /// Lock a page.
    pub page_lock: bool,
    /// Lock a block.
    pub block_lock: bool,
    /// Scrub a wordline.
    pub scrub: bool,
    /// Destroy a page of a wordline by one-shot reprogramming.
    pub reprogram: bool,
    /// Program the wordlines of a block in any order (003 §4.1.3). Otherwise pages are programmed one after the other.
    pub any_order: bool,
    /// Narrow the window of programs, leave out verifies, and tell what a program was like: [`crate::ProgramSettings`] and [`crate::ProgramTrace`].
    pub program_settings: bool,
    /// Spare wordlines in an erase: [`crate::EraseSettings`].
    pub guarded_erase: bool,
    /// Tell what an erase was like: [`crate::EraseTrace`].
    pub erase_trace: bool,
}

impl Capabilities {
    /// The hardest stop of a program, or of an erase, that the die is able to do and that is no harder than `wanted`.
    pub const fn strongest(&self, is_erase: bool, wanted: Stop) -> Option<Stop> {
        let (suspends, at_once) =
            if is_erase { (self.suspend_erase, self.stop_now_erase) } else { (self.suspend_program, self.stop_now_program) };
        match wanted {
            _ if !suspends => None,
            Stop::Now if at_once => Some(Stop::Now),
            Stop::Now | Stop::AtStep => Some(Stop::AtStep),
        }
    }

    /// Whether the die can make pages unreadable in this way.
    pub const fn can_sanitise(&self, how: Sanitisation) -> bool {
        match how {
            Sanitisation::LockPage => self.page_lock,
            Sanitisation::LockBlock => self.block_lock,
            Sanitisation::Scrub => self.scrub,
            Sanitisation::Reprogram => self.reprogram,
        }
    }
}

impl Timing {
    /// How long the array is busy with making pages unreadable in this way.
    pub const fn sanitise(&self, how: Sanitisation) -> Nanos {
        match how {
            Sanitisation::LockPage => self.lock_page,
            Sanitisation::LockBlock => self.lock_block,
            Sanitisation::Scrub => self.scrub,
            Sanitisation::Reprogram => self.reprogram,
        }
    }
}

/// The data sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The shape; `channels` and `dies_per_channel` belong to the drive and mean nothing to a die.
    pub geometry: Geometry,
    /// How long things take.
    pub timing: Timing,
    /// What it is able to do.
    pub capabilities: Capabilities,
}

impl Sheet {
    /// Pages that one program command fills in each plane.
    pub const fn pages_per_program(&self) -> u32 {
        match self.capabilities.program_scope {
            ProgramScope::Page => 1,
            ProgramScope::Wordline => self.geometry.cell.bits(),
        }
    }
}
