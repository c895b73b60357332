//! Erases spare the weakest wordlines of a block, in the mode that promises most writes (GuardedErase and longFTL).
//!
//! ```text
//!   errors of wordlines ──► the weakest ─┐
//!   WAF in intervals ──► selector ──► mode ──► share of erases ─┴──► next erase ──► groups for data of the host first
//! ```
//!
//! A spared wordline takes no data until the next erase, so a mode costs capacity, and capacity costs write amplification. A mode is a number of wordlines and
//! a share of erases that spare them, from the chip's table with the endurance that it is worth.

mod declaration;
mod monitor;
mod selector;
mod survey;

use wordline_units::Wear;

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::census::Census;
use crate::techniques::declaration::Site;
use crate::techniques::seam::{Card, Ctx, EraseReport, Fit, IdleWordlines, Leap, Memo, Moving, News, Place, Technique, Why, Worn, ignores};
use crate::techniques::weak_order::WeakOrder;
use crate::techniques::work::Work;
pub use declaration::{DECLARATION, Params, Relief, Target};
use monitor::WafMonitor;
pub use selector::Selector;
use survey::Surveys;

/// Memo slot of the cycles that guarded erases have saved a group.
const SAVED: u8 = 0;
/// Memo slot of the mode: decisions · [`MODES`] + mode.
const MODE: u8 = 1;
/// More modes than a table may have.
const MODES: u32 = 128;

/// Mark of a group that was not chosen as a victim since its erase.
const UNCHOSEN: u32 = u32::MAX;

/// Parts of an erase in which shares are counted.
const WHOLE: i64 = 1 << 16;
/// Erases up to which a share that could not be met is made up for.
const OWED_MOST: i64 = 64 * WHOLE;
/// Parts of a cycle in which saved cycles are counted.
const PARTS: f64 = 256.0;

/// Mode of guarded erases.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mode {
    /// Wordlines that a guarded erase spares.
    wordlines: u32,
    /// Share of guarded erases among all, in parts of [`WHOLE`].
    share: i64,
    /// Cycles that a guarded erase saves, in [`PARTS`].
    saves: u32,
}

impl Mode {
    fn new(wordlines: u32, share: f64, endurance: f64) -> Mode {
        // With its share of guarded erases a cycle costs 1 / endurance in the mean.
        let saves = if share > 0.0 { (1.0 - 1.0 / endurance) / share } else { 0.0 };
        Mode { wordlines, share: (share * WHOLE as f64).round() as i64, saves: (saves * PARTS).floor() as u32 }
    }
}

/// Guarded erases of all groups.
#[derive(Clone, Debug)]
pub struct GuardedErase {
    params: Params,
    modes: Vec<Mode>,
    order: WeakOrder,
    surveys: Surveys,
    selector: Selector,
    monitor: WafMonitor,
    /// Guarded erases that are owed, in parts of [`WHOLE`].
    owed: i64,
    /// Groups that data of the host has opened, less guarded erases: what can be guarded without moved data getting any of it.
    openings: i64,
    /// Cycles that guarded erases have saved each group, in [`PARTS`].
    saved: Vec<u32>,
    /// Units that were to be moved out of each group when it was chosen, until it is erased; [`UNCHOSEN`] in others, among them those of metadata.
    moved: Vec<u32>,
    /// True if the fixed mode is more than the table has.
    is_beyond: bool,
}

