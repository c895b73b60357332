//! Summaries on their way to flash, and who waits for marks to be sealed.

use wordline_flash::{Mark, Operation, OperationKind, Report, Status};
use wordline_units::{Cause, DieId, Lpn, Nanos};

use super::page::{MarkCopy, OobPage, marks_per_page};
use super::{OOB, filling};
use crate::die::Entry;
use crate::firmware::Ftl;
use crate::layout::Group;
use crate::operations::{Pending, Purpose};

impl Ftl {
    /// The marks that the program or copyback just ordered on `die` bears. To be called by whoever keeps the bytes, before the operation is reported.
    pub fn note_marks(&mut self, die: DieId, marks: &[Mark]) {
        if let Some(oob) = &mut self.oob {
            oob.note_marks(die, marks);
        }
    }

    /// The bytes of part `unit` of the summary's program that has just been ordered.
    pub fn oob_bytes(&self, unit: u32) -> &[u8] {
        let oob = self.oob.as_ref().expect("only a core with second copies of its marks programs summaries");
        let bytes = self.config.unit.0 as usize;
        &oob.image[unit as usize * bytes..][..bytes]
    }

    /// All data of `group` has been programmed: its summary comes next, or it is closed as it is.
    pub(crate) fn complete_group(&mut self, group: Group) {
        let layout = self.layout;
        let Some(oob) = &mut self.oob else {
            return self.close_group(group);
        };
        self.groups.give_up(group, layout.data_units..layout.units_per_group);
        oob.finish(group, layout.data_programs);
        self.wake(layout.die(group));
    }

    /// Program unit `program` of `group` has ended on `die`; `is_host`: the host has written some of it.
    pub(crate) fn note_landing(&mut self, die: DieId, (group, program): (Group, u32), (good, is_host): (bool, bool)) {
        let Some(oob) = &mut self.oob else { return };
        let kept = oob.landed(die, (group, program), (good, is_host), &self.groups);
        if let Some((index, record)) = kept.filter(|_| self.config.keeps_data) {
            self.keep_fact(index, super::kept::Fact::Marks(record));
        }
        if self.oob.as_ref().is_some_and(|oob| oob.wants(self.marks_per_program())) {
            self.wake_journal();
        }
    }

    /// The logical units of a copyback of program unit `from.1` of `from.0` on `die`, whose spare areas say `spare`. A page that could not be read was copied
    /// with its errors, and says nothing: what is valid in it is known by the map, and lost.
    pub(crate) fn name_copied(&mut self, die: DieId, from: (Group, u32), spare: &[Lpn]) -> Vec<Lpn> {
        let first = from.1 * self.layout.units_per_program;
        let exported = self.map.exported();
        let mut named = spare.to_vec();
        for (unit, lpn) in named.iter_mut().enumerate().filter(|(_, lpn)| lpn.0 >= exported) {
            if self.groups.is_valid(from.0, first + unit as u32) {
                *lpn = Lpn(self.named(u32::MAX, self.layout.unit(from.0, first + unit as u32)));
                let version = self.version_of_lost(lpn.0);
                if let Some(oob) = &mut self.oob {
                    oob.name(die, unit, MarkCopy { lpn: lpn.0, version, insecure: false });
                }
            }
        }
        named
    }

    /// Whoever waited for the program that has just landed waits for its record, too.
    pub(crate) fn hold_back_released(&mut self) {
        let Some(oob) = &mut self.oob else { return };
        let mut has_to_wait = false;
        for &part in self.buffer.released() {
            if oob.hold_back(part) {
                self.parts[part].pending += 1;
                has_to_wait = true;
            }
        }
        if has_to_wait {
            self.wake_journal();
        }
    }

    /// Whether all that the host has written in programs up to `number` is sealed. If not, it soon will be.
    pub(crate) fn seal_host_up_to(&mut self, number: u64) -> bool {
        let Some(oob) = &mut self.oob else { return true };
        let is_sealed = oob.is_host_sealed(number);
        if !is_sealed {
            oob.want(number);
            self.wake_journal();
        }
        is_sealed
    }

