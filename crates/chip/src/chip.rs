//! The face of a die: commands, and what else may be asked of it or done to it at any time.

use std::sync::Arc;

use wordline_cells::{Age, BlockCells, CarriedTables, CellArray, Faults as Rates, Repetition, RestTables};
use wordline_flash::{Command, EraseTrace, Feature, ProgramTrace, ReadSets, Sanitisation, Sheet, Status, Tally, Target};
use wordline_units::random::Draw;
use wordline_units::{BlockId, Celsius, Lpn, Nanos, PageId, PlaneId, WordlineSet};

use crate::activity::Issued;
use crate::block::{Block, State};
use crate::die::Die;
use crate::fault::{DieFault, FailureImage, Faults};
use crate::guard::GuardImage;
use crate::image::Image;
use crate::medium::Medium;
use crate::payload::{Contents, Kept, KeptBlock, PageImage, Payload};
use crate::place::{Place, Shape};
use crate::probe::Probe;
use crate::stop::Stops;
use crate::work::Held;
use crate::{tear, wake};

/// A die: an array of blocks, two registers and an interface. It owns no clock: every call brings the time, and time never runs back.
#[derive(Clone, Debug)]
pub struct Chip {
    die: Die,
}

/// Construction and commands.
impl Chip {
    /// An erased, idle die number `die` of the drive, with the factory bad blocks that `faults` and `seed` give it. Each page's spare area
    /// names `units_per_page` mapping units. It keeps no bytes.
    pub fn new(sheet: Sheet, faults: Rates, seed: u64, die: u32, units_per_page: u32) -> Chip {
        Chip::with_payload(sheet, faults, seed, die, units_per_page, None)
    }

    /// Like [`Chip::new`], with `payload`, which must be erased, for its bytes.
    pub fn with_payload(sheet: Sheet, faults: Rates, seed: u64, die: u32, units_per_page: u32, payload: Option<Box<dyn Payload>>) -> Chip {
        let shape = Shape::new(&sheet, units_per_page);
        Chip { die: Die::new(sheet, Medium::new(&sheet, shape, faults, seed, die, payload)) }
    }

    /// Give the die cells with physics. They must be of a die with as many blocks.
    pub fn set_cells(&mut self, array: CellArray) {
        let (medium, features) = self.die.parts_mut();
        medium.cells_mut().set_physics(array, features);
    }

    /// The data sheet.
    pub fn sheet(&self) -> &Sheet {
        self.die.sheet()
    }

    /// The store of its bytes.
    pub fn payload(&self) -> Option<&dyn Payload> {
        self.medium().payload()
    }

    /// Bytes of memory that the blocks and their spare areas hold.
    pub fn memory_bytes(&self) -> usize {
        self.medium().blocks().memory_bytes()
    }

    #[inline(always)]
    fn medium(&self) -> &Medium {
        self.die.medium()
    }

    #[inline(always)]
    fn place(&self, plane: PlaneId, block: BlockId, page: PageId) -> Place {
        self.medium().shape().at(plane, block, page)
    }

    #[inline(always)]
    fn index(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.medium().shape().index(plane, block)
    }

    #[inline(always)]
    fn block(&self, plane: PlaneId, block: BlockId) -> &Block {
        self.medium().blocks().of(self.index(plane, block))
    }

    /// True if `command` may be issued at `now`. Changes nothing.
    #[inline]
    pub fn probe(&self, command: &Command, now: Nanos) -> Probe {
        self.die.probe(command, now)
    }

    /// Carry out `command` at `now`: any command but a program ([`Chip::program`]) or a data transfer ([`Chip::transfer`]).
    ///
    /// # Panics
    /// If [`Chip::probe`] does not return [`Probe::Ready`]: that is a bug in the firmware or the controller.
    #[inline]
    pub fn issue(&mut self, command: Command, now: Nanos) -> Issued {
        self.die.issue(&command, now)
    }

    /// Carry out a program command at `now`. `spare` names the mapping units of the program unit: page of the wordline by page, in it plane
    /// by plane, in it unit by unit, with [`crate::PADDING`] where there is none. `contents` is the pages in the same order, or nothing where the die keeps
    /// nothing.
    ///
    /// # Panics
    /// If [`Chip::probe`] does not return [`Probe::Ready`], or if `spare` is not of the program unit's size.
    #[inline]
    pub fn program(&mut self, command: Command, now: Nanos, spare: &[Lpn], contents: Contents<'_>) -> Issued {
        self.die.program(&command, now, spare, contents)
    }

