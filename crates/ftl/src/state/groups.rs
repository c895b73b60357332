//! The block groups: use, valid units and erase count of each.
//!
//! Parallel arrays over all groups of a core. The valid counts double as the victim policies' candidates: a group that cannot be taken carries the flag
//! [`Candidates::OUT`] on top of its count.

use serde::{Deserialize, Serialize};
use wordline_flash::{EraseSettings, Status};
use wordline_units::{DieId, Wear, WordlineSet};

use crate::free_block::{DieGroups, FreeBlockPolicy, FreeGroups, Policy as _, Stream};
use crate::retirement::{Policy as _, RetirementPolicy, Seen, Verdict};
use crate::state::layout::{BlockGroup, Layout, UnitAddr};
use crate::state::room::{Held, RoomTable};
use crate::state::spared::{IdleWordlines, Spared, SparedWordlines};
use crate::state::wear::{WearTable, Worn};
use crate::victim::Candidates;

/// State of a block group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Use {
    /// Erased and ready to be written.
    Free,
    /// Open for writing.
    Active,
    /// Full, and a possible victim.
    Closed,
    /// A victim whose valid data is being moved away.
    Draining,
    /// A victim whose valid data has all been read. Units that are not yet programmed elsewhere still count as valid here.
    Drained,
    /// Out of service, because a block failed.
    Bad,
    /// Reserved for metadata of the core: the journal, a checkpoint, or the key store.
    Metadata,
    /// On a failed die, with units that the host has neither written nor trimmed since: they are lost.
    Lost,
}

/// The block-group table as plain data.
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

/// Table of all block groups of a core.
#[derive(Clone, Debug)]
pub struct BlockGroups {
    layout: Layout,
    uses: Vec<Use>,
    valid: Vec<u32>,
    closed: Vec<u32>,
    erases: Vec<u32>,
    /// Reads of each group that are queued or under way. A group must not be erased before they end.
    pins: Vec<u32>,
    /// Units that are programmed and not valid, one bit each. The table is flat: its zeroed pages cost no memory until they are written.
    stale: Vec<u64>,
    /// Words of `stale` for each group.
    words: usize,
    /// True for each group in which a program has failed: it goes out of service once it is empty.
    condemned: Vec<bool>,
    /// True for each group in which something was made unreadable on purpose since its last erase, or that has received a copy from such a group.
    destroyed: Vec<bool>,
    blocks: Vec<[u16; 4]>,
    closings: u32,
    /// Wordlines that erases spare, in a core that orders guarded erases.
    spared: Option<Box<SparedWordlines>>,
    wear: WearTable,
}

impl BlockGroups {
    /// Creates a table with all groups free, on the physical `blocks`.
    pub fn new(layout: Layout, blocks: Vec<[u16; 4]>) -> BlockGroups {
        let count = layout.group_count();
        assert_eq!(blocks.len(), count);
        let words = (layout.units_per_group as usize).div_ceil(64);
        BlockGroups {
            layout,
            uses: vec![Use::Free; count],
            valid: vec![Candidates::OUT; count],
            closed: vec![0; count],
            erases: vec![0; count],
            pins: vec![0; count],
            stale: vec![0; count * words],
            words,
            condemned: vec![false; count],
            destroyed: vec![false; count],
            blocks,
            closings: 0,
            spared: None,
            wear: WearTable::default(),
        }
    }

    /// Wear that `group` does not exceed, as techniques tell it; `None`: none does.
    #[inline]
    pub fn wear(&self, group: BlockGroup) -> Option<Wear> {
        self.wear.most(group)
    }

    /// Best guess of the wear of `group`, by which groups are levelled; `None`: no technique tells one.
    pub fn likely_wear(&self, group: BlockGroup) -> Option<Wear> {
        self.wear.likely(group)
    }

    /// Set the wear of `group`, as techniques tell it.
    pub(crate) fn set_wear(&mut self, group: BlockGroup, worn: Option<Worn>) {
        self.wear.set(group, worn, self.uses.len());
    }

    /// The same table for a core whose erases spare up to `most` wordlines; 0: they spare none.
    pub(crate) fn with_spared(self, most: u32) -> BlockGroups {
        let spared = (most > 0).then(|| Box::new(SparedWordlines::new(self.layout, most)));
        BlockGroups { spared, ..self }
    }

    /// Note that something in `group` is made unreadable on purpose, or copied from where something was. Pages beside it may become unreadable with it.
    pub(crate) fn destroy(&mut self, group: BlockGroup) {
        self.destroyed[group.index()] = true;
    }

