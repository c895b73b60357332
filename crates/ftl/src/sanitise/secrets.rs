//! Secrets: units whose data must not be readable on the chips once it is stale. The tables hold which units these are, the tasks for them, and the barriers
//! that wait.
//!
//! ```text
//!   unit becomes stale ──► exposed ──► task of its die ──► done: its bit is gone, the barrier opens
//!                                       ▲                          │
//!            a technique says how ──────┘        acknowledgements ─┘ wait at the barrier
//! ```
//!
//! - A unit is *secret* from its program until its page is made unreadable or its block is erased, unless the host has said that its data is not secret.
//! - A secret unit is *exposed* when it becomes stale. In one event the units of a group are judged together: one erase, or one lock of a block, may do
//!   for many.
//! - What waits for the event waits at a *barrier* until all its tasks are done: writes that wait for their program, and trims. A flush waits for the barriers
//!   there are.
//! - A copy that was *left behind* by a move, or in a page whose program failed, holds what is valid elsewhere. It is exposed when that becomes stale.
//!   Every stale copy of a unit is known until it is gone: who makes the unit stale again waits for all of them.
//! - After a power cut a page may hold bits of any unit. Every barrier waits for such pages.
//! - A unit may become stale while a copy of it is being programmed. The barrier waits for that copy, too.
//!
//! Here are the tables; the rules are the room's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use wordline_units::{DieId, Id};

use crate::state::barriers::Barriers;
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::techniques::seam::SanitiseMethod;

/// Pages that a task makes unreadable: some pages of one plane of a group, or of all planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub group: BlockGroup,
    /// Plane of the pages; `None`: all planes.
    pub plane: Option<u32>,
    pub first: u32,
    pub pages: u32,
}

impl Scope {
    /// Offsets of the units in the scope.
    pub(crate) fn offsets(self, layout: &Layout) -> impl Iterator<Item = u32> + use<> {
        self.page_starts(layout).flat_map({
            let units = layout.units_per_page;
            move |start| start..start + units
        })
    }

    /// Offsets of the first units of the pages in the scope.
    pub(crate) fn page_starts(self, layout: &Layout) -> impl Iterator<Item = u32> + use<> {
        let (planes, units) = (layout.planes, layout.units_per_page);
        let of_page = move |page: u32| {
            (0..planes).filter(move |&plane| self.plane.is_none_or(|own| own == plane)).map(move |plane| page * planes + plane)
        };
        (self.first..self.first + self.pages).flat_map(of_page).map(move |page| page * units)
    }

    pub(crate) fn covers(self, layout: &Layout, addr: UnitAddr) -> bool {
        let place = layout.place(layout.offset(addr));
        layout.group(addr) == self.group
            && self.plane.is_none_or(|plane| plane == u32::from(place.plane.0))
            && (self.first..self.first + self.pages).contains(&u32::from(place.page.0))
    }
}

/// A sanitise task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub scope: Scope,
    pub how: SanitiseMethod,
    /// Barriers that wait for the task.
    pub barriers: Vec<u64>,
    /// Offset before which the pages have been read, to be moved.
    pub cursor: u32,
    pub tries: u8,
    /// Version up to which trims must be on flash first. Without the record and without what it trimmed, something older would take its place after a power
    /// cut.
    pub trims: u64,
}

/// A copy that is being programmed, named by the address of its source or by its slot of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flying {
    From(UnitAddr),
    Slot(u32),
}

/// The secrets of one core.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    layout: Layout,
    bits: Vec<u64>,
    words: usize,
    /// Groups that have lost their last valid unit in this event.
    emptied: Vec<BlockGroup>,
    /// Units exposed in this event.
    exposed: Vec<UnitAddr>,
    tasks: BTreeMap<u32, Task>,
    queues: Vec<VecDeque<u32>>,
    /// Number of the newest task.
    asked: u32,
    /// Sanitise tasks queued at recovery for torn pages whose contents are unknown.
    unknown: Vec<u32>,
    /// Stale copies that can still be read, by unit and by address.
    left_of: BTreeSet<(u32, UnitAddr)>,
    left_at: BTreeMap<UnitAddr, u32>,
    /// Barriers that wait for a copy to land.
    flying: BTreeMap<Flying, Vec<u64>>,
    /// Slots whose unit was trimmed while it was being programmed.
    doomed: BTreeSet<(u32, u32)>,
    /// Source of the copyback that each die is doing: group, first offset.
    copying: Vec<Option<(BlockGroup, u32)>>,
}

