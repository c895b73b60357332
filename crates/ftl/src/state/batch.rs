//! The program that a die is doing: what it carries, what its spare areas say, and how it is to be done.

use wordline_flash::{Origin, ProgramSettings};
use wordline_units::Lpn;

use crate::state::buffer::Buffer;
use crate::state::data::MetadataKind;
use crate::state::map::Map;
use crate::state::work::Entry;

/// The program that a die is doing.
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
    use crate::state::work::Moved;

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