impl GuardedErase {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let told = site.tables.guard.as_deref().map_or(&[][..], |guard| &guard.modes);
        let order = WeakOrder::new(site);
        let most = order.count().saturating_sub(1);
        let mode = |told: &wordline_flash::tables::GuardMode| match params.relief {
            Relief::Lowest => Mode::new(told.wordlines.min(most), told.share, told.endurance),
            Relief::All => Mode::new(((f64::from(told.wordlines) * told.share).round() as u32).min(most), 1.0, told.endurance),
        };
        let modes: Vec<Mode> = std::iter::once(Mode::new(0, 0.0, 1.0)).chain(told.iter().map(mode)).collect();
        let endurance = std::iter::once(1.0).chain(told.iter().map(|mode| mode.endurance)).collect();
        let groups = site.layout.group_count();
        let monitor = WafMonitor::new(groups as u32, f64::from(params.band) / 1_000.0);
        let mut selector = Selector::new(endurance, monitor.band());
        if params.target == Target::Fixed {
            selector.begin(params.mode as usize, 0);
        }
        GuardedErase {
            is_beyond: params.target == Target::Fixed && params.mode as usize >= modes.len(),
            params,
            modes,
            order,
            surveys: Surveys::new(site, params.survey_every, params.relief == Relief::All),
            selector,
            monitor,
            owed: 0,
            openings: 0,
            saved: vec![0; groups],
            moved: vec![UNCHOSEN; groups],
        }
    }

    fn mode(&self) -> &Mode {
        &self.modes[self.selector.mode()]
    }

    /// True if erases of the present mode spare something.
    fn spares(&self) -> bool {
        self.mode().wordlines > 0
    }

    /// Cycles that the wear of `group` is worth, in [`PARTS`].
    fn cycles(&self, group: BlockGroup, erases: u32) -> u64 {
        (u64::from(erases) * PARTS as u64).saturating_sub(u64::from(self.saved[group.index()]))
    }

    fn wear(&self, cycles: u64) -> Wear {
        let thousandths = (cycles * 1_000).div_ceil(PARTS as u64 * u64::from(self.params.cycles_max));
        Wear(thousandths.min(u64::from(u16::MAX) - 1) as u16)
    }

    fn learn_erase(&mut self, ctx: &Ctx<'_>, group: BlockGroup, has_left: bool) {
        if has_left {
            self.saved[group.index()] = 0;
            self.surveys.forget(group);
            return;
        }
        // An erase that was to spare something may have been made plain.
        let is_guarded = ctx.view.is_guarded(group);
        let Mode { share, saves, .. } = *self.mode();
        if is_guarded {
            self.saved[group.index()] = self.saved[group.index()].saturating_add(saves);
            self.openings -= 1;
        }
        let owed = self.owed + share - if is_guarded { WHOLE } else { 0 };
        self.owed = owed.clamp(-OWED_MOST, OWED_MOST);
        let moved = std::mem::replace(&mut self.moved[group.index()], UNCHOSEN);
        if self.params.target == Target::Adaptive
            && moved != UNCHOSEN
            && let Some(waf) = self.monitor.erased(ctx.view.usable(group), moved)
            && self.selector.measure(waf)
        {
            self.owed = 0;
            self.monitor.begin(held(ctx));
        }
    }
}

/// Units that the core holds.
fn held(ctx: &Ctx<'_>) -> u64 {
    (0..ctx.view.layout().group_count() as u32).map(|group| u64::from(ctx.view.valid(BlockGroup(group)))).sum()
}

impl Technique for GuardedErase {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn censuses(&self) -> Vec<Census> {
        let mode = self.selector.mode() as u32;
        let cycles = self.saved.iter().map(|&saved| saved / PARTS as u32);
        vec![Census::new(Census::MODE, self.saved.iter().map(|_| mode)), Census::new("saved cycles", cycles)]
    }

    fn image(&self) -> Vec<u32> {
        let selector = self.selector.image();
        let counts = [self.owed as u32, self.openings as u32];
        counts.into_iter().chain(selector).chain(self.saved.iter().copied()).chain(self.surveys.image()).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let selector = self.selector.image().len();
        let Some(([owed, openings], state)) = state.split_first_chunk::<2>() else { return false };
        let Some((of_selector, state)) = state.split_at_checked(selector) else { return false };
        let Some((saved, surveys)) = state.split_at_checked(self.saved.len()) else { return false };
        let mut selector = self.selector.clone();
        if !selector.restore(of_selector) || !self.surveys.restore(surveys) {
            return false;
        }
        if self.params.target == Target::Adaptive {
            self.selector = selector;
        }
        self.owed = i64::from(*owed as i32).clamp(-OWED_MOST, OWED_MOST);
        self.openings = i64::from(*openings as i32);
        self.saved.copy_from_slice(saved);
        self.monitor.begin(0);
        true
    }

    fn recover(&mut self, _groups: &BlockGroups, memos: &[Memo]) {
        (self.owed, self.openings) = (0, 0);
        self.saved.fill(0);
        self.moved.fill(UNCHOSEN);
        self.surveys.forget_all();
        self.monitor.begin(0);
        for memo in memos.iter().filter(|memo| memo.slot == SAVED) {
            self.saved[memo.group.index()] = memo.value;
        }
        let mode = memos.iter().filter(|memo| memo.slot == MODE).map(|memo| memo.value).max();
        if let (Target::Adaptive, Some(value)) = (self.params.target, mode) {
            self.selector.begin((value % MODES) as usize, value / MODES);
        }
    }

