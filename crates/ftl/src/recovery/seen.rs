//! Findings in the pages of one block group after a power cut, and the rules for pages that cannot be read.
//!
//! An unreadable page is *torn* if its program never ended; then nothing that was promised is in it. Otherwise it is *lost*: its units are those
//! that the second copy of its marks names. The rules:
//!
//! 1. Where a second copy of the marks is found, in the group's summary, in the journal or with capacitors, it decides. That holds for pages that can be read,
//!    too: a unit that it does not name was given up, because its program was not relied on.
//! 2. A page of a group that was never closed and of which there is no second copy was not sealed: nothing that it made stale is gone, and no flush covers it.
//!    It passes for torn.
//! 3. Otherwise nobody can tell what it held. That takes a second failure, and then all units are refused.

use std::collections::BTreeMap;

use crate::pages::oob::{Filling, MarkCopy, OobPage, ProgramMarks};
use crate::state::layout::Layout;

/// A page that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    /// Offset of the page's first unit.
    pub(crate) first: u32,
    /// True if the page was made unreadable on purpose, after all its data had become stale.
    pub(crate) is_gone: bool,
}

/// Findings about the blocks of one group while they were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) unread: Vec<Unread>,
    summaries: Vec<OobPage>,
    /// The first program unit that holds pages of a summary.
    summary_at: Option<u32>,
    /// Marks of whole pages, by offset, until it is known that a summary holds them.
    marks: Vec<MarkCopy>,
    /// Number of program units up to the last that is not erased.
    pub(crate) written: u32,
    /// Number of program units up to the last of which no page is erased: one with an erased page never ended.
    full: u32,
    /// Number of erased program units that take data, as far as they were read.
    blank_data: u32,
    /// Number of whole pages.
    pub(crate) whole: u32,
    /// Number of program units without a whole page of which some pages cannot be read.
    unread_programs: u32,
    /// Number of program units of which some pages are erased and others are not.
    partial: u32,
    /// Units of whole pages that have lost sectors.
    spoilt: Vec<u32>,
    /// True if a program unit is erased only in part, or lies before one that is not erased.
    pub(crate) is_ragged: bool,
}

impl Seen {
    /// Note a page of a summary, in program unit `program`.
    pub(crate) fn note_summary(&mut self, program: u32, page: OobPage) {
        self.summaries.push(page);
        self.summary_at = Some(self.summary_at.map_or(program, |first| first.min(program)));
    }

    /// Note the `marks` of a whole page, whose first unit is at offset `first`.
    pub(crate) fn note_marks(&mut self, first: u32, marks: impl Iterator<Item = MarkCopy>, layout: &Layout) {
        if first < layout.data_units {
            if self.marks.is_empty() {
                self.marks = vec![MarkCopy::NOTHING; layout.data_units as usize];
            }
            for (known, mark) in self.marks.iter_mut().skip(first as usize).zip(marks) {
                *known = mark;
                self.spoilt.extend(mark.is_spoilt.then_some(mark.lpn));
            }
        }
    }

