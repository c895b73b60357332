//! Drives that come into the world used: filled in order, or overwritten at random until nothing changes any more, without writing them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wordline_units::random::{Draw, Stream as Dice};
use wordline_units::{DieId, Lpn};

use super::steady::{CountedDie, Steady};
use crate::config::Config;
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::wordline_order::Open;
use crate::state::work::Stream;
use crate::util::permutation::Permutation;
use crate::victim::Candidates;

/// Number of times that the model is overwritten before its state counts as steady. The tests hold the result against drives that were overwritten six times
/// and more.
const OVERWRITES: u64 = 5;
/// Number of places for units that are modelled at least, if the core has as many: with fewer, the chance events of a single small die would show.
const MODELLED_UNITS: u64 = 1 << 17;

/// One die as it is to be: its counted groups, and the group each stands for.
struct Pattern {
    die: DieId,
    counted: CountedDie,
    groups: Vec<BlockGroup>,
}

/// Make this fresh core look as if its first `units` units had been written once in order. Costs nothing per unit. Returns, for each group that
/// holds data, how many of its program units are written; the caller gives the flash the same content ([`crate::Layout::regular_lpn`]).
pub(crate) fn fill(core: &mut Core, sanitise: &mut Sanitise, units: u32) -> Vec<(BlockGroup, u32)> {
    let layout = *core.layout();
    assert!(units <= core.map().exported());
    let filled: Vec<(BlockGroup, u32)> = (0..layout.group_count() as u32)
        .map(BlockGroup)
        .map(|group| (group, regular_programs(&layout, group, units)))
        .filter(|&(_, programs)| programs > 0)
        .collect();
    for &(group, programs) in &filled {
        let die = layout.die(group);
        let place = core.die(die).free_groups().position(|free| free == group).expect("a fill needs every group it uses in service");
        core.die_mut(die).take_free_at(place);
        core.groups_mut().open(group);
        note_written(core, group);
        let first = layout.regular_lpn(group, (programs - 1) * layout.units_per_program);
        let last = layout.units_per_program.min(units - first);
        let valid = (programs - 1) * layout.units_per_program + last;
        core.groups_mut().add_valid(group, valid);
        for offset in valid..programs * layout.units_per_program {
            core.groups_mut().add_stale(layout.unit(group, offset));
        }
        if programs == layout.data_programs {
            core.groups_mut().give_up(group, layout.data_units..layout.units_per_group);
            core.groups_mut().close(group);
        } else {
            core.die_mut(die).push_open(Stream::Host, Open::at(group, programs, &layout));
        }
    }
    core.map_mut().fill_regular(units);
    sanitise.assume_secret(core);
    filled
}

/// Make this fresh core look as if its first `units` units had been overwritten one by one, uniformly at random, until the state was steady.
/// `write` gets each die's program units, group by group in program order, with the group's blocks and the unit's spare area; the caller gives
/// the flash that content, and the wear of [`Firmware::groups`].
pub(crate) fn steady(
    config: &Config,
    core: &mut Core,
    sanitise: &mut Sanitise,
    units: u32,
    seed: u64,
    mut write: impl FnMut(DieId, [u16; 4], &[Lpn]),
) {
    assert!(units <= core.map().exported());
    assert!(
        (0..core.layout().group_count()).all(|index| core.groups().erases(BlockGroup(index as u32)) == 0),
        "only a new core can be constructed"
    );
    if units == 0 {
        return;
    }
    let mut draw = Draw::new(seed, Dice::Construct, config.core);
    let mut patterns = draw_patterns(config, core, units, &mut draw);
    balance(&mut patterns, units, core.layout(), &mut draw);
    lay_out(core, &patterns, units, &mut draw, &mut write);
    sanitise.assume_secret(core);
}

/// Note for the core's services that `group` has been written just now.
fn note_written(core: &mut Core, group: BlockGroup) {
    let now = core.now();
    core.services_mut().programmed(group, now);
}