    /// Carry out a data transfer ([`Command::DataIn`] or [`Command::DataOut`]) that has the bus from `now` to `until`.
    ///
    /// # Panics
    /// If [`Chip::probe`] does not return [`Probe::Ready`].
    #[inline(always)]
    pub fn transfer(&mut self, command: Command, now: Nanos, until: Nanos) {
        self.die.transfer(&command, now, until);
    }

    /// Move a program unit from `from` to `to` without the bus, beginning at `now`. A die that programs whole wordlines in one shot collects the pages
    /// one by one and programs all of them with the last, whose end and status this is. It reports no errors: error correction sees none of the data, and
    /// where cells have physics, what was sensed wrong is programmed wrong.
    pub fn copy_back(&mut self, from: Target, to: Target, now: Nanos) -> Issued {
        let mut last = Issued { ready_at: now, status: Status::Good, errors: 0, loops: 0 };
        for page in 0..self.sheet().pages_per_program() as u16 {
            let [from, to] = [from, to].map(|target| Target { page: PageId(target.page.0 + page), ..target });
            let sensed = self.issue(Command::Read { target: from, cache: false }, last.ready_at);
            if sensed.status == Status::Uncorrectable {
                self.read_failed(&from);
            }
            last = self.issue(Command::CopybackProgram { target: to }, sensed.ready_at);
        }
        last
    }

    /// The store of bytes gets the end of what the array was doing, if it has ended by `now`: what is there of it is whole. Commands that come
    /// later do the same; but the process may die before there is one.
    #[inline(always)]
    pub fn end(&mut self, now: Nanos) {
        self.die.end(now);
    }

    /// Begins to load what is known of the page of `target` in its first plane, which will be sensed soon, and waits for nothing.
    #[inline]
    pub fn prefetch(&self, target: &Target) {
        let Some(plane) = target.planes.first_plane() else { return };
        let place = self.medium().shape().place(target, plane);
        self.medium().cells().prefetch(place, self.medium().blocks().of(place.block));
    }
}

/// Time, activity and settings.
impl Chip {
    /// Instant at which the array will be idle: a past one if it is.
    #[inline]
    pub fn array_until(&self) -> Nanos {
        self.die.activity().array_until()
    }

    /// Time that is left of the suspended operation, if there is one.
    #[inline]
    pub fn suspended(&self) -> Option<Nanos> {
        self.die.activity().suspended().map(Held::remaining)
    }

    /// Stops of the program or erase that the array is doing or has just done, or that is suspended.
    pub fn stops(&self) -> Stops {
        self.die.stops()
    }

    /// A setting.
    pub fn feature(&self, feature: Feature) -> u32 {
        self.die.features().get(feature)
    }

    /// True if the next reads are sensed with shifted references: whether any of [`Feature::READ_OFFSETS`] is set.
    #[inline]
    pub fn shifts_reads(&self) -> bool {
        self.die.features().shifts_reads()
    }

    /// Give the die the sets of shifted references that its controller is going to use. Its cells prepare for reads with them: rates are interpolated and
    /// remembered as those of the vendor's table are, which is faster than working each of them out, and within a percent or two the same.
    pub fn set_read_sets(&mut self, sets: Arc<ReadSets>) {
        let (medium, features) = self.die.parts_mut();
        features.set_read_sets(sets);
        medium.cells_mut().note_read_sets(features);
    }

    /// Registers of the shifted read references, which [`Chip::image`] leaves out.
    pub fn read_offsets(&self) -> [u32; Feature::READ_OFFSETS.len()] {
        self.die.features().all(Feature::READ_OFFSETS)
    }

    /// Restores what [`Chip::read_offsets`] gave.
    pub fn restore_read_offsets(&mut self, registers: [u32; Feature::READ_OFFSETS.len()]) {
        let (_, features) = self.die.parts_mut();
        features.restore(Feature::READ_OFFSETS, registers);
    }

    /// Trace of the last program, as get-features would bring it out after [`Feature::ProgramTrace`]; nothing where its cells have no physics,
    /// and always the same where narrowed programs are by rate.
    pub fn program_trace(&mut self) -> Option<ProgramTrace> {
        let (medium, features) = self.die.parts_mut();
        let shape = *medium.shape();
        medium.cells_mut().program_trace(&shape, features)
    }

