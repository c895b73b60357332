//! Checkpoints of the map: after a power cut the core reads the newest one and, of all other pages, those written since.
//!
//! A checkpoint is written page by page while the core works, one program for each [`Config::checkpoint_every`] programs of data, and begun anew when it is
//! whole. It says
//!
//! 1. which block groups were *settled* when it was begun: nothing is programmed there any more before an erase, and the erase counts tell whether one
//!    has come since; and which were free;
//! 2. of each unit where it lies, as of the moment when the page is made.
//!
//! ```text
//!   [ groups | places 0.. | places 4084.. | … | end ] [ groups | places … the next one
//!     begun ▲ with version n                        ▲ whole: block groups with older ones are let go
//! ```
//!
//! What recovery needs beside it are the marks in all groups that are not settled, or were erased since: whatever was programmed after the checkpoint was begun
//! lies there. Of units that lay there already, recovery knows by the checkpoint that they were, should a page have become unreadable. It does not matter that
//! the pages are made at different moments: a unit that moves on meanwhile is found where it went. A checkpoint never becomes untrue, only less useful; nothing
//! waits for it, and without one everything is read.

use std::collections::{BTreeSet, VecDeque};

use wordline_flash::{Operation, OperationKind, Report, Status};
use wordline_units::{Cause, DieId, Lpn, Nanos};

use crate::checkpoint_page::{CheckpointPage, KnownGroup, KnownState, Said, groups_per_page, places_per_page};
use crate::config::Config;
use crate::die::Entry;
use crate::firmware::Ftl;
use crate::groups::Use;
use crate::layout::{Group, Layout, UnitAddr};
use crate::operations::{Pending, Purpose};

/// The logical unit in the spare areas of pages of a checkpoint.
pub const CHECKPOINT: Lpn = Lpn(u32::MAX - 2);

/// What is left to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The groups from here on.
    Groups(usize),
    /// The units from here on.
    Places(u32),
    /// That this was all.
    End,
    /// Nothing.
    Nothing,
}

/// The checkpoint that is being written.
#[derive(Clone, Debug)]
struct Writing {
    number: u64,
    /// How many of the groups with checkpoints hold nothing of it.
    before: usize,
    /// The groups as they were when it was begun.
    known: Vec<Option<KnownGroup>>,
    index: u32,
    next: Next,
    /// Trims up to this version may show in it.
    trims: u64,
}

/// The checkpoints of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoints {
    /// The groups with the newest whole one, then those with the one being written; they may share one. Oldest first.
    groups: VecDeque<Group>,
    /// How many of them the newest whole one needs.
    held: usize,
    /// The next program unit of the last of them.
    program: u32,
    writing: Option<Writing>,
    /// The newest that is whole.
    whole: Option<u64>,
    /// Groups with pages that can be read and that the map does not know, because what they hold is programmed again.
    unsure: BTreeSet<Group>,
    /// Groups with a checkpoint that does not tell of all that is needed any more. They are erased before any other.
    abandoned: BTreeSet<Group>,
    /// Programs of data since the last program of a checkpoint.
    due: u32,
    busy: bool,
    image: Vec<u8>,
}

impl Checkpoints {
    /// Go on after a power cut with the checkpoint `number` in `groups`, to which nothing is added.
    pub(crate) fn resume(&mut self, groups: VecDeque<Group>, number: Option<u64>, programs: u32) {
        (self.held, self.groups, self.whole, self.program) = (groups.len(), groups, number, programs);
    }

    /// Go on after a power cut without the checkpoint in `groups`.
    pub(crate) fn abandon(&mut self, groups: &VecDeque<Group>) {
        self.abandoned.extend(groups);
    }

    /// Whether `group` may be erased: what is in it is stale only once a checkpoint that says otherwise is gone.
    pub(crate) fn lets_go(&self, group: Group) -> bool {
        self.abandoned.is_empty() || self.is_abandoned(group)
    }

    /// Whether `group` holds a checkpoint that must go.
    pub(crate) fn is_abandoned(&self, group: Group) -> bool {
        self.abandoned.contains(&group)
    }
}

/// Program units that a checkpoint takes at most.
fn programs(config: &Config, layout: &Layout) -> u32 {
    let page = config.sheet.geometry.page.0 as usize;
    let pages = layout.group_count().div_ceil(groups_per_page(page)) + (config.exported_units as usize).div_ceil(places_per_page(page)) + 1;
    pages.div_ceil((layout.units_per_program / layout.units_per_page) as usize) as u32
}

