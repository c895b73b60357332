//! The age of each block: how much of its life it has used, from what its erases and one read of each filling show (RealWear), or from its P/E count.
//!
//! ```text
//!   erase ──trace, rest──► provisional age ──program──► one page is read ──errors──► age of this filling
//! ```
//!
//! Each page of a block is as old as the block, so one page is measured, just after its program and with the default references, as the table was made. Until
//! then the errors of the filling before stand in. A block of which nothing has been seen is as old as the worst of its P/E count: never too young.

use std::sync::Arc;

use wordline_flash::tables::{Aging, Shown};
use wordline_flash::{EraseTrace, Status, Tally};
use wordline_units::{Cause, PageId, PlaneId};

use crate::state::groups::BlockGroups;
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Need, Site, Table, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{
    Ask, Card, Ctx, EraseReport, FlashPage, Kept, Leap, Memo, News, Persists, ProgramReport, ReadReport, Technique, Wear, Why, Worn,
    ignores,
};
use crate::techniques::work::{NEVER, Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "block-age",
        source: "RealWear: dissertation 000 of the papers, §3.2 and §3.3; its rivals PeWear, PeWear+ and PeWear++ are of §3.1.1 and §3.3.1",
        claim: "blocks of equal age have equal errors after a year, whatever their P/E counts are; measuring costs less than 1 % of IOPS and of writes",
        hooks: Hooks::of(&[Hook::Opened, Hook::Erased, Hook::Programmed, Hook::Read, Hook::Work, Hook::WearOf, Hook::Remember]),
        asks: &[Ask::EraseTrace, Ask::WarmClock],
        persists: Persists::Memos(
            "the age of each filling once it has been measured; without it a block is as old as the worst of its P/E count",
        ),
        limits: "of a group of several planes the block of the first is measured; a page that is programmed with other settings than the default has more errors, \
                 which makes blocks older and never younger; the first rest after a power cut counts as none; PeWear+ and PeWear++ are not raised to be safe",
    },
    about: "tells how much of its life each block has used, from its last erase and one page that is read just after its program (000 §3.2), or from its P/E count.",
    params: Params::ALL,
    needs: &[
        Need::Where("marker", Value::Word("age"), &Need::Table(Table::Aging)),
        Need::Where("marker", Value::Word("age"), &Need::EraseTrace),
        Need::Where("marker", Value::Word("plus"), &Need::Table(Table::Aging)),
        Need::Where("marker", Value::Word("plus-plus"), &Need::Table(Table::Aging)),
    ],
};

words! {
    /// Signs that an age is worked out from.
    pub enum Marker {
        /// P/E count, t_BERS, errors and rest: RealWear.
        Age = "age",
        /// P/E count alone: PeWear.
        Pe = "pe",
        /// P/E count and t_PROG: PeWear+.
        Plus = "plus",
        /// P/E count, t_PROG and errors: PeWear++.
        PlusPlus = "plus-plus",
    }
}

params! {
    /// Parameters of block ages.
    pub struct Params {
        /// Signs that the age is worked out from: "age" (P/E count, erase, errors and rest), "pe" (P/E count alone), "plus" (P/E count and t_PROG) or
        /// "plus-plus" (these and errors).
        marker: Marker {
            kind: Kind::Word(Marker::WORDS),
            default: Some(Value::Word("age")),
            tried: &[],
            source: "000 §3.2, §3.3.1",
        }
        /// With the marker "pe": P/E count at which a block is at the end of its life.
        cycles_max: u32 {
            kind: Kind::Count { least: 1, most: u32::MAX },
            default: Some(Value::Count(1_000)),
            tried: &[Value::Count(5), Value::Count(40), Value::Count(1_000)],
            source: "000 §3.4.4: 1K where no data may be lost, 8K where some may",
        }
    }
}

/// Errors in one number: sixteenths of a bit for each codeword.
const STEPS: f64 = 16.0;
/// Errors of a group of which no page has been measured.
const UNSEEN: u16 = u16::MAX;

/// Signs that one group has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signs {
    /// Wrong bits of the page measured last, for each codeword, in sixteenths.
    errors: u16,
    /// Rest before the last erase, in seconds.
    rest: u16,
    /// Trace of the last erase; no loops: none has been seen.
    loops: u8,
    part: u8,
    /// Age in thousandths; 0: not known.
    age: u16,
}

impl Signs {
    const NONE: Signs = Signs { errors: UNSEEN, rest: 0, loops: 0, part: 0, age: 0 };
}

