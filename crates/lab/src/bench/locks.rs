//! Page locks and block locks: the design space of voltage and time, and how long a lock holds (000 §5.2.3, §5.2.4; 002 §5.3, §5.4).

use wordline_cells::{Condition, flag};
use wordline_report::html::figure::{Curve, Curves, Figure, Heat, Scale};

use super::{Bench, Findings, Setup, m};
use crate::error::LabError;
use crate::lot::{Lot, YEAR, share};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "flags",
    summary: "Flag cells of page locks and select cells of block locks over voltage, time and years",
    metrics: &[
        m("region-1", "count", "Page locks that raise the errors of the data cells by more than 3 %"),
        m("region-2", "count", "Other page locks that leave more than one flag cell in a thousand unprogrammed"),
        m("candidates", "count", "Page locks that remain"),
        m("weakest-programs", "share", "Flag cells that the weakest page lock programs"),
        m("vi-errors", "count", "Flag cells of nine lost after five years by candidate (vi), mean, rounded"),
        m("i-errors", "count", "The same by candidate (i)"),
        m("ii-errors", "count", "The same by candidate (ii)"),
        m("chosen-time", "us", "Least time of a candidate that keeps its majority for five years"),
        m("chosen-voltage", "count", "Its voltage, counted from 1"),
        m("chosen-harm", "share", "More errors of data cells by the chosen page lock"),
        m("harm-order", "share", "Steps to more voltage or time with which the errors of data cells do not fall"),
        m(
            "loss-order",
            "share",
            "Candidates that lose more flag cells in five years than in one, and steps to more voltage that lose fewer",
        ),
        m("select-limit", "V", "Centre of the select cells at which no page of the block can be corrected"),
        m("select-i-5y", "V", "Centre of the select cells after five years by block lock (i)"),
        m("select-ii-5y", "V", "The same by block lock (ii)"),
        m("select-vi-1y", "V", "Centre of the select cells after one year by block lock (vi)"),
        m("select-weak", "count", "Block locks among (iv), (v) and (vi) that are below 3 V within five years"),
        m(
            "select-time",
            "us",
            "Least time of a block lock at the highest voltage that is above 3 V after five years with half a volt to spare",
        ),
        m("select-order", "share", "Steps of time with which the centre falls, over all block locks"),
    ],
    run,
};

