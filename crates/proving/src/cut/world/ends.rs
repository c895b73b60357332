//! What happens when operations end.

use wordline_flash::{OperationKind, Report, Status};
use wordline_ftl::UnitAddr;
use wordline_units::{DieId, Lpn, Nanos};

use super::super::nand::{Bytes, Stored};
use super::World;
use crate::cut::Bug;
use crate::pace::Due;

impl World {
    pub(super) fn happen(&mut self, due: Due<Vec<(UnitAddr, Stored)>>) {
        match due {
            Due::DieReady(die) => self.ftl.die_ready(die),
            Due::Read { die, tag, page } => {
                self.boundaries += 1;
                if self.is_dark() {
                    return;
                }
                let spare: Vec<Lpn> = page.iter().map(|(_, unit)| unit.mark.lpn).collect();
                let block = self.ftl.groups().blocks(self.ftl.layout().group(page[0].0))[0];
                self.nand.reads_mut(die, block).now += 1;
                let is_read = page.iter().all(|(_, unit)| unit.bytes != Bytes::Lost);
                self.moved.extend(page);
                self.report(die, tag, is_read, &spare);
            }
            Due::Worked { die, attempt } if self.pace.is_current(die, attempt) => {
                self.boundaries += 1;
                if !self.is_dark() {
                    self.worked(die);
                }
            }
            Due::Suspended { die, attempt } if self.pace.is_current(die, attempt) => self.ftl.die_ready(die),
            Due::Worked { .. } | Due::Suspended { .. } => {}
        }
    }

    pub(super) fn report(&mut self, die: DieId, tag: u32, good: bool, spare: &[Lpn]) {
        let status = if good { Status::Good } else { Status::Failed };
        let (retries, entry) = self.offsets.reported(tag);
        let report = Report { tag, die, status, corrected_bits: 0, loops: 0, retries, entry, array: Nanos::ZERO };
        self.ftl.report(self.pace.now, &report, spare);
        self.follow();
    }

    fn worked(&mut self, die: DieId) {
        let work = self.pace.finish(die);
        self.tally.work[2] += u64::from(!work.good);
        let mut spare = vec![];
        match work.operation.kind {
            OperationKind::Program { target, .. } => self.nand.program(die, &target, &work.load.units, work.good, &mut self.pace.dice),
            OperationKind::Erase { target } => {
                self.offsets.erased(die, &target);
                self.nand.erase(die, &target, work.good, &mut self.pace.dice);
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
            OperationKind::Read { .. } | OperationKind::Suspend | OperationKind::Resume => unreachable!("not work"),
        }
        self.ftl.suspend_refused(die);
        self.ftl.die_ready(die);
        if !work.load.told && matches!(work.operation.kind, OperationKind::Program { .. }) && self.ftl.program_settings(die).is_some() {
            let trace = self.pace.trace(self.scenario.habits.odd_programs);
            self.ftl.hear(trace);
        }
        if !work.load.told {
            self.report(die, work.operation.tag, work.good, &spare);
        }
    }
}
