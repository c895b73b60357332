//! What a die is given to do, as values.

use serde::{Deserialize, Serialize};
use wordline_units::{Cause, DieId, Nanos};

use crate::state::layout::{Group, UnitAddr};
use crate::state::order::Open;

/// The two streams of data a die keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// New host data.
    Host = 0,
    /// Data that has been programmed before.
    Moved = 1,
}

/// What the die is doing, as far as the firmware knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It can take an operation.
    Free,
    /// It is doing one that cannot be suspended.
    Busy,
    /// It is programming or erasing, ordered for this reason.
    Working(Cause),
    /// A suspend has been ordered.
    Suspending(Cause),
    /// A program or erase is suspended.
    Suspended(Cause),
}

/// A program or erase under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The die.
    pub die: DieId,
    /// Whether it is an erase, and not a program.
    pub is_erase: bool,
    /// Why it was ordered.
    pub cause: Cause,
    /// The group.
    pub group: Group,
    /// How often it has been stopped.
    pub stops: u16,
}

/// A victim whose valid data is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub victim: Group,
    pub cause: Cause,
    /// The first offset not yet read.
    pub cursor: u32,
    /// How far the victim was programmed.
    pub end: u32,
}

/// A unit read from a victim, on its way to another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub lpn: u32,
    pub from: UnitAddr,
}

/// One unit of the program that the die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Host { slot: u32 },
    Moved(Moved),
    Padding,
    Journal { unit: u32 },
    Checkpoint { unit: u32 },
    Keys { unit: u32 },
    Oob { unit: u32 },
}

/// Since when work has been asked for, and until when somebody may hold it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub since: Nanos,
    pub due: Nanos,
}

impl Asked {
    /// By the core itself: nobody is asked whether it may start.
    pub(crate) const BY_CORE: Asked = Asked { since: Nanos::ZERO, due: Nanos::ZERO };
}

/// A group that is to be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub group: Group,
    pub cause: Cause,
    /// How often it had been erased when it was asked for: the work is of one filling.
    pub erases: u32,
    pub asked: Asked,
}

impl Wanted {
    /// What the core itself wants rewritten.
    pub(crate) fn by_core(group: Group, cause: Cause, erases: u32) -> Wanted {
        Wanted { group, cause, erases, asked: Asked::BY_CORE }
    }
}

/// What a die holds, as plain data. Small, so stored whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holdings {
    pub free: Vec<Group>,
    pub open: [Vec<Open>; 2],
    pub job: Option<Job>,
    pub moved_cause: Cause,
    pub failed: Vec<(Group, u32)>,
    pub erasable: Vec<(Group, Cause)>,
    /// Work that others held back may start at once on the restored core.
    pub wanted: Vec<(Group, Cause, u32)>,
    pub extra: u32,
    pub starved: bool,
    pub won: u32,
    /// Nothing has been changed since reclaim last gave nothing.
    pub fruitless: bool,
    pub spares: [Vec<u16>; 4],
    pub read_turn: bool,
}
