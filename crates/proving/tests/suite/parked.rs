//! Do the reads of a block group end the wait of its parked rewrite, and no others? Whole drives all of whose data has a hint.
//!
//! Checks: at rest, no group stands that has had as many host reads as its guard allows, or a host read longer than is tolerated, by the counts of an observer
//! of the event stream; nothing is asked about a parked rewrite in between. Cells are those of the tests of disturbed data.

use std::collections::BTreeMap;
use std::sync::Arc;

use wordline_cells::Retries;
use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_flash::tables::Disturb;
use wordline_ftl::groups::Use;
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::hooks::Hook;
use wordline_ftl::{BlockGroup, Firmware};
use wordline_proving::bench;
use wordline_units::random::{Draw, Stream};
use wordline_units::{BlockId, Cause, DieId, FlashOp, HostOp, HostRequest, Id, Nanos, Tolerance};

use crate::hints::{HINTS, SECTORS, config, guarded, hint, mixed, refresh};

/// Reads of the host from a block group since its erase.
#[derive(Clone, Copy, Debug, Default)]
struct Filling {
    reads: u32,
    /// Most retries of one of them.
    retries: u8,
    /// Reads when the group was first closed while the drive was at rest.
    at_close: Option<u32>,
}

/// Fillings of all block groups of a drive.
#[derive(Clone, Debug, Default)]
struct Fillings {
    present: BTreeMap<(DieId, BlockId), Filling>,
    /// Those that have ended.
    ended: Vec<Filling>,
}

impl Observer for Fillings {
    fn observe(&mut self, _: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        let group = (flash.die, flash.block);
        if flash.op == FlashOp::Erase {
            self.ended.extend(self.present.remove(&group));
        } else if flash.op == FlashOp::Read && flash.cause == Cause::Host {
            let filling = self.present.entry(group).or_default();
            filling.reads += 1;
            filling.retries = filling.retries.max(flash.retries);
        }
    }
}

/// The drive of `config`, filled, all of whose data tolerates as much as that of `class`.
fn hinted<O: Observer>(config: Config, class: Tolerance, observer: O) -> Watched<O> {
    let (span, age) = (config.exported_units, config.age());
    let mut drive = Watched::new(config, observer);
    drive.construct_filled(span);
    age.iter().for_each(|age| drive.set_age(age));
    serve(&mut drive, std::iter::once(hint(0, span, class)));
    drive
}

fn serve<O: Observer>(drive: &mut Watched<O>, load: impl IntoIterator<Item = HostRequest>) {
    drive.serve(&mut load.into_iter(), Pace::Closed { depth: 16 }, None);
    drive.settle();
}

/// Fillings of the closed groups of `drive`, which is at rest.
fn closed(drive: &mut Watched<Fillings>) -> Vec<Filling> {
    let core = &drive.firmware()[0];
    let (groups, layout) = (core.groups(), core.layout());
    let of = |die: DieId, block: BlockId| BlockGroup((layout.groups_of(die).start + block.index()) as u32);
    let known = drive.observer.present.keys().copied();
    let closed: Vec<_> = known.filter(|&(die, block)| groups.use_of(of(die, block)) == Use::Closed).collect();
    let filling = |group| {
        let filling: &mut Filling = drive.observer.present.get_mut(&group).expect("it was read");
        filling.at_close.get_or_insert(filling.reads);
        *filling
    };
    closed.into_iter().map(filling).collect()
}

fn parked(core: &Firmware) -> u64 {
    core.rewrites().iter().map(|(_, counts)| counts.parked).sum()
}

/// Reads of a group that have its rewrite wanted, once in so many.
const LIMIT: u32 = 40;
/// Steps of a run; the drive is at rest after each.
const STEPS: usize = 10;

