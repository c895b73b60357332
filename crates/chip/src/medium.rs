//! The medium of a die: its blocks and cells, what its pages hold, and what has become of them.
//!
//! Reads, programs, erases and locks change it when they are issued. Time is an argument here, and legality is checked elsewhere.

use wordline_cells::{Age, CellArray, Faults as Rates, Look, Outcome, Repetition, Sensed};
use wordline_flash::{Sanitisation, Sheet, Status, Tally, Target};
use wordline_units::{Celsius, Lpn, Nanos};

use crate::block::State;
use crate::blocks::Blocks;
use crate::cells::DieCells;
use crate::epoch::Epoch;
use crate::fault::{DieFault, Faults};
use crate::features::Features;
use crate::payload::{Contents, Kept, PageImage, Payload};
use crate::place::{Place, Shape, UNITS_MAX, planes};
use crate::registers::Registers;
use crate::ruined::Ruined;
use crate::seal::{SEALED_UNIT, Seals};
use crate::spare::PADDING;
use crate::work::{Work, WorkKind};

/// Blocks, cells and contents.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    blocks: Blocks,
    cells: DieCells,
    /// Pages that cannot be read.
    ruined: Ruined,
    /// Pages that were made unreadable.
    seals: Seals,
    /// Faults on order.
    faults: Faults,
    /// Bytes of the pages, if the die keeps any.
    payload: Option<Box<dyn Payload>>,
    epoch: Epoch,
}

