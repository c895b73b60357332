//! Bursts of writes with rests between them: which arrival pattern lets leaders be programmed while nobody waits, what followers then gain, and what requests
//! see of it (003 §6.2, §6.3).
//!
//! Neither the buffer nor the pattern is given. Both are swept; the buffer at which latencies are judged is the one where those of the plain drive lie nearest
//! to what the source has.

use wordline_plan::Plan;
use wordline_report::histogram::Latencies;
use wordline_report::html::figure::{Columns, Curve, Curves, Figure, Heat, Scale};
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
        m("open-buffer", "ratio", "Requests at a rate: the buffer at which latencies are judged, in MiB"),
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
        /// where requests come at a rate: bytes by the second over those that the plain drive programs
        latency_rate: Number,
        /// writes by the second of bursts over the plain drive's, as told
        told_gain: Number,
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

    /// All patterns: bursts by rests, and buffers.
    fn patterns(&self) -> [Vec<Pattern>; 2] {
        let base = self.base();
        let of_burst = |burst: &f64| self.rests.iter().map(|&rest| Pattern { burst: *burst, rest, ..base }).collect::<Vec<_>>();
        [self.bursts.iter().flat_map(of_burst).collect(), self.buffers.iter().map(|&buffer| Pattern { buffer, ..base }).collect()]
    }

    /// The drive of this place under `load`, which comes in bursts of `burst` bytes.
    fn trial(&self, setup: &Setup, drive: usize, at: Pattern, load: Load, burst: f64, more: &[String]) -> Result<Trial, LabError> {
        let buffer = format!("buffer.size={} KiB", at.buffer / 1_024.0);
        let settings: Vec<&str> = std::iter::once(buffer.as_str()).chain(more.iter().map(String::as_str)).collect();
        let plan = plan(setup, &self.drives[drive], &self.size, &settings)?;
        let time = burst / bandwidth(&plan) * 1e9;
        let rhythm = Rhythm { bursts: Some((burst, Nanos((at.rest * time) as u64))), ..Rhythm::default() };
        Ok(Trial { plan, load, rhythm })
    }

    fn writes(&self) -> Load {
        Load::Writes { bytes: self.written, fill: self.fill, depth: self.depth }
    }
}

/// Bytes by the second that the arrays of all dies program by the data sheet.
fn bandwidth(plan: &Plan) -> f64 {
    let sheet = plan.build().sheet;
    let geometry = sheet.geometry;
    let wordline = (u64::from(geometry.dies() * geometry.planes * geometry.cell.bits()) * geometry.page.0) as f64;
    wordline / sheet.timing.program_wordline.as_secs_f64()
}

