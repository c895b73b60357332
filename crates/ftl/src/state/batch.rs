//! The program that a die is doing, and the one that it does next: what it carries, what its spare areas say, and how it is to be done.

use std::collections::VecDeque;

use wordline_flash::{Origin, ProgramSettings};
use wordline_units::{Lpn, OpTag};

use crate::state::buffer::Buffer;
use crate::state::data::MetadataKind;
use crate::state::map::Map;
use crate::state::work::{Entry, Moved};

/// The program that a die is doing, and the one whose data it takes in meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    now: Batch,
    /// The one that the die does next; empty where none is ordered.
    next: Box<Batch>,
    /// Tag of the next program, if it is ordered.
    next_tag: Option<OpTag>,
    /// Number of programs that the die has begun without being asked for other work.
    in_a_row: u8,
    /// True if the die has read since its last program.
    has_read: bool,
}

impl Programs {
    /// Programs of a die that does nothing.
    pub(crate) fn new() -> Programs {
        Programs { now: Batch::new(), next: Box::new(Batch::new()), next_tag: None, in_a_row: 0, has_read: false }
    }

    /// The program that the die is doing.
    #[inline]
    pub(crate) fn now(&self) -> &Batch {
        &self.now
    }

    #[inline]
    pub(crate) fn now_mut(&mut self) -> &mut Batch {
        &mut self.now
    }

    /// The program of the operation `tag`, which is under way or comes next.
    #[inline]
    pub(crate) fn of(&self, tag: OpTag) -> &Batch {
        if self.next_tag == Some(tag) { &self.next } else { &self.now }
    }

    /// True if the next program is ordered.
    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        self.next_tag.is_some()
    }

    /// Exchange the program that the die is doing for the next one: to gather the latter, and back.
    pub(crate) fn exchange(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Note that the program `tag` of host data is ordered while the die is doing another.
    pub(crate) fn follow_with(&mut self, tag: OpTag) {
        debug_assert_eq!(self.next_tag, None, "a die takes in the data of one program");
        self.next_tag = Some(tag);
        self.in_a_row += 1;
    }

    /// Note that the die begins an operation. `is_long`: it is no read.
    #[inline]
    pub(crate) fn note(&mut self, is_long: bool) {
        self.has_read |= !is_long;
    }

    /// Note that the die was asked for other work before its present program. Returns true if it has not read since the program before.
    pub(crate) fn begin_row(&mut self) -> bool {
        self.in_a_row = 0;
        !std::mem::take(&mut self.has_read)
    }

    /// Number of programs that the die has begun, or will begin next, without being asked for other work.
    pub(crate) fn in_a_row(&self) -> u8 {
        self.in_a_row
    }

    /// Note that the report of the program under way was taken, and that the next is under way, if there is one. Returns its tag.
    pub(crate) fn go_on(&mut self) -> Option<OpTag> {
        let next = self.next_tag.take();
        if next.is_some() {
            self.exchange();
        }
        next
    }
}

/// A program, unit by unit.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    entries: Vec<Entry>,
    /// Numbers of host, moved and padding units in the program.
    origin: Origin,
    spare: Vec<Lpn>,
    settings: ProgramSettings,
}

impl Batch {
    /// An empty batch.
    pub(crate) fn new() -> Batch {
        Batch {
            entries: Vec::new(),
            origin: Origin { host: 0, moved: 0, padding: 0 },
            spare: Vec::new(),
            settings: ProgramSettings::DEFAULT,
        }
    }

