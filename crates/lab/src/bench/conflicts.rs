//! Bench of operations that give way to reads: who waits for whom, how often erases are stopped, and what that does to garbage collection (000 §4.1, §4.2).

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer, StopKind};
use wordline_figures::result::StopsOf;
use wordline_figures::waits::Behind;
use wordline_pages::html::figure::{Columns, Figure};
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Attributes, FlashOp, HostOp, HostRequest, Nanos, Priority};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::plan;
use crate::jobbed::{Ran, Trial, all, jobs, weights};
use crate::protocol::{Count, Name, Number, Span, conditions};

/// The `conflicts` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "conflicts",
    summary: "Reads that meet erases, programs and other reads: who waits for whom, stops per erase, time of garbage collection",
    metrics: &[
        m("tail", "ratio", "Baseline: longest read over the mean of all reads"),
        m("erase-wait", "ratio", "Baseline: longest wait of a read that came behind an erase, over the longest erase"),
        m("erase-excess", "ratio", "Baseline: that wait, less the longest of reads that came behind anything else, over the longest erase"),
        m("behind-lower", "share", "Baseline: high reads that came to their die while it did a read of lower priority"),
        m("lower-wait", "ratio", "Baseline, old: longest wait of such a high read, over t_READ"),
        m("lower-wait-mean", "ratio", "Baseline, old: mean wait of such a high read, over t_READ"),
        m("stops-most", "count", "Every read stops at once: greatest number of stops of one erase, under stress"),
        m("now-most", "count", "By priority: greatest number of stops at once of one erase, under stress by normal and low reads"),
        m("step-stops-most", "count", "By priority: greatest number of all stops of one erase, under the same stress"),
        m(
            "victim-over",
            "ratio",
            "By priority: mean time from the first read of a victim to its erase, over what the baseline and the stops allow",
        ),
        m("victim-ratio", "ratio", "By priority: that time over the baseline's"),
        m("victim-at-once", "ratio", "Every read stops at once: that time over the baseline's"),
        m(
            "yield-extra",
            "count",
            "By priority: sensings beyond the tries of reads, where normal reads go before low ones between two tries",
        ),
        m("abort-extra", "ratio", "By priority: the same where high reads break low ones off, for each that is broken off"),
        m("yields", "count", "By priority: reads that gave way between two tries in that run"),
        m("ordered", "share", "By priority: of p99, p99.9 and p99.99 of reads, those that rise from high over normal to low"),
        m("high-behind-program", "us", "By priority: mean wait of a high read that came behind a program"),
        m("high-behind-erase", "us", "By priority: mean wait of a high read that came behind an erase"),
        m("high-gain", "ratio", "p99.99 of high reads, baseline over by priority"),
        m("ordered-equal", "share", "By priority, host queues with the other weights: of p99, p99.9 and p99.99 of reads, those that rise"),
        m("high-gain-equal", "ratio", "The same weights: p99.99 of high reads, baseline over by priority"),
        m("high-over-low", "ratio", "Baseline: mean latency of high reads over that of low ones"),
        m("high-over-low-equal", "ratio", "The same with the other weights"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "conflicts",
    /// Conditions of reads that meet other operations.
    struct At {
        /// the drive that stops nothing, the one on which every read stops at once, and the one that goes by priority
        drives: [Name; 3],
        /// exported size of each drive, or "whole"
        size: Name,
        /// workload of jobs with readers of three priorities and writers
        load: Name,
        /// time of that workload
        seconds: Number,
        /// other weights of high, normal and low requests in the host's queues, under that workload
        weights: [Count; 3],
        /// workload of jobs with readers that never let a die rest
        stress: Name,
        /// time of that workload
        stress_seconds: Number,
        /// stages of life under that workload, with fresh data; the most stops of all of them count
        stress_lives: Vec<Name>,
        /// stage of life
        life: Name,
        /// stage of life at which reads take most retries
        old: Name,
        /// retention of the data that is there at the start
        kept: Span,
        /// reads of the runs without writes
        reads: Count,
        /// their rate, in reads a second
        rate: Number,
    }
}

/// Priorities of the readers of the workloads.
const PRIORITIES: [&str; 3] = ["high", "normal", "low"];

const BASELINE: usize = 0;
const AT_ONCE: usize = 1;
const BY_PRIORITY: usize = 2;

/// Stops of reads, and the tries of those that have ended.
#[derive(Default)]
struct Tries {
    tries: u64,
    broken_off: u64,
    gave_way: u64,
}

impl Observer for Tries {
    fn observe(&mut self, _: Nanos, event: &Event) {
        match event {
            Event::Flash(flash) => self.tries += 1 + u64::from(flash.retries),
            Event::Stopped { kind: FlashOp::Read, how, .. } => {
                let count = if *how == StopKind::Now { &mut self.broken_off } else { &mut self.gave_way };
                *count += 1;
            }
            Event::Stopped { .. }
            | Event::Arrived { .. }
            | Event::Completed(_)
            | Event::Invalidated { .. }
            | Event::Retired { .. }
            | Event::Exposed { .. }
            | Event::ProgrammedAgain { .. }
            | Event::DataLost { .. }
            | Event::DieSuspected { .. }
            | Event::DieFailed { .. }
            | Event::UnitsLost { .. }
            | Event::UnitsHealed { .. }
            | Event::Harmed { .. }
            | Event::WornOut => {}
        }
    }
}

/// Reads of these two classes on the old drive by priority, without a write. Returns the tries, and the sensings that its blocks have seen.
fn read_alone(setup: &Setup, at: &At, classes: [Priority; 2]) -> Result<(Tries, u64), LabError> {
    let age = [format!("cells.cycles={}", at.old), format!("cells.retention={} s", at.kept)];
    let config = plan(setup, &at.drives[BY_PRIORITY], &at.size, &age.each_ref().map(String::as_str))?.build();
    let age = config
        .cells
        .as_ref()
        .and_then(|cells| cells.age)
        .ok_or_else(|| LabError::Usage("conflicts.old: the drive takes no age".to_owned()))?;
    let (units, sectors) = (config.exported_units, config.firmware.unit.0 / SECTOR_BYTES);
    let mut drive = Watched::new(config, Tries::default());
    drive.construct_filled(units);
    drive.set_age(&age);
    let before = drive.sensings();
    drive.observer = Tries::default();
    let mut draw = Draw::new(setup.seed, Stream::Address, 0);
    let gap = Nanos((1e9 / at.rate) as u64);
    let reads = (0..at.reads as u64).map(move |number| {
        let priority = classes[draw.below(2) as usize];
        let request = HostRequest::new(HostOp::Read, draw.below(units) * sectors, sectors as u32);
        HostRequest { at: gap * number, attributes: Attributes::of(priority), ..request }
    });
    let origin = drive.now();
    drive.serve(&mut reads.into_iter(), Pace::Open { origin }, None);
    let seen = drive.sensings() - before;
    Ok((drive.observer, seen))
}

/// Latency of a class of reads in a result.
fn class<'r>(run: &'r Ran, priority: &str) -> Option<&'r wordline_figures::result::Latency> {
    run.result.latency_us_by_priority.iter().find(|class| class.op == "read" && class.priority == priority).map(|class| &class.latency_us)
}

