//! Placement: where the next program goes, and what becomes of open groups when they are full or a program in them fails.

use wordline_units::{Cause, DieId};

use crate::metadata::Metadata;
use crate::news;
use crate::state::Core;
use crate::state::allocation;
use crate::state::layout::BlockGroup;
use crate::state::wordline_order::{self, Open, Pick, WordlineOrder};
use crate::state::work::Stream;
use crate::techniques::apply::ctx;
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::say::Way;
use crate::techniques::seam::{Fit, Moving, News, Place};

/// Destination of a program that is about to be ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramPlace {
    pub group: BlockGroup,
    pub program: u32,
    /// True if the program is the last one of its group.
    pub closes: bool,
}

/// Greatest number of groups of a die that one stream has open: 64 for data of the host, 16 for moved data, by the checks of a plan.
const MOST_OPEN: usize = 64;

/// Data of a program that is about to be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// New data of the host.
    Host,
    /// Units that the die has gathered from victims.
    Gathered,
    /// A program unit of this victim, copied back for this cause.
    Copied(BlockGroup, Cause),
}

impl Data {
    fn stream(self) -> Stream {
        if self == Data::Host { Stream::Host } else { Stream::Moved }
    }

    /// The same as techniques are told it. `die`: the die that takes the data.
    fn told(self, core: &Core, die: DieId) -> Moving {
        let state = core.die(die);
        let (from, way, cause) = match self {
            Data::Host => (None, Way::Bus, Cause::Host),
            Data::Gathered => (state.moved().front().map(|moved| core.layout().group(moved.from)), Way::Bus, state.moved_cause()),
            Data::Copied(from, cause) => (Some(from), Way::Copyback, cause),
        };
        Moving { from, way, cause }
    }
}

/// Destination of the next program of `data`, which counts as ordered from now on. A free group is opened where that is due. `None`: no group is left, or
/// none that a technique lets the data go to.
pub(crate) fn next_program(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId, data: Data) -> Option<ProgramPlace> {
    let stream = data.stream();
    let (order, in_use) = order_of(core, stream);
    if panel.has(Hook::Fit) && panel.tells_open_apart() {
        return next_fitting(core, panel, metadata, die, data, (order, in_use));
    }
    let picked = wordline_order::pick(order, core.die(die).open(stream), core.layout(), in_use, core.is_roomy(die));
    let Pick { at, program } = match picked {
        Some(pick) => pick,
        None if panel.has(Hook::Fit) => return next_fitting(core, panel, metadata, die, data, (order, in_use)),
        None => {
            let group = allocation::allocate(core, die, stream)?;
            open(core, panel, metadata, group, stream)
        }
    };
    let (group, closes) = core.take_program(die, stream, at, program);
    Some(ProgramPlace { group, program, closes })
}

/// Order in which data of `stream` takes the wordlines of a block, and the share of the buffer in use where the order goes by that.
#[inline]
fn order_of(core: &Core, stream: Stream) -> (WordlineOrder, f64) {
    // Moved data goes horizontal first, whatever the order of the host's.
    let order = if stream == Stream::Host { core.settings().wordline_order } else { WordlineOrder::HorizontalFirst };
    let in_use = if order == WordlineOrder::HorizontalFirst { 0.0 } else { core.buffer().fill() };
    (order, in_use)
}

/// Group that the next program of `data` would go to, were it ordered now; `None`: no group is left, or none that a technique lets the data go to.
pub(crate) fn next_group(core: &Core, panel: &mut Panel, die: DieId, data: Data) -> Option<BlockGroup> {
    let stream = data.stream();
    let (order, in_use) = order_of(core, stream);
    let open = core.die(die).open(stream);
    if panel.has(Hook::Fit)
        && (panel.tells_open_apart() || wordline_order::pick(order, open, core.layout(), in_use, core.is_roomy(die)).is_none())
    {
        let mut places = panel.take_places();
        let group = match fitting(core, panel, (die, data), (order, in_use), &mut places) {
            Picked::Open(Pick { at, .. }) => Some(open[at].group),
            Picked::Free => allocation::next(core, die, stream, Some(&places)),
            Picked::Any => allocation::next(core, die, stream, None),
            Picked::Nothing => None,
        };
        panel.give_places(places);
        return group;
    }
    match wordline_order::pick(order, open, core.layout(), in_use, core.is_roomy(die)) {
        Some(Pick { at, .. }) => Some(open[at].group),
        None => allocation::next(core, die, stream, None),
    }
}

