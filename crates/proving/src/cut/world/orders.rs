//! What the core orders: operations begin, with the bytes they carry.

use wordline_flash::{Mark, Operation, OperationKind, Stopped, Target};
use wordline_ftl::groups::Use;
use wordline_ftl::{
    CHECKPOINT, Carried, CheckpointPage, Facts, JOURNAL, JournalPage, KEYS, KeyFacts, KeyPage, MarkCopy, MetadataKind, OobPage, Said,
    UnitAddr,
};
use wordline_units::{Cause, DieId, Lpn, PlaneId, WordlineSet};

use super::super::Bug;
use super::super::nand::{Bytes, Stored};
use super::{LOST, Load, World};

impl World {
    pub(super) fn order(&mut self, operation: Operation) {
        let die = operation.die;
        match operation.kind {
            OperationKind::Read { target, first, .. } => {
                if let Err(problem) = self.offsets.ordered(&operation, &target, first) {
                    self.broken.get_or_insert(problem);
                }
                self.order_read(operation, &target);
            }
            OperationKind::Program { target, .. } => {
                let mut units = self.gather(&operation);
                self.nand.check_order(die, &target);
                if self.pace.is_at_work(die) {
                    self.tally.followed[0] += 1;
                } else {
                    self.begin_program(die, &target, &units);
                }
                self.encrypt(die, &target, &mut units);
                let good = !self.pace.dice.happens(self.scenario.habits.program_fail) && !self.is_harmed(die, &target);
                self.begin(operation, 700, good, units);
            }
            OperationKind::Erase { target, is_set, .. } => {
                self.nand.check_erase(die, &target);
                self.tally.work[0] += 1;
                let good = !self.pace.dice.happens(self.scenario.habits.erase_fail) && !self.is_harmed(die, &target);
                let spared = self.ftl.erase_settings(die).map_or(WordlineSet::NONE, |settings| settings.spared);
                assert!(spared.len() <= self.scenario.config.most_spared() && is_set == (self.scenario.config.most_spared() > 0));
                self.tally.guarded[0] += u64::from(!spared.is_empty());
                self.pace.begin(operation, 4_000, good, Load { spared, ..Load::default() });
            }
            OperationKind::Copyback { from, to, .. } => {
                self.order_copy(operation, &from, &to);
            }
            OperationKind::Suspend { stop } => {
                self.boundaries += 1;
                if self.pace.suspend(die, stop, self.scenario.config.sheet.capabilities.stop_at_step) {
                    self.ftl.stopped(self.pace.now, die, Stopped::Refused);
                }
            }
            OperationKind::Abort => {
                self.boundaries += 1;
                if self.pace.abort(die, operation.tag) {
                    self.ftl.stopped(self.pace.now, die, Stopped::Refused);
                }
            }
            OperationKind::Resume => {
                self.boundaries += 1;
                if self.bug != Some(Bug::ResumeForgotten) {
                    self.pace.resume(die);
                }
            }
            OperationKind::Sanitise { target, .. } => {
                self.tally.sanitised += 1;
                let good = !self.pace.dice.happens(self.scenario.habits.program_fail) && !self.is_harmed(die, &target);
                self.begin(operation, 100, good, vec![]);
            }
        }
    }

    /// Begins a copy within a die.
    fn order_copy(&mut self, operation: Operation, from: &Target, to: &Target) {
        let die = operation.die;
        if let Err(problem) = self.stands_copy(die, from, to).and_then(|()| self.affords_copy(die, from)) {
            self.broken.get_or_insert(problem);
        }
        self.nand.check_order(die, to);
        if !self.is_harmed(die, to) {
            self.nand.check_program(die, to, false);
        }
        let pages = self.nand.places(die, from, self.ftl.layout().pages_per_program);
        let units: Vec<Stored> = pages.into_iter().flat_map(|place| self.nand.sense(place, self.rot.is_some())).collect();
        let marks: Vec<Mark> = units.iter().map(|unit| unit.mark).collect();
        self.ftl.note_marks(die, &marks);
        self.tally.work[1] += units.len() as u64;
        let good = !self.pace.dice.happens(self.scenario.habits.program_fail) && !self.is_harmed(die, to);
        self.begin(operation, 800, good, units);
    }

    /// A program of `units` begins at `target`.
    pub(super) fn begin_program(&mut self, die: DieId, target: &Target, units: &[Stored]) {
        let is_metadata = [JOURNAL, CHECKPOINT, KEYS].contains(&units[0].mark.lpn);
        if !self.is_harmed(die, target) {
            self.nand.check_program(die, target, is_metadata);
        }
        let marks: Vec<Mark> = units.iter().map(|unit| unit.mark).collect();
        self.ftl.note_marks(die, &marks);
    }