/// Block groups that checkpoints take at most: two of them, and what is left of a group in front of the older.
pub(crate) fn groups(config: &Config, layout: &Layout) -> u32 {
    if config.checkpoint_every.is_none() { 0 } else { (2 * programs(config, layout)).div_ceil(layout.programs) + 1 }
}

impl Ftl {
    /// Prepare to write checkpoints.
    pub(crate) fn start_checkpoints(&mut self) {
        if self.config.checkpoint_every.is_some() {
            let image = vec![0; self.unit_bytes(self.layout.units_per_program).0 as usize];
            self.checkpoints = Some(Box::new(Checkpoints { image, ..Checkpoints::default() }));
        }
    }

    /// The bytes of part `unit` of the checkpoint's program that has just been ordered.
    pub fn checkpoint_bytes(&self, unit: u32) -> &[u8] {
        let checkpoints = self.checkpoints.as_ref().expect("only a core that keeps data programs checkpoints");
        let bytes = self.config.unit.0 as usize;
        &checkpoints.image[unit as usize * bytes..][..bytes]
    }

    pub(crate) fn checkpoint_number(&self) -> u64 {
        self.checkpoints.as_ref().and_then(|checkpoints| checkpoints.writing.as_ref()).map_or(0, |writing| writing.number)
    }

    /// The number of the newest checkpoint that is whole.
    pub fn checkpoint(&self) -> Option<u64> {
        self.checkpoints.as_ref().and_then(|checkpoints| checkpoints.whole)
    }

    /// A program of data has ended: the checkpoint may have its turn.
    #[cold]
    pub(crate) fn count_for_checkpoint(&mut self) {
        let every = self.config.checkpoint_every.unwrap_or(u32::MAX);
        let programs = self.layout.programs;
        let Some(checkpoints) = &mut self.checkpoints else {
            return;
        };
        checkpoints.due = checkpoints.due.saturating_add(1);
        if checkpoints.due < every || checkpoints.busy || self.worn_out {
            return;
        }
        if checkpoints.groups.is_empty() || checkpoints.program == programs {
            // Where there is no room, the checkpoint waits: it is worth nothing to anybody but recovery.
            let Some(group) = self.take_own_group(self.config.reclaim.floor) else {
                return;
            };
            let checkpoints = self.checkpoints.as_mut().expect("just seen");
            checkpoints.groups.push_back(group);
            checkpoints.program = 0;
        }
        let group = self.checkpoints.as_ref().and_then(|checkpoints| checkpoints.groups.back().copied());
        self.wake(self.layout.die(group.expect("just seen")));
    }

