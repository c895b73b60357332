//! What follows by arithmetic from data sheets, activation energies and the shape of the chips.

use wordline_plan::Plan;
use wordline_units::Celsius;

use super::{Bench, Findings, Setup, m};
use crate::conditions::MONTH;
use crate::error::LabError;
use crate::lot::{Lot, ROOM};

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "arithmetic",
    summary: "Counts and ratios that follow from shapes, data sheets and activation energies",
    metrics: &[
        m("stress-6nm", "MV/cm", "Field of 30 V over 6 nm of oxide"),
        m("stress-5nm", "MV/cm", "Field of 30 V over 5 nm of oxide"),
        m("bake", "month", "Months at 30 °C that 13 hours at 85 °C count for, by the chip's activation energy of retention"),
        m("warm-dwell", "h", "Hours at 30 °C that an hour at 50 °C counts for, by its activation energy of recovery"),
        m("wordlines", "count", "Wordlines of 160 chips with 120 blocks tested in each"),
        m("pages", "count", "Pages of these"),
        m("flag-cells", "count", "Flag cells of a wordline: nine for each page"),
        m("page-lock-share", "ratio", "Time of a page lock of 100 us over t_PROG of the drive"),
        m("block-lock-share", "ratio", "Time of a block lock of 300 us over t_BERS of the drive"),
        m("page-locks", "count", "Page locks to delete 1 GiB"),
        m("program-over-read", "ratio", "t_PROG over t_R of the chip that can suspend"),
        m("erase-over-read", "ratio", "t_BERS over t_R of the chip that can suspend"),
    ],
    run,
};

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    // One volt over a nanometre is ten megavolts over a centimetre.
    findings.set("stress-6nm", 30.0 / 6.0 * 10.0);
    findings.set("stress-5nm", 30.0 / 5.0 * 10.0);
    let lot = Lot::open(setup)?;
    let physics = lot.model.physics();
    let faster = |energy: f64, celsius: f64| wordline_cells::arrhenius::acceleration(energy, Celsius(celsius), ROOM);
    findings.set("bake", 13.0 * 3_600.0 * faster(physics.retention.energy, 85.0) / MONTH);
    findings.set("warm-dwell", faster(physics.recovery.energy, 50.0));
    let wordlines = 160.0 * 120.0 * f64::from(physics.shape.wordlines());
    findings.set("wordlines", wordlines);
    findings.set("pages", wordlines * f64::from(lot.pages()));
    findings.set("flag-cells", 9.0 * f64::from(lot.pages()));
    let timing = Plan::load("paper-evanesco")?.build().sheet.timing;
    findings.set("page-lock-share", 100.0 / timing.program[0].as_micros_f64());
    findings.set("block-lock-share", 300.0 / timing.erase.as_micros_f64());
    findings.set("page-locks", (1u64 << 30) as f64 / physics.shape.page.0 as f64);
    let timing = Plan::load("paper-psr")?.build().sheet.timing;
    findings.set("program-over-read", timing.program[0].as_micros_f64() / timing.read[0].as_micros_f64());
    findings.set("erase-over-read", timing.erase.as_micros_f64() / timing.read[0].as_micros_f64());
    Ok(findings)
}
