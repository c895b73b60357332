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

use wordline_flash::Operation;
use wordline_units::DieId;

use super::log::Log;
use crate::pages::checkpoint::{CheckpointPage, KnownGroup, KnownState, Said, groups_per_page, places_per_page};
use crate::state::Core;
use crate::state::data::MetadataKind;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, UnitAddr};

/// Next page of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A page of block groups, from this one on.
    Groups(usize),
    /// A page of unit addresses, from this unit on.
    Places(u32),
    /// The page that ends the checkpoint.
    End,
    /// No page is due.
    Nothing,
}

/// The checkpoint that is being written.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    number: u64,
    /// Number of groups with checkpoints that hold nothing of this one.
    before: usize,
    /// State of the groups when this checkpoint was begun.
    known: Vec<Option<KnownGroup>>,
    index: u32,
    next: Next,
    /// Version up to which trims may show in this checkpoint.
    trims: u64,
}

/// Trims have to be on flash before the checkpoint goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrimsFirst;

/// The checkpoints of one core.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints {
    /// Groups of the newest whole checkpoint, then those of the one being written. The two may share a group.
    log: Log,
    /// Number of those groups that the newest whole checkpoint needs.
    held: usize,
    writing: Option<Writing>,
    /// Number of the newest whole checkpoint.
    whole: Option<u64>,
    /// Groups with readable pages that the map does not know, because their data is programmed again elsewhere.
    unsure: BTreeSet<BlockGroup>,
    /// Groups with a checkpoint that recovery can no longer rely on. They are erased before any other.
    abandoned: BTreeSet<BlockGroup>,
    /// Data programs since the last program of a checkpoint.
    due: u32,
    /// True if the program under way comes to nothing, because groups of its checkpoint were on a die that has failed.
    is_cut: bool,
}

impl Checkpoints {
    /// Resume after a power cut with the checkpoint `number` in `groups`, to which nothing is added.
    pub(crate) fn resume(&mut self, groups: VecDeque<BlockGroup>, number: Option<u64>, programs: u32) {
        (self.held, self.whole) = (groups.len(), number);
        self.log.resume(groups, programs);
    }

    /// Resume after a power cut without the checkpoint in `groups`.
    pub(crate) fn abandon(&mut self, groups: &VecDeque<BlockGroup>) {
        self.abandoned.extend(groups);
    }

    /// True if `group` may be erased. While a checkpoint that must go is left, only groups of it may.
    pub(crate) fn lets_go(&self, group: BlockGroup) -> bool {
        self.abandoned.is_empty() || self.is_abandoned(group)
    }

    /// True if `group` holds a checkpoint that must go.
    pub(crate) fn is_abandoned(&self, group: BlockGroup) -> bool {
        self.abandoned.contains(&group)
    }

