//! One firmware core between a random host and flash with random delays, watched by the [`Twin`].
//!
//! Checks beyond the twin's: every request is acknowledged exactly once, and nothing stops while something is owed. Does not check: that delays are
//! those of a data sheet; buses, DRAM, cores and host queues (the drive's own tests do).

use std::collections::BTreeMap;

use wordline_flash::{Operation, OperationKind, Origin, ProgramTrace, Report, Status, Stopped, Target};
use wordline_ftl::config::Acknowledge;
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::groups::Use;
use wordline_ftl::{Acknowledgement, BlockGroup, Firmware, Note, Request, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, DieId, HostOp, Lpn, Nanos, OpTag, WordlineSet};

use crate::dice_stops::DiceStops;
use crate::flash::{Flash, Spot, Stored};
use crate::grants::Grants;
use crate::hints::Hints;
use crate::masks::Masks;
use crate::offsets::Offsets;
use crate::pace::{BLANK, Due, Next, Pace, Work};
use crate::parker::{self, Parker};
use crate::stand_in::StandIn;
use crate::swarm::Scenario;
use crate::twin::{Moved, Twin};

/// A core that says nothing for so many operations while requests wait is not getting anywhere.
const OPERATIONS_WITHOUT_ANSWER: u64 = 300_000;

/// What a program under way carries.
#[derive(Clone, Debug, Default)]
struct Load {
    host: Vec<Stored>,
    moved: Vec<Moved>,
    padding: usize,
    /// Wordlines that an erase spares.
    spared: WordlineSet,
}

/// The world around one core.
#[derive(Debug)]
pub struct Harness {
    scenario: Scenario,
    /// The core.
    pub ftl: Firmware,
    flash: Flash,
    /// The model.
    pub twin: Twin,
    pace: Pace<Vec<Lpn>, Load>,
    /// Victims' pages on their way to the firmware.
    gathering: BTreeMap<OpTag, (Vec<Spot>, Vec<Stored>)>,
    offsets: Offsets,
    masks: Masks,
    grants: Grants,
    hints: Hints,
    /// Erases so far that have spared wordlines.
    pub guarded: u64,
    /// Programs ordered while their die was at another.
    pub followed: u64,
    /// Host requests submitted so far.
    pub requests: u64,
    /// Flash operations ordered so far, by what they do: reads, programs, erases, copybacks, suspends.
    pub operations: [u64; 6],
    /// Orders to stop: at a step, at once, of reads.
    pub stops: [u64; 4],
    /// Programs that were done again because a technique distrusted them.
    pub done_again: u64,
    unanswered: u64,
}

/// A new core of `scenario`, with those who join its techniques.
fn firmware(scenario: &Scenario) -> Firmware {
    let mut ftl = Firmware::new(scenario.config.clone());
    join_by_habits(&mut ftl, scenario);
    ftl
}

/// Join the techniques of the proving ground to `ftl` that the habits of `scenario` ask for.
pub(crate) fn join_by_habits(ftl: &mut Firmware, scenario: &Scenario) {
    if scenario.habits.stops_by_dice {
        ftl.join(Box::new(DiceStops::new(scenario.seed)));
    }
    if scenario.habits.has_stand_in {
        ftl.join(Box::new(StandIn::new(scenario.seed, scenario.config.most_spared())));
    }
    if scenario.habits.has_parker {
        ftl.join(Box::new(Parker::new(scenario.seed)));
    }
}

impl Harness {
    /// A fresh core.
    pub fn new(scenario: Scenario) -> Harness {
        let ftl = firmware(&scenario);
        let layout = *ftl.layout();
        let flash = Flash::new(layout, &scenario.config.sheet, &scenario.config.factory_bad);
        let sectors = (scenario.config.unit.0 / 512) as u32;
        Harness {
            twin: Twin::new(layout.dies, flash.block_count(), sectors),
            flash,
            pace: Pace::new(layout.dies, [0, 2].map(|number| Draw::new(scenario.seed, Stream::Arrival, number))),
            gathering: BTreeMap::new(),
            offsets: Offsets::new(&scenario.config, scenario.seed),
            masks: Masks::new(&scenario.config, scenario.seed),
            grants: Grants::new(&scenario.config),
            hints: Hints::new(&scenario.config, scenario.seed),
            guarded: 0,
            followed: 0,
            requests: 0,
            operations: [0; 6],
            stops: [0; 4],
            done_again: 0,
            unanswered: 0,
            ftl,
            scenario,
        }
    }

