//! What happened over the measured window, and how latency is distributed.

use wordline_units::{HostOp, Nanos};

use super::axis::{Axis, Unit};
use super::chart::{Chart, Line, time_axis};
use wordline_figures::conclude::DriveDetail;
use wordline_figures::series::{Row, RowHost};

/// The most points in a line over time, where there is room.
pub(super) const ROWS_MAX: usize = 160;

type Value = fn(&Row, &DriveDetail) -> Option<f64>;

/// What a chart over time shows: reads, or writes, or both as two lines per drive.
struct Shown {
    title: &'static str,
    note: &'static str,
    unit: Unit,
    log: bool,
    /// The scale ends above most of the values, and what is beyond it is marked.
    crest: bool,
    /// The second line is what the first one leaves of the whole: it says nothing new where drives are compared.
    whole: bool,
    lines: &'static [(&'static str, Value)],
}

const CHARTS: &[Shown] = &[
    Shown {
        title: "IOPS",
        note: "requests completed per second",
        unit: Unit::Plain("1/s"),
        log: false,
        crest: false,
        whole: false,
        lines: &[
            ("reads", |row, _| (row.width.0 > 0).then(|| row.per_second(row.read.requests))),
            ("writes", |row, _| (row.width.0 > 0).then(|| row.per_second(row.write.requests))),
        ],
    },
    Shown {
        title: "Wordlines programmed",
        note: "share of the host's programs, by place in the h-layer",
        unit: Unit::Share,
        log: false,
        crest: false,
        whole: true,
        lines: &[("leaders", |row, _| row.leaders()), ("followers", |row, _| row.leaders().map(|share| 1.0 - share))],
    },
    Shown {
        title: "Bandwidth",
        note: "MiB per second",
        unit: Unit::Plain("MiB/s"),
        log: false,
        crest: false,
        whole: false,
        lines: &[
            ("reads", |row, _| Some(row.per_second(row.read.sectors) / 2_048.0)),
            ("writes", |row, _| Some(row.per_second(row.write.sectors) / 2_048.0)),
        ],
    },
    Shown {
        title: "Mean latency",
        note: "logarithmic",
        unit: Unit::Micros,
        log: true,
        crest: false,
        whole: false,
        lines: &[("reads", |row, _| mean(&row.read)), ("writes", |row, _| mean(&row.write))],
    },
    Shown {
        title: "99th percentile of latency",
        note: "per interval, logarithmic",
        unit: Unit::Micros,
        log: true,
        crest: false,
        whole: false,
        lines: &[("reads", |row, _| p99(&row.read)), ("writes", |row, _| p99(&row.write))],
    },
    Shown {
        title: "Write amplification",
        note: "units programmed per unit written",
        unit: Unit::Plain(""),
        log: false,
        crest: true,
        whole: false,
        lines: &[("", |row, drive| row.waf(drive.unit.0))],
    },
    Shown {
        title: "GC",
        note: "flash pages moved per second to free space",
        unit: Unit::Plain("1/s"),
        log: false,
        crest: false,
        whole: false,
        lines: &[("", |row, _| Some(row.per_second(row.gc_pages)))],
    },
    Shown {
        title: "Die arrays busy",
        note: "share of all dies' time; a transfer holds a die, too, and is not in it",
        unit: Unit::Share,
        log: false,
        crest: false,
        whole: false,
        lines: &[("", |row, drive| share(row.die_ns, row, drive.dies))],
    },
    Shown {
        title: "Channels busy",
        note: "share of all channels' time",
        unit: Unit::Share,
        log: false,
        crest: false,
        whole: false,
        lines: &[("", |row, drive| share(row.channel_ns, row, drive.channels))],
    },
];

fn mean(host: &RowHost) -> Option<f64> {
    host.mean_ns().map(|ns| ns / 1e3)
}

fn p99(host: &RowHost) -> Option<f64> {
    host.p99().map(|span| span.as_micros_f64())
}

fn share(busy_ns: u64, row: &Row, count: u32) -> Option<f64> {
    (row.width.0 > 0).then(|| busy_ns as f64 / (row.width.0 as f64 * f64::from(count.max(1))))
}

/// Few enough rows for a line to be followed by eye.
fn thin(rows: &[Row], points: usize) -> Vec<Row> {
    let mut thin = rows.to_vec();
    while thin.len() > points {
        let pairs = thin.chunks(2);
        let merged = pairs.map(|pair| {
            let mut row = pair[0].clone();
            pair[1..].iter().for_each(|later| row.merge(later));
            row
        });
        thin = merged.collect();
    }
    // A short last row is mostly noise; it ends the one before it instead.
    if let [.., before, last] = thin.as_mut_slice()
        && last.width.0 * 2 < before.width.0
    {
        before.merge(last);
        thin.pop();
    }
    thin
}

/// The charts over time that have anything to show.
pub(super) fn charts(details: &[&DriveDetail], points: usize) -> Vec<String> {
    let seconds = details.iter().filter_map(|drive| drive.rows.last()).map(|row| (row.start + row.width).as_secs_f64()).fold(0.0, f64::max);
    let mut charts = Vec::new();
    let rows: Vec<Vec<Row>> = details.iter().map(|detail| thin(&detail.rows, points)).collect();
    for shown in CHARTS {
        // Reads and writes of one drive share a chart; those of several drives would be a tangle.
        let together = details.len() == 1;
        let lines = if shown.whole && !together { &shown.lines[..1] } else { shown.lines };
        for lines in lines.chunks(if together { lines.len() } else { 1 }) {
            charts.extend(chart(shown, lines, details, &rows, seconds).map(|chart| chart.html()));
        }
    }
    charts
}

