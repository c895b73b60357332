//! Bench of results that follow by arithmetic from data sheets, activation energies, the size of the lot and the shape of the chips.

use wordline_plan::Plan;

use super::{Bench, Findings, On, Setup, m};
use crate::conditions::MONTH;
use crate::error::LabError;
use crate::lot::Lot;
use crate::protocol::{Count, Name, Rest, Size, conditions};

/// The `arithmetic` bench: its metrics, its conditions and the function that measures.
pub(super) const BENCH: Bench = Bench {
    name: "arithmetic",
    summary: "Counts and ratios that follow from shapes, data sheets and activation energies",
    metrics: &[
        m("bake", "month", "Months at room temperature that the bake counts for, by the chip's activation energy of retention"),
        m("warm-dwell", "h", "Hours at room temperature that the warm rest counts for, by its activation energy of recovery"),
        m("wordlines", "count", "Wordlines of the lot"),
        m("pages", "count", "Pages of these"),
        m("page-locks", "count", "Page locks to delete the file"),
        m("ort-bytes", "count", "Bytes in which the moves of all references of an h-layer are held"),
        m("ort-share", "ratio", "Their share of what the h-layer holds"),
        m("program-over-read", "ratio", "t_PROG over t_R of the drive whose chips can suspend"),
        m("erase-over-read", "ratio", "t_BERS over t_R of the drive whose chips can suspend"),
    ],
    on: On::Chips,
    conditions: At::PROTOCOL,
    run,
};

conditions! {
    "arithmetic",
    /// Conditions of the conversions and counts.
    struct At {
        /// a bake that stands for a long retention
        bake: Rest,
        /// a warm rest between two cycles
        warm: Rest,
        /// a file that is deleted
        file: Size,
        /// bits that hold the move of one reference
        reference_bits: Count,
        /// a drive whose chips can suspend
        suspending: Name,
    }
}

fn run(setup: &Setup) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    let (at, lot) = (At::of(setup)?, Lot::open(setup)?);
    let physics = lot.model.physics();
    let faster = |energy: f64, celsius| wordline_units::arrhenius::acceleration(energy, celsius, lot.room);
    findings.set("bake", at.bake.0 * faster(physics.retention.energy, at.bake.1) / MONTH);
    findings.set("warm-dwell", at.warm.0 * faster(physics.recovery.energy, at.warm.1) / crate::conditions::HOUR);
    let wordlines = lot.size.total() as f64 * f64::from(physics.shape.wordlines());
    findings.set("wordlines", wordlines);
    findings.set("pages", wordlines * f64::from(lot.pages()));
    findings.set("page-locks", at.file / physics.shape.page.0 as f64);
    let references = (physics.shape.states() - 1) as f64;
    let bytes = libm::ceil(references * f64::from(at.reference_bits) / 8.0);
    findings.set("ort-bytes", bytes);
    let held = f64::from(physics.shape.wordlines_per_layer * lot.pages()) * physics.shape.page.0 as f64;
    findings.set("ort-share", bytes / held);
    let timing = setup.null.on_drive(Plan::load(&at.suspending)?)?.build().sheet.timing;
    findings.set("program-over-read", timing.program[0].as_micros_f64() / timing.read[0].as_micros_f64());
    findings.set("erase-over-read", timing.erase.as_micros_f64() / timing.read[0].as_micros_f64());
    Ok(findings)
}
