//! What techniques can see of the core's tables.

use wordline_units::{DieId, IdMap, Nanos};

use crate::die::Die;
use crate::groups::{Groups, Use};
use crate::layout::{Group, Layout};
use crate::techniques::seam::Ctx;

/// The core's tables, to be read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    groups: &'a Groups,
    dies: &'a IdMap<DieId, Die>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("groups", &self.layout().group_count()).field("dies", &self.dies.len()).finish()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(groups: &'a Groups, dies: &'a IdMap<DieId, Die>) -> View<'a> {
        View { groups, dies }
    }

    /// The arithmetic of addresses.
    pub fn layout(&self) -> &'a Layout {
        &self.groups.layout
    }

    /// What `group` is used for.
    pub fn use_of(&self, group: Group) -> Use {
        self.groups.use_of(group)
    }

    /// Valid units in `group`.
    pub fn valid(&self, group: Group) -> u32 {
        self.groups.valid(group)
    }

    /// Units of a group that can hold data.
    pub fn usable(&self) -> u32 {
        self.layout().data_units
    }

    /// How often `group` was erased.
    pub fn erases(&self, group: Group) -> u32 {
        self.groups.erases(group)
    }

    /// Free groups of `die`.
    pub fn free(&self, die: DieId) -> u32 {
        self.dies[die].free.len() as u32
    }
}

/// The tables of a core in which everything is erased, for whoever wants to ask a technique by itself.
#[derive(Debug)]
pub struct EmptyCore {
    groups: Groups,
    dies: IdMap<DieId, Die>,
}

impl EmptyCore {
    /// A core with this `layout`.
    pub fn new(layout: Layout) -> EmptyCore {
        let groups = Groups::new(layout, vec![[0; 4]; layout.group_count()]);
        let free = |die| layout.groups_of(die).map(|group| Group(group as u32)).collect();
        EmptyCore { groups, dies: IdMap::from_fn(layout.dies as usize, |die: DieId| Die::new(free(die), Default::default())) }
    }

    /// What techniques are given at `now`.
    pub fn ctx(&self, now: Nanos) -> Ctx<'_> {
        Ctx { now, view: View::new(&self.groups, &self.dies) }
    }

    /// The block groups, as found after a power cut.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }
}
