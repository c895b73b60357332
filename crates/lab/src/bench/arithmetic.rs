//! What follows by arithmetic from the data sheets and the shape of the chips, without any cell.

use super::{Bench, Findings, Setup, m};
use crate::error::LabError;

/// The bench.
pub(super) const BENCH: Bench = Bench {
    name: "arithmetic",
    summary: "Counts and ratios that follow from shapes and data sheets",
    metrics: &[m("stress-6nm", "MV/cm", "Field of 30 V over 6 nm of oxide"), m("stress-5nm", "MV/cm", "Field of 30 V over 5 nm of oxide")],
    run,
};

fn run(_: &Setup) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    // One volt over a nanometre is ten megavolts over a centimetre.
    findings.set("stress-6nm", 30.0 / 6.0 * 10.0);
    findings.set("stress-5nm", 30.0 / 5.0 * 10.0);
    Ok(findings)
}
