//! Application of the panel's answers: reads that stop a program, first tries of reads, settings of programs, requested work.

use wordline_flash::{Operation, OperationKind, ReadTry, Stop};
use wordline_units::{Cause, DieId, FlashOp, OpTag, Priority};

use super::hooks::Hook;
use super::panel::Panel;
use super::say::Urgency;
use super::seam::{Conflict, Ctx, FlashPage, Held, ProgramUnit};
use super::work::{Work, WorkKind};
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::layout::BlockGroup;
use crate::state::measures::Measurement;
use crate::state::pending::Purpose;
use crate::state::rewrites::Rewrite;
use crate::state::stops::Busy;
use crate::state::work::{Activity, Asked};
use crate::util::list::NIL;

/// Context for techniques: the instant, and their view of `core`.
#[inline]
pub(crate) fn ctx(core: &Core) -> Ctx<'_> {
    Ctx { now: core.now(), warmth: core.services().warmth(), view: core.view() }
}

/// Write down how worn `group` is, as the techniques tell it.
pub(crate) fn learn_wear(core: &mut Core, panel: &mut Panel, group: BlockGroup) {
    let worn = panel.wear_of(&ctx(core), group);
    core.groups_mut().set_wear(group, worn);
}

/// Write down how worn each group is, as the techniques tell it of a core that has just started.
pub(crate) fn learn_all_wear(core: &mut Core, panel: &mut Panel) {
    if panel.has(Hook::WearOf) {
        (0..core.layout().group_count() as u32).for_each(|group| learn_wear(core, panel, BlockGroup(group)));
    }
}

/// Order a stop of what `die` does for a waiting read, if the techniques agree on it.
#[inline]
pub(crate) fn give_way(core: &mut Core, panel: &mut Panel, die: DieId, priority: Priority) {
    if panel.has(Hook::Stop) {
        stop(core, panel, die, priority);
    }
}

#[inline(never)]
fn stop(core: &mut Core, panel: &mut Panel, die: DieId, priority: Priority) {
    match core.die(die).activity() {
        // Ordered already, it may be wanted sooner.
        Activity::Working(_) | Activity::Suspending(_) => {
            let busy = long_busy(core, die);
            let wanted = match panel.urgency(&ctx(core), &conflict(core, busy, priority)) {
                Urgency::Wait => return,
                Urgency::AtStep => Stop::AtStep,
                Urgency::Now => Stop::Now,
            };
            suspend(core, busy, wanted, priority);
        }
        Activity::Busy | Activity::Suspended(_) if core.settings().capabilities.abort_read => {
            if read_urgency(core, panel, die, priority) == Urgency::Now {
                let tag = core.die_mut(die).stops_mut().abort();
                core.outbox_mut().order_stop(Operation { tag, die, kind: OperationKind::Abort, cause: Cause::Host });
            }
        }
        Activity::Busy | Activity::Suspended(_) | Activity::Free => {}
    }
}

/// Program, erase or copyback that `die` is doing or has suspended, as it stands now.
pub(crate) fn long_busy(core: &Core, die: DieId) -> Busy {
    let state = core.die(die);
    let works = matches!(state.activity(), Activity::Working(_) | Activity::Suspending(_));
    state.stops().long(core.now(), works, &core.settings().steps)
}

/// Read that has left `die` last, in the way of `how`.
pub(crate) fn read_left(core: &Core, die: DieId, how: Stop) -> Busy {
    let state = core.die(die);
    state.stops().left(how, state.reads().next_priority())
}

fn conflict(core: &Core, busy: Busy, waiting: Priority) -> Conflict {
    let is_out_of_groups = core.die(busy.die).free_count() == 0;
    Conflict { busy, waiting, is_out_of_groups }
}

/// Agreement on how urgently the read that `die` does is stopped for one of this `priority`. Only for one of a higher priority than its own: else two readers
/// could stop each other for ever.
fn read_urgency(core: &Core, panel: &mut Panel, die: DieId, priority: Priority) -> Urgency {
    let busy = core.die(die).stops().read().filter(|busy| busy.reader.is_some_and(|reader| priority < reader));
    busy.map_or(Urgency::Wait, |busy| panel.urgency(&ctx(core), &conflict(core, busy, priority)))
}

/// True if the read that `die` is doing gives way, between two tries, to one that waits.
pub(crate) fn gives_way_between_tries(core: &Core, panel: &mut Panel, die: DieId) -> bool {
    let waiting = core.die(die).reads().next_priority();
    waiting.is_some_and(|waiting| read_urgency(core, panel, die, waiting) >= Urgency::AtStep)
}

