//! Quantities and figures of the runs of bursts.

use wordline_figures::histogram::Latencies;
use wordline_pages::html::figure::{Columns, Curve, Curves, Figure, Heat, Scale};

use super::{At, CUBE, MINUS, PLAIN, Pattern, Seen, VERT};
use crate::bench::Findings;
use crate::lot::{greatest, least, mean, share};
use crate::paced::{MIB, Tried, shares};

/// Requests per second in bursts, one drive over another.
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

/// Names the measured quantities, and draws the figures.
pub(super) fn judge(at: &At, seen: &Seen) -> Findings {
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
    let reached: Vec<Pattern> =
        runs.iter().filter(|(_, four)| over(four, CUBE, PLAIN) >= at.told_gain).map(|(pattern, _)| *pattern).collect();
    // Where none does, there is nothing to tell.
    let told = |of: f64| if reached.is_empty() { f64::NAN } else { of };
    findings.set("reach-burst", told(greatest(&reached.iter().map(|pattern| pattern.burst).collect::<Vec<_>>())));
    findings.set("reach-rest", told(least(&reached.iter().map(|pattern| pattern.rest).collect::<Vec<_>>())));
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

/// Names of the judged latencies: with a fixed number of requests outstanding, and with requests at a rate.
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
    // At a rate, writes wait for nothing or for long, and no buffer has them near what is told.
    let nearest = if is_open { at.buffers.len() / 2 } else { nearest };
    let four = &runs[nearest];
    let p90 = |four: &[Tried]| ms(&four[PLAIN].writes, 0.9) / ms(&four[CUBE].writes, 0.9);
    let p80 = |four: &[Tried]| 1.0 - ms(&four[CUBE].writes, 0.8) / ms(&four[MINUS].writes, 0.8);
    findings.set(names[0], at.buffers[nearest] / MIB);
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
    let note = format!("{} in bursts, {how}, a buffer of {} MiB", at.latency, at.buffers[nearest] / MIB);
    cumulative(at, four, &note, findings);
    let by_buffer = |colour: usize, label: &str, of: &dyn Fn(&[Tried]) -> f64| Curve {
        label: label.to_owned(),
        colour,
        dashed: false,
        points: at.buffers.iter().zip(runs).map(|(buffer, four)| (buffer / MIB, of(four))).collect(),
    };
    let shorter = |which: usize, than: usize, share: f64| {
        move |four: &[Tried]| 100.0 * (1.0 - ms(&four[which].writes, share) / ms(&four[than].writes, share))
    };
    findings.figures.push(Figure::Curves(Curves {
        title: "How much shorter write latency is, by the buffer".to_owned(),
        note: format!("{} in bursts of {} MiB, {how}", at.latency, at.latency_burst / MIB),
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

/// Draws the distribution of the latencies of writes and of reads, drive by drive.
fn cumulative(at: &At, four: &[Tried], note: &str, findings: &mut Findings) {
    for (title, of) in [("Write latency", 0), ("Read latency", 1)] {
        let latencies = |tried: &Tried| if of == 0 { tried.writes.clone() } else { tried.reads.clone() };
        let curve = |(colour, tried): (usize, &Tried)| Curve {
            label: at.drives[colour].clone(),
            colour,
            dashed: false,
            points: shares().map(|share| (ms(&latencies(tried), share), 100.0 * share)).collect(),
        };
        findings.figures.push(Figure::Curves(Curves {
            title: format!("{title}, cumulative"),
            note: note.to_owned(),
            x: Scale::log("ms"),
            y: Scale::from_zero("share of requests, %"),
            curves: four.iter().enumerate().map(curve).collect(),
            marks: Vec::new(),
        }));
    }
}

fn figures(at: &At, seen: &Seen, findings: &mut Findings) {
    let base = at.base();
    let mib = |bytes: f64| bytes / MIB;
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