    /// Note that something may have been made unreadable on purpose in every group that holds something, of a core that has just started.
    pub(crate) fn destroy_written(&mut self) {
        for (destroyed, used) in self.destroyed.iter_mut().zip(&self.uses) {
            *destroyed = *used != Use::Free;
        }
    }

    /// True if something in `group` was made unreadable on purpose since its last erase, or copied from such a group: a page of it that cannot be read is no
    /// sign that its block is bad.
    pub(crate) fn is_destroyed(&self, group: BlockGroup) -> bool {
        self.destroyed[group.index()]
    }

    /// True if erases may leave wordlines without data.
    #[inline]
    pub fn can_spare(&self) -> bool {
        self.spared.is_some()
    }

    /// Number of units of `group` that can hold data: those that no wordline spared by its last erase takes away.
    #[inline]
    pub fn usable(&self, group: BlockGroup) -> u32 {
        self.spared.as_ref().map_or(self.layout.data_units, |spared| spared.usable()[group.index()])
    }

    /// Spared wordlines and the room of each die, in a core that orders guarded erases.
    pub(crate) fn guarded(&self) -> Option<&SparedWordlines> {
        self.spared.as_deref()
    }

    pub(crate) fn guarded_mut(&mut self) -> Option<&mut SparedWordlines> {
        self.spared.as_deref_mut()
    }

    /// Room of each die, counted anew.
    pub(crate) fn count_room(&self) -> Option<RoomTable> {
        let (held, valid) = (self.uses.iter().map(|&used| held(used)), self.valid.iter().map(|&valid| valid & !Candidates::OUT));
        self.spared.as_ref().map(|spared| spared.counted(held, valid))
    }

    /// Set the room of each die to what it is, after all groups may have changed.
    fn recount_room(&mut self) {
        if let (Some(room), Some(spared)) = (self.count_room(), &mut self.spared) {
            *spared.room_mut() = room;
        }
    }

    /// Set the use of `group`, where that changes what room its die has.
    fn turn(&mut self, group: BlockGroup, to: Use) {
        let from = std::mem::replace(&mut self.uses[group.index()], to);
        if let Some(spared) = &mut self.spared {
            spared.turn(group, held(from), held(to));
        }
    }

    /// Wordlines of `group` that take no data since its last erase, as far as the core knows.
    pub fn spared(&self, group: BlockGroup) -> WordlineSet {
        self.spared.as_ref().map_or(WordlineSet::NONE, |spared| *spared.of(group))
    }

    /// Wordlines that the last erase of `group` has spared, without those that the core alone withholds.
    pub fn gentle(&self, group: BlockGroup) -> WordlineSet {
        self.spared.as_ref().map_or(WordlineSet::NONE, |spared| *spared.gentle(group))
    }

    /// True if program unit `program` of `group` lies on a spared wordline.
    #[inline]
    pub fn is_spared(&self, group: BlockGroup, program: u32) -> bool {
        self.spared.as_ref().is_some_and(|spared| spared.has(group, program))
    }

    /// True if the last erase of `group` has spared nothing.
    pub(crate) fn is_plain(&self, group: BlockGroup) -> bool {
        self.spared.as_ref().is_none_or(|spared| spared.of(group).is_empty())
    }

