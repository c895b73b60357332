//! A core at rest, as plain data.
//!
//! An image holds what the firmware knows, not what it is: that comes from the configuration. It is taken at a quiet instant, when the buffer is
//! empty and nothing is under way, so neither has a place in it; and since virtual time starts anew with each run, spells of idleness do too.
//!
//! Whoever restores an image may have got it from anywhere. So every number in it is checked before it is used as an index, and every table against
//! those it must agree with; whether map and spare areas agree is for [`crate::Firmware::audit`].

use serde::{Deserialize, Serialize};
use wordline_units::{Cause, DieId, Id};

use crate::die_failure;
use crate::dispatch::Rooms;
use crate::state::Core;
use crate::state::groups::{GroupTable, Use};
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::lost::LostSectors;
use crate::state::map::{SEGMENT, SEGMENT_BITS, Segment};
use crate::state::wordline_order::{Open, WordlineOrder};
use crate::state::work::{Holdings, Stream};
use crate::techniques::apply::learn_all_wear;
use crate::victim::Candidates;

/// State of a quiet core, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    exported: u32,
    segments: Vec<Segment>,
    groups: GroupTable,
    dies: Vec<Holdings>,
    turn: u32,
    victims_drawn: u64,
    /// State of each technique under its name, so that an image can be restored with other techniques switched on.
    techniques: Vec<(String, Vec<u32>)>,
    gc_stalled: bool,
    worn_out: bool,
}

/// Lost sectors of a core, beside its image: images of drives that were made before there were any do not have them.
pub(crate) fn lost(core: &Core) -> LostSectors {
    core.lost().cloned().unwrap_or_default()
}

/// Restore the lost sectors of a core that was just restored.
pub(crate) fn restore_lost(core: &mut Core, lost: LostSectors) -> Result<(), &'static str> {
    demand(lost.last().is_none_or(|last| last < core.map().exported()), "a unit beyond the drive's end is lost")?;
    if lost.count() > 0
        && let Some(all) = core.lost_mut()
    {
        *all = lost;
    }
    Ok(())
}

/// Image of a core, if it is quiet.
pub(crate) fn image(rooms: &Rooms) -> Option<Image> {
    let Rooms { core, panel, metadata, sanitise, gc, .. } = rooms;
    // What a core that keeps data knows is on its flash.
    let is_still = rooms.is_quiet() && !metadata.has_journal() && core.is_still();
    let mut groups = core.groups().image();
    let mut dies: Vec<Holdings> = core.dies().map(|(_, die)| die.image(core.changes().count())).collect();
    for group in sanitise.keys().iter().flat_map(|keys| keys.groups(core)) {
        // The restored core takes all trees of keys for whole, and has no use for these.
        groups.uses[group.index()] = Use::Drained;
        dies[core.layout().die(group).index()].erasable.push((group, Cause::Sanitise));
    }
    is_still.then(|| Image {
        exported: core.map().exported(),
        segments: core.map().image(),
        groups,
        dies,
        turn: core.idle().turn(),
        victims_drawn: gc.victims_drawn(),
        techniques: panel.images().map(|(name, learnt)| (name.to_owned(), learnt)).collect(),
        gc_stalled: core.is_gc_stalled(),
        worn_out: core.is_worn_out(),
    })
}

/// Become the core that `image` was made of. This core must be new; the image may be anything. An image of another kind of core, or of none, is
/// refused with the reason.
pub(crate) fn restore(rooms: &mut Rooms, image: Image) -> Result<(), &'static str> {
    let Rooms { core, panel, sanitise, gc, .. } = rooms;
    demand(image.exported == core.map().exported(), "a core shows another number of units to the host")?;
    demand(image.dies.len() == core.layout().dies as usize, "a core has another number of dies")?;
    demand(image.turn < core.layout().dies, "a core's turn is at a die it does not have")?;
    check_table(core, &image.groups)?;
    check_segments(core, &image)?;
    for (die, holdings) in image.dies.iter().enumerate() {
        check_die(core, DieId(die as u16), holdings, &image.groups)?;
    }
    let learnt = |name: &str| image.techniques.iter().find(|(known, _)| known == name).map(|(_, state)| state.as_slice());
    panel.restore(learnt).map_err(|_| "a technique has learnt something of another shape")?;
    core.map_mut().restore(image.segments);
    core.groups_mut().restore(image.groups);
    core.restore(image.dies, image.turn, image.gc_stalled, image.worn_out);
    let failed: Vec<DieId> = core.die_ids().filter(|&die| is_failed(core, die)).collect();
    die_failure::resume(core, failed);
    core.find_data(|_| [None; 2]);
    learn_all_wear(core, panel);
    gc.resume(image.victims_drawn);
    sanitise.assume_secret(core);
    if sanitise.is_on() {
        core.groups_mut().destroy_written();
    }
    Ok(())
}