    /// Creates the checkpoints of a core, none of them written yet, with program units of `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Checkpoints {
        Checkpoints {
            log: Log::new(MetadataKind::Checkpoint, bytes),
            held: 0,
            writing: None,
            whole: None,
            unsure: BTreeSet::new(),
            abandoned: BTreeSet::new(),
            due: 0,
            is_cut: false,
        }
    }

    /// The bytes of part `unit` of the program that has just been ordered, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        self.log.bytes(unit, bytes)
    }

    /// Number of the checkpoint that is being written; 0: none is.
    pub(crate) fn number(&self) -> u64 {
        self.writing.as_ref().map_or(0, |writing| writing.number)
    }

    /// Number of the newest whole checkpoint.
    pub(crate) fn whole(&self) -> Option<u64> {
        self.whole
    }

    /// Count a data program that has ended: a program of the checkpoint may be due.
    pub(crate) fn count(&mut self, core: &mut Core) {
        let every = core.settings().checkpoint_every.unwrap_or(u32::MAX);
        self.due = self.due.saturating_add(1);
        if self.due < every || self.log.is_busy() || core.is_worn_out() {
            return;
        }
        let has_room = self.log.room(core.layout(), 1).is_some();
        // Where there is no room, the checkpoint waits: it is worth nothing to anybody but recovery.
        if (has_room || self.log.find_room(core, core.settings().gc.floor))
            && let Some(group) = self.log.room(core.layout(), 1)
        {
            core.wake(core.layout().die(group));
        }
    }

    /// Group in which a program of the checkpoint is due on `die`, if one is. Trims up to `durable` are on flash; if the checkpoint shows later ones, they
    /// come first.
    pub(crate) fn next(&self, core: &Core, die: DieId, durable: u64) -> Option<Result<BlockGroup, TrimsFirst>> {
        let every = core.settings().checkpoint_every?;
        let group = self.log.room(core.layout(), 1)?;
        if self.due < every || self.log.is_busy() || core.is_worn_out() || core.layout().die(group) != die {
            return None;
        }
        let shows = self.writing.as_ref().filter(|writing| writing.next == Next::End).map_or(0, |writing| writing.trims);
        // Once it is whole, a unit that is missing in it is gone.
        Some(if shows > durable { Err(TrimsFirst) } else { Ok(group) })
    }

    /// Order the next program. Trims up to `newest` have arrived, and those up to `durable` are on flash.
    #[cold]
    pub(crate) fn issue(&mut self, core: &mut Core, (newest, durable): (u64, u64)) -> Operation {
        if self.writing.is_none() {
            self.writing = Some(self.begin(core));
        }
        let Checkpoints { writing: Some(writing), log, .. } = self else { unreachable!("just begun") };
        for bytes in log.image_mut().chunks_exact_mut(core.settings().page) {
            match writing.next_page(core, bytes.len(), (newest, durable)) {
                Some(page) => page.write(bytes),
                None => bytes.fill(0),
            }
        }
        self.due = 0;
        self.log.issue(core)
    }

    fn begin(&self, core: &mut Core) -> Writing {
        // The group it begins in may hold the end of the one before.
        let before = self.log.before_newest();
        // A page whose program has failed may be readable all the same, and newer than what the map knows.
        Writing { before, ..Writing::begin(core, &self.unsure, None) }
    }

    /// Forget what checkpoints held in `group`. Returns true if it was the last of those that must go.
    pub(crate) fn forget(&mut self, group: BlockGroup) -> bool {
        self.unsure.remove(&group);
        self.abandoned.remove(&group) && self.abandoned.is_empty()
    }

    /// Note that `group` holds a page that the map does not know.
    pub(crate) fn leave_unsettled(&mut self, group: BlockGroup) {
        self.unsure.insert(group);
    }

    /// Go on without what lies on dies that have failed. Returns true if the last of the groups that must go was there.
    pub(crate) fn leave(&mut self, core: &mut Core) -> bool {
        let is_there = |group: &BlockGroup| core.is_failed(core.layout().die(*group));
        self.unsure.retain(|group| !is_there(group));
        let before = self.abandoned.len();
        self.abandoned.retain(|group| !is_there(group));
        let is_over = before > 0 && self.abandoned.is_empty();
        if self.log.groups().any(|group| is_there(&group)) {
            if self.log.is_busy() { self.is_cut = true } else { self.cut(core) }
        }
        is_over
    }

    /// Drop the checkpoint that is being written, and the newest whole one with it if a part of that is gone.
    fn cut(&mut self, core: &mut Core) {
        (self.is_cut, self.writing) = (false, None);
        let held = self.held;
        let (left, _) = self.log.leave(core, held);
        if left < held {
            (self.held, self.whole) = (0, None);
        }
        self.log.seal(core.layout());
        self.log.release_newest(core, self.held);
    }

    /// End a program in `group`. Groups that are not needed any more are let go.
    pub(crate) fn programmed(&mut self, core: &mut Core, good: bool, group: BlockGroup) {
        if self.is_cut {
            self.log.ended();
            return self.cut(core);
        }
        let writing = self.writing.as_ref().expect("it was ordered");
        if !good {
            // What is whole stays where it is; the next one begins elsewhere.
            self.writing = None;
            self.log.failed(core, group);
            self.log.release_newest(core, self.held);
            return;
        }
        self.log.ended();
        if writing.next == Next::Nothing {
            let before = writing.before;
            self.whole = Some(writing.number);
            self.writing = None;
            self.log.release_oldest(core, before);
            self.held = self.log.groups().len();
        }
    }
}