    /// Submit `requests` requests, let everything end, and look at all of it.
    pub fn run(&mut self, requests: u64) {
        let goal = self.requests + requests;
        while self.requests < goal {
            let room = self.twin.outstanding() < self.scenario.habits.depth;
            if room && (self.pace.dice.happens(0.4) || !self.pace.has_something_due(&self.ftl)) {
                let request = self.request();
                let request = self.hints.dress(request, self.ftl.is_worn_out());
                self.submit(request);
                self.hints.next(self.ftl.map().exported()).into_iter().for_each(|hint| self.submit(hint));
            } else {
                self.step();
            }
            if self.requests.is_multiple_of(997) {
                self.audit();
            }
        }
        // What waits for room is not yet acknowledged, so a flush would not wait for it.
        while self.twin.outstanding() > 0 {
            self.step();
        }
        self.submit(Request { id: u32::MAX - 1, op: HostOp::Flush, ..BLANK });
        while self.twin.outstanding() > 0 {
            self.step();
        }
        self.twin.rest();
        self.audit();
        self.miss_no_group();
    }

    /// Write the whole drive once in order, before all else.
    pub fn fill(&mut self) {
        let (units, most) = (self.ftl.map().exported(), self.scenario.habits.units_max);
        for lpn in (0..units).step_by(most as usize) {
            while self.twin.outstanding() >= self.scenario.habits.depth {
                self.step();
            }
            self.requests += 1;
            self.submit(Request { id: self.requests as u32, op: HostOp::Write, lpn, units: most.min(units - lpn), ..BLANK });
        }
    }

    /// Have a core that is restored from the image of this one go on, if this one is at rest. Returns true if it is. Dice of techniques
    /// that have joined begin anew.
    pub fn go_through_image(&mut self) -> bool {
        let Some(image) = self.ftl.image() else { return false };
        let (services, waits) = self.ftl.beside_image();
        let mut back = firmware(&self.scenario);
        let restored = [
            back.restore_spared(&self.ftl.spared_wordlines()),
            back.restore(image),
            back.restore_lost(self.ftl.lost_sectors()),
            back.restore_service_tables(services),
        ];
        restored.into_iter().for_each(|part| part.expect("it is of the same drive"));
        back.tick(self.pace.now);
        back.go_on_from(self.pace.now);
        back.restore_waits(&waits, self.pace.now).expect("it is of the same drive");
        assert_eq!(back.beside_image().1, waits, "the waits of the restored core");
        self.ftl = back;
        self.twin.forget_parts();
        driver::converse(self);
        self.audit();
        self.follow();
        true
    }

    /// Compare classes of units, and every table, far more often than usual.
    pub fn look_closely(&mut self) {
        self.hints.look_closely(30);
    }

    /// Let time pass until nothing is due any more. The timers of techniques may ring for ever: after `steps`, that is the end.
    pub fn idle(&mut self, steps: u32) {
        for _ in 0..steps {
            if !self.pace.has_something_due(&self.ftl) {
                break;
            }
            self.step();
        }
        self.follow();
    }

    /// Comparisons of the classes of all units, hints, parked rewrites at present.
    pub fn hinted(&self) -> [u64; 3] {
        let parked = self.ftl.rewrites().iter().map(|(_, counts)| counts.parked).sum();
        [self.hints.compared, u64::from(self.hints.given()), parked]
    }

    /// Rewrites of a [`Parker`] that have begun before they were due, and later.
    pub fn begun(&self) -> [u32; 2] {
        parker::begun(&self.ftl).unwrap_or_default()
    }

    /// Check what a step may have changed: classes of units, and what is due.
    fn follow(&mut self) {
        if self.hints.is_turn(self.ftl.map().exported()) {
            self.audit();
        }
        parker::check(&self.ftl, self.pace.now, self.pace.is_still()).unwrap_or_else(|problem| panic!("{problem}"));
    }