    /// Trace of the last erase, as get-features brings it out; nothing where its cells have no physics.
    pub fn erase_trace(&self) -> Option<EraseTrace> {
        self.medium().cells().has_physics().then(|| self.die.features().erase_trace())
    }
}

/// Pages and blocks.
impl Chip {
    /// The mapping unit number `unit` of a page, by its spare area; [`crate::PADDING`] where there is none.
    #[inline]
    pub fn spare(&self, plane: PlaneId, block: BlockId, page: PageId, unit: u32) -> Lpn {
        debug_assert!(unit < self.medium().shape().units());
        self.medium().spare(self.place(plane, block, page), unit, self.die.latest())
    }

    /// Append the spare areas of `pages` pages from `target` on, plane by plane in each page, unit by unit in each plane.
    #[inline]
    pub fn spare_of(&self, target: &Target, pages: u32, into: &mut Vec<Lpn>) {
        let (first, now) = (u32::from(target.page.0), self.die.latest());
        for page in first..first + pages {
            for place in self.medium().shape().places(target) {
                self.medium().append_spare(Place { page, ..place }, now, into);
            }
        }
    }

    /// Erases of a block so far, failed ones included.
    #[inline]
    pub fn erases(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.block(plane, block).erases()
    }

    /// Pages read of a block since its last erase.
    #[inline]
    pub fn reads(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.block(plane, block).reads()
    }

    /// Pages of a block programmed since its last erase. On a die that programs them in order, the page that must be programmed next.
    #[inline]
    pub fn next_page(&self, plane: PlaneId, block: BlockId) -> u32 {
        u32::from(self.block(plane, block).next_page())
    }

    /// True if a block carries the factory's bad-block mark.
    #[inline]
    pub fn is_factory_bad(&self, plane: PlaneId, block: BlockId) -> bool {
        self.block(plane, block).state() == State::FactoryBad
    }

    /// True if a page of the block is programmed.
    pub fn is_written(&self, plane: PlaneId, block: BlockId) -> bool {
        self.next_page(plane, block) > 0
    }

    /// True if a page has been programmed since the last erase of its block, made unreadable or not.
    pub fn is_page_programmed(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        self.medium().blocks().is_programmed(self.place(plane, block, page))
    }

    /// The wordlines that the last erase of a block has spared.
    pub fn spared(&self, plane: PlaneId, block: BlockId) -> WordlineSet {
        self.medium().blocks().guard().of(self.index(plane, block)).copied().unwrap_or_default()
    }

    /// The way in which a page was made unreadable, if the pins give nothing of it for that reason at `now`: what destroyed it, else a lock that still holds.
    pub fn sealed(&self, plane: PlaneId, block: BlockId, page: PageId, now: Nanos) -> Option<Sanitisation> {
        self.medium().seals().of(self.place(plane, block, page), now, self.medium().cells())
    }

