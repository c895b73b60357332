//! The way of the probes over a die: from where it was suspected outwards, in both directions.

use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::{BlockGroup, Layout};

/// A probe: the first page of a group in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub group: BlockGroup,
    pub plane: u32,
    /// True if it is read with the tries of any other read.
    pub has_tries: bool,
}

/// Place of a group on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Below,
    Above,
}

/// The probes of one suspect die.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// Table places of the die's groups.
    first: u32,
    end: u32,
    /// Next groups below and above, by place; a direction that has ended is behind its end.
    below: Option<u32>,
    above: u32,
    /// Direction that is next.
    is_up: bool,
    /// Probe that is under way, or that comes next.
    look: Option<(Place, Look)>,
    is_waiting: bool,
    /// True if a page has read as noise.
    has_found: bool,
}

impl Walk {
    /// Begins at `group`, which is bad. `is_found`: one of its pages has read as noise.
    pub(crate) fn new(layout: &Layout, group: BlockGroup, is_found: bool) -> Walk {
        let range = layout.groups_of(layout.die(group));
        let (first, end) = (range.start as u32, range.end as u32);
        Walk {
            first,
            end,
            below: group.0.checked_sub(1).filter(|&below| below >= first),
            above: group.0 + 1,
            is_up: false,
            look: None,
            is_waiting: false,
            has_found: is_found,
        }
    }

    /// True if a probe is under way.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// True if a page has read as noise.
    pub(crate) fn has_found(&self) -> bool {
        self.has_found
    }

    /// The next probe, which is under way from now on; `None`: there is none.
    pub(crate) fn next(&mut self, groups: &BlockGroups) -> Option<Look> {
        debug_assert!(!self.is_waiting, "one probe at a time");
        self.settle(groups);
        self.is_waiting = self.look.is_some();
        self.look.map(|(_, look)| look)
    }

    /// True if no probe is left.
    pub(crate) fn has_ended(&mut self, groups: &BlockGroups) -> bool {
        self.settle(groups);
        self.look.is_none()
    }

    /// Choose the next group, where none is being looked at.
    fn settle(&mut self, groups: &BlockGroups) {
        let is_there = |group: u32| {
            let group = BlockGroup(group);
            !matches!(groups.use_of(group), Use::Bad | Use::Lost) && !groups.is_destroyed(group)
        };
        if self.look.is_some() {
            return;
        }
        let look = |place, group| Some((place, Look { group: BlockGroup(group), plane: 0, has_tries: false }));
        while self.below.is_some_and(|below| !is_there(below)) {
            self.step(Place::Below);
        }
        while self.above < self.end && !is_there(self.above) {
            self.step(Place::Above);
        }
        let above = Some(self.above).filter(|&above| above < self.end);
        self.look = match (self.below, above) {
            (Some(below), above) if !self.is_up || above.is_none() => look(Place::Below, below),
            (_, Some(above)) => look(Place::Above, above),
            (_, None) => None,
        };
        self.is_up = !self.is_up;
    }

    fn step(&mut self, place: Place) {
        match place {
            Place::Below => self.below = self.below.and_then(|below| below.checked_sub(1)).filter(|&below| below >= self.first),
            Place::Above => self.above += 1,
        }
    }

    /// Note that the probe was good. After the last plane of a group its direction has ended.
    pub(crate) fn good(&mut self, layout: &Layout) {
        self.is_waiting = false;
        let Some((place, look)) = &mut self.look else { return };
        if look.plane + 1 < layout.planes {
            (look.plane, look.has_tries) = (look.plane + 1, false);
            return;
        }
        match *place {
            Place::Below => self.below = None,
            Place::Above => self.above = self.end,
        }
        self.look = None;
    }

    /// Note that the probe was bad. Returns the group.
    pub(crate) fn bad(&mut self) -> Option<BlockGroup> {
        (self.is_waiting, self.has_found) = (false, true);
        let (place, look) = self.look.take()?;
        self.step(place);
        Some(look.group)
    }

    /// Note that the probe has failed without being noise: it is made again with all tries.
    pub(crate) fn again(&mut self) {
        self.is_waiting = false;
        if let Some((_, look)) = &mut self.look {
            look.has_tries = true;
        }
    }
}
