//! The cells of a die: failures by rate, and physics where the die has them.
//!
//! Only dies with physics come beyond the first lines of each question, and those whose reads need retries, or whose programs take less, by rate.

use wordline_cells::{
    CarriedTables, CellArray, Cells, Disturbed, Faults, KeptLife, Look, Outcome, ReliefTables, RestTables, Sensed, Settings, Took, Trace,
    Try,
};
use wordline_flash::program::STATES_MAX;
use wordline_flash::{EraseTrace, ProgramTrace, Sheet, Target};
use wordline_units::memory::prefetch;
use wordline_units::{Geometry, Nanos, WordlineSet};

use crate::block::Block;
use crate::features::{Features, SHIFT};
use crate::place::{Place, Shape, planes};
use crate::work::NOWHERE;

/// The loop in which all cells have arrived of a wordline whose programs are by rate: late enough for a controller to narrow the settings of its followers.
const ARRIVED: u8 = 8;

/// User bytes of a codeword of a die without physics.
const CODEWORD_BYTES: u64 = 1024;

/// Work in the times of the data sheet, without known loops.
const AS_ON_THE_SHEET: Took = Took { pace: 1.0, loops: 0, part: 0 };

/// The cells.
#[derive(Clone, Debug)]
pub(crate) struct DieCells {
    rates: Cells,
    /// Physics; `None`: fixed times, and failures by rate alone.
    physics: Option<Box<CellArray>>,
    /// Times and loops of the program or erase that begins; without physics, the times of the data sheet and no known loops.
    took: Took,
    /// Target of the last program, on a die with physics.
    programmed: Target,
    /// Room for what a store keeps of a block's cells.
    life: KeptLife,
    /// Number of reads that each sensing stands for. No image has it.
    read_times: u32,
    /// Lengths of the pulses that lock a page and a block, in microseconds.
    lock_times: [f64; 2],
    pages_per_layer: u32,
    /// True if erases can spare wordlines, which a store keeps with the life of a block.
    spares: bool,
}

impl DieCells {
    /// The cells of die number `die` of the drive. They have no physics.
    pub(crate) fn new(sheet: &Sheet, faults: Faults, seed: u64, die: u32) -> DieCells {
        DieCells {
            rates: Cells::new(faults, seed, die),
            physics: None,
            took: AS_ON_THE_SHEET,
            programmed: NOWHERE,
            life: KeptLife::default(),
            read_times: 1,
            lock_times: [sheet.timing.lock_page, sheet.timing.lock_block].map(Nanos::as_micros_f64),
            pages_per_layer: sheet.geometry.wordlines_per_layer * sheet.geometry.cell.bits(),
            spares: sheet.capabilities.guarded_erase,
        }
    }

    /// Give the cells physics, with the read sets of the controller.
    pub(crate) fn set_physics(&mut self, array: CellArray, features: &Features) {
        self.physics = Some(Box::new(array));
        self.note_read_sets(features);
    }

    /// Cells prepare for reads with the read sets of the controller, if it has any.
    pub(crate) fn note_read_sets(&mut self, features: &Features) {
        if let Some(array) = &mut self.physics
            && let Some(sets) = features.read_sets()
        {
            array.set_read_sets(sets.into());
        }
    }

    #[inline(always)]
    pub(crate) fn has_physics(&self) -> bool {
        self.physics.is_some()
    }

    #[inline]
    pub(crate) fn physics(&self) -> Option<&CellArray> {
        self.physics.as_deref()
    }

    #[inline]
    pub(crate) fn physics_mut(&mut self) -> Option<&mut CellArray> {
        self.physics.as_deref_mut()
    }

    /// Dice of failures by rate, and tries of reads by rate.
    #[inline(always)]
    pub(crate) fn rates(&self) -> &Cells {
        &self.rates
    }

    #[inline(always)]
    pub(crate) fn rates_mut(&mut self) -> &mut Cells {
        &mut self.rates
    }

    /// Number of reads that each sensing stands for.
    #[inline(always)]
    pub(crate) fn read_times(&self) -> u32 {
        self.read_times
    }

    pub(crate) fn set_read_times(&mut self, times: u32) {
        self.read_times = times;
    }

    /// Share of t_PROG that programs with narrowed settings take less, by rate.
    #[inline(always)]
    pub(crate) fn program_saving(&self) -> f64 {
        self.rates.program_saving()
    }