impl Writing {
    /// Begin a checkpoint of the core as it is. Groups that are condemned, or `unsure`, stand in it in the state `doubtful`, or not at all.
    pub(super) fn begin(core: &mut Core, unsure: &BTreeSet<BlockGroup>, doubtful: Option<KnownState>) -> Writing {
        let known = (0..core.layout().group_count() as u32).map(BlockGroup).map(|group| {
            let groups = core.groups();
            let state = match groups.use_of(group) {
                Use::Bad | Use::Metadata => return None,
                _ if groups.is_condemned(group) || unsure.contains(&group) => doubtful?,
                // Lost groups too: recovery takes the units that were there from the checkpoint.
                Use::Closed | Use::Draining | Use::Drained | Use::Lost => KnownState::Closed { age: groups.age(group) },
                Use::Free => KnownState::Free,
                Use::Active => KnownState::Open,
            };
            Some(KnownGroup { blocks: groups.blocks(group), erases: groups.erases(group), state })
        });
        let known = known.collect();
        Writing { number: core.buffer_mut().next_version(), before: 0, known, index: 0, next: Next::Groups(0), trims: 0 }
    }

    /// Number of the checkpoint.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// True if the last page was taken.
    pub(super) fn is_complete(&self) -> bool {
        self.next == Next::Nothing
    }

    /// True if the last page waits for trims that are not among the `durable` ones.
    pub(super) fn waits(&self, durable: u64) -> bool {
        self.next == Next::End && self.trims > durable
    }