/// Waits of the reads of one class, or of all, that came while their die did one of these: number, mean and longest in microseconds.
fn waits(run: &Ran, priority: Option<&str>, behind: &[Behind]) -> (f64, f64, f64) {
    let is_wanted = |wait: &&wordline_figures::result::WaitResult| {
        priority.is_none_or(|priority| wait.priority == priority) && behind.iter().any(|behind| behind.name() == wait.behind)
    };
    let found = run.result.waits.iter().filter(is_wanted);
    let (reads, sum, most) = found.fold((0.0, 0.0, 0.0f64), |(reads, sum, most), wait| {
        (reads + wait.reads as f64, sum + wait.mean_us * wait.reads as f64, most.max(wait.max_us))
    });
    (reads, if reads > 0.0 { sum / reads } else { f64::NAN }, most)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let (load, stress) = (jobs(&at.load, at.seconds)?, jobs(&at.stress, at.stress_seconds)?);
    let with = |settings: &[String], drive: usize, (life, kept): (&str, f64), jobs: &wordline_workload::JobsSpec| {
        let age = [format!("cells.cycles={life}"), format!("cells.retention={kept} s")];
        let settings: Vec<&str> = settings.iter().chain(&age).map(String::as_str).collect();
        let plan = plan(setup, &at.drives[drive], &at.size, &settings)?;
        Ok::<_, LabError>(Trial { plan, jobs: jobs.clone(), inspection: None })
    };
    let trial = |drive, age, jobs| with(&[], drive, age, jobs);
    let other = weights(at.weights);
    let mut trials = vec![
        trial(BASELINE, (&at.life, at.kept), &load)?,
        trial(AT_ONCE, (&at.life, at.kept), &load)?,
        trial(BY_PRIORITY, (&at.life, at.kept), &load)?,
        trial(BASELINE, (&at.old, at.kept), &load)?,
        with(&other, BASELINE, (&at.life, at.kept), &load)?,
        with(&other, BY_PRIORITY, (&at.life, at.kept), &load)?,
    ];
    for life in &at.stress_lives {
        trials.extend([trial(AT_ONCE, (life, 0.0), &stress)?, trial(BY_PRIORITY, (life, 0.0), &stress)?]);
    }
    let runs = all(setup, "conflicts", &trials)?;
    let sheet = trials[0].plan.build().sheet;
    let mut findings = Findings::default();
    judge(&mut findings, &at, &runs, &sheet);
    let (yields, sensed) = read_alone(setup, &at, [Priority::Normal, Priority::Low])?;
    findings.set("yield-extra", sensed as f64 - yields.tries as f64 - yields.broken_off as f64);
    findings.set("yields", yields.gave_way as f64);
    let (aborts, sensed) = read_alone(setup, &at, [Priority::High, Priority::Low])?;
    findings.set("abort-extra", (sensed as f64 - aborts.tries as f64) / aborts.broken_off as f64);
    Ok(findings)
}

