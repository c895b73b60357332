//! The other half of the world around a core: what happens when flash operations end, and what is compared then.

use wordline_flash::{OperationKind, ProgramTrace, Report, Status, Stopped};
use wordline_ftl::{UnitAddr, driver};
use wordline_units::{DieId, Lpn, OpTag};

use super::{Harness, Load};
use crate::flash::{Spot, Stored};
use crate::pace::{Due, Work};
use crate::twin::Moved;

impl Harness {
    pub(super) fn happen(&mut self, due: Due<Vec<Lpn>>) {
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
    pub(super) fn compare(&self, lpn: u32) {
        let addr = self.ftl.map().get(lpn);
        let mapped = (addr != UnitAddr::NONE).then(|| self.physical(addr));
        assert_eq!(mapped, self.twin.spot(lpn), "unit {lpn}: the firmware's place and the twin's");
    }

    /// Firmware, twin and flash agree on everything.
    pub fn audit(&self) {
        for (lpn, spot) in self.twin.spots() {
            self.compare(lpn);
            if let Some(spot) = spot {
                assert_eq!(self.flash.at(spot).map(|stored| stored.lpn), Some(Lpn(lpn)), "unit {lpn} at {spot:?}");
            }
        }
        let audited = self.ftl.audit(|addr| self.flash.at(self.physical(addr)).map_or(Lpn(u32::MAX), |stored| stored.lpn));
        audited.unwrap_or_else(|problem| panic!("{problem}"));
    }
}
