//! Are reads over the limit of their hint counted, each of them and no other?

use wordline_drive::Watched;
use wordline_engine::{Event, Observer};
use wordline_figures::DriveResult;
use wordline_figures::result::HintedReadsResult;
use wordline_plan::Plan;
use wordline_runs::{Beside, Job, Load, Workload};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::{HostOp, Nanos, Tolerance};
use wordline_workload::spec::{Amount, Limit, Mix};
use wordline_workload::{PhaseSpec, WorkloadSpec};

use crate::{OLD, SMALL};

/// Reads of the first half of a drive, which has a hint of `tolerance`, and of the second, which has none.
fn halves(tolerance: Option<Tolerance>) -> Workload {
    let phase = |name: &str, start, tolerance| PhaseSpec {
        start: Amount::OfDrive(start),
        span: Amount::OfDrive(0.5),
        mix: Mix::reads(1.0),
        tolerance,
        ..PhaseSpec::new(name, Limit::requests(3_000))
    };
    let phases = vec![phase("other", 0.5, None), phase("first", 0.0, tolerance), phase("again", 0.5, None)];
    Workload::Made(WorkloadSpec { name: "halves".to_owned(), purpose: String::new(), phases })
}

/// Counts reads of the first `half` sectors and those of them that took longer in the device than a limit, by itself.
#[derive(Debug, Default)]
struct Witness {
    half: u64,
    limit: Nanos,
    reads: u64,
    over: u64,
}

impl Observer for Witness {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Completed(done) = event
            && done.op == HostOp::Read
            && done.sector < self.half
        {
            let Some(waits) = done.stages.total().0.checked_sub(done.stages.device().0) else { panic!("a part of a latency") };
            self.reads += 1;
            self.over += u64::from(done.stages.total().0 - waits > self.limit.0);
        }
    }
}

impl Beside for Witness {}

fn plan(more: &[&str]) -> Plan {
    let settings: Vec<String> = SMALL.iter().chain(&OLD).chain(more).map(|&setting| setting.to_owned()).collect();
    Plan::load_set("pageftl", &settings).unwrap_or_else(|error| panic!("{error}"))
}

fn made(more: &[&str], workload: &Workload, limit: Nanos) -> (DriveResult, Witness) {
    let plan = plan(more);
    let witness = Witness { half: plan.build().exported().0 / SECTOR_BYTES / 2, limit, ..Witness::default() };
    let outcome = Job::new(&plan, workload, &Load::default()).run(witness, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    (outcome.result, outcome.beside)
}

fn of(result: &DriveResult) -> &HintedReadsResult {
    result.hinted_reads.as_ref().expect("a phase has a hint")
}

#[test]
fn reads_over_a_hint_are_counted_by_class_as_a_witness_counts_them() {
    for (limit, text) in [(Nanos(1), "1 ns"), (Nanos(150_000), "150 us"), (Nanos(50_000_000), "50 ms")] {
        let setting = format!("techniques.latency-hints.typical={text}");
        let (result, witness) = made(&["techniques.latency-hints.on=true", &setting], &halves(Some(Tolerance::Typical)), limit);
        let hinted = of(&result);
        println!("{text}: {hinted:?}");
        assert!(hinted.in_effect);
        assert_eq!((hinted.reads, hinted.over), (witness.reads, witness.over), "{text}");
        let [typical, none] = &hinted.classes[..] else { panic!("{:?}", hinted.classes) };
        assert_eq!(
            (typical.tolerance.as_str(), typical.limit_us, typical.over),
            ("typical", Some(limit.as_micros_f64()), Some(witness.over))
        );
        // Those before the hint are of no class, too.
        assert_eq!((none.tolerance.as_str(), none.limit_us, none.reads, none.over), ("none", None, 6_000, None));
        assert_eq!(hinted.over_share, witness.over as f64 / 3_000.0);
    }
    let over = |limit: u64| made(&[], &halves(Some(Tolerance::Typical)), Nanos(limit)).1.over;
    assert!(over(1) == 3_000 && (1..3_000).contains(&over(150_000)) && over(50_000_000) == 0, "the limits tell reads apart");
}

#[test]
fn a_drive_without_the_technique_is_held_to_its_defaults_and_says_so() {
    let (result, witness) = made(&[], &halves(Some(Tolerance::Shortest)), Nanos(200_000));
    assert!(!of(&result).in_effect);
    assert_eq!((of(&result).reads, of(&result).over), (3_000, witness.over));
    assert_eq!(of(&result).classes[0].limit_us, Some(200.0));
}

#[test]
fn a_load_without_hints_has_no_reads_by_hint() {
    // A hint of no class is none.
    for tolerance in [None, Some(Tolerance::Default)] {
        let (result, _) = made(&["techniques.latency-hints.on=true"], &halves(tolerance), Nanos(1));
        assert_eq!(result.hinted_reads, None);
        assert!(!wordline_pages::json(&result).contains("hinted_reads"));
        assert!(!wordline_pages::text::run(&result).contains("over it"));
    }
}

/// Reads are counted beside a run and change nothing in it.
#[test]
fn counting_changes_no_event() {
    let workload = halves(Some(Tolerance::Longer));
    let (result, _) = made(&[], &workload, Nanos(1));
    let config = plan(&[]).build();
    let mut source = wordline_runs::Source::new(&workload, &Load::default(), config.seed, config.exported()).expect("it fits");
    let (age, units) = (config.age().expect("an age"), (config.exported_units as f64 * plan(&[]).initial_fill()) as u64);
    let mut drive = Watched::new(config, ());
    drive.construct_filled(units);
    drive.set_age(&age);
    while let Some(stage) = source.next_stage() {
        let pace = stage.pace(drive.now());
        drive.serve(&mut source, pace, None);
    }
    assert_eq!(result.event_log_hash, format!("{:016x}", drive.log().hash()));
}