/// Program times of one group since its erase, and the mean of the filling before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    /// Sum of this filling, in microseconds.
    sum: u32,
    programs: u16,
    /// Mean of the last whole filling, in eighths of a microsecond; 0: not known.
    before: u16,
}

/// Ages of all groups.
#[derive(Clone, Debug)]
pub struct BlockAge {
    params: Params,
    table: Option<Arc<Aging>>,
    signs: Vec<Signs>,
    /// Program times, with the markers that go by them.
    times: Vec<Times>,
    pages: u32,
    usual: Usual,
}

/// Ages that measured groups had, beside those of the worst groups of the same P/E counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usual {
    ages: u32,
    worst: u32,
}

impl Usual {
    /// Sum beyond which the older half of the measurements is let go.
    const FULL: u32 = 1 << 30;

    fn learn(&mut self, age: u16, worst: u16) {
        if self.ages.max(self.worst) >= Usual::FULL {
            *self = Usual { ages: self.ages / 2, worst: self.worst / 2 };
        }
        (self.ages, self.worst) = (self.ages + u32::from(age), self.worst + u32::from(worst));
    }

    /// Age that a group has in the mean where the worst has this one.
    fn of(self, worst: u16) -> u16 {
        let age = (u64::from(worst) * u64::from(self.ages)).div_ceil(u64::from(self.worst.max(1)));
        if self.worst == 0 { worst } else { age.clamp(1, u64::from(Aging::MOST)) as u16 }
    }
}

impl BlockAge {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let groups = site.layout.group_count();
        let is_timed = matches!(params.marker, Marker::Plus | Marker::PlusPlus);
        BlockAge {
            params,
            table: site.tables.aging.clone(),
            signs: vec![Signs::NONE; if params.marker == Marker::Pe { 0 } else { groups }],
            times: vec![Times::default(); if is_timed { groups } else { 0 }],
            pages: site.layout.data_programs * site.layout.pages_per_program,
            usual: Usual::default(),
        }
    }

    /// True if a page of each filling is measured.
    fn measures(&self) -> bool {
        matches!(self.params.marker, Marker::Age | Marker::PlusPlus)
    }

    /// Age at a P/E count, by that alone.
    fn by_cycles(&self, cycles: u32) -> Wear {
        let thousandths = (u64::from(cycles) * 1_000).div_ceil(u64::from(self.params.cycles_max));
        Wear(thousandths.clamp(1, u64::from(Aging::MOST)) as u16)
    }

    /// Age of a group with these signs; 0: too little is known.
    fn age(&self, table: &Aging, group: BlockGroup, cycles: u32) -> u16 {
        let signs = &self.signs[group.index()];
        let errors = (signs.errors != UNSEEN).then(|| f64::from(signs.errors) / STEPS);
        let program = self.times.get(group.index()).map(|times| f64::from(times.before) / 8.0).filter(|&mean| mean > 0.0);
        let age = match self.params.marker {
            Marker::Age => errors.filter(|_| signs.loops > 0).map(|errors| {
                let pulses = Shown::pulses_of(signs.loops, signs.part);
                table.age(&Shown { cycles, pulses, errors, rest: f64::from(signs.rest) })
            }),
            Marker::Plus => program.map(|program| table.age_plus(cycles, program)),
            Marker::PlusPlus => program.zip(errors).map(|(program, errors)| table.age_plus_plus(cycles, program, errors)),
            Marker::Pe => None,
        };
        age.unwrap_or(0).min(Aging::MOST)
    }

    fn learn_erase(&mut self, cycles: u32, report: &EraseReport) {
        let Some(table) = self.table.clone() else { return };
        let &EraseReport { group, has_left, trace, rest, .. } = report;
        if let Some(times) = self.times.get_mut(group.index()) {
            let mean =
                (times.sum * 8).checked_div(u32::from(times.programs)).map_or(times.before, |mean| mean.min(u32::from(u16::MAX)) as u16);
            *times = Times { before: if has_left { 0 } else { mean }, ..Times::default() };
        }
        let signs = &mut self.signs[group.index()];
        if has_left {
            *signs = Signs::NONE;
            return;
        }
        let EraseTrace { loops, part, .. } = trace.unwrap_or(EraseTrace { loops: 0, part: 0, stops: 0 });
        let rested = rest.map_or(0, |Kept { effective, .. }| effective.0.min(u64::from(table.rest_max)));
        *signs = Signs { errors: signs.errors, rest: rested.min(u64::from(u16::MAX)) as u16, loops, part, age: 0 };
        self.signs[group.index()].age = self.age(&table, group, cycles);
    }

    fn learn_measurement(&mut self, cycles: u32, group: BlockGroup, tally: Tally) {
        let Some(table) = self.table.clone() else { return };
        let errors = f64::from(tally.bits) / f64::from(tally.codewords.max(1)) * STEPS;
        self.signs[group.index()].errors = errors.round().min(f64::from(UNSEEN - 1)) as u16;
        let age = self.age(&table, group, cycles);
        self.signs[group.index()].age = age;
        if age > 0 {
            self.usual.learn(age, table.worst(cycles));
        }
    }
}

