//! Do techniques that know how worn a block is keep what they promise, on drives whose cells have physics?
//!
//! Does not check: whether tables are right on other chips, which is judged where they are made; how long a whole drive lives.

use std::collections::BTreeSet;
use std::sync::Arc;

use wordline_cells::{Block, Condition, Model};
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, FlashEvent, Observer};
use wordline_ftl::BlockGroup;
use wordline_ftl::groups::Use;
use wordline_ftl::retirement::RetirementPolicy;
use wordline_plan::Plan;
use wordline_proving::{bench, effort};
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Cause, Celsius, DieId, FlashOp, HostOp, Nanos, Wear};

/// Reads of the host by the tries that they took, blocks that were moved to be younger, and blocks that left service.
#[derive(Default)]
struct Seen {
    reads: u64,
    /// Blocks with a read that took more than two retries.
    beyond: BTreeSet<(DieId, BlockId)>,
    beyond_reads: u64,
    /// Blocks read to be moved for refresh.
    refreshed: BTreeSet<(DieId, BlockId)>,
    retired: u64,
    /// Pages copied inside their dies.
    copied: u64,
    /// Requests of the host that failed.
    failed: u64,
}

impl Observer for Seen {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(FlashEvent { op: FlashOp::Read, cause, die, block, retries, .. }) => {
                if *cause == Cause::Host {
                    self.reads += 1;
                    if *retries > 2 {
                        self.beyond_reads += 1;
                        self.beyond.insert((*die, *block));
                    }
                }
                if *cause == Cause::Refresh {
                    self.refreshed.insert((*die, *block));
                }
            }
            Event::Flash(FlashEvent { op: FlashOp::Copyback, pages, .. }) => self.copied += u64::from(*pages),
            Event::Retired { .. } => self.retired += 1,
            Event::Completed(done) => self.failed += u64::from(!done.ok),
            Event::Flash(_)
            | Event::Arrived { .. }
            | Event::Invalidated { .. }
            | Event::ProgrammedAgain { .. }
            | Event::Exposed { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Stopped { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

/// The drive of this name with a few blocks, and what is set beside.
fn small(name: &str, settings: &[&str]) -> Config {
    let few = ["flash.channels=1", "geometry.blocks=48", "mapping.spare_blocks=2", "mapping.over_provisioning=40 %"];
    Plan::load_set(name, &[&few, settings].concat()).unwrap_or_else(|error| panic!("{error}")).build()
}

/// A drive as old as its plan says, filled, with nothing served yet.
fn old(config: Config) -> Watched<Seen> {
    let (span, age) = (config.exported_units, config.cells.as_ref().and_then(|cells| cells.age));
    let mut drive = Watched::new(config, Seen::default());
    drive.construct_filled(span);
    age.iter().for_each(|age| drive.set_age(age));
    drive
}

/// Reads of all units, each once, in an order drawn from `seed`.
fn read_all(drive: &mut Watched<Seen>, seed: u64) {
    let (span, sectors) = (drive.config().exported_units, (drive.config().firmware.unit.0 / 512) as u32);
    let mut draw = Draw::new(seed, Stream::Address, 0);
    let start = draw.below(span);
    let mut load = (0..span).map(|unit| bench::request(HostOp::Read, (start + unit * 7_919) % span, 1, sectors));
    drive.serve(&mut load, Pace::Closed { depth: 32 }, None);
    drive.settle();
}

/// Retention is forgotten: every place of the table has the sequence of the shortest.
fn forget_retention(config: &mut Config) {
    let mut ort = config.firmware.tables.ort.as_deref().expect("the chip has the table").clone();
    let (columns, per_column) = (ort.columns(), ort.classes() * ort.reads.len());
    for index in [&mut ort.by_age, &mut ort.by_pe] {
        for step in index.sequences.chunks_exact_mut(columns * per_column) {
            let (first, others) = step.split_at_mut(per_column);
            others.chunks_exact_mut(per_column).for_each(|column| column.copy_from_slice(first));
        }
    }
    config.firmware.tables.ort = Some(Arc::new(ort));
}

/// A page that no references bring back is not the table's, so the last stage is told apart.
#[test]
fn reads_take_two_retries_at_most_and_more_where_retention_is_forgotten() {
    let stages = ["child", "young-adult"];
    let kept = ["0 s", "1 mo", "6 mo", "1 y"];
    for stage in stages {
        let (mut reads, mut beyond, mut forgotten) = (0, 0, 0);
        for kept in kept {
            let (cycles, kept) = (format!("cells.cycles={stage}"), format!("cells.retention={kept}"));
            let config = small("boundedread", &[&cycles, &kept]);
            let mut plain = old(config.clone());
            read_all(&mut plain, 3);
            (reads, beyond) = (reads + plain.observer.reads, beyond + plain.observer.beyond_reads);
            let mut config = config;
            forget_retention(&mut config);
            let mut planted = old(config);
            read_all(&mut planted, 3);
            forgotten += planted.observer.beyond_reads;
        }
        println!("{stage}: {beyond} of {reads} reads beyond two retries, {forgotten} where retention is forgotten");
        assert!(reads > 10_000 && beyond == 0, "{stage}: {beyond} of {reads}");
        assert!(forgotten > 100, "{stage}: {forgotten}");
    }
}

/// Half of a life old: the worst codeword of some pages is lost to all references (see the page of the technique). Each block that shows it is moved.
#[test]
fn a_block_with_a_read_beyond_two_retries_is_moved_where_that_is_asked_for() {
    let with = |refresh: bool| {
        let refresh = format!("techniques.read-reference.refresh={refresh}");
        let mut drive = old(small("boundedread", &["cells.cycles=old-adult", "cells.retention=1 y", &refresh]));
        read_all(&mut drive, 3);
        drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
        // A block that is still being written is moved once it is full.
        let groups = drive.firmware()[0].groups();
        let open: BTreeSet<u16> =
            all(&drive).filter(|&group| groups.use_of(group) == Use::Active).map(|group| groups.blocks(group)[0]).collect();
        let mut seen = std::mem::take(&mut drive.observer);
        seen.beyond.retain(|(_, block)| !open.contains(&(block.0 as u16)));
        // All of it again, once the blocks have been moved.
        read_all(&mut drive, 4);
        (seen, drive.observer.beyond_reads)
    };
    let ((on, again_on), (off, again_off)) = (with(true), with(false));
    println!("{} and {} of {} reads beyond two retries, then {again_on} and {again_off}", on.beyond_reads, off.beyond_reads, on.reads);
    assert!(!on.beyond.is_empty() && on.beyond_reads * 50 < on.reads, "{} of {}", on.beyond_reads, on.reads);
    assert!(on.beyond.is_subset(&on.refreshed), "{:?} were read and not moved", on.beyond.difference(&on.refreshed).collect::<Vec<_>>());
    // Data that nobody moves stays. While blocks move, young data in blocks that are still being written may take more as well.
    assert!(
        off.refreshed.is_empty() && off.beyond.is_subset(&on.refreshed),
        "{:?}",
        off.beyond.difference(&on.refreshed).collect::<Vec<_>>()
    );
    assert!(again_on < again_off, "{again_on} and {again_off}");
}

/// The groups of the drive's only core.
fn all(drive: &Watched<Seen>) -> impl Iterator<Item = BlockGroup> + use<> {
    (0..drive.firmware()[0].layout().group_count() as u32).map(BlockGroup)
}

/// Wear of all groups in service, as the core knows it.
fn wear_of(drive: &Watched<Seen>) -> Vec<Wear> {
    let groups = drive.firmware()[0].groups();
    all(drive).filter(|&group| groups.use_of(group) != Use::Bad).filter_map(|group| groups.wear(group)).collect()
}

/// Overwrites a few units most of the time, so that the others are moved again and again, until so many pages are copied inside their dies.
fn overwrite_until_copied(drive: &mut Watched<Seen>, copied: u64) {
    const ROUND: u64 = 20_000;
    let (span, sectors) = (drive.config().exported_units, (drive.config().firmware.unit.0 / 512) as u32);
    let mut draw = Draw::new(11, Stream::Address, 0);
    // A die that copies less often than once in a hundred writes does not come to its end sooner.
    let rounds = (copied * 100).div_ceil(ROUND);
    for _ in 0..rounds {
        let mut load = (0..ROUND).map(|_| {
            let unit = if draw.below(10) < 8 { draw.below(span / 5) } else { draw.below(span) };
            bench::request(HostOp::Write, unit, 1, sectors)
        });
        drive.serve(&mut load, Pace::Closed { depth: 64 }, None);
        if drive.observer.copied >= copied {
            break;
        }
    }
    drive.settle();
}

/// Copies take errors along, so the data is kept for a year behind them. At half of a life some pages are lost to a year alone, so that is left out.
#[test]
fn copies_within_the_threshold_lose_nothing_in_a_year_and_copies_without_one_do() {
    let after_a_year = |cycles: &str, copied: u64, settings: &[&str]| {
        let cycles = format!("cells.cycles={cycles}");
        let mut drive = old(small("fastcopy", &[&[cycles.as_str()], settings].concat()));
        overwrite_until_copied(&mut drive, copied);
        drive.run_until(drive.now() + Nanos::from_millis(365 * 86_400_000));
        read_all(&mut drive, 3);
        drive.observer
    };
    let copies = 250_000 * effort();
    for cycles in ["300", "600"] {
        let within = after_a_year(cycles, copies, &[]);
        println!("{cycles}: {} copies, {} of {} reads failed", within.copied, within.failed, within.reads);
        assert!(within.copied >= copies && within.failed == 0, "{cycles}: {} copies, {} lost", within.copied, within.failed);
    }
    let none = after_a_year("young-adult", 1_000, &[]);
    let without = ["techniques.copy-threshold.on=false", "techniques.plain-copyback.on=true"];
    let planted = after_a_year("young-adult", 100_000, &without);
    println!("without a threshold: {} copies, {} of {} reads failed", planted.copied, planted.failed, planted.reads);
    assert_eq!((none.copied, none.failed), (0, 0), "no block stands a copy any more");
    assert!(planted.failed > 20, "{} lost", planted.failed);
}

/// Overwrites a drive at random until it takes no more, for `most` drive writes at most. Returns how many it took, if it takes no more.
fn wear_out(drive: &mut Watched<Seen>, most: u64) -> Option<u64> {
    let (span, sectors) = (drive.config().exported_units, (drive.config().firmware.unit.0 / 512) as u32);
    let mut draw = Draw::new(9, Stream::Address, 0);
    for written in 1..=most {
        let mut load = (0..span).map(|_| bench::request(HostOp::Write, draw.below(span), 1, sectors));
        drive.serve(&mut load, Pace::Closed { depth: 64 }, None);
        if drive.is_worn_out() {
            return Some(written);
        }
    }
    None
}

#[test]
fn blocks_of_one_count_have_ages_of_their_own() {
    let of = |marker: &str| {
        let marker = format!("techniques.block-age.marker={marker}");
        let mut ages = wear_of(&old(small("longlive", &["cells.cycles=young-adult", &marker])));
        ages.sort_unstable();
        ages
    };
    let (by_age, by_pe) = (of("age"), of("pe"));
    let spread = |ages: &[Wear]| ages[ages.len() - 1].0 - ages[0].0;
    assert!(by_age.len() > 100 && spread(&by_age) > 50, "{} ages from {:?} to {:?}", by_age.len(), by_age.first(), by_age.last());
    assert_eq!(spread(&by_pe), 0, "by the count, blocks of one count are alike");
}

/// Rank correlation of two figures of the same blocks; equal ones have the mean of their ranks.
fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: f64| {
            let (below, equal) = (values.iter().filter(|&&at| at < value).count(), values.iter().filter(|&&at| at == value).count());
            below as f64 + (equal as f64 - 1.0) / 2.0
        };
        let middle = (values.len() - 1) as f64 / 2.0;
        values.iter().map(|&value| rank(value) - middle).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt()
}

/// N(12) of a block: wrong bits of a codeword of its worst page after a year, at the best references (000 §3.1.1).
fn after_a_year(model: &Model, block: &Block, condition: &Condition) -> f64 {
    let pages = 0..model.physics().shape.cell.bits();
    let worst = (0..model.layers().len() as u32).map(|layer| {
        let wordline = model.wordline(&model.traits(block, layer), condition);
        let best = wordline.optimal();
        pages.clone().map(|page| wordline.error_rate(model, page, &best)).fold(0.0, f64::max)
    });
    worst.fold(0.0, f64::max) * model.codeword_bits()
}

/// Blocks of one count, which their P/E count does not tell apart.
#[test]
fn ages_are_in_the_order_of_the_errors_after_a_year() {
    for stage in ["young-adult", "old-adult"] {
        let config = small("longlive", &[&format!("cells.cycles={stage}")]);
        let drive = old(config.clone());
        let cells = config.cells.expect("it has physics");
        let age = cells.age.expect("the plan says so");
        let model = Model::new(&cells.physics).expect("the plan has checked it");
        let history = model.cycled(age.cycles, age.dwell, Celsius(age.temperature));
        let condition = Condition::new(history, Celsius(age.temperature)).kept(365.0 * 86_400.0);
        let groups = drive.firmware()[0].groups();
        let layout = drive.firmware()[0].layout();
        let (mut ages, mut errors) = (Vec::new(), Vec::new());
        // Spare blocks are new, and a block that holds nothing has not been measured.
        for group in all(&drive).filter(|&group| groups.use_of(group) == Use::Closed) {
            let place = (u32::from(layout.die(group).0), u32::from(groups.blocks(group)[0]));
            ages.push(f64::from(groups.wear(group).map_or(0, |wear| wear.0)));
            errors.push(after_a_year(&model, &model.block(config.seed, place.0, place.1), &condition));
        }
        let told = rank_correlation(&ages, &errors);
        ages.rotate_left(1);
        let planted = rank_correlation(&ages, &errors);
        println!("{stage}: {told:.3} over {} blocks, {planted:.3} with the ages of their neighbours", ages.len());
        assert!(ages.len() > 100 && told > 0.9 && planted < 0.5, "{stage}: {told:.3} and {planted:.3}");
    }
}

#[test]
fn blocks_leave_service_at_their_own_ends_until_the_drive_takes_no_more() {
    let settings = ["cells.cycles=9000", "cells.dwell=1 min"];
    let config = small("longlive", &settings);
    let mut drive = old(config.clone());
    let written =
        wear_out(&mut drive, 400).unwrap_or_else(|| panic!("it never takes no more: {} blocks have left", drive.observer.retired));
    drive.settle();
    drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
    assert!(drive.observer.retired > 8, "{} blocks have left", drive.observer.retired);
    let groups = drive.firmware()[0].groups();
    let erases: BTreeSet<u32> = all(&drive).map(|group| groups.erases(group)).collect();
    assert!(erases.len() > 1, "not all at one count");
    // What is at its end and holds nothing does not come back into use.
    let is_spent = |&group: &BlockGroup| groups.use_of(group) == Use::Free && groups.wear(group).is_some_and(|wear| wear.0 >= 1_000);
    let spent = all(&drive).filter(is_spent);
    assert_eq!(spent.count(), 0, "a spent block waits to be written");
    // Nobody retires them: they go on, and the drive with them, for as long again.
    let mut config = config;
    config.firmware.retirement = RetirementPolicy::Failed;
    let mut planted = old(config);
    assert!(wear_out(&mut planted, 2 * written).is_none() && planted.observer.retired == 0, "after {written} drive writes");
}
