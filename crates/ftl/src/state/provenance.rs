//! Provenance: how often in a row data was copied without error correction, and since when the oldest data of a block group has been there.
//!
//! A copyback takes its data with all errors from one place to the next: the count of the place is one more than that of the source, and the day of the data
//! is the day of the source. What passes the controller is corrected: its count is 0, and its day is today.
//!
//! Both are final when a group closes. Then the greatest count and the day go into memos of the core. After a power cut the greatest count stands for each
//! unit of the group; a group without memos counts as copied more often than any threshold, and its day is unknown.

use serde::{Deserialize, Serialize};

use crate::state::layout::BlockGroup;
use crate::state::warm_clock::Day;

/// Count that is greater than any threshold: so many copies, or more, or nobody knows.
pub(crate) const MOST: u8 = u8::MAX;

/// Provenance of the data of one core.
#[derive(Clone, Debug)]
pub(crate) struct Provenance {
    /// Program units of a group.
    programs: usize,
    /// Copies in a row of each program unit. The table is flat: its zeroed pages cost no memory until a copy is counted in them.
    copies: Vec<u8>,
    /// Greatest entry of `copies` in each group.
    greatest: Vec<u8>,
    /// Count below which no unit of the group is, because the entries of a filling before a power cut are gone.
    least: Vec<u8>,
    born: Vec<Born>,
}

/// Day of the oldest data of a group, in an order in which the least holds for a group with data of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Born {
    /// The day is unknown.
    Unknown,
    /// On this day.
    On(Day),
    /// The group holds nothing.
    Nothing,
}

/// The provenance as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProvenanceTable {
    /// Counts of the groups that have received copies, each with its number.
    pub copies: Vec<(BlockGroup, Box<[u8]>)>,
    pub least: Vec<u8>,
    pub born: Vec<Born>,
}

impl Provenance {
    /// Creates the table of `groups` empty groups with `programs` program units each.
    pub(crate) fn new(groups: usize, programs: u32) -> Provenance {
        let programs = programs as usize;
        Provenance {
            programs,
            copies: vec![0; groups * programs],
            greatest: vec![0; groups],
            least: vec![0; groups],
            born: vec![Born::Nothing; groups],
        }
    }

    /// Note that `group` has received data that was corrected, on `today`.
    #[inline]
    pub(crate) fn corrected(&mut self, group: BlockGroup, today: Day) {
        let born = &mut self.born[group.index()];
        *born = Born::On(today).min(*born);
    }

    /// Note that program unit `to` of a group has received a copy of program unit `from` of a group.
    pub(crate) fn copied(&mut self, from: (BlockGroup, u32), to: (BlockGroup, u32)) {
        let count = self.copies(from.0, from.1).saturating_add(1);
        self.copies[to.0.index() * self.programs + to.1 as usize] = count;
        let (source, index) = (self.born[from.0.index()], to.0.index());
        self.greatest[index] = self.greatest[index].max(count);
        self.born[index] = source.min(self.born[index]);
    }

    /// Note that `group` holds nothing any more.
    pub(crate) fn erased(&mut self, group: BlockGroup) {
        let index = group.index();
        if self.greatest[index] > 0 {
            self.copies[index * self.programs..][..self.programs].fill(0);
        }
        (self.greatest[index], self.least[index], self.born[index]) = (0, 0, Born::Nothing);
    }

    /// Note that `group` holds data from before: with these memos, as far as there are any.
    pub(crate) fn found(&mut self, group: BlockGroup, copies: Option<u32>, birth: Option<u32>) {
        let index = group.index();
        self.least[index] = copies.map_or(MOST, |memo| memo.saturating_sub(1).min(u32::from(MOST)) as u8);
        self.born[index] = birth.map_or(Born::Unknown, |memo| Born::On(Provenance::day_of(memo)));
    }

    /// Memos of `group`, which takes no more data: of its copies, and of its birth, where that is known.
    pub(crate) fn memos(&self, group: BlockGroup) -> [Option<u32>; 2] {
        let index = group.index();
        let birth = if let Born::On(day) = self.born[index] { Some(u32::MAX - day.0) } else { None };
        [Some(u32::from(self.greatest[index].max(self.least[index])) + 1), birth]
    }

    /// Day of a memo of birth.
    pub(crate) fn day_of(memo: u32) -> Day {
        Day(u32::MAX - memo)
    }

    /// Copies in a row of program unit `program` of `group`.
    #[inline]
    pub(crate) fn copies(&self, group: BlockGroup, program: u32) -> u8 {
        self.copies[group.index() * self.programs + program as usize].max(self.least[group.index()])
    }

