//! Garbage collection: move the valid units out of a victim, then erase it.
//!
//! One victim at a time per die, one operation at a time: read a page that holds valid units, until a program unit is gathered; program it; go on.
//! Units left over at the end of a victim travel with the next one. The victim is erased once its last valid unit is on flash elsewhere and its last
//! reader is gone.
//!
//! Blocks that fail are emptied in the same way, and so is what wear levelling, a technique or a sanitiser wants rewritten.

mod bad_blocks;
mod erase;
mod measure;
mod names;
mod wear;

pub(crate) use bad_blocks::{fail_guarded, form_groups, replace, wear_out};
pub(crate) use erase::{erase_ended, erased};
pub(crate) use measure::measure;
pub(crate) use names::{Nameless, Names};
pub(crate) use wear::level;

use wordline_flash::{Operation, OperationKind};
use wordline_units::random::Draw;
use wordline_units::{Bytes, Cause, DieId, Nanos};

use crate::metadata::Metadata;
use crate::news;
use crate::placement::{Data, ProgramPlace, next_group, next_program};
use crate::sanitise::Sanitise;
use crate::scheduler::{self, Policy};
use crate::state::Core;
use crate::state::failures;
use crate::state::grants::take_to_make_plain;
use crate::state::groups::Use;
use crate::state::layout::{BlockGroup, UnitAddr};
use crate::state::pending::{Pending, Purpose};
use crate::state::rewrites::{Rewrite, Rewrites, is_to_correct};
use crate::state::tolerances;
use crate::state::wordline_order::Open;
use crate::state::work::{Asked, Job, Offer, Source, Stream, heed_stale, heeds_stale, note_gc_stalled, retain_moved};
use crate::techniques::apply::{ctx, issue_read, set_program};
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::say::{Start, Way};
use crate::techniques::seam::{Copy, News, ProgramUnit};
use crate::techniques::work::{NEVER, Waiting, Work, WorkKind};
use crate::victim::{Candidates, Policy as _, VictimPolicy};
use erase::erase_one;

/// State of garbage collection of one core, beside the tables.
#[derive(Debug)]
pub(crate) struct Gc {
    victim_draw: Draw,
    /// Earliest deadline of work that is held back; [`NEVER`]: no work is.
    held_until: Nanos,
    /// True if work was ever held back, with a deadline or without.
    has_held: bool,
    /// Names of units that are looked for in the map.
    names: Names,
    /// Program unit that could not be copied back, because units of it have no name: it goes over the bus.
    barred: Option<(BlockGroup, u32)>,
}

/// Turn of GC and of rewrites on a die where room is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Rewrites are asked first: those that have the turn, or are past their deadline.
    Rewrites,
    /// GC has found nothing to collect.
    Nobody,
}

impl Gc {
    /// Creates the state of a new core, whose victim policies draw from `victim_draw`.
    pub(crate) fn new(victim_draw: Draw) -> Gc {
        Gc { victim_draw, held_until: NEVER, has_held: false, names: Names::default(), barred: None }
    }

    /// Number of random draws that victim policies have made.
    pub(crate) fn victims_drawn(&self) -> u64 {
        self.victim_draw.drawn()
    }

    /// Continue the random draws after `victims_drawn` of them.
    pub(crate) fn resume(&mut self, victims_drawn: u64) {
        self.victim_draw.resume(victims_drawn);
    }

    /// Names of units that are looked for.
    #[inline]
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Move program unit `program` of `group` over the bus.
    pub(crate) fn bar_copyback(&mut self, group: BlockGroup, program: u32) {
        self.barred = Some((group, program));
    }

    /// The earliest deadline of work that is held back.
    #[inline]
    pub(crate) fn held_until(&self) -> Option<Nanos> {
        (self.held_until != NEVER).then_some(self.held_until)
    }

