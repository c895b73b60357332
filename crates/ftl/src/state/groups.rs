//! The block groups: what each is used for, how much of it is valid, how worn it is.
//!
//! Parallel arrays over all groups of a core. The valid counts double as the victim policies' candidates: a group that cannot be taken carries the flag
//! [`Candidates::OUT`] on top of its count.

use serde::{Deserialize, Serialize};
use wordline_units::DieId;

use crate::state::layout::{Group, Layout, UnitAddr};
use crate::victim::Candidates;

/// What a group is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Use {
    /// Erased and waiting.
    Free,
    /// Being written.
    Active,
    /// Full; can be taken as a victim.
    Closed,
    /// Its valid data is being moved away.
    Draining,
    /// All its valid data has been read; what is not yet programmed elsewhere still counts as valid here.
    Drained,
    /// Out of service.
    Bad,
    /// Holds the journal or a checkpoint, or waits to.
    Journal,
}

/// The block groups, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupTable {
    pub uses: Vec<Use>,
    pub valid: Vec<u32>,
    pub closed: Vec<u32>,
    pub erases: Vec<u32>,
    pub stale: Vec<Option<Box<[u64]>>>,
    pub condemned: Vec<bool>,
    pub blocks: Vec<[u16; 4]>,
    pub closings: u32,
}

/// All groups of a core.
#[derive(Clone, Debug)]
pub struct Groups {
    layout: Layout,
    uses: Vec<Use>,
    valid: Vec<u32>,
    closed: Vec<u32>,
    erases: Vec<u32>,
    /// Reads of each group that are queued or under way: it must not be erased before they end.
    pins: Vec<u32>,
    /// One bit per unit that is not valid though programmed. One flat table: the zeroed pages of what was never written cost nothing until they are touched.
    stale: Vec<u64>,
    /// Words of `stale` for each group.
    words: usize,
    /// A program in it has failed: it goes out of service once it is empty.
    condemned: Vec<bool>,
    blocks: Vec<[u16; 4]>,
    closings: u32,
}

impl Groups {
    /// All groups free, standing on the physical `blocks`.
    pub fn new(layout: Layout, blocks: Vec<[u16; 4]>) -> Groups {
        let count = layout.group_count();
        assert_eq!(blocks.len(), count);
        let words = (layout.units_per_group as usize).div_ceil(64);
        Groups {
            layout,
            uses: vec![Use::Free; count],
            valid: vec![Candidates::OUT; count],
            closed: vec![0; count],
            erases: vec![0; count],
            pins: vec![0; count],
            stale: vec![0; count * words],
            words,
            condemned: vec![false; count],
            blocks,
            closings: 0,
        }
    }

    /// What `group` is used for.
    #[inline]
    pub fn use_of(&self, group: Group) -> Use {
        self.uses[group.index()]
    }

    /// Valid units in `group`.
    #[inline]
    pub fn valid(&self, group: Group) -> u32 {
        self.valid[group.index()] & !Candidates::OUT
    }

    /// How often `group` was erased.
    #[inline]
    pub fn erases(&self, group: Group) -> u32 {
        self.erases[group.index()]
    }

    /// The physical block of `group` in each plane.
    #[inline]
    pub fn blocks(&self, group: Group) -> [u16; 4] {
        self.blocks[group.index()]
    }

