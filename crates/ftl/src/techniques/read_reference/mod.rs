//! Reads begin with references of a table, by the wear of the block, how long it has kept its data, the h-layer and the reads (BoundedRead), or by the P/E
//! count in place of the wear.
//!
//! With `told` of "index", which is the source's baseline, the step of the index is all that is known: a read tries a sequence that was made for every
//! retention up to the longest, every h-layer and all reads, of up to eight sets.
//!
//! A place of the table holds up to three sets, so a read of data for which the table was proven takes two retries at most. With `refresh` data is moved before
//! it leaves the retention that was proven, so that the bound is one of the drive and not of the table alone; what takes more all the same is moved at once.
//! Behind the three sets the vendor's table goes on.

use std::sync::Arc;

use wordline_flash::tables::{Ort, OrtIndex, OrtPlace, Sequence};
use wordline_flash::{Failed, ReadTry};
use wordline_units::{Cause, Nanos};

use crate::state::groups::{BlockGroups, Use};
use crate::state::layout::BlockGroup;
use crate::techniques::declaration::{Declaration, Kind, Need, Site, Table, Value, params, words};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Estimate, FlashPage, Memo, News, Persists, ReadReport, Rung, Technique, Why, ignores};
pub use crate::techniques::wear_index::Index;
use crate::techniques::work::{Work, WorkKind};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "read-reference",
        source: "BoundedRead: dissertation 000 of the papers, §3.4.1 to §3.4.3; by P/E count: the table of its reference 70",
        claim: "no read takes more than two retries, however old the block and its data are",
        hooks: Hooks::of(&[Hook::Read, Hook::Erased, Hook::Closed, Hook::Timer, Hook::Estimate, Hook::Rung, Hook::Work]),
        asks: &[Ask::WarmClock],
        persists: Persists::Nothing(
            "reads since the erase are counted anew; retention is not known after a power cut, and the table has a column for that",
        ),
        limits: "the table has no axis of temperature, and was made of programs with default settings; what it was not proven for goes on in the vendor's table; \
                 without a power cut, and with `refresh`, the bound is as good as the proof; reads are counted by group, not by page",
    },
    about: "reads begin with references of the chip's `ort`, by wear or P/E count, retention, h-layer and reads (000 §3.4.2).",
    params: Params::ALL,
    needs: &[Need::Table(Table::Ort), Need::Where("index", Value::Word("age"), &Need::Wear)],
};

words! {
    /// Axes of the table that a read goes by.
    pub enum Told {
        /// The index, retention, h-layer and reads.
        Place = "place",
        /// The index alone.
        Index = "index",
    }
}

params! {
    /// Parameters of read references.
    pub struct Params {
        /// Index of the table: "age", the wear that a technique reports, or "pe", the P/E count.
        index: Index {
            kind: Kind::Word(Index::WORDS),
            default: Some(Value::Word("age")),
            tried: &[],
            source: "000 §3.4.2",
        }
        /// Move data before it leaves the retention for which the table was proven, and after a read that took more than two retries.
        refresh: bool {
            kind: Kind::Flag,
            default: Some(Value::Flag(false)),
            tried: &[],
            source: "ours: the source has none, and its bound is one of the table",
        }
        /// Time in which each group is looked at once, with `refresh`.
        patrol: Nanos {
            kind: Kind::Span { least: Nanos(1_000_000) },
            default: Some(Value::Span(Nanos(86_400_000_000_000))),
            tried: &[Value::Span(Nanos(1_000_000)), Value::Span(Nanos(20_000_000))],
            source: "assumed: a day",
        }
        /// Axes of the table: "place", the index, retention, h-layer and reads, or "index", the index alone, by one sequence for all retentions.
        told: Told {
            kind: Kind::Word(Told::WORDS),
            default: Some(Value::Word("place")),
            tried: &[],
            source: "000 §3.4.2: for a fixed retention requirement each entry, indexed by the P/E count, holds one sequence",
        }
    }
}

/// Retries that a read may take: one less than a sequence has sets.
pub const RETRIES_MOST: u32 = Sequence::MOST as u32 - 1;

/// Expected further tries, in sixteenths, of a read whose retention is known only to be at least so long.
const DOUBT_UNKNOWN: u16 = 8;
/// The same of a read for which the table was not proven.
const DOUBT_UNPROVEN: u16 = 24;

