//! Where a die asks its cells: only dies with physics come here, and those whose reads need retries, or whose programs take less, by rate.

use std::sync::Arc;

use wordline_cells::{Look, References, Sensed, Settings, Took, Trace, Try};
use wordline_flash::command::PLANES_MAX;
use wordline_flash::program::STATES_MAX;
use wordline_flash::{EraseTrace, Feature, ProgramSettings, ProgramTrace, ReadOffsets, ReadSets, Tally, Target};
use wordline_units::memory::prefetch;
use wordline_units::{Microvolts, Nanos, PageId, PlaneId, WordlineSet};

use crate::block::Block;
use crate::chip::Chip;
use crate::payload::Place;
use crate::place::planes;

/// The loop in which all cells have arrived of a wordline whose programs are by rate: late enough for a controller to narrow the settings of its followers.
const ARRIVED: u8 = 8;

impl Chip {
    /// Begins to load what is known of the page of `target` in its first plane, which will be sensed soon, and waits for nothing.
    #[inline]
    pub fn prefetch(&self, target: &Target) {
        let Some(plane) = target.planes.first_plane() else { return };
        let block = self.flat(target, plane);
        prefetch(&self.blocks[block]);
        if let Some(array) = &self.array {
            array.prefetch(block as u32, u32::from(target.page.0));
        }
    }

