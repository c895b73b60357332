//! Inspection of a drive: block maps and whole-drive audits.

use wordline_engine::{BlockState, BlockView};
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::counts::TechniqueCounts;
use wordline_ftl::techniques::seam::Ask;
use wordline_ftl::{BlockGroup, Firmware, RewriteCounts, SpareCounts, UnitAddr};
use wordline_units::{BlockId, Cause, DieId, GroupId, Lpn, Nanos, PlaneId, Wear};

use crate::machine::Machine;

/// True if some core has stopped taking writes.
pub(crate) fn is_worn_out(machine: &Machine) -> bool {
    machine.ftls().iter().any(Firmware::is_worn_out)
}

/// Counts of requested rewrites by cause.
pub(crate) fn rewrites(machine: &Machine) -> Vec<(Cause, RewriteCounts)> {
    RewriteCounts::sums(machine.ftls().iter().flat_map(Firmware::rewrites))
}

/// Counts of what techniques were asked and of what became of their answers, of all cores together.
pub(crate) fn technique_counts(machine: &Machine) -> Vec<TechniqueCounts> {
    TechniqueCounts::sums(machine.ftls().iter().map(Firmware::technique_counts))
}

/// Erases that were ordered to leave wordlines without data, by what became of them; `None`: the drive orders none.
pub(crate) fn spare_counts(machine: &Machine) -> Option<SpareCounts> {
    let cores = || machine.ftls().iter();
    cores().any(|ftl| ftl.groups().can_spare()).then(|| cores().fold(SpareCounts::default(), |sum, ftl| sum.plus(&ftl.spare_counts())))
}

