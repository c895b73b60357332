//! Room that sets of spared wordlines are granted from, counted anew by a walk over all block groups.
//!
//! Checks: after each grant, and again at the end of its erase, each die and all of them together have the room that is promised. Does not check: that a set
//! for which there is room is granted.

use wordline_ftl::config::Config;
use wordline_ftl::groups::Use;
use wordline_ftl::{BlockGroup, Firmware, metadata_groups};
use wordline_units::{DieId, WordlineSet};

/// Sets of one core that are under way, and what its configuration keeps for other than data.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    /// Group that each die is erasing with a set, and its usable units afterwards.
    under_way: Vec<Option<(BlockGroup, u64)>>,
    floor: u32,
    most_spared: u32,
    die_reserve: u64,
    metadata: u64,
}

/// Room of one die.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    usable: u64,
    metadata: u64,
    valid: u64,
    plain: u32,
    failed: bool,
}

impl Grants {
    pub(crate) fn new(config: &Config) -> Grants {
        let die_reserve = config.gc.floor + config.open_for_moved() + config.wordline_order.open_blocks();
        Grants {
            under_way: vec![None; config.dies as usize],
            floor: config.gc.floor,
            most_spared: config.most_spared(),
            die_reserve: die_reserve.into(),
            metadata: metadata_groups(config).into(),
        }
    }

    /// Notes that the erase of the block group on `block` of the first plane of `die` spares `set`.
    pub(crate) fn ordered(&mut self, ftl: &Firmware, die: DieId, block: u16, set: WordlineSet) -> Result<(), String> {
        let layout = ftl.layout();
        let groups = layout.groups_of(die).map(|group| BlockGroup(group as u32));
        let group =
            groups.filter(|&group| ftl.groups().use_of(group) == Use::Drained).find(|&group| ftl.groups().blocks(group)[0] == block);
        let group = group.ok_or_else(|| format!("block {block} of die {die} is erased with a set and waits for no erase"))?;
        let taken = set.len() * layout.units_per_group / layout.wordlines();
        self.under_way[usize::from(die.0)] = Some((group, u64::from(layout.data_units - taken)));
        self.check(ftl, die, "granted")
    }

    /// Notes that the erase that `die` was ordered last has ended.
    pub(crate) fn ended(&mut self, ftl: &Firmware, die: DieId) -> Result<(), String> {
        let Some((group, after)) = self.under_way[usize::from(die.0)].take() else { return Ok(()) };
        let is_there = ftl.groups().use_of(group) == Use::Free && u64::from(ftl.groups().usable(group)) == after;
        if is_there { self.check(ftl, die, "ended") } else { Ok(()) }
    }

    fn check(&self, ftl: &Firmware, die: DieId, when: &str) -> Result<(), String> {
        let whole = u64::from(ftl.layout().data_units);
        let rooms: Vec<Room> = (0..self.under_way.len() as u16).map(|other| self.room(ftl, DieId(other), DieId(other) == die)).collect();
        let Room { usable, valid, plain, .. } = rooms[usize::from(die.0)];
        if usable < (self.die_reserve + 1) * whole + valid {
            return Err(format!("a set was {when} on die {die}, which has {usable} units and holds {valid}"));
        }
        let all: u64 = rooms.iter().map(|room| room.usable + room.metadata).sum();
        let living = rooms.iter().filter(|room| !room.failed).count() as u64;
        let exported = u64::from(ftl.map().exported());
        if all < (living * self.die_reserve + self.metadata + 1) * whole + exported {
            return Err(format!("a set was {when} on die {die}: all dies have {all} units and {exported} are promised"));
        }
        // The groups that GC keeps free take a whole group's data, or another does.
        let layout = ftl.layout();
        let least = whole - u64::from(self.most_spared * layout.units_per_group / layout.wordlines());
        if plain == 0 && u64::from(self.floor) * least < whole {
            return Err(format!("a set was {when} on die {die}, which has {plain} free groups without spared wordlines"));
        }
        Ok(())
    }

    /// Room of `die`, whose erase under way leaves its group with fewer units, or with other ones if `is_own`.
    fn room(&self, ftl: &Firmware, die: DieId, is_own: bool) -> Room {
        let groups = ftl.groups();
        let mut room = Room { failed: true, ..Room::default() };
        for group in ftl.layout().groups_of(die).map(|group| BlockGroup(group as u32)) {
            let now = u64::from(groups.usable(group));
            let usable = match self.under_way[usize::from(die.0)] {
                Some((erased, after)) if erased == group => {
                    if is_own {
                        after
                    } else {
                        now.min(after)
                    }
                }
                Some(_) | None => now,
            };
            room.valid += u64::from(groups.valid(group));
            match groups.use_of(group) {
                Use::Bad | Use::Lost => continue,
                Use::Metadata => room.metadata += usable,
                Use::Free => (room.usable, room.plain) = (room.usable + usable, room.plain + u32::from(groups.spared(group).is_empty())),
                Use::Active | Use::Closed | Use::Draining | Use::Drained => room.usable += usable,
            }
            room.failed = false;
        }
        room
    }
}