    /// Units that a page or a summary names as lost in part, whichever of their copies is the newest.
    pub(crate) fn spoilt(&self) -> impl Iterator<Item = u32> + '_ {
        let in_summaries = self.summaries.iter().flat_map(|page| &page.marks).filter(|mark| mark.is_spoilt).map(|mark| mark.lpn);
        in_summaries.chain(self.spoilt.iter().copied())
    }

    /// Note the state of the pages of program unit `program`: `erased` of `pages` are erased, `whole` are whole, and `gone` were made unreadable.
    pub(crate) fn note_program(&mut self, program: u32, (erased, whole, gone, pages): (u32, u32, u32, u32), layout: &Layout) {
        self.whole += whole;
        self.blank_data += u32::from(erased == pages && program < layout.data_programs);
        if erased < pages {
            self.partial += u32::from(erased > 0);
            self.is_ragged |= erased > 0 || program > self.written;
            self.written = program + 1;
            if erased == 0 {
                self.full = program + 1;
                self.unread_programs += u32::from(whole == 0 && gone < pages);
            }
        }
    }

    /// Note an unreadable page behind erased ones: nothing more is to be programmed in the group before it is erased.
    pub(crate) fn note_stray(&mut self) {
        self.is_ragged = true;
    }

    /// True if a page before the unit at offset `first` cannot be read.
    pub(crate) fn unread_before(&self, first: u32) -> bool {
        self.unread.iter().any(|page| page.first < first)
    }

    /// True if some blocks of the group have been erased and others have not: power was lost meanwhile, and nothing in the group was needed. Of programs,
    /// only the last can have been cut short.
    pub(crate) fn is_erased_in_part(&self) -> bool {
        self.partial > 1
    }

    /// True if the summary holds the marks of all data that was programmed.
    pub(crate) fn is_summarised(&self, layout: &Layout) -> bool {
        let end = self.written.min(layout.data_programs) * layout.units_per_program;
        let mut parts: Vec<(u32, u32)> = self.summaries.iter().map(|page| (page.first, page.first + page.marks.len() as u32)).collect();
        parts.sort_unstable();
        let covered = parts.into_iter().fold(0, |covered, (first, after)| if first <= covered { covered.max(after) } else { covered });
        covered >= end
    }

    /// True if the group holds data and no summary was ever begun, as in the format before summaries.
    pub(crate) fn is_old(&self, layout: &Layout) -> bool {
        self.summaries.is_empty() && self.written > layout.data_programs && self.unread.iter().all(|page| page.first < layout.data_units)
    }

    /// End the reading of the group: marks that a summary holds, or for which no summary will be written, are dropped.
    pub(crate) fn end(&mut self, layout: &Layout) {
        if self.is_summarised(layout) || self.is_old(layout) {
            self.marks = Vec::new();
        }
    }

    /// Marks of all that is or was in the group, as far as they are known; `None`: they are not.
    pub(crate) fn known_marks(&self) -> Option<Box<dyn Iterator<Item = &MarkCopy> + '_>> {
        if !self.summaries.is_empty() {
            Some(Box::new(self.summaries.iter().flat_map(|page| &page.marks)))
        } else if !self.marks.is_empty() {
            Some(Box::new(self.marks.iter()))
        } else {
            None
        }
    }

    /// Marks of the group's whole pages, for a group whose summary is yet to be written.
    pub(crate) fn marks(&self) -> &[MarkCopy] {
        &self.marks
    }

    /// True if unreadable data of the group may be needed, where no second copy of the marks is found: the third rule. `are_marks_lost`: the journal lacks
    /// a page of marks. `has_summary`: the group was given a summary before its end. `spared`: greatest number of its program units that the last erase has
    /// spared.
    pub(crate) fn may_be_needed(&self, layout: &Layout, has_summary: bool, are_marks_lost: bool, spared: u32) -> bool {
        // Blank is not torn: a summary at the end follows data in all that takes it, but for what an erase has spared.
        let was_closed = has_summary || (self.full > layout.data_programs && self.blank_data <= spared);
        // Of several programs only the last can have been under way; and a group of which nothing is whole may have held anything.
        let is_blank = self.whole == 0 && self.unread_programs > 1;
        was_closed || is_blank || are_marks_lost
    }
}

/// Second copies of marks that were found outside of groups: in the journal and with capacitors.
#[derive(Clone, Debug, Default)]
pub(crate) struct SealedMarks(BTreeMap<(Filling, u32), Vec<MarkCopy>>);

impl SealedMarks {
    /// Take in `records`.
    pub(crate) fn learn(&mut self, records: impl IntoIterator<Item = ProgramMarks>) {
        self.0.extend(records.into_iter().map(|record| ((record.filling, record.program), record.marks)));
    }

    /// Units that a mark names as lost in part, whichever of their copies is the newest.
    pub(crate) fn spoilt(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.values().flatten().filter(|mark| mark.is_spoilt).map(|mark| mark.lpn)
    }

    /// First program unit of the summary that the blocks with this `filling` were given before their end, as the journal says or as was seen; `None`: they
    /// were not.
    pub(crate) fn early_summary(&self, filling: Filling, seen: &Seen, layout: &Layout) -> Option<u32> {
        let told = self.0.get(&(filling, layout.programs)).and_then(|marks| u32::try_from(marks.first()?.version).ok());
        told.or(seen.summary_at.filter(|&begin| begin < layout.data_programs))
    }

    /// True if a record of program unit `program` of the blocks with this `filling` has all of these `marks` that name a unit.
    pub(crate) fn has_all(&self, filling: Filling, program: u32, marks: &[MarkCopy]) -> bool {
        let is_in = |record: &Vec<MarkCopy>| record.iter().zip(marks).all(|(known, mark)| *mark == MarkCopy::NOTHING || known == mark);
        self.0.get(&(filling, program)).is_some_and(is_in)
    }

