//! Effects of page locks, block locks and one-shot reprogramming on the cells of a die.
//!
//! Which pages are locked, and since when, the die knows; here is whether flag cells and select cells still say so, and what the pulses have done to
//! the data cells beside them. Wordlines without such pulses never come here.

use wordline_units::Nanos;

use super::{CellArray, Life, Look, Sensed};
use crate::flag;
use crate::reading::unit;

/// Lock and reprogram pulses that a wordline has had since it was programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbed {
    /// Number of page locks on the wordline, and the pulse length of each, in microseconds.
    pub locks: u32,
    /// Pulse length of each of `locks`, in microseconds.
    pub lock_time: f64,
    /// Bit p: page p was destroyed by one-shot reprogramming.
    pub reprogrammed: u8,
}

impl CellArray {
    /// Senses a page, as [`CellArray::read`] does, of a wordline that has had lock or reprogram pulses.
    pub fn read_disturbed(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos, by: &Disturbed) -> Sensed {
        let (rate, wear) = self.disturbed_rate(block, page, reads, entry, now, by);
        self.bring_out(block, page, rate, wear)
    }

    /// The raw bit error rate of a read of a disturbed wordline, and the wordline's wear in reference cycles. With locks alone it is the table's rate with
    /// more noise. With destroyed pages it is the model's own rate, since the grid knows no such states.
    pub fn disturbed_rate(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos, by: &Disturbed) -> (f64, f64) {
        let (rate, wear) = self.own_disturbed_rate(block, page, reads, entry, now, by);
        (self.with_carried(block, page, rate), wear)
    }

    /// The rate that [`CellArray::disturbed_rate`] gives, without what copybacks carried over.
    fn own_disturbed_rate(&mut self, block: u32, page: u32, reads: u32, entry: u32, now: Nanos, by: &Disturbed) -> (f64, f64) {
        let life = self.lives[block as usize];
        let (wordline, kind) = (page / self.bits, page % self.bits);
        let layer = wordline / self.wordlines_per_layer;
        let traits = self.traits(block, layer);
        let course = self.courses.of(block, wordline);
        if by.reprogrammed == 0 {
            let steps = self.steps(block, &life, layer, page, reads, now);
            let relief = self.relief_step(block, wordline);
            let (mut rates, wear) = self.rates(&life, &traits, relief, steps, entry, self.dose(by));
            if course > 0 {
                let kept = self.kept_and_read(steps);
                self.add_strays(&life, course, &traits, wear, kept, &self.model.references(entry), &mut rates);
            }
            return (rates[kind as usize], wear);
        }
        let cells = self.exact(&Look { block, page, reads, disturbed: by, now });
        (cells.error_rate(&self.model, kind, &self.model.references(entry)), cells.wear)
    }

    /// Sum of the doses that the page locks of a wordline have put on the data cells beside its flags.
    pub(super) fn dose(&self, by: &Disturbed) -> f64 {
        let flags = &self.model.physics().flag;
        if by.locks == 0 { 0.0 } else { f64::from(by.locks) * flag::dose(flags, flags.voltage, by.lock_time) }
    }

    /// True if the flag of a page that was locked at `since`, by a pulse of `time` microseconds, still reads as locked by majority. A flag that has lost its
    /// majority does not get it back.
    pub fn page_lock_holds(&self, block: u32, page: u32, time: f64, since: Nanos, now: Nanos) -> bool {
        let physics = self.model.physics();
        let kept = self.kept_since(block, page, since, now);
        let holding = flag::holding(physics, physics.flag.voltage, time, kept);
        unit(self.locks.at(self.filling(block, page))) < flag::majority(holding, physics.flag.cells as u32)
    }

    /// True if the select cells of a block that was locked at `since`, by a pulse of `time` microseconds, still cut off so many bit lines that no page can be
    /// corrected.
    pub fn block_lock_holds(&self, block: u32, time: f64, since: Nanos, now: Nanos) -> bool {
        let select = &self.model.physics().select;
        let centre = flag::select_centre(select, select.voltage, time, self.kept_since(block, 0, since, now));
        flag::locked_error_rate(select, centre) > self.model.limit()
    }

    /// Equivalent seconds at the reference temperature from `since` to `now`, with any preset age added.
    fn kept_since(&self, block: u32, page: u32, since: Nanos, now: Nanos) -> f64 {
        let life: &Life = &self.lives[block as usize];
        let is_aged = page < u32::from(life.aged_pages) && since <= life.erased;
        let age = if is_aged { self.aged } else { 0.0 };
        let aged = age + self.rests.since(since, block, page);
        aged + (self.warm_seconds(now) - self.warm_seconds(since)).max(0.0)
    }
}
