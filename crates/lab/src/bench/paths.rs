//! Bench of the paths of pages through a drive: a read with its retries, and moves within a die or through the controller (000 §2.6.2, 003 §2.3, 001 §4.1.1).
//!
//! A whole drive is run, in its own time, and its flash operations are watched. Its cells are those of the drive's chip; the study's has no part in it.

use wordline_drive::{Pace, Watched};
use wordline_engine::{Event, Observer};
use wordline_pages::html::figure::{Curve, Curves, Figure, Scale};
use wordline_plan::Plan;
use wordline_runs::Prepared;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::{Draw, Stream};
use wordline_units::{Cause, FlashOp, HostOp, HostRequest, Nanos};

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::lot::{greatest, mean, share};
use crate::protocol::{Count, Cycles, Name, Rising, Span, conditions};

/// The `paths` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "paths",
    summary: "Time of reads over their retries, and of moves by copyback and through the controller, in running drives",
    metrics: &[
        m("retries-most", "count", "Most retries of a read that was seen often enough"),
        m("retry-linear", "share", "Greatest departure of the mean time of reads with n retries from n + 1 times that of reads without"),
        m("copyback-time", "ratio", "Time a die works on a copyback, over t_R and t_PROG"),
        m("copyback-crowded", "ratio", "Mean time of a copyback from its issue to its end: most dies on a channel over one"),
        m(
            "off-chip-crowded",
            "ratio",
            "What reads and programs that move data through the controller take beside their dies' work: most dies over one",
        ),
        m("off-chip-order", "share", "Steps to more dies at which that grows"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "paths",
    /// Conditions of the drives and their requests.
    struct At {
        /// the drive that is read
        read: Name,
        /// settings of the drive that is read
        read_small: Vec<Name>,
        /// cycles of the blocks of the drive that is read
        pe: Cycles,
        /// retention of the data that are read
        kept: Span,
        /// number of reads, one after the other
        reads: Count,
        /// number of reads with as many retries from which on their mean counts
        often: Count,
        /// the drive that moves data
        moving: Name,
        /// settings of the drive that moves data
        moving_small: Vec<Name>,
        /// setting by which the drive moves data by copyback
        copyback: Name,
        /// numbers of dies on the channel of the drive that moves data
        dies: Rising<crate::protocol::Number, 2>,
        /// number of writes for each die, at random places, in its steady state
        writes: Count,
        /// number of requests outstanding for each die
        depth: Count,
    }
}

/// Measured times of flash operations: microseconds from issue to end.
#[derive(Debug, Default)]
struct Seen {
    /// Times of host reads, by their retries.
    reads: Vec<Vec<f64>>,
    /// Times of copybacks, and how long their dies worked.
    copybacks: Vec<(f64, f64)>,
    /// Times of reads and programs of reclaim, without the time their dies worked.
    moves: [Vec<f64>; 2],
}

impl Observer for Seen {
    fn observe(&mut self, at: Nanos, event: &Event) {
        let Event::Flash(flash) = event else { return };
        let time = at.saturating_sub(flash.issued).as_micros_f64();
        match (flash.op, flash.cause) {
            (FlashOp::Read, Cause::Host) => {
                let retries = usize::from(flash.retries);
                if self.reads.len() <= retries {
                    self.reads.resize(retries + 1, Vec::new());
                }
                self.reads[retries].push(time);
            }
            (FlashOp::Copyback, _) => self.copybacks.push((time, flash.array.as_micros_f64())),
            (FlashOp::Read, Cause::Gc) => self.moves[0].push(time - flash.array.as_micros_f64()),
            (FlashOp::Program, _) if flash.moved_units > 0 => self.moves[1].push(time - flash.array.as_micros_f64()),
            _ => {}
        }
    }
}

/// Runs a drive under `count` requests for single units at random places.
fn work(plan: &Plan, op: HostOp, count: u64, depth: u32, steady: bool) -> Watched<Seen> {
    let config = plan.build();
    let (units, seed, unit) = (config.exported_units, config.seed, config.firmware.unit.0);
    let seen = Seen::default();
    let prepared = if steady { Prepared::steady(config, 1.0, seen) } else { Prepared::filled(config, units, seen) };
    let mut drive = prepared.aged();
    let sectors = (unit / SECTOR_BYTES) as u32;
    let mut draw = Draw::new(seed, Stream::Construct, 1);
    let mut load = std::iter::from_fn(|| {
        let sector = draw.below(units) * u64::from(sectors);
        Some(HostRequest::new(op, sector, sectors))
    });
    drive.serve(&mut load, Pace::Closed { depth }, Some(count));
    drive.settle();
    drive
}

fn load(setup: &Setup, name: &str, settings: &[String], more: impl IntoIterator<Item = String>) -> Result<Plan, LabError> {
    setup.null.on_drive(Plan::load_set(name, &settings.iter().cloned().chain(more).collect::<Vec<_>>())?)
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let mut findings = Findings::default();
    let age = [format!("cells.cycles={}", at.pe), format!("cells.retention={} s", at.kept)];
    let plan = load(setup, &at.read, &at.read_small, age)?;
    let seen = work(&plan, HostOp::Read, u64::from(at.reads), 1, false);
    let reads = &seen.observer.reads;
    let times: Vec<(f64, f64)> = reads
        .iter()
        .enumerate()
        .filter(|(_, times)| times.len() >= at.often as usize)
        .map(|(retries, times)| (retries as f64, mean(times)))
        .collect();
    if let Some((_, once)) = times.first().filter(|(retries, _)| *retries == 0.0) {
        let departure = |(retries, time): &(f64, f64)| (time / (once * (retries + 1.0)) - 1.0).abs();
        findings.set("retry-linear", greatest(&times.iter().map(departure).collect::<Vec<_>>()));
        findings.set("retries-most", times[times.len() - 1].0);
    }
    // The same drive with one die and with more on its channel, by copyback and without.
    let moved = |how: Option<&String>, dies: f64| {
        let plan = load(setup, &at.moving, &at.moving_small, how.cloned().into_iter().chain([format!("flash.dies_per_channel={dies}")]))?;
        let all = dies as u32;
        Ok::<_, LabError>((work(&plan, HostOp::Write, u64::from(at.writes * all), at.depth * all, true), plan))
    };
    let (mut by_copyback, mut off_chip, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for dies in &at.dies {
        let (drive, plan) = moved(Some(&at.copyback), *dies)?;
        let copybacks = &drive.observer.copybacks;
        by_copyback.push((*dies, mean(&copybacks.iter().map(|(time, _)| *time).collect::<Vec<_>>())));
        if *dies == at.dies[0] && !copybacks.is_empty() {
            let timing = plan.build().sheet.timing;
            let least = timing.read[0].as_micros_f64() + timing.program[0].as_micros_f64();
            findings.set("copyback-time", mean(&copybacks.iter().map(|(_, array)| *array).collect::<Vec<_>>()) / least);
        }
        let (drive, plan) = moved(None, *dies)?;
        let [reads, programs] = &drive.observer.moves;
        let timing = plan.build().sheet.timing;
        let work = timing.read[0].as_micros_f64() + timing.program[0].as_micros_f64();
        beside.push((*dies, mean(reads) + mean(programs)));
        off_chip.push((*dies, work + mean(reads) + mean(programs)));
    }
    let crowded = |times: &[(f64, f64)]| times[times.len() - 1].1 / times[0].1;
    findings.set("copyback-crowded", crowded(&by_copyback));
    findings.set("off-chip-crowded", crowded(&beside));
    findings.set("off-chip-order", share(beside.windows(2).map(|pair| pair[1].1 > pair[0].1)));
    let curve = |label: &str, colour: usize, points: Vec<(f64, f64)>| Curve { label: label.to_owned(), colour, dashed: false, points };
    findings.figures = vec![
        Figure::Curves(Curves {
            title: "Time of a read over its retries".to_owned(),
            note: format!("{}, one read at a time", plan.name()),
            x: Scale::from_zero("retries"),
            y: Scale::from_zero("us"),
            curves: vec![curve("reads", 0, times)],
            marks: Vec::new(),
        }),
        Figure::Curves(Curves {
            title: "Time of a move over the dies on a channel".to_owned(),
            note: format!("{}, random writes in the steady state", at.moving),
            x: Scale::from_zero("dies"),
            y: Scale::from_zero("us"),
            curves: vec![curve("copyback", 0, by_copyback), curve("through the controller", 4, off_chip)],
            marks: Vec::new(),
        }),
    ];
    Ok(findings)
}