    /// Sense a page of each plane; the worst codeword of all counts.
    #[inline(never)]
    pub(crate) fn sense_cells(&mut self, target: &Target, now: Nanos) -> Sensed {
        let level = self.features[Feature::ReadLevel as usize];
        let mut worst = Sensed { worst: 0, corrected: true, rate: 0.0 };
        self.registers.sensed = [(0.0, 0); PLANES_MAX];
        let shift = self.shifts_reads.then(|| self.shifts());
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
            let sensed = match (&shift, disturbed, self.read_set) {
                (Some(_), None, Some(set)) => array.read_set(place.block, place.page, reads, usize::from(set) - 1, now),
                (Some(shift), by, _) => {
                    let look = Look { block: place.block, page: place.page, reads, disturbed: &by.unwrap_or_default(), now };
                    array.read_shifted(&look, entry, shift)
                }
                (None, None, _) => array.read(place.block, place.page, reads, entry, now),
                (None, Some(by), _) => array.read_disturbed(place.block, place.page, reads, entry, now, &by),
            };
            self.registers.sensed[usize::from(plane.0)] = (sensed.rate, sensed.worst);
            worst = worst.with(sensed);
        }
        worst
    }

    /// The shifts of the read references that the registers say, lowest reference first.
    fn shifts(&self) -> References {
        shifts_of(&ReadOffsets::from_registers(|feature| self.feature(feature)))
    }

    /// Numbers of the references that `page` is read with, rising; none where the cells have no physics.
    pub fn references_of(&self, page: PageId) -> &[u8] {
        self.array.as_ref().map_or(&[], |array| array.references_of(page.0.into()))
    }

    /// Counts, over all planes of `target`, the bits that differ between two reads of which only reference `reference` stands elsewhere: `from` and `to` steps
    /// of [`ReadOffsets::STEP`] from its place in the present entry of the retry table. A controller counts them in the data of both reads; the bytes that are
    /// kept here have no errors in them, so the cells are asked. Pages without data count nothing.
    pub fn count_between(&mut self, target: &Target, reference: u8, from: i8, to: i8, now: Nanos) -> u32 {
        let level = self.features[Feature::ReadLevel as usize];
        let mut count = 0u32;
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            if !self.is_programmed(place) || (!self.seals.is_empty() && self.is_sealed(place, now)) {
                continue;
            }
            let disturbed = if self.seals.is_empty() { None } else { self.disturbed(place) };
            let reads = self.blocks[place.block as usize].reads;
            let Some(array) = &mut self.array else { continue };
            let look = Look { block: place.block, page: place.page, reads, disturbed: &disturbed.unwrap_or_default(), now };
            let entry = level.min(array.entries() - 1);
            let shift = |steps: i8| f64::from(steps) * SHIFT;
            count = count.saturating_add(array.count_between(&look, entry, reference, shift(from), shift(to)));
        }
        count
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
            if self.payload.is_some() && is_first {
                self.keep_life(place.block);
            }
        }
    }

    /// The pages of `target` are programmed with data from the controller, which has no errors.
    #[cold]
    pub(crate) fn program_clean(&mut self, target: &Target) {
        for plane in planes(target.planes) {
            let (place, pages) = (self.place(target, plane), self.sheet.pages_per_program());
            if self.array.as_mut().is_some_and(|array| array.program_clean(place.block, place.page, pages)) {
                self.keep_life(place.block);
            }
        }
    }

    /// A copyback programs what was sensed in `plane` to `place`. The store hears of the errors before it gets the bytes: after a power cut between the two,
    /// the entry belongs to a page that is erased or torn.
    pub(crate) fn carry(&mut self, plane: PlaneId, place: Place) {
        let (rate, _) = self.registers.sensed[usize::from(plane.0)];
        if self.array.as_mut().is_some_and(|array| array.carry(place.block, place.page, rate)) {
            self.keep_life(place.block);
        }
    }

    /// Lets the store keep what is to outlive the power of the cells of a block.
    pub(crate) fn keep_life(&mut self, block: u32) {
        if self.payload.is_some() && (self.array.is_some() || self.sheet.capabilities.guarded_erase) {
            match &self.array {
                Some(array) => array.keep(block, &mut self.life),
                None => self.life.clear(),
            }
            if let Some(spared) = self.guard.of(block) {
                self.life.set_spared(*spared);
            }
            if let Some(payload) = &mut self.payload {
                payload.keep_life(block, &self.life);
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

    /// What the die tells of its last program, as get-features would bring it out after [`Feature::ProgramTrace`]; nothing where its cells have no physics,
    /// and always the same where narrowed programs are by rate.
    pub fn program_trace(&mut self) -> Option<ProgramTrace> {
        if self.array.is_none() && self.cells.program_saving() > 0.0 {
            return Some(ProgramTrace { first: [ARRIVED; STATES_MAX], last: [ARRIVED; STATES_MAX], ..ProgramTrace::default() });
        }
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
    pub(crate) fn erase_cells(&mut self, target: &Target, now: Nanos, spared: WordlineSet) {
        self.took = Took::default();
        for plane in planes(target.planes) {
            let block = self.flat(target, plane) as u32;
            let Some(array) = &mut self.array else { continue };
            self.took = self.took.with(array.erase_guarded(block, now, spared));
        }
        self.note_erase();
    }

    /// Bring out an erase again that has ended long ago.
    pub(crate) fn bring_out_erase(&mut self, target: &Target) {
        self.took = Took::default();
        for plane in planes(target.planes) {
            let block = self.flat(target, plane) as u32;
            let Some(array) = &mut self.array else { continue };
            self.took = self.took.with(array.last_erase(block));
        }
        self.note_erase();
    }

    /// Put what an erase was like into the register.
    fn note_erase(&mut self) {
        let Took { loops, part, .. } = self.took;
        self.features[Feature::EraseTrace as usize] = EraseTrace { loops, part, stops: 0 }.register();
    }

    /// What the die tells of its last erase, as get-features brings it out; nothing where its cells have no physics.
    pub fn erase_trace(&self) -> Option<EraseTrace> {
        self.array.as_ref()?;
        Some(EraseTrace::from_register(self.feature(Feature::EraseTrace)))
    }

    /// The erase of a block of each plane has been stopped, `stops` times by now: its cells wear more.
    #[cold]
    pub(crate) fn stop_cells(&mut self, target: &Target, stops: u32) {
        for plane in planes(target.planes) {
            let block = self.flat(target, plane) as u32;
            let Some(array) = &mut self.array else { continue };
            array.stopped(block, stops);
            self.keep_life(block);
        }
        let trace = EraseTrace::from_register(self.feature(Feature::EraseTrace));
        self.features[Feature::EraseTrace as usize] = EraseTrace { stops: stops.min(u32::from(u16::MAX)) as u16, ..trace }.register();
    }

    /// Registers of shifted references, of the entry of the retry table or of spared wordlines have changed: what commands ask of them is worked out.
    pub(crate) fn note_registers(&mut self) {
        self.shifts_reads = Feature::READ_OFFSETS.iter().any(|&offsets| self.feature(offsets) != 0);
        self.has_spares = Feature::SPARES.iter().any(|&spares| self.feature(spares) != 0);
        let is_default = self.feature(Feature::ReadLevel) == 0;
        let offsets = || ReadOffsets::from_registers(|feature| self.feature(feature));
        self.read_set = if self.shifts_reads && is_default { self.read_sets.number_of(&offsets()) } else { None };
    }

    /// Give the die the sets of shifted references that its controller is going to use. Its cells prepare for reads with them: rates are interpolated and
    /// remembered as those of the vendor's table are, which is faster than working each of them out, and within a percent or two the same.
    pub fn set_read_sets(&mut self, sets: Arc<ReadSets>) {
        self.read_sets = sets;
        self.tell_read_sets();
        self.note_registers();
    }

    pub(crate) fn tell_read_sets(&mut self) {
        if let Some(array) = self.array.as_mut().filter(|_| !self.read_sets.is_empty()) {
            array.set_read_sets(self.read_sets.iter().map(shifts_of).collect());
        }
    }

    /// Wrong bits that error correction finds in all codewords of the page of each plane that was sensed last; nothing where the cells have no physics.
    pub fn tally(&self, target: &Target) -> Option<Tally> {
        let array = self.array.as_ref()?;
        let mut tally = Tally::default();
        for plane in planes(target.planes) {
            let place = self.place(target, plane);
            let (rate, worst) = self.registers.sensed[usize::from(plane.0)];
            let sensed = Sensed { worst, corrected: true, rate };
            let bits = if self.is_programmed(place) { array.count_all(place.block, place.page, &sensed) } else { 0 };
            tally = tally.with(Tally { bits, codewords: array.codewords() });
        }
        Some(tally)
    }

    /// t_PROG as these cells take it: by their physics, or by rate where a controller has narrowed their settings.
    #[inline(always)]
    pub(crate) fn programmed_in(&self, span: Nanos) -> Nanos {
        let saving = self.cells.program_saving();
        if saving == 0.0 || self.array.is_some() { self.paced(span) } else { self.shortened(span, saving) }
    }

    #[cold]
    fn shortened(&self, span: Nanos, saving: f64) -> Nanos {
        if self.settings() == Settings::default() { span } else { Nanos((span.0 as f64 * (1.0 - saving)) as u64) }
    }

    /// A span of the data sheet as these cells take it.
    #[inline(always)]
    pub(crate) fn paced(&self, span: Nanos) -> Nanos {
        if self.array.is_none() { span } else { Nanos((span.0 as f64 * self.took.pace) as u64) }
    }
}

fn shifts_of(offsets: &ReadOffsets) -> References {
    core::array::from_fn(|index| f64::from(offsets.of(index as u8 + 1)) * SHIFT)
}

/// Step of a shifted read reference, in mV.
const SHIFT: f64 = ReadOffsets::STEP.0 as f64 / 1000.0;

fn millivolts(voltage: Microvolts) -> f32 {
    voltage.0 as f32 / 1000.0
}