fn chart(shown: &Shown, kinds: &[(&str, Value)], details: &[&DriveDetail], rows: &[Vec<Row>], seconds: f64) -> Option<Chart> {
    let (x, per_second) = time_axis(seconds);
    let mut lines = Vec::new();
    for (kind, (name, value)) in kinds.iter().enumerate() {
        for (drive, (detail, rows)) in details.iter().zip(rows).enumerate() {
            let points = rows.iter().map(|row| {
                let middle = row.start.as_secs_f64() + row.width.as_secs_f64() / 2.0;
                (middle * per_second, value(row, detail))
            });
            let label = if kinds.len() > 1 { (*name).to_owned() } else { detail.name.clone() };
            // A single drive's reads and writes differ in colour as well as in their dashes.
            lines.push(Line { label, drive: drive + kind, dashed: kind > 0, points: points.collect(), whiskers: Vec::new() });
        }
    }
    lines.retain(|line| !line.is_empty() && line.points.iter().any(|point| point.1 > Some(0.0)));
    let all = || lines.iter().flat_map(|line| &line.points).filter_map(|point| point.1);
    let max = all().fold(0.0, f64::max);
    if lines.is_empty() || max <= 0.0 {
        return None;
    }
    let y = if shown.log {
        Axis::log(shown.title, shown.unit, all().filter(|value| *value > 0.0).fold(f64::MAX, f64::min), max)
    } else {
        Axis::linear(shown.title, shown.unit, if shown.crest { crest(all().collect()) } else { max })
    };
    let title = match (kinds, lines.as_slice()) {
        ([(name, _)], _) if !name.is_empty() => format!("{}, {name}", shown.title),
        // Where there are only reads or only writes, the title says it and the line needs no key.
        ([_, _, ..], [only]) => format!("{}, {}", shown.title, only.label),
        _ => shown.title.to_owned(),
    };
    Some(Chart { title, note: shown.note.to_owned(), height: 270.0, x, y, lines, marks: Vec::new(), phases: phases(details, per_second) })
}

/// Where a scale ends so that a few values far above all others do not flatten them: at the highest value, unless that is more than twice the 95th percentile.
fn crest(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(max) = values.last().copied() else { return 0.0 };
    let high = values[(values.len() - 1) * 95 / 100];
    if high > 0.0 && max > 2.0 * high { high * 1.2 } else { max }
}

/// Where phases begin; nothing where the workload has one.
fn phases(details: &[&DriveDetail], per_second: f64) -> Vec<(f64, String, Option<usize>)> {
    let of = |(number, detail): (usize, &&DriveDetail)| {
        let drive = (details.len() > 1).then_some(number);
        let begin = |(start, name): &(Nanos, String)| (start.as_secs_f64() * per_second, name.clone(), drive);
        if detail.phases.len() > 1 { detail.phases.iter().map(begin).collect() } else { Vec::new() }
    };
    details.iter().enumerate().flat_map(of).collect()
}

/// One chart of the distribution of latency per kind of request that occurred.
pub(super) fn distributions(details: &[&DriveDetail]) -> Vec<String> {
    HostOp::ALL.into_iter().filter_map(|op| distribution(op, details)).map(|chart| chart.html()).collect()
}

fn distribution(op: HostOp, details: &[&DriveDetail]) -> Option<Chart> {
    let curve = |detail: &DriveDetail| -> Vec<(f64, Option<f64>)> {
        detail.curves[op as usize].iter().map(|(span, fraction)| (span.as_micros_f64(), Some(*fraction))).collect()
    };
    let mut lines: Vec<Line> = details
        .iter()
        .enumerate()
        .map(|(drive, detail)| Line { label: detail.name.clone(), drive, dashed: false, points: curve(detail), whiskers: Vec::new() })
        .collect();
    lines.retain(|line| !line.points.is_empty());
    let title = match op {
        HostOp::Read => "Read latency",
        HostOp::Write => "Write latency",
        HostOp::Trim => "Trim latency",
        HostOp::Flush => "Flush latency",
        HostOp::Hint => "Hint latency",
    };
    nines(title.to_owned(), lines)
}

/// Distributions of latency on a scale of nines; `None` where there are none.
pub(super) fn nines(title: String, lines: Vec<Line>) -> Option<Chart> {
    let spans = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    if lines.is_empty() {
        return None;
    }
    let x = Axis::log("latency, logarithmic", Unit::Micros, spans().fold(f64::MAX, f64::min), spans().fold(0.0, f64::max));
    // The curve ends at 100 %, which lies infinitely many nines away; the last request below it says how many nines the sample can show.
    let last = lines.iter().flat_map(|line| line.points.iter().rev().nth(1)).filter_map(|point| point.1).fold(0.9, f64::max);
    let nines = libm::ceil(-libm::log10((1.0 - last).max(1e-6))).clamp(2.0, 5.0) as u32;
    let note = "share of requests that took no longer; each step up is another nine".to_owned();
    Some(Chart { title, note, height: 340.0, x, y: Axis::nines("share of requests", nines), lines, marks: Vec::new(), phases: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spike_does_not_set_the_scale_and_a_plateau_does() {
        let spike: Vec<f64> = (0..40).map(|at| if at == 7 { 250.0 } else { 3.0 + f64::from(at) / 40.0 }).collect();
        assert!(crest(spike.clone()) < 5.0);
        let plateau = spike.iter().enumerate().map(|(at, value)| if at % 5 == 0 { 250.0 } else { *value }).collect();
        assert_eq!(crest(plateau), 250.0);
        assert_eq!((crest(vec![]), crest(vec![7.0])), (0.0, 7.0));
    }
}
