//! Wear levelling: which free block is written next, and when cold data must move.

use wordline_units::{Cause, DieId};

use crate::die::{Stream, Wanted};
use crate::firmware::Ftl;
use crate::layout::Group;

impl Ftl {
    /// Take a free group of `die` for `stream`.
    pub(crate) fn allocate(&mut self, die: DieId, stream: Stream) -> Option<Group> {
        if !self.config.wear.dynamic {
            return self.dies[die].free.pop_front();
        }
        let worn = self.dies[die].free.iter().enumerate().map(|(place, &group)| (self.groups.erases(group), place));
        let (_, place) = match stream {
            // Host data is young and will be overwritten soon, so its block is erased soon: give it the least worn. The most worn may rest under what
            // has moved before.
            Stream::Host => worn.min()?,
            Stream::Moved => worn.max_by_key(|&(erases, place)| (erases, std::cmp::Reverse(place)))?,
        };
        self.dies[die].free.remove(place)
    }

    /// After the erase of `group`: if it has left the least-worn data block too far behind, that block's data moves so that the block is used again.
    pub(crate) fn level_wear(&mut self, die: DieId, group: Group) {
        let Some(gap) = self.config.wear.static_gap else {
            return;
        };
        if self.dies[die].wanted.iter().any(|wanted| wanted.cause == Cause::Wear) {
            return;
        }
        let Some((coldest, erases)) = self.groups.least_worn_closed(die) else {
            return;
        };
        if self.groups.erases(group).saturating_sub(erases) >= gap {
            self.dies[die].wanted.push_back(Wanted::by_core(coldest, Cause::Wear, erases));
        }
    }
}