impl Secrets {
    pub(crate) fn new(layout: Layout) -> Secrets {
        let words = (layout.units_per_group as usize).div_ceil(64);
        Secrets {
            layout,
            bits: vec![0; layout.group_count() * words],
            words,
            emptied: Vec::new(),
            exposed: Vec::new(),
            tasks: BTreeMap::new(),
            asked: 0,
            unknown: Vec::new(),
            queues: vec![VecDeque::new(); layout.dies as usize],
            left_of: BTreeSet::new(),
            left_at: BTreeMap::new(),
            flying: BTreeMap::new(),
            doomed: BTreeSet::new(),
            copying: vec![None; layout.dies as usize],
        }
    }

    fn bit(&self, addr: UnitAddr) -> (usize, u64) {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        (group.index() * self.words + offset as usize / 64, 1 << (offset % 64))
    }

    pub(crate) fn is_secret(&self, addr: UnitAddr) -> bool {
        let (word, bit) = self.bit(addr);
        self.bits[word] & bit != 0
    }

    /// Mark the unit at `addr`, which has been programmed, as secret.
    pub(crate) fn keep(&mut self, addr: UnitAddr) {
        let (word, bit) = self.bit(addr);
        self.bits[word] |= bit;
    }

    /// The secret units of `group`.
    pub(crate) fn of_group(&self, group: BlockGroup) -> impl Iterator<Item = UnitAddr> + '_ {
        let words = &self.bits[group.index() * self.words..][..self.words];
        let is_set = |&offset: &u32| words[offset as usize / 64] >> (offset % 64) & 1 == 1;
        (0..self.layout.units_per_group).filter(is_set).map(move |offset| self.layout.unit(group, offset))
    }

    /// Note that the pages in `scope` cannot be read any more.
    pub(crate) fn gone(&mut self, scope: Scope) {
        let layout = self.layout;
        for offset in scope.offsets(&layout) {
            self.gone_one(layout.unit(scope.group, offset));
        }
    }

    /// Note that the unit at `addr` cannot be read any more.
    pub(crate) fn gone_one(&mut self, addr: UnitAddr) {
        let (word, bit) = self.bit(addr);
        self.bits[word] &= !bit;
        if let Some(lpn) = self.left_at.remove(&addr) {
            self.left_of.remove(&(lpn, addr));
        }
    }

    /// Scope of all pages of `group`.
    pub(crate) fn whole(&self, group: BlockGroup) -> Scope {
        Scope { group, plane: None, first: 0, pages: self.layout.programs * self.layout.pages_per_program }
    }

    /// Note that `addr` holds a copy of `lpn` that is not the newest.
    pub(crate) fn leave_behind(&mut self, lpn: u32, addr: UnitAddr) {
        self.left_of.insert((lpn, addr));
        self.left_at.insert(addr, lpn);
    }

    /// Expose all copies that the units of `range` left behind, because none of them holds valid data any more.
    pub(crate) fn expose_left(&mut self, range: Range<u32>) {
        if self.left_of.is_empty() {
            return;
        }
        let left: Vec<_> = self.left_of.range((range.start, UnitAddr(0))..(range.end, UnitAddr(0))).copied().collect();
        // They stay here until they are gone: whoever comes after waits for them, too.
        self.exposed.extend(left.into_iter().map(|(_, addr)| addr));
    }

    /// Make `barrier` wait until the copy lands.
    pub(crate) fn await_landing(&mut self, barriers: &mut Barriers, copy: Flying, barrier: u64) {
        barriers.hold(barrier);
        self.flying.entry(copy).or_default().push(barrier);
    }

    /// True if a barrier waits until the copy lands. Its source was then exposed, and so it was secret.
    pub(crate) fn is_flying(&self, copy: Flying) -> bool {
        self.flying.contains_key(&copy)
    }

    /// Note that `slot` holds a version of `lpn` that is being programmed and was trimmed.
    pub(crate) fn doom(&mut self, lpn: u32, slot: u32) {
        self.doomed.insert((lpn, slot));
    }

    /// Copies of the units of `range` that are being programmed and were trimmed.
    pub(crate) fn doomed(&self, range: Range<u32>) -> impl Iterator<Item = Flying> + '_ {
        self.doomed.range((range.start, 0)..(range.end, 0)).map(|&(_, slot)| Flying::Slot(slot))
    }

    /// End the way of the copy of `lpn`, which has landed or failed. Returns the barriers that wait for it, each held once.
    pub(crate) fn landed(&mut self, lpn: u32, copy: Flying) -> Vec<u64> {
        if let Flying::Slot(slot) = copy {
            self.doomed.remove(&(lpn, slot));
        }
        if self.flying.is_empty() { Vec::new() } else { self.flying.remove(&copy).unwrap_or_default() }
    }

    /// Request that `how` is done to `scope`, if it is not requested already; `barrier` waits for it.
    pub(crate) fn attach(&mut self, barriers: &mut Barriers, scope: Scope, how: SanitiseMethod, barrier: u64, trims: u64) {
        let known = self.queues[self.layout.die(scope.group).index()]
            .iter()
            .copied()
            .find(|&id| self.tasks[&id].scope == scope && self.tasks[&id].how >= how);
        if let Some(known) = known {
            return self.join(barriers, known, barrier, trims);
        }
        barriers.hold(barrier);
        self.asked += 1;
        self.tasks.insert(self.asked, Task { scope, how, barriers: vec![barrier], cursor: 0, tries: 0, trims });
        self.queues[self.layout.die(scope.group).index()].push_back(self.asked);
    }

    /// Task that makes `addr` unreadable, if there is one.
    pub(crate) fn task_for(&self, addr: UnitAddr) -> Option<u32> {
        let die = self.layout.die(self.layout.group(addr));
        self.tasks_of(die).find(|id| self.tasks[id].scope.covers(&self.layout, addr))
    }

    /// Make `barrier` wait for `task`, too.
    pub(crate) fn join(&mut self, barriers: &mut Barriers, task: u32, barrier: u64, trims: u64) {
        barriers.hold(barrier);
        let task = self.task_mut(task);
        task.barriers.push(barrier);
        task.trims = task.trims.max(trims);
    }

    /// Make the task on `addr` wait for the trims up to `trims`. The unit there is no secret itself and has become stale, perhaps by one of them. What is
    /// made unreadable together with it waits in every plane: a wordline that is still being written is scrubbed in all.
    pub(crate) fn await_trims(&mut self, addr: UnitAddr, trims: u64) {
        let group = self.layout.group(addr);
        let Secrets { layout, queues, tasks, .. } = self;
        for id in &queues[layout.die(group).index()] {
            let task = tasks.get_mut(id).expect("it is queued");
            if (Scope { plane: None, ..task.scope }).covers(layout, addr) {
                task.trims = task.trims.max(trims);
            }
        }
    }

    /// Mark the present tasks as being, in part, about pages that may hold a copy of any unit.
    pub(crate) fn note_unknown(&mut self) {
        self.unknown = self.tasks.keys().copied().collect();
    }

    /// True if there are tasks about pages of unknown content.
    pub(crate) fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// Make `barrier` wait for the tasks about pages of unknown content.
    pub(crate) fn await_unknown(&mut self, barriers: &mut Barriers, barrier: u64) {
        for id in self.unknown.clone() {
            self.join(barriers, id, barrier, 0);
        }
    }

    /// Tasks of `die`, oldest first.
    pub(crate) fn tasks_of(&self, die: DieId) -> impl Iterator<Item = u32> + '_ {
        self.queues[die.index()].iter().copied()
    }

    /// Tasks in `group`, oldest first.
    pub(crate) fn tasks_in(&self, group: BlockGroup) -> impl Iterator<Item = u32> + '_ {
        self.tasks_of(self.layout.die(group)).filter(move |&id| self.task(id).scope.group == group)
    }

    /// Version up to which trims must be on flash before the pages of `scope` are made unreadable in all planes: the highest of all tasks there, because each
    /// knows of the units in its own plane.
    pub(crate) fn trims_of(&self, scope: Scope) -> u64 {
        let is_part = |task: &&Task| task.scope.first < scope.first + scope.pages && scope.first < task.scope.first + task.scope.pages;
        self.tasks_in(scope.group).map(|id| self.task(id)).filter(is_part).map(|task| task.trims).max().unwrap_or(0)
    }

    /// True if a wordline of `group` on `die` is to be scrubbed again, because the die failed to scrub it. What was not programmed of it yet counts as
    /// programmed, and nothing may be programmed above it before the scrub.
    pub(crate) fn tries_again(&self, die: DieId, group: BlockGroup) -> bool {
        let mut tasks = self.tasks_of(die).map(|id| self.task(id));
        tasks.any(|task| task.how == SanitiseMethod::Scrub && task.tries > 0 && task.scope.group == group)
    }

    pub(crate) fn task(&self, id: u32) -> &Task {
        &self.tasks[&id]
    }

    pub(crate) fn task_mut(&mut self, id: u32) -> &mut Task {
        self.tasks.get_mut(&id).expect("it is queued")
    }

    /// End the task `id`. Returns the barriers that waited.
    pub(crate) fn end(&mut self, id: u32) -> Vec<u64> {
        let task = self.tasks.remove(&id).expect("it is queued");
        self.unknown.retain(|&other| other != id);
        self.queues[self.layout.die(task.scope.group).index()].retain(|&other| other != id);
        task.barriers
    }

    /// True if `die` has tasks.
    pub(crate) fn has_tasks(&self, die: DieId) -> bool {
        !self.queues[die.index()].is_empty()
    }

    /// End all tasks of `die`, which has failed, and the waits for what it copies. Returns the barriers that waited, each once for each time it was held.
    pub(crate) fn leave(&mut self, die: DieId) -> Vec<u64> {
        let layout = self.layout;
        let is_there = |group: BlockGroup| layout.die(group) == die;
        let tasks: Vec<u32> = self.tasks_of(die).collect();
        let mut barriers: Vec<u64> = tasks.into_iter().flat_map(|id| self.end(id)).collect();
        let is_from = |copy: &Flying| matches!(copy, Flying::From(from) if is_there(layout.group(*from)));
        let copies: Vec<Flying> = self.flying.keys().copied().filter(is_from).collect();
        barriers.extend(copies.iter().filter_map(|copy| self.flying.remove(copy)).flatten());
        self.copying[die.index()] = None;
        self.emptied.retain(|&group| !is_there(group));
        self.exposed.retain(|&addr| !is_there(layout.group(addr)));
        barriers
    }

    /// True if no task is left.
    pub(crate) fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Note that `group` has lost its last valid unit in this event.
    pub(crate) fn note_emptied(&mut self, group: BlockGroup) {
        self.emptied.push(group);
    }

    /// Take the groups that have lost their last valid unit in this event.
    pub(crate) fn take_emptied(&mut self) -> Vec<BlockGroup> {
        std::mem::take(&mut self.emptied)
    }

    /// Add the unit at `addr` to the exposed ones.
    #[inline]
    pub(crate) fn expose(&mut self, addr: UnitAddr) {
        self.exposed.push(addr);
    }

    /// Remove the unit at `addr` from the exposed ones, because something else deals with it.
    pub(crate) fn cover(&mut self, addr: UnitAddr) {
        self.exposed.retain(|&exposed| exposed != addr);
    }

    /// True if a unit is exposed.
    pub(crate) fn has_exposed(&self) -> bool {
        !self.exposed.is_empty()
    }

    /// Take the exposed units, in the order of addresses, each once.
    pub(crate) fn take_exposed(&mut self) -> Vec<UnitAddr> {
        let mut exposed = std::mem::take(&mut self.exposed);
        exposed.sort_unstable();
        exposed.dedup();
        exposed
    }

    /// Set the program unit that `die` copies back, by group and first offset; `None`: none any more.
    pub(crate) fn note_copying(&mut self, die: DieId, from: Option<(BlockGroup, u32)>) {
        self.copying[die.index()] = from;
    }

    /// Source of the copyback that `die` is doing.
    pub(crate) fn copying(&self, die: DieId) -> Option<(BlockGroup, u32)> {
        self.copying[die.index()]
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::PartId;

    use super::*;
    use crate::config::tests::small;

    fn secrets() -> (Secrets, Layout, Barriers) {
        let layout = small(64).layout();
        (Secrets::new(layout), layout, Barriers::default())
    }

    #[test]
    fn what_is_kept_is_secret_until_it_is_gone() {
        let (mut secrets, layout, _) = secrets();
        let (one, other) = (layout.unit(BlockGroup(2), 5), layout.unit(BlockGroup(2), 9));
        secrets.keep(one);
        secrets.keep(other);
        secrets.gone(Scope { group: BlockGroup(2), plane: None, first: 1, pages: 1 });
        assert!(!secrets.is_secret(one) && secrets.is_secret(other), "page 1 holds units 4 to 7");
        assert!(secrets.of_group(BlockGroup(2)).eq([other]));
    }

    #[test]
    fn a_copy_left_behind_is_exposed_with_its_unit_and_forgotten_with_its_page() {
        let (mut secrets, layout, _) = secrets();
        let old = layout.unit(BlockGroup(1), 0);
        secrets.keep(old);
        secrets.leave_behind(7, old);
        secrets.expose_left(6..7);
        assert!(!secrets.has_exposed());
        secrets.expose_left(7..8);
        assert_eq!(secrets.take_exposed(), [old]);
        secrets.gone_one(old);
        secrets.expose_left(7..8);
        assert!(!secrets.has_exposed());
    }

    #[test]
    fn of_one_scope_there_is_one_task_for_all_who_wait_and_it_ends_once() {
        let (mut secrets, layout, mut barriers) = secrets();
        let scope = Scope { group: BlockGroup(3), plane: Some(0), first: 2, pages: 1 };
        let (a, b) = (barriers.make(vec![PartId(1)]), barriers.make(vec![PartId(2)]));
        secrets.attach(&mut barriers, scope, SanitiseMethod::LockPages, a, 4);
        secrets.attach(&mut barriers, scope, SanitiseMethod::LockPages, b, 9);
        let tasks: Vec<u32> = secrets.tasks_in(BlockGroup(3)).collect();
        assert_eq!(tasks.len(), 1);
        assert_eq!(secrets.task_for(layout.unit(BlockGroup(3), 8)), Some(tasks[0]), "page 2 begins with unit 8");
        assert_eq!((secrets.task_for(layout.unit(BlockGroup(3), 12)), secrets.task(tasks[0]).trims), (None, 9));
        assert_eq!(secrets.end(tasks[0]), [a, b]);
        assert!(secrets.is_idle());
        // Whoever made a barrier holds it, too.
        assert!(barriers.pass(a).is_empty());
        assert_eq!(barriers.pass(a), [PartId(1)]);
    }

    #[test]
    fn what_takes_all_planes_along_waits_for_the_trims_of_each() {
        let (mut secrets, _, mut barriers) = secrets();
        let scope = |plane: Option<u32>| Scope { group: BlockGroup(3), plane, first: 0, pages: 3 };
        let barrier = barriers.make(vec![PartId(1)]);
        for (plane, trims) in [(0, 9), (1, 4)] {
            secrets.attach(&mut barriers, scope(Some(plane)), SanitiseMethod::Scrub, barrier, trims);
        }
        let apart = Scope { first: 3, ..scope(Some(0)) };
        secrets.attach(&mut barriers, apart, SanitiseMethod::Scrub, barrier, 20);
        assert_eq!([scope(None), Scope { plane: None, ..apart }].map(|scope| secrets.trims_of(scope)), [9, 20]);
    }
}
