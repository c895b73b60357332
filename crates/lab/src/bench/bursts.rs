//! Bursts of writes with rests between them: which arrival pattern lets leaders be programmed while nobody waits, what followers then gain, and what requests
//! see of it (003 §6.2, §6.3).
//!
//! Neither the buffer nor the pattern is given. Both are swept; the buffer at which latencies are judged is the one where those of the plain drive lie nearest
//! to what the source has.

use wordline_report::histogram::Latencies;
use wordline_report::html::figure::{Columns, Curve, Curves, Figure, Scale};
use wordline_units::Nanos;
use wordline_workload::FileOptions;

use super::{Bench, Findings, On, Setup, m};
use crate::error::LabError;
use crate::filed::{files, plan};
use crate::lot::{greatest, least, mean, share};
use crate::paced::{Load, Rhythm, Trial, Tried, all};
use crate::protocol::{Count, Micros, Name, Number, Rising, Share, Size, conditions};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "bursts",
    summary: "Bursts of writes with rests between them: what followers gain there, and what requests see of it",
    metrics: &[
        m("gain", "ratio", "Writes by the second of bursts, cubeFTL over the plain drive, highest of all patterns"),
        m("gain-bound", "ratio", "The same over 1 / (1 - r), with r as followers save in that run"),
        m("gain-leaders", "share", "Leaders among the programs of bursts in that run"),
        m("gain-at", "ratio", "Bytes of a burst over those of the buffer in that run"),
        m("gain-whole", "ratio", "Writes by the second, rests counted, cubeFTL over the plain drive, highest of all patterns"),
        m("gain-none", "ratio", "The same by the second of bursts, without any rest"),
        m("over-vert", "ratio", "Writes by the second of bursts, cubeFTL over vertFTL, highest of all patterns"),
        m("over-minus", "ratio", "Writes by the second of bursts, mixed order over horizontal first, highest of all patterns"),
        m("over-minus-least", "ratio", "The same, lowest"),
        m("six-max", "ratio", "Requests by the second of bursts, cubeFTL over the plain drive, highest of the six workloads"),
        m("six-best", "count", "The workload in which it is highest, by its place in the list"),
        m("six-least", "ratio", "Requests by the second of bursts, cubeFTL over the better of vertFTL and the plain drive, lowest of the workloads"),
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
        m("write-order", "share", "Of cubeFTL < cubeFTL- and cubeFTL- < the others, at the 80th and 90th percentile of write latency: how many hold"),
        m("read-order", "share", "Mean and percentiles of read latency at which cubeFTL is below all others"),
        m("read-wait", "ratio", "Mean time that reads wait for a die, cubeFTL over the least of the others"),
        m("read-wait-plain", "ratio", "The same over that of the plain drive"),
    ],
    on: On::Drives,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "bursts",
    /// Patterns of arrival.
    struct At {
        /// the drive without, vertFTL, cubeFTL-, cubeFTL
        drives: [Name; 4],
        /// what the host sees of each, or "whole"
        size: Name,
        /// share of the drive that holds data
        fill: Share,
        /// writes outstanding in a burst
        depth: Count,
        /// what is written in each run of a pattern
        written: Size,
        /// buffers; where something else varies, the one in the middle
        buffers: Rising<Size, 1>,
        /// bytes of a burst over those of the buffer; where something else varies, the one in the middle
        bursts: Rising<Number, 1>,
        /// rests over the time in which the plain drive programs a burst; where something else varies, the one in the middle
        rests: Rising<Number, 1>,
        /// numbers of open blocks
        open_blocks: Rising<Number, 2>,
        /// workloads of files
        workloads: [Name; 6],
        /// what is written in each, in capacities
        lengths: [Number; 6],
        /// the workload whose latencies are judged
        latency: Name,
        /// what is written in it, in capacities
        latency_length: Number,
        /// requests come in pieces of at most this size
        piece: Size,
        /// what is written in a burst of it
        latency_burst: Size,
        /// the 90th percentile of write latency that the plain drive should have
        told: Micros,
    }
}

/// The drives by their places.
const PLAIN: usize = 0;
const VERT: usize = 1;
const MINUS: usize = 2;
const CUBE: usize = 3;

/// One pattern: the buffer in bytes, the burst over it, and the rest over the time to program it.
#[derive(Clone, Copy)]
struct Pattern {
    buffer: f64,
    burst: f64,
    rest: f64,
}

/// The one in the middle.
fn middle(values: &[f64]) -> f64 {
    values[values.len() / 2]
}

impl At {
    fn base(&self) -> Pattern {
        Pattern { buffer: middle(&self.buffers), burst: middle(&self.bursts), rest: middle(&self.rests) }
    }