    /// Let wordlines `idle` of `group` take no data after its next erase.
    pub(crate) fn spare_next(&mut self, group: BlockGroup, idle: impl Into<IdleWordlines>) -> Result<(), &'static str> {
        self.spared.as_mut().ok_or("the core orders no guarded erases")?.order(group, idle.into())
    }

    /// Begin the erase of `group`. `is_plain`: it spares nothing, whatever was ordered. Returns true if it has settings.
    pub(crate) fn begin_erase(&mut self, group: BlockGroup, is_plain: bool) -> bool {
        self.spared.as_mut().map(|spared| spared.begin(group, is_plain)).is_some()
    }

    /// Wordlines that take no data after the erase of `die` that was ordered last.
    pub fn idle_next(&self, die: DieId) -> WordlineSet {
        self.spared.as_ref().map_or(WordlineSet::NONE, |spared| spared.next_of(die))
    }

    /// Settings of the erase of `die` that was ordered last.
    pub(crate) fn erase_settings(&self, die: DieId) -> Option<&EraseSettings> {
        self.spared.as_ref().map(|spared| spared.settings(die))
    }

    /// Spared wordlines as plain data.
    pub(crate) fn spared_image(&self) -> Spared {
        self.spared.as_ref().map_or_else(Spared::default, |spared| spared.image())
    }

    /// Restore the spared wordlines of a new table from `image`, which may be anything.
    pub(crate) fn restore_spared(&mut self, image: &Spared) -> Result<(), &'static str> {
        match &mut self.spared {
            Some(spared) => spared.restore(image).map(|()| self.recount_room()),
            None if *image == Spared::default() => Ok(()),
            None => Err("a core that orders no guarded erases has spared wordlines"),
        }
    }

    /// Give up the units on spared wordlines of `group`, which is free no longer.
    #[cold]
    pub(crate) fn give_up_spared(&mut self, group: BlockGroup) {
        for program in 0..self.layout.data_programs {
            if self.is_spared(group, program) {
                self.give_up(group, self.layout.units_of(program));
            }
        }
    }

    /// State of `group`.
    #[inline]
    pub fn use_of(&self, group: BlockGroup) -> Use {
        self.uses[group.index()]
    }

    /// Number of valid units in `group`.
    #[inline]
    pub fn valid(&self, group: BlockGroup) -> u32 {
        self.valid[group.index()] & !Candidates::OUT
    }

    /// Erase count of `group`.
    #[inline]
    pub fn erases(&self, group: BlockGroup) -> u32 {
        self.erases[group.index()]
    }

    /// Physical block of `group` in each plane.
    #[inline]
    pub fn blocks(&self, group: BlockGroup) -> [u16; 4] {
        self.blocks[group.index()]
    }

    /// Closed groups of `die`, for a victim policy.
    pub fn candidates(&self, die: DieId) -> Candidates<'_> {
        let range = self.layout.groups_of(die);
        Candidates {
            valid: &self.valid[range.clone()],
            closed: &self.closed[range.clone()],
            erases: &self.erases[range.clone()],
            now: self.closings,
            capacity: self.layout.data_units,
            usable: self.spared.as_ref().map_or(&[], |spared| &spared.usable()[range]),
            least: self.layout.data_units,
        }
    }

    /// Place of the group that `policy` takes for `stream`, of `count` free ones that `at` names by place.
    pub(crate) fn pick(&self, policy: FreeBlockPolicy, count: usize, at: &dyn Fn(usize) -> BlockGroup, stream: Stream) -> Option<usize> {
        let erases = |place: usize| self.erases(at(place));
        let wear = |place: usize| self.likely_wear(at(place));
        policy.pick(&FreeGroups::new(count, &erases, &wear), stream)
    }

    /// Closed group whose data `policy` moves after the erase of `erased`, so that its block is used again, if one is behind by `gap`.
    pub(crate) fn level(&self, policy: FreeBlockPolicy, erased: BlockGroup, gap: u32) -> Option<BlockGroup> {
        let range = self.layout.groups_of(self.layout.die(erased));
        let first = range.start;
        let is_closed = |group: usize| self.uses[first + group] == Use::Closed;
        let wear = |group: usize| self.likely_wear(BlockGroup((first + group) as u32));
        let turns = 2 * self.uses.len() as u32;
        let is_cold = |group: usize| self.closings.wrapping_sub(self.closed[first + group]) >= turns;
        let die = DieGroups {
            erases: &self.erases[range],
            wear: &wear,
            erased: erased.index() - first,
            is_closed: &is_closed,
            is_cold: &is_cold,
        };
        policy.level(&die, gap).map(|group| BlockGroup((first + group) as u32))
    }

    /// Open `group` for writing.
    pub fn open(&mut self, group: BlockGroup) {
        let index = group.index();
        assert_eq!(self.uses[index], Use::Free, "{group:?} opened");
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} opened with valid data");
        self.uses[index] = Use::Active;
        if let Some(spared) = &mut self.spared {
            spared.turn(group, Held::Free, Held::Data);
            self.give_up_spared(group);
        }
    }

    /// Close `group`, which has been written to its end and can be taken as a victim.
    pub fn close(&mut self, group: BlockGroup) {
        let index = group.index();
        assert_eq!(self.uses[index], Use::Active, "{group:?} closed");
        self.uses[index] = Use::Closed;
        self.valid[index] &= !Candidates::OUT;
        self.closed[index] = self.closings;
        self.closings = self.closings.wrapping_add(1);
    }

    /// Begin to move the data of `group` away.
    pub fn start_gc(&mut self, group: BlockGroup) {
        let index = group.index();
        assert!(matches!(self.uses[index], Use::Closed | Use::Active), "{group:?} drained while {:?}", self.uses[index]);
        self.uses[index] = Use::Draining;
        if let Some(spared) = &mut self.spared {
            spared.room_mut().move_out(group, self.valid[index] & !Candidates::OUT);
        }
        self.valid[index] |= Candidates::OUT;
    }

    /// Note that all valid data of `group` has been read. Returns true if none is left to be programmed.
    pub fn drained(&mut self, group: BlockGroup) -> bool {
        assert_eq!(self.uses[group.index()], Use::Draining);
        self.uses[group.index()] = Use::Drained;
        self.valid(group) == 0
    }

    /// Note that `group` was erased and is free.
    pub fn erased(&mut self, group: BlockGroup) {
        let index = group.index();
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} erased with {} valid units", self.valid(group));
        assert_eq!(self.pins[index], 0, "{group:?} erased while it is read");
        let from = std::mem::replace(&mut self.uses[index], Use::Free);
        self.destroyed[index] = false;
        self.erases[index] = self.erases[index].saturating_add(1);
        self.stale[index * self.words..][..self.words].fill(0);
        if let Some(spared) = &mut self.spared {
            spared.erased(group, held(from));
        }
    }

    /// Note that a program in `group` has failed.
    pub fn condemn(&mut self, group: BlockGroup) {
        self.condemned[group.index()] = true;
    }

    /// True if a program in `group` has failed.
    pub fn is_condemned(&self, group: BlockGroup) -> bool {
        self.condemned[group.index()]
    }

    /// True if `policy` retires the blocks of `group`, which holds no valid data. `erase`: the status of its erase, if that has just ended.
    pub(crate) fn retires(&self, policy: RetirementPolicy, group: BlockGroup, erase: Option<Status>) -> bool {
        let erase_failed = erase.is_some_and(|status| status != Status::Good);
        let erases = self.erases(group).saturating_add(u32::from(erase.is_some()));
        let seen = Seen { program_failed: self.is_condemned(group), erase_failed, erases, wear: self.wear(group) };
        policy.judge(&seen) == Verdict::RetireBlock
    }

    /// Take `group` out of service, or move it to `replacement` blocks.
    pub fn retire(&mut self, group: BlockGroup, replacement: Option<[u16; 4]>) {
        let index = group.index();
        assert_eq!(self.valid[index], Candidates::OUT, "{group:?} retired with valid data");
        self.condemned[index] = false;
        let to = if replacement.is_some() { Use::Free } else { Use::Bad };
        let from = std::mem::replace(&mut self.uses[index], to);
        if let Some(blocks) = replacement {
            self.blocks[index] = blocks;
            self.erases[index] = 0;
        }
        self.stale[index * self.words..][..self.words].fill(0);
        if let Some(spared) = &mut self.spared {
            spared.forget(group, held(from), held(to));
        }
    }

    /// Take `group` out of service, whose die has failed: it is lost if it holds valid units, and bad otherwise. Returns the number of units lost.
    pub(crate) fn lose(&mut self, group: BlockGroup) -> u32 {
        let (index, valid) = (group.index(), self.valid(group));
        if self.uses[index] != Use::Bad {
            self.turn(group, if valid > 0 { Use::Lost } else { Use::Bad });
        }
        self.valid[index] |= Candidates::OUT;
        self.condemned[index] = false;
        valid
    }

    /// Note that a unit of the lost `group` has become stale. Without any other it is bad.
    pub(crate) fn heal(&mut self, group: BlockGroup) {
        if self.valid(group) == 0 {
            self.uses[group.index()] = Use::Bad;
        }
    }

    /// Give up the units of `group` at these offsets: they are not programmed before the next erase.
    pub(crate) fn give_up(&mut self, group: BlockGroup, offsets: std::ops::Range<u32>) {
        for at in offsets {
            self.stale[group.index() * self.words + at as usize / 64] |= 1 << (at % 64);
        }
    }

    /// Add `count` units of `group` that were programmed and are valid.
    #[inline]
    pub fn add_valid(&mut self, group: BlockGroup, count: u32) {
        self.valid[group.index()] += count;
        if let Some(spared) = &mut self.spared {
            spared.room_mut().add_valid(group, count);
        }
    }

    /// Mark the unit at `addr` as stale, although it was just programmed (padding, or overtaken).
    #[inline]
    pub fn add_stale(&mut self, addr: UnitAddr) {
        let (group, offset) = (self.layout.group(addr), self.layout.offset(addr));
        self.mark(group, offset);
    }

    /// Mark the unit at `addr` as stale. Returns true if its group was drained and this was its last valid unit.
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

    /// True if the unit at `offset` of `group`, which must be programmed, is valid.
    #[inline]
    pub fn is_valid(&self, group: BlockGroup, offset: u32) -> bool {
        self.stale[group.index() * self.words + offset as usize / 64] >> (offset % 64) & 1 == 0
    }

    /// The first valid unit of `group` at or after `offset` and before `end`.
    #[inline]
    pub fn next_valid(&self, group: BlockGroup, offset: u32, end: u32) -> Option<u32> {
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

    /// Add a queued read of `group`.
    #[inline]
    pub fn pin(&mut self, group: BlockGroup) {
        self.pins[group.index()] += 1;
    }

    /// Remove a read of `group` that has ended.
    #[inline]
    pub fn unpin(&mut self, group: BlockGroup) {
        self.pins[group.index()] -= 1;
    }

    /// True if reads of `group` are queued or under way.
    #[inline]
    pub fn is_pinned(&self, group: BlockGroup) -> bool {
        self.pins[group.index()] > 0
    }

    /// Set the erase count of `group`, for drives that are constructed aged.
    pub fn set_erases(&mut self, group: BlockGroup, erases: u32) {
        self.erases[group.index()] = erases;
    }

    /// Declare the units of `group` that `is_valid` names valid and the rest stale, without writing them.
    pub fn construct(&mut self, group: BlockGroup, units: u32, is_valid: impl Fn(u32) -> bool) {
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

    /// Address arithmetic of the core.
    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of groups closed since `group` was, counted over the core.
    pub(crate) fn age(&self, group: BlockGroup) -> u32 {
        self.closings.wrapping_sub(self.closed[group.index()])
    }

    /// Reserve `group` for metadata of the core. It was free or waited for its erase.
    pub(crate) fn take_for_core(&mut self, group: BlockGroup) {
        self.turn(group, Use::Metadata);
    }

    /// Release `group`, whose content is not needed: it is to be erased.
    pub(crate) fn release(&mut self, group: BlockGroup) {
        self.turn(group, Use::Drained);
    }

    /// Set the state of `group` as found after a power cut: on these blocks, with this erase count; `None`: out of service.
    pub(crate) fn found(&mut self, group: BlockGroup, stand: Option<([u16; 4], u32)>) {
        let index = group.index();
        self.turn(group, if stand.is_some() { Use::Free } else { Use::Bad });
        if let Some((blocks, erases)) = stand {
            (self.blocks[index], self.erases[index]) = (blocks, erases);
        }
    }

    /// Mark all units of `group` as not valid, after a power cut. Units that [`BlockGroups::found_valid`] does not name were never programmed, or are not
    /// needed.
    pub(crate) fn found_written(&mut self, group: BlockGroup) {
        self.stale[group.index() * self.words..][..self.words].fill(u64::MAX);
    }

    /// Mark the unit at `offset` of `group` as valid, as found after a power cut.
    pub(crate) fn found_valid(&mut self, group: BlockGroup, offset: u32) {
        self.stale[group.index() * self.words + offset as usize / 64] &= !(1 << (offset % 64));
    }

    /// Image of the table as plain data.
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

    /// Restore the table from `table`.
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
        self.recount_room();
    }

    #[inline]
    fn mark(&mut self, group: BlockGroup, offset: u32) {
        let word = &mut self.stale[group.index() * self.words + offset as usize / 64];
        let bit = 1 << (offset % 64);
        debug_assert_eq!(*word & bit, 0, "{group:?} unit {offset} made stale twice");
        *word |= bit;
    }
}

