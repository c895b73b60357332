//! Static wear levelling: when cold data must move.

use wordline_units::{Cause, DieId};

use crate::state::Core;
use crate::state::layout::Group;
use crate::state::work::Wanted;

/// Level wear after the erase of `group`: if the least-worn data block is too far behind, its data moves so that the block is used again.
pub(crate) fn level(core: &mut Core, die: DieId, group: Group) {
    let Some(gap) = core.settings().wear.static_gap else {
        return;
    };
    if core.die(die).wanted().any(|wanted| wanted.cause == Cause::Wear) {
        return;
    }
    let Some((coldest, erases)) = core.groups().least_worn_closed(die) else {
        return;
    };
    if core.groups().erases(group).saturating_sub(erases) >= gap {
        core.die_mut(die).want_again(Wanted::by_core(coldest, Cause::Wear, erases));
    }
}
