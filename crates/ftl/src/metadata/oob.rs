//! The second copy of out-of-band marks: which logical unit, in which version, every programmed page holds, even if that page cannot be read any more.
//!
//! Recovery needs the marks of all pages. A page that cannot be read takes its own mark with it; without a second copy the core could not tell which units it
//! has lost, and would hand out an older version of them. So marks are written twice:
//!
//! ```text
//!   block group   [ data, marks │ data, marks │ … │ data, marks │ summary: all marks of the group ]
//!   until then    the journal has a record of each program unit: it is *sealed*
//! ```
//!
//! - The last program units of a group hold the *summary* of its marks. A group is closed once its summary is whole.
//! - The marks of a group without a summary are brought to the journal when a flush, a FUA write or an erase waits for them, or when they fill a program of it.
//! - A flush is answered when all that the host had written before it is sealed; one program of the journal does for all flushes that wait. What was only
//!   moved is also where it was. Before a group is erased, every program that has made one of its units stale is sealed: otherwise
//!   the old version would be gone, and of the new one nobody would know that it was there.
//! - Where capacitors keep the write buffer they keep the unsealed marks of host data, too: a program of host data is ordered only while one of their
//!   `KEPT_MAX` places is free. So a flush waits at most for marks that were found after a power cut and that they do not keep.
//!
//! Here are the tables and the summaries on their way to flash; [`Journal`](super::journal::Journal) brings the records there, and recovery uses both.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wordline_flash::{Mark, Operation};
use wordline_units::{DieId, PartId};

use crate::pages::kept::KEPT_MAX;
use crate::pages::oob::{Filling, MarkCopy, OobPage, ProgramMarks, marks_per_page};
use crate::state::Core;
use crate::state::data::MetadataKind;
use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout};

/// Marks of a block group that has no summary yet.
#[derive(Clone, Debug)]
struct Table {
    /// One mark for each unit that takes data.
    marks: Vec<MarkCopy>,
    /// For each program unit that takes data, its number among the core's programs, once it has ended, well or not.
    ended: Vec<Option<u64>>,
    /// First program unit of the summary, once all data is programmed.
    summary: Option<u32>,
    /// Number of program units of the summary that are programmed.
    written: u32,
    /// True for a table found after a power cut: its summary waits until its marks are sealed.
    is_found: bool,
    /// Number of the record which says where a summary begun after a power cut lies; 0: the summary waits for no such record.
    early: u64,
}

/// A program unit that has ended and is not sealed. One whose `program` is behind the group's last stands for the record of a summary begun after a power cut.
#[derive(Clone, Copy, Debug)]
struct Unsealed {
    number: u64,
    group: BlockGroup,
    program: u32,
    /// True if the unit holds data that the host has written, and not only data that was durable elsewhere. Units found after a power cut count as such.
    is_host: bool,
    /// Place of the unit's marks in the capacitors, if they keep them.
    place: Option<u32>,
    /// True if capacitors keep the unit's marks.
    is_kept: bool,
}

/// The second copy of the marks of one core.
#[derive(Clone, Debug)]
pub(crate) struct OobCopies {
    layout: Layout,
    tables: BTreeMap<BlockGroup, Table>,
    /// Marks of the program under way on each die.
    flying: Vec<Vec<MarkCopy>>,
    /// Program units that have ended and are not sealed, oldest first.
    pending: VecDeque<Unsealed>,
    /// Number of data programs that have ended. The record of a summary before its group's end counts as one.
    landed: u64,
    /// Number of programs that are sealed once the journal's program under way has ended.
    ordered: u64,
    /// Number of programs that are sealed, counted from the first.
    sealed: u64,
    /// Number of programs that are sealed or kept by capacitors, counted from the first.
    kept: u64,
    /// Number of programs, counted from the first, among which all with host data are sealed or kept by capacitors.
    host_kept: u64,
    /// Number of the last program with host data.
    host: u64,
    /// Groups whose summary was begun after a power cut, wherever their data had ended, with its first program unit. The journal has a record of each, or
    /// is about to get it.
    early: BTreeMap<BlockGroup, u32>,
    /// True if capacitors keep marks.
    has_capacitors: bool,
    /// True if the records stay in the map log, and groups have no summaries.
    is_logged: bool,
    /// Free places of the capacitors.
    places: Vec<u32>,
    /// Places reserved for the program of host data that each die is doing, and for the one that it does next.
    reserved: Vec<[Option<u32>; 2]>,
    /// For each group of the core, the number of programs that must be sealed before it is erased.
    holds: Vec<u64>,
    /// Groups whose summary is to be programmed, by die.
    due: Vec<VecDeque<BlockGroup>>,
    /// Requests that wait, each with the number of programs that must be sealed.
    waiting: VecDeque<(PartId, u64)>,
    /// Number of programs that must be sealed because something waits for them.
    wanted: u64,
    /// Bytes of the summary's program ordered last.
    image: Vec<u8>,
    /// Units that some sectors of are lost in their copy on flash, as far as was seen; those trimmed since are among them.
    spoilt: BTreeSet<u32>,
}

