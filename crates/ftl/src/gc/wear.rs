//! Static wear levelling: when cold data must move.

use wordline_units::{Cause, DieId};

use crate::config::FreeBlockConfig;
use crate::state::Core;
use crate::state::layout::BlockGroup;
use crate::state::rewrites::Rewrite;

/// Level wear after the erase of `group`: the data of the block that is too far behind moves, if the free-block policy names one.
pub(crate) fn level(core: &mut Core, die: DieId, group: BlockGroup) {
    let FreeBlockConfig { key, gap: Some(gap) } = core.settings().free_block else {
        return;
    };
    // A core that is to come to rest begins nothing of its own: with a journal that erases a block for each that is moved, levelling would never end.
    if core.is_flushing_all() || core.die(die).rewrites().iter().any(|wanted| wanted.cause == Cause::Wear) {
        return;
    }
    if let Some(coldest) = core.groups().level(key, group, gap) {
        let erases = core.groups().erases(coldest);
        let wish = Rewrite::by_core(coldest, Cause::Wear, erases, core.now());
        core.die_mut(die).change_rewrites(|rewrites| rewrites.ask_again(wish));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::free_block::FreeBlockPolicy;
    use crate::setup::build;

    #[test]
    fn cold_data_moves_once_its_block_is_left_behind_by_the_gap_and_not_before() {
        let die = DieId(0);
        for (erases, expected) in [(4, 0), (5, 1)] {
            let key = FreeBlockPolicy::LongestFree;
            let mut core = build(&crate::Config { free_block: FreeBlockConfig { key, gap: Some(5) }, ..small(64) }).core;
            let cold = crate::state::allocation::allocate(&mut core, die, crate::state::work::Stream::Host).expect("all are free");
            core.groups_mut().open(cold);
            core.groups_mut().close(cold);
            let worn = BlockGroup(9);
            core.groups_mut().set_erases(worn, erases);
            core.set_flush_all(true);
            level(&mut core, die, worn);
            assert_eq!(core.die(die).rewrites().iter().count(), 0, "not while the core comes to rest");
            core.set_flush_all(false);
            level(&mut core, die, worn);
            level(&mut core, die, worn);
            let wanted: Vec<Rewrite> = core.die(die).rewrites().iter().collect();
            assert_eq!(wanted.len(), expected, "asked for once, {erases} erases");
            assert!(wanted.iter().all(|wanted| (wanted.group, wanted.cause) == (cold, Cause::Wear)));
        }
    }
}