    /// Every group that is being written goes on being written, or was closed: none is neither open nor closed. A program that fails gives one up, which is
    /// emptied later.
    fn miss_no_group(&self) {
        if !self.ftl.is_quiet() || self.scenario.habits.program_fail > 0.0 {
            return;
        }
        for group in (0..self.ftl.layout().group_count() as u32).map(BlockGroup) {
            let is_lost = self.ftl.groups().use_of(group) == Use::Active && self.ftl.programmed_pages(group).is_none();
            assert!(!is_lost, "{group:?} is active, and neither open nor closed: it will never be collected");
        }
    }

    fn request(&mut self) -> Request {
        self.requests += 1;
        let sectors = (self.scenario.config.unit.0 / 512) as u32;
        let size = (self.ftl.map().exported(), sectors);
        crate::pace::request(self.requests as u32, &self.scenario.habits, size, &[HostOp::Write], &mut self.pace.dice)
    }

    fn submit(&mut self, request: Request) {
        let flash = &self.flash;
        let index_of = |spot: Spot| flash.block_index(spot.die, spot.plane, spot.block);
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        let roomy = through && self.scenario.is_roomy();
        self.twin.submit(request, request.op == HostOp::Write && !roomy, |spot| flash.at(spot), index_of);
        self.ftl.submit(self.pace.now, request);
        if request.op == HostOp::Trim {
            let ftl = &self.ftl;
            let kept = |lpn: u32| (ftl.map().get(lpn) != UnitAddr::NONE, ftl.newest(lpn).buffered.is_some());
            self.twin.trimmed(&request, kept, index_of);
        }
        // What the buffer took in is acknowledged before anything is programmed, so the twin knows what a program carries.
        driver::hear(self);
        driver::converse(self);
        self.follow();
        for lpn in request.lpn..request.lpn + request.units {
            self.compare(lpn);
        }
    }

    /// Reads that began elsewhere than at the default.
    pub fn reused(&self) -> u64 {
        self.offsets.reused
    }

    /// Let the next thing happen.
    fn step(&mut self) {
        self.masks.order(&mut self.ftl);
        match self.pace.next(&self.ftl) {
            Next::Never => panic!("nothing is due and {} requests wait", self.twin.outstanding()),
            Next::Tick(at) => self.ftl.tick(at),
            Next::Due(due) => self.happen(due),
        }
        driver::converse(self);
        self.follow();
    }

    /// Take notes; returns whether a program is done again.
    fn take_notes(&mut self) -> bool {
        let before = self.done_again;
        while let Some(note) = self.ftl.note() {
            self.note(note);
        }
        self.done_again > before
    }

    fn order(&mut self, operation: Operation) {
        let die = operation.die;
        let slot = usize::from(die.0);
        let count = match operation.kind {
            OperationKind::Read { .. } => 0,
            OperationKind::Program { .. } => 1,
            OperationKind::Erase { .. } => 2,
            OperationKind::Copyback { .. } => 3,
            OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => 4,
            OperationKind::Sanitise { .. } => 5,
        };
        self.operations[count] += 1;
        match operation.kind {
            OperationKind::Read { target, first, .. } => {
                self.offsets.ordered(&operation, &target, first).unwrap_or_else(|problem| panic!("{problem}"));
                self.order_read(operation, &target);
            }
            OperationKind::Program { target, origin: Origin { host, moved, padding }, .. } => {
                self.flash.check_order(die, &target);
                let spare = self.ftl.load(die, operation.tag).oob.to_vec();
                let [host, moved, padding] = [host, moved, padding].map(usize::from);
                assert!(host == 0 || moved == 0);
                let host: Vec<Stored> = spare[..host].iter().map(|&lpn| self.twin.take(lpn)).collect();
                let moved: Vec<Moved> = spare[..moved].iter().map(|&lpn| self.take_moved(slot, lpn)).collect();
                let good = !self.pace.dice.happens(self.scenario.habits.program_fail);
                self.followed += u64::from(self.pace.is_at_work(die));
                self.pace.begin(operation, 700, good, Load { host, moved, padding, ..Load::default() });
            }
            OperationKind::Erase { target, is_set, .. } => {
                self.order_erase(operation, &target, is_set);
            }
            OperationKind::Copyback { to, .. } => {
                let carries = matches!(operation.cause, Cause::Refresh | Cause::Disturb);
                assert!(!carries, "{operation:?}: what moves to be corrected is copied with its errors");
                self.flash.check_order(die, &to);
                let good = !self.pace.dice.happens(self.scenario.habits.program_fail);
                self.pace.begin(operation, 800, good, Load::default());
            }
            OperationKind::Suspend { stop } => {
                self.stops[stop as usize] += 1;
                if self.pace.suspend(die, stop, self.scenario.config.sheet.capabilities.stop_at_step) {
                    self.ftl.stopped(self.pace.now, die, Stopped::Refused);
                }
            }
            OperationKind::Abort => {
                self.stops[2] += 1;
                if self.pace.abort(die, operation.tag) {
                    self.ftl.stopped(self.pace.now, die, Stopped::Refused);
                }
            }
            OperationKind::Resume => self.pace.resume(die),
            OperationKind::Sanitise { target, how } => {
                let bits = self.scenario.config.sheet.geometry.cell.bits();
                for place in self.flash.sanitised(die, &target, how, bits) {
                    let holds = self.flash.at(place).is_some_and(|stored| self.twin.spot(stored.lpn.0) == Some(place));
                    assert!(!holds, "{how:?} of {place:?}, which holds valid data");
                }
                let good = !self.pace.dice.happens(self.scenario.habits.program_fail);
                self.pace.begin(operation, 100, good, Load::default());
            }
        }
    }