fn judge(findings: &mut Findings, at: &At, runs: &[Ran], sheet: &wordline_flash::Sheet) {
    let [base, at_once, ours, old, equal_base, equal, stressed @ ..] = runs else {
        unreachable!("there are six runs before those of stress")
    };
    if let Some(read) = &base.result.latency_us.read {
        findings.set("tail", read.max / read.mean);
    }
    let erase = base.maintenance.erase_longest.as_micros_f64();
    let others: Vec<Behind> = Behind::ALL.into_iter().filter(|&behind| behind != Behind::Erase).collect();
    let ((.., behind_erase), (.., behind_others)) = (waits(base, None, &[Behind::Erase]), waits(base, None, &others));
    findings.set("erase-wait", behind_erase / erase);
    findings.set("erase-excess", (behind_erase - behind_others) / erase);
    let high = class(base, "high").map_or(f64::NAN, |latency| latency.count as f64);
    findings.set("behind-lower", waits(base, Some("high"), &[Behind::LessUrgent]).0 / high);
    let t_read = sheet.timing.read[0].as_micros_f64();
    let (_, mean, most) = waits(old, Some("high"), &[Behind::LessUrgent]);
    findings.set("lower-wait", most / t_read);
    findings.set("lower-wait-mean", mean / t_read);
    // Of each stage of life, the drive on which every read stops at once and the one that goes by priority.
    let most = |which: usize, of: fn(&StopsOf) -> u64| {
        let each = stressed.iter().skip(which).step_by(2).filter_map(|run| run.result.stops.as_ref());
        each.map(|stops| of(&stops.erases) as f64).fold(0.0, f64::max)
    };
    findings.set("stops-most", most(0, |stops| stops.max));
    findings.set("now-most", most(1, |stops| stops.max_now));
    findings.set("step-stops-most", most(1, |stops| stops.max));
    // Each stop adds a spell with one read, what it loses of a step, and the resume.
    let timing = &sheet.timing;
    let each = (timing.read[0] + timing.step_erase + timing.halt_erase + timing.resume).as_secs_f64();
    let (ours_mean, base_mean) = (ours.maintenance.mean(), base.maintenance.mean());
    findings.set("victim-over", ours_mean / (base_mean + ours.maintenance.stops_each() * each));
    findings.set("victim-ratio", ours_mean / base_mean);
    findings.set("victim-at-once", at_once.maintenance.mean() / base_mean);
    by_class(findings, [[base, ours], [equal_base, equal]]);
    findings.set("high-behind-program", waits(ours, Some("high"), &[Behind::HostProgram, Behind::OtherProgram]).1);
    findings.set("high-behind-erase", waits(ours, Some("high"), &[Behind::Erase]).1);
    figures(at, [base, at_once, ours], findings);
}