    /// The next operation that serves garbage collection on `die`, if there is one.
    #[inline(always)]
    pub(crate) fn step(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        sanitise: &mut Sanitise,
        die: DieId,
    ) -> Offer {
        loop {
            if !core.die(die).erasable().is_empty()
                && let Some(operation) = erase_one(core, panel, metadata, sanitise, die)
            {
                return Offer::Ready(operation);
            }
            if core.settings().counters
                && let Some(operation) = program_counters(core, panel, die)
            {
                return Offer::Ready(operation);
            }
            let full = core.layout().units_per_program;
            let is_full = core.die(die).moved().len() as u32 >= full && drop_overtaken(core, die) >= full;
            if is_full && let Some(operation) = program_moved(core, panel, metadata, die) {
                return Offer::Ready(operation);
            }
            // No block takes what was gathered, but there may be one in which nothing is valid.
            let Some(job) = core.die(die).job() else {
                if core.die(die).moves_under_way() > 0 {
                    return Offer::Nothing;
                }
                if self.start_job(core, panel, metadata, sanitise, die, is_full) {
                    continue;
                }
                let is_rest = !is_full && drop_overtaken(core, die) > 0;
                return if is_rest { program_moved(core, panel, metadata, die).into() } else { Offer::Nothing };
            };
            match core.groups().next_valid(job.victim, job.cursor, job.end) {
                Some(_) if is_full => return Offer::Nothing,
                Some(offset) => {
                    let is_barred = self.barred == Some((job.victim, offset / core.layout().units_per_program));
                    return move_page(core, panel, metadata, sanitise, (die, job, offset), is_barred).into();
                }
                None => {
                    end_job(core, panel, metadata, sanitise, die, job);
                    if sanitise.is_on() {
                        // What it held may have to be made unreadable before anything else.
                        return Offer::Needs(&[Source::Sanitise, Source::Gc]);
                    }
                }
            }
        }
    }

    /// Choose the next victim of `die`. Returns true if there is one. `must_be_empty`: no unit can be moved.
    fn start_job(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        sanitise: &Sanitise,
        die: DieId,
        must_be_empty: bool,
    ) -> bool {
        if !must_be_empty && core.groups().can_spare() && make_plain(core, die) {
            return true;
        }
        if !must_be_empty && bad_blocks::start_retirement(core, panel, metadata, die) {
            return true;
        }
        if !must_be_empty && self.start_rewrite(core, panel, metadata, die, Turn::Rewrites) {
            return true;
        }
        let is_short = core.die(die).is_short(core.settings().gc.start);
        let is_wanted = is_short || self.takes_extra_victim(core, panel, die);
        if !is_wanted || self.start_victim(core, panel, metadata, sanitise, die, must_be_empty) {
            if is_wanted && !is_short {
                core.die_mut(die).mark_extra();
            }
            return is_wanted;
        }
        // Where GC finds nothing to collect, the turn is not its own.
        !must_be_empty && self.start_rewrite(core, panel, metadata, die, Turn::Nobody)
    }

    /// Begin the first rewrite requested on `die` that may start. Returns true if there is one.
    fn start_rewrite(&mut self, core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId, turn: Turn) -> bool {
        let Some(Rewrite { group, cause, .. }) = self.next_rewrite(core, panel, die, turn) else { return false };
        let end = core.layout().units_per_group;
        begin(core, panel, metadata, die, group, cause, end);
        true
    }

    /// Begin the victim of `die` that GC chooses. Returns true if there is one. `must_be_empty`: no unit can be moved.
    fn start_victim(
        &mut self,
        core: &mut Core,
        panel: &mut Panel,
        metadata: &mut Metadata,
        sanitise: &Sanitise,
        die: DieId,
        must_be_empty: bool,
    ) -> bool {
        let short = core.die(die).is_short(core.settings().gc.start);
        let is_gc_useless = core.die_mut(die).take_gc_pays_from() == Some(core.changes().count());
        // Moves out of a sanitiser's way are padded too, so where somebody waits for it, that says nothing of victims.
        if is_gc_useless && !has_program(core, metadata, Nanos::MAX) && !sanitise.is_awaited(core, metadata) {
            let changes = core.changes().count();
            core.die_mut(die).set_gc_pays_from(changes);
            note_gc_stalled(core, die, true);
            return false;
        }
        let mut candidates = core.groups().candidates(die);
        let (state, layout) = (core.die(die), core.layout());
        // The last program unit of each may be that of counters.
        let counters = u32::from(core.settings().counters);
        candidates.least -= counters * layout.units_per_program;
        let room = open_room(core, die);
        // Without a free block nothing may be begun that does not fit into what is left of the open one.
        let has_none = state.free_count() == 0 || must_be_empty;
        // A policy that samples can go round in circles where padding takes all that its victims give: then only the best victim may help.
        let policy = if has_none || is_gc_useless { VictimPolicy::Greedy } else { core.settings().gc.victim };
        // Groups that have been read to their end are free once the rest of them is programmed.
        let promised = state.awaiting_last_units() as u32 * candidates.least;
        let victim = if candidates.free_a_group(room + promised) { policy.pick(&candidates, &mut self.victim_draw) } else { None };
        let victim = victim.filter(|&victim| !has_none || candidates.valid[victim] <= room);
        let Some(victim) = victim else {
            note_gc_stalled(core, die, short);
            return false;
        };
        assert!(candidates.valid[victim] < Candidates::OUT, "the victim policy took a block it may not");
        let (group, end) = (layout.group_at(die, victim as u32), layout.units_per_group);
        core.die_mut(die).change_rewrites(Rewrites::end_job);
        begin(core, panel, metadata, die, group, Cause::Gc, end);
        true
    }