    /// Begins an erase, which no valid data may lie under.
    fn order_erase(&mut self, operation: Operation, target: &Target, is_set: bool) {
        let die = operation.die;
        let slot = usize::from(die.0);
        for spot in self.flash.spots(die, target, 1) {
            let index = self.flash.block_index(spot.die, spot.plane, spot.block);
            assert_eq!(self.twin.valid(index), 0, "{spot:?} is erased with valid data");
            // All that was read from it is overtaken, and the same units may lie there again before their turn comes.
            let is_elsewhere = |from: Spot| (from.die, from.plane, from.block) != (spot.die, spot.plane, spot.block);
            self.twin.moved[slot].retain(|moved| is_elsewhere(moved.1));
        }
        let good = !self.pace.dice.happens(self.scenario.habits.erase_fail);
        let told = self.ftl.erase_settings(die).map_or(WordlineSet::NONE, |settings| settings.spared);
        let spared = self.ftl.groups().idle_next(die);
        assert!(told.iter().all(|wordline| spared.has(wordline)), "die {die} spares a wordline that is to take data");
        assert!(spared.len() <= self.scenario.config.most_spared() && is_set == (self.scenario.config.most_spared() > 0));
        if !spared.is_empty() {
            self.guarded += 1;
            let block = self.flash.spots(die, target, 1)[0].block;
            self.grants.ordered(&self.ftl, die, block, spared).unwrap_or_else(|problem| panic!("{problem}"));
        }
        self.pace.begin(operation, 4_000, good, Load { spared, ..Load::default() });
    }

    /// The next moved unit of `die`, which is `lpn`. Those before it that the host has overtaken are dropped, and only those may be.
    fn take_moved(&mut self, die: usize, lpn: Lpn) -> Moved {
        loop {
            let moved = self.twin.moved[die].pop_front().unwrap_or_else(|| panic!("unit {lpn} is programmed as moved and was never read"));
            if self.twin.spot(moved.0) == Some(moved.1) {
                assert_eq!(moved.0, lpn.0, "moved units that nothing has overtaken are programmed in the order they were read");
                return moved;
            }
        }
    }

    fn order_read(&mut self, operation: Operation, target: &Target) {
        let die = operation.die;
        if operation.cause == Cause::Probe {
            // Whether something stands there does not matter: what comes out shows how the die is.
            return self.pace.read(die, operation.tag, Vec::new(), self.scenario.habits.slow_reports);
        }
        let page = self.flash.spots(die, target, 1);
        let found = self.flash.read(die, target);
        match operation.cause {
            Cause::Host => {
                let flash = &self.flash;
                self.twin.host_read(&page, |spot| flash.at(spot));
            }
            Cause::Fill => self.twin.fill_read(&found),
            Cause::Gc | Cause::Wear | Cause::Disturb | Cause::Retire | Cause::Sanitise | Cause::Measure | Cause::Refresh => {}
            Cause::Probe => unreachable!("carried out above"),
            Cause::Recovery | Cause::Keys => unreachable!("what it has written for itself is read after a power cut only"),
        }
        let spare = found.iter().map(|stored| stored.lpn).collect();
        if !matches!(operation.cause, Cause::Host | Cause::Fill | Cause::Measure) {
            // Kept until the report, which is when the firmware decides what of it is still wanted.
            self.gathering.insert(operation.tag, (page, found));
        }
        self.pace.read(die, operation.tag, spare, self.scenario.habits.slow_reports);
    }

