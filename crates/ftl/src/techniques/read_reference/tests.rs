//! Tests of read references: look-ups by either index, what follows a try that failed, and when data is moved.

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
use crate::techniques::seam::{EraseReport, Wear};

const GROUP: BlockGroup = BlockGroup(0);
/// The longest retention that is proven, in seconds.
const PROVEN: u32 = 10 * 86_400;

/// A table in which the first set of a place is the number of its step plus ten times that of its column, and every sequence has three sets.
fn ort() -> Ort {
    let steps = |steps: usize, proven: &dyn Fn(usize) -> Option<u32>| {
        let sequences = (0..steps as u8).flat_map(|step| (0..3u8).map(move |column| Sequence::of(&[step + 10 * column, 50, 51]).expect("three sets")));
        OrtIndex { sequences: sequences.collect(), proven: (0..steps).map(proven).collect() }
    };
    Ort {
        retention: vec![86_400, PROVEN],
        layers: vec![0, 0],
        reads: vec![u32::MAX],
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
    core.groups_mut().set_wear(GROUP, Some(Wear(350)));
    (rooms, technique)
}

const BY_AGE: Params = Params { index: Index::Age, refresh: true, patrol: Nanos(86_400_000_000_000) };

fn keep(rooms: &mut Rooms, seconds: u32) {
    rooms.core.services_mut().get_mut().expect("it asks for the clock").decree(Nanos(1), f64::from(seconds), Celsius(30.0));
}

fn page() -> FlashPage {
    FlashPage { group: GROUP, plane: PlaneId(0), page: PageId(0) }
}

fn estimate(rooms: &Rooms, technique: &ReadReference) -> Option<(u8, u16)> {
    technique.estimate(&ctx(&rooms.core), page()).map(|estimate| (estimate.first.set, estimate.doubt))
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
        rooms.core.groups_mut().set_wear(GROUP, Some(Wear(wear)));
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
        rooms.core.groups_mut().set_wear(GROUP, Some(Wear(wear)));
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