    /// Reads a page. Returns whether its contents can be relied on: a page that has rotted in its store reads as uncorrectable from now on.
    pub fn contents(&mut self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> bool {
        let place = self.place(plane, block, page);
        self.die.medium_mut().read_payload(place, None, image);
        self.can_be_relied_on(plane, block, page, image)
    }

    /// As [`Chip::contents`], where of the bytes only those of mapping unit `unit` matter: what stands at those of the others may be anything.
    pub fn unit_contents(&mut self, plane: PlaneId, block: BlockId, page: PageId, unit: u32, image: &mut PageImage) -> bool {
        let place = self.place(plane, block, page);
        self.die.medium_mut().read_payload(place, Some(unit as usize), image);
        self.can_be_relied_on(plane, block, page, image)
    }

    fn can_be_relied_on(&self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> bool {
        let place = self.place(plane, block, page);
        self.medium().hide(place, self.die.latest(), image).is_none() && !self.medium().ruined().has(place)
    }

    /// True if a page holds nothing that error correction could rely on: its program, or the last erase of its block, failed or was broken off, it has
    /// rotted in its store, or it was given up. In a store, pages that were looked at before count.
    pub fn is_ruined(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        self.block(plane, block).state() == State::Torn || self.medium().ruined().has(self.place(plane, block, page))
    }

    /// A read of the pages of `target` has failed for good, and there is no other try: what they hold is given up.
    pub fn give_up(&mut self, target: &Target) {
        let shape = *self.medium().shape();
        shape.places(target).for_each(|place| self.die.medium_mut().ruin_page(place));
    }

    /// Make `block` as if its first `pages` pages had been programmed with mapping units in a regular order: unit `u` of page `p` is
    /// `first + p × page_step + u`. Takes no time and next to no memory: a filled drive is constructed, not written.
    pub fn fill_regular(&mut self, plane: PlaneId, block: BlockId, pages: u32, first: Lpn, page_step: u32) {
        let block = self.index(plane, block);
        self.die.medium_mut().blocks_mut().fill_regular(block, pages, first, page_step);
    }

    /// Make `block` as if its next page had been programmed with `units`. Takes no time, like [`Chip::fill_regular`].
    pub fn fill_page(&mut self, plane: PlaneId, block: BlockId, units: &[Lpn]) {
        let block = self.index(plane, block);
        self.die.medium_mut().blocks_mut().fill_page(block, units);
    }

    /// Make `block` as if it had been erased `erases` times. If bytes are kept, no page of it may be programmed: the marks of its pages name that number.
    pub fn set_erases(&mut self, plane: PlaneId, block: BlockId, erases: u32) {
        let index = self.index(plane, block);
        debug_assert!(
            self.payload().is_none() || self.next_page(plane, block) == 0,
            "the marks of a page that is kept name the number of erases"
        );
        self.die.medium_mut().blocks_mut().of_mut(index).set_erases(erases);
        if let Some(payload) = self.die.medium_mut().payload_mut() {
            payload.set_erases(index, erases);
        }
    }
}

/// Cells with physics.
impl Chip {
    /// Set the cells to `age`: every block's wear, and how long what it holds now has been kept. Without physics nothing ages.
    pub fn set_age(&mut self, age: &Age, now: Nanos) {
        self.die.medium_mut().set_age(age, now);
    }

    /// Gives every block the cycles of `age` with one of `dwells` between them, by a keyed die, after [`Chip::set_age`].
    pub fn set_dwells(&mut self, age: &Age, dwells: &[f64]) {
        self.die.medium_mut().change_lives(|array| array.set_dwells(age, dwells));
    }

    /// Makes all that is programmed now as old as `age` says, after [`Chip::set_age`] with an age of the same cycles.
    pub fn set_retention(&mut self, age: &Age) {
        self.die.medium_mut().change_lives(|array| array.set_retention(age));
    }

    /// Makes the cells of a block as fresh as they left the factory, after [`Chip::set_age`].
    pub fn renew(&mut self, plane: PlaneId, block: BlockId) {
        let index = self.index(plane, block);
        self.die.medium_mut().renew(index);
    }

    /// Dwell of a block among `dwells`, as [`Chip::set_dwells`] chooses it.
    pub fn dwell_of(&self, plane: PlaneId, block: BlockId, dwells: &[f64]) -> Option<f64> {
        self.physics()?.dwell_of(self.index(plane, block), dwells)
    }

    /// The cells of a block, for inspection from outside of the drive; `None`: they have no physics.
    pub fn inspect(&self, plane: PlaneId, block: BlockId) -> Option<BlockCells<'_>> {
        self.physics().map(|array| BlockCells::of(array, self.index(plane, block)))
    }

    /// Brings out the last erase of the blocks of `target` once more, for [`Chip::erase_trace`], by what their cells are like now. Nothing happens to them, and
    /// no time passes. Returns the loops and the time of that erase.
    pub fn past_erase(&mut self, target: &Target) -> (u8, Nanos) {
        let (medium, features) = self.die.parts_mut();
        let shape = *medium.shape();
        features.note_erase(medium.cells_mut().last_erase(shape.places(target).map(|place| place.block)));
        (self.medium().cells().loops(), self.die.erase_time())
    }

    /// The die is at `temperature` from `now` on. Returns whether it has cells that feel it.
    pub fn set_temperature(&mut self, temperature: Celsius, now: Nanos) -> bool {
        self.physics_mut().map(|array| array.set_temperature(temperature, now)).is_some()
    }

    /// Temperature of its cells, where they have physics.
    pub fn temperature(&self) -> Option<Celsius> {
        self.physics().map(|array| array.temperature())
    }

    /// Numbers of the references that `page` is read with, rising; none where the cells have no physics.
    pub fn references_of(&self, page: PageId) -> &[u8] {
        self.physics().map_or(&[], |array| array.references_of(page.0.into()))
    }

    /// Counts, over all planes of `target`, the bits that differ between two reads of which only reference `reference` stands elsewhere: `from` and `to` steps
    /// of [`wordline_flash::ReadOffsets::STEP`] from its place in the present entry of the retry table. A controller counts them in the data of both reads; the
    /// bytes that are kept here have no errors in them, so the cells are asked. Pages without data count nothing.
    pub fn count_between(&mut self, target: &Target, reference: u8, from: i8, to: i8, now: Nanos) -> u32 {
        let (medium, features) = self.die.parts_mut();
        medium.count_between(target, features.level(), reference, [from, to], now)
    }

    /// Wrong bits that error correction finds in all codewords of the page of each plane that was sensed last; nothing where the cells have no physics.
    pub fn tally(&self, target: &Target) -> Option<Tally> {
        self.medium().tally(target, self.die.registers())
    }

    /// Lets each reading from now on be the worst of `times`: see [`CellArray::read_worst_of`].
    pub fn read_worst_of(&mut self, times: u32) {
        if let Some(array) = self.physics_mut() {
            array.read_worst_of(times);
        }
    }

    /// Lets each sensing from now on count as `times` of its block, and have the errors of the worst of them.
    pub fn reads_stand_for(&mut self, times: u32) {
        self.die.medium_mut().cells_mut().set_read_times(times);
        self.read_worst_of(times);
    }

    fn physics(&self) -> Option<&CellArray> {
        self.medium().cells().physics()
    }

    fn physics_mut(&mut self) -> Option<&mut CellArray> {
        self.die.medium_mut().physics_mut()
    }
}

/// Epochs and leaps.
impl Chip {
    /// Begins an epoch: the erases of each block are counted from now on, and what they do to its cells.
    pub fn begin_epoch(&mut self) {
        self.die.medium_mut().begin_epoch();
    }

