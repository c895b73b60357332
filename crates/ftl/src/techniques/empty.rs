//! A core in which everything is erased, for asking a technique by itself.

use wordline_units::{DieId, IdMap, Nanos};

use crate::state::die::Die;
use crate::state::groups::BlockGroups;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::services::ServiceRoom;
use crate::state::view::View;
use crate::techniques::seam::Ctx;

/// Tables of a core in which everything is erased, for asking a technique by itself.
#[derive(Debug)]
pub struct EmptyCore {
    groups: BlockGroups,
    dies: IdMap<DieId, Die>,
    services: ServiceRoom,
}

impl EmptyCore {
    /// Creates an erased core with this `layout`.
    pub fn new(layout: Layout) -> EmptyCore {
        let groups = BlockGroups::new(layout, vec![[0; 4]; layout.group_count()]);
        let free = |die| layout.groups_of(die).map(|group| BlockGroup(group as u32)).collect();
        let dies = IdMap::from_fn(layout.dies as usize, |die: DieId| Die::new(free(die), Default::default()));
        EmptyCore { groups, dies, services: ServiceRoom::default() }
    }

    /// Context that techniques get at `now`.
    pub fn ctx(&self, now: Nanos) -> Ctx<'_> {
        Ctx { now, warmth: None, view: View::new(&self.groups, &self.dies, &self.services, now) }
    }

    /// Block groups of the core, as found after a power cut.
    pub fn groups(&self) -> &BlockGroups {
        &self.groups
    }
}
