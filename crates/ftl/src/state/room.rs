//! Room of each die for its data, as running sums over its block groups, in a core whose erases may spare wordlines.

use wordline_units::{DieId, IdMap};

use crate::state::layout::{BlockGroup, Layout};

/// Erases of a core that were ordered to spare wordlines, by what became of their sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpareCounts {
    /// Sets that were granted.
    pub granted: u64,
    /// Sets that were refused, by [`crate::Refusal`].
    pub refused: [u64; 4],
    /// Groups that were erased once more at the end of their erase, because room had become short meanwhile.
    pub taken_back: u64,
    /// Free groups that were erased once more, because GC needed a whole group.
    pub made_plain: u64,
}

impl SpareCounts {
    /// Counts since `before`, of the same core.
    #[must_use]
    pub fn since(self, before: &SpareCounts) -> SpareCounts {
        self.with(before, |now, then| now - then)
    }

    /// Counts of both.
    #[must_use]
    pub fn plus(self, other: &SpareCounts) -> SpareCounts {
        self.with(other, |one, other| one + other)
    }

    fn with(self, other: &SpareCounts, of: impl Fn(u64, u64) -> u64) -> SpareCounts {
        SpareCounts {
            granted: of(self.granted, other.granted),
            refused: std::array::from_fn(|refusal| of(self.refused[refusal], other.refused[refusal])),
            taken_back: of(self.taken_back, other.taken_back),
            made_plain: of(self.made_plain, other.made_plain),
        }
    }
}

/// Purpose of a block group, as far as room goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The group is out of service.
    Out,
    /// The group is reserved for metadata.
    Metadata,
    /// The group is free.
    Free,
    /// The group has data, or waits for its erase.
    Data,
}

/// Sums over the groups of one die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DieRoom {
    /// Usable units of groups in service that hold no metadata.
    pub usable: u64,
    /// Number of those groups.
    pub groups: u32,
    /// Usable units of groups that hold metadata.
    pub metadata: u64,
    /// Valid units.
    pub valid: u64,
    /// Usable units of free groups.
    pub free: u64,
    /// Number of free groups of which nothing is spared.
    pub plain: u32,
}

impl DieRoom {
    /// Count a group for this purpose with `usable` units, of `whole` that it has without spared wordlines.
    fn add(&mut self, held: Held, usable: u32, whole: u32) {
        match held {
            Held::Out => return,
            Held::Metadata => return self.metadata += u64::from(usable),
            Held::Free => {
                self.free += u64::from(usable);
                self.plain += u32::from(usable == whole);
            }
            Held::Data => {}
        }
        self.usable += u64::from(usable);
        self.groups += 1;
    }

    /// Take back what [`DieRoom::add`] has counted.
    fn remove(&mut self, held: Held, usable: u32, whole: u32) {
        match held {
            Held::Out => return,
            Held::Metadata => return self.metadata -= u64::from(usable),
            Held::Free => {
                self.free -= u64::from(usable);
                self.plain -= u32::from(usable == whole);
            }
            Held::Data => {}
        }
        self.usable -= u64::from(usable);
        self.groups -= 1;
    }
}

/// Purpose of a group, and its usable units.
pub(crate) type Counted = (Held, u32);

/// Running sums over all dies of a core.
#[derive(Clone, Debug)]
pub(crate) struct RoomTable {
    layout: Layout,
    dies: IdMap<DieId, DieRoom>,
    /// Units that the erase under way on each die takes from its group.
    granted: IdMap<DieId, u32>,
    /// Units that GC has moved out of each group since its last erase, at most; `u32::MAX` where that is not known, or the next erase is to be plain.
    moved: Vec<u32>,
    counts: SpareCounts,
}

impl RoomTable {
    /// Creates the sums over all `groups`, each of which holds as many units as `valid` has in its place.
    pub(crate) fn new(layout: Layout, groups: impl Iterator<Item = Counted>, valid: impl Iterator<Item = u32>) -> RoomTable {
        let mut dies = IdMap::from_fn(layout.dies as usize, |_: DieId| DieRoom::default());
        let mut moved = vec![0; layout.group_count()];
        for ((group, (held, usable)), valid) in (0..).map(BlockGroup).zip(groups).zip(valid) {
            let room: &mut DieRoom = &mut dies[layout.die(group)];
            room.add(held, usable, layout.data_units);
            room.valid += u64::from(valid);
            // The units moved out of it before are not known.
            moved[group.index()] = if held == Held::Free { 0 } else { u32::MAX };
        }
        let granted = IdMap::from_fn(layout.dies as usize, |_: DieId| 0);
        RoomTable { layout, dies, granted, moved, counts: SpareCounts::default() }
    }

    /// Sums of `die`.
    pub(crate) fn of(&self, die: DieId) -> &DieRoom {
        &self.dies[die]
    }

    /// Sums of all dies.
    pub(crate) fn all(&self) -> impl Iterator<Item = &DieRoom> {
        self.dies.iter().map(|(_, room)| room)
    }

    /// Units that erases under way take from their groups.
    pub(crate) fn granted(&self) -> u64 {
        self.granted.iter().map(|(_, &units)| u64::from(units)).sum()
    }

    /// Units that GC has moved out of `group` since its last erase, at most.
    pub(crate) fn moved(&self, group: BlockGroup) -> u32 {
        self.moved[group.index()]
    }

    /// Count `group` as `to`, which was counted as `from`.
    pub(crate) fn turn(&mut self, group: BlockGroup, from: Counted, to: Counted) {
        let (room, whole) = (&mut self.dies[self.layout.die(group)], self.layout.data_units);
        room.remove(from.0, from.1, whole);
        room.add(to.0, to.1, whole);
    }

    /// Count `units` more valid units in `group`.
    pub(crate) fn add_valid(&mut self, group: BlockGroup, units: u32) {
        self.dies[self.layout.die(group)].valid += u64::from(units);
    }

    /// Count a unit of `group` that has become stale.
    pub(crate) fn add_stale(&mut self, group: BlockGroup) {
        self.dies[self.layout.die(group)].valid -= 1;
    }

    /// Note that GC begins to move `units` out of `group`.
    pub(crate) fn move_out(&mut self, group: BlockGroup, units: u32) {
        self.moved[group.index()] = units;
    }

    /// Let the erase of a group of `die`, which begins, take `units` from it.
    pub(crate) fn grant(&mut self, die: DieId, units: u32) {
        self.granted[die] = units;
    }

    /// End the erase of `group`: what it was granted is in the sums, or was not used.
    pub(crate) fn end(&mut self, group: BlockGroup) {
        self.granted[self.layout.die(group)] = 0;
        self.moved[group.index()] = 0;
    }

    pub(crate) fn counts(&self) -> &SpareCounts {
        &self.counts
    }

    pub(crate) fn counts_mut(&mut self) -> &mut SpareCounts {
        &mut self.counts
    }

    /// True if the sums are those of `other`, which was counted anew.
    pub(crate) fn agrees_with(&self, other: &RoomTable) -> bool {
        self.dies.iter().zip(other.dies.iter()).all(|((_, one), (_, other))| one == other)
    }
}
