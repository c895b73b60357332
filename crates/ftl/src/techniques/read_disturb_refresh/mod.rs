//! Rewrite a block before read disturb makes it unreadable.
//!
//! Every read of a page weakly programs the other pages of its block. The firmware cannot see that happen; it can count reads, and see reads that need retries
//! or correct many bits. At a trigger the block's data is moved and the block erased, which resets the disturb.
//!
//! ```text
//!   reads_max │ trigger_retries │ trigger_errors ──► rewrite: at once; without a deadline where all valid data is hinted, and guarded
//!   guard: reads that a search serves │ a search ──► rewrite: at once
//! ```
//!
//! A rewrite without a deadline is for techniques that hold it back, and there is none without the guard: that is where data would be lost.
//!
//! The counts outlast a power cut in steps of an eighth of the limit. Afterwards every block passes for one that was about to complete its step, so its next
//! read completes it and is written down. To round down instead would be no bound at all: a drive that loses its power often enough would rewrite nothing.

use std::sync::Arc;

use wordline_flash::ReadTry;
use wordline_flash::tables::Disturb;
use wordline_units::{Cause, Tolerance};

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Site, Value, params};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Card, Ctx, Memo, News, Persists, ReadReport, Technique, ignores};
use crate::techniques::work::{NEVER, Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "read-disturb-refresh",
        source: "common practice; 004 §2 describes it as the read-induced rewrite of today's drives",
        claim: "no block is read more than the limit, and a little, between two erases, power cuts or not, unless the host tolerates it",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::Work, Hook::Remember]),
        asks: &[],
        persists: Persists::Memos("page reads since the last erase, written down at each eighth of the limit"),
        limits: "counts reads of the whole block, not of each page's neighbours; reads that arrive while the block is being moved still count on it; \
                 a drive that is worn out may have no room to write counts down; each power cut may add an eighth of the limit to what a block counts that is \
                 read before the next one; reads of a block for GC do not trigger; a trigger that data has just after program rewrites its block \
                 again and again",
    },
    about: "rewrite a block that has been read so often since its last erase that read disturb nears the limit of error correction.",
    params: Params::ALL,
    needs: &[],
};

params! {
    /// Parameters of read-disturb refresh.
    pub struct Params {
        /// Page reads of one block group between two erases; 0: no number of reads has it rewritten.
        reads_max: u32 {
            kind: Kind::Count { least: 0, most: u32::MAX },
            default: None,
            tried: &[Value::Count(3), Value::Count(16), Value::Count(40), Value::Count(200)],
            source: "common practice; 004 §2",
        }
        /// Tries after the first of a read that have its block group rewritten; 0: none have.
        trigger_retries: u32 {
            kind: Kind::Count { least: 0, most: 255 },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0), Value::Count(1)],
            source: "004 §2: drives rewrite blocks whose reads have become long",
        }
        /// Bits corrected in the worst codeword of a read at the default references that have its block group rewritten; 0: none have.
        trigger_errors: u32 {
            kind: Kind::Count { least: 0, most: u32::MAX },
            default: Some(Value::Count(0)),
            tried: &[Value::Count(0), Value::Count(40)],
            source: "assumed: a count of errors is the earliest sign that a read has of disturb",
        }
        /// Has a block group rewritten at once, whatever is tolerated, that was read as often as `disturb.searched` of the chip at its P/E count, or of which a
        /// read needed the search for references.
        guard: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(false)),
            tried: &[],
            source: "assumed: data must not be lost for a hint",
        }
    }
}

impl Params {
    /// Parameters with which `reads_max` reads alone are a trigger.
    pub const fn by_reads(reads_max: u32) -> Params {
        Params { reads_max, trigger_retries: 0, trigger_errors: 0, guard: false }
    }
}

/// Steps of a count from erase to limit.
const STEPS: u32 = 8;

/// Counts the reads of each group.
#[derive(Clone, Debug)]
pub struct ReadDisturbRefresh {
    params: Params,
    reads: Vec<u32>,
    /// Reads that a block stands, by the chip's table.
    table: Option<Arc<Disturb>>,
    /// Least number of reads that has a group rewritten.
    least: Option<u32>,
    /// Reads of a group from one memo to the next; 0: nothing goes by the count.
    step: u32,
}