/// The table, and the reads of each group.
#[derive(Clone, Debug)]
pub struct ReadReference {
    params: Params,
    table: Option<Arc<Ort>>,
    /// Sets of each step of the index alone, with `told` of "index".
    alone: Vec<Sets>,
    /// Reads of each group since its erase.
    reads: Vec<u32>,
    pages_per_layer: u32,
    sense: Nanos,
    /// Instant at which the next group is looked at, and its number.
    next: Nanos,
    cursor: u32,
}

/// Sets that a read tries, the first to try first.
type Sets = [Option<u8>; Ort::ALONE_MOST];

/// Place in the table for one group, and how well the table is known to serve there.
struct Look {
    /// Sets to try, the first to try first.
    sets: Sets,
    doubt: u16,
}

impl ReadReference {
    /// Creates the technique for the groups of the `site`.
    pub fn new(site: &Site<'_>, params: Params) -> Self {
        let geometry = &site.sheet.geometry;
        let table = site.tables.ort.clone();
        ReadReference {
            params,
            alone: table.as_deref().filter(|_| params.told == Told::Index).map_or_else(Vec::new, |table| alone(table, params.index)),
            table,
            reads: vec![0; site.layout.group_count()],
            pages_per_layer: geometry.wordlines_per_layer * geometry.cell.bits(),
            sense: site.sheet.timing.read[0],
            next: Nanos::ZERO,
            cursor: 0,
        }
    }

    /// Step of the index for `group`, and the index.
    fn step<'t>(&self, table: &'t Ort, ctx: &Ctx<'_>, group: BlockGroup) -> Result<(usize, &'t OrtIndex), Why> {
        Ok(match self.params.index {
            Index::Age => (Ort::age_step(ctx.view.wear(group).ok_or(Why::Unmeasured)?.0), &table.by_age),
            Index::Pe => (table.pe_step(ctx.view.erases(group)), &table.by_pe),
        })
    }

    fn look(&self, ctx: &Ctx<'_>, at: FlashPage) -> Result<Look, Why> {
        let table = self.table.as_deref().ok_or(Why::Unmeasured)?;
        let (step, index) = self.step(table, ctx, at.group)?;
        if self.params.told == Told::Index {
            let sets = *self.alone.get(step).ok_or(Why::BeyondTable)?;
            return Ok(Look { sets, doubt: DOUBT_UNKNOWN });
        }
        let kept = ctx.view.kept(at.group);
        let seconds = kept.filter(|kept| !kept.is_least).map(|kept| kept.effective.0.min(u64::from(u32::MAX)) as u32);
        let layer = u32::from(at.page.0) / self.pages_per_layer;
        let place = OrtPlace { step, kept: seconds, layer, reads: self.reads[at.group.index()] };
        let sequence = *index.sequences.get(table.place(&place)).ok_or(Why::BeyondTable)?;
        let is_proven = |kept: u32| index.proven.get(step).copied().flatten().is_some_and(|proven| kept <= proven);
        let doubt = match seconds {
            Some(kept) if is_proven(kept) => 0,
            Some(_) => DOUBT_UNPROVEN,
            None => DOUBT_UNKNOWN,
        };
        Ok(Look { sets: listed(sequence.sets()), doubt })
    }

    /// Work to move the data of `group`, if that leaves what was proven before the group is looked at again.
    fn refresh(&self, ctx: &Ctx<'_>, group: BlockGroup) -> Option<Work> {
        let table = self.table.as_deref()?;
        if !self.params.refresh || ctx.view.use_of(group) != Use::Closed || ctx.view.valid(group) == 0 {
            return None;
        }
        let (step, index) = self.step(table, ctx, group).ok()?;
        // Where even fresh data was not proven, moving helps nothing.
        let proven = index.proven.get(step).copied().flatten()?;
        let kept = ctx.view.kept(group)?;
        let next = kept.effective.0.saturating_add(self.params.patrol.0.div_ceil(1_000_000_000));
        (next > u64::from(proven)).then(|| rewrite(ctx, group))
    }

    /// Time from one group that is looked at to the next.
    fn pace(&self) -> Nanos {
        Nanos((self.params.patrol.0 / self.reads.len().max(1) as u64).max(1))
    }
}

