//! The read-only view of the core's tables that techniques get.

use wordline_units::{DieId, IdMap, Nanos, Wear};

use crate::state::die::Die;
use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout};
use crate::state::services::Services;
use crate::state::warm_clock::{Day, Kept};

/// Read-only view of the core's tables.
#[derive(Clone, Copy)]
pub struct View<'a> {
    groups: &'a BlockGroups,
    dies: &'a IdMap<DieId, Die>,
    services: Option<&'a Services>,
    now: Nanos,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("groups", &self.layout().group_count()).field("dies", &self.dies.len()).finish()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(groups: &'a BlockGroups, dies: &'a IdMap<DieId, Die>, services: Option<&'a Services>, now: Nanos) -> View<'a> {
        View { groups, dies, services, now }
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
