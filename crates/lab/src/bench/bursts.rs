//! Bench of write bursts with rests between them: which arrival pattern lets leaders be programmed while no request waits, the gain by followers after that,
//! and the latencies of requests (003 §6.2, §6.3).
//!
//! Neither the buffer nor the pattern is given. Both are swept; the buffer at which latencies are judged is the one where those of the plain drive lie nearest
//! to what the source has.

mod judged;

use wordline_plan::Plan;
use wordline_units::Nanos;
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{files, plan};
use crate::paced::{KIB, Load, Rhythm, Trial, Tried, all};
use crate::protocol::{Count, Micros, Name, Number, Rising, Share, Size, conditions};

/// The `bursts` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "bursts",
    summary: "Bursts of writes with rests between them: what followers gain there, and what requests see of it",
    metrics: &[
        m("gain-whole", "ratio", "Writes by the second, rests counted, cubeFTL over the plain drive, highest of all patterns"),
        m("gain-whole-bound", "ratio", "The same over 1 / (1 - r), with r as followers save in that run"),
        m("gain-none", "ratio", "The same without any rest, with bursts of the length in the middle"),
        m("gain", "ratio", "Writes by the second of bursts, cubeFTL over the plain drive, highest of all patterns"),
        m("reach-burst", "ratio", "Bytes of the longest burst in which cubeFTL gains what is told, over those of the buffer"),
        m("reach-rest", "ratio", "The shortest rest with which it does, over the time to program a burst"),
        m("leaders", "share", "Leaders among the programs of bursts of cubeFTL, at the pattern in the middle"),
        m("over-vert", "ratio", "Writes by the second of bursts, cubeFTL over vertFTL, highest of all patterns"),
        m("over-minus", "ratio", "Writes by the second of bursts, mixed order over horizontal first, highest of all patterns"),
        m("over-minus-least", "ratio", "The same, lowest"),
        m("six-max", "ratio", "Requests by the second of bursts, cubeFTL over the plain drive, highest of the six workloads"),
        m("six-best", "count", "The workload in which it is highest, by its place in the list"),
        m(
            "six-least",
            "ratio",
            "Requests by the second of bursts, cubeFTL over the better of vertFTL and the plain drive, lowest of the workloads",
        ),
        m("six-minus", "ratio", "Requests by the second of bursts, mixed order over horizontal first, highest of the workloads"),
        m("blocks", "share", "Steps to more open blocks with which writes by the second of bursts do not fall by more than 1 %"),
        m("blocks-gain", "ratio", "Writes by the second of bursts with the most open blocks over those with two"),
        m("buffer", "ratio", "The buffer at which latencies are judged, in MiB"),
        m("plain-p90", "ms", "90th percentile of write latency, the plain drive"),
        m("cube-p90", "ms", "90th percentile of write latency, cubeFTL"),
        m("p90", "ratio", "90th percentile of write latency, the plain drive over cubeFTL"),
        m("p90-most", "ratio", "The same at the buffer where it is highest"),
        m("p80-minus", "share", "How much shorter the 80th percentile of write latency is, mixed order against horizontal first"),
        m("p80-minus-most", "share", "The same at the buffer where it is most"),
        m(
            "write-order",
            "share",
            "Of cubeFTL < cubeFTL- and cubeFTL- < the others, at the 80th and 90th percentile of write latency: how many hold",
        ),
        m("read-order", "share", "Mean and percentiles of read latency at which cubeFTL is below all others"),
        m("read-wait", "ratio", "Mean time that reads wait for a die, cubeFTL over the least of the others"),
        m("read-wait-plain", "ratio", "The same over that of the plain drive"),
        m("open-buffer", "ratio", "Requests at a rate: the buffer at which latencies are told, the one in the middle, in MiB"),
        m("open-plain-p90", "ms", "Requests at a rate: 90th percentile of write latency, the plain drive"),
        m("open-cube-p90", "ms", "Requests at a rate: the same, cubeFTL"),
        m("open-p90", "ratio", "Requests at a rate: 90th percentile of write latency, the plain drive over cubeFTL"),
        m("open-p90-most", "ratio", "The same at the buffer where it is highest"),
        m("open-p80-minus", "share", "Requests at a rate: how much shorter the 80th percentile is, mixed order against horizontal first"),
        m("open-p80-minus-most", "share", "The same at the buffer where it is most"),
        m("open-write-order", "share", "Requests at a rate: as write-order"),
        m("open-read-order", "share", "Requests at a rate: as read-order"),
        m("open-read-wait", "ratio", "Requests at a rate: as read-wait"),
        m("open-read-wait-plain", "ratio", "Requests at a rate: as read-wait-plain"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "bursts",
    /// Conditions of the arrival patterns.
    struct At {
        /// the four drives: the plain one, vertFTL, cubeFTL-, cubeFTL
        drives: [Name; 4],
        /// exported size of each drive, or "whole"
        size: Name,
        /// share of the drive that holds data
        fill: Share,
        /// writes outstanding in a burst
        depth: Count,
        /// bytes written in each run of a pattern
        written: Size,
        /// sizes of the write buffer; the middle one while another condition varies
        buffers: Rising<Size, 1>,
        /// bytes of a burst over those of the buffer; the middle one while another condition varies
        bursts: Rising<Number, 1>,
        /// rests over the time in which the plain drive programs a burst; the middle one while another condition varies
        rests: Rising<Number, 1>,
        /// exported size of the drives with more open blocks, or "whole": the same flash for all of them
        blocks_size: Name,
        /// numbers of open blocks
        open_blocks: Rising<Number, 2>,
        /// workloads of files
        workloads: [Name; 6],
        /// bytes written under each workload, in capacities
        lengths: [Number; 6],
        /// the workload whose latencies are judged
        latency: Name,
        /// bytes written under the workload whose latencies are judged, in capacities
        latency_length: Number,
        /// largest size of a request; larger ones come in pieces
        piece: Size,
        /// bytes written in a burst of the workload whose latencies are judged
        latency_burst: Size,
        /// where requests come at a rate: bytes per second over those that the plain drive programs
        latency_rate: Number,
        /// writes per second of bursts over the plain drive's, as the source tells
        told_gain: Number,
        /// 90th percentile of write latency that the plain drive should have
        told: Micros,
    }
}

/// Indices of the drives.
const PLAIN: usize = 0;
const VERT: usize = 1;
const MINUS: usize = 2;
const CUBE: usize = 3;

/// One arrival pattern: the buffer in bytes, the burst over it, and the rest over the time to program it.
#[derive(Clone, Copy)]
struct Pattern {
    buffer: f64,
    burst: f64,
    rest: f64,
}

/// The middle value of a list.
fn middle(values: &[f64]) -> f64 {
    values[values.len() / 2]
}

impl At {
    fn base(&self) -> Pattern {
        Pattern { buffer: middle(&self.buffers), burst: middle(&self.bursts), rest: middle(&self.rests) }
    }

    /// All patterns: bursts by rests, and buffers.
    fn patterns(&self) -> [Vec<Pattern>; 2] {
        let base = self.base();
        let of_burst = |burst: &f64| self.rests.iter().map(|&rest| Pattern { burst: *burst, rest, ..base }).collect::<Vec<_>>();
        [self.bursts.iter().flat_map(of_burst).collect(), self.buffers.iter().map(|&buffer| Pattern { buffer, ..base }).collect()]
    }

    /// A run of the drive at this index under `load`, which comes in bursts of `burst` bytes.
    fn trial(&self, setup: &Setup, drive: usize, at: Pattern, load: Load, burst: f64) -> Result<Trial, LabError> {
        self.trial_of(setup, (drive, &self.size), at, load, burst, &[])
    }

    /// The same on a drive of a size of its own, with more settings.
    fn trial_of(
        &self,
        setup: &Setup,
        (drive, size): (usize, &str),
        at: Pattern,
        load: Load,
        burst: f64,
        more: &[String],
    ) -> Result<Trial, LabError> {
        let buffer = format!("buffer.size={} KiB", at.buffer / KIB);
        let settings: Vec<&str> = std::iter::once(buffer.as_str()).chain(more.iter().map(String::as_str)).collect();
        let plan = plan(setup, &self.drives[drive], size, &settings)?;
        let time = burst / bandwidth(&plan) * 1e9;
        let rhythm = Rhythm { bursts: Some((burst, Nanos((at.rest * time) as u64))), ..Rhythm::default() };
        Ok(Trial { plan, load, rhythm })
    }

    fn writes(&self) -> Load {
        Load::Writes { bytes: self.written, fill: self.fill, depth: self.depth }
    }
}

/// Bandwidth at which the arrays of all dies program by the data sheet, in bytes per second.
fn bandwidth(plan: &Plan) -> f64 {
    let sheet = plan.build().sheet;
    let geometry = sheet.geometry;
    let wordline = (u64::from(geometry.dies() * geometry.planes * geometry.cell.bits()) * geometry.page.0) as f64;
    wordline / sheet.timing.program_wordline.as_secs_f64()
}

/// Results of all runs.
struct Seen {
    /// Results of the sweep of bursts by rests, and of the sweep of buffers: for each pattern, those of the four drives.
    sweeps: [Vec<Vec<Tried>>; 2],
    blocks: Vec<Tried>,
    six: Vec<Vec<Tried>>,
    /// Results by buffer: with a fixed number of requests outstanding, and with requests at a rate.
    latency: [Vec<Vec<Tried>>; 2],
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let (patterns, base) = (at.patterns(), at.base());
    let burst = base.burst * base.buffer;
    let mut trials = Vec::new();
    for pattern in patterns.iter().flatten() {
        for drive in 0..at.drives.len() {
            trials.push(at.trial(setup, drive, *pattern, at.writes(), pattern.burst * pattern.buffer)?);
        }
    }
    for blocks in &at.open_blocks {
        trials.push(at.trial_of(setup, (CUBE, &at.blocks_size), base, at.writes(), burst, &[format!("placement.open_blocks={blocks}")])?);
    }
    for (name, length) in at.workloads.iter().zip(at.lengths) {
        let load = Load::Files(Box::new(files(name)?), FileOptions { length: Some(length), ..FileOptions::default() });
        for drive in 0..at.drives.len() {
            trials.push(at.trial(setup, drive, base, load.clone(), burst)?);
        }
    }
    let load = Load::Files(Box::new(files(&at.latency)?), FileOptions { length: Some(at.latency_length), ..FileOptions::default() });
    for is_open in [false, true] {
        for &buffer in &at.buffers {
            for drive in 0..at.drives.len() {
                let mut trial = at.trial(setup, drive, Pattern { buffer, ..base }, load.clone(), at.latency_burst)?;
                trial.rhythm.piece = Some(at.piece);
                if is_open {
                    trial.rhythm.rate = Some(at.latency_rate * bandwidth(&trial.plan));
                }
                trials.push(trial);
            }
        }
    }
    let mut tried = all(setup, "bursts", &trials)?.into_iter();
    let mut four = || tried.by_ref().take(at.drives.len()).collect::<Vec<Tried>>();
    let sweeps = patterns.map(|patterns| patterns.iter().map(|_| four()).collect());
    let blocks = tried.by_ref().take(at.open_blocks.len()).collect();
    let mut four = || tried.by_ref().take(at.drives.len()).collect::<Vec<Tried>>();
    let six = at.workloads.iter().map(|_| four()).collect();
    let latency = [(); 2].map(|()| at.buffers.iter().map(|_| four()).collect());
    Ok(judged::judge(&at, &Seen { sweeps, blocks, six, latency }))
}