impl Medium {
    /// Erased blocks, with the factory bad blocks that `rates` and `seed` give die number `die`. `payload`, which must be erased, keeps its bytes.
    pub(crate) fn new(sheet: &Sheet, shape: Shape, rates: Rates, seed: u64, die: u32, payload: Option<Box<dyn Payload>>) -> Medium {
        let cells = DieCells::new(sheet, rates, seed, die);
        let mut blocks = Blocks::new(shape, sheet.capabilities.any_order);
        if rates.factory_bad > 0.0 {
            let bad = (0..shape.all_blocks() as u32).filter(|&block| cells.rates().factory_bad(block.into()));
            bad.for_each(|block| blocks.of_mut(block).set_state(State::FactoryBad));
        }
        let (ruined, seals, faults, epoch) = (Ruined::default(), Seals::default(), Faults::default(), Epoch::default());
        Medium { blocks, cells, ruined, seals, faults, payload, epoch }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &Shape {
        self.blocks.shape()
    }

    #[inline(always)]
    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    #[inline(always)]
    pub(crate) fn cells(&self) -> &DieCells {
        &self.cells
    }

    #[inline(always)]
    pub(crate) fn cells_mut(&mut self) -> &mut DieCells {
        &mut self.cells
    }

    pub(crate) fn physics_mut(&mut self) -> Option<&mut CellArray> {
        self.cells.physics_mut()
    }

    #[inline(always)]
    pub(crate) fn ruined(&self) -> &Ruined {
        &self.ruined
    }

    pub(crate) fn seals(&self) -> &Seals {
        &self.seals
    }

    pub(crate) fn seals_mut(&mut self) -> &mut Seals {
        &mut self.seals
    }

    #[inline(always)]
    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    pub(crate) fn payload(&self) -> Option<&dyn Payload> {
        self.payload.as_deref()
    }

    pub(crate) fn payload_mut(&mut self) -> Option<&mut (dyn Payload + 'static)> {
        self.payload.as_deref_mut()
    }

    /// Erases of a block in the present epoch.
    pub(crate) fn epoch_erases(&self, block: u32) -> u32 {
        self.epoch.erases(&self.blocks, block)
    }

    pub(crate) fn begin_epoch(&mut self) {
        self.epoch = Epoch::of(&self.blocks);
        if let Some(array) = self.cells.physics_mut() {
            array.begin_epoch();
        }
    }

    /// Take over ruined pages and seals of an image.
    pub(crate) fn restore(&mut self, ruined: Ruined, seals: Seals) {
        self.ruined = ruined;
        self.seals = seals;
    }

    /// Add `erases` to those of a block, which has further epochs like those of block `like`.
    pub(crate) fn leap(&mut self, [block, like]: [u32; 2], erases: u32, repetition: &Repetition) {
        let entry = self.blocks.of_mut(block);
        entry.set_erases(entry.erases().saturating_add(erases));
        if let Some(array) = self.cells.physics_mut() {
            array.leap(block, like, repetition);
        }
    }

    /// Set the cells to `age`. Locks that are there become as old.
    pub(crate) fn set_age(&mut self, age: &Age, now: Nanos) {
        let Medium { cells, blocks, seals, .. } = self;
        if let Some(array) = cells.physics_mut() {
            seals.settle(now);
            array.set_age(age, now, |block| blocks.of(block as u32).next_page());
            self.keep_lives();
        }
    }

    /// Lets what is programmed lie for `seconds` at this temperature, without power.
    pub(crate) fn lie(&mut self, seconds: f64, at: Celsius, now: Nanos) {
        let Medium { cells, blocks, .. } = self;
        if let Some(array) = cells.physics_mut() {
            array.lie(seconds, at, now, |block| blocks.of(block as u32).next_page());
        }
    }

    /// Change the lives of all cells, where they have physics.
    pub(crate) fn change_lives(&mut self, change: impl FnOnce(&mut CellArray)) {
        if let Some(array) = self.cells.physics_mut() {
            change(array);
            self.keep_lives();
        }
    }

    /// Make the cells of a block as fresh as they left the factory.
    pub(crate) fn renew(&mut self, block: u32) {
        if let Some(array) = self.cells.physics_mut() {
            array.renew(block);
            self.keep_life(block);
        }
    }

    /// The clock stands at `now`: tries of reads are over, and no time of cells and locks is later.
    pub(crate) fn settle(&mut self, now: Nanos) {
        self.cells.rates_mut().end_tries();
        self.seals.settle(now);
        if let Some(array) = self.cells.physics_mut() {
            array.settle(now);
        }
    }

    /// Sense a page of each plane.
    #[inline(always)]
    pub(crate) fn sense(&mut self, target: &Target, now: Nanos) -> Status {
        let mut status = Status::Good;
        for plane in planes(target.planes) {
            let place = self.shape().place(target, plane);
            let torn = self.blocks.of_mut(place.block).read(self.cells.read_times());
            let bad = self.cells.rates_mut().read() == Outcome::Bad;
            let hidden = self.ruined.has(place)
                || self.seals.hides(place, now, &self.cells)
                || (!self.faults.is_none() && self.faults.fails_read(plane, target.block(plane), place));
            if torn | bad | hidden {
                status = Status::Uncorrectable;
            }
        }
        status
    }

    /// Sense the cells of a page of each plane; the worst codeword of all counts. An erased page is all ones, which needs no error
    /// correction.
    #[inline(never)]
    pub(crate) fn sense_cells(&mut self, target: &Target, now: Nanos, features: &Features, registers: &mut Registers) -> Sensed {
        let mut worst = Sensed { worst: 0, corrected: true, rate: 0.0 };
        let found = registers.begin_sensing();
        for plane in planes(target.planes) {
            let place = self.shape().place(target, plane);
            if !self.blocks.is_programmed(place) {
                continue;
            }
            let mut disturbed = None;
            if !self.seals.is_empty() {
                if self.seals.hides(place, now, &self.cells) {
                    continue;
                }
                disturbed = self.seals.disturbed(place, self.blocks.shape(), self.cells.page_lock_time());
            }
            let sensed = self.cells.sense(place, self.blocks.of(place.block).reads(), disturbed, features, now);
            found[usize::from(plane.0)] = (sensed.rate, sensed.worst);
            worst = worst.with(sensed);
        }
        worst
    }

    /// True if this try to read a page of each plane can be corrected, where retries come by rate.
    #[inline(never)]
    pub(crate) fn try_serves(&mut self, target: &Target, entry: u32) -> bool {
        let mut serves = true;
        for place in self.blocks.shape().places(target) {
            serves &= self.cells.serves(place, self.blocks.of(place.block), entry);
        }
        serves
    }

    /// Counts, over all planes of `target`, the bits that differ between two places of a reference. Pages without data count nothing.
    pub(crate) fn count_between(&mut self, target: &Target, level: u32, reference: u8, steps: [i8; 2], now: Nanos) -> u32 {
        let mut count = 0u32;
        for place in self.blocks.shape().places(target) {
            if !self.blocks.is_programmed(place) || self.seals.hides(place, now, &self.cells) {
                continue;
            }
            let disturbed = self.seals.disturbed(place, self.blocks.shape(), self.cells.page_lock_time()).unwrap_or_default();
            let reads = self.blocks.of(place.block).reads();
            let look = Look { block: place.block, page: place.page, reads, disturbed: &disturbed, now };
            count = count.saturating_add(self.cells.count_between(&look, level, reference, steps));
        }
        count
    }

    /// Wrong bits in all codewords of the page of each plane that was sensed last; nothing where the cells have no physics.
    pub(crate) fn tally(&self, target: &Target, registers: &Registers) -> Option<Tally> {
        let array = self.cells.physics()?;
        let mut tally = Tally::default();
        for plane in planes(target.planes) {
            let place = self.shape().place(target, plane);
            let (rate, worst) = registers.sensed(plane);
            let sensed = Sensed { worst, corrected: true, rate };
            let bits = if self.blocks.is_programmed(place) { array.count_all(place.block, place.page, &sensed) } else { 0 };
            tally = tally.with(Tally { bits, codewords: array.codewords() });
        }
        Some(tally)
    }

    /// Program the pages of `work` with `spare` in their spare areas, page by page, plane by plane, unit by unit.
    #[inline(always)]
    pub(crate) fn program(&mut self, target: &Target, spare: &[Lpn], contents: Contents<'_>) {
        let units = self.shape().units() as usize;
        let first = u32::from(target.page.0);
        let mut rest = spare;
        for page in first..first + self.shape().per_program() {
            for plane in planes(target.planes) {
                let place = Place { page, ..self.shape().place(target, plane) };
                let (of_page, others) = rest.split_at(units);
                self.blocks.program(place, of_page);
                rest = others;
            }
        }
        if self.payload.is_some() {
            self.program_bytes(target, contents);
        }
    }

    #[inline(never)]
    fn program_bytes(&mut self, target: &Target, contents: Contents<'_>) {
        let places = self.unit_places(target);
        let units = self.shape().units() as usize;
        if let Some(payload) = &mut self.payload {
            payload.program_pages(&places, units, contents);
        }
    }

    /// Pages of the program unit at `target`, page by page, plane by plane.
    pub(crate) fn unit_places(&self, target: &Target) -> Vec<Place> {
        let first = u32::from(target.page.0);
        let pages = first..first + self.shape().per_program();
        pages.flat_map(|page| self.shape().places(target).map(move |place| Place { page, ..place })).collect()
    }

    /// The cells take the program of `target`, on a die with physics.
    #[inline(never)]
    pub(crate) fn program_cells(&mut self, target: &Target, now: Nanos, features: &Features) {
        if self.faults.is_dead() {
            return self.cells.take_sheet();
        }
        let settings = features.program_settings();
        self.cells.begin_program(target);
        for plane in planes(target.planes) {
            let place = self.shape().place(target, plane);
            let is_first = if self.blocks.is_unordered() {
                u32::from(self.blocks.of(place.block).next_page()) == self.shape().per_program()
            } else {
                place.page == 0
            };
            self.cells.program(place, is_first, now, &settings);
            if is_first {
                self.keep_life(place.block);
            }
        }
    }

    /// The pages of `target` are programmed with data from the controller, which has no errors.
    #[cold]
    pub(crate) fn program_clean(&mut self, target: &Target) {
        for plane in planes(target.planes) {
            let (place, pages) = (self.shape().place(target, plane), self.shape().per_program());
            if self.physics_mut().is_some_and(|array| array.program_clean(place.block, place.page, pages)) {
                self.keep_life(place.block);
            }
        }
    }

    /// True if the pages that `work` programs have verified. If not, they hold nothing that can be read.
    #[inline(always)]
    pub(crate) fn verify(&mut self, work: &Work) -> Status {
        if self.faults.is_none() && self.cells.rates_mut().program() == Outcome::Good { Status::Good } else { self.verify_rest(*work) }
    }

    // By value, so that the work of a program that succeeds has no address and stays in registers.
    #[cold]
    fn verify_rest(&mut self, work: Work) -> Status {
        let fails = self.faults.is_none()
            || self.faults.is_dead()
            || self.cells.rates_mut().program() == Outcome::Bad
            || self.faults.fails_program(work.target());
        if !fails {
            return Status::Good;
        }
        self.ruin(&work);
        Status::Failed
    }

    /// Copy the page of `source`, which was sensed at `since` with `status`, to the page of `target` in the same planes.
    pub(crate) fn copy(&mut self, [source, target]: [&Target; 2], status: Status, since: Nanos, registers: &Registers) {
        for plane in planes(target.planes) {
            let (from, to) = (self.shape().place(source, plane), self.shape().place(target, plane));
            // The register holds zeroes of a page that was made unreadable.
            let sealed = self.seals.hides(from, since, &self.cells);
            self.carry(registers.sensed(plane).0, to);
            if sealed {
                self.program_zeroes(to);
            } else if let Some(payload) = &mut self.payload {
                payload.copy(from, to);
            }
            // Unit by unit through a small array, because the spare areas of the two blocks may be in different forms.
            let units = &mut [PADDING; UNITS_MAX as usize][..self.shape().units() as usize];
            if !sealed && self.blocks.is_programmed(from) {
                let spare = self.blocks.of(from.block).spare();
                if spare.is_stored() {
                    units.copy_from_slice(&self.stored(from));
                } else {
                    (0..).zip(units.iter_mut()).for_each(|(unit, lpn)| *lpn = spare.get(self.shape(), from.page, unit));
                }
            }
            self.blocks.program(to, units);
            if status != Status::Good {
                self.ruined.insert(to);
            }
        }
    }

    /// A copyback programs what was sensed with errors at `rate` to `place`. The store hears of the errors before it gets the bytes: after a power cut between
    /// the two, the entry belongs to a page that is erased or torn.
    fn carry(&mut self, rate: f64, place: Place) {
        if self.physics_mut().is_some_and(|array| array.carry(place.block, place.page, rate)) {
            self.keep_life(place.block);
        }
    }

    /// Lets the store keep what is to outlive the power of the cells of a block.
    pub(crate) fn keep_life(&mut self, block: u32) {
        if let Some(payload) = &mut self.payload
            && let Some(life) = self.cells.life(block, self.blocks.guard().of(block))
        {
            payload.keep_life(block, life);
        }
    }

    /// The same of all blocks.
    pub(crate) fn keep_lives(&mut self) {
        (0..self.shape().all_blocks() as u32).for_each(|block| self.keep_life(block));
    }

    /// Erase the blocks of `target`, but for the wordlines that `features` name.
    pub(crate) fn erase(&mut self, target: &Target, now: Nanos, features: &mut Features) -> Status {
        let mut status = Status::Good;
        let has_faults = !self.faults.is_none();
        let is_dead = self.faults.is_dead();
        let spared = features.spares();
        if is_dead {
            self.cells.take_sheet();
        } else if self.cells.has_physics() {
            let shape = self.blocks.shape();
            features.note_erase(self.cells.erase(shape.places(target).map(|place| place.block), now, spared));
        }
        for plane in planes(target.planes) {
            let block = self.shape().flat(target, plane);
            let mut has_failed = is_dead || !self.cells.erases_well(self.blocks.of(block).erases());
            has_failed |= has_faults && self.faults.has_failed(plane, target.block(plane));
            if has_failed {
                status = Status::Failed;
            }
            self.blocks.erase(block, has_failed, spared);
            if let Some(payload) = &mut self.payload {
                payload.erase(block);
            }
            self.keep_life(block);
            self.seals.erase(block);
            if has_faults {
                self.faults.heal(block);
            }
            self.ruined.erase(block);
        }
        status
    }

    /// The erase of a block of each plane has been stopped, `stops` times by now: its cells wear more.
    #[cold]
    pub(crate) fn stop_erase(&mut self, target: &Target, stops: u32) {
        for plane in planes(target.planes) {
            let block = self.shape().flat(target, plane);
            let Some(array) = self.physics_mut() else { continue };
            array.stopped(block, stops);
            self.keep_life(block);
        }
    }

    /// Make `target` unreadable. A die that has failed does nothing any more.
    pub(crate) fn sanitise(&mut self, target: &Target, how: Sanitisation, now: Nanos) -> Status {
        if self.faults.has_failed_at(target) {
            return Status::Failed;
        }
        for plane in planes(target.planes) {
            let place = self.shape().place(target, plane);
            if how == Sanitisation::Scrub {
                for page in self.shape().wordline(target.page.0) {
                    let place = Place { page: u32::from(page), ..place };
                    self.fill_with_nothing(place);
                    self.seal(place, how, now);
                }
            } else {
                self.seal(place, how, now);
            }
        }
        Status::Good
    }

    fn seal(&mut self, place: Place, how: Sanitisation, now: Nanos) {
        self.seals.seal(place, how, now);
        if let Some(payload) = &mut self.payload {
            payload.sanitise(place, how, !self.ruined.has(place));
        }
    }

    /// A page of a wordline that is scrubbed counts as programmed, if it was not.
    fn fill_with_nothing(&mut self, place: Place) {
        if self.blocks.is_programmed(place) || self.blocks.of(place.block).state() != State::Usable {
            return;
        }
        self.blocks.program_nothing(place);
        self.program_zeroes(place);
        if let Some(payload) = &mut self.payload {
            payload.end(place.block);
        }
    }

    /// The zeroes that the pins give of a page that was made unreadable are programmed at `place`.
    fn program_zeroes(&mut self, place: Place) {
        let (bytes, units) = (self.shape().bytes(), self.shape().units() as usize);
        if let Some(payload) = &mut self.payload {
            let zeroes = PageImage::sealed(bytes, units);
            payload.program(place, Contents::of(&zeroes.bytes, &zeroes.marks));
        }
    }

    /// The store gets the end of `work`, which may have failed.
    #[inline(never)]
    pub(crate) fn end(&mut self, work: &Work, has_failed: bool) {
        for plane in planes(work.target().planes) {
            let block = self.shape().flat(work.target(), plane);
            let Some(payload) = &mut self.payload else { continue };
            payload.end(block);
            if has_failed {
                payload.fail(block);
            }
        }
    }

    /// The pages that `work` was changing can no longer be read, and the work does not end.
    pub(crate) fn break_off(&mut self, work: &Work) {
        self.ruin(work);
        if work.kind().is_suspendable() {
            for plane in planes(work.target().planes) {
                let block = self.shape().flat(work.target(), plane);
                if let Some(payload) = &mut self.payload {
                    payload.break_off(block);
                }
            }
        }
    }

    /// The pages that `work` was changing can no longer be read.
    #[cold]
    fn ruin(&mut self, work: &Work) {
        for plane in planes(work.target().planes) {
            let block = self.shape().flat(work.target(), plane);
            match work.kind() {
                WorkKind::Program => work.pages().for_each(|page| self.ruined.insert(Place { block, page: page.into() })),
                WorkKind::Erase => self.blocks.of_mut(block).set_state(State::Torn),
                WorkKind::Read | WorkKind::Stopping | WorkKind::Other => {}
            }
        }
    }

    /// A page is given up, or found rotten.
    pub(crate) fn ruin_page(&mut self, place: Place) {
        self.ruined.insert(place);
    }

    /// Let `fault` happen.
    pub(crate) fn fail(&mut self, fault: DieFault) {
        self.faults.add(fault, self.blocks.shape());
    }

    /// Mapping unit number `unit` of a page, by its spare area.
    #[inline]
    pub(crate) fn spare(&self, place: Place, unit: u32, now: Nanos) -> Lpn {
        if !self.blocks.is_programmed(place) {
            PADDING
        } else if self.seals.hides(place, now, &self.cells) {
            SEALED_UNIT
        } else {
            let spare = self.blocks.of(place.block).spare();
            if spare.is_stored() { self.stored(place)[unit as usize] } else { spare.get(self.shape(), place.page, unit) }
        }
    }

    /// Append the spare area of a page.
    #[inline(always)]
    pub(crate) fn append_spare(&self, place: Place, now: Nanos, into: &mut Vec<Lpn>) {
        let block = self.blocks.of(place.block);
        if self.blocks.is_plain() && self.seals.is_empty() && place.page < u32::from(block.next_page()) && !block.spare().is_stored() {
            block.spare().append(self.shape(), place.page, into);
        } else {
            self.append_unusual(place, now, into);
        }
    }

    /// As [`Medium::append_spare`], of a page that may be of any kind.
    #[inline(never)]
    fn append_unusual(&self, place: Place, now: Nanos, into: &mut Vec<Lpn>) {
        let units = self.shape().units() as usize;
        if !self.blocks.is_programmed(place) {
            into.extend(std::iter::repeat_n(PADDING, units));
        } else if self.seals.hides(place, now, &self.cells) {
            into.extend(std::iter::repeat_n(SEALED_UNIT, units));
        } else {
            let spare = self.blocks.of(place.block).spare();
            if spare.is_stored() { into.extend(self.stored(place)) } else { spare.append(self.shape(), place.page, into) }
        }
    }

    /// The spare area of a page, as the store has it.
    #[cold]
    fn stored(&self, place: Place) -> Vec<Lpn> {
        let mut image = PageImage::new(self.shape().bytes(), self.shape().units() as usize);
        if let Some(Kept::Sanitised(_)) = self.payload.as_ref().map(|payload| payload.read(place, &mut image)) {
            image.seal();
        }
        image.marks.iter().map(|mark| mark.lpn).collect()
    }

    /// Make `image` what the pins give, if that is nothing because the page was made unreadable: the way in which it was.
    pub(crate) fn hide(&self, place: Place, now: Nanos, image: &mut PageImage) -> Option<Sanitisation> {
        let how = self.seals.of(place, now, &self.cells)?;
        image.seal();
        Some(how)
    }

    /// Read a page from the store and book its answer. The bytes of mapping unit `unit` matter; `None`: all bytes.
    pub(crate) fn read_payload(&mut self, place: Place, unit: Option<usize>, image: &mut PageImage) -> Kept {
        let Some(payload) = &self.payload else { return Kept::Erased };
        let kept = match unit {
            Some(unit) => payload.read_unit(place, unit, image),
            None => payload.read(place, image),
        };
        match kept {
            Kept::Torn => self.ruined.insert(place),
            Kept::Sanitised(how) => self.seals.seal(place, how, Nanos::ZERO),
            Kept::Erased | Kept::Whole => {}
        }
        kept
    }
}