    /// All patterns: by bursts, by rests, by buffers.
    fn patterns(&self) -> [Vec<Pattern>; 3] {
        let base = self.base();
        [
            self.bursts.iter().map(|&burst| Pattern { burst, ..base }).collect(),
            self.rests.iter().map(|&rest| Pattern { rest, ..base }).collect(),
            self.buffers.iter().map(|&buffer| Pattern { buffer, ..base }).collect(),
        ]
    }

    /// The drive of this place under `load`, which comes in bursts of `burst` bytes.
    fn trial(&self, setup: &Setup, drive: usize, at: Pattern, load: Load, burst: f64, more: &[String]) -> Result<Trial, LabError> {
        let buffer = format!("buffer.size={} KiB", at.buffer / 1_024.0);
        let settings: Vec<&str> = std::iter::once(buffer.as_str()).chain(more.iter().map(String::as_str)).collect();
        let plan = plan(setup, &self.drives[drive], &self.size, &settings)?;
        let sheet = plan.build().sheet;
        let (geometry, program) = (sheet.geometry, sheet.timing.program_wordline);
        let wordline = (u64::from(geometry.dies() * geometry.planes * geometry.cell.bits()) * geometry.page.0) as f64;
        let rest = Nanos((at.rest * burst / wordline * program.0 as f64) as u64);
        let rhythm = Rhythm { bursts: Some((burst, rest)), ..Rhythm::default() };
        Ok(Trial { plan, load, rhythm })
    }

    fn writes(&self) -> Load {
        Load::Writes { bytes: self.written, fill: self.fill, depth: self.depth }
    }
}

/// What all runs left.
struct Seen {
    /// By bursts, by rests, by buffers; of each pattern the four drives.
    sweeps: [Vec<Vec<Tried>>; 3],
    blocks: Vec<Tried>,
    six: Vec<Vec<Tried>>,
    latency: Vec<Vec<Tried>>,
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let at = At::of(setup)?;
    let (patterns, base) = (at.patterns(), at.base());
    let burst = base.burst * base.buffer;
    let mut trials = Vec::new();
    for pattern in patterns.iter().flatten() {
        for drive in 0..at.drives.len() {
            trials.push(at.trial(setup, drive, *pattern, at.writes(), pattern.burst * pattern.buffer, &[])?);
        }
    }
    for blocks in &at.open_blocks {
        trials.push(at.trial(setup, CUBE, base, at.writes(), burst, &[format!("placement.open_blocks={blocks}")])?);
    }
    for (name, length) in at.workloads.iter().zip(at.lengths) {
        let load = Load::Files(files(name)?, FileOptions { length: Some(length), ..FileOptions::default() });
        for drive in 0..at.drives.len() {
            trials.push(at.trial(setup, drive, base, load.clone(), burst, &[])?);
        }
    }
    let load = Load::Files(files(&at.latency)?, FileOptions { length: Some(at.latency_length), ..FileOptions::default() });
    for &buffer in &at.buffers {
        for drive in 0..at.drives.len() {
            let mut trial = at.trial(setup, drive, Pattern { buffer, ..base }, load.clone(), at.latency_burst, &[])?;
            trial.rhythm.piece = Some(at.piece);
            trials.push(trial);
        }
    }
    let mut tried = all(setup, "bursts", &trials)?.into_iter();
    let mut four = || tried.by_ref().take(at.drives.len()).collect::<Vec<Tried>>();
    let sweeps = patterns.map(|patterns| patterns.iter().map(|_| four()).collect());
    let blocks = tried.by_ref().take(at.open_blocks.len()).collect();
    let mut four = || tried.by_ref().take(at.drives.len()).collect::<Vec<Tried>>();
    let six = at.workloads.iter().map(|_| four()).collect();
    let latency = at.buffers.iter().map(|_| four()).collect();
    Ok(judge(&at, &Seen { sweeps, blocks, six, latency }))
}

/// Requests by the second of bursts, one drive over another.
fn over(four: &[Tried], which: usize, than: usize) -> f64 {
    four[which].iops_in_bursts() / four[than].iops_in_bursts()
}

/// A quantile in milliseconds.
fn ms(latencies: &Latencies, quantile: f64) -> f64 {
    latencies.quantile(quantile).0 as f64 / 1e6
}