/// True if nothing of `die` is in service: no group of a die that answers is lost.
fn is_failed(core: &Core, die: DieId) -> bool {
    let mut groups = core.layout().groups_of(die).map(|group| core.groups().use_of(BlockGroup(group as u32)));
    groups.all(|use_of| matches!(use_of, Use::Bad | Use::Lost))
}

fn check_table(core: &Core, table: &GroupTable) -> Result<(), &'static str> {
    let GroupTable { uses, valid, closed, erases, stale, condemned, blocks, closings: _ } = table;
    let lengths = [uses.len(), valid.len(), closed.len(), erases.len(), stale.len(), condemned.len(), blocks.len()];
    demand(lengths.iter().all(|&length| length == core.layout().group_count()), "a core has another number of block groups")?;
    let words = (core.layout().units_per_group as usize).div_ceil(64);
    demand(stale.iter().flatten().all(|bits| bits.len() == words), "a table of stale units is of another size")?;
    for (index, &count) in valid.iter().enumerate() {
        let is_out = count & Candidates::OUT != 0;
        demand(
            is_out == (uses[index] != Use::Closed),
            "a block group is a candidate for reclaim and is not closed, or the other way round",
        )?;
        demand(count & !Candidates::OUT <= core.layout().units_per_group, "a block group holds more units than it has")?;
    }
    Ok(())
}

fn check_segments(core: &Core, image: &Image) -> Result<(), &'static str> {
    let (exported, layout) = (image.exported, core.layout());
    demand(image.segments.len() == (exported as usize).div_ceil(SEGMENT), "the map has another length")?;
    let exists = |addr: UnitAddr, units: u32| {
        addr == UnitAddr::NONE
            || (layout.group(addr).index() < layout.group_count() && layout.offset(addr) + units <= layout.units_per_group)
    };
    let mut mapped = 0u64;
    for (index, segment) in image.segments.iter().enumerate() {
        let first = (index << SEGMENT_BITS) as u32;
        let inside = (exported - first).min(SEGMENT as u32);
        let counted = match segment {
            Segment::Unmapped => 0,
            Segment::Regular => {
                demand(inside == SEGMENT as u32, "the map's last segment cannot be regular")?;
                u64::from(inside)
            }
            Segment::Units(units) => {
                demand(units.len() == SEGMENT, "a segment of the map has another length")?;
                demand(units.iter().all(|&addr| exists(addr, 1)), "the map points beyond the flash")?;
                units[..inside as usize].iter().filter(|&&addr| addr != UnitAddr::NONE).count() as u64
            }
            Segment::Pages(pages) => {
                let each = layout.units_per_page as usize;
                demand(SEGMENT.is_multiple_of(each) && pages.len() == SEGMENT / each, "a segment of the map has another length")?;
                demand(pages.iter().all(|&addr| exists(addr, each as u32)), "the map points beyond the flash")?;
                (0..inside as usize).filter(|unit| pages[unit / each] != UnitAddr::NONE).count() as u64
            }
        };
        mapped += counted;
    }
    let valid: u64 = image.groups.valid.iter().map(|&count| u64::from(count & !Candidates::OUT)).sum();
    demand(mapped == valid, "the map and the block groups count different numbers of valid units")
}

