//! Where a die asks its cells: only dies with physics come here, and those whose reads need retries by rate.

use wordline_cells::{Sensed, Settings, Took, Trace, Try};
use wordline_flash::{Feature, ProgramSettings, ProgramTrace, Target};
use wordline_units::{Microvolts, Nanos};

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
            if !self.is_programmed(place) {
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
        let settings = self.settings();
        self.programmed = *target;
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            let is_first = if self.is_unordered() {
                u32::from(self.blocks[place.block as usize].next_page) == self.sheet.pages_per_program()
            } else {
                place.page == 0
            };
            let Some(array) = &mut self.array else { continue };
            self.took = self.took.with(array.program(place.block, place.page, is_first, now, &settings));
            if P::KEEPS && is_first {
                self.payload.keep_life(place.block, array.kept(place.block));
            }
        }
    }

    /// How the registers say that wordlines are to be programmed.
    fn settings(&self) -> Settings {
        if !self.sheet.capabilities.program_settings {
            return Settings::default();
        }
        let ProgramSettings { window, skip, .. } = ProgramSettings::from_registers(|feature| self.feature(feature));
        Settings { start_margin: millivolts(window.start), final_margin: millivolts(window.end), skip }
    }

    /// What the die tells of its last program, as get-features would bring it out after [`Feature::ProgramTrace`]; nothing where its cells have no physics.
    pub fn program_trace(&mut self) -> Option<ProgramTrace> {
        let lowered = millivolts(Microvolts(self.feature(Feature::CountBelow)));
        let target = self.programmed;
        let mut told: Option<ProgramTrace> = None;
        for plane in planes(target.planes) {
            let place = self.place(&target, plane);
            let Trace { first, last, low_errors, errors } = self.array.as_mut()?.trace(place.block, place.page, lowered.into());
            let trace = ProgramTrace { first, last, low_errors, errors };
            told = Some(told.map_or(trace, |told| told.with(trace)));
        }
        told
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

fn millivolts(voltage: Microvolts) -> f32 {
    voltage.0 as f32 / 1000.0
}