/// Order a stop of `busy`, a program, an erase or a copyback, for a read of this `priority`: the hardest that the die is able to do and that is no harder than
/// `wanted`.
fn suspend(core: &mut Core, Busy { die, kind, .. }: Busy, wanted: Stop, priority: Priority) {
    if let Some(stop) = core.settings().capabilities.strongest(kind == FlashOp::Erase, wanted)
        && core.die_mut(die).suspend(stop, priority)
    {
        core.outbox_mut().order_stop(Operation { tag: OpTag(NIL), die, kind: OperationKind::Suspend { stop }, cause: Cause::Host });
    }
}

/// True if a read that waits for `die` is served before the suspended operation resumes: that has not been held for too long, and the techniques agree.
pub(crate) fn serves_while_held(core: &Core, panel: &mut Panel, die: DieId) -> bool {
    let held = core.now().saturating_sub(core.die(die).stops().held_since());
    if core.settings().schedule.held_max.is_some_and(|most| held >= most) {
        return false;
    }
    if !panel.has(Hook::Hold) {
        return true;
    }
    let state = core.die(die);
    let is_out_of_groups = state.free_count() == 0;
    let held = |next| Held { busy: long_busy(core, die), served: state.stops().served(), next, is_out_of_groups };
    state.reads().next_priority().is_some_and(|next| panel.serves(&ctx(core), &held(next)))
}

/// Order the read `tag` of the page it names.
#[inline]
pub(crate) fn issue_read(core: &mut Core, panel: &mut Panel, die: DieId, tag: OpTag) -> Operation {
    let pending = core.pending(tag);
    let at = FlashPage::holding(core.layout(), pending.group, pending.offset);
    let target = core.layout().one_plane(core.groups().blocks(pending.group), at.plane, at.page);
    // What is measured is held against what others have shown at the default.
    let is_estimated = panel.has(Hook::Estimate) && !matches!(pending.purpose, Purpose::Measure { .. });
    let first = if is_estimated { first_try(core, panel, at) } else { ReadTry::DEFAULT };
    core.issue(
        die,
        tag,
        OperationKind::Read {
            target,
            bytes: pending.bytes,
            first,
            tally: matches!(pending.purpose, Purpose::Measure { tally: true }),
            attributes: pending.attributes,
        },
        pending.cause,
    )
}

#[inline(never)]
fn first_try(core: &Core, panel: &mut Panel, at: FlashPage) -> ReadTry {
    panel.estimate(&ctx(core), at).map_or(ReadTry::DEFAULT, |estimate| estimate.first)
}

/// Order the next read that waits for `die`.
#[inline]
pub(crate) fn next_read(core: &mut Core, panel: &mut Panel, die: DieId) -> Option<Operation> {
    let tag = core.pop_read(die)?;
    Some(issue_read(core, panel, die, tag))
}

/// Set how program unit `program` of `group` is programmed, as the techniques agree.
#[inline]
pub(crate) fn set_program(core: &mut Core, panel: &mut Panel, group: BlockGroup, program: u32) {
    if panel.sets_programs() {
        let settings = panel.program_settings(&ctx(core), &ProgramUnit::new(core.layout(), group, program));
        let die = core.layout().die(group);
        core.die_mut(die).programs_mut().now_mut().set(settings);
    }
}

/// Set what the next erase of `group` spares, as the techniques agree. A union of more wordlines than an erase may spare is left out whole.
#[inline]
pub(crate) fn set_erase(core: &mut Core, panel: &mut Panel, group: BlockGroup) {
    if panel.has(Hook::EraseSettings) && core.groups().can_spare() {
        let idle = panel.erase_settings(&ctx(core), group);
        let of_data = core.layout().data_wordlines();
        if (1..=core.settings().spared_max).contains(&idle.all(of_data).len()) {
            core.groups_mut().spare_next(group, idle).expect("it is no larger than an erase may spare");
        }
    }
}

/// Queue `work` that a technique wants done. Only a closed group can be rewritten.
pub(crate) fn enqueue_work(core: &mut Core, work: Work) {
    let asked = Asked { since: core.now(), due: work.due };
    match work.kind {
        WorkKind::Rewrite(group) => {
            let (die, erases) = (core.layout().die(group), core.groups().erases(group));
            if core.groups().use_of(group) == Use::Closed
                && core.die_mut(die).change_rewrites(|rewrites| rewrites.ask(Rewrite::new(group, work.cause, erases, asked)))
            {
                core.wake(die);
            }
        }
        WorkKind::Measure { at, tally } => {
            let (layout, groups) = (core.layout(), core.groups());
            let offset = layout.page_offset(at.plane, at.page);
            // The second copy of its marks is nobody's to measure.
            if matches!(groups.use_of(at.group), Use::Active | Use::Closed) && offset < layout.data_units {
                let wanted = Measurement { group: at.group, erases: groups.erases(at.group), offset, tally };
                let die = layout.die(at.group);
                core.services_mut().measures_mut().ask(die, wanted, asked);
                core.wake(die);
            }
        }
        WorkKind::Collect(die) => {
            core.die_mut(die).ask_extra_victim(asked);
            core.wake(die);
        }
    }
}