    /// A span of the data sheet as the last program or erase has taken it.
    #[inline(always)]
    pub(crate) fn paced(&self, span: Nanos) -> Nanos {
        if self.physics.is_none() { span } else { Nanos((span.0 as f64 * self.took.pace) as u64) }
    }

    /// Loops of the last program or erase, of the slowest plane.
    #[inline(always)]
    pub(crate) fn loops(&self) -> u8 {
        self.took.loops
    }

    /// The next program or erase takes the times of the data sheet.
    pub(crate) fn take_sheet(&mut self) {
        self.took = AS_ON_THE_SHEET;
    }

    /// Begins to load what is known of a page that will be sensed soon, and waits for nothing.
    #[inline]
    pub(crate) fn prefetch(&self, place: Place, block: &Block) {
        prefetch(block);
        if let Some(array) = &self.physics {
            array.prefetch(place.block, place.page);
        }
    }

    /// Wrong bits in a codeword of a page that reads as noise: half of them.
    pub(crate) fn noise(&self, geometry: &Geometry) -> u32 {
        let codewords = match &self.physics {
            Some(array) => array.codewords().max(1),
            None => (geometry.page.0 / CODEWORD_BYTES).max(1) as u32,
        };
        let bits = 8 * (geometry.page.0 + geometry.spare.0);
        (bits / u64::from(codewords) / 2) as u32
    }

    /// Length of the pulse that locks a page, in microseconds.
    pub(crate) fn page_lock_time(&self) -> f64 {
        self.lock_times[0]
    }

    /// True if a page that was locked at `since` still is. Without physics, a lock holds.
    pub(crate) fn page_lock_holds(&self, place: Place, since: Nanos, now: Nanos) -> bool {
        let [time, _] = self.lock_times;
        self.physics().is_none_or(|array| array.page_lock_holds(place.block, place.page, time, since, now))
    }

    /// True if a block that was locked at `since` still is. Without physics, a lock holds.
    pub(crate) fn block_lock_holds(&self, block: u32, since: Nanos, now: Nanos) -> bool {
        let [_, time] = self.lock_times;
        self.physics().is_none_or(|array| array.block_lock_holds(block, time, since, now))
    }

    /// Sense a programmed page, which pulses may have disturbed, of a block that has been read `reads` times.
    pub(crate) fn sense(&mut self, place: Place, reads: u32, disturbed: Option<Disturbed>, features: &Features, now: Nanos) -> Sensed {
        let Some(array) = &mut self.physics else { return Sensed { worst: 0, corrected: true, rate: 0.0 } };
        let entry = features.level().min(array.entries() - 1);
        let Place { block, page } = place;
        match (features.shifts_reads(), disturbed, features.read_set()) {
            (true, None, Some(set)) => array.read_set(block, page, reads, set, now),
            (true, by, _) => {
                let shift = features.shifts().unwrap_or_default();
                array.read_shifted(&Look { block, page, reads, disturbed: &by.unwrap_or_default(), now }, entry, &shift)
            }
            (false, None, _) => array.read(block, page, reads, entry, now),
            (false, Some(by), _) => array.read_disturbed(block, page, reads, entry, now, &by),
        }
    }

    /// Bits of a page that differ between two places of reference `reference`: `steps` from its place in entry `level` of the retry table.
    pub(crate) fn count_between(&mut self, look: &Look<'_>, level: u32, reference: u8, steps: [i8; 2]) -> u32 {
        let Some(array) = &mut self.physics else { return 0 };
        let entry = level.min(array.entries() - 1);
        let [from, to] = steps.map(|steps| f64::from(steps) * SHIFT);
        array.count_between(look, entry, reference, from, to)
    }

    /// True if this try to read a page can be corrected, where retries come by rate.
    pub(crate) fn serves(&mut self, place: Place, block: &Block, entry: u32) -> bool {
        let Place { block: number, page } = place;
        let layer = page / self.pages_per_layer;
        self.rates.serves(&Try { block: number, layer, page, erases: block.erases(), reads: block.reads(), entry })
    }

    /// A program of `target` begins. Its planes follow.
    pub(crate) fn begin_program(&mut self, target: &Target) {
        self.took = Took::default();
        self.programmed = *target;
    }