fn judge(at: &At, seen: &Seen) -> Findings {
    let mut findings = Findings::default();
    let runs: Vec<(Pattern, &Vec<Tried>)> = at.patterns().into_iter().flatten().zip(seen.sweeps.iter().flatten()).collect();
    let gains: Vec<f64> = runs.iter().map(|(_, four)| over(four, CUBE, PLAIN)).collect();
    let best = gains.iter().position(|gain| *gain == greatest(&gains)).unwrap_or(0);
    let (pattern, four) = &runs[best];
    let programs = &four[CUBE].programs;
    findings.set("gain", gains[best]);
    findings.set("gain-bound", gains[best] * (1.0 - mean(&programs.saved)));
    findings.set("gain-leaders", programs.mix[0] as f64 / (programs.mix[0] + programs.mix[1]) as f64);
    findings.set("gain-at", pattern.burst);
    let of = |figure: &dyn Fn(&[Tried]) -> f64| runs.iter().map(|(_, four)| figure(four)).collect::<Vec<f64>>();
    findings.set("gain-whole", greatest(&of(&|four| four[CUBE].iops() / four[PLAIN].iops())));
    findings.set("gain-none", seen.sweeps[1].first().map_or(f64::NAN, |four| over(four, CUBE, PLAIN)));
    findings.set("over-vert", greatest(&of(&|four| over(four, CUBE, VERT))));
    let minus = of(&|four| over(four, CUBE, MINUS));
    findings.set("over-minus", greatest(&minus));
    findings.set("over-minus-least", least(&minus));
    let six = |which: usize, than: usize| seen.six.iter().map(|four| over(four, which, than)).collect::<Vec<f64>>();
    let cube = six(CUBE, PLAIN);
    findings.set("six-max", greatest(&cube));
    findings.set("six-best", cube.iter().position(|gain| *gain == greatest(&cube)).map_or(f64::NAN, |place| (place + 1) as f64));
    findings.set("six-least", least(&cube).min(least(&six(CUBE, VERT))));
    findings.set("six-minus", greatest(&six(CUBE, MINUS)));
    let blocks: Vec<f64> = seen.blocks.iter().map(Tried::iops_in_bursts).collect();
    findings.set("blocks", share(blocks.windows(2).map(|pair| pair[1] >= 0.99 * pair[0])));
    let two = at.open_blocks.iter().position(|blocks| *blocks >= 2.0).unwrap_or(0);
    findings.set("blocks-gain", blocks[blocks.len() - 1] / blocks[two]);
    latencies(at, seen, &mut findings);
    figures(at, seen, &mut findings);
    findings
}

