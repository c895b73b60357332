//! Values for the work of a die: its activity, victims, moved units, requests to rewrite.

use serde::{Deserialize, Serialize};
use wordline_flash::Operation;
use wordline_units::{Cause, DieId, Nanos};

pub(crate) use crate::free_block::Stream;
use crate::state::Core;
use crate::state::data::MetadataKind;
use crate::state::groups::BlockGroups;
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::state::wordline_order::Open;

/// Activity of the die, as far as the firmware knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// The die can take an operation.
    Free,
    /// The die is doing an operation that cannot be suspended.
    Busy,
    /// The die is programming or erasing, for this cause.
    Working(Cause),
    /// The die has been ordered to suspend.
    Suspending(Cause),
    /// The die has a suspended program or erase.
    Suspended(Cause),
}

/// Source of operations for a die. `dispatch` asks one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Reads that wait for the die.
    Read,
    /// The journal and the checkpoints.
    Metadata,
    /// Summaries of block groups.
    Summary,
    /// The key store.
    Keys,
    /// Tasks of a sanitiser.
    Sanitise,
    /// Garbage collection.
    Gc,
}

/// Answer of a source that is asked for the next operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// The source has nothing for the die.
    Nothing,
    /// The next operation.
    Ready(Operation),
    /// The sources that go first, in order. Where none of them has an operation, neither has this one.
    Needs(&'static [Source]),
}

impl From<Option<Operation>> for Offer {
    #[inline(always)]
    fn from(operation: Option<Operation>) -> Offer {
        operation.map_or(Offer::Nothing, Offer::Ready)
    }
}

/// A victim whose valid data is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub victim: BlockGroup,
    pub cause: Cause,
    /// The first offset not yet read.
    pub cursor: u32,
    /// Offset up to which the victim was programmed.
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
    Metadata { kind: MetadataKind, unit: u32 },
}

/// Time since when work has been requested, and its deadline. Until the deadline a technique may hold it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub since: Nanos,
    pub due: Nanos,
}

impl Asked {
    /// Request of the core itself: no technique is asked whether the work may start.
    pub(crate) const BY_CORE: Asked = Asked { since: Nanos::ZERO, due: Nanos::ZERO };
}

/// Image of a die as plain data: the parts of its state that outlast a rest. It is small, so it is stored whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holdings {
    pub free: Vec<BlockGroup>,
    pub open: [Vec<Open>; 2],
    pub job: Option<Job>,
    pub moved_cause: Cause,
    pub failed: Vec<(BlockGroup, u32)>,
    pub erasable: Vec<(BlockGroup, Cause)>,
    /// Work that others held back may start at once on the restored core, unless its waits are restored beside.
    pub rewrite_queue: Vec<(BlockGroup, Cause, u32)>,
    pub extra_victim: u32,
    pub gc_stalled: bool,
    pub stale_collected: u32,
    /// True if nothing has changed since GC last found nothing to collect.
    pub gc_pays_from: bool,
    pub spares: [Vec<u16>; 4],
    pub read_turn: bool,
}

/// Drop the moved units waiting on `die` that `keep` refuses.
#[inline]
pub(crate) fn retain_moved(core: &mut Core, die: DieId, keep: impl Fn(&BlockGroups, &Layout, &Moved) -> bool) {
    let Core { dies, groups, layout, .. } = core;
    let die = &mut dies[die];
    if !die.moved().iter().all(|moved| keep(groups, layout, moved)) {
        die.retain_moved(|moved| keep(groups, layout, moved));
    }
}

/// Note whether nothing can be collected on `die` at present.
pub(crate) fn note_gc_stalled(core: &mut Core, die: DieId, is_gc_stalled: bool) {
    core.dies[die].set_gc_stalled(is_gc_stalled);
    core.gc_stalled |= is_gc_stalled;
    core.heeds_stale |= is_gc_stalled;
}

/// True if [`heed_stale`] has something to do.
#[inline]
pub(crate) fn heeds_stale(core: &Core) -> bool {
    core.heeds_stale
}

/// Count a unit of `group` that has become stale, and wake the dies that could collect nothing.
#[cold]
pub(crate) fn heed_stale(core: &mut Core, group: BlockGroup) {
    if let Some(spared) = core.groups.guarded_mut() {
        spared.room_mut().add_stale(group);
    }
    if core.gc_stalled {
        wake_gc_stalled(core);
    }
}

fn wake_gc_stalled(core: &mut Core) {
    core.gc_stalled = false;
    core.heeds_stale = core.groups.can_spare();
    for die in core.die_ids() {
        if core.dies[die].take_gc_stalled() {
            core.wake(die);
        }
    }
}