    fn happen(&mut self, due: Due<Vec<Lpn>>) {
        match due {
            Due::DieReady { die, tag } => {
                if self.pace.is_between_tries() && self.ftl.yields(self.pace.now, die) {
                    self.pace.withdraw(tag);
                    self.gathering.remove(&tag);
                    self.offsets.aborted(tag);
                    self.stops[3] += 1;
                } else {
                    self.ftl.die_ready(die);
                }
            }
            Due::Read { die, tag, page: spare } => {
                if let Some((page, found)) = self.gathering.remove(&tag) {
                    self.twin.gather(usize::from(die.0), &page, &found);
                }
                let report = self.report_of(die, tag, true, None, &spare);
                self.ftl.report(self.pace.now, &report);
            }
            Due::Worked { die, attempt } if self.pace.is_current(die, attempt) => self.worked(die),
            Due::Suspended { die, attempt, how, since } if self.pace.is_current(die, attempt) => {
                let waited = self.pace.now - since;
                self.ftl.stopped(self.pace.now, die, Stopped::Held { how, waited });
            }
            Due::Aborted { die, tag, since } => {
                self.gathering.remove(&tag);
                self.offsets.aborted(tag);
                let waited = self.pace.now - since;
                self.ftl.stopped(self.pace.now, die, Stopped::Aborted { waited });
            }
            Due::Worked { .. } | Due::Suspended { .. } => {}
        }
    }

    fn report_of<'a>(&mut self, die: DieId, tag: OpTag, good: bool, program: Option<&'a ProgramTrace>, oob: &'a [Lpn]) -> Report<'a> {
        let status = if good { Status::Good } else { Status::Failed };
        let (retries, last) = self.offsets.reported(tag, good);
        Report { retries, last, program, ..Report::plain(tag, die, status, oob) }
    }

