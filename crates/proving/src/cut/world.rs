//! The world around a core that keeps data: a random host, dies with random delays, and a power switch.

mod checks;
mod copies;
mod counts;
mod ends;
mod failing;
mod gone;
mod harm;
mod orders;
mod owed;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use wordline_flash::{Operation, OperationKind};
use wordline_ftl::config::{Acknowledge, Protection};
use wordline_ftl::driver::{self, Driver};
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::hooks::{Hook, Hooks};
use wordline_ftl::{Acknowledgement, CheckpointPage, DataStep, FACTS, Firmware, Held, Note, Recovery, Request, Said, UnitAddr};
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, HostOp, Nanos, WordlineSet};

use super::keys::Opened;
use super::ledger::{LOST, Ledger};
use super::nand::{Bytes, Kept, Look, Nand, Stored};
use super::{Bug, Tally};
use crate::chain::Chain;
use crate::harness::join_by_habits;
use crate::hints::Hints;
use crate::masks::Masks;
use crate::offsets::Offsets;
use crate::pace::{BLANK, Next, Pace};
use crate::parker;
use crate::swarm::Scenario;
use crate::tables;

/// A core that orders so many operations while a request waits is not getting anywhere.
const OPERATIONS_WITHOUT_ANSWER: u64 = 100_000;

/// What a program under way carries.
#[derive(Clone, Debug, Default)]
struct Load {
    units: Vec<Stored>,
    /// Wordlines that an erase spares.
    spared: WordlineSet,
    /// The firmware has been told already.
    told: bool,
}

/// The world.
pub struct World {
    scenario: Scenario,
    ftl: Firmware,
    nand: Nand,
    ledger: Ledger,
    bug: Option<Bug>,
    /// What was seen.
    pub tally: Tally,
    pace: Pace<Vec<(UnitAddr, Stored)>, Load>,
    /// The bytes of the buffer's slots.
    slots: Vec<Vec<u32>>,
    /// What capacitors keep of them.
    kept: Vec<Option<Kept>>,
    /// What they keep beside the buffer.
    kept_facts: Vec<Vec<u8>>,
    /// Units read from victims.
    moved: BTreeMap<UnitAddr, Stored>,
    asked: BTreeMap<u32, Request>,
    requests: u32,
    stamps: u32,
    boundaries: u64,
    cut_at: Option<u64>,
    worn_out: bool,
    unanswered: u64,
    /// The generation of the journal page programmed last.
    generation: u64,
    /// Head of the page of the map log programmed last, and whether the program being gathered repeats it.
    log_head: Vec<u8>,
    is_second_copy: bool,
    /// The commit whose table the controller's register opens, and one that it should.
    register: [u64; 2],
    /// What that opens, where there is a key store.
    opened: Option<Opened>,
    /// A die has refused to make something unreadable, and the core has said so.
    is_leaky: bool,
    broken: Option<String>,
    offsets: Offsets,
    copies: copies::Copies,
    masks: Masks,
    /// Pages become unreadable at each cut, each with this probability.
    rot: Option<f64>,
    /// Reads that have asked for something that is lost.
    was_lost: BTreeSet<u32>,
    owed: owed::Owed,
    hints: Hints,
    failed: failing::Failed,
}

/// Those who join the core of `scenario` beside its techniques.
fn join(ftl: &mut Firmware, scenario: &Scenario) {
    join_by_habits(ftl, scenario);
    if scenario.habits.is_copying {
        let by = Hooks::of(&[Hook::Opened, Hook::Unmeasured]);
        let measures = |choice: &Choice| choice.card().hooks.has(Hook::Work) && choice.card().hooks.meets(by);
        ftl.join(Box::new(Chain::beside(scenario.config.techniques.iter().any(measures))));
    }
}