    /// The closed groups of `die`, for a victim policy.
    pub fn candidates(&self, die: DieId) -> Candidates<'_> {
        let range = self.layout.groups_of(die);
        Candidates {
            valid: &self.valid[range.clone()],
            closed: &self.closed[range.clone()],
            erases: &self.erases[range],
            now: self.closings,
            capacity: self.layout.data_units,
        }
    }

    /// The least-worn closed group of `die` and its erases.
    pub fn least_worn_closed(&self, die: DieId) -> Option<(Group, u32)> {
        self.layout
            .groups_of(die)
            .filter(|&index| self.uses[index] == Use::Closed)
            .map(|index| (Group(index as u32), self.erases[index]))
            .min_by_key(|&(_, erases)| erases)
    }

    /// `group` begins to be written.
    pub fn open(&mut self, group: Group) {
        let index = group.index();
        assert_eq!(self.uses[index], Use::Free, "{group:?} opened");
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} opened with valid data");
        self.uses[index] = Use::Active;
    }

    /// `group` has been written to its end and can be taken as a victim.
    pub fn close(&mut self, group: Group) {
        let index = group.index();
        assert_eq!(self.uses[index], Use::Active, "{group:?} closed");
        self.uses[index] = Use::Closed;
        self.valid[index] &= !Candidates::OUT;
        self.closed[index] = self.closings;
        self.closings = self.closings.wrapping_add(1);
    }

    /// Moving the data of `group` away begins.
    pub fn drain(&mut self, group: Group) {
        let index = group.index();
        assert!(matches!(self.uses[index], Use::Closed | Use::Active), "{group:?} drained while {:?}", self.uses[index]);
        self.uses[index] = Use::Draining;
        self.valid[index] |= Candidates::OUT;
    }

    /// All valid data of `group` has been read; returns whether none is left to be programmed.
    pub fn drained(&mut self, group: Group) -> bool {
        assert_eq!(self.uses[group.index()], Use::Draining);
        self.uses[group.index()] = Use::Drained;
        self.valid(group) == 0
    }

    /// `group` was erased and is free.
    pub fn erased(&mut self, group: Group) {
        let index = group.index();
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} erased with {} valid units", self.valid(group));
        assert_eq!(self.pins[index], 0, "{group:?} erased while it is read");
        self.uses[index] = Use::Free;
        self.erases[index] += 1;
        self.stale[index * self.words..][..self.words].fill(0);
    }

    /// A program in `group` has failed.
    pub fn condemn(&mut self, group: Group) {
        self.condemned[group.index()] = true;
    }

    /// Whether a program in `group` has failed.
    pub fn is_condemned(&self, group: Group) -> bool {
        self.condemned[group.index()]
    }

    /// `group` goes out of service, or stands on other `blocks` from now on.
    pub fn retire(&mut self, group: Group, replacement: Option<[u16; 4]>) {
        let index = group.index();
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} retired with valid data");
        self.condemned[index] = false;
        self.uses[index] = if replacement.is_some() { Use::Free } else { Use::Bad };
        if let Some(blocks) = replacement {
            self.blocks[index] = blocks;
            self.erases[index] = 0;
        }
        self.stale[index * self.words..][..self.words].fill(0);
    }

    /// Nothing is programmed in `group` at these offsets before it is erased.
    pub(crate) fn give_up(&mut self, group: Group, offsets: std::ops::Range<u32>) {
        for at in offsets {
            self.stale[group.index() * self.words + at as usize / 64] |= 1 << (at % 64);
        }
    }

    /// The unit at `offset` of `group` was programmed and is valid.
    #[inline]
    pub fn add_valid(&mut self, group: Group, count: u32) {
        self.valid[group.index()] += count;
    }

    /// The unit at `addr` was programmed but is not valid (padding, or overtaken).
    #[inline]
    pub fn add_stale(&mut self, addr: UnitAddr) {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        self.mark(group, offset);
    }

    /// The unit at `addr` is no longer valid; returns whether its group was drained and this was its last.
    #[inline]
    #[must_use]
    pub fn invalidate(&mut self, addr: UnitAddr) -> bool {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        self.mark(group, offset);
        let valid = &mut self.valid[group.index()];
        debug_assert_ne!(*valid & !Candidates::OUT, 0, "{addr:?} invalidated in an empty group");
        *valid -= 1;
        *valid == Candidates::OUT && self.uses[group.index()] == Use::Drained
    }

    /// Whether the unit at `offset` of `group`, which must be programmed, is valid.
    #[inline]
    pub fn is_valid(&self, group: Group, offset: u32) -> bool {
        self.stale[group.index() * self.words + offset as usize / 64] >> (offset % 64) & 1 == 0
    }

    /// The first valid unit of `group` at or after `offset` and before `end`.
    #[inline]
    pub fn next_valid(&self, group: Group, offset: u32, end: u32) -> Option<u32> {
        let bits = &self.stale[group.index() * self.words..][..self.words];
        let mut at = offset;
        while at < end {
            let word = !bits[at as usize / 64] >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros();
                return (found < end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// A read of `group` is queued.
    #[inline]
    pub fn pin(&mut self, group: Group) {
        self.pins[group.index()] += 1;
    }

    /// A read of `group` has ended.
    #[inline]
    pub fn unpin(&mut self, group: Group) {
        self.pins[group.index()] -= 1;
    }

    /// Whether reads of `group` are queued or under way.
    #[inline]
    pub fn is_pinned(&self, group: Group) -> bool {
        self.pins[group.index()] > 0
    }

    /// Set the wear of `group`, for drives that are constructed aged.
    pub fn set_erases(&mut self, group: Group, erases: u32) {
        self.erases[group.index()] = erases;
    }

    /// Declare the units of `group` that `is_valid` names valid and the rest stale, without writing them.
    pub fn construct(&mut self, group: Group, units: u32, is_valid: impl Fn(u32) -> bool) {
        let mut valid = 0;
        for offset in 0..units {
            if is_valid(offset) {
                valid += 1;
            } else {
                self.mark(group, offset);
            }
        }
        self.add_valid(group, valid);
    }

    /// The arithmetic of addresses.
    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Groups closed since `group` was, counted over the core.
    pub(crate) fn age(&self, group: Group) -> u32 {
        self.closings.wrapping_sub(self.closed[group.index()])
    }

    /// `group`, which was free, or was to be erased, is for what the core writes for itself.
    pub(crate) fn take_for_core(&mut self, group: Group) {
        self.uses[group.index()] = Use::Journal;
    }

    /// What `group` holds, if anything, is not needed: it is to be erased.
    pub(crate) fn release(&mut self, group: Group) {
        self.uses[group.index()] = Use::Drained;
    }

    /// Found after a power cut: `group` stands on `blocks`, which were erased `erases` times; `None`: it is out of service.
    pub(crate) fn found(&mut self, group: Group, stand: Option<([u16; 4], u32)>) {
        let index = group.index();
        self.uses[index] = if stand.is_some() { Use::Free } else { Use::Bad };
        if let Some((blocks, erases)) = stand {
            (self.blocks[index], self.erases[index]) = (blocks, erases);
        }
    }

    /// Found after a power cut: nothing in `group` is valid. What [`Groups::found_valid`] does not name was never programmed, or is not wanted.
    pub(crate) fn found_written(&mut self, group: Group) {
        self.stale[group.index() * self.words..][..self.words].fill(u64::MAX);
    }

    /// Found after a power cut: the unit at `offset` of `group` is valid.
    pub(crate) fn found_valid(&mut self, group: Group, offset: u32) {
        self.stale[group.index() * self.words + offset as usize / 64] &= !(1 << (offset % 64));
    }

    /// As plain data.
    pub(crate) fn image(&self) -> GroupTable {
        // A group without a stale unit keeps its bits over an erase only to spare an allocation.
        let stale = self.stale.chunks_exact(self.words).map(|bits| bits.iter().any(|&word| word != 0).then(|| bits.into())).collect();
        GroupTable {
            uses: self.uses.clone(),
            valid: self.valid.clone(),
            closed: self.closed.clone(),
            erases: self.erases.clone(),
            stale,
            condemned: self.condemned.clone(),
            blocks: self.blocks.clone(),
            closings: self.closings,
        }
    }

    /// Become what `table` says.
    pub(crate) fn restore(&mut self, table: GroupTable) {
        let GroupTable { uses, valid, closed, erases, stale, condemned, blocks, closings } = table;
        self.uses = uses;
        self.valid = valid;
        self.closed = closed;
        self.erases = erases;
        self.stale.fill(0);
        for (bits, stored) in self.stale.chunks_exact_mut(self.words).zip(&stale) {
            if let Some(stored) = stored {
                bits.copy_from_slice(stored);
            }
        }
        self.condemned = condemned;
        self.blocks = blocks;
        self.closings = closings;
    }

    #[inline]
    fn mark(&mut self, group: Group, offset: u32) {
        let word = &mut self.stale[group.index() * self.words + offset as usize / 64];
        let bit = 1 << (offset % 64);
        debug_assert_eq!(*word & bit, 0, "{group:?} unit {offset} made stale twice");
        *word |= bit;
    }
}
