//! Reads with shifted references, and counts of the cells between two references.
//!
//! A controller that searches for the best references of a page reads it again and again with one of them moved a little. Such reads are rare, and each is of
//! another set of references, so the wordline is worked out exactly each time: no grid and no cache.

use wordline_units::Nanos;

use super::sets::shifted;
use super::{CellArray, Disturbed, Sensed};
use crate::condition::{Condition, Reprogrammed};
use crate::reading::{errors_at, unit};
use crate::special::tail_inverse;
use crate::wordline::{References, Wordline};

/// Bit that separates the random numbers of reprogrammed wordlines from those of flags.
const WORDLINES: u64 = 1 << 63;

/// A page that is read, and when.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Block number, counted over all planes of the die.
    pub block: u32,
    /// Page of the block.
    pub page: u32,
    /// Reads of the block since its erase.
    pub reads: u32,
    /// Lock and reprogram pulses that the wordline has had.
    pub disturbed: &'a Disturbed,
    /// Time of the read.
    pub now: Nanos,
}

impl CellArray {
    /// Senses a page with references that are each `shift` millivolts, lowest first, away from those of entry `entry` of the retry table.
    pub fn read_shifted(&mut self, look: &Look<'_>, entry: u32, shift: &References) -> Sensed {
        let cells = self.exact(look);
        let references = shifted(&self.model, entry, shift);
        let rate = cells.error_rate(&self.model, look.page % self.bits, &references);
        let rate = self.with_carried(look.block, look.page, rate);
        self.bring_out(look.block, look.page, rate, cells.wear)
    }

    /// Counts the cells of a page's wordline between two positions of reference `reference` (1 is R1), given in millivolts from where it stands in entry
    /// `entry` of the retry table. A controller counts them as the bits that differ between two reads. The count is random within its sampling error.
    pub fn count_between(&mut self, look: &Look<'_>, entry: u32, reference: u8, from: f64, to: f64) -> u32 {
        let cells = self.exact(look);
        let at = self.model.references(entry)[usize::from(reference) - 1];
        let above = |shift: f64| cells.states[..cells.count].iter().map(|state| state.above(at + shift)).sum::<f64>();
        let share = (above(from) - above(to)).abs() / cells.count as f64;
        let bits = f64::from(self.model.physics().shape.cells());
        errors_at(share * bits, bits, unit(self.noise.next_u64()))
    }

    /// Numbers of the references that a page is read with, rising; 1 is R1. The data sheet tells them.
    pub fn references_of(&self, page: u32) -> &[u8] {
        self.model.bounds(page % self.bits)
    }

    /// Number of read references of a cell.
    pub fn references(&self) -> usize {
        self.model.physics().shape.states() - 1
    }

    /// The wordline of a page, worked out for this read alone.
    pub(super) fn exact(&mut self, look: &Look<'_>) -> Wordline {
        let life = self.lives[look.block as usize];
        let wordline = look.page / self.bits;
        let layer = wordline / self.wordlines_per_layer;
        let traits = self.traits(look.block, layer);
        let by = look.disturbed;
        let luck = || -tail_inverse(unit(self.locks.at(WORDLINES | self.filling(look.block, wordline))));
        let reprogrammed = (by.reprogrammed != 0).then(|| Reprogrammed { pages: by.reprogrammed, luck: luck() as f32 });
        let course = self.courses.of(look.block, wordline);
        let condition = Condition {
            retention: self.retention(look.block, &life, layer, look.page, look.now),
            reads: f64::from(look.reads),
            lock_dose: self.dose(by) as f32,
            reprogrammed,
            ..self.condition(&life, course, self.gentle(look.block, wordline))
        };
        self.model.wordline(&traits, &condition)
    }
}
