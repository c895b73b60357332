//! The outbox: orders to stop what dies do, notes for the log and data steps, which the drive collects beside operations and acknowledgements.

use std::collections::VecDeque;

use wordline_flash::Operation;

use crate::state::data::DataStep;
use crate::state::request::Note;

/// Orders to stop, the newest first, and notes, data steps and facts for the drive, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    keeps_data: bool,
    stops: Vec<Operation>,
    notes: VecDeque<Note>,
    steps: VecDeque<DataStep>,
    /// Facts for capacitors to keep, beside the buffer.
    facts: VecDeque<(u32, Vec<u8>)>,
}

impl Outbox {
    /// Creates an empty outbox. `keeps_data`: the drive stores the bytes of user data.
    pub(crate) fn new(keeps_data: bool) -> Outbox {
        Outbox { keeps_data, stops: Vec::new(), notes: VecDeque::new(), steps: VecDeque::new(), facts: VecDeque::new() }
    }

    /// Order `stop` of what its die does.
    pub(crate) fn order_stop(&mut self, stop: Operation) {
        self.stops.push(stop);
    }

    /// The next order to stop what a die is doing.
    #[inline]
    pub(crate) fn next_stop(&mut self) -> Option<Operation> {
        self.stops.pop()
    }

    /// True if a die is to be stopped.
    #[inline]
    pub(crate) fn has_stops(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Queue a note for the log. Units that are healed one after the other are told together.
    pub(crate) fn note(&mut self, note: Note) {
        if let (Note::UnitsHealed(die, units), Some(Note::UnitsHealed(last, sum))) = (note, self.notes.back_mut())
            && *last == die
        {
            *sum += units;
            return;
        }
        self.notes.push_back(note);
    }

    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    #[inline]
    pub(crate) fn next_note(&mut self) -> Option<Note> {
        self.notes.pop_front()
    }

    /// Queue a data step, if the drive keeps data.
    #[inline]
    pub(crate) fn step(&mut self, step: DataStep) {
        if self.keeps_data {
            self.steps.push_back(step);
        }
    }

    #[inline]
    pub(crate) fn next_step(&mut self) -> Option<DataStep> {
        self.steps.pop_front()
    }

    /// Queue `fact`, which capacitors are to keep at `index`, if the drive keeps data.
    pub(crate) fn keep(&mut self, index: u32, fact: Vec<u8>) {
        if self.keeps_data {
            self.facts.push_back((index, fact));
            self.steps.push_back(DataStep::Kept);
        }
    }

    pub(crate) fn next_fact(&mut self) -> Option<(u32, Vec<u8>)> {
        self.facts.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spoken_of_only_where_somebody_keeps_them() {
        for keeps_data in [false, true] {
            let mut outbox = Outbox::new(keeps_data);
            outbox.keep(3, vec![1]);
            outbox.note(Note::WornOut);
            assert_eq!(outbox.next_step(), keeps_data.then_some(DataStep::Kept));
            assert_eq!(outbox.next_fact(), keeps_data.then(|| (3, vec![1])));
            assert!(outbox.has_notes() && outbox.next_note() == Some(Note::WornOut) && !outbox.has_notes());
        }
    }
}