    /// Take the first requested rewrite that may start. Requests that have become needless are dropped.
    fn next_rewrite(&mut self, core: &mut Core, panel: &mut Panel, die: DieId, turn: Turn) -> Option<Rewrite> {
        let now = core.now();
        let is_roomy = core.is_roomy(die);
        // Emptying one group into another gives back as much room as it takes, and takes it first.
        if !is_roomy && core.die(die).free_count() == 0 {
            return None;
        }
        let has_turn = is_roomy || turn == Turn::Nobody || core.die(die).moved_cause() == Cause::Gc;
        let mut at = 0;
        while let Some(wanted) = core.die(die).rewrites().at(at) {
            let Rewrite { group, cause, erases, asked, .. } = wanted;
            if !has_turn && cause != Cause::Sanitise && asked.due > now {
                at += 1;
                continue;
            }
            // It may have been collected since it was asked for.
            let is_current = core.groups().erases(group) == erases && core.groups().use_of(group) == Use::Closed;
            let start = if is_current { self.start(core, panel, die, WorkKind::Rewrite(group), cause, asked) } else { Start::Dropped };
            match start {
                Start::Now | Start::Dropped => {}
                Start::Later => {
                    core.die_mut(die).change_rewrites(|rewrites| rewrites.hold(at, now));
                    at += 1;
                    continue;
                }
                Start::Parked => {
                    let borne = panel.retries_borne(&ctx(core), group);
                    core.die_mut(die).change_rewrites(|rewrites| rewrites.park(at, borne));
                    continue;
                }
            }
            let begins = start == Start::Now;
            core.die_mut(die).change_rewrites(|rewrites| if begins { rewrites.begin(at, now) } else { rewrites.drop(at) });
            if begins {
                return Some(wanted);
            }
        }
        None
    }

    /// True if the further victim requested on `die` is begun now, because there is such a request and it may start.
    fn takes_extra_victim(&mut self, core: &mut Core, panel: &mut Panel, die: DieId) -> bool {
        let extra = core.die(die).extra_victim();
        let starts = extra.is_some_and(|asked| self.start(core, panel, die, WorkKind::Collect(die), Cause::Gc, asked) == Start::Now);
        if starts {
            core.die_mut(die).clear_extra_victim();
        }
        starts
    }

    /// Agreement on the start of work that was `asked` for. After its deadline no technique is asked.
    fn start(&mut self, core: &Core, panel: &mut Panel, die: DieId, kind: WorkKind, cause: Cause, asked: Asked) -> Start {
        let Asked { since, due } = asked;
        if due <= core.now() || !panel.has(Hook::MayWork) {
            return Start::Now;
        }
        let waiting = Waiting { since, reads: core.die(die).reads().next_priority() };
        // Only rewrites can be dropped, or parked: nothing would bring other work back.
        let start = match (panel.start(&ctx(core), &Work { kind, cause, due }, &waiting), kind) {
            (start @ (Start::Dropped | Start::Parked), WorkKind::Rewrite(_)) => start,
            (Start::Dropped | Start::Parked, WorkKind::Collect(_) | WorkKind::Measure { .. }) => Start::Later,
            (start @ (Start::Later | Start::Now), _) => start,
        };
        if matches!(start, Start::Later | Start::Parked) {
            self.held_until = self.held_until.min(due);
            self.has_held = true;
        }
        start
    }

    /// Wake the dies with work that was held back and is due now.
    pub(crate) fn start_due(&mut self, core: &mut Core) {
        self.held_until = NEVER;
        for die in core.die_ids() {
            let now = core.now();
            if !core.die(die).rewrites().parked().is_empty() {
                core.die_mut(die).change_rewrites(|rewrites| rewrites.unpark_due(now));
            }
            let state = core.die(die);
            let measures = core.services().measures().of(die).iter().map(|&(_, asked)| asked);
            let rewrites = state.rewrites().iter().chain(state.rewrites().parked().iter()).map(|wanted| wanted.asked);
            let all = rewrites.chain(state.extra_victim()).chain(measures);
            // Beside what is due, a die may have work parked that is due later, about which no technique is asked meanwhile.
            let (mut is_due, mut until) = (false, NEVER);
            for Asked { due, .. } in all {
                is_due |= due <= now;
                until = if due > now { until.min(due) } else { until };
            }
            self.held_until = self.held_until.min(until);
            if is_due {
                core.wake(die);
            }
        }
    }