/// Records the order of the classes of reads, and what high priority gains, with both kinds of weights: of each the run of the baseline and ours.
fn by_class(findings: &mut Findings, weighted: [[&Ran; 2]; 2]) {
    let names = [["ordered", "high-gain", "high-over-low"], ["ordered-equal", "high-gain-equal", "high-over-low-equal"]];
    for ([base, ours], [ordered, gain, apart]) in weighted.into_iter().zip(names) {
        let [high_before, _, low_before] = PRIORITIES.map(|priority| class(base, priority));
        if let [Some(high), Some(normal), Some(low)] = PRIORITIES.map(|priority| class(ours, priority)) {
            let rises = [[high.p99, normal.p99, low.p99], [high.p999, normal.p999, low.p999], [high.p9999, normal.p9999, low.p9999]];
            findings.set(ordered, crate::lot::share(rises.into_iter().map(|spans| spans.is_sorted())));
            if let Some(before) = high_before {
                findings.set(gain, before.p9999 / high.p9999);
            }
        }
        if let (Some(high), Some(low)) = (high_before, low_before) {
            findings.set(apart, high.mean / low.mean);
        }
    }
}

/// Draws the latencies of reads by priority, and who waited for whom, on each of the three drives.
fn figures(at: &At, runs: [&Ran; 3], findings: &mut Findings) {
    for (title, wanted) in [("mean", 0), ("p99.99", 1)] {
        let value = |run: &Ran, priority: &str| {
            class(run, priority).map_or(f64::NAN, |latency| if wanted == 0 { latency.mean } else { latency.p9999 })
        };
        findings.figures.push(Figure::Columns(Columns {
            title: format!("Reads by priority, {title}"),
            note: format!("{} at {}", at.load, at.life),
            x: "priority".to_owned(),
            y: "us".to_owned(),
            groups: PRIORITIES.map(str::to_owned).to_vec(),
            series: runs
                .into_iter()
                .zip(&at.drives)
                .map(|(run, name)| (name.clone(), PRIORITIES.map(|priority| value(run, priority)).to_vec()))
                .collect(),
        }));
    }
    for (run, name) in runs.into_iter().zip(&at.drives) {
        let of = |priority: &str| {
            Behind::ALL.map(|behind| {
                let (reads, mean, _) = waits(run, Some(priority), &[behind]);
                if reads > 0.0 { reads * mean / class(run, priority).map_or(1.0, |latency| latency.count as f64) } else { 0.0 }
            })
        };
        findings.figures.push(Figure::Columns(Columns {
            title: format!("Who waited for whom, {name}"),
            note: "mean wait of a read for its die, by what the die was doing when it came".to_owned(),
            x: "die was doing".to_owned(),
            y: "us".to_owned(),
            groups: Behind::ALL.map(|behind| behind.name().to_owned()).to_vec(),
            series: PRIORITIES.map(|priority| (priority.to_owned(), of(priority).to_vec())).to_vec(),
        }));
    }
}