/// Draw a pattern for each die, from a few counted dies at different times.
fn draw_patterns(config: &Config, core: &Core, units: u32, draw: &mut Draw) -> Vec<Pattern> {
    let layout = core.layout();
    let usable: Vec<Vec<BlockGroup>> = core
        .die_ids()
        .map(|die| {
            layout.groups_of(die).map(|index| BlockGroup(index as u32)).filter(|&group| core.groups().use_of(group) == Use::Free).collect()
        })
        .collect();
    // Dies with the same number of groups in service are alike.
    let mut kinds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    usable.iter().enumerate().for_each(|(die, groups)| kinds.entry(groups.len()).or_default().push(die));
    let per_die = u64::from(layout.groups) * u64::from(layout.data_units);
    let modelled = MODELLED_UNITS.div_ceil(per_die).clamp(1, u64::from(layout.dies));
    let shares = |dies: &Vec<usize>| (dies.len() as u64 * modelled).div_ceil(u64::from(layout.dies)) as usize;
    let counts: Vec<u32> = kinds.iter().flat_map(|(&count, dies)| std::iter::repeat_n(count as u32, shares(dies))).collect();
    let all: u64 = usable.iter().map(|groups| groups.len() as u64).sum();
    let held = (u64::from(units) * counts.iter().map(|&count| u64::from(count)).sum::<u64>() / all).max(1);
    let dice = Draw::new(draw.next_u64(), Dice::Construct, config.core);
    let mut model = Steady::new(config, layout, &counts, held, dice);
    // A drive that is not full has to be written through before it is steady, however often that overwrites what it holds.
    let room = modelled * per_die;
    model.overwrite((OVERWRITES * held + 2 * room.saturating_sub(held)) / u64::from(layout.units_per_program));
    let mut patterns = Vec::new();
    let mut first = 0;
    for dies in kinds.values() {
        let models = shares(dies);
        for (turn, &die) in dies.iter().enumerate() {
            if turn > 0 && turn % models == 0 {
                // Another die is the same one at another time: later by one to two block groups.
                let group = u64::from(layout.data_programs) * counts.len() as u64;
                model.overwrite(group + draw.below(group));
            }
            let counted = model.at_rest(first + turn % models);
            let mut groups = usable[die].clone();
            if models < dies.len() {
                shuffle(&mut groups, draw);
            }
            patterns.push(Pattern { die: DieId(die as u16), counted, groups });
        }
        first += models;
    }
    patterns
}

/// Give groups, map and flash the content of `patterns`.
fn lay_out(core: &mut Core, patterns: &[Pattern], units: u32, draw: &mut Draw, write: &mut impl FnMut(DieId, [u16; 4], &[Lpn])) {
    let layout = *core.layout();
    let permutation = Permutation::new(units, draw);
    let mut order: Vec<(u32, u32, u32)> = Vec::new();
    for (index, Pattern { die, counted, groups }) in patterns.iter().enumerate() {
        let newest = counted.newest();
        for (number, &group) in groups.iter().enumerate() {
            core.groups_mut().set_erases(group, counted.erases[number]);
            if counted.programs(number as u32, &layout) > 0 {
                order.push((newest.wrapping_sub(counted.closed[number]), index as u32, number as u32));
            }
        }
        let free = counted.free.iter().map(|&number| groups[number as usize]).collect();
        let open = |(number, programs): (u32, u32)| Open::at(groups[number as usize], programs, &layout);
        core.die_mut(*die).lay_out(free, counted.open.map(|counted| counted.map(open).into_iter().collect()));
    }
    // Groups are closed oldest first, as if all dies had been worked in step.
    order.sort_unstable_by_key(|&(age, ..)| Reverse(age));
    let (mut dealt, mut dice) = (0, 0);
    let mut spare = Vec::new();
    for (_, index, number) in order {
        let Pattern { die, counted, groups } = &patterns[index as usize];
        let group = groups[number as usize];
        let programs = counted.programs(number, &layout);
        let (mut places, mut left) = (programs * layout.units_per_program, counted.valid[number as usize] & !Candidates::OUT);
        let blocks = core.groups().blocks(group);
        core.groups_mut().open(group);
        note_written(core, group);
        core.groups_mut().add_valid(group, left);
        for program in 0..programs {
            spare.clear();
            for unit in 0..layout.units_per_program {
                // A throw of 64 bits serves twice.
                dice = if unit % 2 == 0 { draw.next_u64() } else { dice >> 32 };
                let addr = layout.unit(group, program * layout.units_per_program + unit);
                // Every choice of the valid places is as likely as any other.
                if ((dice & u64::from(u32::MAX)) * u64::from(places)) >> 32 < u64::from(left) {
                    let lpn = permutation.at(dealt);
                    core.map_mut().set(lpn, addr);
                    spare.push(Lpn(lpn));
                    (dealt, left) = (dealt + 1, left - 1);
                } else {
                    core.groups_mut().add_stale(addr);
                    spare.push(Lpn(u32::MAX));
                }
                places -= 1;
            }
            write(*die, blocks, &spare);
        }
        if programs == layout.data_programs {
            core.groups_mut().give_up(group, layout.data_units..layout.units_per_group);
            core.groups_mut().close(group);
        }
    }
    assert_eq!(dealt, units, "every unit has a place");
}

