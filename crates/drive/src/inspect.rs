//! Inspection of a drive: block maps and whole-drive audits.

use wordline_engine::{BlockState, BlockView};
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::counts::TechniqueCounts;
use wordline_ftl::{BlockGroup, Firmware, RewriteCounts, UnitAddr};
use wordline_units::{BlockId, Cause, DieId, GroupId, Lpn, Nanos, PlaneId, Wear};

use crate::drive::Drive;

impl Drive {
    /// True if some core has stopped taking writes.
    pub fn is_worn_out(&self) -> bool {
        self.ftls.iter().any(Firmware::is_worn_out)
    }

    /// Counts of requested rewrites by cause.
    pub fn rewrites(&self) -> Vec<(Cause, RewriteCounts)> {
        RewriteCounts::sums(self.ftls.iter().flat_map(Firmware::rewrites))
    }

    /// Counts of what techniques were asked and of what became of their answers, of all cores together.
    pub fn technique_counts(&self) -> Vec<TechniqueCounts> {
        TechniqueCounts::sums(self.ftls.iter().map(Firmware::technique_counts))
    }

    /// Number of free block groups of all dies together.
    pub fn free_groups(&self) -> u64 {
        self.ftls.iter().flat_map(|ftl| ftl.dies().map(|die| u64::from(ftl.free_groups(die)))).sum()
    }

    /// True if nothing is under way and nothing is waited for but timers of the firmware, which ring for ever.
    pub fn waits_for_timers_only(&self) -> bool {
        let has_nothing_due = |ftl: &Firmware| ftl.is_at_rest() && ftl.next_deadline().is_none();
        self.host.outstanding == 0 && self.ftls.iter().all(|ftl| ftl.waits_for_timers_only() || has_nothing_due(ftl))
    }

    /// True if a request has come or anything has been logged since the drive was made. Timers may be due in a drive that has not begun.
    pub fn has_begun(&self) -> bool {
        self.log.count() > 0 || self.host.outstanding > 0 || self.now() > Nanos::ZERO
    }

    /// Every block group, die by die.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView> + '_ {
        self.chips.iter().flat_map(move |(die, _)| {
            let (core, local) = self.wiring.home(die);
            let ftl = &self.ftls[core as usize];
            let layout = ftl.layout();
            (0..layout.groups).map(move |number| {
                let group = layout.group_at(local, number);
                let groups = ftl.groups();
                let state = match groups.use_of(group) {
                    Use::Free => BlockState::Free,
                    Use::Active => BlockState::Active,
                    Use::Closed | Use::Draining | Use::Drained => BlockState::Closed,
                    Use::Bad | Use::Lost => BlockState::Bad,
                    Use::Metadata => BlockState::Active,
                };
                BlockView {
                    die,
                    group: GroupId(number),
                    state,
                    valid: groups.valid(group),
                    capacity: layout.units_per_group,
                    erases: groups.erases(group),
                }
            })
        })
    }

    /// Each block group that is full of data, die by die, with its block in the first plane and its wear as techniques tell it; `None`: none tells it.
    pub fn worn(&self) -> impl Iterator<Item = (DieId, BlockId, Option<Wear>)> + '_ {
        self.chips.iter().flat_map(move |(die, _)| {
            let (core, local) = self.wiring.home(die);
            let (groups, layout) = (self.ftls[core as usize].groups(), self.ftls[core as usize].layout());
            let closed =
                (0..layout.groups).map(move |number| layout.group_at(local, number)).filter(|&group| groups.use_of(group) == Use::Closed);
            closed.map(move |group| (die, BlockId(u32::from(groups.blocks(group)[0])), groups.wear(group)))
        })
    }

    /// Number of sensings that blocks have seen since their last erases, all blocks of all dies together. Retries count, and reads that were broken off.
    pub fn sensings(&self) -> u64 {
        let geometry = &self.config.sheet.geometry;
        let blocks =
            || (0..geometry.planes as u8).flat_map(|plane| (0..geometry.blocks).map(move |block| (PlaneId(plane), BlockId(block))));
        self.chips.iter().flat_map(|(_, chip)| blocks().map(|(plane, block)| u64::from(chip.reads(plane, block)))).sum()
    }

    /// Checks every table of every core against the others and against the flash itself.
    pub fn audit(&self) -> Result<(), String> {
        for (core, ftl) in self.ftls.iter().enumerate() {
            ftl.audit(|addr| self.spare_at(core as u32, addr)).map_err(|problem| format!("core {core}: {problem}"))?;
            let layout = ftl.layout();
            for group in (0..layout.group_count() as u32).map(BlockGroup) {
                let die = self.wiring.die(core as u32, layout.die(group));
                let (blocks, erases) = (ftl.groups().blocks(group), ftl.groups().erases(group));
                let counted = (0..layout.planes as u8).map(|plane| {
                    let block = BlockId(u32::from(blocks[usize::from(plane)]));
                    self.chips[die].erases(wordline_units::PlaneId(plane), block)
                });
                let (least, most) = counted.fold((u32::MAX, 0), |(least, most), count| (least.min(count), most.max(count)));
                // A power cut may have come between the erases of two planes.
                let may_differ = self.data.is_some();
                if ftl.groups().use_of(group) != Use::Bad && (most != erases || (least != erases && !may_differ)) {
                    return Err(format!("core {core}: {group:?} counts {erases} erases, its blocks {least} to {most}"));
                }
            }
        }
        Ok(())
    }

    fn spare_at(&self, core: u32, addr: UnitAddr) -> Lpn {
        let ftl = &self.ftls[core as usize];
        let layout = ftl.layout();
        let group = layout.group(addr);
        let place = layout.place(layout.offset(addr));
        let block = ftl.groups().blocks(group)[place.plane.0 as usize];
        self.chips[self.wiring.die(core, layout.die(group))].spare(place.plane, BlockId(u32::from(block)), place.page, place.unit)
    }

    /// Number of mapping units in the write buffer that are not yet on flash.
    pub fn buffered_units(&self) -> u64 {
        self.ftls.iter().map(|ftl| u64::from(ftl.buffered_units())).sum()
    }

    /// True if mapping unit `unit` of the drive was written, and not trimmed since.
    pub fn is_held(&self, unit: u64) -> bool {
        let (core, lpn) = self.stripe.locate(unit);
        let newest = self.ftls[core as usize].newest(lpn);
        newest.buffered.is_some() || newest.on_flash != UnitAddr::NONE
    }

    /// Number of flash operations that have ended.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Memory in bytes that maps and spare areas take.
    pub fn memory_bytes(&self) -> usize {
        let maps: usize = self.ftls.iter().map(|ftl| ftl.map().bytes()).sum();
        maps + self.chips.iter().map(|(_, chip)| chip.memory_bytes()).sum::<usize>()
    }
}