fn check_die(core: &Core, die: DieId, holdings: &Holdings, table: &GroupTable) -> Result<(), &'static str> {
    let range = core.layout().groups_of(die);
    let Holdings { free, open, job, failed, erasable, rewrite_queue, spares, .. } = holdings;
    // What each group is found to be; compared at the end with what the table says it is.
    let mut found: Vec<Option<Use>> = vec![None; range.len()];
    let mut claim = |group: BlockGroup, what: Use| -> Result<(), &'static str> {
        demand(range.contains(&group.index()), "a die's list names a block group of another die")?;
        let entry = &mut found[group.index() - range.start];
        demand(entry.is_none(), "a block group is in two places at once")?;
        *entry = Some(what);
        Ok(())
    };
    // What is marked stale before it is written would stay so when it is.
    let is_marked = |group: BlockGroup, unit: u32| {
        table.stale[group.index()].as_ref().is_some_and(|bits| bits[unit as usize / 64] >> (unit % 64) & 1 == 1)
    };
    let blank = "a unit that was never written is marked stale";
    for &group in free {
        claim(group, Use::Free)?;
        demand(table.stale[group.index()].iter().flatten().all(|&word| word == 0), blank)?;
    }
    let orders = [core.settings().wordline_order, WordlineOrder::HorizontalFirst];
    for (open, order) in open.iter().zip(orders).flat_map(|(open, order)| open.iter().map(move |open| (open, order))) {
        claim(open.group, Use::Active)?;
        demand(open.is_sound(core.layout()), "an open block group is written as none can be")?;
        demand(!open.is_full(core.layout()), "an open block group is full")?;
        let is_spared = |program: u32| core.groups().is_spared(open.group, program);
        let is_blank = |unit: &u32| {
            let program = unit / core.layout().units_per_program;
            !open.has(program, core.layout()) && !is_spared(program)
        };
        demand(!(0..core.layout().units_per_group).filter(is_blank).any(|unit| is_marked(open.group, unit)), blank)?;
        let is_in_order = core.settings().wordline_order != WordlineOrder::HorizontalFirst || open.is_prefix(core.layout());
        demand(is_in_order, "an open block group was written in another order")?;
        let mut passed = *open;
        passed.pass(order, core.layout(), is_spared);
        demand(!core.groups().can_spare() || passed == *open, "the next program of an open block group is of a spared wordline")?;
    }
    let few = |open: &Vec<Open>, most: u32| demand(open.len() <= most as usize, "a die has more open block groups than it may");
    few(&open[Stream::Host as usize], core.settings().wordline_order.open_blocks())?;
    few(&open[Stream::Moved as usize], core.settings().moved_blocks)?;
    for &(group, end) in failed {
        claim(group, Use::Active)?;
        demand(end <= core.layout().units_per_group, "a failed block group was programmed beyond its end")?;
    }
    if let Some(job) = job {
        claim(job.victim, Use::Draining)?;
        demand(job.cursor <= core.layout().units_per_group && job.end <= core.layout().units_per_group, "a victim is read beyond its end")?;
    }
    for &(group, _) in erasable {
        claim(group, Use::Drained)?;
    }
    demand(rewrite_queue.iter().all(|(group, ..)| range.contains(&group.index())), "a die's list names a block group of another die")?;
    for (index, found) in range.clone().zip(&found) {
        let use_of = table.uses[index];
        let is_listed = !matches!(use_of, Use::Closed | Use::Bad | Use::Metadata | Use::Lost);
        demand(*found == is_listed.then_some(use_of), "a block group is not where its use says")?;
        let is_empty = matches!(use_of, Use::Free | Use::Bad | Use::Drained | Use::Metadata);
        demand(!is_empty || table.valid[index] == Candidates::OUT, "a block group without data holds valid units")?;
        // An allocation that a wear-levelling policy compares may not overflow when it is erased once more.
        demand(table.erases[index] < u32::MAX, "a block group was erased too often")?;
    }
    check_blocks(core, range.filter(|&index| table.uses[index] != Use::Bad).map(|index| &table.blocks[index]), spares)
}

