//! The read-only view of the core's tables that techniques get.

use wordline_units::{DieId, IdMap};

use crate::state::die::Die;
use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout};

/// Read-only view of the core's tables.
#[derive(Clone, Copy)]
pub struct View<'a> {
    groups: &'a BlockGroups,
    dies: &'a IdMap<DieId, Die>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("groups", &self.layout().group_count()).field("dies", &self.dies.len()).finish()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(groups: &'a BlockGroups, dies: &'a IdMap<DieId, Die>) -> View<'a> {
        View { groups, dies }
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

    /// Number of free groups of `die`.
    pub fn free(&self, die: DieId) -> u32 {
        self.dies[die].free_count()
    }
}
