//! Bench of page locks and block locks: the design space of voltage and time, and how long a lock holds (000 §5.2.3, §5.2.4; 002 §5.3, §5.4).

use wordline_cells::{Condition, Traits, flag};
use wordline_flash::Timing;
use wordline_pages::html::figure::{Curve, Curves, Figure, Heat, Scale};
use wordline_plan::Plan;

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::span_text;
use crate::error::LabError;
use crate::lot::{Lot, share};
use crate::protocol::{Count, Cycles, Micros, Name, Rising, Share, Span, Volts, conditions};

/// The `flags` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "flags",
    summary: "Flag cells of page locks and select cells of block locks over voltage, time and years",
    metrics: &[
        m("region-1", "count", "Page locks that raise the errors of the data cells by more than is allowed"),
        m("region-2", "count", "Other page locks that leave too many flag cells unprogrammed"),
        m("candidates", "count", "Page locks that remain"),
        m("weakest-programs", "share", "Flag cells that the weakest page lock programs"),
        m("vi-errors", "count", "Flag cells of a page lost after the years by candidate (vi), mean, rounded"),
        m("i-errors", "count", "The same by candidate (i)"),
        m("ii-errors", "count", "The same by candidate (ii)"),
        m("chosen-time", "us", "Least time of a candidate that keeps its majority for the years"),
        m("chosen-voltage", "count", "Its voltage, counted from 1"),
        m("chosen-harm", "share", "More errors of data cells by the chosen page lock"),
        m("harm-order", "share", "Steps to more voltage or time with which the errors of data cells do not fall"),
        m(
            "loss-order",
            "share",
            "Candidates that lose more flag cells in the years than in the first, and steps to more voltage that lose fewer",
        ),
        m("select-limit", "V", "Centre of the select cells at which no page of the block can be corrected"),
        m("select-i", "V", "Centre of the select cells after the years by block lock (i)"),
        m("select-ii", "V", "The same by block lock (ii)"),
        m("select-vi", "V", "Centre of the select cells after the first year by block lock (vi)"),
        m("select-weak", "count", "Block locks at the lower voltage that are below what blocks a string within the years"),
        m(
            "select-time",
            "us",
            "Least time of a block lock at the higher voltage that still blocks a string after the years, with something to spare",
        ),
        m("flag-cells", "count", "Flag cells of a wordline"),
        m("page-lock-share", "share", "Time of the chosen page lock over t_PROG of the drive"),
        m("block-lock-share", "share", "Time of the chosen block lock over t_BERS of the drive"),
        m("select-order", "share", "Steps of time with which the centre falls, over all block locks"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "flags",
    /// Conditions of the design space of locks.
    struct At {
        /// number of voltages of page locks
        voltages: Count,
        /// pulse times of page locks
        times: Rising<Micros, 2>,
        /// cycles of the block
        pe: Cycles,
        /// increase of the errors of data cells that is allowed
        harm: Share,
        /// share of the flag cells that a page lock must program
        programs: Share,
        /// number of flag cells of a page
        cells: Count,
        /// the first year, and the years that a lock must hold for
        years: [Span; 2],
        /// candidates (i), (ii) and (vi): voltage, counted from 1, and time
        named: [(Count, Micros); 3],
        /// voltages of block locks, the lower and the higher, counted from 1
        select_voltages: [Count; 2],
        /// pulse times of block locks
        select_times: Rising<Micros, 2>,
        /// block locks (i), (ii) and (vi)
        select_named: [(Count, Micros); 3],
        /// centre of the select cells above which no page of the block can be read
        blocks: Volts,
        /// margin above that centre that a block lock must have after the years
        spare: Volts,
        /// times after the lock at which select cells are measured
        moments: Rising<Span, 2>,
        /// the drive whose t_PROG and t_BERS locks are compared with
        drive: Name,
    }
}

/// Locks that can be had of a block of some age.
struct Space<'a> {
    at: &'a At,
    lot: &'a Lot,
    typical: Traits,
    base: Condition,
    /// Errors of a wordline that no lock has touched.
    reference: f64,
}

