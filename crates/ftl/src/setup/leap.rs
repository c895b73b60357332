//! Epochs that a core skips: erase counts grow, techniques are told, and everything else stays.

use wordline_units::Nanos;

use crate::dispatch::Rooms;
use crate::state::layout::BlockGroup;
use crate::techniques::apply::learn_all_wear;
use crate::techniques::seam::Leap;

/// Part of one block group in a leap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of erases.
    pub cycles: u32,
    /// True if the group's data would have been written anew until the end, so that it keeps its age.
    pub is_renewed: bool,
}

/// Skip `times` epochs, which take `span`. `skipped` has all groups. The core is quiet and keeps no journal.
pub(crate) fn leap(rooms: &mut Rooms, times: u32, skipped: &[Skipped], span: Nanos) {
    let Rooms { core, panel, metadata, .. } = rooms;
    assert!(!metadata.has_journal(), "a core that keeps a journal cannot skip cycles");
    let cycles: Vec<u32> = skipped.iter().map(|of| of.cycles).collect();
    let erases: Vec<u32> = (0..skipped.len() as u32).map(|group| core.groups().erases(BlockGroup(group))).collect();
    for (group, of) in (0..).map(BlockGroup).zip(skipped) {
        core.groups_mut().set_erases(group, erases[group.index()].saturating_add(of.cycles));
        if of.is_renewed {
            core.services_mut().renew(group, span);
        }
    }
    for die in core.die_ids() {
        core.die_mut(die).change_rewrites(|rewrites| rewrites.skip_cycles(|group| cycles[group.index()]));
    }
    panel.leap(&Leap { times, cycles: &cycles, erases: &erases });
    learn_all_wear(core, panel);
}
