//! What happens when operations end.

use wordline_flash::{OperationKind, ProgramTrace, Report, Status, Stopped};
use wordline_ftl::UnitAddr;
use wordline_ftl::driver::{self, Driver};
use wordline_units::{DieId, Lpn, OpTag};

use super::super::nand::{Bytes, Stored};
use super::World;
use crate::cut::Bug;
use crate::pace::{Due, Work};
use crate::tables::errors_of;

impl World {
    pub(super) fn happen(&mut self, due: Due<Vec<(UnitAddr, Stored)>>) {
        match due {
            Due::DieReady { die, tag } => {
                if self.pace.is_between_tries() && self.ftl.yields(self.pace.now, die) {
                    self.pace.withdraw(tag);
                    self.offsets.aborted(tag);
                    self.boundaries += 1;
                    self.tally.stops[3] += 1;
                } else {
                    self.ftl.die_ready(die);
                }
            }
            Due::Read { die, tag, page } => {
                self.boundaries += 1;
                if self.is_dark() {
                    return;
                }
                if self.is_noise(tag, &page) {
                    return self.report_noise(die, tag, page);
                }
                if page.is_empty() {
                    // A probe.
                    return self.report(die, tag, true, None, &[]);
                }
                let spare: Vec<Lpn> = page.iter().map(|(_, unit)| unit.mark.lpn).collect();
                let block = self.ftl.groups().blocks(self.ftl.layout().group(page[0].0))[0];
                self.nand.reads_mut(die, block).now += 1;
                let is_read = page.iter().all(|(_, unit)| unit.bytes != Bytes::Lost);
                spare.iter().for_each(|lpn| self.owed.bring(lpn.0));
                self.moved.extend(page);
                let errors = if is_read { errors_of(die.0, block.into()) } else { 0 };
                self.report_errors((die, tag), is_read, None, &spare, errors);
            }
            Due::Worked { die, attempt } if self.pace.is_current(die, attempt) => {
                self.boundaries += 1;
                if !self.is_dark() {
                    self.worked(die);
                }
            }
            Due::Suspended { die, attempt, how, since } if self.pace.is_current(die, attempt) => {
                self.answer(die, Stopped::Held { how, waited: self.pace.now - since });
            }
            Due::Aborted { die, tag, .. } if self.bug == Some(Bug::AbortedPassesForRead) => {
                self.boundaries += 1;
                if !self.is_dark() {
                    self.ftl.die_ready(die);
                    self.report(die, tag, true, None, &[]);
                }
            }
            Due::Aborted { die, tag, since } => {
                self.offsets.aborted(tag);
                self.answer(die, Stopped::Aborted { waited: self.pace.now - since });
            }
            Due::Worked { .. } | Due::Suspended { .. } => {}
        }
    }

    /// A stop has taken hold, if the power stays.
    fn answer(&mut self, die: DieId, answer: Stopped) {
        self.boundaries += 1;
        self.tally.stops[match answer {
            Stopped::Held { how, .. } => how as usize,
            Stopped::Aborted { .. } | Stopped::Refused => 2,
        }] += 1;
        if !self.is_dark() {
            self.ftl.stopped(self.pace.now, die, answer);
        }
    }

    pub(super) fn report(&mut self, die: DieId, tag: OpTag, good: bool, program: Option<&ProgramTrace>, oob: &[Lpn]) {
        self.report_errors((die, tag), good, program, oob, 0);
    }

    /// An operation ends, in which so many bits of the worst codeword were corrected.
    fn report_errors(&mut self, (die, tag): (DieId, OpTag), good: bool, program: Option<&ProgramTrace>, oob: &[Lpn], errors: u32) {
        let status = if good { Status::Good } else { Status::Failed };
        let (retries, last) = self.offsets.reported(tag, good);
        let report = Report { retries, last, program, corrected_bits: errors, ..Report::plain(tag, die, status, oob) };
        self.ftl.report(self.pace.now, &report);
        driver::follow(self);
    }

    /// A read of what has failed ends: half of all bits are wrong.
    fn report_noise(&mut self, die: DieId, tag: OpTag, page: Vec<(UnitAddr, Stored)>) {
        let spare: Vec<Lpn> = page.iter().map(|(_, unit)| unit.mark.lpn).collect();
        spare.iter().for_each(|lpn| self.owed.bring(lpn.0));
        self.moved.extend(page.into_iter().map(|(addr, _)| (addr, Stored::LOST)));
        let (retries, last) = self.offsets.reported(tag, false);
        let plain = Report::plain(tag, die, Status::Uncorrectable, &spare);
        let report = Report { retries, last, corrected_bits: self.noise(), ..plain };
        self.ftl.report(self.pace.now, &report);
        driver::follow(self);
    }

    fn worked(&mut self, die: DieId) {
        let work = self.pace.finish(die);
        self.note_past(&work.operation);
        self.tally.work[2] += u64::from(!work.good);
        let mut spare = vec![];
        match work.operation.kind {
            OperationKind::Program { .. } if work.follows && self.bug == Some(Bug::FollowerDropped) => {}
            OperationKind::Program { target, .. } => self.nand.program(die, &target, &work.load.units, work.good, &mut self.pace.dice),
            OperationKind::Erase { target, .. } => {
                self.offsets.erased(die, &target);
                self.nand.erase(die, &target, work.load.spared, work.good, &mut self.pace.dice);
            }
            OperationKind::Copyback { to, .. } => {
                spare = work.load.units.iter().map(|unit| unit.mark.lpn).collect();
                self.nand.program(die, &to, &work.load.units, work.good, &mut self.pace.dice);
            }
            OperationKind::Sanitise { target, how } => {
                if work.good && self.bug != Some(Bug::LockIgnored) {
                    self.nand.sanitise(die, &target, how, 1.0, &mut self.pace.dice);
                }
            }
            OperationKind::Read { .. } | OperationKind::Suspend { .. } | OperationKind::Resume | OperationKind::Abort => {
                unreachable!("not work")
            }
        }
        if !work.good && self.has_failed() {
            self.fail_again();
        }
        self.ftl.die_ready(die);
        if !work.load.told {
            let is_to_tell = matches!(work.operation.kind, OperationKind::Program { is_set: true, .. });
            let trace = is_to_tell.then(|| self.pace.trace(self.scenario.habits.odd_programs));
            self.report(die, work.operation.tag, work.good, trace.as_ref(), &spare);
        }
        if let Some(Work { operation, load, .. }) = self.pace.work(die)
            && let OperationKind::Program { target, .. } = operation.kind
        {
            let units = load.units.clone();
            self.begin_program(die, &target, &units);
        }
    }
}
