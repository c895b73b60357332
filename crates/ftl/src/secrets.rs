//! Secrets: units whose data must not be readable on the chips once it is stale. Which there are, what is to be done about them, and who waits for it.
//!
//! ```text
//!   unit becomes stale ──► exposed ──► duty of its die ──► done: its bit is gone, the gate opens
//!                                       ▲                          │
//!            a technique says how ──────┘        acknowledgements ─┘ wait at the gate
//! ```
//!
//! - A unit is *secret* from its program until its page is made unreadable or its block is erased, unless the host has said that its data is not secret.
//! - A secret unit is *exposed* when it becomes stale. In one event the units of a group are judged together: one erase, or one lock of a block, may do
//!   for many.
//! - What waits for the event waits at a *gate* until all its duties are done: writes that wait for their program, and trims. A flush waits for the gates
//!   there are.
//! - A copy that was *left behind* by a move, or in a page whose program failed, holds what is valid elsewhere. It is exposed when that becomes stale.
//!   Every stale copy of a unit is known until it is gone: who makes the unit stale again waits for all of them.
//! - After a power cut a page may hold bits of any unit. Every gate waits for such pages.
//! - A unit may become stale while a copy of it is being programmed. The gate waits for that copy, too.
//!
//! Here are the tables; `sanitise.rs` has the rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use wordline_units::{DieId, Id};

use crate::layout::{Group, Layout, UnitAddr};
use crate::techniques::seam::Remedy;

/// What a duty makes unreadable: some pages of one plane of a group, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) group: Group,
    /// `None`: all planes.
    pub(crate) plane: Option<u32>,
    pub(crate) first: u32,
    pub(crate) pages: u32,
}

impl Scope {
    /// The offsets of its units.
    pub(crate) fn offsets(self, layout: &Layout) -> impl Iterator<Item = u32> + use<> {
        self.page_starts(layout).flat_map({
            let units = layout.units_per_page;
            move |start| start..start + units
        })
    }

    /// The offsets of the first units of its pages.
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

/// Something to be made unreadable.
#[derive(Clone, Debug)]
pub(crate) struct Duty {
    pub(crate) scope: Scope,
    pub(crate) how: Remedy,
    /// Who waits.
    pub(crate) gates: Vec<u64>,
    /// The pages before this offset have been read, to be moved.
    pub(crate) cursor: u32,
    pub(crate) tries: u8,
    /// Trims up to this version must be on flash first: without the record and without what it trimmed, something older would take its place after a power cut.
    pub(crate) trims: u64,
}

/// What is open until some duties are done.
#[derive(Clone, Debug)]
struct Gate {
    left: u32,
    parts: Vec<u32>,
}

/// A copy that is being programmed: by where its source lies, or by its slot of the write buffer.
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
    pub(crate) emptied: Vec<Group>,
    /// Exposed in this event.
    pub(crate) exposed: Vec<UnitAddr>,
    duties: BTreeMap<u32, Duty>,
    queues: Vec<VecDeque<u32>>,
    /// The number of the newest duty.
    asked: u32,
    /// Duties since the power came back, if some are about what nobody can say what it is.
    unknown: Vec<u32>,
    /// Those that are shut, oldest first.
    gates: BTreeMap<u64, Gate>,
    /// The number of the newest gate.
    begun: u64,
    /// Stale copies that are not gone, by unit and by place.
    left_of: BTreeSet<(u32, UnitAddr)>,
    left_at: BTreeMap<UnitAddr, u32>,
    /// Gates that wait for a copy to land.
    flying: BTreeMap<Flying, Vec<u64>>,
    /// Slots whose unit was trimmed while it was being programmed.
    doomed: BTreeSet<(u32, u32)>,
    /// Reads of pages that are queued or not reported yet, by the first unit of the page.
    pub(crate) readers: BTreeMap<UnitAddr, u32>,
    /// The source of the copyback that each die is doing: group, first offset.
    pub(crate) copying: Vec<Option<(Group, u32)>>,
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
            duties: BTreeMap::new(),
            asked: 0,
            unknown: Vec::new(),
            queues: vec![VecDeque::new(); layout.dies as usize],
            gates: BTreeMap::new(),
            begun: 0,
            left_of: BTreeSet::new(),
            left_at: BTreeMap::new(),
            flying: BTreeMap::new(),
            doomed: BTreeSet::new(),
            readers: BTreeMap::new(),
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

    /// `addr` has been programmed with something secret.
    pub(crate) fn keep(&mut self, addr: UnitAddr) {
        let (word, bit) = self.bit(addr);
        self.bits[word] |= bit;
    }

