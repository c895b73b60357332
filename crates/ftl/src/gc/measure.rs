//! Reads that techniques want for nothing but the count of errors: whether a page can be measured now, and the read.

use wordline_flash::Operation;
use wordline_units::{Cause, DieId, Priority};

use super::Gc;
use crate::metadata::Metadata;
use crate::news;
use crate::state::Core;
use crate::state::groups::Use;
use crate::state::measures::Measurement;
use crate::state::pending::{Pending, Purpose};
use crate::techniques::apply::issue_read;
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::say::Start;
use crate::techniques::seam::{FlashPage, News};
use crate::techniques::work::WorkKind;

/// State of a page that is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// The page is not programmed yet.
    Ahead,
    /// The page can be read.
    There,
    /// The filling of the group is over, or nothing of the page is needed any more: it may have been made unreadable, or never have been programmed.
    Gone,
}

/// State of the page of `wanted`, while its die is free.
fn state_of(core: &Core, wanted: &Measurement) -> Page {
    let &Measurement { group, erases, offset, .. } = wanted;
    let (groups, layout) = (core.groups(), core.layout());
    let is_current = groups.erases(group) == erases && matches!(groups.use_of(group), Use::Active | Use::Closed);
    if !is_current || groups.is_condemned(group) {
        return Page::Gone;
    }
    let program = offset / layout.units_per_program;
    if core.die(layout.die(group)).open_at(group).is_some_and(|open| !open.has(program, layout)) {
        return Page::Ahead;
    }
    let is_needed = program < layout.data_programs && (offset..offset + layout.units_per_page).any(|unit| groups.is_valid(group, unit));
    if is_needed { Page::There } else { Page::Gone }
}

/// Next read of the free `die` that only counts errors, if one may start. Measurements of what is gone are dropped, and the techniques learn of those of the
/// present filling of a group.
#[cold]
#[inline(never)]
pub(crate) fn measure(gc: &mut Gc, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId) -> Option<Operation> {
    let mut place = 0;
    while let Some(&(wanted, asked)) = core.services().measures().of(die).get(place) {
        match state_of(core, &wanted) {
            Page::Gone => {
                core.services_mut().measures_mut().drop_at(die, place);
                let Measurement { group, erases, offset, .. } = wanted;
                if core.groups().erases(group) == erases {
                    news::tell(core, panel, metadata, News::Unmeasured { at: FlashPage::holding(core.layout(), group, offset) });
                }
            }
            Page::Ahead => place += 1,
            Page::There => {
                let Measurement { group, offset, tally, .. } = wanted;
                let kind = WorkKind::Measure { at: FlashPage::holding(core.layout(), group, offset), tally };
                if gc.start(core, panel, die, kind, Cause::Measure, asked) == Start::Now {
                    core.services_mut().measures_mut().begin(die, place);
                    return Some(read(core, panel, die, &wanted));
                }
                place += 1;
            }
        }
    }
    None
}

fn read(core: &mut Core, panel: &mut Panel, die: DieId, wanted: &Measurement) -> Operation {
    let &Measurement { group, offset, tally, .. } = wanted;
    core.groups_mut().pin(group);
    let bytes = core.settings().unit_bytes(core.layout().units_per_page);
    let tag = core.begin(Pending::read(Purpose::Measure { tally }, group, offset, bytes, Cause::Measure));
    let operation = issue_read(core, panel, die, tag);
    if panel.has(Hook::Stop) {
        // Any read of the host may break it off.
        core.die_mut(die).stops_mut().note_reader(Priority::Low);
    }
    operation
}

#[cfg(test)]
mod tests {
    use wordline_flash::{OperationKind, Report, Status};
    use wordline_units::{HostOp, Nanos, PageId, PlaneId};

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::dispatch::ended::ended;
    use crate::dispatch::next::next_operation;
    use crate::setup::build;
    use crate::state::layout::BlockGroup;
    use crate::state::request::Request;
    use crate::state::request::tests::WRITE;
    use crate::techniques::apply::enqueue_work;
    use crate::techniques::hooks::Hooks;
    use crate::techniques::seam::{Card, Ctx, Persists, Technique};
    use crate::techniques::work::{NEVER, Work};

    const DIE: DieId = DieId(0);

    fn next(rooms: &mut Rooms) -> Option<Operation> {
        next_operation(rooms, Nanos(1))
    }

    fn finish(rooms: &mut Rooms, operation: &Operation) {
        rooms.core.ready(operation.die);
        ended(rooms, &Report::plain(operation.tag, operation.die, Status::Good, &[]));
    }