// Voltages are counted from 1; the physics counts steps above the first.
impl Space<'_> {
    fn voltages(&self) -> Vec<u32> {
        (1..=self.at.voltages).collect()
    }

    /// Cells of a flag.
    fn cells(&self) -> f64 {
        f64::from(self.at.cells)
    }

    /// More errors of data cells by a page lock.
    fn harm(&self, voltage: u32, time: f64) -> f64 {
        let dose = flag::dose(&self.lot.model.physics().flag, f64::from(voltage - 1), time) as f32;
        self.lot.n_ret(&self.typical, &Condition { lock_dose: dose, ..self.base }) / self.reference - 1.0
    }

    /// Cells of a flag that are lost after a time.
    fn lost(&self, voltage: u32, time: f64, kept: f64) -> f64 {
        self.cells() * (1.0 - flag::holding(self.lot.model.physics(), f64::from(voltage - 1), time, kept))
    }

    fn programmed(&self, lock: &(u32, f64)) -> f64 {
        flag::programmed(&self.lot.model.physics().flag, f64::from(lock.0 - 1), lock.1)
    }

    fn harmful(&self, lock: &(u32, f64)) -> bool {
        self.harm(lock.0, lock.1) > self.at.harm
    }

    fn weak(&self, lock: &(u32, f64)) -> bool {
        self.programmed(lock) < self.at.programs
    }

    /// Centre of the select cells some time after a block lock.
    fn centre(&self, voltage: u32, time: f64, kept: f64) -> f64 {
        flag::select_centre(&self.lot.model.physics().select, f64::from(voltage - 1), time, kept)
    }

    /// Block locks, the strongest first.
    fn block_locks(&self) -> Vec<(u32, f64)> {
        let [lower, higher] = self.at.select_voltages;
        [higher, lower].iter().flat_map(|voltage| self.at.select_times.iter().rev().map(|time| (*voltage, *time))).collect()
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let typical = lot.model.typical();
    let base = lot.aged(at.pe, 0.0);
    let reference = lot.n_ret(&typical, &base);
    let space = Space { at: &at, lot: &lot, typical, base, reference };
    let timing = setup.null.on_drive(Plan::load(&at.drive)?)?.build().sheet.timing;
    let mut findings = Findings::default();
    page_locks(&space, &timing, &mut findings);
    block_locks(&space, &timing, &mut findings);
    findings.figures = figures(&space);
    Ok(findings)
}

/// Records the regions of page locks, the named ones, and the one that is chosen.
fn page_locks(space: &Space<'_>, timing: &Timing, findings: &mut Findings) {
    let (at, cells, voltages) = (space.at, space.cells(), space.voltages());
    let last = at.years[1];
    let all: Vec<(u32, f64)> = voltages.iter().flat_map(|voltage| at.times.iter().map(|time| (*voltage, *time))).collect();
    let candidates: Vec<(u32, f64)> = all.iter().copied().filter(|lock| !space.harmful(lock) && !space.weak(lock)).collect();
    findings.set("region-1", all.iter().filter(|lock| space.harmful(lock)).count() as f64);
    findings.set("region-2", all.iter().filter(|lock| !space.harmful(lock) && space.weak(lock)).count() as f64);
    findings.set("candidates", candidates.len() as f64);
    findings.set("weakest-programs", space.programmed(&all[0]));
    for (name, (voltage, time)) in ["i-errors", "ii-errors", "vi-errors"].into_iter().zip(at.named) {
        findings.set(name, libm::round(space.lost(voltage, time, last)));
    }
    findings.set("flag-cells", cells * f64::from(space.lot.pages()));
    // The one with the least time whose majority holds; of several, the one that loses the fewest.
    let minority = libm::floor((cells - 1.0) / 2.0);
    let holding = candidates.iter().copied().filter(|lock| libm::round(space.lost(lock.0, lock.1, last)) <= minority);
    let chosen = holding.min_by(|a, b| a.1.total_cmp(&b.1).then(space.lost(a.0, a.1, last).total_cmp(&space.lost(b.0, b.1, last))));
    if let Some((voltage, time)) = chosen {
        findings.set("chosen-time", time);
        findings.set("chosen-voltage", f64::from(voltage));
        findings.set("chosen-harm", space.harm(voltage, time));
        findings.set("page-lock-share", time / timing.program[0].as_micros_f64());
    }
    orders(space, &candidates, findings);
}