/// Check that no physical block serves twice.
fn check_blocks<'a>(core: &Core, groups: impl Iterator<Item = &'a [u16; 4]>, spares: &[Vec<u16>; 4]) -> Result<(), &'static str> {
    let (blocks, planes) = (core.settings().blocks as usize, core.layout().planes as usize);
    let mut taken = vec![false; blocks * planes];
    let mut take = |plane: usize, block: u16| -> Result<(), &'static str> {
        demand(usize::from(block) < blocks, "a physical block lies beyond the plane")?;
        demand(!std::mem::replace(&mut taken[plane * blocks + usize::from(block)], true), "a physical block serves twice")
    };
    for group in groups {
        for (plane, &block) in group[..planes].iter().enumerate() {
            take(plane, block)?;
        }
    }
    for (plane, spares) in spares.iter().enumerate() {
        demand(plane < planes || spares.is_empty(), "a plane that does not exist has spare blocks")?;
        for &block in spares {
            take(plane, block)?;
        }
    }
    Ok(())
}

/// Refuse the image for the reason `why`, unless `holds`.
fn demand(holds: bool, why: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(why) }
}

#[cfg(test)]
mod tests {
    use wordline_units::Nanos;

    use super::*;
    use crate::config::tests::small;
    use crate::setup::{begin_services, build, construct};
    use crate::techniques::hooks::Hooks;
    use crate::techniques::seam::{Ask, Card, Persists, Technique};

    fn filled() -> Rooms {
        let mut rooms = build(&small(64));
        let Rooms { core, sanitise, .. } = &mut rooms;
        construct::fill(core, sanitise, 60);
        rooms
    }

    #[test]
    fn a_core_comes_back_from_its_image_as_it_was() {
        let before = image(&filled()).expect("it is quiet");
        let mut rooms = build(&small(64));
        restore(&mut rooms, before.clone()).expect("it is of the same kind");
        assert_eq!(image(&rooms), Some(before));
        assert_eq!(rooms.core.map().mapped(), 60);
    }

    const ASKER: Card = Card {
        name: "asker",
        source: "a test",
        claim: "none",
        hooks: Hooks::NONE,
        asks: &[Ask::Provenance],
        persists: Persists::Nothing("it knows nothing"),
        limits: "none",
    };

    /// Asks for provenance.
    #[derive(Debug)]
    struct Asker;

    impl Technique for Asker {
        fn card(&self) -> &'static Card {
            &ASKER
        }
    }

    fn serving() -> Rooms {
        let mut rooms = build(&small(64));
        rooms.panel = rooms.panel.with(Box::new(Asker));
        begin_services(&small(64), &mut rooms.core, &rooms.panel, &rooms.metadata);
        rooms
    }

    #[test]
    fn what_services_know_comes_back_beside_an_image_and_without_it_nothing_is_taken_for_fresh() {
        let mut rooms = serving();
        let Rooms { core, sanitise, .. } = &mut rooms;
        construct::fill(core, sanitise, 60);
        let (from, to) = (BlockGroup(0), BlockGroup(1));
        core.services_mut().get_mut().expect("somebody asks").copied((from, 0), (to, 2), Nanos::ZERO);
        let tables = core.services().image(Nanos::ZERO);
        let image = image(&rooms).expect("it is quiet");
        let layout = *rooms.core.layout();
        let restored = |tables: Option<crate::ServiceTables>| {
            let mut back = serving();
            restore(&mut back, image.clone()).expect("it is of the same kind");
            tables.into_iter().for_each(|tables| back.core.services_mut().restore(tables, &layout).expect("they are of this core"));
            let view = back.core.view();
            (view.copies(to, 2), view.copies(from, 0), view.born(to).is_some(), view.kept(to).map(|kept| kept.is_least))
        };
        assert_eq!(restored(Some(tables)), (Some(1), Some(0), true, Some(false)));
        assert_eq!(restored(None), (Some(u8::MAX), Some(u8::MAX), false, Some(true)));
    }

    #[test]
    fn an_image_whose_tables_disagree_is_refused() {
        let whole = image(&filled()).expect("it is quiet");
        let group = whole.dies[0].free[0];
        let mut doubled = whole.clone();
        doubled.dies[0].free.push(group);
        let mut lost = whole.clone();
        lost.dies[0].free.remove(0);
        let mut beyond = whole.clone();
        beyond.dies[0].free[0] = BlockGroup(99);
        let mut miscounted = whole;
        miscounted.groups.valid[0] ^= 1;
        for (what, broken) in [("doubled", doubled), ("lost", lost), ("beyond", beyond), ("miscounted", miscounted)] {
            assert!(restore(&mut build(&small(64)), broken).is_err(), "{what}");
        }
    }
}
