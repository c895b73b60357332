//! The drive, as its callers hold it: every call is one line to the part that carries it out.

use std::ops::Range;

use wordline_cells::{Age, BlockCells};
use wordline_chip::{CarriedTables, DieFault, Mark};
use wordline_engine::{BlockView, EventLog, Observer, UnitPlace};
use wordline_ftl::techniques::counts::TechniqueCounts;
use wordline_ftl::techniques::seam::Technique;
use wordline_ftl::{BlockGroup, Doubt, Firmware, RewriteCounts, SpareCounts, Trust};
use wordline_units::{BlockId, Bytes, Cause, Celsius, DieId, HostOp, HostRequest, Nanos, PlaneId, RequestId, Wear, WordlineSet};

use crate::config::Config;
use crate::device::dies::PayloadOf;
use crate::events::Events;
use crate::failed::lost_bytes;
use crate::faults::{Fault, PowerCut};
use crate::follow::{mapped, unit_places};
use crate::host::capacitors::Capacitors;
use crate::host::carried::HostBytes;
use crate::host::data::{DataPlane, is_fit};
use crate::host::jobs::{JobLoad, Jobs};
use crate::host::queues::Pace;
use crate::life::chip_off::{self, ChipsOff};
use crate::life::control::{self, Located};
use crate::life::habits::Habits;
use crate::life::health::{self, Health};
use crate::life::image::{self, Image, ImageError, NotQuiet};
use crate::life::leap::{self, Bound, Leaps, Leapt, ReadLeapt, Rest};
use crate::life::loss::{self, LbaStatus, Loss};
use crate::life::precondition::{self, Aged};
use crate::life::rest::{self, Restless};
use crate::life::{construct, inspect, set_age, wake};
use crate::machine::{Machine, Parts};
use crate::place::FlashPlace;

/// A drive in virtual time.
#[derive(Debug)]
pub struct Drive {
    machine: Machine,
    leaps: Leaps,
}

impl Drive {
    fn of(machine: Machine) -> Drive {
        Drive { machine, leaps: Leaps::default() }
    }

    /// Shows `observer` all events since the last time, in their order. A drive that is watched keeps them until then; calls that take an observer show it
    /// what happens in them, but for the last few events.
    pub fn show(&mut self, observer: &mut dyn Observer) {
        self.machine.events().show(observer);
    }

    /// Refuses a `deed` that only a drive without bytes can do: its pages would be written without them.
    fn without_bytes(&self, deed: &str) {
        assert!(self.machine.data().is_none(), "a drive that keeps bytes cannot {deed}");
    }

    /// Creates a new drive, with all blocks erased. The drive keeps no bytes.
    pub fn new(config: Config, events: Events) -> Drive {
        Drive::with_payload(config, events, &mut |_| None)
    }

    /// Creates a new drive, with all blocks erased, whose dies keep bytes in what `payload` gives them.
    pub fn with_payload(config: Config, events: Events, payload: &mut PayloadOf<'_>) -> Drive {
        let mut machine = Machine::assemble(config, events, payload);
        machine.warm_after(Nanos::ZERO);
        machine.start();
        Drive::of(machine)
    }

    /// Recovers the drive, with the same configuration, from what `payload` gives its dies and what `capacitors` have kept: everything that was durable is
    /// back. [`Firmware::recovery`] tells how much was read for it.
    pub fn wake(config: Config, events: Events, payload: &mut PayloadOf<'_>, capacitors: Option<Box<dyn Capacitors>>) -> Drive {
        Drive::wake_by(config, events, payload, capacitors, Trust::Everything)
    }

    /// Recovers the drive as [`Drive::wake`] does, with the evidence that `trust` accepts.
    pub fn wake_by(
        config: Config,
        events: Events,
        payload: &mut PayloadOf<'_>,
        capacitors: Option<Box<dyn Capacitors>>,
        trust: Trust,
    ) -> Drive {
        Drive::of(wake::wake(config, events, payload, capacitors, trust))
    }