    /// Program a wordline, or a page of one, of one plane; the slowest plane decides how long it takes. `is_first`: of its block.
    pub(crate) fn program(&mut self, place: Place, is_first: bool, now: Nanos, settings: &Settings) {
        if let Some(array) = &mut self.physics {
            self.took = self.took.with(array.program(place.block, place.page, is_first, now, settings));
        }
    }

    /// Trace of the last program, as get-features would bring it out after [`wordline_flash::Feature::ProgramTrace`]; nothing where the cells have no physics,
    /// and always the same where narrowed programs are by rate.
    pub(crate) fn program_trace(&mut self, shape: &Shape, features: &Features) -> Option<ProgramTrace> {
        if self.physics.is_none() && self.program_saving() > 0.0 {
            return Some(ProgramTrace { first: [ARRIVED; STATES_MAX], last: [ARRIVED; STATES_MAX], ..ProgramTrace::default() });
        }
        let lowered = features.count_below();
        let target = self.programmed;
        let mut all: Option<ProgramTrace> = None;
        for plane in planes(target.planes) {
            let place = shape.place(&target, plane);
            let Trace { first, last, low_errors, errors } = self.physics.as_mut()?.trace(place.block, place.page, lowered);
            let trace = ProgramTrace { first, last, low_errors, errors };
            all = Some(all.map_or(trace, |all| all.with(trace)));
        }
        all
    }

    /// Erase blocks, but for spared wordlines; the slowest decides. Returns the trace.
    pub(crate) fn erase(&mut self, blocks: impl Iterator<Item = u32>, now: Nanos, spared: WordlineSet) -> EraseTrace {
        self.took = Took::default();
        for block in blocks {
            let Some(array) = &mut self.physics else { continue };
            self.took = self.took.with(array.erase_guarded(block, now, spared));
        }
        self.erase_trace()
    }

    /// Bring out the last erase of blocks again, which has ended long ago. Returns its trace.
    pub(crate) fn last_erase(&mut self, blocks: impl Iterator<Item = u32>) -> EraseTrace {
        self.took = Took::default();
        for block in blocks {
            let Some(array) = &mut self.physics else { continue };
            self.took = self.took.with(array.last_erase(block));
        }
        self.erase_trace()
    }

    fn erase_trace(&self) -> EraseTrace {
        let Took { loops, part, .. } = self.took;
        EraseTrace { loops, part, stops: 0 }
    }

    /// Outcome of an erase of a block that has been erased `erases` times before, by rate.
    #[inline(always)]
    pub(crate) fn erases_well(&mut self, erases: u32) -> bool {
        self.rates.erase(erases) == Outcome::Good
    }

    /// Restores what copybacks carried over.
    pub(crate) fn restore_carried(&mut self, tables: &CarriedTables) -> Result<(), &'static str> {
        let fits = self.physics.as_mut().map_or_else(|| *tables == CarriedTables::default(), |array| array.resume_carried(tables));
        fits.then_some(()).ok_or("what copybacks carried over does not fit the cells of a die")
    }

    /// Restores what guarded erases have spared.
    pub(crate) fn restore_reliefs(&mut self, tables: &ReliefTables) -> Result<(), &'static str> {
        let fits = self.physics.as_mut().map_or_else(|| *tables == ReliefTables::default(), |array| array.resume_reliefs(tables));
        fits.then_some(()).ok_or("what guarded erases have spared does not fit the cells of a die")
    }

    /// Restores the times for which blocks lay without power.
    pub(crate) fn restore_rests(&mut self, tables: &RestTables) -> Result<(), &'static str> {
        let fits = self.physics.as_mut().map_or_else(|| *tables == RestTables::default(), |array| array.resume_rests(tables));
        fits.then_some(()).ok_or("the times without power do not fit the cells of a die")
    }

    /// Contents of a block's life that are to outlive the power of its cells, with the wordlines that its last erase has spared; `None` if there are none.
    pub(crate) fn life(&mut self, block: u32, spared: Option<&WordlineSet>) -> Option<&KeptLife> {
        match &self.physics {
            Some(array) => array.keep(block, &mut self.life),
            None if self.spares => self.life.clear(),
            None => return None,
        }
        if let Some(spared) = spared {
            self.life.set_spared(*spared);
        }
        Some(&self.life)
    }
}