/// Group and tally of a read that measured a page well.
fn measured(news: &News) -> Option<(BlockGroup, Tally)> {
    let News::Read(ReadReport { at, cause: Cause::Measure, status: Status::Good, tally, .. }) = *news else { return None };
    Some((at.group, tally?))
}

impl Technique for BlockAge {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        let signs = self.signs.iter().flat_map(|signs| {
            let &Signs { errors, rest, loops, part, age } = signs;
            [u32::from(errors) << 16 | u32::from(rest), u32::from(loops) << 24 | u32::from(part) << 16 | u32::from(age)]
        });
        let times = self.times.iter().flat_map(|times| [times.sum, u32::from(times.programs) << 16 | u32::from(times.before)]);
        signs.chain(times).chain([self.usual.ages, self.usual.worst]).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let signs = 2 * self.signs.len();
        let Some((state, usual)) = state.split_at_checked(signs + 2 * self.times.len()) else { return false };
        self.usual = match *usual {
            // The drive was saved before this was kept.
            [] => Usual::default(),
            [ages, worst] => Usual { ages: ages.min(Usual::FULL), worst: worst.min(Usual::FULL) },
            _ => return false,
        };
        for (signs, of) in self.signs.iter_mut().zip(state.chunks_exact(2)) {
            let [age, part, loops] = [of[1] & 0xFFFF, of[1] >> 16 & 0xFF, of[1] >> 24];
            *signs = Signs { errors: (of[0] >> 16) as u16, rest: of[0] as u16, loops: loops as u8, part: part as u8, age: age as u16 };
        }
        for (times, of) in self.times.iter_mut().zip(state[signs..].chunks_exact(2)) {
            *times = Times { sum: of[0], programs: (of[1] >> 16) as u16, before: of[1] as u16 };
        }
        true
    }

    fn recover(&mut self, groups: &BlockGroups, memos: &[Memo]) {
        self.signs.fill(Signs::NONE);
        self.times.fill(Times::default());
        self.usual = Usual::default();
        for memo in memos {
            if let Some(signs) = self.signs.get_mut(memo.group.index()) {
                signs.age = memo.value.min(u32::from(Aging::MOST)) as u16;
                if let Some(table) = self.table.as_deref().filter(|_| signs.age > 0) {
                    self.usual.learn(signs.age, table.worst(groups.erases(memo.group)));
                }
            }
        }
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        if self.params.marker == Marker::Pe {
            return;
        }
        match news {
            News::Erased(report) => self.learn_erase(ctx.view.erases(report.group), report),
            News::Programmed(ProgramReport { at, status: Status::Good, array, .. }) => {
                if let Some(times) = self.times.get_mut(at.group.index()) {
                    times.sum = times.sum.saturating_add((array.0 / 1_000) as u32);
                    times.programs = times.programs.saturating_add(1);
                }
            }
            News::Read(_) => {
                if let Some((group, tally)) = measured(news) {
                    self.learn_measurement(ctx.view.erases(group), group, tally);
                }
            }
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

    /// Ages grow with the erases, until the next filling is measured. A group that was erased in the leap would have been measured there: if it never was, it
    /// is held to be as good a block as the others in the mean.
    fn leap(&mut self, leap: &Leap<'_>) {
        let Some(table) = self.table.clone() else { return };
        let of_worst = |erases: u32| u64::from(table.worst(erases));
        let known = || self.signs.iter().zip(leap.erases).filter(|(signs, _)| signs.age > 0);
        let worst: u64 = known().map(|(_, &erases)| of_worst(erases)).sum();
        let ages: u64 = known().map(|(signs, _)| u64::from(signs.age)).sum();
        for (signs, (&cycles, &erases)) in self.signs.iter_mut().zip(leap.cycles.iter().zip(leap.erases)) {
            if signs.age > 0 {
                signs.age = table.after(signs.age, cycles);
            } else if cycles > 0 && worst > 0 && self.params.marker == Marker::Age {
                let age = (ages * of_worst(erases.saturating_add(cycles))).div_ceil(worst);
                signs.age = age.clamp(1, u64::from(Aging::MOST)) as u16;
            }
        }
    }

    fn measured_pages(&self) -> u32 {
        u32::from(self.table.is_some() && self.measures())
    }

    fn work(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        let News::Opened { group, .. } = *news else { return None };
        let page = self.table.as_ref().filter(|_| self.measures())?.page;
        // The last pages may hold the second copy of marks, which nobody measures.
        let at = FlashPage { group, plane: PlaneId(0), page: PageId(page.min(self.pages.saturating_sub(1)) as u16) };
        Some(Work { kind: WorkKind::Measure { at, tally: true }, cause: Cause::Measure, due: NEVER })
    }

    fn wear_of(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Result<Worn, Why> {
        let cycles = ctx.view.erases(group);
        if self.params.marker == Marker::Pe {
            return Ok(Worn::measured(self.by_cycles(cycles)));
        }
        let table = self.table.as_ref().ok_or(Why::Unmeasured)?;
        let age = self.signs[group.index()].age;
        if age > 0 {
            return Ok(Worn::measured(Wear(age)));
        }
        let worst = table.worst(cycles);
        Ok(Worn { most: Wear(worst), likely: Wear(self.usual.of(worst)), is_measured: false })
    }

    fn wear_after(&self, ctx: &Ctx<'_>, group: BlockGroup, erases: u32) -> Option<Wear> {
        if self.params.marker == Marker::Pe {
            return Some(self.by_cycles(ctx.view.erases(group).saturating_add(erases)));
        }
        Some(Wear(self.table.as_ref()?.after(self.wear_of(ctx, group).ok()?.likely.0, erases)))
    }

    fn remember(&self, _ctx: &Ctx<'_>, news: &News) -> Option<Memo> {
        let (group, _) = measured(news)?;
        let age = self.signs.get(group.index()).map_or(0, |signs| signs.age);
        (age > 0).then_some(Memo { group, slot: 0, value: u32::from(age) })
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::ReadTry;
    use wordline_flash::tables::Tables;
    use wordline_units::{Nanos, Seconds};

    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;

    const GROUP: BlockGroup = BlockGroup(2);

    fn aging() -> Aging {
        Aging {
            weights: [0.0, 10.0, 2.0, -1.0, 5.0],
            plus: [0.0, 0.05, 0.0],
            plus_plus: [0.0, 0.05, 1.0, 0.0],
            limit: 64.0,
            page: 3,
            rest_max: 10_800,
            pe: vec![0, 100],
            pe_worst: vec![300, 700],
            ..Aging::default()
        }
    }

    fn technique(marker: Marker) -> (BlockAge, EmptyCore) {
        let config = small(64);
        let (layout, tables) = (config.layout(), Tables { aging: Some(Arc::new(aging())), ..Tables::NONE });
        let site = Site { tables: &tables, ..Site::bare(&layout, &config.sheet) };
        (BlockAge::new(&site, Params { marker, cycles_max: 8 }), EmptyCore::new(layout))
    }

    fn erased(loops: u8, part: u8, rest: u64) -> News {
        let rest = Some(Kept { effective: Seconds(rest), is_least: false });
        let trace = Some(EraseTrace { loops, part, stops: 0 });
        News::Erased(EraseReport { group: GROUP, status: Status::Good, loops, array: Nanos(1), trace, rest, has_left: false })
    }

    fn read(cause: Cause, bits: u32, status: Status) -> News {
        News::Read(ReadReport {
            at: FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(3) },
            cause,
            status,
            retries: 0,
            last: ReadTry::DEFAULT,
            worst: 0,
            tally: Some(Tally { bits, codewords: 16 }),
            array: Nanos(1),
            times: 1,
        })
    }

    fn wear(technique: &BlockAge, core: &EmptyCore) -> u16 {
        technique.wear_of(&core.ctx(Nanos(1)), GROUP).expect("it tells the wear of every group").most.0
    }

    #[test]
    fn a_group_is_as_old_as_the_worst_until_a_page_was_measured_and_then_as_its_signs_say() {
        let (mut technique, core) = technique(Marker::Age);
        let ctx = core.ctx(Nanos(1));
        assert_eq!(wear(&technique, &core), 300);
        technique.learn(&ctx, &erased(3, 51, 60));
        assert_eq!(wear(&technique, &core), 300, "no errors have been seen yet");
        technique.learn(&ctx, &read(Cause::Host, 160, Status::Good));
        technique.learn(&ctx, &read(Cause::Measure, 160, Status::Uncorrectable));
        assert_eq!(wear(&technique, &core), 300, "neither a read of the host nor one that failed teaches anything");
        technique.learn(&ctx, &read(Cause::Measure, 160, Status::Good));
        let foretold = |pulses, errors, rest| aging().age(&Shown { cycles: 0, pulses, errors, rest });
        assert_eq!(wear(&technique, &core), foretold(2.2, 10.0, 60.0));
        technique.learn(&ctx, &erased(4, 255, 1_000_000));
        assert_eq!(wear(&technique, &core), foretold(4.0, 10.0, 10_800.0), "with the errors of the filling before");
    }

    #[test]
    fn a_page_is_measured_once_in_each_filling_where_errors_are_a_sign() {
        for (marker, measures) in [(Marker::Age, true), (Marker::Pe, false), (Marker::Plus, false), (Marker::PlusPlus, true)] {
            let (technique, core) = technique(marker);
            let ctx = core.ctx(Nanos(1));
            let work = technique.work(&ctx, &News::Opened { group: GROUP, moved: false }).map(|work| work.kind);
            let at = FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(3) };
            assert_eq!(work, measures.then_some(WorkKind::Measure { at, tally: true }), "{marker:?}");
            assert_eq!(technique.work(&ctx, &News::Closed { group: GROUP }), None);
        }
    }

    #[test]
    fn pewear_goes_by_the_count_alone_and_its_sisters_by_the_mean_program_of_the_filling_before() {
        let (pe, core) = technique(Marker::Pe);
        assert_eq!(wear(&pe, &core), 1, "of a block that was never erased");
        let (mut plus, core) = technique(Marker::Plus);
        let ctx = core.ctx(Nanos(1));
        let at = crate::techniques::seam::ProgramUnit { group: GROUP, layer: 0, place: 0 };
        for micros in [640, 660] {
            let array = Nanos::from_micros(micros);
            plus.learn(&ctx, &News::Programmed(ProgramReport { at, status: Status::Good, loops: 9, array, trace: None }));
        }
        assert_eq!(wear(&plus, &core), 300, "this filling is not over");
        plus.learn(&ctx, &erased(3, 0, 0));
        assert_eq!(wear(&plus, &core), (650.0_f64 * 0.05 / 64.0 * 1e3).ceil() as u16);
    }

    #[test]
    fn ages_grow_over_a_leap_with_the_erases_that_it_skips() {
        let (mut technique, core) = technique(Marker::Age);
        let ctx = core.ctx(Nanos(1));
        technique.learn(&ctx, &erased(4, 255, 60));
        technique.learn(&ctx, &read(Cause::Measure, 160, Status::Good));
        let before = wear(&technique, &core);
        // By 400 thousandths in 100 erases of the worst.
        for cycles in [0, 10] {
            let groups = small(64).layout().group_count();
            technique.leap(&Leap { times: 3, cycles: &vec![cycles; groups], erases: &vec![0; groups] });
            assert_eq!(wear(&technique, &core), before + 4 * cycles as u16);
        }
        assert_eq!(technique.wear_after(&core.ctx(Nanos(1)), GROUP, 100), Some(Wear(before + 440)));
        // The first leap skipped no erase. At the second the table's worst was 300 for GROUP, which had none before, and is 700 for the other now.
        assert_eq!(technique.signs[GROUP.index() + 1].age, (before * 7).div_ceil(3));
        let (pe, core) = self::technique(Marker::Pe);
        assert_eq!(pe.wear_after(&core.ctx(Nanos(1)), GROUP, 4), Some(Wear(500)));
    }

    #[test]
    fn an_age_comes_back_from_its_memo_and_a_block_that_leaves_takes_its_age_along() {
        let (mut technique, core) = technique(Marker::Age);
        let ctx = core.ctx(Nanos(1));
        technique.learn(&ctx, &erased(4, 255, 60));
        technique.learn(&ctx, &read(Cause::Measure, 160, Status::Good));
        let age = wear(&technique, &core);
        let memo = technique.remember(&ctx, &read(Cause::Measure, 160, Status::Good)).expect("it was measured");
        assert_eq!((memo.value, memo.slot), (u32::from(age), 0));
        let (mut later, _) = self::technique(Marker::Age);
        later.recover(core.groups(), &[memo]);
        assert_eq!(wear(&later, &core), age);
        later.recover(core.groups(), &[]);
        assert_eq!(wear(&later, &core), 300, "without it the worst is assumed");
        technique.learn(&ctx, &News::Erased(EraseReport::without_erase(GROUP)));
        assert_eq!(wear(&technique, &core), 300, "the spare block is another one");
    }
}