    /// Creates a drive of this `config` that goes on where `image` was taken, at time zero: what was written, locked or erased before then was so at time zero.
    /// The seed of `config` may be another: dice go on under it, while blocks that were bad stay bad.
    pub fn from_image(config: Config, image: Image, events: Events) -> Result<Drive, ImageError> {
        Ok(Drive::of(image::from_image(config, image, events)?))
    }

    /// Creates a drive as [`Drive::from_image`] does, at the instant `now` at which the image was taken: what the cells hold is as old as it was then.
    pub fn from_image_at(config: Config, image: Image, now: Nanos, events: Events) -> Result<Drive, ImageError> {
        Ok(Drive::of(image::from_image_at(config, image, now, events)?))
    }

    /// Configuration of the drive.
    pub fn config(&self) -> &Config {
        self.machine.config()
    }

    /// The present instant.
    pub fn now(&self) -> Nanos {
        self.machine.now()
    }

    /// Event log of the run so far, which identifies it.
    pub fn log(&self) -> &EventLog {
        self.machine.log()
    }

    /// Adds techniques that no plan names to each core, before the first request: see [`Firmware::join`].
    pub fn join(&mut self, mut technique: impl FnMut() -> Box<dyn Technique>) {
        self.machine.ftls_mut().iter_mut().for_each(|ftl| ftl.join(technique()));
        self.machine.start();
    }

    /// Firmware cores of the drive.
    pub fn firmware(&self) -> &[Firmware] {
        self.machine.ftls()
    }

    /// Number of acknowledged requests.
    pub fn completed(&self) -> u64 {
        self.machine.host().completed()
    }

    /// Number of requests that have arrived and are not yet acknowledged.
    pub fn outstanding(&self) -> u32 {
        self.machine.host().outstanding()
    }

    /// Number of flash operations that have ended.
    pub fn operations(&self) -> u64 {
        self.machine.operations()
    }

    /// Size of one unit in bytes.
    pub fn unit_bytes(&self) -> Bytes {
        self.config().firmware.unit
    }

    /// Serves `load` until `completions` more requests are acknowledged, or, with `None`, until the load is exhausted and everything is acknowledged.
    /// Returns the number of acknowledged requests.
    ///
    /// What is outstanding at the end stays so: the next call goes on where this one stopped, so a run cut into rounds is the same run.
    pub fn serve(
        &mut self,
        load: &mut dyn Iterator<Item = HostRequest>,
        pace: Pace,
        completions: Option<u64>,
        observer: &mut dyn Observer,
    ) -> u64 {
        self.machine.serve(load, pace, completions, observer)
    }

    /// Serves `jobs` until `completions` more requests are acknowledged, or, with `None`, until all jobs are over and everything is acknowledged. Returns the
    /// number of acknowledged requests.
    ///
    /// What is outstanding at the end stays so: the next call goes on where this one stopped, so a run cut into rounds is the same run.
    pub fn serve_jobs(&mut self, jobs: &mut Jobs, load: &mut dyn JobLoad, completions: Option<u64>, observer: &mut dyn Observer) -> u64 {
        self.machine.serve_jobs(jobs, load, completions, observer)
    }

    /// Instant of the next event, if any is pending.
    pub fn next_at(&self) -> Option<Nanos> {
        self.machine.next_at()
    }

    /// Executes the next event. Returns true if there was one.
    pub fn step(&mut self) -> bool {
        self.machine.step()
    }

    /// Executes all events up to `until`, which becomes the present instant.
    pub fn run_until(&mut self, until: Nanos, observer: &mut dyn Observer) {
        self.machine.run_until(until, Some(observer));
    }

    /// Submits `request`, which arrives now, with `bytes` if it is a write. Its [`wordline_engine::Event::Completed`] carries the returned id, which is
    /// free for another request after that.
    ///
    /// # Panics
    /// If the request runs past the drive's end, or `bytes` are not those of its sectors: the host edge must refuse both.
    pub fn submit(&mut self, request: &HostRequest, bytes: &[u8]) -> RequestId {
        let bytes = if request.op == HostOp::Write || !bytes.is_empty() { HostBytes::These(bytes.to_vec()) } else { HostBytes::None };
        self.submit_with(request, bytes)
    }