/// Purpose of a group in this use, as far as room goes by it.
fn held(used: Use) -> Held {
    match used {
        Use::Bad | Use::Lost => Held::Out,
        Use::Metadata => Held::Metadata,
        Use::Free => Held::Free,
        Use::Active | Use::Closed | Use::Draining | Use::Drained => Held::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    const DIE: DieId = DieId(0);

    /// Three groups of 48 units, on the blocks 0 to 2.
    fn table() -> BlockGroups {
        let layout = Layout::new(&small_sheet(1, 3, ProgramScope::Page), 1, 3, Bytes::kib(4));
        BlockGroups::new(layout, (0..3).map(|block| [block, 0, 0, 0]).collect())
    }

    fn write(groups: &mut BlockGroups, group: BlockGroup, valid: u32) {
        groups.open(group);
        groups.add_valid(group, valid);
        groups.close(group);
    }

    #[test]
    fn only_closed_groups_are_candidates_and_each_says_when_it_was_closed() {
        let mut groups = table();
        write(&mut groups, BlockGroup(1), 48);
        write(&mut groups, BlockGroup(0), 48);
        groups.open(BlockGroup(2));
        groups.add_valid(BlockGroup(2), 3);
        let candidates = groups.candidates(DIE);
        assert_eq!((&candidates.closed[..2], candidates.now), (&[1, 0][..], 2));
        assert!(candidates.valid[2] >= Candidates::OUT && candidates.valid[..2] == [48, 48]);
        assert_eq!((groups.age(BlockGroup(1)), groups.age(BlockGroup(0)), groups.valid(BlockGroup(2))), (2, 1, 3));
        groups.start_gc(BlockGroup(1));
        assert!(groups.candidates(DIE).valid[1] >= Candidates::OUT, "it is being emptied");
    }

    #[test]
    fn the_last_valid_unit_of_a_drained_group_says_so_once() {
        let mut groups = table();
        let unit = |offset| groups_unit(BlockGroup(0), offset);
        write(&mut groups, BlockGroup(0), 3);
        assert!(!groups.invalidate(unit(0)), "it is not being emptied");
        groups.start_gc(BlockGroup(0));
        assert!(!groups.drained(BlockGroup(0)), "two units are still on their way");
        assert!(!groups.invalidate(unit(1)), "one is still on its way");
        assert!(groups.invalidate(unit(2)));
        groups.erased(BlockGroup(0));
        assert_eq!((groups.use_of(BlockGroup(0)), groups.erases(BlockGroup(0))), (Use::Free, 1));
        assert!(groups.is_valid(BlockGroup(0), 0), "an erase forgets what was stale");
    }

    fn groups_unit(group: BlockGroup, offset: u32) -> UnitAddr {
        table().layout().unit(group, offset)
    }

    #[test]
    fn valid_units_are_found_in_order_across_words_and_not_behind_the_end() {
        let layout = Layout::new(&small_sheet(2, 3, ProgramScope::Page), 1, 3, Bytes::kib(4));
        let mut groups = BlockGroups::new(layout, vec![[0; 4]; 3]);
        groups.open(BlockGroup(1));
        let is_valid = |offset: u32| matches!(offset, 64 | 70 | 95);
        groups.construct(BlockGroup(1), 96, is_valid);
        assert_eq!(groups.valid(BlockGroup(1)), 3);
        for end in [10, 64, 65, 70, 71, 96] {
            let next = |from| groups.next_valid(BlockGroup(1), from, end);
            let found: Vec<u32> = std::iter::successors(next(0), |&at| next(at + 1)).collect();
            assert_eq!(found, (0..end).filter(|&offset| is_valid(offset)).collect::<Vec<_>>(), "before {end}");
        }
    }

    #[test]
    fn a_group_on_spare_blocks_begins_without_wear_and_one_without_is_out_of_service() {
        let mut groups = table();
        groups.set_erases(BlockGroup(0), 7);
        groups.condemn(BlockGroup(0));
        groups.retire(BlockGroup(0), Some([9, 0, 0, 0]));
        groups.retire(BlockGroup(1), None);
        assert_eq!((groups.use_of(BlockGroup(0)), groups.blocks(BlockGroup(0))[0], groups.erases(BlockGroup(0))), (Use::Free, 9, 0));
        assert!(!groups.is_condemned(BlockGroup(0)) && groups.use_of(BlockGroup(1)) == Use::Bad);
    }

    #[test]
    fn a_table_comes_back_from_its_image() {
        let mut groups = table();
        write(&mut groups, BlockGroup(2), 5);
        assert!(!groups.invalidate(groups_unit(BlockGroup(2), 1)));
        let image = groups.image();
        let mut back = table();
        back.open(BlockGroup(0));
        back.add_stale(groups_unit(BlockGroup(0), 3));
        back.restore(image.clone());
        assert_eq!(back.image(), image);
        assert!(back.is_valid(BlockGroup(0), 3) && !back.is_valid(BlockGroup(2), 1));
    }
}