/// Records how harm and losses go with the voltage and the time of page locks.
fn orders(space: &Space<'_>, candidates: &[(u32, f64)], findings: &mut Findings) {
    let (at, voltages) = (space.at, space.voltages());
    let [first, last] = at.years;
    let mut order = Vec::new();
    let mut losses: Vec<bool> =
        candidates.iter().map(|lock| space.lost(lock.0, lock.1, last) >= space.lost(lock.0, lock.1, first)).collect();
    for voltage in &voltages {
        order.extend(at.times.windows(2).map(|pair| space.harm(*voltage, pair[1]) >= space.harm(*voltage, pair[0])));
    }
    for time in &at.times {
        order.extend(voltages.windows(2).map(|pair| space.harm(pair[1], *time) >= space.harm(pair[0], *time)));
        // The lowest voltage programs too few cells for a loss to be compared.
        losses.extend(voltages[1..].windows(2).map(|pair| space.lost(pair[1], *time, last) <= space.lost(pair[0], *time, last)));
    }
    findings.set("harm-order", share(order.into_iter()));
    findings.set("loss-order", share(losses.into_iter()));
}

/// Records the centres of select cells by block locks.
fn block_locks(space: &Space<'_>, timing: &Timing, findings: &mut Findings) {
    let at = space.at;
    let [first, last] = at.years;
    let select = &space.lot.model.physics().select;
    findings.set("select-limit", flag::centre_at(select, space.lot.model.limit()) / 1e3);
    let [i, ii, vi] = at.select_named;
    findings.set("select-i", space.centre(i.0, i.1, last) / 1e3);
    findings.set("select-ii", space.centre(ii.0, ii.1, last) / 1e3);
    findings.set("select-vi", space.centre(vi.0, vi.1, first) / 1e3);
    let [lower, higher] = at.select_voltages;
    findings.set("select-weak", at.select_times.iter().filter(|time| space.centre(lower, **time, last) < at.blocks).count() as f64);
    let holds = at.select_times.iter().copied().find(|time| space.centre(higher, *time, last) > at.blocks + at.spare);
    if let Some(time) = holds {
        findings.set("select-time", time);
        findings.set("block-lock-share", time / timing.erase.as_micros_f64());
    }
    let locks = space.block_locks();
    let falls = |lock: &(u32, f64)| {
        at.moments.windows(2).map(|pair| space.centre(lock.0, lock.1, pair[1]) < space.centre(lock.0, lock.1, pair[0])).collect::<Vec<_>>()
    };
    findings.set("select-order", share(locks.iter().flat_map(falls)));
}

fn figures(space: &Space<'_>) -> Vec<Figure> {
    let (at, cells, voltages) = (space.at, space.cells(), space.voltages());
    let [first, last] = at.years;
    let columns: Vec<String> = at.times.iter().map(|time| format!("{time}")).collect();
    let heat = |title: String, note: &str, of: &dyn Fn(u32, f64) -> f64| {
        let row = |voltage: &u32| (format!("V{voltage}"), at.times.iter().map(|time| of(*voltage, *time)).collect());
        Figure::Heat(Heat {
            title,
            note: note.to_owned(),
            x: "pulse time, us".to_owned(),
            y: "voltage".to_owned(),
            columns: columns.clone(),
            rows: voltages.iter().rev().map(row).collect(),
            log: false,
        })
    };
    let over_years = |(colour, (voltage, time)): (usize, &(u32, f64))| Curve {
        label: format!("V{voltage} {time} us"),
        colour,
        dashed: false,
        points: (0..=100)
            .map(|step| f64::from(step) / 100.0)
            .map(|part| (last / first * part, space.centre(*voltage, *time, last * part) / 1e3))
            .collect(),
    };
    vec![
        heat("Errors of data cells by page locks".to_owned(), "more than without a lock, in %", &|voltage, time| {
            100.0 * space.harm(voltage, time)
        }),
        heat(format!("Flag cells of {cells} lost after {}", span_text(last)), "mean", &|voltage, time| space.lost(voltage, time, last)),
        Figure::Curves(Curves {
            title: "Select cells of a locked block".to_owned(),
            note: format!("centre of their threshold voltages; below {} V the block can be read", at.blocks / 1e3),
            x: Scale::from_zero("years"),
            y: Scale::even("volts"),
            curves: space.block_locks().iter().enumerate().map(over_years).collect(),
            marks: Vec::new(),
        }),
    ]
}