impl ReadDisturbRefresh {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let table = site.tables.disturb.clone().filter(|table| params.guard && !table.searched.is_empty());
        let guards = table.iter().flat_map(|table| &table.searched).map(|&reads| u32::try_from(reads).unwrap_or(u32::MAX));
        let least = guards.chain([params.reads_max]).filter(|&reads| reads > 0).min();
        let step = least.map_or(0, |least| (least / STEPS).max(1));
        ReadDisturbRefresh { params, reads: vec![0; site.layout.group_count()], table, least, step }
    }

    /// True if the last `times` reads of `group` have brought their number to a multiple of `every`, or beyond one; 0: there are none.
    fn has_passed(&self, group: BlockGroup, times: u32, every: u32) -> bool {
        let reads = self.reads[group.index()];
        every > 0 && reads / every > reads.saturating_sub(times) / every
    }

    /// True if the read of `report` shows that its data stands hardly any more of them.
    fn is_guarded(&self, ctx: &Ctx<'_>, report: &ReadReport) -> bool {
        let group = report.at.group;
        // A bin that promises nothing guards nothing: each read would have the group rewritten.
        let searched = || self.table.as_ref()?.searched(ctx.view.erases(group)).filter(|&most| most > 0);
        let is_read_out = || searched().is_some_and(|most| u64::from(self.reads[group.index()]) >= most);
        self.params.guard && (report.last == ReadTry::SEARCH || is_read_out())
    }

    /// True if the read of `report` was so long, or corrected so many bits, that its group is to be rewritten.
    fn is_telling(&self, report: &ReadReport) -> bool {
        let Params { trigger_retries, trigger_errors, .. } = self.params;
        let is_long = trigger_retries > 0 && report.retries >= trigger_retries;
        is_long || (trigger_errors > 0 && report.last == ReadTry::DEFAULT && report.worst >= trigger_errors)
    }
}

impl Technique for ReadDisturbRefresh {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn reads_most(&self) -> Option<u32> {
        self.least
    }

    fn doubt(&self) -> Option<String> {
        let Params { reads_max, trigger_retries, trigger_errors, guard } = self.params;
        if guard && self.table.is_none() {
            return Some("the chip has no disturb.searched, so the guard goes by reads that need a search alone".to_owned());
        }
        let has_none = reads_max == 0 && trigger_retries == 0 && trigger_errors == 0 && !guard;
        has_none.then(|| "it has no trigger and no guard, so it rewrites nothing".to_owned())
    }

    fn image(&self) -> Vec<u32> {
        self.reads.clone()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let fits = state.len() == self.reads.len();
        if fits {
            self.reads.copy_from_slice(state);
        }
        fits
    }

    fn recover(&mut self, groups: &BlockGroups, memos: &[Memo]) {
        let step = self.step.max(1);
        for (index, reads) in self.reads.iter_mut().enumerate() {
            *reads = if groups.valid(BlockGroup(index as u32)) > 0 { step - 1 } else { 0 };
        }
        for memo in memos {
            self.reads[memo.group.index()] = memo.value.saturating_add(step - 1);
        }
    }

