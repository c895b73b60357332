//! Every plan that `check` accepts makes a drive that can be filled, served, brought to rest, saved and served again.
//!
//! Plans are drawn over the table of keys (see [`draw`]), and each is run as `wordline run` runs it. The books of the run must balance. A request may fail only
//! where the plan lets parts of the drive fail. Not checked: figures, and drives that are too large for a run of milliseconds.

mod draw;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wordline_drive::Image;
use wordline_engine::{Event, Observer};
use wordline_figures::DriveResult;
use wordline_plan::Plan;
use wordline_runs::{Beside, Job, Load, RunError, Workload};
use wordline_units::Nanos;
use wordline_units::random::{Draw, Stream};
use wordline_workload::AnySpec;

use draw::Drawn;

/// Starts of runs, one after another.
const STARTS: [&[&str]; 4] = [&["run.fill=0 %"], &["run.fill=50 %"], &["run.fill=100 %"], &["run.fill=90 %", "run.steady=true"]];
/// Seeds of a suite, and plans drawn under each of them.
const SEEDS: u64 = 20;
const PLANS: u32 = 20;
/// Events by which a run of so few requests has ended many times over.
const EVENTS_MAX: u64 = 20_000_000;

/// Factor by which more seeds are drawn: `WORDLINE_LONG=1` asks for the suite of a night.
fn effort() -> u64 {
    if std::env::var_os("WORDLINE_LONG").is_some_and(|value| value != "0") { 50 } else { 1 }
}

/// Ends a run that does not end.
#[derive(Default)]
struct Patience(u64);

impl Observer for Patience {
    fn observe(&mut self, at: Nanos, event: &Event) {
        self.0 += 1;
        assert!(self.0 < EVENTS_MAX, "no end of the run in sight, at {at:?} in {event:?}");
    }
}

impl Beside for Patience {}