const TIMES: [f64; 3] = [100.0, 150.0, 200.0];
const SELECT_TIMES: [f64; 3] = [200.0, 300.0, 400.0];

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let lot = Lot::open(setup)?;
    let physics = lot.model.physics();
    let typical = lot.model.typical();
    let base = lot.aged(1_000.0, 0.0);
    let reference = lot.n_ret(&typical, &base);
    let harm = |steps: u32, time: f64| {
        let dose = flag::dose(&physics.flag, f64::from(steps), time) as f32;
        lot.n_ret(&typical, &Condition { lock_dose: dose, ..base }) / reference - 1.0
    };
    let lost = |steps: u32, time: f64, years: f64| 9.0 * (1.0 - flag::holding(physics, f64::from(steps), time, years * YEAR));
    let all: Vec<(u32, f64)> = (0..5).flat_map(|steps| TIMES.map(|time| (steps, time))).collect();
    let harmful = |at: &(u32, f64)| harm(at.0, at.1) > 0.03;
    let weak = |at: &(u32, f64)| flag::programmed(&physics.flag, f64::from(at.0), at.1) < 0.999;
    let candidates: Vec<(u32, f64)> = all.iter().copied().filter(|at| !harmful(at) && !weak(at)).collect();
    let mut findings = Findings::default();
    findings.set("region-1", all.iter().filter(|at| harmful(at)).count() as f64);
    findings.set("region-2", all.iter().filter(|at| !harmful(at) && weak(at)).count() as f64);
    findings.set("candidates", candidates.len() as f64);
    findings.set("weakest-programs", flag::programmed(&physics.flag, 0.0, TIMES[0]));
    findings.set("vi-errors", libm::round(lost(1, 200.0, 5.0)));
    findings.set("i-errors", libm::round(lost(3, 150.0, 5.0)));
    findings.set("ii-errors", libm::round(lost(3, 100.0, 5.0)));
    // The one with the least time whose majority holds; of several, the one that loses the fewest.
    let holding: Vec<(u32, f64)> = candidates.iter().copied().filter(|at| libm::round(lost(at.0, at.1, 5.0)) <= 4.0).collect();
    let chosen = holding.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1).then(lost(a.0, a.1, 5.0).total_cmp(&lost(b.0, b.1, 5.0))));
    if let Some((steps, time)) = chosen {
        findings.set("chosen-time", time);
        findings.set("chosen-voltage", f64::from(steps) + 1.0);
        findings.set("chosen-harm", harm(steps, time));
    }
    let longer =
        (0..5).flat_map(|steps| TIMES.windows(2).map(move |pair| harm(steps, pair[1]) >= harm(steps, pair[0])).collect::<Vec<_>>());
    let higher = TIMES.iter().flat_map(|time| (1..5).map(|steps| harm(steps, *time) >= harm(steps - 1, *time)).collect::<Vec<_>>());
    findings.set("harm-order", share(longer.chain(higher)));
    let years = candidates.iter().map(|at| lost(at.0, at.1, 5.0) >= lost(at.0, at.1, 1.0));
    let voltages =
        TIMES.iter().flat_map(|time| (2..5).map(|steps| lost(steps, *time, 5.0) <= lost(steps - 1, *time, 5.0)).collect::<Vec<_>>());
    findings.set("loss-order", share(years.chain(voltages)));

    let select = &physics.select;
    let centre = |steps: u32, time: f64, years: f64| flag::select_centre(select, f64::from(steps), time, years * YEAR) / 1e3;
    findings.set("select-limit", flag::centre_at(select, lot.model.limit()) / 1e3);
    findings.set("select-i-5y", centre(5, 400.0, 5.0));
    findings.set("select-ii-5y", centre(5, 300.0, 5.0));
    findings.set("select-vi-1y", centre(4, 200.0, 1.0));
    // (iii) is V6 with 200 us; (iv) to (vi) are V5 with 400, 300 and 200 us.
    findings.set("select-weak", SELECT_TIMES.iter().filter(|time| centre(4, **time, 5.0) < 3.0).count() as f64);
    let holds = SELECT_TIMES.iter().copied().find(|time| centre(5, *time, 5.0) > 3.5);
    if let Some(time) = holds {
        findings.set("select-time", time);
    }
    let moments = [0.0, 0.1, 1.0, 2.0, 5.0];
    let locks = (4..6).flat_map(|steps| SELECT_TIMES.map(|time| (steps, time)));
    findings.set(
        "select-order",
        share(locks.flat_map(|(steps, time)| {
            moments.windows(2).map(|pair| centre(steps, time, pair[1]) < centre(steps, time, pair[0])).collect::<Vec<_>>()
        })),
    );
    let over_years = |label: String, colour: usize, steps: u32, time: f64| Curve {
        label,
        colour,
        dashed: false,
        points: (0..=50).map(|step| f64::from(step) / 10.0).map(|years| (years, centre(steps, time, years))).collect(),
    };
    findings.figures = vec![
        Figure::Heat(Heat {
            title: "Errors of data cells by page locks".to_owned(),
            note: "more than without a lock, in %".to_owned(),
            x: "pulse time, us".to_owned(),
            y: "voltage".to_owned(),
            columns: TIMES.map(|time| format!("{time}")).to_vec(),
            rows: (0..5).rev().map(|steps| (format!("V{}", steps + 1), TIMES.map(|time| 100.0 * harm(steps, time)).to_vec())).collect(),
            log: false,
        }),
        Figure::Heat(Heat {
            title: "Flag cells of nine lost after five years".to_owned(),
            note: "mean".to_owned(),
            x: "pulse time, us".to_owned(),
            y: "voltage".to_owned(),
            columns: TIMES.map(|time| format!("{time}")).to_vec(),
            rows: (0..5).rev().map(|steps| (format!("V{}", steps + 1), TIMES.map(|time| lost(steps, time, 5.0)).to_vec())).collect(),
            log: false,
        }),
        Figure::Curves(Curves {
            title: "Select cells of a locked block".to_owned(),
            note: "centre of their threshold voltages; below 3 V the block can be read".to_owned(),
            x: Scale::from_zero("years"),
            y: Scale::even("volts"),
            curves: vec![
                over_years("(i) V6 400 us".to_owned(), 0, 5, 400.0),
                over_years("(ii) V6 300 us".to_owned(), 1, 5, 300.0),
                over_years("(iii) V6 200 us".to_owned(), 2, 5, 200.0),
                over_years("(iv) V5 400 us".to_owned(), 3, 4, 400.0),
                over_years("(vi) V5 200 us".to_owned(), 4, 4, 200.0),
            ],
            marks: Vec::new(),
        }),
    ];
    Ok(findings)
}