    /// Await the deadlines of the rewrites of a core that was just restored.
    pub(crate) fn await_held(&mut self, core: &Core) {
        let requests = core.dies().flat_map(|(_, die)| die.rewrites().in_order());
        self.held_until = requests.map(|wanted| wanted.asked.due).min().unwrap_or(NEVER);
        self.has_held |= core.dies().any(|(_, die)| !die.rewrites().in_order().is_empty());
    }

    /// Wake `die` after a read of a page of `group` that needed so many `retries`: work on the group that was held back may start now.
    pub(crate) fn look_again(&self, core: &mut Core, die: DieId, group: BlockGroup, retries: u32) {
        if core.die(die).rewrites().parked().borne(group).is_some_and(|borne| retries > borne) {
            unpark(core, group);
        }
        let is_measured = || core.services().measures().of(die).iter().any(|(wanted, _)| wanted.group == group);
        if self.has_held && (core.die(die).rewrites().iter().any(|wanted| wanted.group == group) || is_measured()) {
            core.wake(die);
        }
    }
}

/// Look again at the parked rewrite of `group`, if it has one.
pub(crate) fn unpark(core: &mut Core, group: BlockGroup) {
    let (die, now) = (core.layout().die(group), core.now());
    if core.die(die).rewrites().parked().get(group).is_some() {
        core.die_mut(die).change_rewrites(|rewrites| rewrites.unpark(group, now));
        core.wake(die);
    }
}

/// Drop units that the host has overwritten since they were read. They would take room that nothing has freed, and where bytes are kept their source may
/// have been erased. Returns how many are left.
fn drop_overtaken(core: &mut Core, die: DieId) -> u32 {
    // What is mapped elsewhere is stale where it was. The map says so too, but to look there is the greatest single cost of a flash page.
    retain_moved(core, die, |groups, layout, moved| groups.is_valid(layout.group(moved.from), layout.offset(moved.from)));
    core.die(die).moved().len() as u32
}

/// Begin to empty `victim`, which is programmed up to `end`.
fn begin(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId, victim: BlockGroup, cause: Cause, end: u32) {
    core.groups_mut().start_gc(victim);
    if !core.die(die).rewrites().parked().is_empty() {
        core.die_mut(die).change_rewrites(|rewrites| rewrites.drop_parked(victim));
    }
    let groups = core.groups();
    let (valid, spared) = (groups.valid(victim), core.layout().data_units - groups.usable(victim));
    core.die_mut(die).begin_job(victim, cause, end, (valid, spared));
    if valid == 0 {
        earn(core, die, 0);
    }
    news::tell(core, panel, metadata, News::VictimChosen { victim, why: cause });
}

/// Program units that the `open` group still takes.
fn programs_left(core: &Core, open: &Open) -> u32 {
    let (groups, layout) = (core.groups(), core.layout());
    if groups.can_spare() {
        return open.left(layout, |program| groups.is_spared(open.group, program));
    }
    layout.data_programs - open.ordered()
}

/// Units that the groups of `die` that are open for moved data still take, beside those that are gathered.
fn open_room(core: &Core, die: DieId) -> u32 {
    let (state, counters) = (core.die(die), u32::from(core.settings().counters));
    let programs: u32 = state.open(Stream::Moved).iter().map(|open| programs_left(core, open).saturating_sub(counters)).sum();
    (programs * core.layout().units_per_program).saturating_sub(state.moved().len() as u32)
}

/// Have a free group of `die` erased once more without sparing anything, if something is about to be emptied and a whole group's data would have nowhere to
/// go. Returns true if there is one.
#[cold]
fn make_plain(core: &mut Core, die: DieId) -> bool {
    let state = core.die(die);
    let is_to_move = state.is_short(core.settings().gc.start)
        || state.has_failed()
        || state.extra_victim().is_some()
        || state.rewrites().at(0).is_some();
    if !is_to_move {
        return false;
    }
    let open = open_room(core, die);
    let Some(group) = take_to_make_plain(core, die, open) else { return false };
    core.groups_mut().release(group);
    core.die_mut(die).give_erasable(group, Cause::Gc);
    true
}