/// A load of all operations, its mix and pace drawn.
fn workload(draw: &mut Draw) -> Workload {
    let mixes = [
        "read = \"30 %\", write = \"60 %\", trim = \"8 %\", flush = \"2 %\"",
        "write = \"95 %\", trim = \"5 %\"",
        "read = \"70 %\", write = \"20 %\", trim = \"5 %\", flush = \"5 %\"",
    ];
    let sizes = ["\"4 KiB\"", "\"16 KiB\"", "[{ size = \"4 KiB\", share = \"50 %\" }, { size = \"48 KiB\", share = \"50 %\" }]"];
    let arrivals = ["{ queue_depth = 1 }", "{ queue_depth = 32 }", "{ rate = \"2 k/s\" }"];
    let mut pick = |of: &[&'static str]| of[draw.below(of.len() as u64) as usize];
    let text = format!(
        "name = \"drawn\"\n[[phases]]\nname = \"mixed\"\nrequests = {}\nmix = {{ {} }}\nfua = \"5 %\"\nalign = \"4 KiB\"\nsize = {}\naddress = \"uniform\"\narrival = {}\n",
        pick(&["300", "1000", "2500"]),
        pick(&mixes),
        pick(&sizes),
        pick(&arrivals)
    );
    match AnySpec::parse(&text, "drawn.toml").unwrap_or_else(|error| panic!("{error}\n{text}")) {
        AnySpec::Phases(spec) => Workload::Made(spec),
        AnySpec::Jobs(_) | AnySpec::Files(_) => panic!("it has phases"),
    }
}

/// Settings by which parts of a drive fail, or by which data is lost: ages, copies of copies that nobody corrects, and pulses that disturb what stays valid.
const FAILING: [&str; 4] = ["faults.", "cells.", "techniques.plain-copyback.on", "techniques.reprogram-page.on"];

/// Judges a run that was made.
fn judge(result: &DriveResult, drawn: &Drawn) -> Result<(), String> {
    if !result.checks.passed || !result.checks.violations.is_empty() {
        return Err(format!("books do not balance: {:?}", result.checks.violations));
    }
    let may_fail = drawn.settings.iter().any(|setting| FAILING.iter().any(|section| setting.starts_with(section)));
    if result.host.failed > 0 && !may_fail {
        return Err(format!("{} requests failed, and nothing in the plan fails: {:?}", result.host.failed, result.host.failed_by));
    }
    Ok(())
}

/// Runs the drive of the plan, saves it, restores it and runs it again.
fn live(drawn: &Drawn, workload: &Workload) -> Result<(), String> {
    let (plan, load): (&Plan, _) = (&drawn.plan, Load::default());
    let is_kept = !plan.build().firmware.recovers;
    let run = |image: Option<(Image, String)>, is_kept: bool| {
        Job::new(plan, workload, &load).on(image).keeping(is_kept).run(Patience::default(), &mut ())
    };
    if !is_kept {
        let refused = run(None, true).map(|_| ());
        if !matches!(refused, Err(RunError::Recovers { .. })) {
            return Err(format!("saved with a journal: {refused:?}"));
        }
        return judge(&run(None, false).map_err(|error| error.to_string())?.result, drawn);
    }
    let mut image = None;
    for _ in 0..2 {
        let outcome = match run(image, true) {
            // A drive without a place left for its data is not saved, and then the run by itself must be sound.
            Err(RunError::Busy(why)) if has_faults(drawn) && is_for_want_of_room(&why.to_string()) => {
                return judge(&run(None, false).map_err(|error| error.to_string())?.result, drawn);
            }
            outcome => outcome.map_err(|error| error.to_string())?,
        };
        judge(&outcome.result, drawn)?;
        let bytes = outcome.kept.expect("it was to be kept").0.to_bytes(plan.media_number());
        let back = Image::from_bytes(&bytes, plan.media_number()).map_err(|error| format!("restoring: {error}"))?;
        image = Some((back, "a digest".to_owned()));
    }
    Ok(())
}

/// True if parts of the drive fail by the plan.
fn has_faults(drawn: &Drawn) -> bool {
    drawn.settings.iter().any(|setting| setting.starts_with("faults."))
}

/// True if a drive could not be saved because blocks that have failed left no room for what it holds.
fn is_for_want_of_room(why: &str) -> bool {
    why.contains("it is worn out and takes no more writes") || why.contains("and there is none on die")
}

/// Draws the plan of this number under `seed` and lives with it. Returns it, and what failed, with all that makes it again.
fn trial(seed: u64, number: u32) -> (Drawn, Option<String>) {
    let start = STARTS[(seed as u32 + number) as usize % STARTS.len()];
    let drawn = draw::plan(seed, number, start);
    let workload = workload(&mut Draw::new(seed, Stream::Address, number));
    let ended = catch_unwind(AssertUnwindSafe(|| live(&drawn, &workload)));
    let panicked = |cause: Box<dyn std::any::Any + Send>| {
        let text = cause.downcast_ref::<String>().cloned().or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    };
    let failure = ended.unwrap_or_else(panicked).err();
    let made_by = [&drawn.small[..], &drawn.settings].concat();
    let failure = failure.map(|what| format!("seed {seed}, plan {number}: {what}\n  {} {made_by:?}\n  {workload:?}", drawn.base));
    (drawn, failure)
}

/// `WORDLINE_SEED=N` looks at one seed alone.
#[test]
fn every_accepted_plan_is_filled_served_rested_and_saved() {
    let only = std::env::var("WORDLINE_SEED").ok().map(|seed| seed.parse::<u64>().expect("a seed is a number"));
    let seeds = only.map_or(1..SEEDS * effort() + 1, |seed| seed..seed + 1);
    let (mut failures, mut sections, mut accepted, mut refused, mut plans) = (Vec::new(), BTreeMap::<String, u64>::new(), 0, 0, 0);
    for (seed, number) in seeds.flat_map(|seed| (0..PLANS).map(move |number| (seed, number))) {
        let (drawn, failure) = trial(seed, number);
        (plans, accepted, refused) = (plans + 1, accepted + drawn.settings.len() as u64, refused + drawn.refused);
        for setting in &drawn.settings {
            let section = setting.split('=').next().and_then(|key| key.rsplit_once('.')).expect("a key").0;
            *sections.entry(section.to_owned()).or_default() += 1;
        }
        failures.extend(failure);
    }
    println!("{plans} plans, {accepted} settings accepted, {refused} refused: {sections:?}");
    assert!(failures.is_empty(), "{} of {plans} plans failed:\n{}", failures.len(), failures.join("\n"));
    assert!(accepted > 2 * refused && accepted > 5 * plans, "{accepted} settings accepted and {refused} refused in {plans} plans");
    if only.is_none() {
        draw::sections().for_each(|section| assert!(sections.contains_key(section), "nothing of {section} was accepted"));
    }
}