impl World {
    /// A new drive.
    pub fn new(mut scenario: Scenario, bug: Option<Bug>) -> World {
        if bug == Some(Bug::ThresholdRaised) {
            scenario.config.tables.copyback = Some(Arc::new(tables::generous()));
        }
        let mut ftl = Firmware::new(scenario.config.clone());
        join(&mut ftl, &scenario);
        let layout = *ftl.layout();
        let config = &scenario.config;
        let sectors = (config.unit.0 / 512) as u32;
        World {
            nand: Nand::new(config, layout),
            ledger: Ledger::new(config.exported_units, sectors),
            bug,
            tally: Tally::default(),
            pace: Pace::new(layout.dies, [1, 3].map(|number| Draw::new(scenario.seed, Stream::Arrival, number))),
            slots: vec![vec![0; sectors as usize]; config.buffer.units as usize],
            kept: vec![None; config.buffer.units as usize],
            kept_facts: vec![Vec::new(); FACTS as usize],
            moved: BTreeMap::new(),
            asked: BTreeMap::new(),
            requests: 0,
            stamps: 0,
            boundaries: 0,
            cut_at: None,
            worn_out: false,
            unanswered: 0,
            generation: 1,
            log_head: Vec::new(),
            is_second_copy: false,
            register: [0; 2],
            opened: ftl.key_leaves().map(|_| Opened::default()),
            is_leaky: false,
            broken: None,
            rot: None,
            was_lost: BTreeSet::new(),
            owed: owed::Owed::default(),
            hints: Hints::new(&scenario.config, scenario.seed),
            failed: failing::Failed::default(),
            offsets: Offsets::new(&scenario.config, scenario.seed),
            copies: copies::Copies::new(scenario.seed),
            masks: Masks::new(&scenario.config, scenario.seed),
            ftl,
            scenario,
        }
    }

    /// From now on each whole page becomes unreadable with probability `share` when the power goes.
    pub fn rot(&mut self, share: f64) {
        self.rot = Some(share);
    }

    /// Operation boundaries since the last cut.
    pub fn boundaries(&self) -> u64 {
        self.boundaries
    }

    fn sectors(&self) -> u32 {
        (self.scenario.config.unit.0 / 512) as u32
    }

    fn has_capacitors(&self) -> bool {
        self.scenario.config.buffer.protection == Protection::Capacitor
    }

