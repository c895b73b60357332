//! Is no data copied inside a die beyond what its own quota lasts for, and do drives on which nothing may be copied do what they do without quotas?
//!
//! Each page keeps its own quota in `src/cut/world/copies.rs`. Does not check: whether the thresholds are right, which is a matter of cells.

use std::sync::Arc;

use wordline_drive::{Config, Pace, Watched};
use wordline_flash::tables::{CopyIndex, Copyback, Tables};
use wordline_ftl::techniques::block_class::Classes;
use wordline_ftl::techniques::{Choice, copy_threshold, restricted_copyback};
use wordline_proving::bench::Tally as Counts;
use wordline_proving::cut::{Tally, copying, trial_on};
use wordline_proving::effort;
use wordline_proving::interactions::{config, overwrites};
use wordline_units::{Cause, FlashOp};

#[test]
fn no_data_is_copied_beyond_its_own_quota_and_no_group_has_more_than_a_page_of_it() {
    let mut tally = Tally::default();
    for seed in 9_000..9_000 + 160 * effort() {
        tally.add(&trial_on(copying(seed), None, 300, None).unwrap_or_else(|problem| panic!("seed {seed}: {problem}")));
    }
    println!("{tally:?}");
    let [seen @ .., columns] = tally.quotas;
    assert!(seen.iter().all(|&times| times > 100) && columns > 20, "{:?}", tally.quotas);
}

/// A drive whose dies copy back and whose blocks stand so many copies, with these techniques.
fn able(stands: u32, copies_back: bool, techniques: &[Choice]) -> Config {
    let mut config = config(techniques);
    let by_pe = CopyIndex { class_errors: vec![[5, 9]], thresholds: vec![vec![stands]; Copyback::CLASSES], ..CopyIndex::default() };
    let table = Copyback { pe: vec![100_000], retention: vec![31_536_000], layers: vec![0], by_pe, ..Copyback::default() };
    config.firmware.tables = Tables { copyback: Some(Arc::new(table)), ..Tables::NONE };
    config.firmware.sheet.capabilities.copyback = copies_back;
    config.sheet = config.firmware.sheet;
    config
}

/// Hash of the drive under random overwrites, and what it has counted.
fn run(config: Config) -> (u64, Watched<Counts>) {
    let span = config.exported_units;
    let mut drive = Watched::new(config, Counts::default());
    drive.construct_filled(span);
    drive.serve(&mut overwrites(1, span).take(3 * span as usize), Pace::Closed { depth: 16 }, None);
    drive.settle();
    drive.audit().expect("the tables agree");
    (drive.log().hash(), drive)
}

const QUOTAS: Choice = Choice::RestrictedCopyback(restricted_copyback::Params {
    classes: Classes::Block,
    samples: 3,
    retention: 0,
    moved_blocks: 4,
    days_max: 1,
});

#[test]
fn where_nothing_may_be_copied_a_drive_does_what_it_does_without_quotas() {
    let (plain, _) = run(able(0, true, &[]));
    assert_eq!(run(able(0, true, &[QUOTAS])).0, plain, "no block stands a copy");
    assert_eq!(run(able(3, false, &[QUOTAS])).0, run(able(3, false, &[])).0, "no die copies back");
    let (hash, drive) = run(able(3, true, &[QUOTAS]));
    assert_ne!(hash, plain);
    assert!(drive.observer.operations(FlashOp::Copyback) > 1_000, "{}", drive.observer.operations(FlashOp::Copyback));
}

/// Programs of counters and copybacks of a drive with thresholds of copies.
fn counted(counters: copy_threshold::Counters) -> (u64, u64) {
    let params = copy_threshold::Params { index: copy_threshold::Index::Pe, classes: Classes::Worst, counters };
    let (_, drive) = run(able(3, true, &[Choice::CopyThreshold(params)]));
    let tally = &drive.observer;
    (tally.flash[FlashOp::Program as usize][Cause::Recovery as usize], tally.operations(FlashOp::Copyback))
}

#[test]
fn counters_on_flash_take_a_program_unit_of_each_block_that_received_copies() {
    let (kept, written) = (counted(copy_threshold::Counters::Kept), counted(copy_threshold::Counters::Written));
    assert_eq!(kept.0, 0, "counts that are kept cost nothing");
    let programs = u64::from(able(3, true, &[]).firmware.sheet.geometry.wordlines());
    assert!(written.0 > 20 && written.1 > 1_000, "{written:?}");
    assert!(written.0 * (programs - 1) >= written.1 / 4 && written.0 <= written.1, "{written:?}, {programs} programs a block");
}