/// Sets of each step of the index alone.
fn alone(table: &Ort, index: Index) -> Vec<Sets> {
    let (steps, of) = match index {
        Index::Age => (Ort::AGES, &table.by_age),
        Index::Pe => (table.pe.len(), &table.by_pe),
    };
    (0..steps).map(|step| listed(table.alone(of, step).into_iter())).collect()
}

fn listed(sets: impl Iterator<Item = u8>) -> Sets {
    let mut listed = [None; Ort::ALONE_MOST];
    listed.iter_mut().zip(sets).for_each(|(held, set)| *held = Some(set));
    listed
}

fn rewrite(ctx: &Ctx<'_>, group: BlockGroup) -> Work {
    Work { kind: WorkKind::Rewrite(group), cause: Cause::Refresh, due: ctx.now }
}

/// The try with the table's set number `set`, as the controller counts them.
fn of_set(set: u8) -> ReadTry {
    ReadTry { set: set + 1, entry: 0 }
}

impl Technique for ReadReference {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn image(&self) -> Vec<u32> {
        self.reads.iter().copied().chain([self.cursor, self.next.0 as u32, (self.next.0 >> 32) as u32]).collect()
    }

    fn restore(&mut self, state: &[u32]) -> bool {
        let Some((reads, &[cursor, low, high])) = state.split_last_chunk::<3>() else { return false };
        let fits = reads.len() == self.reads.len() && (cursor as usize) < self.reads.len().max(1);
        if fits {
            self.reads.copy_from_slice(reads);
            (self.cursor, self.next) = (cursor, Nanos(u64::from(high) << 32 | u64::from(low)));
        }
        fits
    }

    fn recover(&mut self, _groups: &BlockGroups, _memos: &[Memo]) {
        self.reads.fill(0);
        (self.cursor, self.next) = (0, Nanos::ZERO);
    }

    fn learn(&mut self, ctx: &Ctx<'_>, news: &News) {
        match *news {
            News::Read(ReadReport { at, times, .. }) => {
                let reads = &mut self.reads[at.group.index()];
                *reads = reads.saturating_add(times);
            }
            News::Erased(report) => self.reads[report.group.index()] = 0,
            News::Timer => {
                self.next = ctx.now + self.pace();
                self.cursor = (self.cursor + 1) % self.reads.len().max(1) as u32;
            }
            ignores!(Programmed, Copied, Unmeasured, Opened, Closed, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Idle) => {}
        }
    }

    fn work(&self, ctx: &Ctx<'_>, news: &News) -> Option<Work> {
        match *news {
            News::Read(ReadReport { at, retries, .. }) => {
                let is_over = self.params.refresh && retries > RETRIES_MOST && ctx.view.use_of(at.group) == Use::Closed;
                is_over.then(|| rewrite(ctx, at.group))
            }
            News::Closed { group } => self.refresh(ctx, group),
            News::Timer => self.refresh(ctx, BlockGroup(self.cursor)),
            ignores!(Programmed, Erased, Copied, Unmeasured, Opened, VictimChosen, Moved, Retired, DataLost, DieFailed, Stopped, Idle) => {
                None
            }
        }
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.params.refresh.then(|| self.next.max(Nanos(1)))
    }

    fn estimate(&self, ctx: &Ctx<'_>, at: FlashPage) -> Result<Estimate, Why> {
        let Look { sets, doubt } = self.look(ctx, at)?;
        let first = of_set(sets[0].ok_or(Why::BeyondTable)?);
        Ok(Estimate { doubt, first })
    }

    fn rung(&self, ctx: &Ctx<'_>, at: FlashPage, failed: &Failed<'_>) -> Option<Rung> {
        let Look { sets, .. } = self.look(ctx, at).ok()?;
        let next = sets.into_iter().flatten().map(of_set).find(|next| !failed.tried.contains(next))?;
        Some(Rung { cost: self.sense, next })
    }
}

#[cfg(test)]
mod tests {
    use wordline_flash::Status;
    use wordline_flash::tables::Tables;
    use wordline_units::{Celsius, PageId, PlaneId};