    /// Submits `request` as [`Drive::submit`] does, with bytes that the drive owns until it is told to let go of them.
    ///
    /// # Panics
    /// As there.
    pub fn submit_with(&mut self, request: &HostRequest, bytes: HostBytes) -> RequestId {
        assert!(is_fit(request, &bytes), "a write brings the bytes of its sectors, and nothing else brings any");
        let id = self.machine.host().next_request();
        if let Some(data) = self.machine.data_mut() {
            data.bring(id, bytes);
        }
        self.machine.arrive(self.machine.now(), request);
        id
    }

    /// Connects `capacitors`, which keep the write buffers where the configuration says so. It must be called before the first request.
    pub fn connect(&mut self, capacitors: Box<dyn Capacitors>) {
        if let Some(data) = self.machine.data_mut() {
            data.connect(capacitors);
        }
    }

    /// Bytes that the completed read `read` returns. They must be fetched before anything else is submitted.
    pub fn bytes_of(&self, read: RequestId) -> &[u8] {
        self.machine.data().and_then(|data| data.bytes_of(read)).unwrap_or(&[])
    }

    /// First sector of the completed `read` that was lost when the drive took it in, counted from the read's first; `None`: none was, as far as was known. It
    /// must be asked before anything else is submitted.
    pub fn first_lost(&self, read: RequestId) -> Option<u32> {
        self.machine.data()?.first_lost(read)
    }

    /// Frees the bytes of `request`, which has been completed. Without this call they are freed when its id is given to another request.
    pub fn let_go(&mut self, request: RequestId) {
        if let Some(data) = self.machine.data_mut() {
            data.let_go(request);
        }
    }

    /// Frees the bytes of the completed `write` and returns their buffer, for reuse; empty, if the write brought none.
    pub fn take_bytes(&mut self, write: RequestId) -> Vec<u8> {
        self.machine.data_mut().map_or_else(Vec::new, |data| data.take_bytes(write))
    }

    /// Memory in bytes held by requests under way, by requests not let go of, and by buffers kept for the next ones.
    pub fn request_bytes(&self) -> usize {
        self.machine.data().map_or(0, DataPlane::request_bytes)
    }

    /// True if the unit that holds `sector` was written, and not trimmed since.
    pub fn holds(&self, sector: u64) -> bool {
        self.is_held(self.machine.host().units().holding(sector))
    }

    /// True if mapping unit `unit` of the drive was written, and not trimmed since.
    pub fn is_held(&self, unit: u64) -> bool {
        inspect::is_held(&self.machine, unit)
    }

    /// Mark of the unit `lpn` of `core` on flash, for audits.
    pub fn mark_of(&mut self, core: u32, lpn: u32) -> Option<Mark> {
        let Parts { ftls, device, data, .. } = self.machine.parts();
        data.as_ref()?.mark_of(core, lpn, &ftls[core as usize], device.dies_mut())
    }

    /// Injects `fault` beside those that are active. A die, plane or blocks that fail for good are an event, [`wordline_engine::Event::Harmed`].
    ///
    /// # Panics
    /// If it names a die, or a part of one, that is not there.
    pub fn inject(&mut self, fault: Fault) {
        match fault {
            Fault::Die(die, fault) => self.machine.harm(die, fault),
            Fault::Program { programs } => self.machine.faults_mut().0.fail_programs(programs),
            Fault::Power { after, seed } => {
                let (faults, device) = self.machine.faults_mut();
                faults.cut_power(after, seed, device);
            }
        }
    }

    /// All active faults, with what is left of them.
    pub fn faults(&self) -> Vec<Fault> {
        let of_dies = self.machine.dies().iter().flat_map(|(die, chip)| chip.faults().into_iter().map(move |fault| Fault::Die(die, fault)));
        of_dies.chain(self.machine.faults().waiting()).collect()
    }