    /// Erases of a block in the present epoch.
    ///
    /// # Panics
    /// If no epoch is under way.
    pub fn epoch_erases(&self, plane: PlaneId, block: BlockId) -> u32 {
        self.medium().epoch_erases(self.index(plane, block))
    }

    /// Erases that a block still takes, by the limit that the drive file sets; `None`: there is no limit.
    pub fn erases_left(&self, plane: PlaneId, block: BlockId) -> Option<u32> {
        self.medium().cells().rates().endurance().map(|limit| limit.saturating_sub(self.erases(plane, block)))
    }

    /// True if the last erase of a block was at `since` or later; without physics, which alone has that instant, if it was erased in the epoch.
    pub fn is_renewed(&self, plane: PlaneId, block: BlockId, since: Nanos) -> bool {
        let index = self.index(plane, block);
        self.physics().map_or_else(|| self.medium().epoch_erases(index) > 0, |array| array.is_renewed(index, since))
    }

    /// Adds `erases` to those of `block`, which has further epochs like those of block `like` of its plane: see [`CellArray::leap`]. Its contents stay.
    pub fn leap(&mut self, plane: PlaneId, [block, like]: [BlockId; 2], erases: u32, repetition: &Repetition) {
        let pair = [block, like].map(|block| self.index(plane, block));
        self.die.medium_mut().leap(pair, erases, repetition);
    }

    /// Ends the leaps of the die's blocks.
    pub fn end_leap(&mut self) {
        if let Some(array) = self.physics_mut() {
            array.end_leap();
        }
    }
}

/// Faults and what they do.
impl Chip {
    /// Let `fault` happen from now on, beside those there are. Another fault of the same page takes the place of the one before, and programs to fail add up.
    /// A die that is silent stays so. Operations under way are another matter: [`Chip::fail_under_way`].
    ///
    /// # Panics
    /// If it names a plane, block or page that the die does not have.
    pub fn inject(&mut self, fault: DieFault) {
        self.fail(fault);
        if fault.is_failure()
            && let Some(payload) = self.die.medium_mut().payload_mut()
        {
            payload.keep_failure(&fault);
        }
    }

    /// Let `fault` happen, which the store has.
    ///
    /// # Panics
    /// As [`Chip::inject`].
    pub fn fail(&mut self, fault: DieFault) {
        self.die.medium_mut().fail(fault);
    }