/// Open the free `group` for `stream`. Returns its first program unit.
fn open(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup, stream: Stream) -> Pick {
    core.groups_mut().open(group);
    if panel.has(Hook::Opened) {
        tell_opened(core, panel, metadata, group, stream);
    }
    let (die, open) = (core.layout().die(group), Open::at(group, 0, core.layout()));
    let at = core.die_mut(die).push_open(stream, open);
    let program = if core.groups().can_spare() { first_usable(core, die, stream, at) } else { 0 };
    Pick { at, program }
}

/// First program unit of the group that has just been opened for `stream` at `at`, behind those on spared wordlines.
#[cold]
fn first_usable(core: &mut Core, die: DieId, stream: Stream, at: usize) -> u32 {
    let is_full = core.pass_spared(die, core.die(die).open(stream)[at].group);
    assert!(!is_full, "an erase has spared all wordlines");
    let order = if stream == Stream::Host { core.settings().wordline_order } else { WordlineOrder::HorizontalFirst };
    core.die(die).open(stream)[at].first(order, core.layout()).expect("it is not full")
}

/// Destination of the next program of `data` where techniques say how well places suit it.
#[cold]
#[inline(never)]
fn next_fitting(
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    die: DieId,
    data: Data,
    (order, in_use): (WordlineOrder, f64),
) -> Option<ProgramPlace> {
    let stream = data.stream();
    let mut places = panel.take_places();
    let picked = fitting(core, panel, (die, data), (order, in_use), &mut places);
    let group = match picked {
        Picked::Free => allocation::allocate_among(core, die, stream, &places),
        Picked::Any => allocation::allocate(core, die, stream),
        Picked::Open(_) | Picked::Nothing => None,
    };
    panel.give_places(places);
    let Pick { at, program } = match picked {
        Picked::Open(pick) => pick,
        Picked::Free | Picked::Any | Picked::Nothing => open(core, panel, metadata, group?, stream),
    };
    let (group, closes) = core.take_program(die, stream, at, program);
    Some(ProgramPlace { group, program, closes })
}

/// Choice of a group for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Picked {
    /// A program unit of an open group.
    Open(Pick),
    /// One of the free groups that suit best.
    Free,
    /// Any free group.
    Any,
    /// No group.
    Nothing,
}

/// Choice of a group where techniques say how well places suit `data`. Of the open groups one that suits best is taken; where none suits exactly, another is
/// opened if a free one suits better, the die has room and not too many are open. `places`: for [`Picked::Free`], those of [`Die::free_groups`] that suit best.
///
/// [`Die::free_groups`]: crate::state::die::Die::free_groups
fn fitting(core: &Core, panel: &mut Panel, (die, data): (DieId, Data), by: (WordlineOrder, f64), places: &mut Vec<usize>) -> Picked {
    let (state, moving) = (core.die(die), data.told(core, die));
    // Where the open groups are all alike, none of them has room.
    let open = if panel.tells_open_apart() { state.open(data.stream()) } else { &[] };
    let are_apart = panel.tells_free_apart();
    let ctx = ctx(core);
    let mut fit = |group, is_open| panel.fit(&ctx, &moving, &Place { group, is_open });
    let mut fits = [Fit::Never; MOST_OPEN];
    for (known, open) in fits.iter_mut().zip(open) {
        *known = fit(open.group, true);
    }
    let fits = &fits[..open.len()];
    let best = fits.iter().copied().min().filter(|&fit| fit != Fit::Never);
    let most = if data == Data::Host { by.0.open_blocks() } else { core.settings().moved_blocks };
    let may_open = open.is_empty() || (core.is_roomy(die) && (open.len() as u32) < most);
    if best != Some(Fit::Exact) && may_open {
        // A free group is opened only where it suits better than each that is open. Whole ones that GC or metadata need are taken last, however well they suit.
        let (leaves_plain, mut least) = (allocation::leaves_plain(core, die), None);
        for (place, group) in state.free_groups().enumerate() {
            let suits = fit(group, false);
            let is_better = suits < best.unwrap_or(Fit::Never);
            // The others suit as well as the first.
            if !are_apart {
                if is_better {
                    return Picked::Any;
                }
                break;
            }
            let rank = (leaves_plain && core.groups().is_plain(group), suits);
            if is_better && least.is_none_or(|least| rank <= least) {
                if least != Some(rank) {
                    places.clear();
                    least = Some(rank);
                }
                places.push(place);
            }
        }
        if !places.is_empty() {
            return Picked::Free;
        }
    }
    best.map_or(Picked::Nothing, |best| pick_open(core, open, fits, best, (by, may_open)))
}