#[cfg(test)]
mod tests {
    use wordline_units::{Nanos, WordlineSet};

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};
    use crate::techniques::Choice;
    use crate::techniques::hooks::Hooks;
    use crate::techniques::seam::{Amount, Ask, Card, IdleWordlines, Persists, Technique};
    use crate::techniques::work::NEVER;

    #[test]
    fn only_a_closed_group_is_rewritten_and_each_request_is_queued_once() {
        let Rooms { mut core, mut sanitise, .. } = build(&small(64));
        construct::fill(&mut core, &mut sanitise, 60);
        let work = |group, due| Work { kind: WorkKind::Rewrite(BlockGroup(group)), cause: Cause::Disturb, due };
        let (closed, open, free) = (0, 1, 5);
        assert_eq!([closed, open, free].map(|group| core.groups().use_of(BlockGroup(group))), [Use::Closed, Use::Active, Use::Free]);
        for group in [open, free, closed, closed] {
            enqueue_work(&mut core, work(group, NEVER));
        }
        enqueue_work(&mut core, work(closed, Nanos(9)));
        let wanted: Vec<_> = core.die(DieId(0)).rewrites().iter().map(|wanted| (wanted.group, wanted.asked.due)).collect();
        assert_eq!(wanted, [(BlockGroup(closed), Nanos(9))], "the earliest deadline counts");
        assert!(core.die(DieId(0)).extra_victim().is_none());
        enqueue_work(&mut core, Work { kind: WorkKind::Collect(DieId(0)), ..work(closed, Nanos(7)) });
        assert_eq!(core.die(DieId(0)).extra_victim().map(|asked| asked.due), Some(Nanos(7)));
    }

    /// Wants these wordlines of every group spared.
    #[derive(Debug)]
    struct Sparer(&'static [u32]);

    const SPARER: Card = Card {
        name: "sparer",
        source: "a test",
        claim: "none",
        hooks: Hooks::of(&[Hook::EraseSettings]),
        asks: &[Ask::Spared(Amount::Fixed(1))],
        persists: Persists::Nothing("it has no state"),
        limits: "none",
    };

    impl Technique for Sparer {
        fn card(&self) -> &'static Card {
            &SPARER
        }

        fn erase_settings(&self, _: &Ctx<'_>, _: BlockGroup) -> Option<IdleWordlines> {
            Some(IdleWordlines { spared: WordlineSet::of(self.0.iter().copied()), ..IdleWordlines::default() })
        }
    }

    #[test]
    fn the_next_erase_spares_the_union_and_nothing_where_that_is_too_much() {
        for (one, other, spared) in [(&[0][..], &[1][..], 2), (&[0], &[0], 1), (&[], &[2], 1), (&[0, 1], &[2], 0), (&[], &[], 0)] {
            let mut sheet = small(64).sheet;
            sheet.capabilities.guarded_erase = true;
            let Rooms { mut core, panel, .. } = build(&crate::Config { spared_max: 2, exported_units: 24, sheet, ..small(64) });
            let mut panel = panel.with(Box::new(Sparer(one))).with(Box::new(Sparer(other)));
            let group = BlockGroup(3);
            set_erase(&mut core, &mut panel, group);
            core.groups_mut().begin_erase(group, false);
            let settings = core.groups().erase_settings(DieId(0)).expect("it may spare some");
            assert_eq!(settings.spared.len(), spared, "{one:?} and {other:?}");
        }
    }

    #[test]
    fn a_core_that_spares_nothing_is_not_asked() {
        let Rooms { mut core, panel, .. } = build(&small(64));
        let mut panel = panel.with(Box::new(Sparer(&[0])));
        set_erase(&mut core, &mut panel, BlockGroup(3));
        assert_eq!(panel.counts()[0].questions.iter().map(|(_, counts)| counts.asked).sum::<u64>(), 0);
    }

    #[test]
    fn a_die_gives_way_to_a_read_only_while_it_works_and_where_a_technique_asks_for_it() {
        for (techniques, is_asked) in [(vec![], false), (vec![Choice::ReadPreemption], true)] {
            let Rooms { mut core, mut panel, .. } = build(&crate::Config { techniques, ..small(64) });
            give_way(&mut core, &mut panel, DieId(0), Priority::Normal);
            assert!(!core.outbox().has_stops(), "the die is idle");
            core.die_mut(DieId(0)).begin(Cause::Host, true);
            give_way(&mut core, &mut panel, DieId(0), Priority::Normal);
            assert_eq!(core.outbox().has_stops(), is_asked);
        }
    }
}