/// Number of program units of `group` that hold any of the first `units` units in regular order.
fn regular_programs(layout: &Layout, group: BlockGroup, units: u32) -> u32 {
    let die = u32::from(layout.die(group).0);
    let round = layout.number(group) * layout.data_programs;
    // Program unit p of the group is number (round + p) * dies + die of the fill.
    let total = units.div_ceil(layout.units_per_program);
    let of_die = total / layout.dies + u32::from(total % layout.dies > die);
    of_die.saturating_sub(round).min(layout.data_programs)
}

/// Change a few groups by one unit until the dies hold `units` units together.
fn balance(patterns: &mut [Pattern], units: u32, layout: &Layout, draw: &mut Draw) {
    let held: u64 = patterns.iter().flat_map(|pattern| &pattern.counted.valid).map(|&valid| u64::from(valid & !Candidates::OUT)).sum();
    let mut missing = i64::from(units) - held as i64;
    while missing != 0 {
        let counted = &mut patterns[draw.below(patterns.len() as u64) as usize].counted;
        let place = draw.below(counted.valid.len() as u64) as u32;
        let room = counted.programs(place, layout) * layout.units_per_program;
        let valid = &mut counted.valid[place as usize];
        let count = *valid & !Candidates::OUT;
        if missing > 0 && count < room {
            *valid += 1;
            missing -= 1;
        } else if missing < 0 && count > 0 {
            *valid -= 1;
            missing += 1;
        }
    }
}

fn shuffle<T>(items: &mut [T], draw: &mut Draw) {
    for last in (1..items.len()).rev() {
        items.swap(last, draw.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{audit, build};

    #[test]
    fn a_fill_leaves_as_many_programs_in_each_group_as_writing_in_order_would() {
        for units in [0, 1, 4, 47, 48, 49, 96, 130] {
            let mut rooms = build(&small(160));
            let filled = fill(&mut rooms.core, &mut rooms.sanitise, units);
            let layout = *rooms.core.layout();
            let mut expected = std::collections::BTreeMap::new();
            for addr in (0..units).map(|lpn| layout.regular(lpn)) {
                let end = expected.entry(layout.group(addr)).or_insert(0);
                *end = (layout.offset(addr) / layout.units_per_program + 1).max(*end);
            }
            assert_eq!(filled.into_iter().collect::<std::collections::BTreeMap<_, _>>(), expected, "{units} units");
            let spare = |addr| Lpn(layout.regular_lpn(layout.group(addr), layout.offset(addr)));
            assert_eq!(audit::audit(&rooms.core, spare), Ok(()), "{units} units");
        }
    }

    #[test]
    fn a_steady_state_holds_every_unit_once_and_is_another_for_another_seed() {
        // Half of the flash: with two groups open and three kept free, this die holds no more than five.
        let config = small(200);
        let state = |seed| {
            let mut rooms = build(&config);
            let mut spare = std::collections::BTreeMap::new();
            let layout = *rooms.core.layout();
            let mut next = std::collections::BTreeMap::new();
            let Rooms { core, sanitise, .. } = &mut rooms;
            steady(&config, core, sanitise, 200, seed, |die, blocks, lpns| {
                let first = next.entry((die, blocks)).or_insert(0u32);
                lpns.iter().zip(*first..).for_each(|(&lpn, offset)| _ = spare.insert((blocks[0], offset), lpn));
                *first += layout.units_per_program;
            });
            let at = |addr| spare[&(rooms.core.groups().blocks(layout.group(addr))[0], layout.offset(addr))];
            assert_eq!(audit::audit(&rooms.core, at), Ok(()));
            (0..200).map(|lpn| rooms.core.map().get(lpn)).collect::<Vec<_>>()
        };
        let one = state(1);
        assert!(one.iter().all(|&addr| addr != crate::state::layout::UnitAddr::NONE));
        assert!(one == state(1) && one != state(2));
    }
}