    /// The secret units of `group`.
    pub(crate) fn of_group(&self, group: Group) -> impl Iterator<Item = UnitAddr> + '_ {
        let words = &self.bits[group.index() * self.words..][..self.words];
        let is_set = |&offset: &u32| words[offset as usize / 64] >> (offset % 64) & 1 == 1;
        (0..self.layout.units_per_group).filter(is_set).map(move |offset| self.layout.unit(group, offset))
    }

    /// What stands in `scope` cannot be read any more.
    pub(crate) fn gone(&mut self, scope: Scope) {
        let layout = self.layout;
        for offset in scope.offsets(&layout) {
            self.gone_one(layout.unit(scope.group, offset));
        }
    }

    /// What stands at `addr` cannot be read any more.
    pub(crate) fn gone_one(&mut self, addr: UnitAddr) {
        let (word, bit) = self.bit(addr);
        self.bits[word] &= !bit;
        if let Some(lpn) = self.left_at.remove(&addr) {
            self.left_of.remove(&(lpn, addr));
        }
    }

    /// All of `group`.
    pub(crate) fn whole(&self, group: Group) -> Scope {
        Scope { group, plane: None, first: 0, pages: self.layout.programs * self.layout.pages_per_program }
    }

    /// `addr` holds a copy of `lpn` that is not the newest.
    pub(crate) fn leave_behind(&mut self, lpn: u32, addr: UnitAddr) {
        self.left_of.insert((lpn, addr));
        self.left_at.insert(addr, lpn);
    }

    /// No copy that the units of `range` have left behind holds what is valid elsewhere any more.
    pub(crate) fn expose_left(&mut self, range: Range<u32>) {
        if self.left_of.is_empty() {
            return;
        }
        let left: Vec<_> = self.left_of.range((range.start, UnitAddr(0))..(range.end, UnitAddr(0))).copied().collect();
        // They stay here until they are gone: whoever comes after waits for them, too.
        self.exposed.extend(left.into_iter().map(|(_, addr)| addr));
    }

    /// A gate at which `parts` wait. Whoever makes it holds it, and lets it go with [`Secrets::pass`].
    pub(crate) fn gate(&mut self, parts: Vec<u32>) -> u64 {
        self.begun += 1;
        self.gates.insert(self.begun, Gate { left: 1, parts });
        self.begun
    }

    /// One thing more to wait for.
    pub(crate) fn hold(&mut self, gate: u64) {
        self.gates.get_mut(&gate).expect("a shut gate").left += 1;
    }

    /// One of the things that `gate` waits for is over. Returns who may go on.
    #[must_use]
    pub(crate) fn pass(&mut self, gate: u64) -> Vec<u32> {
        let state = self.gates.get_mut(&gate).expect("a shut gate");
        state.left -= 1;
        if state.left > 0 { Vec::new() } else { self.gates.remove(&gate).map_or(Vec::new(), |gate| gate.parts) }
    }

    /// Whether a gate is still shut that was there when `number` was the newest.
    pub(crate) fn is_shut(&self, number: u64) -> bool {
        self.gates.first_key_value().is_some_and(|(&first, _)| first <= number)
    }

    /// The number of the newest gate.
    pub(crate) fn newest_gate(&self) -> u64 {
        self.begun
    }

    /// All who wait, for a core that gives up.
    pub(crate) fn give_up(&mut self) -> Vec<u32> {
        self.gates.values_mut().flat_map(|gate| std::mem::take(&mut gate.parts)).collect()
    }

    /// `gate` waits until the copy lands.
    pub(crate) fn await_landing(&mut self, copy: Flying, gate: u64) {
        self.hold(gate);
        self.flying.entry(copy).or_default().push(gate);
    }

    /// Whether a gate waits until the copy lands: then its source was exposed, and so it was secret.
    pub(crate) fn is_flying(&self, copy: Flying) -> bool {
        self.flying.contains_key(&copy)
    }

    /// `slot` holds a version of `lpn` that is being programmed, and not wanted any more.
    pub(crate) fn doom(&mut self, lpn: u32, slot: u32) {
        self.doomed.insert((lpn, slot));
    }

    /// The copies of the units of `range` that are being programmed and not wanted.
    pub(crate) fn doomed(&self, range: Range<u32>) -> impl Iterator<Item = Flying> + '_ {
        self.doomed.range((range.start, 0)..(range.end, 0)).map(|&(_, slot)| Flying::Slot(slot))
    }

    /// The copy of `lpn` has landed, or come to nothing: the gates that wait, each held once.
    pub(crate) fn landed(&mut self, lpn: u32, copy: Flying) -> Vec<u64> {
        if let Flying::Slot(slot) = copy {
            self.doomed.remove(&(lpn, slot));
        }
        if self.flying.is_empty() { Vec::new() } else { self.flying.remove(&copy).unwrap_or_default() }
    }

    /// Do `how` to `scope`, if that is not to be done already; `gate` waits for it.
    pub(crate) fn attach(&mut self, scope: Scope, how: Remedy, gate: u64, trims: u64) {
        let known = self.queues[self.layout.die(scope.group).index()]
            .iter()
            .copied()
            .find(|&id| self.duties[&id].scope == scope && self.duties[&id].how >= how);
        if let Some(known) = known {
            return self.join(known, gate, trims);
        }
        self.hold(gate);
        self.asked += 1;
        self.duties.insert(self.asked, Duty { scope, how, gates: vec![gate], cursor: 0, tries: 0, trims });
        self.queues[self.layout.die(scope.group).index()].push_back(self.asked);
    }

    /// The duty that makes `addr` unreadable, if there is one.
    pub(crate) fn duty_for(&self, addr: UnitAddr) -> Option<u32> {
        let die = self.layout.die(self.layout.group(addr));
        self.duties_of(die).find(|id| self.duties[id].scope.covers(&self.layout, addr))
    }

    /// `gate` waits for `duty`, too.
    pub(crate) fn join(&mut self, duty: u32, gate: u64, trims: u64) {
        self.hold(gate);
        let duty = self.duty_mut(duty);
        duty.gates.push(gate);
        duty.trims = duty.trims.max(trims);
    }

    /// The unit at `addr`, no secret itself, has become stale, by one of the trims up to `trims` perhaps. What is to be made unreadable together with it waits
    /// for them, in whatever plane: a wordline that is still being written goes in all.
    pub(crate) fn await_trims(&mut self, addr: UnitAddr, trims: u64) {
        let group = self.layout.group(addr);
        let Secrets { layout, queues, duties, .. } = self;
        for id in &queues[layout.die(group).index()] {
            let duty = duties.get_mut(id).expect("it is queued");
            if (Scope { plane: None, ..duty.scope }).covers(layout, addr) {
                duty.trims = duty.trims.max(trims);
            }
        }
    }

    /// What there is to do now is, in part, about what may be a copy of any unit.
    pub(crate) fn note_unknown(&mut self) {
        self.unknown = self.duties.keys().copied().collect();
    }

    /// Whether there are such.
    pub(crate) fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// `gate` waits for them, too.
    pub(crate) fn await_unknown(&mut self, gate: u64) {
        for id in self.unknown.clone() {
            self.join(id, gate, 0);
        }
    }

    /// The duties of `die`, oldest first.
    pub(crate) fn duties_of(&self, die: DieId) -> impl Iterator<Item = u32> + '_ {
        self.queues[die.index()].iter().copied()
    }

    /// Whether a wordline of `group` on `die` is to be scrubbed that the die has refused to scrub. What was not programmed yet of it passes for programmed, and
    /// nothing may be programmed above it before it is.
    pub(crate) fn tries_again(&self, die: DieId, group: Group) -> bool {
        let mut duties = self.duties_of(die).map(|id| self.duty(id));
        duties.any(|duty| duty.how == Remedy::Scrub && duty.tries > 0 && duty.scope.group == group)
    }

    pub(crate) fn duty(&self, id: u32) -> &Duty {
        &self.duties[&id]
    }

    pub(crate) fn duty_mut(&mut self, id: u32) -> &mut Duty {
        self.duties.get_mut(&id).expect("it is queued")
    }

    /// `id` is done. Returns the gates that waited.
    pub(crate) fn end(&mut self, id: u32) -> Vec<u64> {
        let duty = self.duties.remove(&id).expect("it is queued");
        self.unknown.retain(|&other| other != id);
        self.queues[self.layout.die(duty.scope.group).index()].retain(|&other| other != id);
        duty.gates
    }

    /// Whether `die` has any.
    pub(crate) fn has_duties(&self, die: DieId) -> bool {
        !self.queues[die.index()].is_empty()
    }

    /// Whether a request waits at a gate.
    pub(crate) fn is_awaited(&self) -> bool {
        self.gates.values().any(|gate| !gate.parts.is_empty())
    }

    /// Whether nothing is to be done and nobody waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.gates.is_empty() && self.duties.is_empty()
    }
}