/// Planted once each, and red: the guard counts the reads of GC alone; it goes by the first bin of the table, or by the last one.
#[test]
fn is_no_group_read_more_often_than_its_guard_allows() {
    for (seed, (cycles, most, most_of_other)) in (1..).zip([(500, 400, 150), (1_500, 150, 400)]) {
        let mut config = config(seed, &[refresh(guarded(LIMIT)), Choice::LatencyHints(HINTS)]);
        config.cycles = cycles;
        config.firmware.tables.disturb = Some(Arc::new(Disturb { pe: vec![1_000, 2_000], searched: vec![400, 150], ..Disturb::default() }));
        let mut load = mixed(seed, config.exported_units, 0.01);
        let (mut drive, mut waited) = (hinted(config, Tolerance::Longer, Fillings::default()), 0);
        for step in 0..STEPS {
            serve(&mut drive, load.by_ref().take(4_000));
            let over: Vec<Filling> = closed(&mut drive).into_iter().filter(|filling| filling.reads >= most).collect();
            assert!(over.is_empty(), "seed {seed}, step {step}: a guard at {most} reads, and there are {over:?}");
            waited += parked(&drive.firmware()[0]);
        }
        drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
        // A rewrite takes time, and reads go on meanwhile.
        let ended: Vec<u32> = drive.observer.ended.iter().map(|filling| filling.reads).filter(|&reads| reads >= most).collect();
        println!("seed {seed}: {} groups were read {most} times and rewritten, by {:?} reads at most", ended.len(), ended.iter().max());
        assert!(ended.len() > 20 && waited > 200, "seed {seed}: {} {waited}", ended.len());
        assert!(most > most_of_other || ended.iter().all(|&reads| reads < most_of_other), "seed {seed}: {ended:?}");
    }
}

/// Retries that data of the class `typical` tolerates here: five tries of a sense of 65 us and a transfer.
const TOLERATED: u8 = 4;

/// Reads half of which take up to `most` retries.
fn retried(seed: u64, most: u32) -> Config {
    let mut config = config(seed, &[refresh(guarded(LIMIT)), Choice::LatencyHints(HINTS)]);
    config.faults.retries = Some(Retries { share: 0.5, mean: 1.5, alike: 0.0, entries: most + 1 });
    config
}

/// Planted once, and red: the retries that are borne are left out of what has a parked rewrite looked at again, so that none does.
#[test]
fn does_no_group_stand_that_was_triggered_and_has_had_a_longer_read_than_is_tolerated() {
    let (mut stood, mut ended) = (0, 0);
    for seed in 1..=3 {
        let config = retried(seed, 12);
        let mut load = mixed(seed, config.exported_units, 0.01);
        let mut drive = hinted(config, Tolerance::Typical, Fillings::default());
        for step in 0..STEPS {
            serve(&mut drive, load.by_ref().take(2_000));
            // Nothing is asked for a group that is still being written, so the reads meanwhile may have passed a multiple of the limit in vain.
            let is_triggered = |filling: &Filling| filling.reads - filling.at_close.unwrap_or(0) >= LIMIT;
            let triggered: Vec<Filling> = closed(&mut drive).into_iter().filter(is_triggered).collect();
            let long: Vec<&Filling> = triggered.iter().filter(|filling| filling.retries > TOLERATED).collect();
            assert!(long.is_empty(), "seed {seed}, step {step}: {long:?} are not rewritten");
            stood += triggered.iter().filter(|filling| filling.retries == TOLERATED).count();
        }
        drive.audit().unwrap_or_else(|problem| panic!("{problem}"));
        ended += drive.observer.ended.iter().filter(|filling| filling.retries > TOLERATED).count();
    }
    println!("{stood} times a group stood with a read of {TOLERATED} retries; {ended} groups with a longer one were rewritten");
    assert!(stood > 50 && ended > 50, "{stood} {ended}");
}

/// Planted once each, and red: each read of a parked group has it looked at again; each with a retry, as if none were borne.
#[test]
fn do_parked_rewrites_cost_no_question_while_the_host_writes_elsewhere_or_reads_them_as_it_tolerates() {
    let config = retried(6, TOLERATED.into());
    let (span, cold) = (config.exported_units, config.exported_units * 4 / 5);
    let mut drive = hinted(config, Tolerance::Typical, ());
    let reads = |count: u64| (0..count).map(move |read| bench::request(HostOp::Read, read % cold, 1, SECTORS));
    serve(&mut drive, reads(3 * cold));
    let told = |drive: &Watched<()>| {
        let core = &drive.firmware()[0];
        let counts = core.technique_counts();
        let of = counts.iter().filter(|counts| counts.name == "latency-hints").flat_map(|counts| &counts.questions);
        (parked(core), of.filter(|(hook, _)| *hook == Hook::MayWork).map(|(_, answers)| answers.asked).sum::<u64>())
    };
    let before = told(&drive);
    let mut draw = Draw::new(6, Stream::Address, 0);
    serve(&mut drive, (0..40_000).map(|_| bench::request(HostOp::Write, cold + draw.below(span - cold), 1, SECTORS)));
    let written = told(&drive);
    serve(&mut drive, reads(3 * cold));
    println!("parked rewrites, and questions about them: {before:?}, {written:?} after writes, {:?} after reads", told(&drive));
    assert_eq!((written, told(&drive)), (before, before));
    assert!(before.0 > 100, "{before:?}");
}
