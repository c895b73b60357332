//! The read-only view of the core's tables that techniques get.

use wordline_units::{DieId, IdMap, Nanos, Tolerance, Wear};

use crate::state::buffer::Buffer;
use crate::state::die::Die;
use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout};
use crate::state::load::BufferLoad;
use crate::state::request::Requests;
use crate::state::services::{ServiceRoom, Services};
use crate::state::settings::Settings;
use crate::state::tolerances::Tolerances;
use crate::state::warm_clock::{Day, Kept};

/// Read-only view of the core's tables.
#[derive(Clone, Copy)]
pub struct View<'a> {
    groups: &'a BlockGroups,
    dies: &'a IdMap<DieId, Die>,
    services: Option<&'a Services>,
    demand: Option<Demand<'a>>,
    tolerances: Option<&'a Tolerances>,
    now: Nanos,
}

/// State that shows the demand of the host for room. A view is made for each question, so these are looked at only where a technique asks.
#[derive(Clone, Copy)]
pub(crate) struct Demand<'a> {
    pub settings: &'a Settings,
    pub requests: &'a Requests,
    pub buffer: &'a Buffer,
    /// Load of the buffer, where a technique asks for it.
    pub load: Option<&'a BufferLoad>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("groups", &self.layout().group_count()).field("dies", &self.dies.len()).finish()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(groups: &'a BlockGroups, dies: &'a IdMap<DieId, Die>, room: &'a ServiceRoom, now: Nanos) -> View<'a> {
        View { groups, dies, services: room.get(), tolerances: room.tolerances(), demand: None, now }
    }

    /// The same view of a core with this `demand`.
    pub(crate) fn with(self, demand: Demand<'a>) -> View<'a> {
        View { demand: Some(demand), ..self }
    }

    /// The same view at `now`.
    pub(crate) fn at(self, now: Nanos) -> View<'a> {
        View { now, ..self }
    }

    /// Address arithmetic of the core.
    pub fn layout(&self) -> &'a Layout {
        self.groups.layout()
    }

    /// State of `group`.
    pub fn use_of(&self, group: BlockGroup) -> Use {
        self.groups.use_of(group)
    }

    /// Number of valid units in `group`.
    pub fn valid(&self, group: BlockGroup) -> u32 {
        self.groups.valid(group)
    }

    /// Number of units of `group` that can hold data: fewer than in others where its last erase has spared wordlines.
    pub fn usable(&self, group: BlockGroup) -> u32 {
        self.groups.usable(group)
    }

    /// True if the last erase of `group` has spared wordlines. Those that are withheld count for nothing.
    pub fn is_guarded(&self, group: BlockGroup) -> bool {
        !self.groups.gentle(group).is_empty()
    }

    /// Erase count of `group`.
    pub fn erases(&self, group: BlockGroup) -> u32 {
        self.groups.erases(group)
    }

    /// Wear of `group` that techniques tell; `None`: none does.
    pub fn wear(&self, group: BlockGroup) -> Option<Wear> {
        self.groups.wear(group)
    }

    /// Number of free groups of `die`.
    pub fn free(&self, die: DieId) -> u32 {
        self.dies[die].free_count()
    }

    /// True if the host waits for room on `die`: it has `gc.floor` free groups or fewer, or writes wait for room in the buffer.
    pub fn pressed(&self, die: DieId) -> bool {
        let waits = self.demand.is_some_and(|demand| demand.requests.waiting() > 0);
        waits || self.free(die) <= self.demand.map_or(0, |demand| demand.settings.gc.floor)
    }

    /// True if `die` has so few free groups that space demands a victim.
    pub fn short(&self, die: DieId) -> bool {
        self.dies[die].is_short(self.demand.map_or(0, |demand| demand.settings.gc.start))
    }

    /// Share of the write buffer in use, as a mean over `buffer.load_window`; `None`: no technique asks for it.
    pub fn buffer_load(&self) -> Option<f64> {
        let demand = self.demand?;
        let slots = demand.settings.buffer.units;
        Some(demand.load?.mean(self.now, slots - demand.buffer.room()) / f64::from(slots))
    }

    /// Valid units of `group` that lie in ranges of this class of tolerated latency. All are of [`Tolerance::Default`] where no technique asks for classes.
    pub fn units_tolerating(&self, group: BlockGroup, class: Tolerance) -> u32 {
        let valid = self.valid(group);
        match self.tolerances {
            Some(table) => table.units(group, class, valid),
            None => {
                if class == Tolerance::Default {
                    valid
                } else {
                    0
                }
            }
        }
    }

    // Services: each answers nothing where no technique asks for it.

    /// Copies in a row since error correction of program unit `program` of `group`. [`u8::MAX`] is more than any threshold: so many, or nobody knows.
    pub fn copies(&self, group: BlockGroup, program: u32) -> Option<u8> {
        Some(self.services?.provenance()?.copies(group, program))
    }

    /// Day since when the oldest data of `group` has been on flash; `None` also where nobody knows, and where there is no data.
    pub fn born(&self, group: BlockGroup) -> Option<Day> {
        self.services?.provenance()?.born(group)
    }

    /// Present day of the warm clock.
    pub fn today(&self) -> Option<Day> {
        Some(self.services?.clock().today(self.now))
    }

    /// Time since the first program of `group`; `None` also where it has not been programmed since its erase.
    pub fn kept(&self, group: BlockGroup) -> Option<Kept> {
        self.services?.clock().kept(group, self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::setup::build;
    use crate::state::beginning::Watched;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;

    const DIE: DieId = DieId(0);

    #[test]
    fn a_die_is_pressed_at_its_floor_and_where_writes_wait_for_room() {
        let mut rooms = build(&small(64));
        assert!(!rooms.core.view().pressed(DIE));
        while rooms.core.view().free(DIE) > 2 {
            rooms.core.die_mut(DIE).take_free_at(0);
        }
        assert!(!rooms.core.view().pressed(DIE), "the floor is 1");
        rooms.core.die_mut(DIE).take_free_at(0);
        assert!(rooms.core.view().pressed(DIE));
        let mut rooms = build(&small(64));
        (0..5).for_each(|id| rooms.submit(Request { id, lpn: id * 4, units: 4, ..WRITE }));
        assert_eq!(rooms.core.requests().waiting(), 1, "the buffer has 16 slots");
        assert!(rooms.core.view().pressed(DIE));
    }

    #[test]
    fn a_die_is_short_of_groups_below_the_start_of_gc() {
        let mut rooms = build(&small(64));
        let start = rooms.core.settings().gc.start;
        while rooms.core.view().free(DIE) > start {
            rooms.core.die_mut(DIE).take_free_at(0);
        }
        assert!(!rooms.core.view().short(DIE));
        rooms.core.die_mut(DIE).take_free_at(0);
        assert!(rooms.core.view().short(DIE));
    }

    #[test]
    fn the_load_of_the_buffer_is_kept_only_where_a_technique_asks_for_it() {
        let mut rooms = build(&Config { ..small(64) });
        assert_eq!(rooms.core.view().buffer_load(), None);
        rooms.core.watch(Watched { load: true, ..Watched::default() }, 0);
        assert_eq!(rooms.core.view().buffer_load(), Some(0.0));
        rooms.submit(Request { units: 4, ..WRITE });
        rooms.core.set_now(Nanos::from_millis(9));
        assert_eq!(rooms.core.view().buffer_load(), Some(0.25));
    }
}
