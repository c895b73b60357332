//! Erases: when a block group may be erased, and what follows when it has been.

use wordline_flash::Operation;
use wordline_units::{Cause, DieId};

use super::{level, replace};
use crate::metadata::Metadata;
use crate::news;
use crate::sanitise::Sanitise;
use crate::state::Core;
use crate::state::grants::takes_back;
use crate::state::layout::BlockGroup;
use crate::state::pending::Purpose;
use crate::state::work::retain_moved;
use crate::techniques::apply::set_erase;
use crate::techniques::panel::Panel;
use crate::techniques::seam::{EraseReport, News};

/// Reason for which an emptied block group is not erased yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// Erases are lazy, and the die does not need the group yet.
    Lazy,
    /// Reads of the group are queued or under way.
    Read,
    /// The group is to be replaced, not erased, and something secret in it can still be read.
    Secret,
    /// Recovery would need the group: what has made its units stale is not on flash.
    Metadata,
}

/// Reason for which `group`, which holds nothing valid, may not be erased or replaced now; `None`: it may. `is_lazy`: its die does not need it yet.
#[inline]
fn held_by(core: &Core, metadata: &Metadata, sanitise: &Sanitise, group: BlockGroup, is_lazy: bool) -> Option<Hold> {
    let groups = core.groups();
    let is_condemned = groups.is_condemned(group);
    if is_lazy && !is_condemned && !sanitise.must_erase(core, group) && !metadata.is_abandoned(group) {
        Some(Hold::Lazy)
    } else if groups.is_pinned(group) {
        Some(Hold::Read)
    } else if is_condemned && sanitise.has_secrets(group) {
        Some(Hold::Secret)
    } else if !metadata.lets_go(group) {
        Some(Hold::Metadata)
    } else {
        None
    }
}

/// Erase the next emptied group of `die` that is due, or program what it waits for. Condemned groups on the way are replaced.
pub(super) fn erase_one(
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    sanitise: &mut Sanitise,
    die: DieId,
) -> Option<Operation> {
    let is_lazy = core.settings().gc.lazy_erase && core.is_roomy(die);
    let (group, cause) = loop {
        let hold = |&(group, _): &(BlockGroup, Cause)| held_by(core, metadata, sanitise, group, is_lazy);
        let Some(at) = core.die(die).erasable().iter().position(|emptied| hold(emptied).is_none()) else {
            if core.die(die).erasable().iter().all(|emptied| hold(emptied) == Some(Hold::Lazy)) {
                return None;
            }
            metadata.hurry(core);
            metadata.seal_all(core);
            return metadata.journal_step(core, die);
        };
        let (group, cause) = core.die_mut(die).take_erasable(at);
        // What was read from it and is not programmed yet has been overtaken. Later the same unit may lie in the same place again.
        retain_moved(core, die, |_, layout, moved| layout.group(moved.from) != group);
        let groups = core.groups();
        if !groups.is_condemned(group) || !groups.retires(core.settings().retirement, group, None) {
            break (group, cause);
        }
        replace(core, panel, metadata, sanitise, group);
        erase_ended(core, panel, metadata, sanitise, EraseReport::without_erase(group));
    };
    set_erase(core, panel, group);
    Some(core.issue_erase(group, Purpose::Erase, cause))
}

/// End the erase of `report.group`: the group is free, or its blocks are replaced.
#[inline(never)]
pub(crate) fn erased(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, report: EraseReport) {
    let group = report.group;
    if report.has_left {
        replace(core, panel, metadata, sanitise, group);
    } else {
        let die = core.layout().die(group);
        core.groups_mut().erased(group);
        if let Some(keys) = sanitise.keys_mut() {
            keys.next_epoch(core, group);
        }
        if takes_back(core, group) {
            core.groups_mut().release(group);
            core.die_mut(die).give_erasable(group, Cause::Gc);
        } else {
            core.die_mut(die).give_free(group);
            level(core, die, group);
        }
    }
    erase_ended(core, panel, metadata, sanitise, report);
    if metadata.has_journal() {
        metadata.wake_journal(core);
    }
}

/// Forget all that is known of the content of a group, after its erase or after it left its blocks.
pub(crate) fn erase_ended(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, report: EraseReport) {
    let (group, now) = (report.group, core.now());
    let rest = core.services_mut().get_mut().map(|services| services.erased(group, report.has_left, now));
    metadata.forget_marks(group);
    sanitise.erased(core, metadata, group);
    sanitise.wake_keys(core, metadata);
    metadata.forget(core, group);
    news::tell(core, panel, metadata, News::Erased(EraseReport { rest, ..report }));
}

#[cfg(test)]
mod tests {
    use wordline_flash::{EraseTrace, OperationKind, Report, Status};
    use wordline_units::{Attributes, PartId};

    use super::*;
    use crate::config::tests::small;
    use crate::config::{Config, GcConfig};
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::allocation;
    use crate::state::beginning::Watched;
    use crate::state::layout::UnitAddr;
    use crate::state::work::Stream;
    use crate::techniques::{Choice, page_lock};

    const DIE: DieId = DieId(0);

    /// A core with one group that has been emptied and waits for its erase.
    fn emptied(config: &Config) -> (Rooms, BlockGroup) {
        let mut rooms = build(config);
        let core = &mut rooms.core;
        let group = allocation::allocate(core, DIE, Stream::Host).expect("all are free");
        core.groups_mut().open(group);
        core.groups_mut().close(group);
        core.groups_mut().start_gc(group);
        assert!(core.groups_mut().drained(group));
        core.die_mut(DIE).give_erasable(group, Cause::Host);
        (rooms, group)
    }