    fn learn(&mut self, _ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ReadReport { at, times, .. }) => {
                self.reads[at.group.index()] = self.reads[at.group.index()].saturating_add(times);
            }
            News::Erased(report) => self.reads[report.group.index()] = 0,
            ignores!(
                Programmed,
                Copied,
                Unmeasured,
                Opened,
                Closed,
                VictimChosen,
                Moved,
                Retired,
                DataLost,
                DieFailed,
                Stopped,
                Timer,
                Idle
            ) => {}
        }
    }

    fn remember(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Memo> {
        let News::Read(ReadReport { at, times, .. }) = *news else {
            return None;
        };
        let value = self.reads[at.group.index()];
        self.has_passed(at.group, times, self.step).then_some(Memo { group: at.group, slot: 0, value })
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Read(report) = news else {
            return None;
        };
        let (group, limit) = (report.at.group, self.params.reads_max);
        let due = if self.is_guarded(ctx, report) {
            ctx.now
        } else if !self.params.guard || ctx.view.units_tolerating(group, Tolerance::Default) > 0 || ctx.view.valid(group) == 0 {
            // At the limit it must not wait for anybody.
            let is_read_out = limit > 0 && self.reads[group.index()] >= limit;
            (is_read_out || self.is_telling(report)).then_some(ctx.now)?
        } else {
            // Once for each so many reads: what was dropped comes again.
            (self.has_passed(group, report.times, limit) || self.is_telling(report)).then_some(NEVER)?
        };
        Some(Work { kind: WorkKind::Rewrite(group), cause: Cause::Disturb, due })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};
    use crate::state::Core;
    use crate::state::tolerances::hint;
    use crate::techniques::apply::ctx;
    use crate::techniques::empty::EmptyCore;
    use crate::techniques::seam::{EraseReport, FlashPage};
    use wordline_flash::{Status, Tables};
    use wordline_units::{Nanos, PageId, PlaneId};

    const NONE: Params = Params::by_reads(0);

    fn technique(reads_max: u32) -> (ReadDisturbRefresh, EmptyCore) {
        let config = small(64);
        let layout = config.layout();
        let site = Site::bare(&layout, &config.sheet);
        (ReadDisturbRefresh::new(&site, Params::by_reads(reads_max)), EmptyCore::new(layout))
    }

    fn read(group: u32) -> News {
        News::Read(ReadReport {
            at: FlashPage { group: BlockGroup(group), plane: PlaneId(0), page: PageId(0) },
            cause: Cause::Host,
            status: Status::Good,
            retries: 0,
            last: ReadTry::DEFAULT,
            worst: 0,
            tally: None,
            array: Nanos(1),
            times: 1,
        })
    }

    #[test]
    fn a_group_is_rewritten_at_once_from_the_last_read_that_it_may_have() {
        let (mut technique, core) = technique(3);
        let ctx = core.ctx(Nanos(50));
        let mut due = Vec::new();
        for _ in 0..4 {
            technique.learn(&ctx, &read(2));
            due.push(technique.work(&ctx, &read(2)).map(|work| (work.kind, work.due)));
        }
        let rewrite = Some((WorkKind::Rewrite(BlockGroup(2)), Nanos(50)));
        assert_eq!(due, [None, None, rewrite, rewrite]);
        assert_eq!(technique.work(&ctx, &read(1)), None, "another group was not read");
        technique.learn(&ctx, &News::Erased(EraseReport::without_erase(BlockGroup(2))));
        assert_eq!(technique.work(&ctx, &read(2)), None);
    }

    #[test]
    fn after_a_power_cut_no_count_is_lower_than_it_was() {
        let (mut technique, core) = technique(80);
        let ctx = core.ctx(Nanos(1));
        let mut memo = 0;
        for reads in 1..=75 {
            technique.learn(&ctx, &read(0));
            memo = technique.remember(&ctx, &read(0)).map_or(memo, |memo| memo.value);
            let (mut later, _) = self::technique(80);
            later.recover(core.groups(), &[Memo { group: BlockGroup(0), slot: 0, value: memo }]);
            let count = later.image()[0];
            assert!((reads..reads + 20).contains(&count), "{count} after {reads} reads");
        }
    }

    /// A core of which the first 60 of 64 units are written, and the technique on chips whose data a search serves for 50 reads.
    fn trial(params: Params) -> (Core, ReadDisturbRefresh) {
        let config = small(64);
        let table = Disturb { pe: vec![1_000], searched: vec![50], ..Disturb::default() };
        let tables = Tables { disturb: Some(Arc::new(table)), ..Tables::NONE };
        let layout = config.layout();
        let technique = ReadDisturbRefresh::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, params);
        let Rooms { mut core, mut sanitise, .. } = build(&config);
        construct::fill(&mut core, &mut sanitise, 60);
        core.services_mut().keep_tolerances(true);
        (core, technique)
    }

    /// Deadline of the rewrite that is wanted after this read of group 0.
    fn wanted(core: &Core, technique: &mut ReadDisturbRefresh, report: impl Fn(&mut ReadReport)) -> Option<Nanos> {
        let News::Read(mut told) = read(0) else { unreachable!("it is a read") };
        report(&mut told);
        technique.learn(&ctx(core), &News::Read(told));
        technique.work(&ctx(core), &News::Read(told)).map(|work| work.due)
    }

    #[test]
    fn a_long_read_and_one_with_many_errors_trigger_at_once_where_anything_valid_has_no_hint_and_without_a_deadline_elsewhere() {
        let (mut core, mut technique) = trial(Params { trigger_retries: 2, trigger_errors: 30, guard: true, ..NONE });
        core.set_now(Nanos(7));
        for due in [Nanos(7), NEVER] {
            for (retries, worst, is_wanted) in [(0, 29, false), (1, 99, false), (2, 0, true), (0, 30, true)] {
                let told = wanted(&core, &mut technique, |report| {
                    (report.retries, report.worst) = (retries, worst);
                    report.last = if retries > 0 { ReadTry::vendor(1) } else { ReadTry::DEFAULT };
                });
                assert_eq!(told, is_wanted.then_some(due), "{retries} retries, {worst} errors");
            }
            hint(&mut core, (0, 60), Tolerance::Longer);
        }
    }

    #[test]
    fn hinted_data_is_wanted_moved_once_in_so_many_reads_and_the_guard_waits_for_nobody() {
        let (mut core, mut technique) = trial(Params { reads_max: 20, guard: true, ..NONE });
        hint(&mut core, (0, 60), Tolerance::Longer);
        let due: Vec<(u32, Option<Nanos>)> = (1..=52).map(|read| (read, wanted(&core, &mut technique, |_| ()))).collect();
        let now = Some(core.now());
        let told: Vec<_> = due.into_iter().filter(|(_, due)| due.is_some()).collect();
        assert_eq!(told, [(20, Some(NEVER)), (40, Some(NEVER)), (50, now), (51, now), (52, now)]);
        let (mut core, mut technique) = trial(Params { guard: true, ..NONE });
        hint(&mut core, (0, 60), Tolerance::Longer);
        assert_eq!(wanted(&core, &mut technique, |report| report.last = ReadTry::SEARCH), now, "a search is the last resort");
        assert_eq!(wanted(&core, &mut technique, |report| report.times = 100), now, "reads of a leap count");
    }

    #[test]
    fn without_a_guard_nothing_is_left_to_wait_and_a_bin_that_promises_nothing_guards_nothing() {
        let (mut core, mut technique) = trial(Params { reads_max: 2, ..NONE });
        hint(&mut core, (0, 60), Tolerance::Longer);
        let due: Vec<_> = (0..3).map(|_| wanted(&core, &mut technique, |_| ())).collect();
        assert_eq!(due, [None, Some(core.now()), Some(core.now())], "data would be lost");
        let (core, mut technique) = trial(Params { guard: true, ..NONE });
        technique.table = Some(Arc::new(Disturb { pe: vec![1_000], searched: vec![0], ..Disturb::default() }));
        assert_eq!(wanted(&core, &mut technique, |_| ()), None);
    }

    #[test]
    fn the_least_number_of_reads_that_rewrites_is_that_of_the_limit_or_the_guard() {
        let most = |params| trial(params).1.reads_most();
        assert_eq!([NONE, Params::by_reads(7)].map(most), [None, Some(7)]);
        assert_eq!(most(Params { guard: true, ..Params::by_reads(70) }), Some(50));
    }

    #[test]
    fn what_rewrites_nothing_is_told() {
        let doubt = |params| trial(params).1.doubt().unwrap_or_default();
        assert!(doubt(NONE).contains("no trigger") && doubt(Params { trigger_errors: 1, ..NONE }).is_empty());
        let bare = technique(9).0;
        assert!(bare.doubt().is_none() && bare.reads_most() == Some(9) && trial(NONE).1.reads_most().is_none());
        let config = small(64);
        let untold = ReadDisturbRefresh::new(&Site::bare(&config.layout(), &config.sheet), Params { guard: true, ..NONE });
        assert!(untold.doubt().is_some_and(|doubt| doubt.contains("disturb.searched")));
    }
}