    /// What the program `operation` carries.
    fn gather(&mut self, operation: &Operation) -> Vec<Stored> {
        let load = self.ftl.load(operation.die, operation.tag);
        assert_eq!(load.oob.len(), load.units().len());
        let brought: Vec<(Carried, Lpn)> = load.units().zip(load.oob.iter().copied()).collect();
        let mut units = Vec::with_capacity(brought.len());
        for (carried, lpn) in brought {
            units.push(match carried {
                Carried::Buffered { slot, version, attributes } => {
                    let version = self.marked(lpn, version);
                    Stored {
                        mark: Mark { lpn, version, lost: 0, insecure: !attributes.secure },
                        bytes: Bytes::Sectors(self.slots[slot as usize].as_slice().into()),
                        key: None,
                    }
                }
                Carried::Moved { from } => {
                    self.tally.work[1] += 1;
                    let mut unit = self.moved.get(&from).cloned().unwrap_or_else(|| panic!("{from:?} is moved and was never read"));
                    if unit.bytes == Bytes::Lost {
                        let version = self.ftl.version_of_lost(lpn.0);
                        let lost = vec![LOST; self.sectors() as usize];
                        unit.mark = Mark { lpn, version, lost: u64::MAX, insecure: false };
                        unit.bytes = Bytes::Sectors(lost.into());
                    }
                    match self.bug {
                        Some(Bug::CopyRenewed) => unit.mark.version += 1 << 30,
                        Some(Bug::CopyUnmarked) => unit.mark = Mark::NOTHING,
                        _ => {}
                    }
                    unit
                }
                Carried::Padding => Stored::PADDING,
                Carried::Metadata { kind, unit, version } => {
                    self.count(kind, unit, version);
                    self.note_copy(kind, unit);
                    let bytes = self.metadata_bytes(kind, unit);
                    Stored { mark: Mark { lpn, version, lost: 0, insecure: false }, bytes: Bytes::Journal(bytes.into()), key: None }
                }
            });
        }
        units
    }

    /// Data is encrypted with the keys of where it goes.
    fn encrypt(&self, die: DieId, target: &Target, units: &mut [Stored]) {
        let layout = self.ftl.layout();
        let block = target.block(PlaneId(0));
        let stands = |group: &wordline_ftl::BlockGroup| {
            u32::from(self.ftl.groups().blocks(*group)[0]) == block.0 && self.ftl.groups().use_of(*group) != Use::Bad
        };
        let group = layout.groups_of(die).map(|index| wordline_ftl::BlockGroup(index as u32)).find(stands).expect("it is programmed");
        let Some(epoch) = self.ftl.key_epoch(group) else { return };
        let first = u32::from(target.page.0) / layout.pages_per_program * layout.units_per_program;
        for (offset, unit) in (first..).zip(units).filter(|(_, unit)| !matches!(unit.bytes, Bytes::Journal(_))) {
            unit.key = self.ftl.key_of(die, block.0 as u16, offset, epoch);
        }
    }

    /// Count a part of a program of metadata.
    fn count(&mut self, kind: MetadataKind, unit: u32, version: u64) {
        let is_first = u64::from(unit == 0);
        match kind {
            MetadataKind::Journal => {
                self.tally.journal[0] += is_first;
                self.tally.journal[1] += u64::from(version > self.generation);
                self.generation = version;
            }
            MetadataKind::Keys => self.tally.keys[0] += is_first,
            MetadataKind::Checkpoint => self.tally.checkpoints[0] += is_first,
            MetadataKind::Summary => self.tally.marks[0] += is_first,
        }
    }

    /// Part `unit` of a program of metadata as it reaches the flash: as the core has made it, or as a planted bug leaves it.
    fn metadata_bytes(&mut self, kind: MetadataKind, unit: u32) -> Vec<u8> {
        let per_page = self.ftl.layout().units_per_page;
        let first = unit / per_page * per_page;
        // Nothing is harmed, and only the first part of a checkpoint is counted: the other parts of the page are not needed.
        if self.bug.is_none() && !(kind == MetadataKind::Checkpoint && unit == first) {
            return self.ftl.metadata_bytes(kind, unit).to_vec();
        }
        let mut page = Vec::new();
        (first..first + per_page).for_each(|unit| page.extend_from_slice(self.ftl.metadata_bytes(kind, unit)));
        match kind {
            MetadataKind::Journal => self.harm_journal(&mut page),
            MetadataKind::Keys => self.harm_keys(&mut page),
            MetadataKind::Summary => self.harm_summary(&mut page),
            MetadataKind::Checkpoint => self.harm_checkpoint(&mut page, unit == first),
        }
        let bytes = page.len() / per_page as usize;
        page[(unit - first) as usize * bytes..][..bytes].to_vec()
    }

    /// Note whether the program that is gathered repeats the one before it, as each program of the map log is.
    fn note_copy(&mut self, kind: MetadataKind, unit: u32) {
        if self.bug == Some(Bug::LogOnce) && kind == MetadataKind::Journal && unit == 0 {
            let head = self.ftl.metadata_bytes(kind, unit)[..64].to_vec();
            self.is_second_copy = head == self.log_head;
            self.log_head = head;
        }
    }