    /// A part of the die has failed at `now`: what it was programming or erasing there, or has suspended, counts for nothing, also on other planes. It ends as
    /// failed in its time. Returns whether there was such an operation.
    #[cold]
    pub fn fail_under_way(&mut self, now: Nanos) -> bool {
        self.die.fail_under_way(now)
    }

    /// Its faults, with what is left of them.
    pub fn faults(&self) -> Vec<DieFault> {
        self.medium().faults().list(self.medium().shape())
    }

    /// Take all faults back but those of parts that have failed for good. The damage that faults have done stays.
    pub fn clear_faults(&mut self) {
        self.die.medium_mut().faults_mut().clear();
    }

    /// Number of random draws so far of each kind that fails operations by rate: program, erase, read.
    pub fn drawn(&self) -> [u64; 3] {
        self.medium().cells().rates().drawn()
    }

    /// True if a part of it has failed for good.
    pub fn has_failures(&self) -> bool {
        self.medium().faults().has_failures()
    }

    /// The parts of it that have failed for good, for an image.
    pub fn failure_image(&self) -> FailureImage {
        self.medium().faults().image()
    }

    /// Restores what [`Chip::failure_image`] gave. The image may be anything; one of another kind of die is refused with the reason.
    pub fn restore_failures(&mut self, image: &FailureImage) -> Result<(), &'static str> {
        let faults = Faults::restored(image, self.medium().shape())?;
        *self.die.medium_mut().faults_mut() = faults;
        Ok(())
    }

    /// True if the whole die has failed.
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.medium().faults().is_dead()
    }

    /// True if it has failed and does not answer.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.medium().faults().is_silent()
    }

    /// True if a part of the die that has failed for good lies under `target`: half of the bits that are read there are wrong.
    #[cold]
    pub fn has_failed_at(&self, target: &Target) -> bool {
        self.medium().faults().has_failed_at(target)
    }

    /// Wrong bits in a codeword of a page that reads as noise: half of them. Without physics a codeword is taken to have 1 KiB of user bytes.
    pub fn noise(&self) -> u32 {
        self.medium().cells().noise(&self.sheet().geometry)
    }

    /// A read of `target` has failed after all its tries: a fault that lasts for so many reads has had one of them.
    #[inline]
    pub fn read_failed(&mut self, target: &Target) {
        if !self.medium().faults().is_none() {
            let shape = *self.medium().shape();
            self.die.medium_mut().faults_mut().use_up(shape.places(target));
        }
    }

    /// Bits of a page flip, as many and which by `seed`: it cannot be corrected any more. Returns whether something was programmed there.
    pub fn corrupt(&mut self, plane: PlaneId, block: BlockId, page: PageId, seed: u64) -> bool {
        let (place, shape) = (self.place(plane, block, page), *self.medium().shape());
        let medium = self.die.medium_mut();
        if !medium.blocks().is_programmed(place) {
            return false;
        }
        if let Some(payload) = medium.payload_mut() {
            tear::corrupt(payload, place, &shape, seed);
        }
        medium.ruin_page(place);
        true
    }

    /// The power goes while the program unit at `target` takes in `contents`: by `draw`, some of its pages are programmed, one in part, and the others not.
    /// Only the store hears of it: the die is off.
    pub fn tear_program(&mut self, target: &Target, contents: Contents<'_>, draw: &mut Draw) {
        let (places, units) = (self.medium().unit_places(target), self.medium().shape().units() as usize);
        tear::program(self.die.medium_mut().payload_mut(), &places, units, contents, draw);
    }

    /// The power goes while the blocks of `target` are erased: by `draw`, some are, one in part, and the others not. Only the store hears of it.
    pub fn tear_erase(&mut self, target: &Target, draw: &mut Draw) {
        let blocks = self.medium().shape().places(target).map(|place| place.block).collect::<Vec<_>>();
        tear::erase(self.die.medium_mut().payload_mut(), &blocks, draw);
    }

    /// True if a page of the die is known that cannot be read: it is ruined, or a fault keeps it from being read.
    pub fn has_unreadable(&self) -> bool {
        !self.medium().ruined().is_empty() || !self.medium().faults().is_none()
    }

    /// True if such a page may be in a block.
    pub fn has_unreadable_in(&self, plane: PlaneId, block: BlockId) -> bool {
        let number = self.index(plane, block);
        self.medium().ruined().has_in(number) || self.medium().faults().fails_reads_in(plane, block, number)
    }

    /// True if a fault keeps a page from being read.
    pub fn is_faulty(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        self.medium().faults().fails_read(plane, block, self.place(plane, block, page))
    }

    /// True if a page can be read, as far as is known without reading it.
    pub fn is_readable(&self, plane: PlaneId, block: BlockId, page: PageId) -> bool {
        !self.is_ruined(plane, block, page) && !self.is_faulty(plane, block, page)
    }
}