    /// Clears all faults but those of dies, planes and blocks, which have failed for good. Destroyed data stays destroyed, and power does not come back.
    pub fn clear_faults(&mut self) {
        self.machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.clear_faults());
        self.machine.faults_mut().0.clear();
    }

    /// Corrupts the page at `place` with bit flips drawn from `seed`: it cannot be corrected until its block is erased. Returns true if something was
    /// programmed there.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn corrupt(&mut self, place: &FlashPlace, seed: u64) -> bool {
        self.machine.dies_mut()[place.die].corrupt(place.plane, place.block, place.page, seed)
    }

    /// Place at which a power cut on demand has struck. From then on no operation of the firmware reaches a die.
    #[inline]
    pub fn power_cut(&self) -> Option<PowerCut> {
        self.machine.faults().power_cut()
    }

    /// Orders `fault` to happen to `die` at the instant `at`, or now if that has passed. A fault whose instant does not come has no effect.
    ///
    /// # Panics
    /// If there is no such die. When the instant comes, if the die does not have such a part.
    pub fn schedule(&mut self, at: Nanos, die: DieId, fault: DieFault) {
        assert!(u32::from(die.0) < self.config().sheet.geometry.dies(), "there is no die {}", die.0);
        self.machine.schedule(at, die, fault);
    }

    /// Faults that were ordered for instants that have not come.
    pub fn scheduled(&self) -> impl Iterator<Item = (Nanos, DieId, DieFault)> {
        self.machine.faults().scheduled()
    }

    /// Bytes that parts of dies that have failed for good have lost: those of units whose newest copy lies there, and sectors that were lost when they had to
    /// be moved. It walks the map.
    pub fn lost_bytes(&self) -> Bytes {
        lost_bytes(self.unit_bytes(), self.machine.ftls(), self.machine.dies())
    }

    /// Mapped units with their places, in the order of units.
    pub fn mapped(&self) -> impl Iterator<Item = (u64, UnitPlace)> + '_ {
        let machine = &self.machine;
        mapped(machine.ftls(), machine.host(), machine.dies(), self.config().exported_units)
    }

    /// Places for mapping units in the block groups that are in service, each as observers name it and with its location on flash.
    pub fn unit_places(&self) -> impl Iterator<Item = (UnitPlace, FlashPlace)> + '_ {
        unit_places(self.machine.ftls(), self.machine.dies())
    }

    /// Makes a new drive look as if its first `units` units had been written once in order. Neither time nor memory is spent per unit where whole pages are
    /// programmed one by one.
    ///
    /// # Panics
    /// If the drive keeps bytes.
    pub fn construct_filled(&mut self, units: u64) {
        self.without_bytes("be constructed filled");
        let (parts, host) = self.machine.parts_and_host();
        construct::construct_filled(parts, host, units);
    }

    /// Makes a new drive look as if the first share of each core's units, by `fills`, had been overwritten unit by unit, uniformly at random, until the
    /// state of the core was steady. Cores can be filled differently, as after a repair. `docs/models/steady-state-construction.md` says how, and where
    /// that differs from the real thing.
    ///
    /// # Panics
    /// If there is not one share for each core, between 0 and 1, or if the drive is not new or keeps bytes.
    pub fn construct_steady(&mut self, fills: &[f64], seed: u64) {
        self.without_bytes("be constructed steady");
        let (parts, host) = self.machine.parts_and_host();
        construct::construct_steady(parts, host, fills, seed);
    }

    /// Makes a new drive look as if the first `fraction` of it had been written once in order.
    ///
    /// # Panics
    /// If `fraction` is not between 0 and 1, or if the drive is not new or keeps bytes.
    pub fn fill(&mut self, fraction: f64) {
        assert!((0.0..=1.0).contains(&fraction), "a drive can be filled to between 0 and 1, not {fraction}");
        self.construct_filled((self.config().exported_units as f64 * fraction) as u64);
    }

    /// Let the firmware serve up to `count` requests of `load` with every flash operation taking no time, then write out the buffer. Virtual time
    /// stands still, nothing is logged or observed, and the drive is quiet before and after. The host is saturated: as much is outstanding as the
    /// write buffer takes.
    ///
    /// Stops early where the drive wears out; [`Drive::is_worn_out`] tells.
    ///
    /// # Panics
    /// If the drive is not quiet ([`Drive::settle`] makes it so) or keeps bytes, or if a request ends beyond it.
    pub fn age(&mut self, load: &mut dyn Iterator<Item = HostRequest>, count: u64) -> Aged {
        self.without_bytes("be aged");
        precondition::age(&mut self.machine, load, count, self.leaps.read_times())
    }

    /// True if no request and no operation is under way and the buffer is empty.
    pub fn is_quiet(&self) -> bool {
        rest::is_quiet(&self.machine)
    }

    /// Set every block to `age` without writing it: its wear, and how long its present data has been kept. Without physics only its cycles are
    /// counted.
    ///
    /// Firmware and dies count the cycles as they would have counted them: a block that is worn is not taken for new. Spare blocks stay as new as they would
    /// have. Of blocks that hold bytes the count stays, because the marks of their pages name it. The clock of the firmware goes on by the
    /// set time, too. Techniques that ask for traces of erases, or have pages measured, get what the life would have shown them; others get
    /// nothing.
    pub fn set_age(&mut self, age: &Age) {
        set_age::set_age(&mut self.machine, age);
    }

    /// Lets the drive lie for `seconds` at this temperature, without power: all that is programmed is older by it than it was, and virtual time stands still.
    /// The firmware gets the time. Rests of blocks between their cycles stay as they are. Returns false, without effect, if the cells have no physics.
    pub fn lie(&mut self, seconds: f64, at: Celsius) -> bool {
        set_age::lie(&mut self.machine, seconds, at)
    }

    /// The cells of a block, for inspection from outside of the drive: wear, age, carried errors. `None`: they have no physics.
    pub fn inspect(&self, die: DieId, plane: PlaneId, block: BlockId) -> Option<BlockCells<'_>> {
        self.machine.dies()[die].inspect(plane, block)
    }

    /// Every flash block, die by die and plane by plane. True: it is of a block group in service.
    pub fn flash_blocks(&self) -> impl Iterator<Item = (DieId, PlaneId, BlockId, bool)> + '_ {
        inspect::flash_blocks(&self.machine)
    }

    /// Number of erases of a flash block, over its whole life.
    pub fn erases(&self, die: DieId, plane: PlaneId, block: BlockId) -> u32 {
        self.machine.dies()[die].erases(plane, block)
    }

    /// Errors that copybacks carried into the pages of a die, which its firmware cannot see.
    pub fn carried(&self, die: DieId) -> CarriedTables {
        self.machine.dies()[die].carried_tables()
    }

    /// Sets the temperature of the drive, which the board's sensor tells its firmware. Returns false, without effect, if the cells have no physics.
    pub fn set_temperature(&mut self, temperature: Celsius) -> bool {
        control::set_temperature(&mut self.machine, temperature)
    }

    /// Temperature of the cells, if they have physics.
    pub fn temperature(&self) -> Option<Celsius> {
        self.machine.dies()[DieId(0)].temperature()
    }

    /// Locates the mapping unit that holds `sector`.
    ///
    /// # Panics
    /// If there is no such sector.
    pub fn locate(&self, sector: u64) -> Located {
        control::locate(&self.machine, sector)
    }

    /// True if `die` has failed as a whole.
    pub fn is_dead(&self, die: DieId) -> bool {
        self.machine.dies()[die].is_dead()
    }

    /// Orders the next erase of `group` of `core` to spare `wordlines`: see [`wordline_ftl::Firmware::spare_next`].
    ///
    /// # Panics
    /// If there is no such core or group.
    pub fn spare_next(&mut self, core: u32, group: BlockGroup, wordlines: WordlineSet) -> Result<(), &'static str> {
        self.machine.ftls_mut()[core as usize].spare_next(group, wordlines)
    }

    /// Lets the drive finish its work: it writes out the buffer and waits until no operation is under way. The host asks for a flush, which is logged as
    /// one.
    ///
    /// # Panics
    ///
    /// If the drive does not come to rest: see [`Drive::try_settle`].
    pub fn settle(&mut self, observer: &mut dyn Observer) {
        rest::settle(&mut self.machine, Some(observer));
    }

    /// Lets the drive finish its work as [`Drive::settle`] does.
    ///
    /// # Errors
    ///
    /// The drive has worked for as long as several rewrites of all that it holds take, and goes on.
    pub fn try_settle(&mut self, observer: &mut dyn Observer) -> Result<(), Restless> {
        rest::try_settle(&mut self.machine, Some(observer))
    }

    /// Shuts the drive down in order, with a last record in the journal. The next [`Drive::wake`] reports a clean start, if nothing is written in between.
    /// No request may be under way.
    pub fn go_down(&mut self, observer: &mut dyn Observer) {
        rest::go_down(&mut self.machine, observer);
    }

    /// Work that keeps the drive from resting, in the words of a message: requests of the host, then the work of each core. Empty: an image can be taken,
    /// unless a die is still busy with a reset or a suspended operation.
    pub fn unrest(&self) -> Vec<String> {
        rest::unrest(&self.machine)
    }

    /// Begins an epoch: the use of each block is counted from now on.
    ///
    /// # Panics
    /// If the drive keeps bytes.
    pub fn begin_epoch(&mut self) {
        self.without_bytes("live in epochs");
        self.leaps.begin_epoch(&mut self.machine);
    }

    /// Greatest number of epochs like the present one that a leap of `times` can skip, and why no more.
    ///
    /// # Panics
    /// If no epoch is under way.
    pub fn leap_bound(&self, times: u32) -> (u32, Bound) {
        leap::leap_bound(&self.machine, times)
    }

    /// Skips `times` epochs like the present one, or as many as [`Drive::leap_bound`] allows. The present epoch goes on: to skip more, begin the
    /// next one first.
    ///
    /// # Panics
    /// If no epoch is under way, if the drive is not quiet ([`Drive::settle`] makes it so), or if its firmware keeps a journal.
    pub fn leap(&mut self, times: u32, rest: Rest) -> Leapt {
        self.leaps.leap(&mut self.machine, times, rest)
    }

    /// Lets each page read from now on stand for `times` reads of pages like it, and have as many errors as the worst of them: what a copy of the
    /// drive tells of the reads that a leap is going to skip. Without physics nothing changes.
    pub fn read_worst_of(&mut self, times: u32) {
        self.machine.dies_mut().iter_mut().for_each(|(_, chip)| chip.read_worst_of(times));
    }

    /// Reads `units` of the host so many times without timing, in a sample: each unit that holds something is read equally often, one read for up to
    /// [`crate::READS_EACH`]. Blocks and techniques count all reads, and a read of the sample has the errors of the worst of those that it stands
    /// for. The firmware ends what it has begun after every eight of them.
    ///
    /// Time does not pass: callers let it go on by [`Drive::run_until`].
    ///
    /// # Panics
    /// If the drive is not quiet, or keeps bytes.
    pub fn read_leap(&mut self, units: Range<u64>, reads: u64) -> ReadLeapt {
        self.without_bytes("be read in leaps");
        self.leaps.read_leap(&mut self.machine, units, reads)
    }

    /// Use of block groups over the epochs so far. Images have none of it.
    pub fn habits(&self) -> &Habits {
        self.leaps.habits()
    }

    /// Goes on with the `habits` of a drive of which this is a copy.
    pub fn set_habits(&mut self, habits: Habits) {
        self.leaps.set_habits(habits);
    }

    /// Image of the drive as plain data.
    ///
    /// # Errors
    /// The drive is not quiet.
    ///
    /// # Panics
    /// If the drive keeps bytes, which no image has.
    pub fn image(&self) -> Result<Image, NotQuiet> {
        self.without_bytes("be an image");
        image::image(&self.machine)
    }

    /// Desolders the dies. Power goes first: operations under way are broken off.
    ///
    /// # Panics
    /// If a copyback is under way, whose commands reach into the future: let the drive settle first.
    pub fn chip_off(self) -> ChipsOff {
        chip_off::chip_off(self.machine)
    }

    /// Present health of the drive, by the tables of its firmware. It walks all block groups.
    pub fn health(&self) -> Health {
        health::health(&self.machine)
    }

    /// True if some core has stopped taking writes.
    pub fn is_worn_out(&self) -> bool {
        inspect::is_worn_out(&self.machine)
    }

    /// Erases that were ordered to leave wordlines without data, by what became of them; `None`: the drive orders none.
    pub fn spare_counts(&self) -> Option<SpareCounts> {
        inspect::spare_counts(&self.machine)
    }

    /// Share of the units of block groups in service that lies on wordlines without data now.
    pub fn idle_share(&self) -> f64 {
        inspect::idle_share(&self.machine)
    }

    /// Counts of requested rewrites by cause.
    pub fn rewrites(&self) -> Vec<(Cause, RewriteCounts)> {
        inspect::rewrites(&self.machine)
    }

    /// Counts of what techniques were asked and of what became of their answers, of all cores together.
    pub fn technique_counts(&self) -> Vec<TechniqueCounts> {
        inspect::technique_counts(&self.machine)
    }

    /// Number of free block groups of all dies together.
    pub fn free_groups(&self) -> u64 {
        inspect::free_groups(&self.machine)
    }

    /// True if nothing is under way and nothing is waited for but timers of the firmware, which ring for ever.
    pub fn waits_for_timers_only(&self) -> bool {
        inspect::waits_for_timers_only(&self.machine)
    }

    /// True if the drive acts on the tolerances of hints and writes.
    pub fn has_tolerances(&self) -> bool {
        inspect::has_tolerances(&self.machine)
    }

    /// True if a request has come or anything has been logged since the drive was made. Timers may be due in a drive that has not begun.
    pub fn has_begun(&self) -> bool {
        inspect::has_begun(&self.machine)
    }

    /// Every block group, die by die.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView> + '_ {
        inspect::blocks(&self.machine)
    }

    /// Each block group that is full of data, die by die, with its block in the first plane and its wear as techniques tell it; `None`: none tells it.
    pub fn worn(&self) -> impl Iterator<Item = (DieId, BlockId, Option<Wear>)> + '_ {
        inspect::worn(&self.machine)
    }

    /// Number of sensings that blocks have seen since their last erases, all blocks of all dies together. Retries count, and reads that were broken off.
    pub fn sensings(&self) -> u64 {
        inspect::sensings(&self.machine)
    }

    /// Checks every table of every core against the others and against the flash itself.
    pub fn audit(&self) -> Result<(), String> {
        inspect::audit(&self.machine)
    }

    /// Number of mapping units in the write buffer that are not yet on flash.
    pub fn buffered_units(&self) -> u64 {
        inspect::buffered_units(&self.machine)
    }

    /// Memory in bytes that maps and spare areas take.
    pub fn memory_bytes(&self) -> usize {
        inspect::memory_bytes(&self.machine)
    }

    /// Dies that the firmware has found to have failed, counted over the drive, core by core.
    pub fn failed_dies(&self) -> impl Iterator<Item = DieId> + '_ {
        loss::failed_dies(&self.machine)
    }

    /// Number of times since this start that units have gone from whole to lost.
    pub fn lost_generation(&self) -> u64 {
        loss::lost_generation(&self.machine)
    }

    /// Number of mapping units that the firmware refuses.
    pub fn refused_units(&self) -> u64 {
        loss::refused_units(&self.machine)
    }

    /// Number of mapping units that answer with an error, in whole or in part, as far as the firmware has noticed since its start.
    pub fn lost_units(&self) -> u64 {
        loss::lost_units(&self.machine)
    }

    /// Reason for the error of `sector`, if it answers with an error, and the first sector behind it of which something else may be known.
    ///
    /// # Panics
    /// If there is no such sector.
    pub fn loss_at(&self, sector: u64) -> (Option<Loss>, u64) {
        loss::loss_at(&self.machine, sector)
    }

    /// Sectors of `range` that answer with an error, in runs, lowest first; with an `element`, only those whose unit lies on that die. It looks at each unit of
    /// the range where anything is lost, and at none elsewhere.
    ///
    /// # Panics
    /// If the range goes beyond the drive.
    pub fn lba_status(&self, range: Range<u64>, element: Option<DieId>) -> impl Iterator<Item = LbaStatus> + '_ {
        loss::lba_status(&self.machine, range, element)
    }

    /// Stretches of mapping units whose data a salvage ([`wordline_ftl::Trust::Salvage`]) could not prove to be the newest, lowest first: their first unit,
    /// their number, and what is known of them.
    pub fn doubtful(&self) -> Vec<(u64, u64, Doubt)> {
        loss::doubtful(&self.machine)
    }
}