fn end_job(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, sanitise: &mut Sanitise, die: DieId, job: Job) {
    let is_empty = core.groups_mut().drained(job.victim);
    if is_empty {
        metadata.hold(job.victim);
    }
    core.die_mut(die).end_job(is_empty);
    if is_empty {
        sanitise.seal(core, panel, metadata, job.victim);
    }
}

/// Count `moved` more units of the victim of `die` as moved: the host earns its share of the space gained.
#[inline]
fn earn(core: &mut Core, die: DieId, moved: u32) {
    let mut units = core.layout().data_units;
    if core.groups().can_spare() {
        units = core.die(die).job().map_or(units, |job| core.groups().usable(job.victim));
    }
    let policy = core.settings().gc.scheduler;
    let state = core.die_mut(die);
    let earned = policy.earned(moved, state.victim_valid(), units);
    state.set_credit(scheduler::add(state.credit(), earned));
}

/// Invalidate the data of `lpn` at `addr`.
#[inline]
pub(crate) fn invalidate(core: &mut Core, metadata: &mut Metadata, sanitise: &mut Sanitise, lpn: u32, addr: UnitAddr) {
    sanitise.expose(metadata, lpn, addr);
    let group = core.layout().group(addr);
    metadata.note_stale(group);
    if core.services().tolerances().is_some() {
        tolerances::left(core, lpn, group);
    }
    if core.groups_mut().invalidate(addr) {
        emptied(core, metadata, sanitise, group);
    }
    if core.failures().is_some() && core.groups().use_of(group) == Use::Lost {
        failures::heal(core, group);
    }
    if heeds_stale(core) {
        heed_stale(core, group);
    }
}

/// Pass on that the last unit of the drained `group` has become stale.
fn emptied(core: &mut Core, metadata: &mut Metadata, sanitise: &mut Sanitise, group: BlockGroup) {
    let die = core.layout().die(group);
    core.die_mut(die).emptied(group);
    metadata.hold(group);
    sanitise.note_emptied(group);
    core.wake(die);
}

/// Move the page that holds the valid unit at `offset`, or its whole program unit where copyback is agreed on. `is_barred`: not by copyback.
fn move_page(
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    sanitise: &mut Sanitise,
    (die, job, offset): (DieId, Job, u32),
    is_barred: bool,
) -> Option<Operation> {
    if !is_barred && can_copy_back(core, panel, die, &job, offset) && is_copyback_agreed(core, panel, die, &job, offset) {
        let copied = copy_back(core, panel, metadata, sanitise, die, job, offset / core.layout().units_per_program);
        // Where a technique refuses every place to a copyback, the data goes over the bus, which no technique can refuse.
        if copied.is_some() || !panel.has(Hook::Fit) {
            return copied;
        }
    }
    let per_page = core.layout().units_per_page;
    let first = core.layout().page_start(offset);
    // Counted beside: the baseline processor has no instruction that counts bits.
    let (mut units, mut count) = (0u64, 0);
    for unit in offset - first..per_page.min(job.end - first) {
        if core.groups().is_valid(job.victim, first + unit) {
            units |= 1 << unit;
            count += 1;
        }
    }
    core.die_mut(die).advance_job(first + per_page);
    earn(core, die, count);
    core.die_mut(die).begin_move();
    // All its units may become stale before the data comes; erased and written again, the block would then pass for what was read.
    core.groups_mut().pin(job.victim);
    let bytes = core.settings().unit_bytes(count);
    let tag = core.begin(Pending::read(Purpose::Move { units }, job.victim, offset, bytes, job.cause));
    Some(issue_read(core, panel, die, tag))
}

#[inline(never)]
fn is_copyback_agreed(core: &Core, panel: &mut Panel, die: DieId, job: &Job, offset: u32) -> bool {
    let from = ProgramUnit::new(core.layout(), job.victim, offset / core.layout().units_per_program);
    let to = next_group(core, panel, die, Data::Copied(job.victim, job.cause));
    if core.settings().counters && to.is_some_and(|to| core.die(die).open_at(to).is_some_and(|open| programs_left(core, &open) == 1)) {
        // No room would be left for the counters of the group, which has received no copy yet.
        return false;
    }
    let copy = Copy { from, to, why: job.cause };
    panel.way(&ctx(core), &copy) == Way::Copyback
}