/// What all runs left.
struct Seen {
    /// Bursts by rests, and buffers; of each pattern the four drives.
    sweeps: [Vec<Vec<Tried>>; 2],
    blocks: Vec<Tried>,
    six: Vec<Vec<Tried>>,
    /// By buffers: so many requests outstanding, and requests at a rate.
    latency: [Vec<Vec<Tried>>; 2],
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
    for is_open in [false, true] {
        for &buffer in &at.buffers {
            for drive in 0..at.drives.len() {
                let mut trial = at.trial(setup, drive, Pattern { buffer, ..base }, load.clone(), at.latency_burst, &[])?;
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
    Ok(judge(&at, &Seen { sweeps, blocks, six, latency }))
}

/// Requests by the second of bursts, one drive over another.
fn over(four: &[Tried], which: usize, than: usize) -> f64 {
    four[which].iops_in_bursts() / four[than].iops_in_bursts()
}

/// The share of leaders among the programs of bursts.
fn leaders(tried: &Tried) -> f64 {
    let [leaders, followers] = tried.programs.mix;
    leaders as f64 / (leaders + followers) as f64
}

/// A quantile in milliseconds.
fn ms(latencies: &Latencies, quantile: f64) -> f64 {
    latencies.quantile(quantile).0 as f64 / 1e6
}

fn judge(at: &At, seen: &Seen) -> Findings {
    let mut findings = Findings::default();
    let runs: Vec<(Pattern, &Vec<Tried>)> = at.patterns().into_iter().flatten().zip(seen.sweeps.iter().flatten()).collect();
    let of = |figure: &dyn Fn(&[Tried]) -> f64| runs.iter().map(|(_, four)| figure(four)).collect::<Vec<f64>>();
    let whole = of(&|four| four[CUBE].iops() / four[PLAIN].iops());
    findings.set("gain-whole", greatest(&whole));
    let best = whole.iter().position(|gain| *gain == greatest(&whole)).unwrap_or(0);
    findings.set("gain-whole-bound", whole[best] * (1.0 - mean(&runs[best].1[CUBE].programs.saved)));
    let base = at.base();
    let in_middle = |burst: f64, rest: f64| {
        let same = |(pattern, _): &&(Pattern, &Vec<Tried>)| pattern.burst == burst && pattern.rest == rest && pattern.buffer == base.buffer;
        runs.iter().find(same).expect("a pattern of the sweep").1
    };
    let none = in_middle(base.burst, at.rests[0]);
    findings.set("gain-none", none[CUBE].iops() / none[PLAIN].iops());
    findings.set("gain", greatest(&of(&|four| over(four, CUBE, PLAIN))));
    let reached: Vec<Pattern> = runs.iter().filter(|(_, four)| over(four, CUBE, PLAIN) >= at.told_gain).map(|(pattern, _)| *pattern).collect();
    findings.set("reach-burst", greatest(&reached.iter().map(|pattern| pattern.burst).collect::<Vec<_>>()));
    findings.set("reach-rest", least(&reached.iter().map(|pattern| pattern.rest).collect::<Vec<_>>()));
    findings.set("leaders", leaders(&in_middle(base.burst, base.rest)[CUBE]));
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
    latencies(at, &seen.latency[0], false, &mut findings);
    latencies(at, &seen.latency[1], true, &mut findings);
    figures(at, seen, &mut findings);
    findings
}

/// The names of what is judged of latencies: with so many requests outstanding, and with requests at a rate.
const LATENCIES: [[&str; 11]; 2] = [
    [
        "buffer",
        "plain-p90",
        "cube-p90",
        "p90",
        "p90-most",
        "p80-minus",
        "p80-minus-most",
        "write-order",
        "read-order",
        "read-wait",
        "read-wait-plain",
    ],
    [
        "open-buffer",
        "open-plain-p90",
        "open-cube-p90",
        "open-p90",
        "open-p90-most",
        "open-p80-minus",
        "open-p80-minus-most",
        "open-write-order",
        "open-read-order",
        "open-read-wait",
        "open-read-wait-plain",
    ],
];

fn latencies(at: &At, runs: &[Vec<Tried>], is_open: bool, findings: &mut Findings) {
    let names = LATENCIES[usize::from(is_open)];
    let told = at.told / 1e3;
    let far = |four: &[Tried]| (ms(&four[PLAIN].writes, 0.9) - told).abs();
    let nearest = runs.iter().enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1))).map_or(0, |(index, _)| index);
    let four = &runs[nearest];
    let p90 = |four: &[Tried]| ms(&four[PLAIN].writes, 0.9) / ms(&four[CUBE].writes, 0.9);
    let p80 = |four: &[Tried]| 1.0 - ms(&four[CUBE].writes, 0.8) / ms(&four[MINUS].writes, 0.8);
    findings.set(names[0], at.buffers[nearest] / f64::from(1 << 20));
    findings.set(names[1], ms(&four[PLAIN].writes, 0.9));
    findings.set(names[2], ms(&four[CUBE].writes, 0.9));
    findings.set(names[3], p90(four));
    findings.set(names[4], greatest(&runs.iter().map(|four| p90(four)).collect::<Vec<_>>()));
    findings.set(names[5], p80(four));
    findings.set(names[6], greatest(&runs.iter().map(|four| p80(four)).collect::<Vec<_>>()));
    let in_order = [0.8, 0.9].into_iter().flat_map(|share| {
        let [plain, vert, minus, cube] = [PLAIN, VERT, MINUS, CUBE].map(|drive| ms(&four[drive].writes, share));
        [cube < minus, minus < vert && minus < plain]
    });
    findings.set(names[7], share(in_order));
    let rest = [PLAIN, VERT, MINUS];
    let is_lowest = |of: &dyn Fn(&Tried) -> f64| rest.iter().all(|&drive| of(&four[CUBE]) < of(&four[drive]));
    let percentiles = [0.8, 0.9, 0.95, 0.99].map(|share| is_lowest(&|tried| ms(&tried.reads, share)));
    findings.set(names[8], share(percentiles.into_iter().chain([is_lowest(&|tried| tried.reads.mean())])));
    let wait = |drive: usize| four[drive].result.stages_us.read.as_ref().map_or(f64::NAN, |stages| stages.die_wait);
    findings.set(names[9], wait(CUBE) / least(&rest.map(wait)));
    findings.set(names[10], wait(CUBE) / wait(PLAIN));
    let how = if is_open { "requests at a rate" } else { "so many requests outstanding" };
    let note = format!("{} in bursts, {how}, a buffer of {} MiB", at.latency, at.buffers[nearest] / f64::from(1 << 20));
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
        points: at.buffers.iter().zip(runs).map(|(buffer, four)| (buffer / f64::from(1 << 20), of(four))).collect(),
    };
    let shorter = |which: usize, than: usize, share: f64| {
        move |four: &[Tried]| 100.0 * (1.0 - ms(&four[which].writes, share) / ms(&four[than].writes, share))
    };
    findings.figures.push(Figure::Curves(Curves {
        title: "How much shorter write latency is, by the buffer".to_owned(),
        note: format!("{} in bursts of {} MiB, {how}", at.latency, at.latency_burst / f64::from(1 << 20)),
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
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let [grid, by_buffer] = &seen.sweeps;
    let mut heat = |title: &str, note: &str, of: &dyn Fn(&[Tried]) -> f64| {
        let row = |(burst, runs): (&f64, &[Vec<Tried>])| (format!("{burst}"), runs.iter().map(|four| of(four)).collect());
        findings.figures.push(Figure::Heat(Heat {
            title: title.to_owned(),
            note: format!("{note}; a buffer of {} MiB", mib(base.buffer)),
            x: "rest over the time to program a burst".to_owned(),
            y: "burst over buffer".to_owned(),
            columns: at.rests.iter().map(f64::to_string).collect(),
            rows: at.bursts.iter().zip(grid.chunks(at.rests.len())).map(row).collect(),
            log: false,
        }));
    };
    let whole = |four: &[Tried]| four[CUBE].iops() / four[PLAIN].iops();
    heat("Writes by the second, rests counted", "cubeFTL over the plain drive", &whole);
    heat("Writes by the second of bursts", "cubeFTL over the plain drive", &|four| over(four, CUBE, PLAIN));
    heat("Writes by the second of bursts, by the order", "mixed order over horizontal first", &|four| over(four, CUBE, MINUS));
    heat("Leaders in bursts", "percent of the programs of bursts, cubeFTL", &|four| 100.0 * leaders(&four[CUBE]));
    let rivals = [VERT, MINUS, CUBE];
    let curve = |drive: usize| Curve {
        label: at.drives[drive].clone(),
        colour: drive,
        dashed: false,
        points: at.buffers.iter().zip(by_buffer).map(|(buffer, four)| (mib(*buffer), over(four, drive, PLAIN))).collect(),
    };
    let note = format!("bursts of {} buffers, rests of {} of the time to program one", base.burst, base.rest);
    findings.figures.push(Figure::Curves(Curves {
        title: "Writes by the second of bursts, by the buffer".to_owned(),
        note: format!("against the plain drive; {note}"),
        x: Scale::log("buffer, MiB"),
        y: Scale::even("ratio"),
        curves: rivals.iter().map(|drive| curve(*drive)).collect(),
        marks: Vec::new(),
    }));
    let series = rivals.map(|drive| (at.drives[drive].clone(), seen.six.iter().map(|four| over(four, drive, PLAIN)).collect()));
    findings.figures.push(Figure::Columns(Columns {
        title: "Requests by the second of bursts".to_owned(),
        note: format!("fresh; against the plain drive; {note}"),
        x: "workload".to_owned(),
        y: "ratio".to_owned(),
        groups: at.workloads.to_vec(),
        series: series.into(),
    }));
}
