//! Work that keeps a core from resting, named for messages: it decides nothing.

use std::fmt;

use wordline_units::{Cause, DieId};

use super::Rooms;
use crate::state::Core;
use crate::state::work::{Activity, Stream};

/// Work that keeps a core from resting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrest {
    /// Units in the write buffer.
    Buffered {
        /// Number of them.
        units: u32,
    },
    /// A block group whose valid data is moved elsewhere.
    Emptying {
        /// Die of the group, as its core counts it.
        die: DieId,
        /// Number of the group in its die.
        group: u32,
        /// Cause of the move.
        cause: Cause,
    },
    /// Data that was read out of a block group and is not yet programmed elsewhere.
    Moved {
        /// Die of the data, as its core counts it.
        die: DieId,
        /// Number of mapping units.
        units: u32,
        /// Cause of the move.
        cause: Cause,
        /// True if the die has a block group that takes the data.
        has_room: bool,
    },
    /// A program or an erase under way or suspended.
    Working {
        /// Die, as its core counts it.
        die: DieId,
        /// Cause of the operation.
        cause: Cause,
    },
    /// A read, or another operation that cannot be suspended, under way.
    Busy {
        /// Die, as its core counts it.
        die: DieId,
    },
    /// Stale secrets that are not yet unreadable.
    Sanitising,
    /// Second copies of out-of-band marks that are not yet programmed.
    Marks,
    /// The journal is kept on flash: a core that keeps one has no image.
    Journal,
}

impl Unrest {
    /// Die that the work is on, as its core counts it.
    pub fn die(&self) -> Option<DieId> {
        match *self {
            Unrest::Emptying { die, .. } | Unrest::Moved { die, .. } | Unrest::Working { die, .. } | Unrest::Busy { die } => Some(die),
            Unrest::Buffered { .. } | Unrest::Sanitising | Unrest::Marks | Unrest::Journal => None,
        }
    }
}

/// Name of work in the words of a message.
fn work(cause: Cause) -> &'static str {
    match cause {
        Cause::Host => "a write of the host",
        Cause::Fill => "the completion of a partial write",
        Cause::Gc => "garbage collection",
        Cause::Wear => "wear levelling",
        Cause::Disturb => "a refresh for read disturb",
        Cause::Retire => "the retirement of a block",
        Cause::Recovery => "the journal or a checkpoint",
        Cause::Sanitise => "sanitisation",
        Cause::Keys => "the log of keys",
        Cause::Measure => "a measurement",
        Cause::Refresh => "a refresh for retention",
        Cause::Probe => "the search for failed dies",
    }
}

impl fmt::Display for Unrest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Unrest::Buffered { units } => write!(f, "{units} units in the write buffer wait for a program"),
            Unrest::Emptying { group, cause, .. } => write!(f, "{} still moves data out of block group {group}", work(cause)),
            Unrest::Moved { units, cause, has_room: true, .. } => write!(f, "{units} units that {} moves wait for a program", work(cause)),
            Unrest::Moved { units, cause, has_room: false, .. } => {
                write!(f, "{units} units that {} moves wait for a free block group, and there is none", work(cause))
            }
            Unrest::Working { cause, .. } => write!(f, "a program or an erase for {} is under way", work(cause)),
            Unrest::Busy { .. } => f.write_str("a read is under way"),
            Unrest::Sanitising => f.write_str("stale data is not yet unreadable"),
            Unrest::Marks => f.write_str("second copies of out-of-band marks wait for a program"),
            Unrest::Journal => f.write_str("it keeps a journal on its flash, which no image holds"),
        }
    }
}

/// All work that keeps the core from resting, beside requests of the host that are not acknowledged; none: an image can be taken.
pub(crate) fn unrest(rooms: &Rooms) -> Vec<Unrest> {
    let core = &rooms.core;
    let mut found = Vec::new();
    let units = core.buffer().in_use().count() as u32;
    if units > 0 {
        found.push(Unrest::Buffered { units });
    }
    for die in core.die_ids() {
        found.extend(of_die(core, die));
    }
    if !rooms.sanitise.is_idle(core) {
        found.push(Unrest::Sanitising);
    }
    if rooms.metadata.oob().is_some_and(|oob| !oob.is_idle()) {
        found.push(Unrest::Marks);
    }
    if rooms.metadata.has_journal() {
        found.push(Unrest::Journal);
    }
    found
}

/// Work of one die, moves before single operations.
fn of_die(core: &Core, number: DieId) -> impl Iterator<Item = Unrest> {
    let die = core.die(number);
    let emptying = die.job().map(|job| Unrest::Emptying { die: number, group: core.layout().number(job.victim), cause: job.cause });
    let units = die.moved().len() as u32;
    let has_room = !die.open(Stream::Moved).is_empty() || die.free_count() > 0 || !die.erasable().is_empty();
    let moved = (units > 0).then(|| Unrest::Moved { die: number, units, cause: die.moved_cause(), has_room });
    let operation = match die.activity() {
        Activity::Free => None,
        Activity::Busy => Some(Unrest::Busy { die: number }),
        Activity::Working(cause) | Activity::Suspending(cause) | Activity::Suspended(cause) => Some(Unrest::Working { die: number, cause }),
    };
    [emptying, moved, operation].into_iter().flatten()
}