impl OobCopies {
    /// Creates the tables of a new core.
    pub(crate) fn new(core: &Core, program_bytes: usize) -> OobCopies {
        OobCopies::of(*core.layout(), program_bytes, core.settings().has_capacitors(), core.settings().twins)
    }

    fn of(layout: Layout, program_bytes: usize, has_capacitors: bool, is_logged: bool) -> OobCopies {
        let dies = layout.dies as usize;
        OobCopies {
            layout,
            tables: BTreeMap::new(),
            flying: vec![Vec::new(); dies],
            pending: VecDeque::new(),
            landed: 0,
            ordered: 0,
            sealed: 0,
            kept: 0,
            host_kept: 0,
            host: 0,
            early: BTreeMap::new(),
            has_capacitors,
            is_logged,
            places: if has_capacitors { (0..KEPT_MAX as u32).rev().collect() } else { Vec::new() },
            reserved: vec![[None; 2]; dies],
            holds: vec![0; layout.group_count()],
            due: vec![VecDeque::new(); dies],
            waiting: VecDeque::new(),
            wanted: 0,
            image: vec![0; program_bytes],
            spoilt: BTreeSet::new(),
        }
    }

    fn table(&mut self, group: BlockGroup) -> &mut Table {
        let layout = self.layout;
        self.tables.entry(group).or_insert_with(|| Table::new(&layout))
    }

    /// Record the marks of the program under way on `die`, as the drive has made them.
    pub(crate) fn note_marks(&mut self, die: DieId, marks: &[Mark]) {
        let flying = &mut self.flying[usize::from(die.0)];
        flying.clear();
        flying.extend(marks.iter().map(MarkCopy::of));
    }

    /// Resume with units of which recovery has seen that sectors are lost.
    pub(crate) fn resume_spoilt(&mut self, spoilt: BTreeSet<u32>) {
        self.spoilt = spoilt;
    }