    fn worked(&mut self, die: DieId) {
        let slot = usize::from(die.0);
        let work = self.pace.finish(die);
        let tag = work.operation.tag;
        let mut touched: Vec<u32> = work.load.host.iter().map(|stored| stored.lpn.0).collect();
        touched.extend(work.load.moved.iter().map(|moved| moved.0));
        let (mut spare, mut landing, mut trace) = (vec![], vec![], None);
        match work.operation.kind {
            OperationKind::Program { target, is_set, .. } => {
                let spots = self.flash.spots(die, &target, self.ftl.layout().pages_per_program);
                let mut data = work.load.host.clone();
                data.extend(work.load.moved.iter().map(|&(lpn, _, version)| Stored { lpn: Lpn(lpn), version }));
                data.extend(std::iter::repeat_n(Stored::PADDING, work.load.padding));
                self.flash.program(die, &target, &data, work.good);
                if is_set {
                    trace = Some(self.pace.trace(self.scenario.habits.odd_programs));
                }
                landing = spots;
            }
            OperationKind::Erase { target, .. } => {
                self.offsets.erased(die, &target);
                self.flash.erase(die, &target, work.load.spared, work.good);
            }
            OperationKind::Copyback { from, to, .. } => {
                let pages = self.ftl.layout().pages_per_program;
                let (sources, goals) = (self.flash.spots(die, &from, pages), self.flash.spots(die, &to, pages));
                let data: Vec<Stored> = sources.iter().map(|&spot| self.flash.at(spot).expect("copyback of what is there")).collect();
                self.flash.program(die, &to, &data, work.good);
                for ((&stored, &from), &to) in data.iter().zip(&sources).zip(&goals).filter(|_| work.good) {
                    self.land_moved((stored.lpn.0, from, stored.version), to);
                    touched.push(stored.lpn.0);
                }
                spare = data.iter().map(|stored| stored.lpn).collect();
            }
            OperationKind::Sanitise { target, how } => {
                if work.good {
                    let bits = self.scenario.config.sheet.geometry.cell.bits();
                    self.flash.sanitise(die, &target, how, bits);
                }
            }
            OperationKind::Read { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => {
                unreachable!("not work")
            }
        }
        let report = self.report_of(die, tag, work.good, trace.as_ref(), &spare);
        driver::ended(&mut self.ftl, self.pace.now, &report);
        if matches!(work.operation.kind, OperationKind::Erase { .. }) {
            self.grants.ended(&self.ftl, die).unwrap_or_else(|problem| panic!("{problem}"));
        }
        if !landing.is_empty() {
            let is_done_again = self.take_notes();
            self.landed(slot, &work, &landing, work.good && !is_done_again);
        }
        touched.into_iter().filter(|&lpn| lpn != u32::MAX).for_each(|lpn| self.compare(lpn));
    }

    /// Tell the twin how a program ended.
    fn landed(&mut self, die: usize, work: &Work<Load>, spots: &[Spot], good: bool) {
        let flash = &self.flash;
        let index_of = |spot: Spot| flash.block_index(spot.die, spot.plane, spot.block);
        for (&stored, &spot) in work.load.host.iter().zip(spots) {
            self.twin.land(stored, good.then(|| (spot, index_of(spot))), index_of);
        }
        if good {
            for (&moved, &spot) in work.load.moved.iter().zip(spots) {
                self.twin.move_to(moved, (spot, index_of(spot)), index_of);
            }
        } else {
            for &moved in work.load.moved.iter().rev() {
                self.twin.moved[die].push_front(moved);
            }
        }
    }

    fn land_moved(&mut self, moved: Moved, to: Spot) {
        if moved.0 != u32::MAX {
            let flash = &self.flash;
            let index_of = |spot: Spot| flash.block_index(spot.die, spot.plane, spot.block);
            self.twin.move_to(moved, (to, index_of(to)), index_of);
        }
    }

    /// Where the firmware thinks that the unit at `addr` lies physically.
    fn physical(&self, addr: UnitAddr) -> Spot {
        let layout = self.ftl.layout();
        let group = layout.group(addr);
        let place = layout.place(layout.offset(addr));
        Spot {
            die: layout.die(group).0,
            plane: place.plane.0,
            block: self.ftl.groups().blocks(group)[usize::from(place.plane.0)],
            page: place.page.0,
            unit: place.unit as u16,
        }
    }

    /// Firmware and twin agree on where `lpn` lies.
    fn compare(&self, lpn: u32) {
        let addr = self.ftl.map().get(lpn);
        let mapped = (addr != UnitAddr::NONE).then(|| self.physical(addr));
        assert_eq!(mapped, self.twin.spot(lpn), "unit {lpn}: the firmware's place and the twin's");
    }

    /// Firmware, twin and flash agree on everything.
    pub fn audit(&mut self) {
        for (lpn, spot) in self.twin.spots() {
            self.compare(lpn);
            if let Some(spot) = spot {
                assert_eq!(self.flash.at(spot).map(|stored| stored.lpn), Some(Lpn(lpn)), "unit {lpn} at {spot:?}");
            }
        }
        let audited = self.ftl.audit(|addr| self.flash.at(self.physical(addr)).map_or(Lpn(u32::MAX), |stored| stored.lpn));
        audited.unwrap_or_else(|problem| panic!("{problem}"));
        self.hints.compare(&self.ftl, self.pace.now).unwrap_or_else(|problem| panic!("{problem}"));
    }
}

impl Driver for Harness {
    fn core(&mut self) -> &mut Firmware {
        &mut self.ftl
    }

    fn now(&self) -> Nanos {
        self.pace.now
    }

    fn carry_out(&mut self, operation: &Operation) {
        self.unanswered += 1;
        assert!(self.unanswered < OPERATIONS_WITHOUT_ANSWER, "no request is answered any more");
        self.order(*operation);
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        self.twin.acknowledge(done.id, done.ok, |request| through || request.fua);
        self.unanswered = 0;
    }

    fn note(&mut self, note: Note) {
        self.twin.worn_out |= note == Note::WornOut;
        self.done_again += u64::from(matches!(note, Note::ProgrammedAgain(_)));
    }
}