    /// True if `group` has received a copy since its erase.
    #[inline]
    pub(crate) fn has_copies(&self, group: BlockGroup) -> bool {
        self.greatest[group.index()] > 0
    }

    /// Day of the oldest data of `group`; `None`: it holds none, or nobody knows.
    pub(crate) fn born(&self, group: BlockGroup) -> Option<Day> {
        if let Born::On(day) = self.born[group.index()] { Some(day) } else { None }
    }

    /// Groups of which the birth is known.
    pub(crate) fn born_on_a_day(&self) -> impl Iterator<Item = BlockGroup> + '_ {
        (0..self.born.len() as u32).map(BlockGroup).filter(|&group| self.born(group).is_some())
    }

    /// Image of the table as plain data.
    pub(crate) fn image(&self) -> ProvenanceTable {
        let copied = (0..self.greatest.len()).filter(|&group| self.greatest[group] > 0);
        let copies = copied.map(|group| (BlockGroup(group as u32), self.copies[group * self.programs..][..self.programs].into())).collect();
        ProvenanceTable { copies, least: self.least.clone(), born: self.born.clone() }
    }

    /// Restore the table from `table`. Returns false if that is of another core.
    #[must_use]
    pub(crate) fn restore(&mut self, table: ProvenanceTable) -> bool {
        let ProvenanceTable { copies, least, born } = table;
        let groups = self.least.len();
        let fits = |(group, counts): &(BlockGroup, Box<[u8]>)| group.index() < groups && counts.len() == self.programs;
        if least.len() != groups || born.len() != groups || !copies.iter().all(fits) {
            return false;
        }
        (self.least, self.born) = (least, born);
        self.copies.fill(0);
        self.greatest.fill(0);
        for (group, counts) in copies {
            self.greatest[group.index()] = counts.iter().copied().max().unwrap_or(0);
            self.copies[group.index() * self.programs..][..self.programs].copy_from_slice(&counts);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: BlockGroup = BlockGroup(0);
    const B: BlockGroup = BlockGroup(1);
    const C: BlockGroup = BlockGroup(2);

    fn table() -> Provenance {
        Provenance::new(3, 4)
    }

    #[test]
    fn a_copy_counts_on_from_its_source_and_keeps_its_day_and_the_bus_begins_anew() {
        let mut table = table();
        table.corrected(A, Day(3));
        table.copied((A, 0), (B, 0));
        table.corrected(B, Day(9));
        table.copied((B, 0), (C, 2));
        assert_eq!([(A, 0), (B, 0), (B, 1), (C, 2), (C, 1)].map(|(group, program)| table.copies(group, program)), [0, 1, 0, 2, 0]);
        assert_eq!([A, B, C].map(|group| table.born(group)), [Some(Day(3)); 3]);
        assert_eq!(table.memos(C), [Some(3), Some(u32::MAX - 3)]);
        table.erased(C);
        assert_eq!((table.copies(C, 2), table.born(C)), (0, None));
        for _ in 0..300 {
            table.copied((B, 0), (C, 3));
            table.erased(B);
            table.copied((C, 3), (B, 0));
            table.erased(C);
        }
        assert_eq!((table.copies(B, 0), table.memos(B)[0]), (MOST, Some(256)), "it stops at the most");
    }

    #[test]
    fn a_group_without_memos_was_copied_more_often_than_any_threshold() {
        let mut table = table();
        table.found(A, Some(3), Some(u32::MAX - 8));
        table.found(B, None, None);
        assert_eq!((table.copies(A, 1), table.born(A)), (2, Some(Day(8))));
        assert_eq!((table.copies(B, 1), table.born(B), table.memos(B)), (MOST, None, [Some(256), None]));
        table.corrected(B, Day(9));
        table.corrected(C, Day(9));
        table.copied((A, 1), (C, 0));
        assert_eq!((table.born(B), table.copies(C, 0), table.born(C)), (None, 3, Some(Day(8))));
        table.erased(B);
        table.corrected(B, Day(9));
        assert_eq!((table.copies(B, 1), table.born(B)), (0, Some(Day(9))));
    }

    #[test]
    fn the_table_comes_back_from_its_image() {
        let mut table = table();
        table.corrected(A, Day(3));
        table.copied((A, 0), (B, 1));
        table.found(C, Some(7), None);
        let mut back = self::table();
        back.copied((A, 2), (C, 3));
        assert!(back.restore(table.image()));
        assert_eq!(back.image(), table.image());
        assert_eq!((back.copies(B, 1), back.copies(C, 3), back.memos(B)), (1, 6, table.memos(B)));
        assert!(!Provenance::new(3, 5).restore(table.image()) && !Provenance::new(2, 4).restore(table.image()));
    }
}