/// Rest, images and stores that are opened again.
impl Chip {
    /// True if nothing is going on at `now` and nothing is suspended or half collected.
    pub fn is_at_rest(&self, now: Nanos) -> bool {
        self.die.is_at_rest(now)
    }

    /// Put the die's clock at `now`, wherever it was, with empty registers. For a drive that has worked through operations without taking time, each
    /// die at a clock of its own. Times of its cells and locks after `now` become `now`: a span that begins in the future has no length.
    ///
    /// # Panics
    /// If an operation is suspended or a wordline half collected: that is no rest.
    pub fn rest(&mut self, now: Nanos) {
        self.die.rest(now);
    }

    /// The die as plain data, if it is at rest at `now`.
    pub fn image(&self, now: Nanos) -> Option<Image> {
        self.is_at_rest(now).then(|| Image::of(self.medium(), self.die.features()))
    }

    /// Become the die that `image` was made of. This die must be new; the image may be anything. An image of another kind of die, or of none, is
    /// refused with the reason.
    pub fn restore(&mut self, image: Image) -> Result<(), &'static str> {
        let (medium, features) = self.die.parts_mut();
        image.restore(medium, features)
    }

    /// Tables of what copybacks carried into the pages of the die, for an image.
    pub fn carried_tables(&self) -> CarriedTables {
        self.physics().map(|array| array.carried_tables()).unwrap_or_default()
    }

    /// Takes over what copybacks carried, after [`Chip::restore`].
    pub fn restore_carried(&mut self, tables: &CarriedTables) -> Result<(), &'static str> {
        self.die.medium_mut().cells_mut().restore_carried(tables)
    }

    /// Lets what is programmed lie for `seconds` at this temperature, without power. Nothing happens to cells without physics.
    pub fn lie(&mut self, seconds: f64, at: Celsius, now: Nanos) {
        self.die.medium_mut().lie(seconds, at, now);
    }

    /// Times for which the blocks lay without power, for an image.
    pub fn rest_tables(&self) -> RestTables {
        self.physics().map(|array| array.rest_tables()).unwrap_or_default()
    }

    /// Takes over what [`Chip::rest_tables`] gave, after [`Chip::restore`].
    pub fn restore_rests(&mut self, tables: &RestTables) -> Result<(), &'static str> {
        self.die.medium_mut().cells_mut().restore_rests(tables)
    }

    /// Traces of guarded erases on the die, for an image.
    pub fn guard_image(&self) -> GuardImage {
        let relief = self.physics().map(|array| array.relief_tables()).unwrap_or_default();
        let features = self.die.features();
        self.medium().blocks().guard().image(features.all(Feature::SPARES), features.get(Feature::EraseTrace), relief)
    }

    /// Restores what [`Chip::guard_image`] gave, after [`Chip::restore`].
    pub fn restore_guard(&mut self, image: &GuardImage) -> Result<(), &'static str> {
        let (medium, features) = self.die.parts_mut();
        let guard = image.guard(medium.shape())?;
        features.restore([Feature::EraseTrace], [image.trace()]);
        features.restore(Feature::SPARES, image.registers());
        medium.blocks_mut().set_guard(guard);
        medium.cells_mut().restore_reliefs(image.relief())
    }

    /// Take over what the store has of a block.
    pub fn wake_block(&mut self, plane: PlaneId, block: BlockId) -> KeptBlock {
        let index = self.index(plane, block);
        wake::block(self.die.medium_mut(), index)
    }

    /// Take over what the store has of the parts of the die that have failed for good.
    pub fn wake_failures(&mut self) {
        wake::failures(self.die.medium_mut());
    }

    /// Look at a page. `image` becomes what the pins give of it.
    pub fn wake_page(&mut self, plane: PlaneId, block: BlockId, page: PageId, image: &mut PageImage) -> Kept {
        let (place, now) = (self.place(plane, block, page), self.die.latest());
        wake::page(self.die.medium_mut(), place, now, image)
    }
}
