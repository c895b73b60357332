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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::WearConfig;
    use crate::config::tests::small;
    use crate::setup::build;

    #[test]
    fn cold_data_moves_once_its_block_is_left_behind_by_the_gap_and_not_before() {
        let die = DieId(0);
        for (erases, expected) in [(4, 0), (5, 1)] {
            let mut core = build(&crate::Config { wear: WearConfig { dynamic: false, static_gap: Some(5) }, ..small(64) }).core;
            let cold = core.allocate(die, crate::state::work::Stream::Host).expect("all are free");
            core.groups_mut().open(cold);
            core.groups_mut().close(cold);
            let worn = Group(9);
            core.groups_mut().set_erases(worn, erases);
            level(&mut core, die, worn);
            level(&mut core, die, worn);
            let wanted: Vec<Wanted> = core.die(die).wanted().collect();
            assert_eq!(wanted.len(), expected, "asked for once, {erases} erases");
            assert!(wanted.iter().all(|wanted| (wanted.group, wanted.cause) == (cold, Cause::Wear)));
        }
    }
}
