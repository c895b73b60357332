//! What a core knows about one die: its queues, its open blocks, the reclaim it is busy with.

use std::collections::VecDeque;

use wordline_flash::ProgramSettings;
use wordline_units::{Cause, DieId, Nanos, Priority};

use crate::layout::{Group, UnitAddr};
use crate::list::NIL;
use crate::order::Open;
use crate::techniques::seam::Busy;

/// The two streams of data a die keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// New host data.
    Host = 0,
    /// Data that has been programmed before.
    Moved = 1,
}

/// A victim whose valid data is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Job {
    pub(crate) victim: Group,
    pub(crate) cause: Cause,
    /// The first offset not yet read.
    pub(crate) cursor: u32,
    /// How far the victim was programmed.
    pub(crate) end: u32,
}

/// A unit read from a victim, on its way to another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) lpn: u32,
    pub(crate) from: UnitAddr,
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

/// First in, first out, linked through the operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub(crate) head: u32,
    pub(crate) tail: u32,
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

/// Since when work has been asked for, and until when somebody may hold it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) since: Nanos,
    pub(crate) due: Nanos,
}

impl Asked {
    /// By the core itself: nobody is asked whether it may start.
    pub(crate) const BY_CORE: Asked = Asked { since: Nanos::ZERO, due: Nanos::ZERO };
}

/// A group that is to be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) group: Group,
    pub(crate) cause: Cause,
    /// How often it had been erased when it was asked for: the work is of one filling.
    pub(crate) erases: u32,
    pub(crate) asked: Asked,
}

impl Wanted {
    /// What the core itself wants rewritten.
    pub(crate) fn by_core(group: Group, cause: Cause, erases: u32) -> Wanted {
        Wanted { group, cause, erases, asked: Asked::BY_CORE }
    }
}

/// One die. Its size is a power of two, so that the way to a die's entry is one shift: there are a dozen of them in each operation.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Die {
    pub(crate) activity: Activity,
    /// Reads waiting, by priority.
    pub(crate) reads: [Fifo; Priority::ALL.len()],
    pub(crate) reads_waiting: u32,
    pub(crate) free: VecDeque<Group>,
    /// Groups being written, for each stream.
    pub(crate) open: [Vec<Open>; 2],
    pub(crate) job: Option<Job>,
    pub(crate) moved: VecDeque<Moved>,
    pub(crate) moved_cause: Cause,
    /// Reads of victims whose data has not come yet.
    pub(crate) moves_under_way: u32,
    /// Groups in which a program failed, with how far they were programmed, yet to be emptied.
    pub(crate) failed: Vec<(Group, u32)>,
    /// Groups to be erased, and why they were emptied.
    pub(crate) erasable: Vec<(Group, Cause)>,
    /// Groups read to their end, with why, whose last units are still on their way elsewhere.
    pub(crate) draining: Vec<(Group, Cause)>,
    /// Rewrites asked for and not yet begun, in the order they were asked for.
    pub(crate) wanted: VecDeque<Wanted>,
    /// A victim to be reclaimed beyond what space demands.
    pub(crate) extra: Option<Asked>,
    /// The program or erase that it is doing or that is suspended.
    pub(crate) busy: Busy,
    /// Reads served since that was suspended.
    pub(crate) served: u16,
    /// The units of the program that the die is doing.
    pub(crate) batch: Vec<Entry>,
    /// How many of them are of the host, moved, padding.
    pub(crate) carried: [u16; 3],
    pub(crate) spare: Vec<wordline_units::Lpn>,
    /// How that program is to be done.
    pub(crate) settings: ProgramSettings,
    /// Nothing could be reclaimed when it was last tried.
    pub(crate) starved: bool,
    /// What reclaim has earned for the host, as the scheduler counts it.
    pub(crate) credit: i32,
    /// Valid units that the victim in hand, or the last one, had when it was begun.
    pub(crate) victim_valid: u32,
    /// Stale units of the victims since a program of moved data was last padded.
    pub(crate) won: u32,
    /// That padding took all that they gave, when the host had changed so much.
    pub(crate) fruitless: Option<u64>,
    /// Spare blocks of each plane.
    pub(crate) spares: Box<[Vec<u16>; 4]>,
    /// Reads are served every other time when they are not served first.
    pub(crate) read_turn: bool,
}

impl Die {
    pub(crate) fn new(free: VecDeque<Group>, spares: [Vec<u16>; 4]) -> Die {
        Die {
            activity: Activity::Free,
            reads: [Fifo { head: NIL, tail: NIL }; Priority::ALL.len()],
            reads_waiting: 0,
            free,
            open: [Vec::new(), Vec::new()],
            job: None,
            moved: VecDeque::new(),
            moved_cause: Cause::Reclaim,
            moves_under_way: 0,
            failed: Vec::new(),
            erasable: Vec::new(),
            draining: Vec::new(),
            wanted: VecDeque::new(),
            extra: None,
            busy: Busy { die: DieId(0), is_erase: false, cause: Cause::Host, group: Group(0), stops: 0 },
            served: 0,
            batch: Vec::new(),
            carried: [0; 3],
            spare: Vec::new(),
            settings: ProgramSettings::DEFAULT,
            starved: false,
            credit: 0,
            victim_valid: 0,
            won: 0,
            fruitless: None,
            spares: Box::new(spares),
            read_turn: false,
        }
    }

    /// Whether it has fewer than `groups` free groups, those about to be erased counted.
    #[inline]
    pub(crate) fn is_short(&self, groups: u32) -> bool {
        ((self.free.len() + self.erasable.len()) as u32) < groups
    }

    /// Begin to gather the units of a program.
    #[inline]
    pub(crate) fn begin_batch(&mut self) {
        self.batch.clear();
        self.spare.clear();
        // Pages of the core's own are programmed as the die does by itself.
        self.settings = ProgramSettings::DEFAULT;
        self.carried = [0; 3];
    }

    /// Put a unit into the program that is being gathered.
    #[inline]
    pub(crate) fn push_entry(&mut self, entry: Entry, lpn: u32) {
        let origin = match entry {
            Entry::Host { .. } => 0,
            Entry::Moved(_) => 1,
            Entry::Padding | Entry::Journal { .. } | Entry::Checkpoint { .. } | Entry::Keys { .. } | Entry::Oob { .. } => 2,
        };
        self.carried[origin] += 1;
        self.batch.push(entry);
        self.spare.push(wordline_units::Lpn(lpn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_entry_is_a_power_of_two() {
        assert!(size_of::<Die>().is_power_of_two(), "{} bytes", size_of::<Die>());
    }
}
