//! Tests of block ages.

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
    technique.wear_of(&core.ctx(Nanos(1)), GROUP).expect("it tells the wear of every group").0
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
    let foretold = |pulses: f64, errors: f64, rest: f64| ((10.0 * pulses + 2.0 * errors - rest.ln() + 5.0) / 64.0 * 1e3).ceil() as u16;
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