    fn harm_summary(&self, page: &mut [u8]) {
        if self.bug == Some(Bug::SummariesEmpty)
            && let Some(mut said) = OobPage::read(page)
        {
            said.marks.fill(MarkCopy::NOTHING);
            said.write(page);
        }
    }

    fn harm_keys(&self, page: &mut [u8]) {
        if self.bug == Some(Bug::KeysKept)
            && let Some(mut said) = KeyPage::read(page)
            && let KeyFacts::Trees(trees) = &mut said.facts
        {
            trees.iter_mut().for_each(|tree| tree.gone.fill(0));
            said.write(self.ftl.key_leaves().expect("there is a key store"), page);
        }
    }

    fn harm_journal(&self, page: &mut [u8]) {
        if self.bug == Some(Bug::RecordDropped) || (self.bug == Some(Bug::LogOnce) && self.is_second_copy) {
            page.fill(0);
        } else if let Some(mut said) = JournalPage::read(page) {
            match (&mut said.facts, self.bug) {
                (Facts::Memos(memos), Some(Bug::MemosDropped)) => memos.clear(),
                (Facts::Memos(memos), Some(Bug::MemosDoubled)) => memos.iter_mut().for_each(|memo| memo.value = memo.value.wrapping_mul(2)),
                (Facts::Marks(records), Some(Bug::MarksDropped)) => records.clear(),
                _ => {}
            }
            said.write(page);
        }
    }

    fn harm_checkpoint(&mut self, page: &mut [u8], is_first_unit: bool) {
        let Some(mut said) = CheckpointPage::read(page) else { return };
        if said.index == 0 && is_first_unit {
            if self.bug == Some(Bug::CheckpointErasedEarly) {
                self.nand.drop_checkpoints();
            }
            self.nand.note_checkpoint();
        }
        if let Said::Places { places, .. } = &mut said.said {
            match self.bug {
                Some(Bug::PlacesLost) => places.fill(UnitAddr::NONE),
                Some(Bug::PlacesSwapped) => places.reverse(),
                _ => {}
            }
            said.write(page);
        }
    }

    fn marked(&self, lpn: Lpn, version: u64) -> u64 {
        match self.bug {
            Some(Bug::VersionKept) => u64::from(lpn.0) + 1,
            Some(Bug::VersionsAnew) => version % (1 << 20),
            _ => version,
        }
    }

    fn order_read(&mut self, operation: Operation, target: &Target) {
        let die = operation.die;
        self.note_read((die, operation.tag), target, operation.cause == Cause::Probe);
        if operation.cause == Cause::Probe {
            // Whether something stands there does not matter: what comes out shows how the die is.
            return self.pace.read(die, operation.tag, Vec::new(), self.scenario.habits.slow_reports);
        }
        let place = self.nand.places(die, target, 1)[0];
        let found = self.nand.sense(place, self.rot.is_some());
        let ftl = &self.ftl;
        let layout = ftl.layout();
        let plane = usize::from(place.plane.0);
        let group = layout
            .groups_of(die)
            .map(|index| wordline_ftl::BlockGroup(index as u32))
            .find(|&group| u32::from(ftl.groups().blocks(group)[plane]) == place.block.0 && ftl.groups().is_pinned(group))
            .expect("what is read is pinned");
        let first = (u32::from(place.page.0) * layout.planes + u32::from(place.plane.0)) * layout.units_per_page;
        let page = (first..).zip(found).map(|(offset, unit)| (layout.unit(group, offset), unit)).collect();
        self.pace.read(die, operation.tag, page, self.scenario.habits.slow_reports);
    }

    fn begin(&mut self, operation: Operation, us: u64, good: bool, units: Vec<Stored>) {
        let die = operation.die;
        let is_journal = units.first().is_some_and(|unit| unit.mark.lpn == JOURNAL);
        let is_checkpoint = units.first().is_some_and(|unit| unit.mark.lpn == CHECKPOINT);
        let is_keys = units.first().is_some_and(|unit| unit.mark.lpn == KEYS);
        let is_host = operation.cause == Cause::Host && !is_journal && !is_checkpoint && !is_keys;
        let told = match (self.bug, operation.kind) {
            (Some(Bug::EarlyReport), OperationKind::Program { .. }) => is_host,
            (Some(Bug::EarlyJournalReport), OperationKind::Program { .. }) => is_journal,
            (Some(Bug::EarlyCheckpointReport), OperationKind::Program { .. }) => is_checkpoint,
            _ => false,
        };
        self.pace.begin(operation, us, good, Load { units, told, ..Load::default() });
        if told {
            self.report(die, operation.tag, true, None, &[]);
        }
    }
}