/// True if dies copy back, some technique may want it, `offset` begins a program unit that is valid as a whole, and no units left over from another victim must
/// come first. What moves to be younger is corrected: a copy inside the die would be as old as before.
#[inline]
fn can_copy_back(core: &Core, panel: &Panel, die: DieId, job: &Job, offset: u32) -> bool {
    panel.has(Hook::Way) && core.settings().copyback && !is_to_correct(job.cause) && is_whole(core, die, job.victim, offset)
}

fn is_whole(core: &Core, die: DieId, victim: BlockGroup, offset: u32) -> bool {
    let (state, units) = (core.die(die), core.layout().units_per_program);
    // Units left over from the victim before hold its block until they are programmed: with no other block free, they must not be overtaken by copybacks.
    let roomy = state.free_count() > 0 || (state.moved().is_empty() && state.moves_under_way() == 0);
    roomy && offset.is_multiple_of(units) && (offset..offset + units).all(|offset| core.groups().is_valid(victim, offset))
}

fn copy_back(
    core: &mut Core,
    panel: &mut Panel,
    metadata: &mut Metadata,
    sanitise: &mut Sanitise,
    die: DieId,
    job: Job,
    from_program: u32,
) -> Option<Operation> {
    let ProgramPlace { group, program, closes } = next_program(core, panel, metadata, die, Data::Copied(job.victim, job.cause))?;
    let layout = *core.layout();
    core.die_mut(die).advance_job((from_program + 1) * layout.units_per_program);
    earn(core, die, layout.units_per_program);
    let purpose = Purpose::Copyback { from: job.victim, from_program, program, closes };
    let tag = core.begin(Pending::new(purpose, group, 0, Bytes(0)));
    let from = layout.all_planes(core.groups().blocks(job.victim), layout.first_page(from_program));
    let to = layout.all_planes(core.groups().blocks(group), layout.first_page(program));
    core.die_mut(die).programs_mut().now_mut().begin();
    sanitise.note_copying(die, (job.victim, from_program * layout.units_per_program));
    Some(core.issue(die, tag, OperationKind::Copyback { from, to, is_set: core.sets_programs() }, job.cause))
}

/// Program the gathered units. `None`: no block is left to take them.
#[inline(always)]
fn program_moved(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, die: DieId) -> Option<Operation> {
    let place = next_program(core, panel, metadata, die, Data::Gathered)?;
    let (units, changes) = (core.layout().units_per_program, core.changes().count());
    core.die_mut(die).batch_moved(units, changes);
    let cause = core.die(die).moved_cause();
    Some(program_batch(core, panel, place, cause))
}

/// Program the counts of copies of a group that is open for moved data on `die`, has received a copy and has one program unit left.
#[cold]
#[inline(never)]
fn program_counters(core: &mut Core, panel: &mut Panel, die: DieId) -> Option<Operation> {
    let services = core.services().get()?;
    let open = core.die(die).open(Stream::Moved);
    let at = open.iter().position(|open| services.has_copies(open.group) && programs_left(core, open) == 1)?;
    let program = open[at].next(core.layout())?;
    let units = core.layout().units_per_program;
    let (group, closes) = core.take_program(die, Stream::Moved, at, program);
    core.die_mut(die).programs_mut().now_mut().fill_counters(units);
    Some(program_batch(core, panel, ProgramPlace { group, program, closes }, Cause::Recovery))
}

/// Order a program, at `place`, of the units gathered by the die.
#[inline(always)]
pub(crate) fn program_batch(core: &mut Core, panel: &mut Panel, place: ProgramPlace, cause: Cause) -> Operation {
    let ProgramPlace { group, program, closes } = place;
    set_program(core, panel, group, program);
    core.issue_program(group, program, Purpose::Program { program, closes }, cause)
}

/// True if the buffer has a program unit to write: a full one, or one that must not wait.
#[inline]
pub(crate) fn has_program(core: &Core, metadata: &Metadata, now: Nanos) -> bool {
    if !metadata.has_place() {
        return false;
    }
    let complete = core.buffer().complete();
    complete >= core.layout().units_per_program || (complete > 0 && is_forced(core, metadata, now))
}

fn is_forced(core: &Core, metadata: &Metadata, now: Nanos) -> bool {
    if metadata.flushes_press(core) || core.requests().waiting() > 0 {
        return true;
    }
    match core.settings().schedule.linger {
        Some(linger) => core.buffer().oldest_complete().is_some_and(|entered| entered + linger <= now),
        None => core.buffer().is_awaited(),
    }
}