    use super::*;
    use crate::Config;
    use crate::config::tests::small;
    use crate::dispatch::Rooms;
    use crate::setup::{build, construct};
    use crate::techniques::Choice;
    use crate::techniques::apply::ctx;
    use crate::techniques::seam::{EraseReport, Wear, Worn};

    const GROUP: BlockGroup = BlockGroup(0);
    /// The longest retention that is proven, in seconds.
    const PROVEN: u32 = 10 * 86_400;

    /// A table in which the first set of a place is the number of its step plus ten times that of its column, and every sequence has three sets.
    fn ort() -> Ort {
        let steps = |steps: usize, proven: &dyn Fn(usize) -> Option<u32>| {
            let sequences = (0..steps as u8)
                .flat_map(|step| (0..3u8).map(move |column| Sequence::of(&[step + 10 * column, 50, 51]).expect("three sets")));
            OrtIndex { sequences: sequences.collect(), proven: (0..steps).map(proven).collect() }
        };
        Ort {
            retention: vec![86_400, PROVEN],
            layers: vec![0, 0],
            reads: vec![u32::MAX],
            sets: vec![wordline_flash::ReadOffsets::NONE; 52],
            pe: vec![10, 20],
            by_age: steps(Ort::AGES, &|step| (step < 5).then_some(PROVEN)),
            by_pe: steps(2, &|_| Some(PROVEN)),
            ..Ort::default()
        }
    }

    fn trial(params: Params) -> (Rooms, ReadReference) {
        let tables = Tables { ort: Some(Arc::new(ort())), ..Tables::NONE };
        let config = Config { techniques: vec![Choice::ReadReference(params)], tables: tables.clone(), ..small(64) };
        let layout = config.layout();
        let technique = ReadReference::new(&Site { tables: &tables, ..Site::bare(&layout, &config.sheet) }, params);
        let mut rooms = build(&config);
        let Rooms { core, sanitise, .. } = &mut rooms;
        construct::fill(core, sanitise, 60);
        core.services_mut().programmed(GROUP, Nanos(1));
        core.groups_mut().set_wear(GROUP, Some(Worn::measured(Wear(350))));
        (rooms, technique)
    }

    const BY_AGE: Params = Params { index: Index::Age, refresh: true, patrol: Nanos(86_400_000_000_000), told: Told::Place };

    fn keep(rooms: &mut Rooms, seconds: u32) {
        rooms.core.services_mut().get_mut().expect("it asks for the clock").let_pass(Nanos(1), f64::from(seconds), Celsius(30.0));
    }