    /// Units of which some sectors are lost on flash, as far as was seen, and perhaps others that were trimmed since.
    pub(crate) fn spoilt(&self) -> impl Iterator<Item = u32> + '_ {
        self.spoilt.iter().copied()
    }

    /// Note that part `unit` of the program under way on `die` holds nothing that is needed, whatever its page says.
    pub(crate) fn overtaken(&mut self, die: DieId, unit: usize) {
        if let Some(flying) = self.flying[usize::from(die.0)].get_mut(unit) {
            *flying = MarkCopy::NOTHING;
        }
    }

    /// End program unit `program` of `group` on `die`. `good`: its content may be needed. `is_host`: the host has written some of it. Returns the place in
    /// the capacitors and the record that they are to keep there, if one was reserved.
    pub(crate) fn landed(
        &mut self,
        die: DieId,
        (group, program): (BlockGroup, u32),
        (good, is_host): (bool, bool),
        groups: &BlockGroups,
    ) -> Option<(u32, ProgramMarks)> {
        self.landed += 1;
        let number = self.landed;
        let units = self.layout.units_of(program);
        let flying = std::mem::take(&mut self.flying[usize::from(die.0)]);
        let table = self.table(group);
        let marks = &mut table.marks[units.start as usize..units.end as usize];
        if good && flying.len() == marks.len() {
            marks.copy_from_slice(&flying);
        }
        table.ended[program as usize] = Some(number);
        if good {
            note_spoilt(&mut self.spoilt, &flying);
        }
        self.flying[usize::from(die.0)] = flying;
        self.flying[usize::from(die.0)].clear();
        let [first, second] = &mut self.reserved[usize::from(die.0)];
        let place = first.take();
        *first = second.take();
        self.pending.push_back(Unsealed { number, group, program, is_host, place, is_kept: place.is_some() });
        if is_host {
            self.host = number;
        }
        self.count_kept();
        place.map(|place| (place, self.record(group, program, groups)))
    }

    /// True if a program of host data may be ordered. With capacitors its data was promised to the host, and leaves the buffer only once they keep its
    /// marks.
    pub(crate) fn has_place(&self) -> bool {
        !self.has_capacitors || !self.places.is_empty()
    }

    /// Reserve a place for the program of host data ordered on `die`.
    pub(crate) fn reserve(&mut self, die: DieId) {
        let [first, second] = &mut self.reserved[usize::from(die.0)];
        *if first.is_none() { first } else { second } = self.places.pop();
    }

    fn count_kept(&mut self) {
        self.kept = self.kept.max(self.sealed);
        let first = self.pending.partition_point(|unsealed| unsealed.number <= self.kept);
        for unsealed in self.pending.iter().skip(first) {
            if !unsealed.is_kept {
                break;
            }
            self.kept = unsealed.number;
        }
        self.host_kept = self.host_kept.max(self.kept);
        let first = self.pending.partition_point(|unsealed| unsealed.number <= self.host_kept);
        for unsealed in self.pending.iter().skip(first) {
            if unsealed.is_host && !unsealed.is_kept {
                break;
            }
            self.host_kept = unsealed.number;
        }
    }

    fn record(&self, group: BlockGroup, program: u32, groups: &BlockGroups) -> ProgramMarks {
        let units = self.layout.units_of(program);
        ProgramMarks {
            filling: filling(&self.layout, groups, group),
            program,
            marks: self.tables[&group].marks[units.start as usize..units.end as usize].to_vec(),
        }
    }

    /// Create the record which says that the summary of `group` begins with program unit `begin`, before the group's end.
    fn early_record(&self, group: BlockGroup, begin: u32, groups: &BlockGroups) -> ProgramMarks {
        let mut marks = vec![MarkCopy::NOTHING; self.layout.units_per_program as usize];
        marks[0].version = u64::from(begin);
        ProgramMarks { filling: filling(&self.layout, groups, group), program: self.layout.programs, marks }
    }

    /// True if a program has ended whose record no program of the journal was ordered for.
    pub(crate) fn has_unordered(&self) -> bool {
        self.landed > self.ordered
    }

    /// Number of programs that have ended so far.
    pub(crate) fn now(&self) -> u64 {
        self.landed
    }

    /// True if the first `number` programs are sealed or kept by capacitors: their marks are known without reading their own pages.
    pub(crate) fn is_sealed(&self, number: u64) -> bool {
        number <= self.kept.max(self.sealed)
    }

    /// Number of the last program with host data.
    pub(crate) fn newest_host(&self) -> u64 {
        self.host
    }

    /// True if the host data in the first `number` programs is sealed or kept by capacitors. Moved data does not count: as long as its program is not
    /// sealed, its source is kept.
    pub(crate) fn is_host_sealed(&self, number: u64) -> bool {
        number <= self.host_kept
    }

    /// Note that a unit of `group` has become stale: all programs so far must be sealed before the group is erased.
    #[inline]
    pub(crate) fn hold(&mut self, group: BlockGroup) {
        self.holds[group.index()] = self.landed;
    }

    /// Let `group`, which was found empty after a power cut, be erased whatever is sealed.
    pub(crate) fn let_go(&mut self, group: BlockGroup) {
        self.holds[group.index()] = 0;
    }

    /// True if recovery needs nothing in `group`, even if a page cannot be read.
    pub(crate) fn lets_go(&self, group: BlockGroup) -> bool {
        self.is_sealed(self.holds[group.index()])
    }

    /// Request that the first `number` programs are sealed.
    pub(crate) fn want(&mut self, number: u64) {
        self.wanted = self.wanted.max(number);
    }

    /// True if something waits for a record that no program was ordered for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted > self.ordered.max(self.kept) || (!self.has_place() && self.landed > self.ordered)
    }

    /// True if records should be brought to the journal: something waits for them, there are `full` of them, or fewer than half of the capacitors' places are
    /// free.
    pub(crate) fn wants(&self, full: usize) -> bool {
        let crowded = self.has_capacitors && self.places.len() < KEPT_MAX as usize / 2 && self.landed > self.ordered;
        self.is_wanted() || crowded || (self.landed - self.ordered) as usize >= full
    }

    /// Make `part` wait until the host data in all programs so far is sealed. Returns true if it has to wait.
    pub(crate) fn hold_back(&mut self, part: PartId) -> bool {
        let is_to_wait = !self.is_host_sealed(self.host);
        if is_to_wait {
            self.waiting.push_back((part, self.host));
            self.want(self.host);
        }
        is_to_wait
    }

    /// Take the next request that has nothing left to wait for.
    pub(crate) fn next_released(&mut self) -> Option<PartId> {
        let known = self.host_kept;
        self.waiting.pop_front_if(|&mut (_, number)| number <= known).map(|(part, _)| part)
    }

    /// Take all waiting requests, because nothing will be sealed any more.
    pub(crate) fn give_up(&mut self) -> Vec<PartId> {
        std::mem::take(&mut self.waiting).into_iter().map(|(part, _)| part).collect()
    }

    /// Take up to `room` records for the journal's next program, oldest first. [`OobCopies::journaled`] follows.
    pub(crate) fn take_records(&mut self, room: usize, groups: &BlockGroups) -> Vec<ProgramMarks> {
        let mut records = Vec::new();
        let mut ordered = self.ordered;
        for &Unsealed { number, group, program, .. } in self.pending.iter().filter(|unsealed| unsealed.number > self.ordered) {
            if records.len() == room {
                break;
            }
            ordered = number;
            // Erased since, or its summary is down.
            if program == self.layout.programs {
                records.extend(self.early.get(&group).map(|&begin| self.early_record(group, begin, groups)));
                continue;
            }
            let is_needed = self.tables.get(&group).is_some_and(|table| table.ended[program as usize] == Some(number));
            if is_needed {
                records.push(self.record(group, program, groups));
            }
        }
        self.ordered = ordered;
        records
    }

    /// Take the records of all groups that have no summary, for a snapshot.
    pub(crate) fn take_all_records(&mut self, groups: &BlockGroups) -> Vec<ProgramMarks> {
        self.ordered = self.landed;
        let ended =
            |table: &Table| (0..).zip(&table.ended).filter(|(_, ended)| ended.is_some()).map(|(program, _)| program).collect::<Vec<u32>>();
        let all: Vec<(BlockGroup, u32)> =
            self.tables.iter().flat_map(|(&group, table)| ended(table).into_iter().map(move |program| (group, program))).collect();
        // That there is a summary counts once all marks that it holds are down.
        let early = self.early.iter().map(|(&group, &begin)| self.early_record(group, begin, groups));
        all.into_iter().map(|(group, program)| self.record(group, program, groups)).chain(early).collect()
    }

    /// End the journal's program, or the snapshot, with the records ordered last. If it failed, they are ordered again.
    pub(crate) fn journaled(&mut self, good: bool) {
        if good {
            self.sealed = self.ordered;
        } else {
            self.ordered = self.sealed;
        }
        let sealed = self.sealed;
        if self.is_logged {
            // The log keeps them, and no summary will.
            self.tables.retain(|_, table| table.newest() > sealed);
        }
        while let Some(unsealed) = self.pending.pop_front_if(|unsealed| unsealed.number <= sealed) {
            self.places.extend(unsealed.place);
        }
        self.count_kept();
    }

    /// The bytes of part `unit` of the program that has just been ordered, of units of `bytes` bytes.
    pub(crate) fn bytes(&self, unit: u32, bytes: usize) -> &[u8] {
        &self.image[unit as usize * bytes..][..bytes]
    }

    /// First summary of `die` that can be programmed now, and true if any is due. `is_blocked`: true for a group in which nothing may be programmed yet.
    pub(crate) fn next(&self, die: DieId, is_blocked: impl Fn(BlockGroup) -> bool) -> (bool, Option<BlockGroup>) {
        let ready = |&group: &BlockGroup| {
            let table = &self.tables[&group];
            (!table.is_found || table.newest() <= self.sealed) && !is_blocked(group)
        };
        let due = &self.due[usize::from(die.0)];
        (!due.is_empty(), due.iter().copied().find(ready))
    }

    /// Order the next program of the summary of `group`.
    #[cold]
    pub(crate) fn issue_summary(&mut self, core: &mut Core, group: BlockGroup) -> Operation {
        let table = &self.tables[&group];
        let program = table.summary.expect("it is due") + table.written;
        let page_bytes = core.settings().page;
        let (each, pages) = (marks_per_page(page_bytes), self.image.len() / page_bytes);
        let filling = filling(core.layout(), core.groups(), group);
        // Pages that are left over hold some of the marks once more.
        let needed = table.marks.len().div_ceil(each);
        for (page, bytes) in (table.written as usize * pages..).zip(self.image.chunks_exact_mut(page_bytes)) {
            let first = page % needed * each;
            let marks = table.marks[first..table.marks.len().min(first + each)].to_vec();
            OobPage { filling, first: first as u32, marks }.write(bytes);
        }
        core.issue_metadata(MetadataKind::Summary, group, program)
    }

    /// Count one more programmed unit of the summary of `group`. Returns true if the summary is whole.
    pub(crate) fn wrote_summary(&mut self, group: BlockGroup) -> bool {
        let copies = self.layout.oob_programs();
        let table = self.table(group);
        table.written += 1;
        let is_whole = table.written == copies;
        if is_whole {
            self.summarised(group);
        }
        is_whole
    }

    /// Forget the marks of `group`, which holds nothing any more or is out of service.
    pub(crate) fn forget(&mut self, group: BlockGroup) {
        self.early.remove(&group);
        self.summarised(group);
    }

    /// Go on without `die`, which has failed. Marks of groups with valid units stay: they tell what is lost there.
    pub(crate) fn leave(&mut self, die: DieId, groups: &BlockGroups) {
        self.due[usize::from(die.0)].clear();
        let layout = self.layout;
        self.early.retain(|&group, _| layout.die(group) != die);
        self.tables.retain(|&group, _| layout.die(group) != die || groups.use_of(group) == Use::Lost);
    }

    /// End the summary of `group`, which is whole or not needed.
    fn summarised(&mut self, group: BlockGroup) {
        self.tables.remove(&group);
        self.drop_summary(group);
    }

    /// Drop the summary of `group` from those to be programmed. Returns true if it was among them.
    pub(crate) fn drop_summary(&mut self, group: BlockGroup) -> bool {
        let due = &mut self.due[usize::from(self.layout.die(group).0)];
        let before = due.len();
        due.retain(|&other| other != group);
        due.len() < before
    }

    /// Begin the summary of `group`, which takes no more data, at program unit `program`.
    pub(crate) fn finish(&mut self, group: BlockGroup, program: u32) {
        self.table(group).summary = Some(program);
        let die = usize::from(self.layout.die(group).0);
        self.due[die].push_back(group);
    }

    /// Restore the `marks` of the first `programs` program units of `group`, which has no summary, as recovery has found them. `summary`: program unit at
    /// which the summary is to begin; `None`: none is written. `place`: place in the capacitors of the marks of a program unit, and true if they keep all.
    pub(crate) fn found(
        &mut self,
        group: BlockGroup,
        marks: &[MarkCopy],
        programs: u32,
        summary: Option<u32>,
        place: impl Fn(u32) -> Option<(u32, bool)>,
    ) {
        let units = self.layout.units_per_program;
        for program in 0..programs {
            self.landed += 1;
            let number = self.landed;
            let table = self.table(group);
            for offset in program * units..(program + 1) * units {
                table.marks[offset as usize] = marks.get(offset as usize).copied().unwrap_or(MarkCopy::NOTHING);
            }
            (table.ended[program as usize], table.is_found) = (Some(number), true);
            self.add_found(group, program, place(program));
            self.host = number;
        }
        if let Some(program) = summary {
            self.landed += 1;
            self.early.insert(group, program);
            self.pending.push_back(Unsealed {
                number: self.landed,
                group,
                program: self.layout.programs,
                is_host: true,
                place: None,
                is_kept: false,
            });
            self.host = self.landed;
            self.table(group).early = self.landed;
            self.finish(group, program);
        }
        self.count_kept();
        // Whatever these programs have made stale is still there, and stays until they are sealed.
        self.holds.fill(self.landed);
    }

    /// Restore the `marks` of program unit `program` of `group`, which recovery has found and the log does not name. `place`: their place in the capacitors,
    /// and true if all of them are there.
    pub(crate) fn found_program(&mut self, group: BlockGroup, program: u32, marks: &[MarkCopy], place: Option<(u32, bool)>) {
        self.landed += 1;
        let number = self.landed;
        let units = self.layout.units_of(program);
        let table = self.table(group);
        table.marks[units.start as usize..units.end as usize].copy_from_slice(marks);
        table.ended[program as usize] = Some(number);
        self.add_found(group, program, place);
        self.host = number;
        self.count_kept();
        self.holds.fill(self.landed);
    }

    /// Add the program that has landed last, as recovery has found it.
    fn add_found(&mut self, group: BlockGroup, program: u32, place: Option<(u32, bool)>) {
        let is_kept = place.is_some_and(|(_, has_all)| has_all);
        let place = place.map(|(place, _)| place);
        self.places.retain(|&free| Some(free) != place);
        // Nobody knows whether a flush waited for it.
        self.pending.push_back(Unsealed { number: self.landed, group, program, is_host: true, place, is_kept });
    }

    /// Hold `place` of the capacitors, unless it is taken, until all programs so far are sealed.
    pub(crate) fn hold_place(&mut self, place: u32) {
        if let Some(at) = self.places.iter().position(|&free| free == place) {
            self.places.remove(at);
            self.landed += 1;
            // A record of no group: nothing is written for it.
            let (group, program) = (BlockGroup(u32::MAX), self.layout.programs);
            self.pending.push_back(Unsealed { number: self.landed, group, program, is_host: false, place: Some(place), is_kept: true });
            self.count_kept();
        }
    }

    /// Record that the summary of `group`, found after a power cut, begins with program unit `begin`, before the group's end.
    pub(crate) fn found_early(&mut self, group: BlockGroup, begin: u32) {
        self.early.insert(group, begin);
    }

    /// True if no summary is to be programmed.
    pub(crate) fn is_idle(&self) -> bool {
        self.due.iter().all(VecDeque::is_empty)
    }
}