    fn want(rooms: &mut Rooms, group: BlockGroup, page: u16) {
        let kind = WorkKind::Measure { at: FlashPage { group, plane: PlaneId(0), page: PageId(page) }, tally: true };
        enqueue_work(&mut rooms.core, Work { kind, cause: Cause::Measure, due: NEVER });
    }

    /// A core that is writing the first page of a group, and that group.
    fn writing() -> (Rooms, Operation, BlockGroup) {
        let mut rooms = build(&small(64));
        rooms.submit(WRITE);
        let program = next(&mut rooms).expect("a program unit is full");
        let group = rooms.core.pending(program.tag).group;
        (rooms, program, group)
    }

    #[test]
    fn a_page_is_measured_once_it_is_programmed_behind_the_hosts_reads_and_before_its_writes() {
        let (mut rooms, program, group) = writing();
        want(&mut rooms, group, 0);
        want(&mut rooms, group, 1);
        assert_eq!(next(&mut rooms), None, "the die is at work");
        rooms.submit(Request { lpn: 4, ..WRITE });
        finish(&mut rooms, &program);
        rooms.submit(Request { id: 2, op: HostOp::Read, ..WRITE });
        let first = next(&mut rooms).expect("the host reads");
        assert!(matches!((first.kind, first.cause), (OperationKind::Read { tally: false, .. }, Cause::Host)));
        finish(&mut rooms, &first);
        let second = next(&mut rooms).expect("a page is to be measured");
        assert!(matches!((second.kind, second.cause), (OperationKind::Read { tally: true, .. }, Cause::Measure)));
        assert!(rooms.core.groups().is_pinned(group));
        finish(&mut rooms, &second);
        assert!(!rooms.core.groups().is_pinned(group));
        let third = next(&mut rooms).expect("the host writes");
        assert!(matches!(third.kind, OperationKind::Program { .. }), "the second page waits for it: {third:?}");
        finish(&mut rooms, &third);
        assert_eq!(next(&mut rooms).map(|last| last.cause), Some(Cause::Measure));
        assert!(rooms.core.services().measures().of(DIE).is_empty());
    }

    /// Keeps the pages that were not measured.
    #[derive(Debug, Default)]
    struct Listener(Vec<u32>);

    const LISTENER: Card = Card {
        name: "listener",
        source: "a test",
        claim: "none",
        hooks: Hooks::of(&[Hook::Unmeasured]),
        asks: &[],
        persists: Persists::Nothing("its list is of one start"),
        limits: "none",
    };

    impl Technique for Listener {
        fn card(&self) -> &'static Card {
            &LISTENER
        }

        fn image(&self) -> Vec<u32> {
            self.0.clone()
        }

        fn learn(&mut self, _: &Ctx<'_>, news: &News) {
            if let News::Unmeasured { at } = *news {
                self.0.extend([at.group.0, u32::from(at.page.0)]);
            }
        }
    }

    #[test]
    fn techniques_learn_of_a_page_that_is_not_measured_in_the_present_filling_of_its_group_alone() {
        let (mut rooms, program, group) = writing();
        rooms.panel = rooms.panel.with(Box::<Listener>::default());
        finish(&mut rooms, &program);
        want(&mut rooms, group, 0);
        rooms.submit(Request { id: 3, op: HostOp::Trim, ..WRITE });
        assert_eq!(next(&mut rooms), None);
        assert_eq!(rooms.panel.image("listener"), Some(vec![group.0, 0]));
        want(&mut rooms, group, 0);
        rooms.core.groups_mut().set_erases(group, 1);
        assert_eq!(next(&mut rooms), None);
        assert_eq!(rooms.panel.image("listener"), Some(vec![group.0, 0]), "the filling is over");
    }

    #[test]
    fn a_page_is_not_measured_in_another_filling_nor_where_nothing_of_it_is_needed() {
        let (mut rooms, program, group) = writing();
        finish(&mut rooms, &program);
        let wanted = Measurement { group, erases: 0, offset: 0, tally: false };
        assert_eq!(state_of(&rooms.core, &wanted), Page::There);
        assert_eq!(state_of(&rooms.core, &Measurement { offset: 4, ..wanted }), Page::Ahead);
        assert_eq!(state_of(&rooms.core, &Measurement { erases: 1, ..wanted }), Page::Gone, "it is of another filling");
        assert_eq!(state_of(&rooms.core, &Measurement { group: BlockGroup(9), ..wanted }), Page::Gone, "it is free");
        rooms.submit(Request { id: 3, op: HostOp::Trim, ..WRITE });
        assert_eq!(state_of(&rooms.core, &wanted), Page::Gone, "nothing of it is needed");
        want(&mut rooms, group, 0);
        assert_eq!(next(&mut rooms), None);
        assert!(rooms.core.services().measures().of(DIE).is_empty(), "it left without a read");
    }
}