    /// What a core finds that wakes up.
    fn flash_reader(&self) -> Look<'_> {
        Look { nand: &self.nand, kept: &self.kept, kept_facts: &self.kept_facts, register: self.register[0], bug: self.bug }
    }

    /// Run `requests` requests, or until the power goes at the boundary `cut_at`. If it does not, everything is flushed at the end.
    pub fn live(&mut self, requests: u64, cut_at: Option<u64>) -> Result<(), String> {
        (self.boundaries, self.cut_at) = (0, cut_at);
        self.pump();
        let goal = self.requests + requests as u32;
        while self.requests < goal && !self.is_dark() && !self.worn_out {
            let room = self.asked.len() < self.scenario.habits.depth;
            if room && (self.pace.dice.happens(0.4) || !self.pace.has_something_due(&self.ftl)) {
                self.requests += 1;
                self.pass_days();
                let (habits, size) = (&self.scenario.habits, (self.ftl.map().exported(), self.sectors()));
                let lasting = [HostOp::Write, HostOp::Trim];
                let request = crate::pace::request(self.requests, habits, size, &lasting, &mut self.pace.dice);
                let request = self.hints.dress(request, self.ftl.is_worn_out());
                self.submit(request);
                if let Some(hint) = self.hints.next(self.ftl.map().exported()).filter(|_| !self.is_dark()) {
                    self.submit(hint);
                }
            } else {
                self.step();
            }
        }
        while !self.asked.is_empty() && !self.is_dark() {
            self.step();
        }
        if !self.is_dark() && !self.worn_out {
            self.requests += 1;
            self.submit(Request { id: self.requests, op: HostOp::Flush, ..BLANK });
            while !self.asked.is_empty() && !self.is_dark() {
                self.step();
            }
        }
        if !self.is_dark() {
            self.look()?;
        }
        self.compare_copies()?;
        self.broken.take().map_or(Ok(()), Err)
    }

    /// Count what this life of the core has seen.
    fn count_life(&mut self) {
        self.tally.followed[1] += self.pace.waiting();
        let counts = self.ftl.spare_counts();
        let sets = [counts.granted, counts.refused.iter().sum(), counts.taken_back + counts.made_plain];
        self.tally.spared.iter_mut().zip(sets).for_each(|(sum, sets)| *sum += sets);
        let begins_again = self.tally.cuts > 1;
        for (cause, counts) in self.ftl.rewrites() {
            self.tally.hinted[0] += counts.parked;
            self.tally.hinted[1] += if begins_again && cause == Cause::Disturb { counts.begun } else { 0 };
        }
        self.tally.hinted[2] += std::mem::take(&mut self.hints.compared);
    }

    /// The power goes now; then it comes back. Returns whether the core still takes writes.
    pub fn recover(&mut self) -> Result<bool, String> {
        self.tally.cuts += 1;
        self.count_life();
        self.break_off();
        let column = self.wear_blank();
        self.fail_again();
        if let Some(share) = self.rot.filter(|&share| share > 0.0) {
            self.tally.marks[1] += self.nand.rot(share, &mut self.pace.dice);
        }
        self.forget();
        let config = self.scenario.config.clone();
        let whole = self.ftl.checkpoint();
        let asked = self.ftl.learnt("chain").unwrap_or_default();
        self.tally.measured.iter_mut().zip(asked).for_each(|(sum, count)| *sum += u64::from(count));
        self.ftl = Firmware::recover(config.clone(), &mut self.flash_reader());
        join(&mut self.ftl, &self.scenario);
        let again = Firmware::recover(config, &mut self.flash_reader());
        for slot in self.ftl.slots_in_use() {
            let kept = self.kept[slot as usize].as_ref().ok_or_else(|| format!("slot {slot} comes back with nothing in it"))?;
            self.slots[slot as usize].copy_from_slice(&kept.sectors);
            self.tally.held += 1;
        }
        let units = self.ftl.map().exported();
        if let Some(lpn) = (0..units).find(|&lpn| self.ftl.newest(lpn) != again.newest(lpn)) {
            return Err(format!("unit {lpn} is recovered to two places"));
        }
        self.nand.count_cut();
        self.copies.cut();
        self.hints.cut();
        self.note_column(column);
        self.compare_copies()?;
        let [spared, blank] = self.nand.spared();
        self.tally.guarded[1] += u64::from(spared > 0);
        self.tally.guarded[4] += blank;
        self.compare_with_scan()?;
        if self.rot.is_none() {
            counts::compare(&self.scenario.config.techniques, &self.ftl, &mut self.nand, &mut self.tally.counts)?;
        }
        let recovery = self.count_recovery(whole)?;
        self.audit()?;
        self.hints.compare(&self.ftl, self.pace.now)?;
        for lpn in 0..units {
            let addr = self.ftl.map().get(lpn);
            let is_behind = addr != UnitAddr::NONE && self.nand.begins_spared(self.place(addr));
            self.tally.guarded[if recovery.checkpoint.is_some() { 2 } else { 3 }] += u64::from(is_behind);
            let found: Rc<[u32]> = self.newest(lpn).map_err(|problem| format!("unit {lpn}: {problem}"))?.into();
            self.tally.older += u64::from(self.ledger.after_cut(lpn, &found, self.rot.is_some())?);
            let is_lost = found.contains(&LOST);
            self.tally.marks[2] += u64::from(is_lost);
            if is_lost && self.rot.is_none() {
                return Err(format!("unit {lpn} is lost, and no page has become unreadable: {recovery:?}"));
            }
            if is_lost && self.has_failed() {
                self.check_taken(lpn, &found)?;
            }
        }
        self.tally.units += u64::from(units);
        self.tally.marks[3] += recovery.refused;
        while let Some(note) = self.ftl.note() {
            self.note(note);
        }
        self.broken.take().map_or(Ok(()), Err)?;
        self.tally.worn_out += u64::from(self.ftl.is_worn_out());
        Ok(!self.ftl.is_worn_out())
    }

    /// Counts the recovery of the core, before which `whole` was the newest complete checkpoint.
    fn count_recovery(&mut self, whole: Option<u64>) -> Result<Recovery, String> {
        let recovery = self.ftl.recovery().expect("it has come back");
        if recovery.checkpoint < whole && self.rot.is_none() {
            return Err(format!("checkpoint {whole:?} was whole, and it comes back by {recovery:?}"));
        }
        self.tally.checkpoints[1] += u64::from(recovery.checkpoint.is_some());
        self.tally.checkpoints[2] += recovery.settled;
        self.tally.checkpoints[3] += recovery.doubts;
        Ok(recovery)
    }

    /// Breaks off what the dies do.
    fn break_off(&mut self) {
        for work in self.pace.cut() {
            self.tally.in_flight += 1;
            let (die, good) = (work.operation.die, work.good);
            self.note_past(&work.operation);
            match work.operation.kind {
                OperationKind::Program { target, .. } if self.bug == Some(Bug::TornCheckpointPasses) => {
                    let units = self.half_of(&work.load.units);
                    self.nand.program(die, &target, &units, true, &mut self.pace.dice);
                }
                OperationKind::Program { target, .. } | OperationKind::Copyback { to: target, .. } => {
                    self.nand.cut_program(die, &target, &work.load.units, good, &mut self.pace.dice);
                }
                OperationKind::Erase { target, .. } => self.nand.cut_erase(die, &target, work.load.spared, good, &mut self.pace.dice),
                OperationKind::Sanitise { target, how } => self.nand.sanitise(die, &target, how, 0.5, &mut self.pace.dice),
                OperationKind::Read { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => {
                    unreachable!("not work")
                }
            }
        }
    }

    /// Forgets what nothing has kept through the cut.
    fn forget(&mut self) {
        self.asked.clear();
        self.owed.cut();
        self.moved.clear();
        self.tally.reused += std::mem::take(&mut self.offsets.reused);
        self.offsets.cut();
        self.ledger.forget_requests();
        // Bytes that are in no chip are gone, but for what capacitors keep.
        self.slots.iter_mut().for_each(|sectors| sectors.fill(u32::MAX));
        if !self.has_capacitors() {
            self.kept.fill(None);
            self.kept_facts.fill(Vec::new());
        }
        if self.opened.is_some() {
            self.opened = Some(Opened::by(self.register[0], &self.nand));
        }
    }

    /// The program of a checkpoint with half of its places; any other as it is.
    fn half_of(&self, units: &[Stored]) -> Vec<Stored> {
        let per_page = self.ftl.layout().units_per_page as usize;
        let mut units = units.to_vec();
        for page in units.chunks_mut(per_page) {
            let parts = page.iter().filter_map(|unit| match &unit.bytes {
                Bytes::Journal(part) => Some(part.to_vec()),
                Bytes::Nothing | Bytes::Sectors(_) | Bytes::Lost => None,
            });
            let mut bytes: Vec<u8> = parts.flatten().collect();
            let Some(mut said) = CheckpointPage::read(&bytes) else { continue };
            let Said::Places { places, .. } = &mut said.said else { continue };
            let half = places.len() / 2;
            places[half..].fill(UnitAddr::NONE);
            said.write(&mut bytes);
            let length = bytes.len() / per_page;
            for (unit, bytes) in page.iter_mut().zip(bytes.chunks(length)) {
                unit.bytes = Bytes::Journal(bytes.into());
            }
        }
        units
    }

    fn submit(&mut self, request: Request) {
        self.tally.requests += 1;
        self.owe(&request);
        self.asked.insert(request.id, request);
        match request.op {
            HostOp::Trim => {
                let sectors = self.sectors();
                for index in 0..request.units {
                    let from = if index == 0 { request.skip_head } else { 0 };
                    let to = sectors - if index + 1 == request.units { request.skip_tail } else { 0 };
                    let mask = (from..to).fold(0, |mask, sector| mask | 1 << sector);
                    self.ledger.trim(request.id, request.lpn + index, mask);
                }
            }
            HostOp::Flush => self.ledger.flush(request.id),
            HostOp::Read => {
                for lpn in request.lpn..request.lpn + request.units {
                    let looked = self.look_at(lpn);
                    self.fail(looked);
                    if self.newest(lpn).is_ok_and(|sectors| sectors.contains(&LOST)) {
                        self.was_lost.insert(request.id);
                    }
                }
            }
            HostOp::Write | HostOp::Hint => {}
        }
        if request.op == HostOp::Flush && self.bug == Some(Bug::FlushReordered) {
            self.ledger.flushed(request.id);
        }
        self.ftl.submit(self.pace.now, request);
        self.pump();
    }

    /// What the pages on flash owe to `request`, or to no one any more.
    fn owe(&mut self, request: &Request) {
        let units = request.lpn..request.lpn + request.units;
        match request.op {
            HostOp::Read => {
                let changes = |of: &&Request| matches!(of.op, HostOp::Write | HostOp::Trim);
                let changing = |lpn: u32| self.asked.values().filter(changes).any(|of| (of.lpn..of.lpn + of.units).contains(&lpn));
                let is_on_flash = |lpn: &u32| {
                    let newest = self.ftl.newest(*lpn);
                    newest.buffered.is_none() && newest.on_flash != UnitAddr::NONE && !newest.is_refused
                };
                self.owed.ask(request.id, units.filter(is_on_flash).filter(|&lpn| !changing(lpn)));
            }
            HostOp::Write | HostOp::Trim => self.owed.overtake(units),
            HostOp::Flush | HostOp::Hint => {}
        }
    }

    fn fail(&mut self, looked: Result<(), String>) {
        if let Err(problem) = looked {
            self.broken.get_or_insert(problem);
        }
    }

    fn step(&mut self) {
        self.befall();
        self.masks.order(&mut self.ftl);
        match self.pace.next(&self.ftl) {
            Next::Never => {
                let waiting: Vec<_> = self.asked.values().collect();
                let state = (self.ftl.buffer_room(), self.ftl.is_worn_out(), self.groups());
                return self.fail(Err(format!("nothing is due and requests wait: {waiting:?}; buffer room, worn out, groups: {state:?}")));
            }
            Next::Tick(at) => self.ftl.tick(at),
            Next::Due(due) => self.happen(due),
        }
        self.pump();
        let followed = self.follow();
        self.fail(followed);
    }

    /// Check what a step may have changed: classes of units, and what is due.
    fn follow(&mut self) -> Result<(), String> {
        if self.is_dark() {
            // Orders that the dies were given last have not been carried out.
            return Ok(());
        }
        if self.hints.is_turn(self.ftl.map().exported()) {
            self.hints.compare(&self.ftl, self.pace.now)?;
        }
        parker::check(&self.ftl, self.pace.now, self.pace.is_still())
    }

    fn pump(&mut self) {
        driver::converse(self);
        // A core that takes no more writes may have no room for its journal, and nobody waits for memos.
        if self.pace.is_still() && !self.is_dark() && !self.ftl.is_worn_out() {
            self.nand.be_still();
        }
    }

    /// Use and valid units of each group.
    fn groups(&self) -> String {
        let groups = (0..self.ftl.layout().group_count() as u32).map(wordline_ftl::BlockGroup);
        let each = groups.map(|group| format!("{:?} {}", self.ftl.groups().use_of(group), self.ftl.groups().valid(group)));
        format!("{:?} of {}", each.collect::<Vec<_>>(), self.ftl.layout().units_per_group)
    }

    /// Of each unit, nothing older than its state of this number is readable.
    fn check_gone(&mut self, promised: &[(u32, u64)]) -> Result<(), String> {
        if !gone::has_sanitiser(&self.scenario.config.techniques) || self.is_leaky || promised.is_empty() || self.worn_out {
            return Ok(());
        }
        let opened = self.opened.as_ref().map(|_| Opened::by(self.register[0], &self.nand));
        self.tally.gone += gone::check(promised, (&self.nand, opened.as_ref()), &self.ledger, &self.ftl)?;
        Ok(())
    }

    /// The bytes of a unit whose read has just been reported. Where there is a key store, its key may have gone since it was asked for; then the controller has
    /// it in memory until it has answered.
    fn sensed(&self, from: UnitAddr) -> Result<Rc<[u32]>, String> {
        match self.moved.get(&from).map(|unit| &unit.bytes) {
            Some(Bytes::Sectors(sectors)) if self.opened.is_some() => Ok(sectors.clone()),
            _ => self.on_flash(from),
        }
    }

    fn keep(&mut self, slot: u32, held: Held) {
        self.kept[slot as usize] = Some(Kept { held, sectors: self.slots[slot as usize].clone().into() });
    }
}