/// Update the set `spoilt` after units with `marks` were programmed.
fn note_spoilt(spoilt: &mut BTreeSet<u32>, marks: &[MarkCopy]) {
    if spoilt.is_empty() && marks.iter().all(|mark| !mark.is_spoilt) {
        return;
    }
    for mark in marks.iter().filter(|mark| **mark != MarkCopy::NOTHING) {
        if mark.is_spoilt {
            spoilt.insert(mark.lpn)
        } else {
            spoilt.remove(&mark.lpn)
        };
    }
}

impl Table {
    fn new(layout: &Layout) -> Table {
        Table {
            marks: vec![MarkCopy::NOTHING; layout.data_units as usize],
            ended: vec![None; layout.data_programs as usize],
            summary: None,
            written: 0,
            is_found: false,
            early: 0,
        }
    }

    fn newest(&self) -> u64 {
        self.ended.iter().flatten().copied().max().unwrap_or(0).max(self.early)
    }
}

/// Present filling of `group`: its blocks and erase count.
pub(crate) fn filling(layout: &Layout, groups: &BlockGroups, group: BlockGroup) -> Filling {
    Filling { die: layout.die(group).0, blocks: groups.blocks(group), erases: groups.erases(group) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::{Bytes, Lpn};

    const DIE: DieId = DieId(0);

    fn copies(has_capacitors: bool) -> (OobCopies, BlockGroups) {
        let layout = Layout::new(&small_sheet(1, 5, ProgramScope::Page), 1, 5, Bytes::kib(4))
            .with_oob_copies(crate::pages::oob::marks_per_page(16_384));
        (OobCopies::of(layout, 16_384, has_capacitors, false), BlockGroups::new(layout, vec![[0; 4]; 5]))
    }

    fn program(copies: &mut OobCopies, groups: &BlockGroups, at: (BlockGroup, u32), first: u32) -> Option<u32> {
        let mark = |lpn: u32| Mark { lpn: Lpn(lpn), version: u64::from(lpn) + 1, lost: 0, insecure: false };
        copies.note_marks(DIE, &[mark(first), mark(first + 1), mark(first + 2), mark(first + 3)]);
        copies.reserve(DIE);
        copies.landed(DIE, at, (true, true), groups).map(|(index, _)| index)
    }

    #[test]
    fn nobody_waits_for_the_marks_of_what_has_only_moved() {
        let (mut copies, groups) = copies(false);
        copies.landed(DIE, (BlockGroup(0), 0), (true, false), &groups);
        assert!(!copies.hold_back(PartId(7)), "it is durable where it was");
        copies.hold(BlockGroup(1));
        assert!(!copies.lets_go(BlockGroup(1)), "as long as that is not erased");
        program(&mut copies, &groups, (BlockGroup(0), 1), 8);
        copies.landed(DIE, (BlockGroup(0), 2), (true, false), &groups);
        assert!(copies.hold_back(PartId(7)) && copies.wants(100));
        assert_eq!((copies.newest_host(), copies.next_released()), (2, None));
        copies.take_records(2, &groups);
        copies.journaled(true);
        assert_eq!(copies.next_released(), Some(PartId(7)));
        assert!(!copies.hold_back(PartId(8)) && !copies.is_sealed(3));
    }

    #[test]
    fn a_group_is_not_let_go_before_what_has_made_it_stale_is_sealed() {
        let (mut copies, groups) = copies(false);
        program(&mut copies, &groups, (BlockGroup(0), 0), 0);
        assert!(copies.lets_go(BlockGroup(1)), "nothing of it was overwritten");
        copies.hold(BlockGroup(1));
        assert!(!copies.lets_go(BlockGroup(1)) && !copies.wants(100));
        copies.want(copies.now());
        assert!(copies.wants(100));
        let records = copies.take_records(10, &groups);
        assert_eq!(records[0].marks[2], MarkCopy { lpn: 2, version: 3, insecure: false, is_spoilt: false });
        assert!(!copies.wants(100) && !copies.lets_go(BlockGroup(1)), "it is under way");
        copies.journaled(false);
        assert!(copies.wants(100) && !copies.lets_go(BlockGroup(1)), "it has failed");
        assert_eq!(copies.take_records(10, &groups), records);
        copies.journaled(true);
        assert!(copies.lets_go(BlockGroup(1)));
    }

    #[test]
    fn a_snapshot_holds_the_records_of_groups_without_a_summary_and_no_others() {
        let (mut copies, groups) = copies(false);
        program(&mut copies, &groups, (BlockGroup(0), 0), 0);
        program(&mut copies, &groups, (BlockGroup(1), 0), 8);
        copies.take_records(10, &groups);
        copies.journaled(true);
        program(&mut copies, &groups, (BlockGroup(0), 1), 16);
        copies.forget(BlockGroup(1));
        let all = copies.take_all_records(&groups);
        assert_eq!(all.iter().map(|record| (record.program, record.marks[0].lpn)).collect::<Vec<_>>(), [(0, 0), (1, 16)]);
        copies.journaled(true);
        assert!(copies.is_sealed(3) && copies.take_records(10, &groups).is_empty());
    }

    #[test]
    fn capacitors_keep_so_many_records_and_no_more() {
        let (mut copies, groups) = copies(true);
        for number in 1..=KEPT_MAX {
            assert!(copies.has_place());
            assert_eq!(program(&mut copies, &groups, (BlockGroup(0), 0), 0), Some(number as u32 - 1));
            assert!(copies.is_sealed(number));
        }
        assert!(!copies.has_place() && copies.wants(usize::MAX), "there is no room for another");
        assert_eq!(program(&mut copies, &groups, (BlockGroup(0), 0), 0), None, "nor is one needed for what only moves");
        assert!(!copies.is_sealed(KEPT_MAX + 1));
        copies.take_records(usize::MAX, &groups);
        copies.journaled(true);
        assert!(copies.is_sealed(KEPT_MAX + 1));
        assert!(program(&mut copies, &groups, (BlockGroup(0), 1), 0).is_some());
    }
}