    /// Begin to gather the units of a program.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.entries.clear();
        self.spare.clear();
        // Pages of the core's own are programmed as the die does by itself.
        self.settings = ProgramSettings::DEFAULT;
        self.origin = Origin::default();
    }

    /// Put a unit into the program that is being gathered.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry, lpn: u32) {
        let count = match entry {
            Entry::Host { .. } => &mut self.origin.host,
            Entry::Moved(_) => &mut self.origin.moved,
            Entry::Padding | Entry::Metadata { .. } => &mut self.origin.padding,
        };
        *count += 1;
        self.entries.push(entry);
        self.spare.push(Lpn(lpn));
    }

    /// Fill a program of `units` units with metadata of this `kind`.
    pub(crate) fn fill(&mut self, units: u32, kind: MetadataKind) {
        self.begin();
        (0..units).for_each(|unit| self.push(Entry::Metadata { kind, unit }, kind.lpn().0));
    }

    /// Fill a program of `units` units from the buffer, and with padding where the buffer has too few.
    #[inline]
    pub(crate) fn fill_from(&mut self, units: u32, buffer: &mut Buffer, map: &Map) {
        self.begin();
        for _ in 0..units {
            match buffer.take() {
                Some((slot, lpn)) => {
                    map.prefetch(lpn);
                    self.push(Entry::Host { slot }, lpn);
                }
                None => self.push(Entry::Padding, u32::MAX),
            }
        }
    }

    /// Fill a program of `units` units from those that wait to be programmed elsewhere, and with padding where there are too few.
    pub(crate) fn fill_moved(&mut self, units: u32, waiting: &mut VecDeque<Moved>) {
        self.begin();
        for _ in 0..units {
            match waiting.pop_front() {
                Some(moved) => self.push(Entry::Moved(moved), moved.lpn),
                None => self.push(Entry::Padding, u32::MAX),
            }
        }
    }

    /// Fill a program of `units` units with counts of copies, which are padding to all that looks for data.
    pub(crate) fn fill_counters(&mut self, units: u32) {
        self.begin();
        (0..units).for_each(|_| self.push(Entry::Padding, u32::MAX));
    }

    /// The units of the program.
    #[inline]
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Take the units out; the caller gives the vector back by [`Batch::end`].
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// End the program. `room` is the emptied vector for the next.
    #[inline]
    pub(crate) fn end(&mut self, mut room: Vec<Entry>) {
        room.clear();
        self.entries = room;
    }

    /// End a program of the core's own.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Spare areas of the program, one logical page number for each unit.
    #[inline]
    pub(crate) fn spare(&self) -> &[Lpn] {
        &self.spare
    }

    /// Origin of the program's units.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Settings of the program or copyback.
    #[inline]
    pub(crate) fn settings(&self) -> &ProgramSettings {
        &self.settings
    }

    pub(crate) fn set(&mut self, settings: ProgramSettings) {
        self.settings = settings;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::UnitAddr;

    #[test]
    fn the_next_program_of_a_die_is_its_present_one_once_that_has_ended() {
        let mut programs = Programs::new();
        programs.now_mut().push(Entry::Host { slot: 1 }, 7);
        programs.exchange();
        programs.now_mut().push(Entry::Host { slot: 2 }, 8);
        programs.exchange();
        programs.follow_with(OpTag(5));
        let first = |batch: &Batch| batch.spare()[0].0;
        assert_eq!((first(programs.now()), first(programs.of(OpTag(4))), first(programs.of(OpTag(5)))), (7, 7, 8));
        assert!(programs.has_next() && programs.go_on() == Some(OpTag(5)) && !programs.has_next());
        assert_eq!((first(programs.now()), first(programs.of(OpTag(5))), programs.in_a_row()), (8, 8, 1));
        assert!(programs.begin_row() && programs.go_on().is_none() && programs.in_a_row() == 0);
        programs.note(true);
        assert!(programs.begin_row());
        programs.note(false);
        assert!(!programs.begin_row() && programs.begin_row(), "it has read once");
    }

    #[test]
    fn a_program_counts_what_it_carries_and_forgets_how_the_last_was_done() {
        let mut batch = Batch::new();
        batch.set(ProgramSettings { skip: [1; 15], ..ProgramSettings::DEFAULT });
        batch.begin();
        batch.push(Entry::Host { slot: 0 }, 7);
        batch.push(Entry::Moved(Moved { lpn: 8, from: UnitAddr(1) }), 8);
        batch.push(Entry::Padding, u32::MAX);
        assert_eq!((batch.origin(), batch.spare().len()), (Origin { host: 1, moved: 1, padding: 1 }, 3));
        assert_eq!(*batch.settings(), ProgramSettings::DEFAULT);
        let room = batch.take();
        assert!(batch.entries().is_empty() && room.len() == 3);
        batch.end(room);
        assert!(batch.entries().is_empty());
    }
}