impl Driver for World {
    fn core(&mut self) -> &mut Firmware {
        &mut self.ftl
    }

    fn now(&self) -> Nanos {
        self.pace.now
    }

    fn is_dark(&self) -> bool {
        self.broken.is_some() || self.cut_at.is_some_and(|at| self.boundaries >= at)
    }

    fn carry_out(&mut self, operation: &Operation) {
        self.unanswered += 1;
        if self.unanswered > OPERATIONS_WITHOUT_ANSWER {
            return self.fail(Err("no request is answered any more".to_owned()));
        }
        self.boundaries += 1;
        self.order(*operation);
    }

    fn acknowledged(&mut self, done: Acknowledgement) {
        self.unanswered = 0;
        let through = self.scenario.config.buffer.acknowledge == Acknowledge::Programmed;
        let request = self.asked.remove(&done.id).expect("a request is acknowledged once");
        let missing = self.owed.answer(request.id);
        if !done.ok {
            if !self.worn_out && !self.was_lost.contains(&request.id) {
                self.fail(Err(format!("{request:?} fails")));
            }
            return;
        }
        let promised = match request.op {
            HostOp::Flush => self.ledger.flushed(request.id),
            HostOp::Write => self.ledger.acknowledge(request.id, through || request.fua || self.has_capacitors()),
            HostOp::Trim => {
                let trimmed = self.ledger.made_by(request.id);
                self.ledger.acknowledge(request.id, through || request.fua);
                trimmed
            }
            HostOp::Hint => return,
            HostOp::Read => {
                let problem = |lpn| format!("{request:?} is answered, and no page that was sensed to its end has brought unit {lpn}");
                return self.fail(missing.map_or(Ok(()), |lpn| Err(problem(lpn))));
            }
        };
        // What is lost may have been what a sanitiser had to find: not checked.
        let gone = if self.rot.is_some() { Ok(()) } else { self.check_gone(&promised) };
        self.fail(gone);
    }