/// Program unit of one of the `open` groups that suit as well as `best`.
fn pick_open(core: &Core, open: &[Open], fits: &[Fit], best: Fit, ((order, in_use), may_open): ((WordlineOrder, f64), bool)) -> Picked {
    let mut suits = (0..open.len()).filter(|&at| fits[at] == best);
    let first = suits.next().expect("one of them suits best");
    if suits.next().is_none() {
        // Mostly there is but one, and it is picked from where it stands.
        let picked = wordline_order::pick(order, &open[first..=first], core.layout(), in_use, may_open);
        return picked.map_or(Picked::Any, |Pick { program, .. }| Picked::Open(Pick { at: first, program }));
    }
    pick_of_several(core, open, fits, best, ((order, in_use), may_open))
}

/// Program unit of one of several `open` groups that suit as well as `best`.
#[cold]
#[inline(never)]
fn pick_of_several(
    core: &Core,
    open: &[Open],
    fits: &[Fit],
    best: Fit,
    ((order, in_use), may_open): ((WordlineOrder, f64), bool),
) -> Picked {
    let (mut suiting, mut places, mut count) = ([open[0]; MOST_OPEN], [0; MOST_OPEN], 0);
    for at in (0..open.len()).filter(|&at| fits[at] == best) {
        (suiting[count], places[count]) = (open[at], at);
        count += 1;
    }
    let picked = wordline_order::pick(order, &suiting[..count], core.layout(), in_use, may_open);
    picked.map_or(Picked::Any, |Pick { at, program }| Picked::Open(Pick { at: places[at], program }))
}

#[cold]
#[inline(never)]
fn tell_opened(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup, stream: Stream) {
    news::tell(core, panel, metadata, News::Opened { group, moved: stream == Stream::Moved });
}

/// Closes `group`: it takes no more data, and can be a victim.
pub(crate) fn close(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup) {
    core.groups_mut().close(group);
    if let Some(services) = core.services().get() {
        let memos = services.memos(group);
        metadata.note_own(core, group, memos);
    }
    news::tell(core, panel, metadata, News::Closed { group });
}

/// Ends the data of `group`, all of which has been programmed: its summary comes next, or it is closed as it is.
pub(crate) fn complete(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, group: BlockGroup) {
    if !metadata.begin_summary(core, group) {
        close(core, panel, metadata, group);
    }
}

/// Abandons `group`, in which the program at `program` failed: nothing more is written to it, and its data moves away. `has_secrets`: units of it that were
/// never written must not pass for valid either.
pub(crate) fn abandon(core: &mut Core, group: BlockGroup, program: u32, has_secrets: bool) {
    let (layout, die) = (*core.layout(), core.layout().die(group));
    let open = core.die_mut(die).take_open(group);
    let groups = core.groups_mut();
    groups.condemn(group);
    // The summary that will not be written holds nothing that could move.
    groups.give_up(group, layout.data_units..layout.units_per_group);
    let mut end = program * layout.units_per_program;
    if core.settings().wordline_order != WordlineOrder::HorizontalFirst {
        end = open.map_or(layout.units_per_group, |open| end_of(core, &open));
        core.groups_mut().give_up(group, layout.units_of(program));
    }
    core.die_mut(die).fail(group, end);
    if has_secrets {
        core.groups_mut().give_up(group, end..layout.units_per_group);
    }
}