    /// Have all marks sealed, as something waits for it.
    pub(crate) fn seal_all(&mut self) {
        let Some(oob) = &mut self.oob else { return };
        let now = oob.now();
        if !oob.is_sealed(now) {
            oob.want(now);
            self.wake_journal();
        }
    }

    /// `group` holds nothing any more, or is out of service.
    pub(crate) fn forget_marks(&mut self, group: Group) {
        if let Some(oob) = &mut self.oob {
            oob.forget(group);
        }
    }

    /// Who waited for marks to be sealed goes on.
    pub(crate) fn release_sealed(&mut self) {
        while let Some(part) = self.oob.as_mut().and_then(|oob| oob.next_released()) {
            self.release_part(part);
        }
    }

    /// Nothing will be sealed any more: who waits is told.
    pub(crate) fn fail_sealed(&mut self) {
        let waiting = self.oob.as_mut().map_or(Vec::new(), |oob| oob.give_up());
        for part in waiting {
            self.parts[part].ok = false;
            self.release_part(part);
        }
    }

    /// The next program of `die` that belongs to a summary.
    #[cold]
    pub(crate) fn oob_step(&mut self, die: DieId) -> Option<Operation> {
        let oob = self.oob.as_ref()?;
        let ready = |&group: &Group| {
            let table = &oob.tables[&group];
            (!table.is_found || table.newest() <= oob.sealed)
                && !self.secrets.as_ref().is_some_and(|secrets| secrets.tries_again(die, group))
        };
        let due = &oob.due[usize::from(die.0)];
        let Some(group) = due.iter().copied().find(ready) else {
            if !due.is_empty() {
                self.seal_all();
                return self.journal_step(die);
            }
            return None;
        };
        let oob = self.oob.as_mut()?;
        let table = &oob.tables[&group];
        let program = table.summary.expect("it is due") + table.written;
        let page_bytes = self.config.sheet.geometry.page.0 as usize;
        let (each, pages) = (marks_per_page(page_bytes), oob.image.len() / page_bytes);
        let filling = filling(&self.layout, &self.groups, group);
        // Pages that are left over hold some of the marks once more.
        let needed = table.marks.len().div_ceil(each);
        for (page, bytes) in (table.written as usize * pages..).zip(oob.image.chunks_exact_mut(page_bytes)) {
            let first = page % needed * each;
            let marks = table.marks[first..table.marks.len().min(first + each)].to_vec();
            OobPage { filling, first: first as u32, marks }.write(bytes);
        }
        let units = self.layout.units_per_program;
        let state = &mut self.dies[die];
        state.begin_batch();
        (0..units).for_each(|unit| state.push_entry(Entry::Oob { unit }, OOB.0));
        let bytes = self.unit_bytes(units);
        let tag = self.pending.insert(Pending::new(Purpose::Oob { program }, group, 0, bytes));
        let target = self.layout.all_planes(self.groups.blocks(group), self.layout.first_page(program));
        Some(self.order(die, tag, OperationKind::Program { target, bytes }, Cause::Recovery))
    }

    /// A program of the summary of `group` has ended.
    pub(crate) fn summarised(&mut self, now: Nanos, report: &Report, group: Group, program: u32) {
        self.dies[report.die].batch.clear();
        let copies = self.layout.oob_programs();
        let oob = self.oob.as_mut().expect("it was ordered");
        if report.status != Status::Good {
            // What it holds is still known by the journal, and moves away.
            oob.drop_summary(group);
            self.abandon(report.die, group, program);
            return self.settle(now);
        }
        let table = oob.table(group);
        table.written += 1;
        if table.written == copies {
            oob.summarised(group);
            self.close_group(group);
            if self.secrets.is_some() {
                self.empty_closed(group);
            }
        }
        self.settle(now);
    }
}