    fn note(&mut self, note: Note) {
        self.is_leaky |= matches!(note, Note::Exposed(_));
        if let Note::DieFailed(die) = note {
            self.give_up(die);
        }
        if note == Note::WornOut {
            self.worn_out = true;
            let habits = self.scenario.habits;
            if habits.program_fail == 0.0 && habits.erase_fail == 0.0 && !self.has_failed() {
                self.fail(Err(format!("the core gives up on good flash: {}", self.groups())));
            }
        }
    }

    fn move_bytes(&mut self, step: DataStep) {
        match step {
            DataStep::Stored { request, index, slot, continues, held } => {
                if let Some(older) = continues {
                    let bytes = self.slots[older as usize].clone();
                    self.slots[slot as usize] = bytes;
                }
                let request = self.asked[&request];
                let sectors = self.sectors();
                let mask = crate::pace::mask(&request, index, sectors);
                self.stamps += 1;
                let first = self.stamps * 64;
                let stamp = |sector: u32| first + sector;
                self.ledger.write(request.id, request.lpn + index, mask, stamp);
                let bytes: Vec<u32> = (0..sectors).map(stamp).collect();
                over(&mut self.slots[slot as usize], &bytes, mask);
                let is_first = self.kept[slot as usize].as_ref().is_none_or(|kept| kept.held.lpn != held.lpn);
                if is_first || self.bug != Some(Bug::HeldForgotten) {
                    self.keep(slot, held);
                }
            }
            DataStep::Completed { slot, held, missing, from } => match self.sensed(from) {
                Ok(bytes) => {
                    over(&mut self.slots[slot as usize], &bytes, missing);
                    self.keep(slot, held);
                }
                Err(problem) => self.fail(Err(problem)),
            },
            DataStep::Refused { slot, missing } => {
                let lost = vec![LOST; self.sectors() as usize];
                over(&mut self.slots[slot as usize], &lost, missing);
                let held = self.ftl.held_in(slot);
                self.keep(slot, held);
            }
            DataStep::Kept => {
                let (index, bytes) = self.ftl.take_kept_fact().expect("it was announced");
                self.kept_facts[index as usize] = bytes;
            }
            DataStep::Register { commit } => {
                self.tally.keys[1] += 1;
                let [_, before] = self.register;
                self.register = if self.bug == Some(Bug::RegisterLate) { [before, commit] } else { [commit; 2] };
                self.opened = Some(Opened::by(self.register[0], &self.nand));
            }
        }
    }
}

pub(super) fn over(to: &mut [u32], from: &[u32], mask: u64) {
    for (sector, (to, &from)) in to.iter_mut().zip(from).enumerate() {
        if mask >> sector & 1 == 1 {
            *to = from;
        }
    }
}