    fn hold(rooms: &Rooms, group: BlockGroup, is_lazy: bool) -> Option<Hold> {
        held_by(&rooms.core, &rooms.metadata, &rooms.sanitise, group, is_lazy)
    }

    fn erases(rooms: &mut Rooms) -> bool {
        let Rooms { core, panel, metadata, sanitise, .. } = rooms;
        erase_one(core, panel, metadata, sanitise, DIE).is_some_and(|operation| operation.cause == Cause::Host)
    }

    #[test]
    fn a_group_that_is_read_waits_for_its_readers() {
        let (mut rooms, group) = emptied(&small(64));
        let addr = rooms.core.layout().unit(group, 0);
        let attributes = Attributes::NONE;
        rooms.core.queue_read(Purpose::HostRead { part: PartId(0) }, Cause::Host, addr, wordline_units::Bytes(512), attributes);
        assert_eq!(hold(&rooms, group, false), Some(Hold::Read));
        assert!(!erases(&mut rooms));
        rooms.core.groups_mut().unpin(group);
        assert!(hold(&rooms, group, false).is_none() && erases(&mut rooms));
    }

    #[test]
    fn a_lazy_erase_waits_until_the_die_needs_the_group_unless_it_is_to_leave_service() {
        let lazy = GcConfig { lazy_erase: true, ..small(64).gc };
        let (mut rooms, group) = emptied(&Config { gc: lazy, ..small(64) });
        assert_eq!(hold(&rooms, group, true), Some(Hold::Lazy));
        assert!(!erases(&mut rooms), "nine groups are free");
        while rooms.core.is_roomy(DIE) {
            allocation::allocate(&mut rooms.core, DIE, Stream::Host);
        }
        assert!(erases(&mut rooms));
        let (mut rooms, group) = emptied(&Config { gc: lazy, ..small(64) });
        rooms.core.groups_mut().condemn(group);
        assert_eq!(hold(&rooms, group, true), None);
    }

    #[test]
    fn an_erase_is_traced_where_a_technique_asks_for_it_and_nowhere_else() {
        for asks in [false, true] {
            let (mut rooms, group) = emptied(&small(64));
            rooms.core.watch(Watched { erases: asks, ..Watched::default() }, 0);
            let Rooms { core, panel, metadata, sanitise, .. } = &mut rooms;
            let operation = erase_one(core, panel, metadata, sanitise, DIE).expect("nothing holds it");
            assert!(matches!(operation.kind, OperationKind::Erase { is_traced, .. } if is_traced == asks));
            let trace = asks.then_some(EraseTrace { loops: 9, part: 40, stops: 1 });
            let report = Report { erase: trace, ..Report::plain(operation.tag, DIE, Status::Good, &[]) };
            assert_eq!(EraseReport::of(&report, group, false).trace, trace);
        }
    }

    #[test]
    fn a_group_is_erased_once_more_where_the_room_for_its_set_has_gone_meanwhile() {
        for has_gone in [false, true] {
            let mut sheet = small(64).sheet;
            sheet.capabilities.guarded_erase = true;
            // Of ten groups of 48 units, three are the reserve and one is the one more: what is left is one wordline.
            let (mut rooms, group) = emptied(&Config { spared_max: 1, exported_units: 6 * 48 - 12, sheet, ..small(64) });
            rooms.core.groups_mut().spare_next(group, wordline_units::WordlineSet::of([2])).expect("one may be spared");
            assert!(erases(&mut rooms));
            let Rooms { core, panel, metadata, sanitise, .. } = &mut rooms;
            assert!(!core.groups().erase_settings(DIE).expect("it may spare some").spared.is_empty());
            if has_gone {
                let other = core.die_mut(DIE).take_last_free().expect("nine are free");
                core.groups_mut().retire(other, None);
            }
            erased(core, panel, metadata, sanitise, EraseReport { has_left: false, ..EraseReport::without_erase(group) });
            let is_free = core.die(DIE).free_groups().any(|free| free == group);
            assert_eq!((is_free, core.die(DIE).erasable().len()), (!has_gone, usize::from(has_gone)));
            if has_gone {
                let Rooms { core, panel, metadata, sanitise, .. } = &mut rooms;
                assert!(erase_one(core, panel, metadata, sanitise, DIE).is_some());
                rooms.core.groups_mut().erased(group);
                assert!(rooms.core.groups().is_plain(group));
            }
        }
    }

    #[test]
    fn a_group_that_a_trim_has_emptied_waits_for_the_record() {
        let (mut rooms, group) = emptied(&Config { keeps_data: true, ..small(64) });
        rooms.metadata.trim(&mut rooms.core, 0, 1);
        rooms.metadata.hold(group);
        assert_eq!(hold(&rooms, group, false), Some(Hold::Metadata));
        assert!(!erases(&mut rooms), "what it orders is the journal's record");
    }

    #[test]
    fn a_condemned_group_keeps_its_blocks_while_something_secret_in_it_can_be_read() {
        let techniques = vec![Choice::PageLock(page_lock::Params { block_lock: true })];
        let (mut rooms, group) = emptied(&Config { techniques, ..small(64) });
        let addr: UnitAddr = rooms.core.layout().unit(group, 0);
        rooms.sanitise.keep(addr);
        assert_eq!(hold(&rooms, group, false), None, "an erase is as good as a lock");
        rooms.core.groups_mut().condemn(group);
        assert_eq!(hold(&rooms, group, false), Some(Hold::Secret));
    }
}