    fn page() -> FlashPage {
        FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(0) }
    }

    fn estimate(rooms: &Rooms, technique: &ReadReference) -> Option<(u8, u16)> {
        technique.estimate(&ctx(&rooms.core), page()).ok().map(|estimate| (estimate.first.set, estimate.doubt))
    }

    #[test]
    fn a_read_begins_with_the_set_of_its_step_and_retention_and_is_sure_of_it_where_that_was_proven() {
        for (wear, kept, expected) in [
            (350, 0, (4, 0)),
            (399, 100_000, (14, 0)),
            (350, PROVEN + 8, (24, DOUBT_UNPROVEN)),
            (550, 0, (6, DOUBT_UNPROVEN)),
            (9_999, 0, (11, DOUBT_UNPROVEN)),
        ] {
            let (mut rooms, technique) = trial(BY_AGE);
            rooms.core.groups_mut().set_wear(GROUP, Some(Worn::measured(Wear(wear))));
            keep(&mut rooms, kept);
            assert_eq!(estimate(&rooms, &technique), Some(expected), "wear {wear}, kept {kept} s");
        }
        let (mut rooms, technique) = trial(BY_AGE);
        rooms.core.groups_mut().set_wear(GROUP, None);
        assert_eq!(estimate(&rooms, &technique), None, "nobody tells the wear");
        let (mut rooms, technique) = trial(Params { index: Index::Pe, ..BY_AGE });
        rooms.core.groups_mut().set_wear(GROUP, None);
        rooms.core.groups_mut().set_erases(GROUP, 15);
        assert_eq!(estimate(&rooms, &technique), Some((2, 0)));
    }

    #[test]
    fn a_read_that_is_told_the_index_alone_has_one_sequence_whatever_the_retention() {
        for (index, erases, expected) in [(Index::Pe, 5, 50), (Index::Pe, 15, 50), (Index::Age, 0, 50)] {
            for kept in [0, 100_000, PROVEN + 8] {
                let (mut rooms, technique) = trial(Params { index, told: Told::Index, ..BY_AGE });
                rooms.core.groups_mut().set_erases(GROUP, erases);
                keep(&mut rooms, kept);
                assert_eq!(estimate(&rooms, &technique), Some((expected + 1, DOUBT_UNKNOWN)), "{erases} erases, kept {kept} s");
            }
        }
        // Sets 50 and 51 are in every sequence of the table; without them each column has a set of its own.
        let mut own = ort();
        for of in &mut own.by_pe.sequences {
            let first = of.sets().next().expect("three sets");
            *of = Sequence::of(&[first]).expect("one set");
        }
        assert_eq!(
            alone(&own, Index::Pe),
            [[0, 10], [1, 11]].map(|sets| listed(sets.into_iter())),
            "in the order of columns, without that of the unknown"
        );
    }

    #[test]
    fn after_a_power_cut_the_column_of_the_unknown_holds() {
        let (mut rooms, technique) = trial(BY_AGE);
        let groups = rooms.core.groups().clone();
        rooms.core.services_mut().find(&groups, Nanos(1), |_| [None; 2]);
        assert_eq!(estimate(&rooms, &technique), Some((24, DOUBT_UNKNOWN)));
    }

    #[test]
    fn a_read_that_fails_goes_on_with_the_next_set_of_its_place_and_then_with_nobodys() {
        let (rooms, technique) = trial(BY_AGE);
        let next = |tried: &[ReadTry]| technique.rung(&ctx(&rooms.core), page(), &Failed { tried, errors: 99 }).map(|rung| rung.next);
        let [first, second, third] = [3, 50, 51].map(of_set);
        assert_eq!(next(&[first]), Some(second));
        assert_eq!(next(&[first, ReadTry::vendor(3), second]), Some(third));
        assert_eq!(next(&[first, second, third]), None);
    }

    #[test]
    fn data_is_moved_before_it_leaves_what_was_proven_and_only_with_refresh() {
        let patrol = 86_400;
        for (refresh, kept, wear, is_moved) in [
            (true, PROVEN - patrol - 8, 350, false),
            (true, PROVEN - patrol + 8, 350, true),
            (false, PROVEN, 350, false),
            (true, PROVEN, 550, false),
        ] {
            let (mut rooms, mut technique) = trial(Params { refresh, ..BY_AGE });
            rooms.core.groups_mut().set_wear(GROUP, Some(Worn::measured(Wear(wear))));
            keep(&mut rooms, kept);
            technique.cursor = technique.reads.len() as u32 - 1;
            technique.learn(&ctx(&rooms.core), &News::Timer);
            let work = technique.work(&ctx(&rooms.core), &News::Timer).map(|work| (work.kind, work.cause));
            assert_eq!(work, is_moved.then_some((WorkKind::Rewrite(GROUP), Cause::Refresh)), "kept {kept} s, wear {wear}");
            assert_eq!(technique.wake_at().is_some(), refresh);
        }
    }

    #[test]
    fn a_read_beyond_the_bound_has_its_data_moved_and_reads_are_counted_until_the_erase() {
        let (rooms, mut technique) = trial(BY_AGE);
        let ctx = ctx(&rooms.core);
        let read = |retries| {
            News::Read(ReadReport {
                at: page(),
                cause: Cause::Host,
                status: Status::Good,
                retries,
                last: of_set(1),
                worst: 0,
                tally: None,
                array: Nanos(1),
                times: 4,
            })
        };
        assert_eq!(technique.work(&ctx, &read(RETRIES_MOST)), None);
        assert_eq!(technique.work(&ctx, &read(RETRIES_MOST + 1)).map(|work| work.kind), Some(WorkKind::Rewrite(GROUP)));
        technique.learn(&ctx, &read(0));
        technique.learn(&ctx, &read(0));
        assert_eq!(technique.image()[0], 8);
        technique.learn(&ctx, &News::Erased(EraseReport::without_erase(GROUP)));
        assert_eq!(technique.image()[0], 0);
    }
}