/// Offset up to which a group was written that takes no more data. If there are gaps before it, they count as stale.
pub(crate) fn end_of(core: &mut Core, open: &Open) -> u32 {
    let layout = *core.layout();
    if open.is_prefix(&layout) {
        return open.ordered() * layout.units_per_program;
    }
    let gaps = (0..layout.programs).filter(|&program| !open.has(program, &layout));
    gaps.for_each(|program| core.groups_mut().give_up(open.group, layout.units_of(program)));
    layout.units_per_group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::groups::Use;
    use crate::techniques::hooks::Hooks;
    use crate::techniques::seam::{Card, Ctx, Persists, Technique};

    const DIE: DieId = DieId(0);

    fn next(rooms: &mut Rooms, data: Data) -> Option<ProgramPlace> {
        let Rooms { core, panel, metadata, .. } = rooms;
        next_program(core, panel, metadata, DIE, data)
    }

    #[test]
    fn streams_keep_to_groups_of_their_own_and_the_last_program_closes() {
        let mut rooms = build(&small(64));
        let programs = rooms.core.layout().data_programs;
        let host: Vec<_> = (0..programs).filter_map(|_| next(&mut rooms, Data::Host)).collect();
        let moved = next(&mut rooms, Data::Gathered).expect("there are free groups");
        assert!(host.iter().all(|place| place.group == host[0].group && place.group != moved.group));
        assert!(host.iter().map(|place| place.program).eq(0..programs));
        assert!(host.iter().all(|place| place.closes == (place.program + 1 == programs)));
        assert_ne!(next(&mut rooms, Data::Host).map(|place| place.group), Some(host[0].group));
    }

    #[test]
    fn no_place_is_left_where_no_group_is_free() {
        let mut rooms = build(&small(64));
        let all = rooms.core.layout().groups * rooms.core.layout().data_programs;
        assert!((0..all).all(|_| next(&mut rooms, Data::Gathered).is_some()));
        assert!(next(&mut rooms, Data::Gathered).is_none());
    }

    #[test]
    fn a_group_in_which_a_program_fails_takes_no_more_and_is_to_be_emptied_up_to_there() {
        let mut rooms = build(&small(64));
        let place = (0..3).filter_map(|_| next(&mut rooms, Data::Host)).last().expect("there are free groups");
        abandon(&mut rooms.core, place.group, place.program, false);
        let units = rooms.core.layout().units_per_program;
        assert!(rooms.core.groups().is_condemned(place.group));
        assert_eq!(rooms.core.die(DIE).failed_end(place.group), Some(place.program * units));
        assert_ne!(next(&mut rooms, Data::Host).map(|next| next.group), Some(place.group));
        let Rooms { core, panel, metadata, .. } = &mut rooms;
        let other = core.die(DIE).open(Stream::Host)[0].group;
        complete(core, panel, metadata, other);
        assert_eq!(core.groups().use_of(other), Use::Closed);
    }

    /// Wants data of even groups and of odd ones apart, and lets a copyback go nowhere else.
    #[derive(Debug)]
    struct Parted;

    const PARTED: Card = Card {
        name: "parted",
        source: "a test",
        claim: "none",
        hooks: Hooks::of(&[Hook::Fit]),
        asks: &[],
        persists: Persists::Nothing("it knows nothing"),
        limits: "none",
    };

    impl Technique for Parted {
        fn card(&self) -> &'static Card {
            &PARTED
        }

        fn fit(&self, _: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
            let is_alike = data.from.is_none_or(|from| from.0 % 2 == to.group.0 % 2);
            let is_copied = data.way == Way::Copyback;
            if is_alike {
                Fit::Exact
            } else if is_copied {
                Fit::Never
            } else {
                Fit::Loose(1)
            }
        }
    }

    fn parted(moved_blocks: u32) -> Rooms {
        let mut rooms = build(&crate::Config { moved_blocks, ..small(64) });
        rooms.panel = rooms.panel.with(Box::new(Parted));
        rooms
    }

    #[test]
    fn data_goes_where_it_suits_best_and_another_group_is_opened_for_it_while_there_is_room() {
        let mut rooms = parted(2);
        let mut place = |from: u32| next(&mut rooms, Data::Copied(BlockGroup(from), Cause::Gc)).expect("there are free groups").group.0;
        let places = [place(4), place(5), place(6), place(7), place(9)];
        assert_eq!(places.map(|group| group % 2), [0, 1, 0, 1, 1]);
        assert_eq!((places[0], places[1]), (places[2], places[3]), "each goes on where it has begun");
    }

    #[test]
    fn what_comes_over_the_bus_takes_what_there_is_and_a_copyback_only_what_suits() {
        let mut rooms = parted(1);
        let first = next(&mut rooms, Data::Copied(BlockGroup(4), Cause::Gc)).expect("there are free groups").group;
        assert_eq!(next(&mut rooms, Data::Copied(BlockGroup(5), Cause::Gc)).map(|place| place.group), None, "one may be open");
        let from = rooms.core.layout().unit(BlockGroup(5), 0);
        rooms.core.die_mut(DIE).gather(crate::state::work::Moved { lpn: 0, from });
        assert_eq!(next(&mut rooms, Data::Gathered).map(|place| place.group), Some(first));
        let host = next(&mut rooms, Data::Host).expect("there are free groups");
        assert_ne!(host.group, first);
    }
}