    /// Take the next page, of `bytes` bytes; `None`: there is none, or trims up to `newest` have arrived and show in it that are not among the `durable` ones.
    pub(super) fn next_page(&mut self, core: &Core, bytes: usize, (newest, durable): (u64, u64)) -> Option<CheckpointPage> {
        let map = core.map();
        let said = loop {
            match self.next {
                Next::Groups(first) => {
                    let end = self.known.len().min(first + groups_per_page(bytes));
                    self.next = if end < self.known.len() { Next::Groups(end) } else { Next::Places(0) };
                    break Said::Groups { first: first as u32, groups: self.known[first..end].to_vec() };
                }
                Next::Places(first) => {
                    // What is skipped may have been trimmed as well.
                    self.trims = newest;
                    let first = map.skip_unmapped(first);
                    if first == map.exported() {
                        self.next = Next::End;
                        continue;
                    }
                    let end = map.exported().min(first + places_per_page(bytes) as u32);
                    self.next = if end < map.exported() { Next::Places(end) } else { Next::End };
                    // Those in groups that are read at recovery, too: it must know which of them it does not find.
                    let places: Vec<UnitAddr> = (first..end).map(|lpn| map.get(lpn)).collect();
                    // A page that says nothing is not written.
                    if places.iter().any(|&place| place != UnitAddr::NONE) {
                        break Said::Places { first, places };
                    }
                }
                Next::End if self.waits(durable) => return None,
                Next::End => {
                    self.next = Next::Nothing;
                    break Said::End;
                }
                Next::Nothing => return None,
            }
        };
        self.index += 1;
        Some(CheckpointPage { number: self.number, index: self.index - 1, said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};

    const PAGE: usize = 16_384;

    /// A core with 60 mapped units, and checkpoints after each program of data.
    fn filled() -> Rooms {
        let mut rooms = build(&crate::Config { checkpoint_every: Some(1), ..small(64) });
        let Rooms { core, sanitise, .. } = &mut rooms;
        construct::fill(core, sanitise, 60);
        rooms
    }

    /// Writes a whole checkpoint; returns its pages, and the group that the last of them is in.
    fn write(checkpoints: &mut Checkpoints, core: &mut Core) -> (Vec<CheckpointPage>, BlockGroup) {
        let mut pages = Vec::new();
        loop {
            checkpoints.count(core);
            let group = checkpoints.next(core, DieId(0), 0).expect("it is due").expect("nothing was trimmed");
            let operation = checkpoints.issue(core, (0, 0));
            pages.extend(CheckpointPage::read(checkpoints.bytes(0, PAGE)));
            core.end(operation.tag);
            checkpoints.programmed(core, true, group);
            if checkpoints.number() == 0 {
                return (pages, group);
            }
        }
    }

    #[test]
    fn a_whole_checkpoint_says_where_every_unit_lies_and_how_many_pages_it_has() {
        let Rooms { mut core, .. } = filled();
        let mut checkpoints = Checkpoints::new(PAGE);
        let (pages, _) = write(&mut checkpoints, &mut core);
        assert_eq!(checkpoints.whole(), pages.first().map(|page| page.number));
        assert!(pages.iter().zip(0..).all(|(page, index)| page.index == index && page.number == pages[0].number));
        assert_eq!(pages.last().map(|page| &page.said), Some(&Said::End));
        let places = pages.iter().find_map(|page| if let Said::Places { first: 0, places } = &page.said { Some(places) } else { None });
        let expected: Vec<UnitAddr> = (0..64).map(|lpn| core.map().get(lpn)).collect();
        assert_eq!(places, Some(&expected));
    }

    #[test]
    fn a_checkpoint_that_a_failed_program_cuts_short_leaves_the_one_before_whole() {
        let Rooms { mut core, .. } = filled();
        let mut checkpoints = Checkpoints::new(PAGE);
        let (_, first) = write(&mut checkpoints, &mut core);
        let whole = checkpoints.whole();
        checkpoints.count(&mut core);
        let group = checkpoints.next(&core, DieId(0), 0).expect("it is due").expect("nothing was trimmed");
        let operation = checkpoints.issue(&mut core, (0, 0));
        core.end(operation.tag);
        checkpoints.programmed(&mut core, false, group);
        assert_eq!((checkpoints.whole(), checkpoints.number()), (whole, 0));
        assert_eq!(core.groups().use_of(first), Use::Metadata, "it holds the whole one");
        let (pages, second) = write(&mut checkpoints, &mut core);
        assert!(checkpoints.whole() > whole && pages.len() > 2);
        assert_ne!(second, group, "nothing more goes into a group in which a program has failed");
        assert_eq!(core.groups().use_of(first), Use::Drained, "the next whole one lets it go");
    }

    #[test]
    fn a_checkpoint_that_may_show_a_trim_ends_only_once_the_trim_is_durable() {
        let Rooms { mut core, .. } = filled();
        let mut checkpoints = Checkpoints::new(PAGE);
        let next = |checkpoints: &Checkpoints, core: &Core, durable| checkpoints.next(core, DieId(0), durable).expect("it is due");
        loop {
            checkpoints.count(&mut core);
            let Ok(group) = next(&checkpoints, &core, 6) else { break };
            let operation = checkpoints.issue(&mut core, (7, 6));
            core.end(operation.tag);
            checkpoints.programmed(&mut core, true, group);
            assert_eq!(checkpoints.whole(), None, "trim 7 is not on flash");
        }
        assert_eq!(next(&checkpoints, &core, 6), Err(TrimsFirst));
        assert!(next(&checkpoints, &core, 7).is_ok());
    }

    #[test]
    fn while_an_abandoned_checkpoint_is_left_only_its_groups_may_be_erased() {
        let mut checkpoints = Checkpoints::new(PAGE);
        assert!(checkpoints.lets_go(BlockGroup(5)));
        checkpoints.abandon(&VecDeque::from([BlockGroup(1), BlockGroup(2)]));
        assert!(checkpoints.lets_go(BlockGroup(1)) && !checkpoints.lets_go(BlockGroup(5)));
        assert!(!checkpoints.forget(BlockGroup(1)) && !checkpoints.lets_go(BlockGroup(1)), "another is left");
        assert!(checkpoints.forget(BlockGroup(2)) && checkpoints.lets_go(BlockGroup(5)));
    }
}