/// Share of the units of block groups in service that lies on wordlines without data.
pub(crate) fn idle_share(machine: &Machine) -> f64 {
    let of = |ftl: &Firmware| {
        let (groups, whole) = (ftl.groups(), u64::from(ftl.layout().data_units));
        let in_service =
            (0..ftl.layout().group_count() as u32).map(BlockGroup).filter(|&group| !matches!(groups.use_of(group), Use::Bad | Use::Lost));
        in_service.fold([0, 0], |[usable, all], group| [usable + u64::from(groups.usable(group)), all + whole])
    };
    let [usable, all] = machine.ftls().iter().map(of).fold([0, 0], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
    if all > 0 { 1.0 - usable as f64 / all as f64 } else { 0.0 }
}

/// Number of free block groups of all dies together.
pub(crate) fn free_groups(machine: &Machine) -> u64 {
    machine.ftls().iter().flat_map(|ftl| ftl.dies().map(|die| u64::from(ftl.free_groups(die)))).sum()
}

/// True if nothing is under way and nothing is waited for but timers of the firmware, which ring for ever.
pub(crate) fn waits_for_timers_only(machine: &Machine) -> bool {
    let has_nothing_due = |ftl: &Firmware| ftl.is_at_rest() && ftl.next_deadline().is_none();
    machine.host().outstanding() == 0 && machine.ftls().iter().all(|ftl| ftl.waits_for_timers_only() || has_nothing_due(ftl))
}

/// True if a request has come or anything has been logged since the drive was made. Timers may be due in a drive that has not begun.
pub(crate) fn has_begun(machine: &Machine) -> bool {
    machine.log().count() > 0 || machine.host().outstanding() > 0 || machine.now() > Nanos::ZERO
}

/// True if the drive acts on the tolerances of hints and writes: a technique of its cores asks for them.
pub(crate) fn has_tolerances(machine: &Machine) -> bool {
    machine.config().firmware.techniques.iter().any(|choice| choice.card().asks.contains(&Ask::Tolerances))
}

/// Every block group, die by die.
pub(crate) fn blocks(machine: &Machine) -> impl Iterator<Item = BlockView> + '_ {
    machine.dies().iter().flat_map(move |(die, _)| {
        let (core, local) = machine.dies().home(die);
        let ftl = &machine.ftls()[core as usize];
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

/// Every flash block, die by die and plane by plane. True: it is of a block group in service.
pub(crate) fn flash_blocks(machine: &Machine) -> impl Iterator<Item = (DieId, PlaneId, BlockId, bool)> + '_ {
    let geometry = &machine.config().sheet.geometry;
    machine.dies().iter().flat_map(move |(die, _)| {
        let (core, local) = machine.dies().home(die);
        let (groups, layout) = (machine.ftls()[core as usize].groups(), machine.ftls()[core as usize].layout());
        let mut in_service = vec![false; geometry.planes as usize * geometry.blocks as usize];
        for group in (0..layout.groups).map(|number| layout.group_at(local, number)) {
            if !matches!(groups.use_of(group), Use::Bad | Use::Lost) {
                let blocks = (0..).zip(groups.blocks(group)).take(geometry.planes as usize);
                blocks.for_each(|(plane, block)| in_service[plane * geometry.blocks as usize + usize::from(block)] = true);
            }
        }
        let places =
            (0..geometry.planes as u8).flat_map(move |plane| (0..geometry.blocks).map(move |block| (PlaneId(plane), BlockId(block))));
        places.zip(in_service).map(move |((plane, block), in_service)| (die, plane, block, in_service))
    })
}

/// Each block group that is full of data, die by die, with its block in the first plane and its wear as techniques tell it; `None`: none tells it.
pub(crate) fn worn(machine: &Machine) -> impl Iterator<Item = (DieId, BlockId, Option<Wear>)> + '_ {
    machine.dies().iter().flat_map(move |(die, _)| {
        let (core, local) = machine.dies().home(die);
        let (groups, layout) = (machine.ftls()[core as usize].groups(), machine.ftls()[core as usize].layout());
        let closed =
            (0..layout.groups).map(move |number| layout.group_at(local, number)).filter(|&group| groups.use_of(group) == Use::Closed);
        closed.map(move |group| (die, BlockId(u32::from(groups.blocks(group)[0])), groups.wear(group)))
    })
}

/// Number of sensings that blocks have seen since their last erases, all blocks of all dies together. Retries count, and reads that were broken off.
pub(crate) fn sensings(machine: &Machine) -> u64 {
    let geometry = &machine.config().sheet.geometry;
    let blocks = || (0..geometry.planes as u8).flat_map(|plane| (0..geometry.blocks).map(move |block| (PlaneId(plane), BlockId(block))));
    machine.dies().iter().flat_map(|(_, chip)| blocks().map(|(plane, block)| u64::from(chip.reads(plane, block)))).sum()
}

/// Checks every table of every core against the others and against the flash itself.
pub(crate) fn audit(machine: &Machine) -> Result<(), String> {
    for (core, ftl) in machine.ftls().iter().enumerate() {
        ftl.audit(|addr| spare_at(machine, core as u32, addr)).map_err(|problem| format!("core {core}: {problem}"))?;
        let layout = ftl.layout();
        for group in (0..layout.group_count() as u32).map(BlockGroup) {
            let die = machine.dies().die(core as u32, layout.die(group));
            let (blocks, erases) = (ftl.groups().blocks(group), ftl.groups().erases(group));
            let counted = (0..layout.planes as u8).map(|plane| {
                let block = BlockId(u32::from(blocks[usize::from(plane)]));
                machine.dies()[die].erases(wordline_units::PlaneId(plane), block)
            });
            let (least, most) = counted.fold((u32::MAX, 0), |(least, most), count| (least.min(count), most.max(count)));
            // A power cut may have come between the erases of two planes.
            let may_differ = machine.data().is_some();
            if ftl.groups().use_of(group) != Use::Bad && (most != erases || (least != erases && !may_differ)) {
                return Err(format!("core {core}: {group:?} counts {erases} erases, its blocks {least} to {most}"));
            }
        }
    }
    Ok(())
}

fn spare_at(machine: &Machine, core: u32, addr: UnitAddr) -> Lpn {
    let ftl = &machine.ftls()[core as usize];
    let layout = ftl.layout();
    let group = layout.group(addr);
    let place = layout.place(layout.offset(addr));
    let block = ftl.groups().blocks(group)[place.plane.0 as usize];
    machine.dies().of(core, layout.die(group)).spare(place.plane, BlockId(u32::from(block)), place.page, place.unit)
}

/// Number of mapping units in the write buffer that are not yet on flash.
pub(crate) fn buffered_units(machine: &Machine) -> u64 {
    machine.ftls().iter().map(|ftl| u64::from(ftl.buffered_units())).sum()
}

/// True if mapping unit `unit` of the drive was written, and not trimmed since.
pub(crate) fn is_held(machine: &Machine, unit: u64) -> bool {
    let (core, lpn) = machine.host().stripe().locate(unit);
    let newest = machine.ftls()[core as usize].newest(lpn);
    newest.buffered.is_some() || newest.on_flash != UnitAddr::NONE
}

/// Memory in bytes that maps and spare areas take.
pub(crate) fn memory_bytes(machine: &Machine) -> usize {
    let maps: usize = machine.ftls().iter().map(|ftl| ftl.map().bytes()).sum();
    maps + machine.dies().iter().map(|(_, chip)| chip.memory_bytes()).sum::<usize>()
}