    /// True if a second copy of a mark of the blocks with this `filling` names no unit.
    pub(crate) fn has_nothing(&self, filling: Filling, seen: &Seen) -> bool {
        let in_summaries = seen.summaries.iter().filter(|page| page.filling == filling).flat_map(|page| &page.marks);
        let told = self.0.range((filling, 0)..=(filling, u32::MAX)).flat_map(|(_, marks)| marks);
        in_summaries.chain(told).any(|mark| *mark == MarkCopy::NOTHING)
    }

    /// Second copy of the mark of the unit at `offset` of the blocks with this `filling`; `None`: there is none.
    pub(crate) fn mark(&self, filling: Filling, offset: u32, seen: &Seen, layout: &Layout) -> Option<MarkCopy> {
        let in_summary = |page: &OobPage| {
            let at = offset.checked_sub(page.first)?;
            page.marks.get(at as usize).copied().filter(|_| page.filling == filling)
        };
        seen.summaries.iter().find_map(in_summary).or_else(|| {
            let (program, unit) = (offset / layout.units_per_program, offset % layout.units_per_program);
            self.0.get(&(filling, program))?.get(unit as usize).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    fn layout() -> Layout {
        Layout::new(&small_sheet(1, 5, ProgramScope::Page), 1, 5, Bytes::kib(4)).with_oob_copies(crate::pages::oob::marks_per_page(16_384))
    }

    const FILLING: Filling = Filling { die: 0, blocks: [1, 0, 0, 0], erases: 3 };

    fn mark(n: u32) -> MarkCopy {
        MarkCopy { lpn: n, version: u64::from(n) + 1, insecure: false, is_spoilt: false }
    }

    #[test]
    fn a_second_copy_counts_for_its_own_filling_alone() {
        let (layout, mut seen, mut sealed) = (layout(), Seen::default(), SealedMarks::default());
        sealed.learn([ProgramMarks { filling: FILLING, program: 2, marks: (8..12).map(mark).collect() }]);
        assert_eq!(sealed.mark(FILLING, 9, &seen, &layout), Some(mark(9)));
        assert_eq!(sealed.mark(FILLING, 12, &seen, &layout), None);
        assert_eq!(sealed.mark(Filling { erases: 4, ..FILLING }, 9, &seen, &layout), None);
        seen.note_summary(layout.data_programs, OobPage { filling: FILLING, first: 0, marks: (0..44).map(mark).collect() });
        assert_eq!(sealed.mark(FILLING, 12, &seen, &layout), Some(mark(12)));
        assert_eq!(sealed.mark(Filling { erases: 4, ..FILLING }, 12, &seen, &layout), None);
    }

    #[test]
    fn a_record_has_all_marks_but_those_that_it_passes_over() {
        let mut sealed = SealedMarks::default();
        sealed.learn([ProgramMarks { filling: FILLING, program: 2, marks: vec![mark(1), MarkCopy::NOTHING] }]);
        let has_all = |program: u32, marks: &[MarkCopy]| sealed.has_all(FILLING, program, marks);
        assert!(has_all(2, &[mark(1), MarkCopy::NOTHING]) && has_all(2, &[MarkCopy::NOTHING, MarkCopy::NOTHING]));
        assert!(!has_all(2, &[mark(1), mark(2)]) && !has_all(3, &[mark(1), MarkCopy::NOTHING]));
    }

    #[test]
    fn an_open_group_needs_none_of_what_is_torn_and_a_closed_one_all() {
        let layout = layout();
        let mut open = Seen::default();
        (0..3).for_each(|program| open.note_program(program, (0, u32::from(program < 2), 0, 1), &layout));
        assert!(!open.may_be_needed(&layout, false, false, 0) && open.may_be_needed(&layout, false, true, 0));
        assert!(open.may_be_needed(&layout, true, false, 0), "it had a summary, which is not found");
        let mut closed = Seen::default();
        (0..layout.programs).for_each(|program| closed.note_program(program, (0, u32::from(program < 2), 0, 1), &layout));
        assert!(closed.may_be_needed(&layout, false, false, 0));
        let mut unread = Seen::default();
        unread.note_program(0, (0, 0, 0, 1), &layout);
        assert!(!unread.may_be_needed(&layout, false, false, 0), "the power went during its first program");
        unread.note_program(1, (0, 0, 0, 1), &layout);
        assert!(unread.may_be_needed(&layout, false, false, 0));
    }
}
