//! Where a die asks its cells: only dies with physics come here, and those whose reads need retries by rate.

use wordline_cells::{Sensed, Took, Try};
use wordline_flash::{Feature, Target};
use wordline_units::Nanos;

use crate::block::Block;
use crate::chip::Chip;
use crate::payload::{Payload, Place};
use crate::place::planes;

impl<P: Payload> Chip<P> {
    /// Sense a page of each plane; the worst codeword of all counts.
    #[inline(never)]
    pub(crate) fn sense_cells(&mut self, target: &Target, now: Nanos) -> Sensed {
        let level = self.features[Feature::ReadLevel as usize];
        let mut worst = Sensed { worst: 0, corrected: true };
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            let block = &self.blocks[place.block as usize];
            if u32::from(block.next_page) <= place.page {
                // An erased page is all ones, which the controller knows without error correction.
                continue;
            }
            let reads = block.reads;
            let mut disturbed = None;
            if !self.seals.is_empty() {
                if self.is_sealed(place, now) {
                    continue;
                }
                disturbed = self.disturbed(place);
            }
            let Some(array) = &mut self.array else { continue };
            let entry = level.min(array.entries() - 1);
            let sensed = match disturbed {
                None => array.read(place.block, place.page, reads, entry, now),
                Some(by) => array.read_disturbed(place.block, place.page, reads, entry, now, &by),
            };
            worst = Sensed { worst: worst.worst.max(sensed.worst), corrected: worst.corrected && sensed.corrected };
        }
        worst
    }

    /// Whether this try to read a page of each plane can be corrected, where retries come by rate.
    #[inline(never)]
    pub(crate) fn try_serves(&mut self, target: &Target) -> bool {
        let geometry = &self.sheet.geometry;
        let pages_per_layer = geometry.wordlines_per_layer * geometry.cell.bits();
        let entry = self.features[Feature::ReadLevel as usize];
        let mut serves = true;
        for plane in planes(target.planes) {
            let Place { block, page } = self.place(target, plane);
            let &Block { erases, reads, .. } = &self.blocks[block as usize];
            serves &= self.cells.serves(&Try { block, layer: page / pages_per_layer, page, erases, reads, entry });
        }
        serves
    }

    /// Program a wordline, or a page of one, of each plane; the slowest plane decides how long it takes.
    #[inline(never)]
    pub(crate) fn program_cells(&mut self, target: &Target, now: Nanos) {
        self.took = Took::default();
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            let Some(array) = &mut self.array else { continue };
            self.took = self.took.with(array.program(place.block, place.page, now));
            if P::KEEPS && place.page == 0 {
                self.payload.keep_life(place.block, array.kept(place.block));
            }
        }
    }

    /// Erase a block of each plane; the slowest decides.
    pub(crate) fn erase_cells(&mut self, target: &Target, now: Nanos) {
        self.took = Took::default();
        for plane in planes(target.planes) {
            let block = self.flat(target, plane) as u32;
            let Some(array) = &mut self.array else { continue };
            self.took = self.took.with(array.erase(block, now));
        }
    }

    /// A span of the data sheet as these cells take it.
    #[inline(always)]
    pub(crate) fn paced(&self, span: Nanos) -> Nanos {
        if self.array.is_none() { span } else { Nanos((span.0 as f64 * self.took.pace) as u64) }
    }
}
