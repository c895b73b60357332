//! Runs from outside: their steps are taken in order, none is left out, and who watches or how they are cut changes nothing.

use wordline_drive::{Config, Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_plan::Plan;
use wordline_runs::{Beside, Job, Load, Logs, Outcome, Plotted, Prepared, Progress, RunError, Workload, saved};
use wordline_units::{FlashOp, Nanos};
use wordline_workload::{AnySpec, FileLoad, FileOptions, FileSpec};

mod hinted;
mod jobs;
mod plans;
mod read_out;
mod techniques;
mod warm;
mod wear_out;

/// A drive that takes no time, with cells that have physics.
const SMALL: [&str; 5] =
    ["mapping.over_provisioning=40 %", "geometry.blocks=24", "geometry.layers=4", "flash.channels=1", "flash.dies_per_channel=2"];
/// An age at which pages are read more than once.
const OLD: [&str; 2] = ["cells.cycles=2000", "cells.retention=1y"];

fn plan(more: &[&str]) -> Plan {
    let settings: Vec<String> = SMALL.iter().chain(more).map(|&setting| setting.to_owned()).collect();
    Plan::load_set("pageftl", &settings).unwrap_or_else(|error| panic!("{error}"))
}

fn mails() -> FileSpec {
    match AnySpec::built_in("mailserver").expect("it is built in") {
        AnySpec::Files(spec) => spec,
        AnySpec::Phases(_) | AnySpec::Jobs(_) => panic!("mails are files"),
    }
}

/// Writes and reads of files, as long as half the drive.
fn files() -> Workload {
    Workload::Filed(Box::new(mails()), FileOptions { length: Some(0.5), ..FileOptions::default() })
}

fn named(name: &str, load: &Load) -> Workload {
    Workload::load(name, load, &mut |line| panic!("{line}")).unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &Plan, workload: &Workload, load: &Load) -> Outcome<()> {
    Job::new(plan, workload, load).run((), &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn hash(outcome: &Outcome<()>) -> &str {
    &outcome.result.event_log_hash
}

fn retries(outcome: &Outcome<()>) -> u64 {
    let errors = outcome.result.read_errors.as_ref().expect("the cells have physics");
    errors.by_retries.iter().enumerate().map(|(retries, reads)| retries as u64 * reads).sum()
}

/// The same run by hand, with nothing of this crate: filled, aged, served in one go.
fn by_hand(config: Config, is_aged: bool) -> u64 {
    let mut load = FileLoad::new(&mails(), config.seed, config.exported(), FileOptions { length: Some(0.5), ..FileOptions::default() })
        .expect("it fits");
    let (depth, filled) = (load.queue_depth(), load.prefilled().0 / config.firmware.unit.0);
    let age = config.cells.as_ref().and_then(|cells| cells.age).expect("an age");
    let mut drive = Watched::new(config, ());
    drive.construct_filled(filled);
    if is_aged {
        drive.set_age(&age);
    }
    drive.serve(&mut load, Pace::Closed { depth }, None);
    drive.log().hash()
}

#[test]
fn a_run_is_the_run_that_is_made_by_hand_with_its_age() {
    let plan = plan(&OLD);
    let outcome = run(&plan, &files(), &Load::default());
    assert_eq!(*hash(&outcome), format!("{:016x}", by_hand(plan.build(), true)));
    // The age is seen: who forgets it makes another run.
    assert_ne!(*hash(&outcome), format!("{:016x}", by_hand(plan.build(), false)));
    assert!(retries(&outcome) > 0);
}

#[test]
fn a_new_drive_is_set_to_its_age_and_one_that_was_saved_has_its_own() {
    let (old, new) = (plan(&OLD), plan(&[]));
    let (workload, load) = (files(), Load { requests: Some(2_000), ..Load::default() });
    let [aged, fresh] = [&old, &new].map(|plan| run(plan, &workload, &load));
    assert!(retries(&aged) > 0 && retries(&fresh) == 0, "{} and {}", retries(&aged), retries(&fresh));

    // Saved after a run, it has been written since: setting it to its age once more would make its new data old.
    let image = || {
        let kept = Job::new(&old, &workload, &Load::default()).keeping(true).run((), &mut ()).expect("it runs").kept;
        kept.expect("it was to be kept").0
    };
    let again = Job::new(&old, &workload, &load).on(Some((image(), "a digest".to_owned()))).run((), &mut ()).expect("it runs");
    let read_since = |drive: Watched<()>| {
        let mut drive = drive;
        let mut requests =
            FileLoad::new(&mails(), old.seed(), drive.config().exported(), FileOptions { length: Some(0.5), ..FileOptions::default() })
                .expect("it fits");
        let depth = requests.queue_depth();
        drive.serve(&mut requests, Pace::Closed { depth }, Some(2_000));
        format!("{:016x}", drive.log().hash())
    };
    assert_eq!(*hash(&again), read_since(Watched::from_image(old.build(), image(), ()).expect("its own image")));
}

#[test]
fn a_prepared_drive_that_is_steady_has_its_age_too() {
    let config = plan(&OLD).build();
    let served = |drive: &mut Watched<Reads>| {
        let mut reads = (0..500).map(|unit| wordline_units::HostRequest::new(wordline_units::HostOp::Read, unit * 32, 32));
        drive.serve(&mut reads, Pace::Closed { depth: 8 }, None);
        drive.observer.0
    };
    let retries = served(&mut Prepared::steady(config.clone(), 0.5, Reads::default()).aged());
    let mut unaged = Watched::new(config.clone(), Reads::default());
    unaged.construct_steady(&vec![0.5; config.cores as usize], config.seed);
    assert!(retries > 0 && served(&mut unaged) == 0, "{retries} retries");
}

/// Retries of flash reads.
#[derive(Default)]
struct Reads(u64);

impl Observer for Reads {
    fn observe(&mut self, _: Nanos, event: &Event) {
        if let Event::Flash(flash) = event
            && flash.op == FlashOp::Read
        {
            self.0 += u64::from(flash.retries);
        }
    }
}

/// Requests that were acknowledged, as somebody beside the metrics sees them.
#[derive(Debug, Default)]
struct Seen {
    completed: u64,
    phases: Vec<String>,
    window: Option<Nanos>,
}

impl Observer for Seen {
    fn observe(&mut self, _: Nanos, event: &Event) {
        self.completed += u64::from(matches!(event, Event::Completed(_)));
    }
}

impl Beside for Seen {
    fn begin_phase(&mut self, name: &str) {
        self.phases.push(name.to_owned());
    }

    fn start_at(&mut self, from: Nanos) {
        (self.completed, self.window) = (0, Some(from));
    }
}

fn requests<B>(outcome: &Outcome<B>) -> u64 {
    let host = &outcome.result.host;
    host.reads + host.writes + host.trims + host.flushes
}

#[test]
fn who_stands_beside_sees_the_window_and_not_how_the_drive_comes_to_rest() {
    let plan = plan(&[]);
    let workload = files();
    let outcome = Job::new(&plan, &workload, &Load::default()).run(Seen::default(), &mut ()).expect("it runs");
    // Coming to rest, the drive answers a flush more.
    assert_eq!(outcome.beside.completed, requests(&outcome));
    assert_eq!(outcome.beside.phases, ["mailserver"]);

    let load = Load { until_steady: true, ..Load::default() };
    let outcome = Job::new(&plan, &named("uniform-write", &load), &load).run(Seen::default(), &mut ()).expect("it runs");
    assert_eq!(outcome.beside.completed, requests(&outcome), "of the last round alone");
    assert!(outcome.beside.window.is_some_and(|from| from > Nanos::ZERO));
}

#[test]
fn a_run_that_is_cut_short_is_checked_after_its_figures_are_taken() {
    let plan = plan(&[]);
    let (whole, cut) = (Load::default(), Load { requests: Some(500), ..Load::default() });
    assert!(run(&plan, &files(), &whole).result.checks.not_made.is_empty());
    // Only a drive at rest can be kept: there its tables were audited.
    let outcome = Job::new(&plan, &files(), &cut).keeping(true).run(Seen::default(), &mut ()).expect("it runs");
    assert!(outcome.kept.is_some() && outcome.result.checks.passed && outcome.result.checks.not_made.is_empty());
    assert!(outcome.result.in_flight.at_end > 0, "nothing was in flight: coming to rest has no request to serve");
    assert_eq!(outcome.beside.completed, requests(&outcome), "what is served on the way to rest is no part of the run");
    let mut load =
        FileLoad::new(&mails(), plan.seed(), plan.build().exported(), FileOptions { length: Some(0.5), ..FileOptions::default() })
            .expect("it fits");
    let (depth, filled) = (load.queue_depth(), load.prefilled().0 / plan.build().firmware.unit.0);
    let mut drive = Watched::new(plan.build(), ());
    drive.construct_filled(filled);
    drive.serve(&mut load, Pace::Closed { depth }, Some(500));
    assert_eq!(outcome.result.event_log_hash, format!("{:016x}", drive.log().hash()), "the run is the one that was cut");

    let steady = Load { until_steady: true, ..Load::default() };
    let checks = run(&plan, &named("uniform-write", &steady), &steady).result.checks;
    assert!(checks.passed);
    assert_eq!(checks.not_made, ["valid units are conserved: the measured window began under load"]);
}

/// Keeps all that it is told.
#[derive(Default)]
struct Told(Vec<String>);

impl Progress for Told {
    fn expect(&mut self, total: Option<u64>) {
        self.0.push(format!("expect {total:?}"));
    }

    fn update(&mut self, _: u64, _: Nanos, doing: &str) {
        self.0.push(doing.to_owned());
    }

    fn say(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }
}

#[test]
fn watching_keeping_and_telling_change_nothing() {
    let plan = plan(&OLD);
    let workload = files();
    let load = Load::default();
    let plain = run(&plan, &workload, &load);
    let mut told = Told::default();
    let traced = Job::new(&plan, &workload, &load)
        .tracing(Some(Plotted::OfEachSet(2)))
        .keeping(true)
        .run(Logs::<Vec<u8>>::new(Vec::new()), &mut told)
        .expect("it runs");
    assert_eq!(traced.result.event_log_hash, *hash(&plain));
    assert!(traced.books.is_some() && traced.result.vertrace.is_some() && plain.books.is_none());
    let steps: Vec<&str> = ["mailserver", "checking", "saving"].into_iter().filter(|step| told.0.iter().any(|told| told == step)).collect();
    assert_eq!(steps, ["mailserver", "checking", "saving"], "{:?}", told.0);

    // And it comes back from its bytes with its books.
    let (image, tags) = traced.kept.expect("it was to be kept");
    let folder = std::env::temp_dir().join(format!("wordline-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("drive");
    std::fs::write(&file, saved::to_bytes(&plan, &image, tags.as_ref()).expect("memory")).expect("a file");
    let back = saved::load(&file);
    std::fs::remove_dir_all(&folder).expect("its own folder");
    let back = back.expect("it was saved");
    assert_eq!(back.plan.media_number(), plan.media_number());
    assert!(back.tags.is_some() && back.tags == tags);
    assert_eq!(back.image.to_bytes(plan.media_number()), image.to_bytes(plan.media_number()));
}

#[test]
fn what_does_not_go_together_is_refused_by_its_kind() {
    let plan = plan(&[]);
    let job = |workload: &Workload, load: &Load, plotted| {
        Job::new(&plan, workload, load).tracing(plotted).run((), &mut ()).map(|_| ()).expect_err("refused")
    };
    let (phases, usual) = (named("uniform-write", &Load::default()), Load::default());
    assert!(matches!(job(&phases, &usual, Some(Plotted::OfEachSet(1))), RunError::NoFiles));
    let steady = Load { until_steady: true, ..Load::default() };
    assert!(matches!(job(&files(), &steady, None), RunError::NoRounds));
    let short = Load { round: Some(3), ..steady };
    assert!(matches!(job(&phases, &short, None), RunError::ShortRound { requests: 3, .. }));
    let files = Workload::load("uniform-write", &Load { length: Some(1.0), ..Load::default() }, &mut |_| ());
    assert!(matches!(files, Err(RunError::OnlyForFiles { .. })));
}