    /// The next program of `die` that belongs to a checkpoint.
    #[cold]
    pub(crate) fn checkpoint_step(&mut self, die: DieId) -> Option<Operation> {
        let every = self.config.checkpoint_every?;
        let checkpoints = self.checkpoints.as_ref()?;
        let group = *checkpoints.groups.back()?;
        let is_due = checkpoints.due >= every && checkpoints.program < self.layout.programs;
        if !is_due || checkpoints.busy || self.worn_out || self.layout.die(group) != die {
            return None;
        }
        let shows = checkpoints.writing.as_ref().filter(|writing| writing.next == Next::End).map_or(0, |writing| writing.trims);
        if shows > self.trims_durable() {
            // Once it is whole, a unit that is missing in it is gone.
            self.hurry_journal();
            return None;
        }
        let mut checkpoints = self.checkpoints.take().expect("just seen");
        if checkpoints.writing.is_none() {
            checkpoints.writing = Some(self.begin_checkpoint(&checkpoints));
        }
        let Checkpoints { writing: Some(writing), image, .. } = checkpoints.as_mut() else { unreachable!("just begun") };
        for bytes in image.chunks_exact_mut(self.config.sheet.geometry.page.0 as usize) {
            self.write_checkpoint_page(writing, bytes);
        }
        let program = checkpoints.program;
        (checkpoints.program, checkpoints.due, checkpoints.busy) = (program + 1, 0, true);
        self.checkpoints = Some(checkpoints);
        let units = self.layout.units_per_program;
        let state = &mut self.dies[die];
        state.begin_batch();
        (0..units).for_each(|unit| state.push_entry(Entry::Checkpoint { unit }, CHECKPOINT.0));
        let bytes = self.unit_bytes(units);
        let tag = self.pending.insert(Pending::new(Purpose::Checkpoint, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        Some(self.order(die, tag, OperationKind::Program { target, bytes }, Cause::Recovery))
    }

    fn begin_checkpoint(&mut self, checkpoints: &Checkpoints) -> Writing {
        let known: Vec<Option<KnownGroup>> = (0..self.layout.group_count() as u32)
            .map(Group)
            .map(|group| {
                let blocks = self.groups.blocks(group);
                let age = self.groups.closings.wrapping_sub(self.groups.closed[group.index()]);
                if self.groups.is_condemned(group) || checkpoints.unsure.contains(&group) {
                    // A page whose program has failed may be readable all the same, and newer than what the map knows.
                    return None;
                }
                let state = match self.groups.use_of(group) {
                    Use::Closed | Use::Draining | Use::Drained => KnownState::Closed { age },
                    Use::Free => KnownState::Free,
                    Use::Active => KnownState::Open,
                    Use::Bad | Use::Journal => return None,
                };
                Some(KnownGroup { blocks, erases: self.groups.erases(group), state })
            })
            .collect();
        // The group it begins in may hold the end of the one before.
        let before = checkpoints.groups.len() - 1;
        Writing { number: self.buffer.next_version(), before, known, index: 0, next: Next::Groups(0), trims: 0 }
    }

    fn write_checkpoint_page(&self, writing: &mut Writing, bytes: &mut [u8]) {
        let said = loop {
            match writing.next {
                Next::Groups(first) => {
                    let end = writing.known.len().min(first + groups_per_page(bytes.len()));
                    writing.next = if end < writing.known.len() { Next::Groups(end) } else { Next::Places(0) };
                    break Said::Groups { first: first as u32, groups: writing.known[first..end].to_vec() };
                }
                Next::Places(first) => {
                    // What is skipped may have been trimmed as well.
                    writing.trims = self.trims_newest();
                    let first = self.map.skip_unmapped(first);
                    if first == self.map.exported() {
                        writing.next = Next::End;
                        continue;
                    }
                    let end = self.map.exported().min(first + places_per_page(bytes.len()) as u32);
                    writing.next = if end < self.map.exported() { Next::Places(end) } else { Next::End };
                    // Those in groups that are read at recovery, too: it must know which of them it does not find.
                    let places: Vec<UnitAddr> = (first..end).map(|lpn| self.map.get(lpn)).collect();
                    // A page that says nothing is not written.
                    if places.iter().any(|&place| place != UnitAddr::NONE) {
                        break Said::Places { first, places };
                    }
                }
                Next::End if writing.trims > self.trims_durable() => return bytes.fill(0),
                Next::End => {
                    writing.next = Next::Nothing;
                    break Said::End;
                }
                Next::Nothing => return bytes.fill(0),
            }
        };
        CheckpointPage { number: writing.number, index: writing.index, said }.write(bytes);
        writing.index += 1;
    }

    /// `group` does not hold any more what it held.
    pub(crate) fn forget_settled(&mut self, group: Group) {
        let Some(checkpoints) = self.checkpoints.as_deref_mut() else { return };
        checkpoints.unsure.remove(&group);
        if checkpoints.abandoned.remove(&group) && checkpoints.abandoned.is_empty() {
            (0..self.layout.dies as u16).for_each(|die| self.wake(DieId(die)));
        }
    }

    /// `group` holds a page that the map does not know.
    pub(crate) fn leave_unsettled(&mut self, group: Group) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.unsure.insert(group);
        }
    }

    /// A program of a checkpoint has ended.
    pub(crate) fn checkpointed(&mut self, now: Nanos, report: &Report, group: Group) {
        self.dies[report.die].batch.clear();
        let programs = self.layout.programs;
        let checkpoints = self.checkpoints.as_mut().expect("it was ordered");
        checkpoints.busy = false;
        let writing = checkpoints.writing.as_ref().expect("it was ordered");
        let mut needless = Vec::new();
        if report.status != Status::Good {
            // What is whole stays where it is; the next one begins elsewhere.
            checkpoints.writing = None;
            checkpoints.program = programs;
            needless.extend(checkpoints.groups.drain(checkpoints.held..));
            self.groups.condemn(group);
        } else if writing.next == Next::Nothing {
            let before = writing.before;
            checkpoints.whole = Some(writing.number);
            checkpoints.writing = None;
            needless.extend(checkpoints.groups.drain(..before));
            checkpoints.held = checkpoints.groups.len();
        }
        needless.into_iter().for_each(|group| self.release_own_group(group, Cause::Recovery));
        self.settle(now);
    }
}