    fn leap(&mut self, leap: &Leap<'_>) {
        let Mode { share, saves, .. } = *self.mode();
        for (saved, &cycles) in self.saved.iter_mut().zip(leap.cycles) {
            let more = u64::from(cycles) * u64::from(saves) * share as u64 / WHOLE as u64;
            *saved = saved.saturating_add(more.min(u64::from(u32::MAX)) as u32);
        }
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ref report) => self.surveys.read(ctx, report),
            News::Unmeasured { at } => self.surveys.unmeasured(at),
            News::Erased(EraseReport { group, has_left, .. }) => self.learn_erase(ctx, group, has_left),
            News::Opened { moved, .. } => self.openings = (self.openings + i64::from(!moved)).min(OWED_MOST / WHOLE),
            News::Closed { group } => {
                if self.spares() {
                    self.surveys.closed(ctx, group);
                }
            }
            News::VictimChosen { victim, .. } => {
                self.moved[victim.index()] = ctx.view.valid(victim);
                self.surveys.stop(victim);
            }
            ignores!(Programmed, Copied, Moved, Retired, DataLost, DieFailed, Stopped, Timer, Idle) => {}
        }
    }

    fn work(&self, _: &Ctx<'_>, news: &News) -> Option<Work> {
        self.surveys.work(news)
    }

    fn erase_settings(&self, _: &Ctx<'_>, group: BlockGroup) -> Option<IdleWordlines> {
        let is_due = self.spares() && self.owed > 0 && (self.params.spill || self.openings > 0);
        is_due.then(|| self.order.weakest(self.mode().wordlines, |wordline| self.surveys.errors(group, wordline)).into())
    }

    fn fit(&self, ctx: &Ctx<'_>, data: &Moving, to: &Place) -> Fit {
        let is_guarded = ctx.view.is_guarded(to.group);
        let suits = to.is_open || is_guarded == (data.from.is_none() && self.spares());
        if suits { Fit::Exact } else { Fit::Loose(1) }
    }

    fn tells_open_apart(&self) -> bool {
        false
    }

    fn is_settled(&self) -> bool {
        self.params.target == Target::Fixed || self.selector.is_settled()
    }

    fn remember(&self, _: &Ctx<'_>, news: &News) -> Option<Memo> {
        match *news {
            News::Erased(EraseReport { group, has_left: false, .. }) => {
                let value = self.saved[group.index()];
                (value > 0).then_some(Memo { group, slot: SAVED, value })
            }
            News::Closed { group } => {
                let value = self.selector.decisions() * MODES + self.selector.mode() as u32;
                (value > 0 && self.params.target == Target::Adaptive).then_some(Memo { group, slot: MODE, value })
            }
            ignores!(
                Erased,
                Read,
                Programmed,
                Copied,
                Unmeasured,
                Opened,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => None,
        }
    }

    fn measured_pages(&self) -> u32 {
        if self.params.target == Target::Adaptive || self.spares() { self.surveys.pages() } else { 0 }
    }

    fn idle_share(&self) -> f64 {
        let of = |mode: &Mode| f64::from(mode.wordlines) * mode.share as f64 / (WHOLE as f64 * f64::from(self.order.count()));
        match self.params.target {
            Target::Fixed => of(self.mode()),
            Target::Adaptive => self.modes.iter().map(of).fold(0.0, f64::max),
        }
    }

    fn doubt(&self) -> Option<String> {
        let (last, band) = (self.modes.len() - 1, 100.0 * self.monitor.band());
        if self.is_beyond {
            return Some(format!("mode {} is more than the chip's table has: the last, {last}, is taken", self.params.mode));
        }
        if self.params.target == Target::Fixed {
            return None;
        }
        let is_widened = self.monitor.band() > f64::from(self.params.band) / 1_000.0;
        let widened = is_widened
            .then(|| format!("the core has few block groups, so write amplification counts as steady within {band:.1} % of its mean"));
        let idle = (self.params.mode > 0).then(|| {
            format!("mode {} is set and has no effect, as the target is adaptive: target = \"fixed\" stays in it", self.params.mode)
        });
        let all: Vec<String> = idle.into_iter().chain(widened).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn wear_of(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Result<Worn, Why> {
        Ok(Worn::measured(self.wear(self.cycles(group, ctx.view.erases(group)))))
    }

    fn wear_after(&self, ctx: &Ctx<'_>, group: BlockGroup, erases: u32) -> Option<Wear> {
        let Mode { share, saves, .. } = *self.mode();
        let more = u64::from(erases) * (PARTS as u64).saturating_sub(u64::from(saves) * share as u64 / WHOLE as u64);
        Some(self.wear(self.cycles(group, ctx.view.erases(group)) + more))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordline_flash::tables::{Guard, GuardMode, Tables};
    use wordline_units::{Cause, DieId, WordlineSet};

    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::build;
    use crate::state::Core;
    use crate::techniques::apply::ctx;
    use crate::techniques::say::Way;

    const PARAMS: Params =
        Params { target: Target::Fixed, mode: 1, relief: Relief::Lowest, spill: true, survey_every: 128, cycles_max: 100, band: 20 };

    /// A core of ten groups of four wordlines, and the technique with modes of one wordline in a quarter of erases and two in half of them.
    fn trial(params: Params) -> (Rooms, GuardedErase) {
        let mut sheet = small(64).sheet;
        sheet.capabilities.guarded_erase = true;
        let config = crate::Config { spared_max: 2, exported_units: 24, sheet, ..small(64) };
        let modes = vec![GuardMode { wordlines: 1, share: 0.25, endurance: 1.19 }, GuardMode { wordlines: 2, share: 0.5, endurance: 1.45 }];
        let order = (0..config.sheet.geometry.layers).collect();
        let tables = Tables { guard: Some(Arc::new(Guard { order, modes, ..Guard::default() })), ..Tables::NONE };
        let layout = config.layout();
        let technique = GuardedErase::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, params);
        (build(&config), technique)
    }

    /// Erases `group`, as the technique wants it, or plainly if `is_plain`. Returns true if the erase spared something.
    fn erase(core: &mut Core, technique: &mut GuardedErase, group: BlockGroup, is_plain: bool) -> bool {
        if let Some(idle) = technique.erase_settings(&ctx(core), group) {
            core.groups_mut().spare_next(group, idle).expect("two may be spared");
        }
        core.groups_mut().begin_erase(group, is_plain);
        let erases = core.groups().erases(group);
        core.groups_mut().erased(group);
        core.groups_mut().set_erases(group, erases + 1);
        let is_guarded = core.view().usable(group) < core.layout().data_units;
        let report = EraseReport { has_left: false, ..EraseReport::without_erase(group) };
        technique.learn(&ctx(core), &News::Erased(report));
        is_guarded
    }

    /// Takes all groups out of those that are free, so that they can be erased.
    fn emptied(rooms: &mut Rooms) -> Vec<BlockGroup> {
        let core = &mut rooms.core;
        std::iter::from_fn(|| {
            let group = core.die_mut(DieId(0)).take_free_at(0)?;
            core.groups_mut().open(group);
            core.groups_mut().close(group);
            core.groups_mut().start_gc(group);
            assert!(core.groups_mut().drained(group));
            Some(group)
        })
        .collect()
    }

    /// Erases one group `times` times and returns how many of them spared something.
    fn guarded(params: Params, times: u32, is_plain: impl Fn(u32) -> bool) -> (u32, GuardedErase) {
        let (mut rooms, mut technique) = trial(params);
        let group = emptied(&mut rooms)[0];
        let count = (0..times).filter(|&time| {
            let core = &mut rooms.core;
            let is_guarded = erase(core, &mut technique, group, is_plain(time));
            core.groups_mut().open(group);
            core.groups_mut().close(group);
            core.groups_mut().start_gc(group);
            assert!(core.groups_mut().drained(group));
            is_guarded
        });
        (count.count() as u32, technique)
    }

    #[test]
    fn the_share_of_the_mode_is_met_and_what_was_refused_is_made_up_for() {
        for (mode, times, share) in [(0, 40, 0), (1, 40, 10), (2, 40, 20)] {
            assert_eq!(guarded(Params { mode, ..PARAMS }, times, |_| false).0, share, "mode {mode}");
        }
        assert_eq!(guarded(PARAMS, 80, |time| time < 40).0, 20, "forty of them were plain whatever was wanted");
        assert_eq!(guarded(Params { relief: Relief::All, mode: 2, ..PARAMS }, 40, |_| false).0, 39, "all but the first");
    }

    #[test]
    fn only_victims_count_for_write_amplification() {
        let (mut rooms, mut technique) = trial(Params { target: Target::Adaptive, ..PARAMS });
        let groups = emptied(&mut rooms);
        let erased = |technique: &mut GuardedErase, rooms: &Rooms, group| {
            technique.learn(&ctx(&rooms.core), &News::Erased(EraseReport { has_left: false, ..EraseReport::without_erase(group) }));
        };
        let settled = |technique: &GuardedErase| technique.selector != trial(Params { target: Target::Adaptive, ..PARAMS }).1.selector;
        (0..40).for_each(|_| erased(&mut technique, &rooms, groups[0]));
        assert!(!settled(&technique), "groups of metadata are no victims");
        for _ in 0..40 {
            technique.learn(&ctx(&rooms.core), &News::VictimChosen { victim: groups[0], why: Cause::Gc });
            erased(&mut technique, &rooms, groups[0]);
        }
        assert!(settled(&technique), "ten intervals of one erase each");
    }

    #[test]
    fn wordlines_that_another_technique_withholds_make_no_erase_a_guarded_one() {
        let (mut rooms, mut technique) = trial(PARAMS);
        let group = emptied(&mut rooms)[0];
        let core = &mut rooms.core;
        core.groups_mut()
            .spare_next(group, IdleWordlines { withheld: WordlineSet::of([0]), ..IdleWordlines::default() })
            .expect("one may be");
        core.groups_mut().begin_erase(group, false);
        core.groups_mut().erased(group);
        technique.learn(&ctx(core), &News::Erased(EraseReport { has_left: false, ..EraseReport::without_erase(group) }));
        assert!(core.view().usable(group) < core.layout().data_units && !core.view().is_guarded(group));
        assert_eq!((technique.saved[group.index()], technique.owed), (0, technique.mode().share), "it is still owed, and nothing is saved");
    }

    #[test]
    fn the_wear_of_a_group_that_meets_its_share_is_that_of_the_table() {
        for (mode, endurance) in [(0, 1.0), (1, 1.19), (2, 1.45)] {
            let (_, technique) = guarded(Params { mode, cycles_max: 1_000, ..PARAMS }, 400, |_| false);
            let cycles = technique.cycles(BlockGroup(0), 400) as f64 / PARTS;
            assert!((cycles - 400.0 / endurance).abs() < 2.0, "mode {mode}: {cycles} cycles");
        }
    }

    #[test]
    fn data_of_the_host_goes_to_groups_with_spared_wordlines_first_and_moved_data_to_whole_ones() {
        let (mut rooms, mut technique) = trial(PARAMS);
        let groups = emptied(&mut rooms);
        let erased: Vec<bool> = groups.iter().map(|&group| erase(&mut rooms.core, &mut technique, group, false)).collect();
        let guarded = groups[erased.iter().position(|&guarded| guarded).expect("a quarter is")];
        let plain = groups[0];
        let fit = |from: Option<BlockGroup>, group, is_open| {
            let data = Moving { from, way: Way::Bus, cause: Cause::Host };
            technique.fit(&ctx(&rooms.core), &data, &Place { group, is_open })
        };
        assert_eq!([guarded, plain].map(|group| fit(None, group, false)), [Fit::Exact, Fit::Loose(1)]);
        assert_eq!([guarded, plain].map(|group| fit(Some(plain), group, false)), [Fit::Loose(1), Fit::Exact]);
        assert_eq!([guarded, plain].map(|group| fit(Some(plain), group, true)), [Fit::Exact; 2], "open ones are all alike");
    }

    #[test]
    fn without_spill_no_more_is_guarded_than_data_of_the_host_opens() {
        let (mut rooms, mut technique) = trial(Params { spill: false, mode: 2, ..PARAMS });
        let groups = emptied(&mut rooms);
        let all = |rooms: &mut Rooms, technique: &mut GuardedErase, groups: &[BlockGroup]| {
            groups.iter().filter(|&&group| erase(&mut rooms.core, technique, group, false)).count()
        };
        assert_eq!(all(&mut rooms, &mut technique, &groups[..4]), 0, "the host has opened none");
        for moved in [false, true] {
            technique.learn(&ctx(&rooms.core), &News::Opened { group: groups[0], moved });
        }
        assert_eq!(all(&mut rooms, &mut technique, &groups[4..]), 1);
    }

    #[test]
    fn a_mode_of_nothing_asks_for_nothing_and_tells_no_place_from_another() {
        let (mut rooms, mut technique) = trial(Params { mode: 0, ..PARAMS });
        let groups = emptied(&mut rooms);
        for &group in &groups {
            assert!(!erase(&mut rooms.core, &mut technique, group, false));
            let closed = News::Closed { group };
            technique.learn(&ctx(&rooms.core), &closed);
            assert_eq!((technique.work(&ctx(&rooms.core), &closed), technique.remember(&ctx(&rooms.core), &closed)), (None, None));
            let data = Moving { from: None, way: Way::Bus, cause: Cause::Host };
            assert_eq!(technique.fit(&ctx(&rooms.core), &data, &Place { group, is_open: false }), Fit::Exact);
        }
        assert_eq!(technique.measured_pages(), 0);
    }

    #[test]
    fn saved_cycles_and_the_mode_come_back_from_memos_and_without_them_a_group_is_as_worn_as_its_erases() {
        let (rooms, mut technique) = trial(Params { target: Target::Adaptive, ..PARAMS });
        technique.selector.begin(2, 5);
        technique.saved[3] = 70;
        let erased = News::Erased(EraseReport { has_left: false, ..EraseReport::without_erase(BlockGroup(3)) });
        let memos = [erased, News::Closed { group: BlockGroup(7) }].map(|news| technique.remember(&ctx(&rooms.core), &news));
        let memos: Vec<Memo> = memos.into_iter().flatten().collect();
        let (_, mut back) = trial(Params { target: Target::Adaptive, ..PARAMS });
        back.recover(rooms.core.groups(), &memos);
        assert_eq!((back.selector.mode(), back.selector.decisions(), back.saved[3]), (2, 5, 70));
        back.recover(rooms.core.groups(), &[]);
        assert_eq!(back.saved[3], 0);
    }

    #[test]
    fn a_leap_saves_what_whole_cycles_would_have_saved() {
        let (_, whole) = guarded(Params { mode: 2, ..PARAMS }, 400, |_| false);
        let (_, mut technique) = guarded(Params { mode: 2, ..PARAMS }, 40, |_| false);
        let cycles: Vec<u32> = (0..10).map(|group| if group == 0 { 360 } else { 0 }).collect();
        technique.leap(&Leap { times: 9, cycles: &cycles, erases: &[40; 10] });
        let saved = [&whole, &technique].map(|technique| f64::from(technique.saved[0]) / PARTS);
        assert!((saved[0] - saved[1]).abs() < 1.0, "{saved:?}");
    }

    #[test]
    fn state_comes_back_from_its_image_and_a_fixed_mode_is_the_plans() {
        let (_, technique) = guarded(Params { target: Target::Adaptive, ..PARAMS }, 40, |_| false);
        let image = technique.image();
        let (_, mut back) = trial(Params { target: Target::Adaptive, ..PARAMS });
        assert!(back.restore(&image) && back.image() == image);
        assert!(!back.restore(&image[1..]) && !back.restore(&[]));
        let (_, mut fixed) = trial(Params { mode: 2, ..PARAMS });
        assert!(fixed.restore(&image));
        assert_eq!(fixed.selector.mode(), 2);
    }

    #[test]
    fn a_mode_beyond_the_table_is_its_last_and_is_told() {
        let (_, technique) = trial(Params { mode: 9, ..PARAMS });
        assert_eq!(technique.selector.mode(), 2);
        assert!(technique.doubt().is_some_and(|doubt| doubt.contains("mode 9")));
        assert_eq!(trial(PARAMS).1.doubt(), None);
        let adaptive = trial(Params { target: Target::Adaptive, ..PARAMS }).1;
        let doubt = adaptive.doubt().expect("it is small, and a mode is set");
        assert!(doubt.contains("28.3 %") && doubt.contains("mode 1 is set and has no effect"), "{doubt}");
    }
}