fn latencies(at: &At, seen: &Seen, findings: &mut Findings) {
    let told = at.told / 1e3;
    let far = |four: &[Tried]| (ms(&four[PLAIN].writes, 0.9) - told).abs();
    let nearest = seen.latency.iter().enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1))).map_or(0, |(index, _)| index);
    let four = &seen.latency[nearest];
    let p90 = |four: &[Tried]| ms(&four[PLAIN].writes, 0.9) / ms(&four[CUBE].writes, 0.9);
    let p80 = |four: &[Tried]| 1.0 - ms(&four[CUBE].writes, 0.8) / ms(&four[MINUS].writes, 0.8);
    findings.set("buffer", at.buffers[nearest] / f64::from(1 << 20));
    findings.set("plain-p90", ms(&four[PLAIN].writes, 0.9));
    findings.set("cube-p90", ms(&four[CUBE].writes, 0.9));
    findings.set("p90", p90(four));
    findings.set("p90-most", greatest(&seen.latency.iter().map(|four| p90(four)).collect::<Vec<_>>()));
    findings.set("p80-minus", p80(four));
    findings.set("p80-minus-most", greatest(&seen.latency.iter().map(|four| p80(four)).collect::<Vec<_>>()));
    let in_order = [0.8, 0.9].into_iter().flat_map(|share| {
        let [plain, vert, minus, cube] = [PLAIN, VERT, MINUS, CUBE].map(|drive| ms(&four[drive].writes, share));
        [cube < minus, minus < vert && minus < plain]
    });
    findings.set("write-order", share(in_order));
    let rest = [PLAIN, VERT, MINUS];
    let is_lowest = |of: &dyn Fn(&Tried) -> f64| rest.iter().all(|&drive| of(&four[CUBE]) < of(&four[drive]));
    let percentiles = [0.8, 0.9, 0.95, 0.99].map(|share| is_lowest(&|tried| ms(&tried.reads, share)));
    findings.set("read-order", share(percentiles.into_iter().chain([is_lowest(&|tried| tried.reads.mean())])));
    let wait = |drive: usize| four[drive].result.stages_us.read.as_ref().map_or(f64::NAN, |stages| stages.die_wait);
    findings.set("read-wait", wait(CUBE) / least(&rest.map(wait)));
    findings.set("read-wait-plain", wait(CUBE) / wait(PLAIN));
    let note = format!("{} in bursts, a buffer of {} MiB", at.latency, at.buffers[nearest] / f64::from(1 << 20));
    for (title, of) in [("Write latency", 0), ("Read latency", 1)] {
        let latencies = |tried: &Tried| if of == 0 { tried.writes.clone() } else { tried.reads.clone() };
        let curve = |(colour, tried): (usize, &Tried)| Curve {
            label: at.drives[colour].clone(),
            colour,
            dashed: false,
            points: (1..=200).map(|step| f64::from(step) / 200.0).map(|share| (ms(&latencies(tried), share), 100.0 * share)).collect(),
        };
        findings.figures.push(Figure::Curves(Curves {
            title: format!("{title}, cumulative"),
            note: note.clone(),
            x: Scale::log("ms"),
            y: Scale::from_zero("share of requests, %"),
            curves: four.iter().enumerate().map(curve).collect(),
            marks: Vec::new(),
        }));
    }
    let by_buffer = |colour: usize, label: &str, of: &dyn Fn(&[Tried]) -> f64| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: at.buffers.iter().zip(&seen.latency).map(|(buffer, four)| (buffer / f64::from(1 << 20), of(four))).collect(),
    };
    let shorter = |which: usize, than: usize, share: f64| {
        move |four: &[Tried]| 100.0 * (1.0 - ms(&four[which].writes, share) / ms(&four[than].writes, share))
    };
    findings.figures.push(Figure::Curves(Curves {
        title: "How much shorter write latency is, by the buffer".to_owned(),
        note: format!("{} in bursts of {} MiB", at.latency, at.latency_burst / f64::from(1 << 20)),
        x: Scale::log("buffer, MiB"),
        y: Scale::from_zero("shorter, %"),
        curves: vec![
            by_buffer(0, "90th percentile, cubeFTL against the plain drive", &shorter(CUBE, PLAIN, 0.9)),
            by_buffer(1, "80th percentile, cubeFTL against the plain drive", &shorter(CUBE, PLAIN, 0.8)),
            by_buffer(2, "90th percentile, mixed order against horizontal first", &shorter(CUBE, MINUS, 0.9)),
            by_buffer(3, "80th percentile, mixed order against horizontal first", &shorter(CUBE, MINUS, 0.8)),
        ],
        marks: Vec::new(),
    }));
}

fn figures(at: &At, seen: &Seen, findings: &mut Findings) {
    let base = at.base();
    let rivals = [VERT, MINUS, CUBE];
    let mut sweep = |title: &str, x: Scale, note: String, xs: Vec<f64>, runs: &[Vec<Tried>]| {
        let curve = |drive: usize| Curve {
            label: at.drives[drive].clone(),
            colour: drive,
            dashed: false,
            points: xs.iter().zip(runs).map(|(x, four)| (*x, over(four, drive, PLAIN))).collect(),
        };
        findings.figures.push(Figure::Curves(Curves {
            title: title.to_owned(),
            note: format!("against the plain drive; {note}"),
            x,
            y: Scale::even("ratio"),
            curves: rivals.iter().map(|drive| curve(*drive)).collect(),
            marks: Vec::new(),
        }));
    };
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let told = [
        format!("a buffer of {} MiB, rests of {} of the time to program a burst", mib(base.buffer), base.rest),
        format!("a buffer of {} MiB, bursts of {} buffers", mib(base.buffer), base.burst),
        format!("bursts of {} buffers, rests of {} of the time to program one", base.burst, base.rest),
    ];
    let [by_burst, by_rest, by_buffer] = &seen.sweeps;
    let [burst, rest, buffer] = told;
    sweep("Writes by the second of bursts, by their length", Scale::log("bytes of a burst over the buffer"), burst, at.bursts.clone(), by_burst);
    sweep("Writes by the second of bursts, by rest", Scale::even("rest over the time to program a burst"), rest, at.rests.clone(), by_rest);
    let buffers = at.buffers.iter().map(|buffer| mib(*buffer)).collect();
    sweep("Writes by the second of bursts, by the buffer", Scale::log("buffer, MiB"), buffer, buffers, by_buffer);
    let series = rivals.map(|drive| (at.drives[drive].clone(), seen.six.iter().map(|four| over(four, drive, PLAIN)).collect()));
    findings.figures.push(Figure::Columns(Columns {
        title: "Requests by the second of bursts".to_owned(),
        note: format!("fresh; against the plain drive; bursts of {} buffers, rests of {} of the time to program one", base.burst, base.rest),
        x: "workload".to_owned(),
        y: "ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: series.into(),
    }));
}
